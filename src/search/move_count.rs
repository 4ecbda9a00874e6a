//! How many moves the states of the frontier have, counted from the rules without making one: the
//! second count that the guards compare the edges with, where states differ in that.

use super::job::Job;
use super::progress::Progress;
use super::space::Space;
use rayon::prelude::*;

/// States counted at a time.
const BATCH_STATES: usize = 1 << 16;

/// Moves of the frontier states of this process; 0, and no time, where all states have as many.
#[must_use]
pub fn of_frontier(job: &Job<'_>, space: &Space<'_>, progress: &Progress) -> u64 {
    if space.move_counts.everywhere().is_some() {
        return 0;
    }
    let mut moves = 0;
    let mut states = Vec::new();
    for shard in &progress.shards {
        let mut cursor = Some(0);
        while let Some(from) = cursor {
            states.clear();
            cursor = shard.frontier.list_from(from, BATCH_STATES, shard.ranks.start, &mut states);
            moves += job.pool.install(|| states.par_iter().map(|&rank| space.move_counts.of_rank(rank)).sum::<u64>());
        }
    }
    moves
}
