#![doc = include_str!("README.md")]

pub mod board;
pub mod claims;
pub mod group;
pub mod outer_automorphism;
pub mod small_group;
pub mod solve;
pub mod verdict;

pub use board::{Board, Random};
pub use group::BoardGroup;
pub use solve::{Solution, Solver, solve_by_spirals, solve_shortest};
pub use verdict::{Unsolvable, verdict};
