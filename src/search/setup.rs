//! What a search works with: the puzzle, the processes, the shards this process owns, and the levels closed so far.

use super::expansion_choice::ExpansionChoice;
use super::expansions::lanes::shared_views::SharedViews;
use super::guards::Rules;
use super::level_record::LevelRecord;
use super::machine::disks::Disks;
use super::machine::run_folder::RunFolder;
use super::machine::stop::StopRequest;
use crate::base::ids::to_u64;
use crate::ranking::Partition;
use crate::base::{Depth, Error, ProcessId, Result, StateRank};
use crate::exchange::Exchange;
use crate::expand::{LaneExpansion, StateExpansion};
use crate::puzzle::Puzzle;
use crate::store::{LevelFile, Shard, Storage, scratch_path};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The choices of a run that are not the puzzle's.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads of this process.
    pub threads: usize,
    /// Seconds between commits; 0 commits every level.
    pub checkpoint_seconds: u64,
    /// Whether every closed level is archived.
    pub keep_levels: bool,
    /// Whether processes of one host read each other's scratch files instead of exchanging lanes.
    pub share_memory: bool,
    /// Where what is seen is kept: in mapped files with the levels, or (compact storage) in memory, with the levels compressed in files.
    pub storage: Storage,
    /// Most antipodes listed.
    pub most_antipodes: usize,
    /// How levels are expanded.
    pub expansion: ExpansionChoice,
    /// Most successors that this process holds between two exchanges.
    pub round_successors: usize,
    /// States that the group's order promises, found independently of the search.
    pub expected_states: u64,
    /// The puzzle as text that builds it again, for the checkpoint.
    pub puzzle_text: String,
    /// Settings that a resumed run must share, by key.
    pub fixed_settings: BTreeMap<String, String>,
}

/// A search on one process.
pub struct Search<'a> {
    /// The other processes.
    pub exchange: &'a dyn Exchange,
    /// The puzzle in its metric.
    pub puzzle: &'a Puzzle,
    /// Where the run keeps its files.
    pub folder: &'a RunFolder,
    /// Which processes see the same folder; one folder for all unless told otherwise.
    pub disks: Disks,
    /// Who may ask to stop.
    pub stop: &'a StopRequest,
    /// The choices of the run.
    pub settings: Settings,
    /// The cut of the space into shards.
    pub partition: Partition,
    /// The owner of each shard.
    pub owners: Vec<ProcessId>,
    /// The shards of this process, ascending.
    pub shards: Vec<Shard>,
    /// The closed levels, by depth.
    pub levels: Vec<LevelRecord>,
    /// Sampled states of the closed levels, by depth.
    pub samples: Vec<Vec<StateRank>>,
    /// Compiled generators.
    pub expansion: StateExpansion,
    /// The same compiled for lanes, where the puzzle allows it.
    pub lanes: Option<LaneExpansion>,
    /// Shards of other processes on this host, once a level was expanded by lanes.
    pub shared: Option<SharedViews>,
    /// The invariants that this puzzle obeys.
    pub rules: Rules,
    /// Threads of this process.
    pub pool: rayon::ThreadPool,
    /// How often the search went on from a checkpoint; sessions that committed nothing leave no trace.
    pub resumes: u32,
    /// Seconds of earlier sessions of a resumed run.
    pub earlier_seconds: f64,
    /// When this session started.
    pub started: Instant,
    /// The state of the commits.
    pub commits: super::checkpoint::Commits,
}

