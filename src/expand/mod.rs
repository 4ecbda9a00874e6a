#![doc = include_str!("README.md")]

pub mod bit_moves;
pub mod bit_stream;
pub mod lane_plan;
pub mod lanes;
pub mod states;

pub use lanes::{LaneExpansion, LaneSource, LaneTally, PrefixTable, Target};
pub use states::StateExpansion;
