//! In which condition the run of a folder is, from its files alone: what `farthest watch` and
//! `farthest status` say.
//!
//! Who holds the folder's lock is alive. What a living run does is in its progress file; what a run
//! that has ended can go on from is in its checkpoint, and what a complete one found in its
//! results. So the progress file may be missing, damaged, or left by a session that was killed.
//! Nothing is written, and no MPI is started.

use super::progress_file::{Phase, Progress};
use crate::base::error::EXIT_STOPPED;
use crate::base::readable::counted;
use crate::base::{Error, Result};
use crate::cli::{prepared, session};
use crate::evidence::dataset;
use crate::families::run_folder;
use crate::search::machine::host::host_name;
use crate::search::{RunFolder, checkpoint};
use jiff::Timestamp;
use std::path::Path;

/// Some file systems pass no locks on to other hosts. A run whose progress was written on another
/// host counts as alive for so many seconds after it.
const SIGN_OF_LIFE_SECONDS: i64 = 60;

/// What a run is doing, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It is alive and has told nothing yet.
    Starting,
    /// It searches.
    Searching,
    /// It writes a checkpoint.
    Committing,
    /// It found everything.
    Complete,
    /// It stopped, and can go on.
    Stopped,
    /// It ended with an error.
    Failed,
    /// It ended without a word.
    Killed,
}

impl Condition {
    /// Whether processes work on the run.
    #[must_use]
    pub fn is_at_work(self) -> bool {
        matches!(self, Self::Starting | Self::Searching | Self::Committing)
    }

    /// As `farthest status --json` writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Searching => "searching",
            Self::Committing => "committing",
            Self::Complete => "complete",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }

    /// The exit code of those who look: nothing to do, to be resumed, or to be looked into.
    #[must_use]
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Starting | Self::Searching | Self::Committing | Self::Complete => 0,
            Self::Stopped => EXIT_STOPPED,
            Self::Failed | Self::Killed => 1,
        }
    }
}

/// A checkpoint of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Its last level.
    pub level: u32,
    /// States in its levels.
    pub states: u64,
    /// When it was committed.
    pub written: Timestamp,
}

/// Who works, or worked last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workers {
    /// Processes, and threads of each.
    pub processes: Option<(u32, u64)>,
    /// Host of the first process.
    pub host: Option<String>,
    /// The first process there.
    pub process_id: Option<u32>,
}

/// The condition of a run, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCondition {
    /// Puzzle and metric.
    pub search: Option<(String, String)>,
    /// What it does.
    pub condition: Condition,
    /// Whether a process works on it.
    pub alive: bool,
    /// The level being expanded, or the last one found.
    pub level: Option<u32>,
    /// States found, of those that a resume keeps when the run has ended.
    pub found: u64,
    /// States in all.
    pub expected: Option<u64>,
    /// States found a second.
    pub rate: Option<f64>,
    /// Its newest checkpoint.
    pub checkpoint: Option<Saved>,
    /// Who works.
    pub workers: Workers,
    /// When the run last told something.
    pub updated: Option<Timestamp>,
    /// The last thing it told.
    pub message: String,
    /// What is wrong with the files looked at.
    pub remarks: Vec<String>,
}

/// Whether a process works on the run of `folder`.
#[must_use]
pub fn is_alive(folder: &RunFolder, progress: Option<&Progress>) -> bool {
    let fresh_elsewhere = |progress: &Progress| {
        let age = age_seconds(progress.updated.parse().ok());
        !progress.phase.is_over() && progress.host != host_name() && age.is_some_and(|age| age <= SIGN_OF_LIFE_SECONDS)
    };
    folder.is_locked() || progress.is_some_and(fresh_elsewhere)
}

/// Seconds since `moment`.
#[must_use]
pub fn age_seconds(moment: Option<Timestamp>) -> Option<i64> {
    moment.map(|moment| Timestamp::now().duration_since(moment).as_secs().max(0))
}

/// What to say about a run that is dead although it says that it is at work.
#[must_use]
pub fn killed_message(progress: &Progress) -> String {
    let work = if progress.phase == Phase::Committing { "writing the checkpoint of" } else { "searching" };
    format!("the run says it is {work} level {}, but no process holds the folder's lock; it was killed", progress.depth)
}

