#![doc = include_str!("README.md")]

pub mod archive;
pub mod budget;
pub mod checkpoint;
pub mod expansion_choice;
pub mod expansions;
pub mod guards;
pub mod level;
pub mod level_loop;
pub mod level_record;
pub mod machine;
pub mod observer;
pub mod outcome;
pub mod samples;
pub mod shortest;
pub mod spot_checks;
pub mod traffic;

mod setup;

pub use level_loop::{Ending, run};
pub use level_record::LevelRecord;
pub use machine::{Disks, LeftBehind, RunFolder, RunLock, StopReason, StopRequest};
pub use observer::{Event, Observer, Silent};
pub use outcome::Outcome;
pub use setup::{Search, Settings};
