//! Layer 1: what a puzzle is: rules of some kind, start states, and what is known without a search.
//! Knows nothing of ranks, files or families.

pub mod compile;
pub mod definition;
pub mod encoding;
pub mod generator;
pub mod layout;
pub mod order;
pub mod permutation;
pub mod planes;
pub mod state_text;
pub mod tokens;
pub mod value_ball;

pub use definition::{Facts, Puzzle, Rules, SignRule, State};
pub use generator::{Generator, PlaneMove};
pub use layout::Layout;
pub use permutation::Permutation;
pub use value_ball::ValueBall;
