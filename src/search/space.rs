//! What is searched: the puzzle, the cut of its ranks into shards with an owner each, and its
//! generators compiled for the expansions.
//!
//! It is the same on every process, and from the first level to the last.

use super::promises::Promises;
use crate::base::ids::to_u64;
use crate::base::{Error, ProcessId, Result, StateRank};
use crate::expand::{Direction, LaneExpansion, MoveCounts, Moves};
use crate::puzzle::Puzzle;
use crate::ranking::{Partition, StateSpace};
use crate::store::Shard;

/// The space of a search.
pub struct Space<'a> {
    /// The puzzle in its metric.
    pub puzzle: &'a Puzzle,
    /// The cut of the space into shards.
    pub partition: Partition,
    /// The owner of each shard.
    pub owners: Vec<ProcessId>,
    /// Compiled generators.
    pub moves: Moves,
    /// The moves that lead to each state, of directed puzzles with lanes; `None` where they are the
    /// same.
    pub predecessors: Option<Moves>,
    /// How many moves each state has, counted without making them.
    pub move_counts: MoveCounts,
    /// The same compiled for lanes, where the puzzle allows it.
    pub lanes: Option<LaneExpansion>,
    /// The invariants that this puzzle obeys.
    pub promises: Promises,
}

impl<'a> Space<'a> {
    /// The numbering of states, which the compiled moves keep.
    #[must_use]
    pub fn numbering(&self) -> &StateSpace {
        self.moves.space()
    }

    /// The space of `puzzle`, cut for `processes`.
    ///
    /// # Errors
    /// `Config` when the counts would not fit 63 bits.
    pub fn new(puzzle: &'a Puzzle, partition: Partition, processes: u32) -> Result<Self> {
        let moves = Moves::of(puzzle, Direction::Forward)?;
        let states = puzzle.facts().states.unwrap_or(partition.state_count().into());
        if states.saturating_mul(u128::from(to_u64(moves.generators()))) >= 1 << 63 {
            return Err(Error::config(format!("{states} states with {} generators have too many edges to count", moves.generators())));
        }
        let lanes = LaneExpansion::new(puzzle, partition.blocks_per_plane());
        let is_directed = lanes.as_ref().is_some_and(LaneExpansion::is_directed);
        let predecessors = if is_directed { Some(Moves::of(puzzle, Direction::Backward)?) } else { None };
        Ok(Self {
            puzzle,
            owners: partition.owners(processes),
            lanes,
            predecessors,
            partition,
            moves,
            move_counts: MoveCounts::of(puzzle),
            promises: Promises::of(puzzle),
        })
    }

    /// The moves that lead to a state, one for each generator.
    #[must_use]
    pub fn moves_to(&self) -> &Moves {
        self.predecessors.as_ref().unwrap_or(&self.moves)
    }

    /// The owner of `rank`, which is one of the space.
    #[inline]
    #[must_use]
    pub fn owner_of(&self, rank: StateRank) -> ProcessId {
        self.owners[self.partition.shard_of(rank).index()]
    }

    /// For each shard whether `process` owns it.
    #[must_use]
    pub fn owned_by(&self, process: ProcessId) -> Vec<bool> {
        self.owners.iter().map(|owner| *owner == process).collect()
    }

    /// The place in a list of owned `shards`, which ascends, of the one that holds `rank`; `None`
    /// when none does, or it is no rank of the space.
    #[inline]
    #[must_use]
    pub fn place_among(&self, shards: &[Shard], rank: StateRank) -> Option<usize> {
        if rank.0 >= self.partition.state_count() {
            return None;
        }
        let id = self.partition.shard_of(rank);
        shards.binary_search_by_key(&id, |shard| shard.id).ok()
    }

    /// The first rank of the first shard that `process` does not own, for the tests of the guards;
    /// after all shards where it owns all.
    #[must_use]
    pub fn foreign_rank(&self, process: ProcessId) -> u64 {
        let shard = self.owners.iter().position(|owner| *owner != process).unwrap_or(self.owners.len());
        to_u64(shard) * self.partition.shard_length()
    }

    /// Frontier states with about `round_successors` successors.
    #[must_use]
    pub fn round_states(&self, round_successors: usize) -> usize {
        (round_successors / self.moves.generators()).max(1)
    }
}
