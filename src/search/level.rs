//! One level: from "seen up to depth d" to "seen up to depth d+1", in bounded rounds.
//!
//! A round of every process: list a part of the own frontier, expand it on all threads, send each successor to the owner of its shard, and
//! let every owned shard keep the unseen ones. `seen` and `frontier` do not change before the level is closed, so a level can be abandoned at any round
//! and the search committed as it was at the level's start. The rounds end when no process has frontier left.

use super::frontier::FrontierReader;
use super::guards::{self, LevelTotals, Tally};
use super::manifest::LevelRecord;
use super::observer::{Event, Observer};
use super::stop::StopReason;
use super::{Search, archive};
use crate::base::ids::{index_u32, to_u64};
use crate::base::mix::Fingerprint;
use crate::base::partition::Partition;
use crate::base::{Result, StateRank, fault_point};
use crate::exchange::agree;
use crate::store::{Edges, LevelPart, Shard};
use rayon::prelude::*;
use std::time::Instant;

/// What became of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// It has states and is closed.
    Closed,
    /// It has none: the search is complete.
    Exhausted,
    /// The search was asked to stop; the level is abandoned.
    Stopped(StopReason),
}

/// What this process has done for the level so far.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    expanded: u64,
    odd: u64,
    edges: Edges,
    sent: Tally,
    received: Tally,
}

