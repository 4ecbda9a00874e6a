//! Layer 2: state -> rank and back, and the cut of the ranks into shards. Knows nothing of disks,
//! processes or families.

pub mod lehmer;
pub mod multinomial;
pub mod partition;
pub mod planes;
pub mod space;
pub mod tokens;

pub use partition::Partition;
pub use planes::PlaneSpace;
pub use space::StateSpace;
pub use tokens::TokenSpace;
