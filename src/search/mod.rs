#![doc = include_str!("README.md")]

pub mod archive;
pub mod archiving;
pub mod budget;
pub mod checkpoint;
pub mod expansion_choice;
pub mod expansions;
pub mod guards;
pub mod job;
pub mod level;
pub mod level_loop;
pub mod level_record;
pub mod level_totals;
pub mod machine;
pub mod observer;
pub mod outcome;
pub mod parts;
pub mod progress;
pub mod round;
pub mod rules;
pub mod samples;
pub mod settings;
pub mod shortest;
pub mod space;
pub mod spot_checks;
pub mod start;
pub mod sums;
pub mod tally;
pub mod traffic;

pub use level_loop::{Ending, run};
pub use level_record::LevelRecord;
pub use machine::{Disks, LeftBehind, RunFolder, RunLock, StopReason, StopRequest};
pub use observer::{Event, Observer, Silent};
pub use outcome::Outcome;
pub use parts::Search;
pub use settings::Settings;
