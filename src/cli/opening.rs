//! Opening the run folder, or the folder of every host: who sees which, the locks, and what an
//! earlier session left.
//!
//! Each step is taken by the processes that lead a folder (`search/machine/disks.rs`), the first process
//! alone on a shared file system, and ends in an agreement. What counts is what all folders hold
//! together: the first process may have been on another host before.

use super::arguments::ResumePolicy;
use super::prepared::Prepared;
use crate::base::removal::remove_folder;
use crate::base::{Error, ProcessId, Result, atomic_file};
use crate::evidence::dataset::{self, Summary};
use crate::exchange::{Exchange, agree, first_of};
use crate::families::run_folder;
use crate::puzzle::Puzzle;
use crate::search::machine::host::Placement;
use crate::search::{Disks, LeftBehind, RunFolder, RunLock, checkpoint};

/// The folder of a run, ready for a search.
pub struct OpenFolder {
    /// Which processes see the same folder.
    pub disks: Disks,
    /// Held by those who lead a folder.
    pub lock: Option<RunLock>,
    /// The results, when the run is complete already, and the process that has them.
    pub complete: Option<(Summary, ProcessId)>,
}

/// What a folder holds of earlier sessions.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    results: bool,
    checkpoint: bool,
    set_aside: bool,
}

impl Left {
    /// What the folder of this process holds.
    fn look(folder: &RunFolder) -> Result<Self> {
        Ok(Self {
            results: dataset::is_complete(folder.root()),
            checkpoint: checkpoint::exists(&folder.checkpoint())?,
            set_aside: checkpoint::was_set_aside(&folder.checkpoint())?,
        })
    }

    /// What all folders hold together. Collective.
    fn anywhere(self, exchange: &dyn Exchange) -> Self {
        let mut held = [self.results, self.checkpoint, self.set_aside].map(u64::from);
        exchange.maximum(&mut held);
        let [results, checkpoint, set_aside] = held.map(|held| held > 0);
        Self { results, checkpoint, set_aside }
    }
}

/// Finds out who sees which folder, creates and locks each. Collective.
///
/// # Errors
/// The same on every process: `CannotCreate` when a folder is no run folder or in use, `Config`
/// when one that should be shared is not.
pub fn lock(
    folder: &RunFolder,
    shared: bool,
    left_behind: LeftBehind,
    exchange: &dyn Exchange,
    placement: &Placement,
    may_create: impl FnOnce() -> Result<()>,
) -> Result<(Disks, Option<RunLock>)> {
    let disks = if shared { Disks::one(exchange) } else { Disks::find(exchange, folder, placement)? };
    let locked = || -> Result<RunLock> {
        folder.refuse_foreign()?;
        may_create()?;
        folder.create_root()?;
        let lock = if disks.is_first() {
            folder.lock(left_behind)
        } else {
            folder.lock_part_of(left_behind, placement.hosts.first().map(String::as_str))
        }?;
        folder.remove_temporaries()?;
        folder.try_out()?;
        Ok(lock)
    };
    let lock = agree(exchange, if disks.leads() { locked().map(Some) } else { Ok(None) })?;
    let disks = if shared { Disks::check_shared(exchange, folder, placement)? } else { disks };
    Ok((disks, lock))
}

/// Makes the folder ready for the run that `prepared` describes. Collective.
///
/// # Errors
/// The same on every process: as [`lock`], and `Config` when the folder holds something else than
/// `policy` allows.
pub fn open(
    policy: ResumePolicy,
    force: bool,
    left_behind: LeftBehind,
    prepared: &Prepared,
    exchange: &dyn Exchange,
    placement: &Placement,
) -> Result<OpenFolder> {
    let folder = &prepared.folder;
    let shared = prepared.config.search.shared_filesystem;
    let may_create = || {
        // Where each host has a folder the first one's may be new.
        let nothing = shared && policy == ResumePolicy::Require && !folder.root().join("run.toml").is_file();
        if nothing { Err(nothing_to_resume(folder)) } else { Ok(()) }
    };
    let (disks, lock) = lock(folder, shared, left_behind, exchange, placement, may_create)?;
    let own = agree(exchange, if disks.leads() { Left::look(folder) } else { Ok(Left::default()) })?;
    let all = if disks.are_one() { own } else { own.anywhere(exchange) };
    let made_ready = if disks.leads() { make_ready((policy, force), prepared, &disks, own, all) } else { Ok(None) };
    let summary = agree(exchange, made_ready)?;
    let complete = first_summary(exchange, summary.as_ref())?;
    Ok(OpenFolder { disks, lock, complete })
}