impl RunCondition {
    /// Looks at the folder `root`.
    ///
    /// # Errors
    /// `Io` when there is no such folder, `Config` when it holds no run, `BadData` when it holds
    /// damaged results.
    pub fn look(root: &Path) -> Result<Self> {
        let folder = RunFolder::new(root);
        std::fs::read_dir(root).map_err(|source| Error::io("read", root, source))?;
        if !folder.is_run() {
            return Err(Error::config(format!(
                "{}: found no run, expected a folder with run.toml or summary.json; name the folder that farthest run wrote to, or start a run there with: \
                 farthest run CONFIG --out {}",
                root.display(),
                session::shell_word(root)
            )));
        }
        let owner = folder.lock_owner();
        let complete = dataset::is_complete(root);
        if let (false, Some(host)) = (complete, owner.part_of) {
            return Err(Error::config(format!(
                "{}: found a part of a run whose first process is on host {host}, expected the run itself; ask on that host",
                root.display()
            )));
        }
        let mut remarks = Vec::new();
        let progress = Progress::read(root).map_err(|error| remarks.push(error.to_string())).ok();
        let alive = is_alive(&folder, progress.as_ref());
        if complete {
            return Self::of_results(root, alive);
        }
        // Another session's progress says nothing about this one.
        let own = progress
            .as_ref()
            .filter(|progress| Some(progress.process_id) == owner.process_id && Some(&progress.host) == owner.host.as_ref());
        let checkpoint = saved(&folder, &mut remarks);
        let condition = match (alive, own.map(|progress| progress.phase)) {
            (true, Some(Phase::Running)) => Condition::Searching,
            (true, Some(Phase::Committing)) => Condition::Committing,
            (true, _) => Condition::Starting,
            (false, Some(Phase::Stopped)) => Condition::Stopped,
            (false, Some(Phase::Failed)) => Condition::Failed,
            // How it ended is not known, but that it can go on.
            (false, None) if checkpoint.is_some() => Condition::Stopped,
            (false, _) => Condition::Killed,
        };
        let mut workers = Workers { processes: None, host: owner.host, process_id: owner.process_id };
        let at_work = matches!(condition, Condition::Searching | Condition::Committing);
        let saved = checkpoint.as_ref().map(|(saved, ..)| *saved);
        let named = checkpoint.map(|(_, search)| search);
        let (mut level, mut found, mut rate) = (saved.map(|saved| saved.level), saved.map_or(0, |saved| saved.states), None);
        let mut message = String::new();
        if let Some(progress) = own {
            workers.processes = Some((progress.processes, progress.threads));
            message = if condition == Condition::Killed { killed_message(progress) } else { progress.message.clone() };
            if at_work {
                (level, found, rate) = (Some(progress.depth), progress.found, Some(progress.rate));
            }
        }
        let configured = progress.is_none().then(|| configured(&folder, &mut remarks)).flatten();
        let search = progress.as_ref().map(|progress| (progress.puzzle.clone(), progress.metric.clone()));
        Ok(Self {
            search: search.or(named).or_else(|| configured.as_ref().map(|(search, _)| search.clone())),
            condition,
            alive,
            level,
            found,
            expected: progress.as_ref().map_or_else(|| configured.and_then(|(_, states)| states), |progress| progress.expected),
            rate,
            checkpoint: saved,
            workers,
            updated: own.and_then(|progress| progress.updated.parse().ok()),
            message,
            remarks,
        })
    }

    /// A complete run.
    fn of_results(root: &Path, alive: bool) -> Result<Self> {
        let dataset = run_folder::read(root)?;
        let (summary, provenance) = (dataset.summary, dataset.manifest.provenance);
        Ok(Self {
            search: Some((summary.puzzle, summary.metric)),
            condition: Condition::Complete,
            alive,
            level: Some(summary.gods_number),
            found: summary.states,
            expected: Some(summary.states),
            rate: None,
            checkpoint: None,
            workers: Workers {
                processes: Some((provenance.processes, provenance.threads_per_process)),
                host: provenance.hosts.first().cloned(),
                process_id: None,
            },
            updated: provenance.finished.parse().ok(),
            message: format!("God's number {}, {}", summary.gods_number, counted(summary.antipodes, "antipode")),
            remarks: Vec::new(),
        })
    }

    /// Seconds to the end at the present rate.
    #[must_use]
    pub fn seconds_left(&self) -> Option<f64> {
        super::progress::seconds_left(self.found, self.expected?, self.rate?)
    }

    /// The command that goes on with the run, when it has ended before its end.
    #[must_use]
    pub fn next_command(&self, root: &Path) -> Option<String> {
        let ended = matches!(self.condition, Condition::Stopped | Condition::Failed | Condition::Killed);
        // The folder of a second search goes on by the command that began it.
        let of_recheck = root.file_name().is_some_and(|name| name == "recheck") && root.parent().is_some_and(dataset::is_complete);
        let run_toml = || session::shell_word(&root.join("run.toml"));
        let command = match (of_recheck, self.checkpoint) {
            (true, _) => format!("farthest recheck {}", session::shell_word(root.parent().unwrap_or(root))),
            (false, Some(_)) => format!("farthest resume {}", session::shell_word(root)),
            // Nothing was saved: the same again from the start.
            (false, None) => format!("farthest run {} --out {}", run_toml(), session::shell_word(root)),
        };
        ended.then_some(command)
    }
}

/// The newest whole checkpoint, with its puzzle and metric.
fn saved(folder: &RunFolder, remarks: &mut Vec<String>) -> Option<(Saved, (String, String))> {
    let newest = checkpoint::newest_whole(&folder.checkpoint()).map_err(|error| remarks.push(error.to_string())).ok()?;
    let Some((manifest, path)) = newest else {
        if checkpoint::exists(&folder.checkpoint()).unwrap_or(false) {
            remarks.push(format!("{}: no manifest in it is whole", folder.checkpoint().display()));
        }
        return None;
    };
    let written = std::fs::metadata(&path).and_then(|facts| facts.modified()).ok()?;
    let states = manifest.levels.iter().map(|level| level.states).sum();
    let level = manifest.levels.last()?.depth.0;
    Some((Saved { level, states, written: Timestamp::try_from(written).ok()? }, (manifest.identity.puzzle_name, manifest.identity.metric)))
}

/// Puzzle, metric and states by the run's configuration: the group's order, which takes
/// milliseconds.
fn configured(folder: &RunFolder, remarks: &mut Vec<String>) -> Option<((String, String), Option<u64>)> {
    let attempt = || -> Result<((String, String), Option<u64>)> {
        let mut config = run_folder::configuration(folder.root())?;
        let states = prepared::states_of(&config.settle()?)?;
        Ok(((config.puzzle.name(), config.metric), states))
    };
    attempt().map_err(|error| remarks.push(error.to_string())).ok()
}
