#![doc = include_str!("README.md")]

pub mod bit_stream;
pub mod lane_plan;
pub mod lanes;
pub mod moves;

pub use lanes::{LaneExpansion, LaneSource, LaneTally, PrefixTable, Target};
pub use moves::{Direction, MoveCounts, Moves};
