//! How the state space is cut into shards, and which process owns each: pure functions of the run's
//! configuration.
//!
//! The space is `planes` runs of `arrangements` ranks each. A shard is a contiguous range of ranks
//! of one fixed length: either a part of one plane (`blocks_per_plane > 1`, cut at the digits of
//! the leading positions), or several whole planes. A shard's *block* is the part of the plane it
//! covers; all shards of a block, over all planes, have the same owner, so that a generator that
//! leaves the leading positions alone never crosses to another process.
//!
//! Invariants: shard lengths are multiples of [`LANE_STATES`] unless one shard holds everything, so
//! no lane is split; the number of shards depends on the configuration only, at most
//! [`MOST_SHARDS`] (each dense shard maps up to three files, and Linux allows 65,530 maps a process
//! by default).

use crate::base::fingerprint::LANE_STATES;
use crate::base::ids::{ProcessId, ShardId, StateRank, low_u32, to_usize};
use crate::base::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Upper limit of the number of shards of a run.
pub const MOST_SHARDS: u64 = 16_384;

/// Blocks per plane that the automatic choice aims for: enough to balance tens of processes.
const ENOUGH_BLOCKS: u64 = 64;

/// The cut of a state space into shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    state_count: u64,
    shard_length: u64,
    blocks_per_plane: u64,
}

impl Partition {
    /// Cuts `planes` x `arrangement_length!` ranks, or half as many in a `halved` space.
    /// `leading_positions` is the number of positions of the arrangement whose digits select the
    /// block; `None` chooses it.
    ///
    /// # Errors
    /// When the space has no 63-bit rank, or the wanted cut has too many shards or splits lanes.
    pub fn new(planes: u64, arrangement_length: u32, halved: bool, leading_positions: Option<u32>) -> Result<Self> {
        let arrangements = (1..=u64::from(arrangement_length)).try_fold(1_u64, u64::checked_mul);
        let arrangements = if halved { arrangements.map(|count| count / 2) } else { arrangements };
        let state_count = arrangements.and_then(|count| count.checked_mul(planes)).filter(|&count| count < 1 << 63).ok_or_else(|| {
            Error::config(format!("{planes} planes x {arrangement_length}! arrangements have no 63-bit rank; choose a smaller puzzle"))
        })?;
        let arrangements = state_count / planes;
        let blocks =
            |positions: u32| -> u64 { (0..positions.min(arrangement_length)).map(|i| u64::from(arrangement_length - i)).product() };
        // A block holds whole lanes: 5! states, or 6!/2 where only one sign is numbered.
        let most_positions = arrangement_length.saturating_sub(if halved { 6 } else { 5 });
        let fits =
            |positions: u32| positions == 0 || (positions <= most_positions && planes.saturating_mul(blocks(positions)) <= MOST_SHARDS);
        let positions = match leading_positions {
            Some(wanted) if !fits(wanted) => {
                return Err(Error::config(format!(
                    "leading_positions = {wanted} would make {} shards; at most {MOST_SHARDS} shards and {most_positions} \
                     leading positions are possible here; leave the key out to have it chosen",
                    planes.saturating_mul(blocks(wanted)),
                )));
            }
            Some(wanted) => wanted,
            None => (0..=most_positions)
                .filter(|&positions| fits(positions))
                .find(|&positions| blocks(positions) >= ENOUGH_BLOCKS)
                .or_else(|| (0..=most_positions).rev().find(|&positions| fits(positions)))
                .unwrap_or(0),
        };
        let (shard_length, blocks_per_plane) = if positions > 0 {
            (arrangements / blocks(positions), blocks(positions))
        } else {
            // Whole planes: as many as keep the number of shards low, in a number that splits no
            // lane.
            let lane_planes = LANE_STATES / gcd(LANE_STATES, arrangements);
            let planes_per_shard = planes.div_ceil(MOST_SHARDS / 4).div_ceil(lane_planes) * lane_planes;
            (arrangements.saturating_mul(planes_per_shard).min(state_count), 1)
        };
        Ok(Self { state_count, shard_length, blocks_per_plane })
    }