/// Finds and closes the level behind the last closed one.
///
/// # Errors
/// The same on every process: a broken invariant, or a disk that failed.
pub fn advance(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<Advance> {
    let since = Instant::now();
    let before = search.exchange.traffic();
    let mut work = Work::default();
    if let Some(reason) = run_rounds(search, observer, &mut work)? {
        search.shards.iter_mut().for_each(Shard::abandon_level);
        observer.notice(&Event::Stopping(reason));
        return Ok(Advance::Stopped(reason));
    }
    let found = measure(search)?;
    let after = search.exchange.traffic();
    let totals = sum_over_processes(search, &work, &found, after.bytes_sent - before.bytes_sent);
    guards::check_level(search, &totals)?;
    let depth = search.depth().next();
    let last = search.levels.last_mut().expect("level 0 is closed when a search starts");
    last.edges = Some(totals.edges);
    last.odd_states = Some(totals.odd);
    last.seconds = since.elapsed().as_secs_f64();
    last.bytes_exchanged = totals.bytes;
    last.waited_seconds = after.waited_seconds - before.waited_seconds;
    if totals.found.states == 0 {
        // The last level stays the frontier: it holds the antipodes.
        return Ok(Advance::Exhausted);
    }
    close(search)?;
    search.levels.push(LevelRecord::new(depth, totals.found));
    Ok(Advance::Closed)
}

/// Expands the whole frontier of all processes into `next`. Returns the reason when asked to stop on the way.
fn run_rounds(search: &mut Search<'_>, observer: &mut dyn Observer, work: &mut Work) -> Result<Option<StopReason>> {
    let mut reader = FrontierReader::default();
    let mut batch = Vec::new();
    let enough = search.round_states();
    loop {
        reader.next_batch(&search.shards, enough, &mut batch);
        let outgoing = expand(search, &batch, work);
        let mut incoming = search.exchange.all_to_all(outgoing);
        if fault_point::damages("drop-message") {
            incoming.iter_mut().rev().find_map(Vec::pop);
        }
        let accepted = accept(search, &incoming, work);
        let next: u64 = search.shards.iter().map(|shard| shard.next.count()).sum();
        let mut sums = [u64::from(batch.len() >= enough), u64::from(accepted.is_err()), work.expanded, next, 0, 0, 0, 0, 0, 0];
        search.stop.vote(search.is_first(), search.commits.longest_seconds(), &mut sums[4..]);
        search.exchange.sum(&mut sums);
        if sums[1] > 0 {
            agree(search.exchange, accepted)?;
        }
        let last = search.last_level();
        observer.notice(&Event::Round {
            depth: last.depth,
            frontier: last.states,
            expanded: sums[2],
            closed: search.total_states(),
            found: sums[3],
        });
        if let Some(reason) = StopReason::of_votes(&sums[4..]) {
            return Ok(Some(reason));
        }
        if sums[0] == 0 {
            return Ok(None);
        }
    }
}

/// Expands `batch`: the successors by owner.
fn expand(search: &Search<'_>, batch: &[u64], work: &mut Work) -> Vec<Vec<u64>> {
    let processes = index_u32(search.exchange.processes());
    let part_states = batch.len().div_ceil(search.settings.threads * 4).max(1_024);
    let (expansion, partition, owners) = (&search.expansion, &search.partition, &search.owners);
    let expand_part = |part: &[u64]| {
        let mut outgoing: Vec<Vec<u64>> = vec![Vec::new(); processes];
        let (mut odd, mut sent) = (0, Tally::default());
        if processes == 1 {
            outgoing[0].reserve_exact(part.len() * expansion.generators());
        }
        for &rank in part {
            let is_odd = expansion.expand(StateRank(rank), |successor| {
                let owner = if processes == 1 { 0 } else { owners[partition.shard_of(successor).index()].index() };
                sent.add(successor.0);
                outgoing[owner].push(successor.0);
            });
            odd += u64::from(is_odd);
        }
        (outgoing, odd, sent)
    };
    let parts: Vec<_> = search.pool.install(|| batch.par_chunks(part_states).map(expand_part).collect());
    let mut outgoing: Vec<Vec<u64>> = vec![Vec::new(); processes];
    work.expanded += to_u64(batch.len());
    for (part, odd, sent) in parts {
        work.odd += odd;
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

/// Gives every received successor to its shard.
fn accept(search: &mut Search<'_>, incoming: &[Vec<u64>], work: &mut Work) -> Result<()> {
    let partition: Partition = search.partition;
    let total: usize = incoming.iter().map(Vec::len).sum();
    let part_ranks = total.div_ceil(search.settings.threads * 2).max(4_096);
    let shards = &mut search.shards;
    let (edges, received) = search.pool.install(|| {
        let groups: Vec<(Vec<u64>, Vec<usize>, Tally)> = incoming
            .par_iter()
            .flat_map(|words| words.par_chunks(part_ranks))
            .map(|part| {
                let mut received = Tally::default();
                part.iter().for_each(|&rank| received.add(rank));
                let (grouped, starts) = partition.group_by_shard(part);
                (grouped, starts, received)
            })
            .collect();
        let received = groups.iter().fold(Tally::default(), |sum, (_, _, part)| sum.plus(*part));
        let edges = shards
            .par_iter_mut()
            .map(|shard| {
                let number = shard.id.index();
                groups.iter().try_fold(Edges::default(), |edges, (ranks, starts, _)| {
                    shard.accept(&ranks[starts[number]..starts[number + 1]]).map(|more| edges.plus(more))
                })
            })
            .try_reduce(Edges::default, |a, b| Ok(a.plus(b)));
        (edges, received)
    });
    work.received = work.received.plus(received);
    work.edges = work.edges.plus(edges?);
    Ok(())
}

/// Counts and fingerprints the level found in the shards of this process.
fn measure(search: &mut Search<'_>) -> Result<LevelPart> {
    let shards = &mut search.shards;
    let found = search.pool.install(|| shards.par_iter_mut().map(Shard::measure_next).try_reduce(LevelPart::default, |a, b| Ok(a.plus(b))));
    agree(search.exchange, found)
}

/// Closes the level in every shard, and archives it when levels are kept.
fn close(search: &mut Search<'_>) -> Result<()> {
    let shards = &mut search.shards;
    let closed = search.pool.install(|| shards.par_iter_mut().try_for_each(Shard::close_level));
    agree(search.exchange, closed)?;
    if search.settings.keep_levels {
        archive::write(search, search.depth().next())?;
    }
    Ok(())
}

/// Sums what all processes did.
fn sum_over_processes(search: &Search<'_>, work: &Work, found: &LevelPart, bytes_sent: u64) -> LevelTotals {
    let mut sums = [
        work.odd,
        work.edges.down,
        work.edges.same,
        work.edges.up,
        work.sent.count,
        work.sent.mixed,
        work.received.count,
        work.received.mixed,
        found.states,
        found.fingerprint.0[0],
        found.fingerprint.0[1],
        bytes_sent,
    ];
    search.exchange.sum(&mut sums);
    let [odd, down, same, up, sent_count, sent_mixed, received_count, received_mixed, states, low, high, bytes] = sums;
    LevelTotals {
        odd,
        edges: Edges { down, same, up },
        sent: Tally { count: sent_count, mixed: sent_mixed },
        received: Tally { count: received_count, mixed: received_mixed },
        found: LevelPart { states, fingerprint: Fingerprint([low, high]) },
        bytes,
    }
}
