//! One family of puzzles a file. A family turns its parameters into a [`Puzzle`](super::Puzzle); nothing above this layer knows it.

pub mod orbits;
pub mod permutations;
pub mod planes;
pub mod position_order;
pub mod rotation_board;
pub mod turnstyle;