    /// Cuts ranks that have no planes into ranges of equal length.
    ///
    /// # Errors
    /// When the space has no 63-bit rank.
    pub fn of_range(state_count: u128) -> Result<Self> {
        let state_count = u64::try_from(state_count)
            .ok()
            .filter(|&count| count < 1 << 63)
            .ok_or_else(|| Error::config(format!("{state_count} states have no 63-bit rank; choose a smaller puzzle")))?;
        let lanes = state_count.div_ceil(4 * ENOUGH_BLOCKS).div_ceil(LANE_STATES).max(ENOUGH_BLOCKS);
        Ok(Self { state_count, shard_length: (lanes * LANE_STATES).min(state_count), blocks_per_plane: 1 })
    }

    /// Ranks in the whole space, reachable or not.
    #[must_use]
    pub fn state_count(&self) -> u64 {
        self.state_count
    }

    /// Number of shards; the last one may be shorter than the others.
    #[must_use]
    pub fn shards(&self) -> u32 {
        low_u32(self.state_count.div_ceil(self.shard_length))
    }

    /// The shard that holds `rank`.
    #[inline]
    #[must_use]
    pub fn shard_of(&self, rank: StateRank) -> ShardId {
        ShardId(low_u32(rank.0 / self.shard_length))
    }

    /// First rank of `shard`.
    #[inline]
    #[must_use]
    pub fn first_rank(&self, shard: ShardId) -> StateRank {
        StateRank(u64::from(shard.0) * self.shard_length)
    }

    /// Ranks that `shard` holds.
    #[must_use]
    pub fn ranks(&self, shard: ShardId) -> Range<u64> {
        let first = self.first_rank(shard).0;
        first..(first + self.shard_length).min(self.state_count)
    }

    /// Ranks that `shard` holds; none when the space is not cut into so many shards.
    #[must_use]
    pub fn ranks_if_any(&self, shard: ShardId) -> Option<Range<u64>> {
        (shard.0 < self.shards()).then(|| self.ranks(shard))
    }

    /// The process, of `processes`, that owns `shard`: neighbouring blocks stay together.
    #[inline]
    #[must_use]
    pub fn owner(&self, shard: ShardId, processes: u32) -> ProcessId {
        let (item, items) = if self.blocks_per_plane > 1 {
            (u64::from(shard.0) % self.blocks_per_plane, self.blocks_per_plane)
        } else {
            (u64::from(shard.0), u64::from(self.shards()))
        };
        ProcessId(low_u32(item * u64::from(processes) / items))
    }

    /// The owner of every shard, for hot loops.
    #[must_use]
    pub fn owners(&self, processes: u32) -> Vec<ProcessId> {
        (0..self.shards()).map(|shard| self.owner(ShardId(shard), processes)).collect()
    }

