#![doc = include_str!("README.md")]

pub mod named_generators;
mod names;
mod permutation_text;
pub mod permutations;
pub mod planes;
pub mod reading;
pub mod registry;
pub mod rotation_board;
pub mod run_config;
pub mod run_folder;
pub mod shipped;
mod short_names;
pub mod source;
pub mod tokens;
pub mod turnstyle;

pub use registry::{FAMILIES, Family};
pub use source::{ConfiguredPuzzle, PuzzleSource};
