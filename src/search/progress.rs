//! What a search has found so far: the shards of this process, and the closed levels.

use super::expansions::lanes::shared_views::SharedViews;
use super::level_record::LevelRecord;
use crate::base::{Depth, ShardId, StateRank};
use crate::store::Shard;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The progress of a search on one process.
pub struct Progress {
    /// The shards of this process, ascending.
    pub shards: Vec<Shard>,
    /// The closed levels, by depth.
    pub levels: Vec<LevelRecord>,
    /// Sampled states of the closed levels, by depth.
    pub samples: Vec<Vec<StateRank>>,
    /// Shards of other processes on this host, once a level was expanded by lanes.
    pub shared: Option<SharedViews>,
    /// How often the search went on from a checkpoint; sessions that committed nothing leave no
    /// trace.
    pub resumes: u32,
    /// Seconds of earlier sessions of a resumed run.
    pub earlier_seconds: f64,
    /// When this session started.
    pub started: Instant,
    /// The commits of this session.
    pub commits: Commits,
}

/// What the commits of a session took, all processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Commits {
    /// How many there were.
    pub number: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Seconds in all.
    pub seconds: f64,
    /// Seconds of the longest: so long before its time is used up a search must stop.
    pub longest_seconds: f64,
}

impl Progress {
    /// Of a search that has not started: no level is closed.
    #[must_use]
    pub fn new(shards: Vec<Shard>) -> Self {
        Self {
            shards,
            levels: Vec::new(),
            samples: Vec::new(),
            shared: None,
            resumes: 0,
            earlier_seconds: 0.0,
            started: Instant::now(),
            commits: Commits::default(),
        }
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
        // Before the first level there are none. A closed level that another follows has its edges:
        // the search sets them, and a manifest without them is refused.
        self.levels.len().checked_sub(2).map_or(0, |at| self.levels[at].edges.map_or(0, |edges| edges.up))
    }

    /// Frontier states of this process.
    #[must_use]
    pub fn own_frontier(&self) -> u64 {
        self.shards.iter().map(|shard| shard.frontier.count()).sum()
    }

    /// The place in this process's list of the shard `id`, if it is owned here.
    #[must_use]
    pub fn own_shard(&self, id: ShardId) -> Option<usize> {
        self.shards.binary_search_by_key(&id, |shard| shard.id).ok()
    }

    /// Seconds of the whole run, earlier sessions included.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.earlier_seconds + self.started.elapsed().as_secs_f64()
    }
}
