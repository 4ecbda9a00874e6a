//! `farthest watch DIR`: draws the progress of a run from its progress file, until the run ends.

use super::progress::{bar, bar_message};
use super::progress_file::{Phase, Progress};
use super::run_condition::{Condition, RunCondition, is_alive, killed_message};
use crate::base::shown::shown_line;
use crate::base::{Error, Result};
use crate::cli::arguments::WatchArguments;
use crate::cli::session::shell_word;
use crate::search::RunFolder;
use std::time::{Duration, Instant};

/// Time between two looks at the file.
const INTERVAL: Duration = Duration::from_millis(250);

/// How long to wait for a run that has not started yet, or for one that seems dead.
const PATIENCE: Duration = Duration::from_secs(10);

/// Draws the bar until the run ends; the exit code says how: 0 complete, 75 stopped, 1 failed or
/// dead.
///
/// # Errors
/// `Io` when there is no run in the folder.
pub fn watch(arguments: &WatchArguments) -> Result<i32> {
    let folder = RunFolder::new(&arguments.folder);
    let started = Instant::now();
    let first = loop {
        match Progress::read(&arguments.folder) {
            // The file of an earlier session is no news: wait for the new one.
            Ok(progress) if is_alive(&folder, Some(&progress)) || started.elapsed() > Duration::from_secs(1) => break progress,
            Err(error) if started.elapsed() > PATIENCE => return Err(error),
            _ => std::thread::sleep(INTERVAL),
        }
    };
    let bar = bar(first.expected);
    bar.set_prefix(shown_line(&format!("{} {}", first.puzzle, first.metric)));
    let mut last_sign_of_life = Instant::now();
    let mut progress = first;
    loop {
        if let Some(expected) = progress.expected {
            bar.set_length(expected);
        }
        bar.set_position(progress.found);
        bar.set_message(bar_message(&progress));
        let alive = is_alive(&folder, Some(&progress));
        if alive {
            last_sign_of_life = Instant::now();
        }
        if !alive && progress.phase.is_over() {
            break;
        }
        if last_sign_of_life.elapsed() > PATIENCE {
            bar.abandon();
            let command = RunCondition::look(&arguments.folder)?.next_command(&arguments.folder);
            return Err(Error::CheckFailed(format!(
                "{}: {}; go on with: {}",
                arguments.folder.display(),
                killed_message(&progress),
                command.unwrap_or_else(|| format!("farthest status {}", shell_word(&arguments.folder)))
            )));
        }
        std::thread::sleep(INTERVAL);
        // A version being replaced is read the next time.
        if let Ok(next) = Progress::read(&arguments.folder) {
            progress = next;
        }
    }
    bar.finish_and_clear();
    println!("{}", shown_line(&progress.message));
    let condition = match progress.phase {
        Phase::Complete => Condition::Complete,
        Phase::Stopped => Condition::Stopped,
        Phase::Running | Phase::Committing | Phase::Failed => Condition::Failed,
    };
    Ok(condition.exit_code())
}
