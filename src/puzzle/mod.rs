//! Layer 1: what a puzzle is. A state is a plane and an arrangement; a generator maps planes and moves positions.
//! Knows nothing of ranks, and of files only its configuration.

pub mod compile;
pub mod definition;
pub mod encoding;
pub mod generator;
pub mod layout;
pub mod order;
pub mod permutation;
pub mod state_text;

pub use definition::{Puzzle, SignRule, State};
pub use generator::{Generator, PlaneMove};
pub use layout::Layout;
pub use permutation::Permutation;
