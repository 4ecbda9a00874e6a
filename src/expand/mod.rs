//! Layer 4: which states follow from a set of states. Pure: no disk, no MPI, no families.

pub mod bit_moves;
pub mod lane_plan;
pub mod lanes;
pub mod states;

pub use lanes::{LaneExpansion, LaneSource, LaneTally, PrefixTable, Target};
pub use states::StateExpansion;
