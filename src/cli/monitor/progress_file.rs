//! `progress.json`: what a run is doing, for `farthest watch` and other terminals. Informational;
//! replaced in one step, never synced.

use crate::base::{Error, Result, atomic_file, regular_file};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the file in the run folder.
pub const NAME: &str = "progress.json";

/// Most bytes of it: its longest text is a message.
const MOST_BYTES: u64 = 1 << 20;

/// Whether the run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It searches.
    Running,
    /// It writes a checkpoint.
    Committing,
    /// It found everything.
    Complete,
    /// It stopped with a checkpoint.
    Stopped,
    /// It failed.
    Failed,
}

impl Phase {
    /// Whether the session that wrote this has ended by itself.
    #[must_use]
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Running | Self::Committing)
    }
}

/// What a run does, and how far it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Whether it goes on.
    pub phase: Phase,
    /// The puzzle.
    pub puzzle: String,
    /// The metric.
    pub metric: String,
    /// Depth of the level being expanded.
    pub depth: u32,
    /// Its states.
    pub frontier: u64,
    /// Those expanded.
    pub expanded: u64,
    /// States found, of the next level too.
    pub found: u64,
    /// States in all, where that is known before the search.
    pub expected: Option<u64>,
    /// Seconds since this session started.
    pub seconds: f64,
    /// States found a second, over the last moments.
    pub rate: f64,
    /// Depth of the last checkpoint.
    pub checkpoint_depth: Option<u32>,
    /// Processes and threads of each.
    pub processes: u32,
    /// See `processes`.
    pub threads: u64,
    /// Host and process id of the first process.
    pub host: String,
    /// See `host`.
    pub process_id: u32,
    /// When this was written, in UTC.
    pub updated: String,
    /// The last thing worth a line.
    pub message: String,
}

impl Progress {
    /// Replaces the file in `folder`.
    ///
    /// # Errors
    /// `Io` when it cannot be written; the run does not depend on it.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).expect("plain data with text keys");
        atomic_file::replace_unsynced(&folder.join(NAME), &text)
    }

    /// Reads the file of `folder`.
    ///
    /// # Errors
    /// `Io` when there is none, `BadData` when it is no progress file.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let bytes = regular_file::read(&path, MOST_BYTES)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Error::bad_data(&path, error, "the progress of a run", "it is written anew by the next run"))
    }
}
