//! Bytes that processes will send each other, known before a search starts: worked out for a sample
//! of the messages, with the code that makes them.

use super::expansions::lanes::layout::LaneLayout;
use super::expansions::lanes::shared_views::SharedViews;
use crate::base::StateRank;
use crate::base::fingerprint::mix64;
use crate::base::ids::{approximate, index_u32, rounded_down, to_u64};
use crate::exchange::rank_batch;
use crate::expand::{LaneExpansion, Moves};
use crate::ranking::Partition;
use std::collections::BTreeSet;

/// Jobs whose messages are worked out, over all processes.
const SAMPLE_TASKS: usize = 64;

/// Planes of a job whose messages are worked out.
const SAMPLE_PLANES: usize = 16;

/// A level that holds one rank in so many stands for the largest ones of a search by states.
const LARGE_LEVEL_SHARE: u64 = 8;

/// Runs of ranks in the sample of a search by states, and states of each.
const SAMPLE_WINDOWS: u64 = 1_000;
const WINDOW_STATES: u64 = 200;

/// Bytes that all of `processes` send in a level by lanes of which much is seen, when none of them
/// share scratch files. Levels with less send less: what is mostly zeros is compressed.
#[must_use]
pub fn dense_level_bytes(lanes: &LaneExpansion, partition: &Partition, processes: u32) -> u64 {
    let shared = SharedViews::none(processes);
    let plan = LaneLayout::new(lanes, &shared, partition, processes);
    let owners = index_u32(processes);
    let tasks_each = (SAMPLE_TASKS / owners).max(1);
    // Some planes stand for all of a task, other ones in each.
    let every = lanes.planes().div_ceil(SAMPLE_PLANES);
    let mut bytes = 0.0;
    for owner in (0..owners).step_by(owners.div_ceil(SAMPLE_TASKS)) {
        let tasks = &plan.tasks[owner];
        let step = tasks.len().div_ceil(tasks_each).max(1);
        let sample = tasks.iter().skip(step / 2).step_by(step);
        // What all senders speak for together is worked out once.
        let of_others: Vec<bool> = plan.owned[owner].iter().map(|owned| !owned).collect();
        let (mut sampled_units, mut sampled_bytes) = (0, 0);
        for (number, &task) in sample.enumerate() {
            let sampled_planes = || (number % every..lanes.planes()).step_by(every);
            let prefixes = lanes.prefixes(task.block, task.first_unit, task.units);
            sampled_units += task.units;
            let mut crossing = BTreeSet::new();
            for sender in (0..owners).filter(|&sender| sender != owner) {
                for part in plan.contributions_in(sampled_planes(), owner, sender, task) {
                    // A header for each sender.
                    sampled_bytes += 8;
                    crossing.insert(part);
                }
            }
            for (plane, generator) in crossing {
                sampled_bytes += lanes.contributed_bits(&of_others, &prefixes, plane, generator).div_ceil(8);
            }
        }
        let units: usize = tasks.iter().map(|task| task.units).sum();
        if sampled_units > 0 {
            let share = approximate(to_u64(units)) * approximate(to_u64(every)) / approximate(to_u64(sampled_units));
            bytes += approximate(sampled_bytes) * share;
        }
    }
    rounded_down(bytes * approximate(to_u64(owners.div_ceil(SAMPLE_TASKS))))
}

/// Bytes that all of `processes` send for each state that they expand by states in a large level.
#[must_use]
pub fn bytes_per_state(moves: &Moves, partition: &Partition, processes: u32) -> f64 {
    let owners = partition.owners(processes);
    let owner = |rank: StateRank| owners[partition.shard_of(rank).index()];
    let ranks = partition.state_count();
    let (mut bytes, mut expanded) = (0, 0);
    // Which successors cross depends on the leading labels: many short runs of the ranks, all over
    // the space.
    for window in 0..SAMPLE_WINDOWS {
        let mut state = StateRank(mix64(window) % ranks);
        let here = owner(state);
        let mut outgoing = vec![Vec::new(); index_u32(processes)];
        for number in 0..WINDOW_STATES {
            expanded += 1;
            moves.for_each(state.0, |_, successor| {
                let there = owner(StateRank(successor));
                if there != here {
                    outgoing[there.index()].push(successor);
                }
            });
            state.0 += 1 + mix64(window << 32 | number) % (2 * LARGE_LEVEL_SHARE - 1);
            if state.0 >= ranks || owner(state) != here {
                break;
            }
        }
        // Without the first word, the length: a round has few messages.
        bytes += outgoing
            .into_iter()
            .filter(|ranks| !ranks.is_empty())
            .map(|ranks| to_u64(rank_batch::encode(ranks).len() - 1) * 8)
            .sum::<u64>();
    }
    approximate(bytes) / approximate(expanded)
}