/// One folder: refuses or discards what does not belong to the run, and writes `run.toml`; returns
/// the summary when it is complete.
fn make_ready((policy, force): (ResumePolicy, bool), prepared: &Prepared, disks: &Disks, own: Left, all: Left) -> Result<Option<Summary>> {
    let folder = &prepared.folder;
    match policy {
        ResumePolicy::Never if (own.results || own.checkpoint) && !force => {
            return Err(Error::config(format!(
                "{}: holds {} of an earlier run, and --resume never was given; add --force to discard it, or choose another folder with --out",
                folder.root().display(),
                if own.results { "the results" } else { "a checkpoint" }
            )));
        }
        ResumePolicy::Never => folder.discard()?,
        ResumePolicy::Require if !all.results && !all.checkpoint && !all.set_aside => return Err(nothing_to_resume(folder)),
        ResumePolicy::Auto | ResumePolicy::Require => {}
    }
    let keeps = policy != ResumePolicy::Never;
    let summary = if keeps && own.results { Some(run_folder::read(folder.root())?.summary) } else { None };
    if let Some(summary) = &summary {
        check_same_results(summary, &prepared.puzzle, folder)?;
        if prepared.config.search.keep_levels && !folder.levels().is_dir() {
            return Err(Error::config(format!(
                "{}: holds the results of a run that archived no levels, and keep_levels is set; run again with --resume never --force, or in \
                 another folder with --out",
                folder.root().display()
            )));
        }
    }
    if keeps && all.results {
        // A run that was killed right after its last file has left these.
        remove_folder(&folder.checkpoint())?;
        remove_folder(&folder.work())?;
        return Ok(summary);
    }
    if keeps {
        checkpoint::refuse_absent_host(&folder.checkpoint(), disks)?;
        checkpoint::refuse_other_search(&folder.checkpoint(), &prepared.puzzle, &prepared.partition, &prepared.config.fixed_settings())?;
    }
    // It may be gone although there was a checkpoint: discarded just now, or removed by hand.
    // Publishing needs it.
    if disks.is_first() && (!own.checkpoint || !folder.file("run.toml").is_file()) {
        atomic_file::write(&folder.file("run.toml"), prepared.config.to_toml().as_bytes())?;
    }
    Ok(None)
}

/// The error for a folder without anything to go on from.
#[must_use]
pub fn nothing_to_resume(folder: &RunFolder) -> Error {
    Error::config(format!("{}: found no checkpoint to resume; start the run with farthest run CONFIG --out {0}", folder.root().display()))
}

/// Refuses a folder with the results of another run.
fn check_same_results(summary: &Summary, puzzle: &Puzzle, folder: &RunFolder) -> Result<()> {
    let differences: Vec<String> = [
        ("puzzle", summary.puzzle.as_str(), puzzle.name()),
        ("metric", summary.metric.as_str(), puzzle.metric()),
        ("puzzle digest", summary.puzzle_digest.as_str(), puzzle.digest().as_str()),
    ]
    .iter()
    .filter(|(_, theirs, ours)| theirs != ours)
    .map(|(key, theirs, ours)| format!("{key} = {theirs} there, {ours} here"))
    .collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::config(format!(
        "{}: holds the results of another run: {}; choose another folder with --out, or discard them with --resume never --force",
        folder.root().display(),
        differences.join("; ")
    )))
}

/// The summary of the lowest process that has one, on every process. Collective.
///
/// # Errors
/// `Invariant` when it cannot be read on the other side.
pub fn first_summary(exchange: &dyn Exchange, own: Option<&Summary>) -> Result<Option<(Summary, ProcessId)>> {
    let text = own.map(|summary| serde_json::to_vec(summary).expect("plain data with text keys"));
    let Some((holder, text)) = first_of(exchange, text.as_deref()) else { return Ok(None) };
    let read = serde_json::from_slice(&text).map_err(|error| Error::invariant("a summary passed between processes", error, "itself"));
    read.map(|summary| Some((summary, holder)))
}

/// Empties the folders on other disks than the first process's, which holds the results now, but
/// for their locks. Collective.
///
/// # Errors
/// The same on every process, when something cannot be removed.
pub fn clear_other_disks(disks: &Disks, folder: &RunFolder, exchange: &dyn Exchange) -> Result<()> {
    if disks.are_one() {
        return Ok(());
    }
    let elsewhere = disks.leads() && !disks.is_first();
    agree(exchange, if elsewhere { folder.discard() } else { Ok(()) })
}
