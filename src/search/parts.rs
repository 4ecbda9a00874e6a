//! A search in its parts: the job it runs in, the space it searches, its progress, and its
//! checkpoint.

use super::checkpoint::{Checkpoint, SearchIdentity};
use super::job::Job;
use super::machine::{Disks, RunFolder, StopRequest};
use super::progress::Progress;
use super::settings::Settings;
use super::space::Space;
use crate::base::ids::to_u64;
use crate::base::{Result, ShardId};
use crate::exchange::Exchange;
use crate::puzzle::Puzzle;
use crate::ranking::Partition;
use crate::store::{Home, Shard, Storage, scratch_path};

/// A search on one process. Only what runs it as a whole takes all of it; everything else takes the
/// parts that it uses.
pub struct Search<'a> {
    /// What surrounds it.
    pub job: Job<'a>,
    /// What is searched.
    pub space: Space<'a>,
    /// What was found so far.
    pub progress: Progress,
    /// What of it is durable.
    pub checkpoint: Checkpoint,
}

impl<'a> Search<'a> {
    /// Sets up a search that has not started: no shard holds a state. All processes see one run
    /// folder.
    ///
    /// # Errors
    /// `Config` when the threads cannot be started or the counts would not fit 63 bits.
    pub fn new(
        exchange: &'a dyn Exchange,
        puzzle: &'a Puzzle,
        folder: &'a RunFolder,
        stop: &'a StopRequest,
        partition: Partition,
        settings: Settings,
    ) -> Result<Self> {
        let space = Space::new(puzzle, partition, exchange.processes())?;
        let identity = SearchIdentity::of(puzzle, &partition, &settings.puzzle_text, &settings.fixed_settings);
        let job = Job::new(exchange, folder, stop, settings)?;
        let owned: Vec<ShardId> = partition.owned_by(job.process(), exchange.processes()).collect();
        let home = match job.settings.storage {
            Storage::File => Home::File(scratch_path(job.process(), &folder.work())),
            Storage::Memory | Storage::Compact => Shard::memory(to_u64(owned.len()), partition.shard_length()),
        };
        let shards = owned.into_iter().map(|id| Shard::new(id, partition.ranks(id), &home)).collect();
        Ok(Self { job, space, progress: Progress::new(shards), checkpoint: Checkpoint::new(identity) })
    }

    /// The same where processes may see several run folders.
    #[must_use]
    pub fn on_disks(mut self, disks: Disks) -> Self {
        self.job.disks = disks;
        self
    }
}
