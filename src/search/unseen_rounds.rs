//! Expansion of the unseen: every rank that is in no level yet asks the owners of its neighbours whether they are seen; one seen neighbour makes it new.
//!
//! Two exchanges a round: the neighbours' ranks, and a bit for each in the same order. The generators must be closed under inverses.

use super::Search;
use super::frontier::UnseenReader;
use super::guards::Tally;
use super::level::{RoundEnd, Work, end_round};
use super::observer::Observer;
use super::stop::StopReason;
use crate::base::ids::{index_u32, to_u64};
use crate::base::{Result, ShardId, StateRank, fault_point};
use crate::store::Shard;
use rayon::prelude::*;

/// Finds the next level among the unseen ranks of all processes. Returns the reason when asked to stop on the way.
///
/// # Errors
/// The same on every process.
pub fn run(search: &mut Search<'_>, observer: &mut dyn Observer, work: &mut Work) -> Result<Option<StopReason>> {
    let mut reader = UnseenReader::default();
    let mut batch = Vec::new();
    let enough = search.round_states();
    let own_frontier = search.own_frontier();
    loop {
        reader.next_batch(&search.shards, enough, &mut batch);
        let (questions, owners) = ask(search, &batch, work);
        let mut asked = search.exchange.all_to_all(questions);
        if fault_point::damages("drop-message") {
            asked.iter_mut().rev().find_map(Vec::pop);
        }
        let answers = search.exchange.all_to_all(answer(search, &asked, work));
        let accepted = accept(search, &batch, &owners, &answers, work);
        let more = batch.len() >= enough;
        if !more {
            work.expanded = own_frontier;
        }
        work.covered += to_u64(batch.len());
        let found = search.shards.iter().map(|shard| shard.next.count()).sum();
        match end_round(search, observer, more, accepted, work.expanded, found)? {
            RoundEnd::More => {}
            RoundEnd::Last => return Ok(None),
            RoundEnd::Stop(reason) => return Ok(Some(reason)),
        }
    }
}

/// The neighbours of `batch` by owner, and the owner of each in the order of states and generators.
fn ask(search: &Search<'_>, batch: &[u64], work: &mut Work) -> (Vec<Vec<u64>>, Vec<u32>) {
    let processes = index_u32(search.exchange.processes());
    let (expansion, partition, owners) = (&search.expansion, &search.partition, &search.owners);
    let part_states = batch.len().div_ceil(search.settings.threads * 4).max(1_024);
    let parts: Vec<Vec<u64>> = search.pool.install(|| {
        batch
            .par_chunks(part_states)
            .map(|part| {
                let mut neighbours = Vec::with_capacity(part.len() * expansion.generators());
                for &rank in part {
                    expansion.expand(StateRank(rank), |neighbour| neighbours.push(neighbour.0));
                }
                neighbours
            })
            .collect()
    });
    let mut questions: Vec<Vec<u64>> = vec![Vec::new(); processes];
    let mut owner_of = Vec::with_capacity(batch.len() * expansion.generators());
    for rank in parts.into_iter().flatten() {
        let owner = if processes == 1 { 0 } else { owners[partition.shard_of(StateRank(rank)).index()].0 };
        work.sent.add(rank);
        questions[index_u32(owner)].push(rank);
        owner_of.push(owner);
    }
    (questions, owner_of)
}

/// For each question whether the rank is seen, as bits.
fn answer(search: &Search<'_>, asked: &[Vec<u64>], work: &mut Work) -> Vec<Vec<u64>> {
    let (partition, shards) = (&search.partition, &search.shards);
    let is_seen = |rank: u64| {
        let number = place_of(shards, partition.shard_of(StateRank(rank)));
        number.is_some_and(|number| shards[number].seen.contains(rank - shards[number].ranks.start))
    };
    let answers: Vec<(Vec<u64>, Tally)> = search.pool.install(|| {
        asked
            .par_iter()
            .map(|ranks| {
                let mut received = Tally::default();
                let words = ranks
                    .chunks(64)
                    .map(|part| {
                        part.iter().enumerate().fold(0, |word, (bit, &rank)| {
                            received.add(rank);
                            word | u64::from(is_seen(rank)) << bit
                        })
                    })
                    .collect();
                (words, received)
            })
            .collect()
    });
    answers
        .into_iter()
        .map(|(words, received)| {
            work.received = work.received.plus(received);
            words
        })
        .collect()
}

/// Place of a shard in the list of owned ones.
fn place_of(shards: &[Shard], id: ShardId) -> Option<usize> {
    shards.binary_search_by_key(&id, |shard| shard.id).ok()
}

/// Keeps the states of `batch` with a seen neighbour.
fn accept(search: &mut Search<'_>, batch: &[u64], owners: &[u32], answers: &[Vec<u64>], work: &mut Work) -> Result<()> {
    let mut read = vec![0_usize; answers.len()];
    let generators = search.expansion.generators();
    let mut new: Vec<u64> = Vec::new();
    for (state, &rank) in batch.iter().enumerate() {
        let seen: u64 = owners[state * generators..(state + 1) * generators]
            .iter()
            .map(|&owner| {
                let place = &mut read[index_u32(owner)];
                let word = answers[index_u32(owner)].get(*place / 64).copied().unwrap_or(0);
                let bit = word >> (*place % 64) & 1;
                *place += 1;
                bit
            })
            .sum();
        work.edges.up += seen;
        if seen > 0 {
            new.push(rank);
        }
    }
    // The batch ascends, so the states of a shard are neighbours in it.
    let mut start = 0;
    while start < new.len() {
        let shard = search.partition.shard_of(StateRank(new[start]));
        let Some(number) = search.own_shard(shard) else { break };
        let shard = &mut search.shards[number];
        let end = start + new[start..].partition_point(|&rank| rank < shard.ranks.end);
        let mut offsets: Vec<u64> = new[start..end].iter().map(|rank| rank - shard.ranks.start).collect();
        shard.next.insert(&mut offsets)?;
        start = end;
    }
    Ok(())
}
