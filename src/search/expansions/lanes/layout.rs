//! How a level by lanes is cut into tasks, rounds and messages, as every process knows it.
//!
//! A *task* is a part of a block over all planes of a process; its prefixes are worked out once,
//! and its sources in other planes stay in cache.

use super::shared_views::SharedViews;
use crate::base::fingerprint::LANE_STATES;
use crate::base::ids::{index_u32, to_u64};
use crate::base::{ProcessId, StateRank};
use crate::expand::LaneExpansion;
use crate::expand::lanes::UNIT_BYTES;
use crate::ranking::Partition;

/// Units of a task: its prefixes and one plane's sources fit the first-level cache, and it is a
/// chunk of a packed level.
pub(in crate::search) const TASK_UNITS: usize = 512;

/// Most bytes that a process sends to another in a round, before compression.
const ROUND_BYTES: usize = 16 << 20;

/// Rounds of a level at least, so that signals and progress are looked at often enough.
const LEAST_ROUNDS: usize = 16;

/// A part of a block, in all planes that its process owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct LaneTask {
    pub(in crate::search) block: usize,
    pub(in crate::search) first_unit: usize,
    pub(in crate::search) units: usize,
}

/// What all processes know: who owns what, and everybody's tasks.
pub(in crate::search) struct LaneLayout<'a> {
    pub(in crate::search) lanes: &'a LaneExpansion,
    pub(in crate::search) processes: usize,
    /// Owner of each plane and block: `plane * blocks + block`.
    pub(in crate::search) owners: Vec<ProcessId>,
    /// For each process, whether it owns each plane and block.
    pub(in crate::search) owned: Vec<Vec<bool>>,
    /// Who reads whose scratch files.
    pub(in crate::search) shared: &'a SharedViews,
    /// The tasks of each process.
    pub(in crate::search) tasks: Vec<Vec<LaneTask>>,
    tasks_per_round: usize,
}

impl<'a> LaneLayout<'a> {
    pub(in crate::search) fn new(lanes: &'a LaneExpansion, shared: &'a SharedViews, partition: &Partition, process_count: u32) -> Self {
        let processes = index_u32(process_count);
        let shard_owners = partition.owners(process_count);
        let blocks = lanes.blocks_per_plane();
        let block_states = to_u64(lanes.units_per_block()) * LANE_STATES;
        let owners: Vec<ProcessId> = (0..lanes.planes() * blocks)
            .map(|part| shard_owners[partition.shard_of(StateRank(to_u64(part) * block_states)).index()])
            .collect();
        let tasks: Vec<Vec<LaneTask>> = (0..process_count)
            .map(|process| {
                let owned = |block: usize| (0..lanes.planes()).any(|plane| owners[plane * blocks + block] == ProcessId(process));
                (0..blocks).filter(|&block| owned(block)).flat_map(|block| tasks_of_block(lanes, block)).collect()
            })
            .collect();
        let most_tasks = tasks.iter().map(Vec::len).max().unwrap_or(0);
        let bytes_per_task = lanes.planes() * lanes.generators() * TASK_UNITS * UNIT_BYTES;
        let by_bytes = if processes > 1 { ROUND_BYTES / bytes_per_task } else { usize::MAX };
        let tasks_per_round = by_bytes.min(most_tasks.div_ceil(LEAST_ROUNDS)).max(1);
        let owned = (0..process_count).map(|process| owners.iter().map(|owner| owner.0 == process).collect()).collect();
        Self { lanes, processes, owners, owned, shared, tasks, tasks_per_round }
    }

    /// Rounds of a level.
    pub(in crate::search) fn rounds(&self) -> usize {
        self.tasks.iter().map(|tasks| tasks.len().div_ceil(self.tasks_per_round)).max().unwrap_or(0)
    }

    /// The tasks of `process` in a round.
    pub(in crate::search) fn round_tasks(&self, process: usize, round: usize) -> &[LaneTask] {
        let tasks = &self.tasks[process];
        let first = tasks.len().min(round * self.tasks_per_round);
        &tasks[first..tasks.len().min(first + self.tasks_per_round)]
    }

    /// Whether `process` owns `plane` of `block`.
    fn owns(&self, process: usize, plane: usize, block: usize) -> bool {
        self.owners[plane * self.lanes.blocks_per_plane() + block].index() == process
    }

    /// Planes and generators of a task of `owner` to which `sender` may contribute, in the order of
    /// the message.
    pub(in crate::search) fn contributions(
        &self,
        owner: usize,
        sender: usize,
        task: LaneTask,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.contributions_in(0..self.lanes.planes(), owner, sender, task)
    }

    /// The same in some of the planes.
    pub(in crate::search) fn contributions_in(
        &self,
        planes: impl Iterator<Item = usize>,
        owner: usize,
        sender: usize,
        task: LaneTask,
    ) -> impl Iterator<Item = (usize, usize)> {
        let apart = !self.shared.share(owner, sender);
        planes.filter(move |&plane| apart && self.owns(owner, plane, task.block)).flat_map(move |plane| {
            (0..self.lanes.generators())
                .filter(move |&generator| {
                    self.lanes
                        .target_plane(plane, generator)
                        .is_some_and(|target| self.lanes.crosses_blocks(plane, generator) || self.owns(sender, target, task.block))
                })
                .map(move |generator| (plane, generator))
        })
    }
}

fn tasks_of_block(lanes: &LaneExpansion, block: usize) -> impl Iterator<Item = LaneTask> + use<> {
    let units = lanes.units_per_block();
    (0..units).step_by(TASK_UNITS).map(move |first_unit| LaneTask { block, first_unit, units: TASK_UNITS.min(units - first_unit) })
}
