//! What is told of a run: one condition, and its renderings.
//!
//! - [`progress_file`]: what a running search does, which its first process writes every second;
//! - [`run_condition`]: the condition of a run folder, at work or not, from what the folder holds;
//! - [`progress`]: the search's observer, a bar or plain lines; [`watcher`]: it, or nothing, on every
//!   process;
//! - [`watch`] and [`status`]: the bar, and a page or JSON, of a run in another terminal.

pub mod progress;
pub mod progress_file;
pub mod run_condition;
pub mod status;
pub mod watch;
pub mod watcher;
