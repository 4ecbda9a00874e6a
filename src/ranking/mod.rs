//! Layer 2: state -> rank and back. Knows nothing of disks, processes or families.

pub mod lehmer;
pub mod planes;

pub use planes::StateSpace;
