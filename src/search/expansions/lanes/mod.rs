//! Expansion by lanes. Read `rounds.rs` first.

mod jobs;
pub mod layout;
mod messages;
pub mod rounds;
pub mod shared_views;
