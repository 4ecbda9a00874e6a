//! Expansion by lanes. Read `rounds.rs` first; `layout.rs` says who does what in which round.

pub mod layout;
mod messages;
mod rounds;
pub mod shared_views;
mod tasks;

pub use rounds::{EXPANSION, NAME};
