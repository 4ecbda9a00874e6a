//! Layer 4: which states follow from a set of states. Pure: no disk, no MPI, no families.

pub mod states;

pub use states::StateExpansion;
