//! One family of puzzles a file. A family turns its parameters into a [`Puzzle`](super::Puzzle); nothing above this layer knows it.

pub mod permutations;
pub mod planes;
pub mod turnstyle;
