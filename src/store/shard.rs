//! A shard: the three sets of one contiguous range of ranks, and how a level is found and closed in
//! it.

use super::arena::Arena;
use super::bitset;
use super::mapped::{Home, Region, region_bytes};
use super::rank_set::RankSet;
use crate::base::fingerprint::{Fingerprint, LANE_STATES};
use crate::base::ids::to_u64;
use crate::base::{Error, ProcessId, Result, ShardId, fault_point};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Sets of a shard, each with a region of the scratch file of the process.
const SETS: u64 = 3;

/// The scratch file of a process, in the run folder's folder for scratch files.
#[must_use]
pub fn scratch_path(process: ProcessId, work: &Path) -> PathBuf {
    work.join(format!("process-{:04}.bits", process.0))
}

/// Edges from the states of one level, by where they lead, counted with multiplicity: lower, the
/// same, or the next level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edges {
    /// To states of a lower depth.
    pub down: u64,
    /// To states of the same depth.
    pub same: u64,
    /// To states of the next depth.
    pub up: u64,
}

impl Edges {
    /// Sum of two counts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { down: self.down + other.down, same: self.same + other.same, up: self.up + other.up }
    }

    /// All edges.
    #[must_use]
    pub fn total(self) -> u64 {
        self.down + self.same + self.up
    }
}

/// What one shard, or one process, contributes to a level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelPart {
    /// States found.
    pub states: u64,
    /// Their fingerprint.
    pub fingerprint: Fingerprint,
}

impl LevelPart {
    /// Sum of two parts of a level.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { states: self.states + other.states, fingerprint: self.fingerprint.plus(other.fingerprint) }
    }
}

/// The sets of one range of ranks. `frontier` is part of `seen`; `next` is disjoint from it.
#[derive(Debug)]
pub struct Shard {
    /// Its number.
    pub id: ShardId,
    /// The ranks it holds.
    pub ranks: Range<u64>,
    /// All states up to the last closed level.
    pub seen: RankSet,
    /// The last closed level.
    pub frontier: RankSet,
    /// The level being found.
    pub next: RankSet,
}

impl Shard {
    /// Where the bits of `seen` are in the `scratch` file of its owner, for the processes of the
    /// same host.
    #[must_use]
    pub fn seen_region(id: ShardId, length: u64, scratch: PathBuf) -> Region {
        Region { home: Home::File(scratch), number: u64::from(id.0) * SETS, words: bitset::words_for(length) }
    }

    /// Memory for the bits of `shards` shards of at most `length` ranks; none is taken yet.
    #[must_use]
    pub fn memory(shards: u64, length: u64) -> Home {
        Home::Memory(Arena::new(region_bytes(bitset::words_for(length)), SETS * shards))
    }

    /// A shard without states; its bits, once it needs any, are in `home`, which it shares with
    /// shards of other numbers and the same length.
    #[must_use]
    pub fn new(id: ShardId, ranks: Range<u64>, home: &Home) -> Self {
        let length = ranks.end - ranks.start;
        let words = bitset::words_for(length);
        let set = |number: u64| RankSet::empty(length, Region { home: home.clone(), number: u64::from(id.0) * SETS + number, words });
        Self { id, seen: set(0), frontier: set(1), next: set(2), ranks }
    }

    /// Number of ranks.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.ranks.end - self.ranks.start
    }

    /// Takes successors of the frontier, by rank, and keeps the unseen ones for the next level.
    /// Every successor is one edge.
    ///
    /// # Errors
    /// When a scratch file cannot be allocated.
    pub fn accept(&mut self, successors: &[u64]) -> Result<Edges> {
        let mut edges = Edges::default();
        let mut unseen = Vec::new();
        for &rank in successors {
            debug_assert!(self.ranks.contains(&rank), "rank {rank} belongs to another shard");
            let offset = rank - self.ranks.start;
            if !self.seen.contains(offset) {
                unseen.push(offset);
            } else if self.frontier.contains(offset) {
                edges.same += 1;
            } else {
                edges.down += 1;
            }
        }
        edges.up = to_u64(unseen.len());
        self.next.insert(&mut unseen)?;
        Ok(edges)
    }

    /// Counts the level being found from its data, and fingerprints it when asked to.
    ///
    /// # Errors
    /// `Invariant` when the data does not hold as many states as were accepted.
    pub fn measure_next(&mut self, fingerprint: bool) -> Result<LevelPart> {
        if self.next.count() > 0 && fault_point::damages("next-bits") {
            self.next.damage();
        }
        let states = self.next.measure();
        if states != self.next.count() {
            return Err(Error::invariant(
                format!("states held by the new level of shard {} and states accepted into it", self.id),
                states,
                self.next.count(),
            ));
        }
        let fingerprint = if fingerprint { self.next.fingerprint(self.ranks.start / LANE_STATES) } else { Fingerprint::default() };
        Ok(LevelPart { states, fingerprint })
    }

    /// Closes the level: its states join `seen` and become the frontier.
    ///
    /// # Errors
    /// `Io` when a scratch file cannot be allocated.
    pub fn close_level(&mut self) -> Result<()> {
        self.seen.absorb_disjoint(&self.next)?;
        if self.seen.count() > 0 && fault_point::damages("seen-bits") {
            self.seen.damage();
        }
        // The checkpoint may hold the old frontier: the new one differs from it even when it is
        // empty.
        let replaces = self.frontier.changed() || self.frontier.count() > 0;
        std::mem::swap(&mut self.frontier, &mut self.next);
        if replaces {
            self.frontier.mark_changed();
        }
        self.next.clear(self.frontier.count() > 0);
        Ok(())
    }

    /// Forgets the level being found.
    pub fn abandon_level(&mut self) {
        self.next.clear(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_each_other() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut shard = Shard::new(ShardId(2), 2_400..4_800, &Home::File(folder.path().join("bits")));
        shard.accept(&[2_400]).expect("room");
        assert_eq!(shard.measure_next(true).expect("consistent").states, 1);
        shard.close_level().expect("room");
        // 2400 is the frontier itself, 2401 twice is two edges to one state.
        let edges = shard.accept(&[2_400, 2_401, 2_401, 4_799]).expect("room");
        assert_eq!(edges, Edges { down: 0, same: 1, up: 3 });
        let part = shard.measure_next(true).expect("consistent");
        shard.close_level().expect("room");
        assert_eq!(part.states, 2);
        assert_eq!(part.fingerprint, crate::base::fingerprint::of_sorted_ranks([2_401, 4_799]));
        let edges = shard.accept(&[2_400, 2_401]).expect("room");
        assert_eq!(edges, Edges { down: 1, same: 1, up: 0 });
        assert_eq!(shard.seen.count(), 3);
        shard.abandon_level();
        assert_eq!(shard.next.count(), 0);
        // An empty level in the place of one that a checkpoint holds is a change, too.
        shard.seen.mark_saved();
        shard.next.mark_saved();
        shard.frontier.mark_saved();
        shard.close_level().expect("room");
        assert_eq!((shard.frontier.count(), shard.frontier.changed(), shard.seen.changed()), (0, true, false));
    }
}
