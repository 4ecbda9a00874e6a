//! Expansion by states: list the frontier, expand every state on all threads, send each successor
//! to the owner of its shard (sorted and delta-coded), and let every owned shard keep the unseen
//! ones.

use super::costs;
use super::frontier::FrontierReader;
use crate::base::fingerprint::RunFingerprint;
use crate::base::ids::{approximate, index_u32, to_u64};
use crate::base::{Depth, Error, ProcessId, Result, StateRank, fault_point};
use crate::exchange::{agree, rank_batch};
use crate::search::expansion_row::{Expansion, LevelForm};
use crate::search::guards;
use crate::search::job::Job;
use crate::search::machine::stop::StopReason;
use crate::search::observer::Observer;
use crate::search::progress::Progress;
use crate::search::round::{OwnSums, Round, RoundEnd, end_round};
use crate::search::space::Space;
use crate::search::tally::Tally;
use crate::store::{Edges, Shard};
use rayon::prelude::*;

/// Its row in the table.
pub const EXPANSION: Expansion = Expansion {
    name: NAME,
    seconds,
    leaves: LevelForm::Listed,
    run,
    covers: "frontier states expanded",
    must_cover: |_, progress| progress.last_level().states,
    edges: guards::counted_edges,
    second_look: None,
};

/// Its name.
pub const NAME: &str = "states";

/// Every frontier state is unranked, and ranked again for each generator: right for sparse levels,
/// the first and last third of most searches.
fn seconds(space: &Space<'_>, progress: &Progress) -> Option<f64> {
    Some(approximate(progress.last_level().states) * costs::by_state(space) * 1e-9)
}

/// Expands the whole frontier of all processes into `next`. Returns the reason when asked to stop
/// on the way.
///
/// # Errors
/// The same on every process.
fn run(
    job: &Job<'_>,
    space: &Space<'_>,
    progress: &mut Progress,
    observer: &mut dyn Observer,
    sums: &mut OwnSums,
) -> Result<Option<StopReason>> {
    // Every successor is looked up in the frontier.
    let shards = &mut progress.shards;
    let unpacked = job.pool.install(|| shards.par_iter_mut().try_for_each(|shard| shard.frontier.unpack()));
    agree(job.exchange, unpacked)?;
    let mut reader = FrontierReader::default();
    let mut batch = Vec::new();
    let enough = space.round_states(job.settings.round_successors);
    loop {
        reader.next_batch(&progress.shards, enough, &mut batch);
        let outgoing = pack(job, expand(job, space, progress.depth(), &batch, sums));
        let unpacked = unpack(job, job.exchange.all_to_all(outgoing));
        let accepted = unpacked.and_then(|mut incoming| {
            if fault_point::damages("drop-message") {
                incoming.iter_mut().rev().find_map(Vec::pop);
            }
            if let Some(rank) = incoming.iter_mut().rev().find_map(|ranks| ranks.last_mut()) {
                if fault_point::damages("foreign-state") {
                    *rank = space.foreign_rank(job.process());
                }
                if fault_point::damages("alter-message") {
                    // Its neighbour in rank, in the same shard.
                    *rank ^= 1;
                }
            }
            accept(job, space, &mut progress.shards, &incoming, sums)
        });
        sums.covered = sums.expanded;
        let found = progress.shards.iter().map(|shard| shard.next.count()).sum();
        let round = Round { more: batch.len() >= enough, result: accepted, expanded: sums.expanded, found };
        match end_round(job, progress, observer, round)? {
            RoundEnd::More => {}
            RoundEnd::Last => return Ok(None),
            RoundEnd::Stop(reason) => return Ok(Some(reason)),
        }
    }
}

/// Expands `batch`, states of level `depth`: the successors by owner.
fn expand(job: &Job<'_>, space: &Space<'_>, depth: Depth, batch: &[u64], sums: &mut OwnSums) -> Vec<Vec<u64>> {
    let processes = index_u32(job.exchange.processes());
    let part_states = batch.len().div_ceil(job.settings.threads * 4).max(1_024);
    let (expansion, partition, owners) = (&space.moves, &space.partition, &space.owners);
    let sign = space.promises.sign_at(depth);
    let expand_part = |part: &[u64]| {
        let mut outgoing: Vec<Vec<u64>> = vec![Vec::new(); processes];
        let (mut wrong_signs, mut sent, mut states) = (0, Tally::default(), RunFingerprint::default());
        if processes == 1 {
            outgoing[0].reserve_exact(part.len() * expansion.generators());
        }
        let found = |successor: StateRank| {
            let owner = if processes == 1 { 0 } else { owners[partition.shard_of(successor).index()].index() };
            sent.add(successor.0);
            outgoing[owner].push(successor.0);
        };
        let done = |rank, _, is_odd| {
            states.add(rank);
            wrong_signs += u64::from(sign.is_some_and(|sign| sign != is_odd));
        };
        expansion.expand_all(part, found, done);
        (outgoing, wrong_signs, sent, states)
    };
    let parts: Vec<_> = job.pool.install(|| batch.par_chunks(part_states).map(expand_part).collect());
    let mut outgoing: Vec<Vec<u64>> = vec![Vec::new(); processes];
    sums.expanded += to_u64(batch.len());
    for (part, wrong_signs, sent, states) in parts {
        sums.wrong_signs += wrong_signs;
        sums.states = sums.states.join(&states);
        sums.sent = sums.sent.plus(sent);
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
fn pack(job: &Job<'_>, outgoing: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    let me = job.process().index();
    let pack = |(owner, ranks)| if owner == me { ranks } else { rank_batch::encode(ranks) };
    job.pool.install(|| outgoing.into_par_iter().enumerate().map(pack).collect())
}

/// The ranks that came, by sender.
fn unpack(job: &Job<'_>, incoming: Vec<Vec<u64>>) -> Result<Vec<Vec<u64>>> {
    let me = job.process().index();
    let unpack = |(sender, words): (usize, Vec<u64>)| if sender == me { Ok(words) } else { rank_batch::decode(&words) };
    job.pool.install(|| incoming.into_par_iter().enumerate().map(unpack).collect())
}

/// Successors grouped by shard, where the group of each shard starts, and the tally of all.
type Group = (Vec<u64>, Vec<usize>, Tally);

/// Gives every received successor to its shard, which must be one of the own.
fn accept(job: &Job<'_>, space: &Space<'_>, shards: &mut [Shard], incoming: &[Vec<u64>], sums: &mut OwnSums) -> Result<()> {
    let partition = space.partition;
    let is_own = space.owned_by(job.process());
    let me = job.process();
    let total: usize = incoming.iter().map(Vec::len).sum();
    let part_ranks = total.div_ceil(job.settings.threads * 2).max(4_096);
    let (edges, received) = job.pool.install(|| {
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
    sums.received = sums.received.plus(received);
    sums.edges = sums.edges.plus(edges);
    Ok(())
}

fn foreign_error(me: ProcessId, rank: u64) -> Error {
    Error::invariant(format!("successor that arrived at process {}", me.0), rank, "a rank of one of its own shards")
}
