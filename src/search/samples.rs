//! States of every level that are published with the results, so that others can solve them and
//! compare.
//!
//! For each level a few ranks are drawn, always the same ones; the sample is the first state of the
//! level at or after each, going round at the end of the ranks. So it depends on the level only,
//! not on processes, shards or resumes.

use super::progress::Progress;
use super::space::Space;
use crate::base::fingerprint::mix64;
use crate::base::ids::to_u64;
use crate::base::{Error, Result, StateRank, fault_point};
use crate::exchange::Exchange;
use crate::store::Shard;

/// Ranks drawn for each level.
pub const SAMPLES: u64 = 4;

/// Stands for a process without states of the level.
const NONE: u64 = u64::MAX;

/// Draws the sample of the last closed level, the frontier. Collective. Cost: a look at the lists
/// of a few shards.
///
/// # Errors
/// `Invariant`, the same on every process: there is none, or it is not in the level.
pub fn draw(exchange: &dyn Exchange, space: &Space<'_>, progress: &mut Progress) -> Result<()> {
    let ranks = space.partition.state_count();
    let depth = progress.depth().0;
    let wanted: Vec<u64> = (0..SAMPLES).map(|number| mix64(u64::from(depth) << 8 | number) % ranks).collect();
    let mut nearness: Vec<u64> = wanted.iter().map(|&wanted| NONE - distance_up(&progress.shards, wanted, ranks)).collect();
    if nearness.iter().any(|&near| near > 0) && fault_point::damages("shift-sample") {
        nearness.iter_mut().for_each(|near| *near = near.saturating_sub(1));
    }
    exchange.maximum(&mut nearness);
    let mut sample: Vec<StateRank> = wanted
        .iter()
        .zip(nearness)
        .filter(|(_, near)| *near > 0)
        .map(|(wanted, near)| StateRank((wanted + (NONE - near)) % ranks))
        .collect();
    if sample.len() != wanted.len() {
        return Err(Error::invariant(format!("samples of level {depth}"), sample.len(), wanted.len()));
    }
    sample.sort_unstable();
    sample.dedup();
    check_members(exchange, space, progress, "sampled states", &sample)?;
    progress.samples.push(sample);
    Ok(())
}

/// Checks that all of `states`, which every process has, are in the last closed level. Collective.
///
/// # Errors
/// `Invariant`, the same on every process.
pub fn check_members(exchange: &dyn Exchange, space: &Space<'_>, progress: &Progress, what: &str, states: &[StateRank]) -> Result<()> {
    let is_member = |rank: &&StateRank| {
        space.place_among(&progress.shards, **rank).is_some_and(|own| {
            let shard = &progress.shards[own];
            shard.frontier.contains(rank.0 - shard.ranks.start)
        })
    };
    let mut members = [to_u64(states.iter().filter(is_member).count())];
    exchange.sum(&mut members);
    if members[0] == to_u64(states.len()) {
        return Ok(());
    }
    Err(Error::invariant(format!("{what} that are in level {}", progress.depth()), members[0], states.len()))
}

/// How far after `wanted` the first frontier state of these shards is, going round after `ranks`;
/// [`NONE`] without any.
fn distance_up(shards: &[Shard], wanted: u64, ranks: u64) -> u64 {
    let first = shards.partition_point(|shard| shard.ranks.end <= wanted);
    // The first shard once more at the end, for its ranks below the wanted one.
    for (turn, shard) in shards[first..].iter().chain(&shards[..shards.len().min(first + 1)]).enumerate() {
        let least = if turn == 0 && first < shards.len() { wanted.max(shard.ranks.start) } else { shard.ranks.start };
        if let Some(rank) = first_from(shard, least) {
            return if rank >= wanted { rank - wanted } else { rank + ranks - wanted };
        }
    }
    NONE
}

/// The first frontier state of a shard from the rank `least` on.
fn first_from(shard: &Shard, least: u64) -> Option<u64> {
    let mut cursor = (shard.frontier.count() > 0 && least < shard.ranks.end).then(|| least - shard.ranks.start);
    while let Some(from) = cursor {
        // Lists start at whole words, and may hold a few states before the wanted one.
        let mut found = Vec::new();
        cursor = shard.frontier.list_from(from, 1, shard.ranks.start, &mut found);
        if let Some(&rank) = found.iter().find(|&&rank| rank >= least) {
            return Some(rank);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ShardId;
    use crate::store::Home;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_nearest_is_found(states in proptest::collection::btree_set(0_u64..4_800, 0..60), wanted in 0_u64..4_800, owned in 0_u32..16) {
            let folder = tempfile::tempdir().expect("temporary folder");
            let mut shards: Vec<Shard> = (0..4_u32)
                .filter(|id| owned >> id & 1 == 1)
                .map(|id| Shard::new(ShardId(id), u64::from(id) * 1_200..u64::from(id + 1) * 1_200, &Home::File(folder.path().join("bits"))))
                .collect();
            let mut expected = NONE;
            for shard in &mut shards {
                let own: Vec<u64> = states.iter().copied().filter(|rank| shard.ranks.contains(rank)).collect();
                expected = own.iter().map(|rank| (rank + 4_800 - wanted) % 4_800).fold(expected, u64::min);
                shard.accept(&own).expect("room");
                shard.close_level().expect("room");
            }
            prop_assert_eq!(distance_up(&shards, wanted, 4_800), expected);
        }
    }
}
