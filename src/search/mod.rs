#![doc = include_str!("README.md")]

pub mod archive;
pub mod budget;
pub mod checkpoint;
pub mod disks;
pub mod expansion_choice;
pub mod frontier;
pub mod guards;
pub mod host;
mod lane_jobs;
mod lane_layout;
mod lane_messages;
pub mod lane_rounds;
pub mod level;
pub mod level_loop;
pub mod manifest;
pub mod observer;
pub mod outcome;
pub mod run_folder;
pub mod run_lock;
pub mod samples;
pub mod shared_views;
pub mod shortest;
pub mod spot_checks;
pub mod state_rounds;
pub mod stop;
pub mod traffic;
pub mod unseen_rounds;

mod setup;

pub use disks::Disks;
pub use level_loop::{Ending, run};
pub use manifest::LevelRecord;
pub use observer::{Event, Observer, Silent};
pub use outcome::Outcome;
pub use run_folder::RunFolder;
pub use run_lock::{LeftBehind, RunLock};
pub use setup::{Search, Settings};
pub use stop::{StopReason, StopRequest};
