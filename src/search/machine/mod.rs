//! The machine that a search runs on: the folder of a run, its lock, the disks that processes see,
//! the host, and requests to stop.
//!
//! Nothing here knows a puzzle, a state or a level. What it refuses it refuses before a search
//! starts; what it measures never changes a result.

pub mod disks;
pub mod host;
pub mod run_folder;
pub mod run_lock;
pub mod stop;

pub use disks::Disks;
pub use run_folder::RunFolder;
pub use run_lock::{LeftBehind, RunLock};
pub use stop::{StopReason, StopRequest};