impl<'a> Search<'a> {
    /// Sets up a search that has not started: no shard holds a state.
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
        let expansion = StateExpansion::new(puzzle);
        let edges = u128::from(settings.expected_states) * u128::try_from(expansion.generators()).unwrap_or(u128::MAX);
        if edges >= 1 << 63 {
            return Err(Error::config(format!(
                "{} states with {} generators have too many edges to count",
                settings.expected_states,
                expansion.generators()
            )));
        }
        let lanes = LaneExpansion::new(puzzle, partition.blocks_per_plane());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build().map_err(|error| {
            Error::config(format!(
                "cannot start {} threads: {error}; use fewer (--threads), or raise the limits (ulimit -u, ulimit -v)",
                settings.threads
            ))
        })?;
        let process = exchange.process();
        let scratch = scratch_path(process, &folder.work());
        let shards = partition
            .owned_by(process, exchange.processes())
            .map(|shard| Shard::new(shard, partition.ranks(shard), &scratch, settings.storage))
            .collect();
        Ok(Self {
            exchange,
            puzzle,
            folder,
            disks: Disks::one(exchange),
            stop,
            owners: partition.owners(exchange.processes()),
            partition,
            shards,
            levels: Vec::new(),
            samples: Vec::new(),
            rules: Rules::of(puzzle, settings.expected_states),
            expansion,
            lanes,
            shared: None,
            pool,
            resumes: 0,
            earlier_seconds: 0.0,
            started: Instant::now(),
            commits: super::checkpoint::Commits::new(),
            settings,
        })
    }

    /// Whether this is the process that writes and prints for all.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.exchange.process() == ProcessId::FIRST
    }

    /// The last closed level.
    ///
    /// # Panics
    /// Before the search has started.
    #[must_use]
    pub fn last_level(&self) -> &LevelRecord {
        self.levels.last().expect("level 0 is closed when a search starts")
    }

    /// Depth of the last closed level.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.last_level().depth
    }

    /// States in the closed levels.
    #[must_use]
    pub fn total_states(&self) -> u64 {
        self.levels.iter().map(|level| level.states).sum()
    }

    /// Edges from the level before the last one up to it.
    #[must_use]
    pub fn up_edges_before(&self) -> u64 {
        // Before the first level there are none. A closed level that another follows has its edges: the search sets them, and a manifest without them is refused.
        self.levels.len().checked_sub(2).map_or(0, |at| self.levels[at].edges.map_or(0, |edges| edges.up))
    }

    /// Frontier states of this process.
    #[must_use]
    pub fn own_frontier(&self) -> u64 {
        self.shards.iter().map(|shard| shard.frontier.count()).sum()
    }

    /// The shard `number` of this process's list that holds shard id `id`, if it is owned here.
    #[must_use]
    pub fn own_shard(&self, id: crate::base::ShardId) -> Option<usize> {
        self.shards.binary_search_by_key(&id, |shard| shard.id).ok()
    }

    /// The shard in this process's list that holds `rank`; `None` when it is another process's, or no rank of the space.
    #[inline]
    #[must_use]
    pub fn own_shard_of(&self, rank: StateRank) -> Option<usize> {
        place_of(&self.partition, &self.shards, rank)
    }

    /// For each shard whether this process owns it.
    #[must_use]
    pub fn own_by_id(&self) -> Vec<bool> {
        self.owners.iter().map(|owner| *owner == self.exchange.process()).collect()
    }

    /// The first rank of the first shard that `process` does not own, for the tests of the guards; behind all shards where it owns all.
    #[must_use]
    pub fn foreign_rank(&self, process: ProcessId) -> u64 {
        let shard = self.owners.iter().position(|owner| *owner != process).unwrap_or(self.owners.len());
        to_u64(shard) * self.partition.shard_length()
    }

    /// Successors that one round of this process may make, as a number of frontier states.
    #[must_use]
    pub fn round_states(&self) -> usize {
        (self.settings.round_successors / self.expansion.generators()).max(1)
    }

    /// A new file for the states of level `depth` of this process, in compact storage.
    ///
    /// # Errors
    /// `Io` when it cannot be created.
    pub fn level_file(&self, depth: Depth) -> Result<Arc<LevelFile>> {
        LevelFile::create(&self.folder.work().join(format!("process-{:04}.level-{:03}", self.exchange.process().0, depth.0)))
    }

    /// Seconds of the whole run, earlier sessions included.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.earlier_seconds + self.started.elapsed().as_secs_f64()
    }

    /// Number of shards that this process owns, for messages.
    #[must_use]
    pub fn own_shards(&self) -> u64 {
        to_u64(self.shards.len())
    }
}

/// The shard in a list of owned ones, which ascends, that holds `rank`; `None` when none does, or it is no rank of the space.
#[inline]
pub(super) fn place_of(partition: &Partition, shards: &[Shard], rank: StateRank) -> Option<usize> {
    if rank.0 >= partition.state_count() {
        return None;
    }
    let id = partition.shard_of(rank);
    shards.binary_search_by_key(&id, |shard| shard.id).ok()
}