    /// The shards that `process` of `processes` owns, ascending.
    pub fn owned_by(&self, process: ProcessId, processes: u32) -> impl Iterator<Item = ShardId> + '_ {
        (0..self.shards()).map(ShardId).filter(move |&shard| self.owner(shard, processes) == process)
    }

    /// Blocks that each plane is cut into; 1 when shards are whole planes, or several.
    #[must_use]
    pub fn blocks_per_plane(&self) -> u64 {
        self.blocks_per_plane
    }

    /// Longest shard, in ranks.
    #[must_use]
    pub fn shard_length(&self) -> u64 {
        self.shard_length
    }

    /// Cuts `ranks` of any order into runs by shard: returns the ranks grouped by shard, and where
    /// each group starts (one entry a shard, then the total). Counting sort: two passes, about 4 ns
    /// a rank.
    #[must_use]
    pub fn group_by_shard(&self, ranks: &[u64]) -> (Vec<u64>, Vec<usize>) {
        let mut starts = vec![0_usize; to_usize(u64::from(self.shards())) + 1];
        for &rank in ranks {
            starts[self.shard_of(StateRank(rank)).index() + 1] += 1;
        }
        for shard in 1..starts.len() {
            starts[shard] += starts[shard - 1];
        }
        let mut place = starts.clone();
        let mut grouped = vec![0_u64; ranks.len()];
        for &rank in ranks {
            let slot = &mut place[self.shard_of(StateRank(rank)).index()];
            grouped[*slot] = rank;
            *slot += 1;
        }
        (grouped, starts)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<Partition> {
        let mut shapes = Vec::new();
        for planes in [1_u64, 4, 13, 720, 40_320] {
            for length in 1..=9 {
                shapes.push(Partition::new(planes, length, length > 1 && planes % 2 == 1, None).expect("small"));
            }
        }
        shapes.extend([1, 12, 7_681, 5_000_000].map(|count| Partition::of_range(count).expect("small")));
        shapes
    }

    #[test]
    fn shards_cover_the_space_without_gap_or_overlap_and_split_no_lane() {
        for shape in shapes() {
            let mut next = 0;
            for shard in 0..shape.shards() {
                let ranks = shape.ranks(ShardId(shard));
                assert_eq!(ranks.start, next, "{shape:?}");
                assert!(ranks.end > ranks.start, "{shape:?}");
                assert!(ranks.end == shape.state_count() || ranks.end % LANE_STATES == 0, "{shape:?}");
                assert_eq!(shape.shard_of(StateRank(ranks.start)), ShardId(shard));
                assert_eq!(shape.shard_of(StateRank(ranks.end - 1)), ShardId(shard));
                next = ranks.end;
            }
            assert_eq!(next, shape.state_count());
            assert!(u64::from(shape.shards()) <= MOST_SHARDS);
        }
    }

    #[test]
    fn every_shard_has_one_owner_and_the_load_is_even() {
        for shape in shapes() {
            for processes in [1_u32, 2, 3, 4, 7] {
                let owned: Vec<usize> = (0..processes).map(|p| shape.owned_by(ProcessId(p), processes).count()).collect();
                assert_eq!(owned.iter().sum::<usize>(), ShardId(shape.shards()).index());
            }
        }
        let twelve = Partition::new(12, 11, false, None).expect("fits");
        let owned: Vec<usize> = (0..4).map(|p| twelve.owned_by(ProcessId(p), 4).count()).collect();
        assert!(owned.iter().max().expect("four") - owned.iter().min().expect("four") <= 12, "{owned:?}");
    }

    #[test]
    fn moves_between_planes_stay_with_the_owner() {
        let shape = Partition::new(12, 11, false, None).expect("fits");
        for rank in (0..39_916_800_u64).step_by(999_983) {
            let owners: Vec<ProcessId> =
                (0..12).map(|plane| shape.owner(shape.shard_of(StateRank(plane * 39_916_800 + rank)), 4)).collect();
            assert!(owners.iter().all(|&owner| owner == owners[0]));
        }
    }

    #[test]
    fn grouping_keeps_every_rank() {
        let shape = Partition::new(3, 7, false, Some(1)).expect("fits");
        let ranks: Vec<u64> = (0..5_000_u64).map(|i| (i * 7_919) % shape.state_count()).collect();
        let (grouped, starts) = shape.group_by_shard(&ranks);
        let mut sorted = ranks.clone();
        sorted.sort_unstable();
        let mut regrouped = grouped.clone();
        regrouped.sort_unstable();
        assert_eq!(sorted, regrouped);
        for shard in 0..shape.shards() {
            let group = &grouped[starts[ShardId(shard).index()]..starts[ShardId(shard).index() + 1]];
            assert!(group.iter().all(|&rank| shape.shard_of(StateRank(rank)) == ShardId(shard)));
        }
    }

    #[test]
    fn impossible_cuts_are_refused() {
        assert!(Partition::new(25, 24, false, None).is_err());
        assert!(Partition::new(12, 11, false, Some(7)).is_err());
        assert!(Partition::new(12, 11, false, Some(4)).is_err());
    }
}
