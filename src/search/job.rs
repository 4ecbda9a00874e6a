//! What surrounds a search: the other processes, the threads, the folder of the run, who may ask to
//! stop, and the choices of the run.
//!
//! It is the same from the first level to the last, and knows neither the puzzle nor what was
//! found.

use super::machine::{Disks, RunFolder, StopRequest};
use super::settings::Settings;
use crate::base::{Depth, Error, ProcessId, Result};
use crate::exchange::Exchange;
use crate::store::LevelFile;
use std::sync::Arc;

/// The job that a search runs in, seen from one process.
pub struct Job<'a> {
    /// The other processes.
    pub exchange: &'a dyn Exchange,
    /// Threads of this process.
    pub pool: rayon::ThreadPool,
    /// Where the run keeps its files.
    pub folder: &'a RunFolder,
    /// Which processes see the same folder; one folder for all unless told otherwise.
    pub disks: Disks,
    /// Who may ask to stop.
    pub stop: &'a StopRequest,
    /// The choices of the run.
    pub settings: Settings,
}

impl<'a> Job<'a> {
    /// Starts the threads.
    ///
    /// # Errors
    /// `Config` when they cannot be started.
    pub fn new(exchange: &'a dyn Exchange, folder: &'a RunFolder, stop: &'a StopRequest, settings: Settings) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build().map_err(|error| {
            Error::config(format!(
                "cannot start {} threads: {error}; use fewer (--threads), or raise the limits (ulimit -u, ulimit -v)",
                settings.threads
            ))
        })?;
        Ok(Self { exchange, pool, folder, disks: Disks::one(exchange), stop, settings })
    }

    /// This process.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        self.exchange.process()
    }

    /// Whether this is the process that writes and prints for all.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.process() == ProcessId::FIRST
    }

    /// A new file for the states of level `depth` of this process, in compact storage.
    ///
    /// # Errors
    /// `Io` when it cannot be created.
    pub fn level_file(&self, depth: Depth) -> Result<Arc<LevelFile>> {
        LevelFile::create(&self.folder.work().join(format!("process-{:04}.level-{:03}", self.process().0, depth.0)))
    }
}
