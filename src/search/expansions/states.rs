//! Expansion by states: list the frontier, expand every state on all threads, send each successor to the owner of its shard (sorted and delta-coded), and let every
//! owned shard keep the unseen ones.

use super::frontier::FrontierReader;
use crate::base::ids::{index_u32, to_u64};
use crate::base::mix::RunFingerprint;
use crate::base::{Error, ProcessId, Result, StateRank, fault_point};
use crate::exchange::{agree, rank_batch};
use crate::search::Search;
use crate::search::guards::Tally;
use crate::search::level::{RoundEnd, Work, end_round};
use crate::search::machine::stop::StopReason;
use crate::search::observer::Observer;
use crate::store::Edges;
use rayon::prelude::*;

/// Expands the whole frontier of all processes into `next`. Returns the reason when asked to stop on the way.
///
/// # Errors
/// The same on every process.
pub fn run(search: &mut Search<'_>, observer: &mut dyn Observer, work: &mut Work) -> Result<Option<StopReason>> {
    // Every successor is looked up in the frontier.
    let shards = &mut search.shards;
    let unpacked = search.pool.install(|| shards.par_iter_mut().try_for_each(|shard| shard.frontier.unpack()));
    agree(search.exchange, unpacked)?;
    let mut reader = FrontierReader::default();
    let mut batch = Vec::new();
    let enough = search.round_states();
    loop {
        reader.next_batch(&search.shards, enough, &mut batch);
        let outgoing = pack(search, expand(search, &batch, work));
        let unpacked = unpack(search, search.exchange.all_to_all(outgoing));
        let accepted = unpacked.and_then(|mut incoming| {
            if fault_point::damages("drop-message") {
                incoming.iter_mut().rev().find_map(Vec::pop);
            }
            if let Some(rank) = incoming.iter_mut().rev().find_map(|ranks| ranks.last_mut()) {
                if fault_point::damages("foreign-state") {
                    *rank = search.foreign_rank(search.exchange.process());
                }
                if fault_point::damages("alter-message") {
                    // Its neighbour in rank, in the same shard.
                    *rank ^= 1;
                }
            }
            accept(search, &incoming, work)
        });
        work.covered = work.expanded;
        let found = search.shards.iter().map(|shard| shard.next.count()).sum();
        match end_round(search, observer, batch.len() >= enough, accepted, work.expanded, found)? {
            RoundEnd::More => {}
            RoundEnd::Last => return Ok(None),
            RoundEnd::Stop(reason) => return Ok(Some(reason)),
        }
    }
}

/// Expands `batch`: the successors by owner.
fn expand(search: &Search<'_>, batch: &[u64], work: &mut Work) -> Vec<Vec<u64>> {
    let processes = index_u32(search.exchange.processes());
    let part_states = batch.len().div_ceil(search.settings.threads * 4).max(1_024);
    let (expansion, partition, owners) = (&search.expansion, &search.partition, &search.owners);
    let sign = search.rules.sign_at(search.depth());
    let expand_part = |part: &[u64]| {
        let mut outgoing: Vec<Vec<u64>> = vec![Vec::new(); processes];
        let (mut wrong_signs, mut sent, mut states) = (0, Tally::default(), RunFingerprint::default());
        if processes == 1 {
            outgoing[0].reserve_exact(part.len() * expansion.generators());
        }
        for &rank in part {
            states.add(rank);
            let is_odd = expansion.expand(StateRank(rank), |successor| {
                let owner = if processes == 1 { 0 } else { owners[partition.shard_of(successor).index()].index() };
                sent.add(successor.0);
                outgoing[owner].push(successor.0);
            });
            wrong_signs += u64::from(sign.is_some_and(|sign| sign != is_odd));
        }
        (outgoing, wrong_signs, sent, states)
    };
    let parts: Vec<_> = search.pool.install(|| batch.par_chunks(part_states).map(expand_part).collect());
    let mut outgoing: Vec<Vec<u64>> = vec![Vec::new(); processes];
    work.expanded += to_u64(batch.len());
    for (part, wrong_signs, sent, states) in parts {
        work.wrong_signs += wrong_signs;
        work.states = work.states.join(&states);
        work.sent = work.sent.plus(sent);
        for (all, words) in outgoing.iter_mut().zip(part) {
            if all.is_empty() {
                *all = words;
            } else {
                all.extend(words);
            }
        }
    }
    outgoing
}

/// Sorts and codes what goes to other processes.
fn pack(search: &Search<'_>, outgoing: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let me = search.exchange.process().index();
    let pack = |(owner, ranks)| if owner == me { ranks } else { rank_batch::encode(ranks) };
    search.pool.install(|| outgoing.into_par_iter().enumerate().map(pack).collect())
}

/// The ranks that came, by sender.
fn unpack(search: &Search<'_>, incoming: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>> {
    let me = search.exchange.process().index();
    let unpack = |(sender, words): (usize, Vec<u64>)| if sender == me { Ok(words) } else { rank_batch::decode(&words) };
    search.pool.install(|| incoming.into_par_iter().enumerate().map(unpack).collect())
}

/// Successors grouped by shard, where the group of each shard starts, and the tally of all.
type Group = (Vec<u64>, Vec<usize>, Tally);

/// Gives every received successor to its shard, which must be one of the own.
fn accept(search: &mut Search<'_>, incoming: &[Vec<u64>], work: &mut Work) -> Result<()> {
    let partition = search.partition;
    let is_own = search.own_by_id();
    let me = search.exchange.process();
    let total: usize = incoming.iter().map(Vec::len).sum();
    let part_ranks = total.div_ceil(search.settings.threads * 2).max(4_096);
    let shards = &mut search.shards;
    let (edges, received) = search.pool.install(|| {
        let groups: Vec<Result<Group>> = incoming
            .par_iter()
            .flat_map(|words| words.par_chunks(part_ranks))
            .map(|part| {
                let mut received = Tally::default();
                let mut greatest = 0;
                part.iter().for_each(|&rank| {
                    received.add(rank);
                    greatest = greatest.max(rank);
                });
                if greatest >= partition.state_count() {
                    return Err(foreign_error(me, greatest));
                }
                let (grouped, starts) = partition.group_by_shard(part);
                let foreign = starts.windows(2).zip(&is_own).find(|(group, own)| !**own && group[0] < group[1]);
                foreign.map_or(Ok(()), |(group, _)| Err(foreign_error(me, grouped[group[0]])))?;
                Ok((grouped, starts, received))
            })
            .collect();
        let groups = groups.into_iter().collect::<Result<Vec<_>>>()?;
        let received = groups.iter().fold(Tally::default(), |sum, (_, _, part)| sum.plus(*part));
        let edges = shards
            .par_iter_mut()
            .map(|shard| {
                let number = shard.id.index();
                groups.iter().try_fold(Edges::default(), |edges, (ranks, starts, _)| {
                    shard.accept(&ranks[starts[number]..starts[number + 1]]).map(|more| edges.plus(more))
                })
            })
            .try_reduce(Edges::default, |a, b| Ok(a.plus(b)))?;
        Ok((edges, received))
    })?;
    work.received = work.received.plus(received);
    work.edges = work.edges.plus(edges);
    Ok(())
}

fn foreign_error(me: ProcessId, rank: u64) -> Error {
    Error::invariant(format!("successor that arrived at process {}", me.0), rank, "a rank of one of its own shards")
}
