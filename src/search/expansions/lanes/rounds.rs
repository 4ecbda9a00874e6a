//! Expansion by lanes: every unit of 120 ranks that is not full is pulled from its neighbours' lanes, on all processes and threads, without atomics.
//!
//! All processes know the list of jobs of every process (`layout.rs`). In round r each process first works out, for the r-th jobs of every other process, what its own shards contribute: the
//! bits of whole target lanes, already in the target's order, one bit for each state and generator that crosses. Then the contributions are exchanged while
//! (with more than one thread) the next ones are worked out, and the own jobs of the round are pulled.
//!
//! Processes of one host read each other's scratch files (`shared_views.rs`) and send each other no lanes. The own jobs are in `jobs.rs`, the messages in `messages.rs`.

use super::jobs::{Filler, Opened};
use super::layout::Plan;
use super::messages::contribute_job;
use super::shared_views;
use crate::base::ids::to_u64;
use crate::base::{Error, Result, fault_point};
use crate::exchange::agree;
use crate::expand::{LaneSource, LaneTally};
use crate::search::Search;
use crate::search::guards::Tally;
use crate::search::level::{RoundEnd, Work, end_round};
use crate::search::machine::stop::StopReason;
use crate::search::observer::Observer;
use crate::store::Shard;
use rayon::prelude::*;

/// Pulls the next level into `next` on all processes. Returns the reason when asked to stop on the way.
///
/// # Errors
/// The same on every process.
pub fn run(search: &mut Search<'_>, observer: &mut dyn Observer, work: &mut Work) -> Result<Option<StopReason>> {
    let pool = &search.pool;
    let shards = &mut search.shards;
    let prepared = pool.install(|| shards.par_iter_mut().try_for_each(|shard| shard.seen.prepare_lanes()));
    agree(search.exchange, prepared)?;
    shared_views::update(search)?;
    // The level borrows the shards for itself; the rest of the search stays readable.
    let mut shards = std::mem::take(&mut search.shards);
    let result = run_rounds(search, &mut shards, observer, work);
    search.shards = shards;
    result
}

fn run_rounds(search: &Search<'_>, shards: &mut [Shard], observer: &mut dyn Observer, work: &mut Work) -> Result<Option<StopReason>> {
    let (Some(lanes), Some(shared)) = (&search.lanes, &search.shared) else {
        return Err(Error::invariant("lanes of this puzzle", "none", "some"));
    };
    let plan = Plan::new(lanes, shared, &search.partition, search.exchange.processes());
    let me = search.exchange.process().index();
    let own_frontier: u64 = shards.iter().map(|shard| shard.frontier.count()).sum();
    let filler = Filler::new(search.partition.shard_length());
    let mut tallies = vec![LaneTally::default(); shards.len()];
    let opened = Opened::new(&plan, search, shards, &filler);
    let mut opened = agree(search.exchange, opened)?;
    let mut prepared = contributions_for_others(search, &plan, &opened.source, 0, work);
    let rounds = plan.rounds().max(1);
    let mut stopped = None;
    for round in 0..rounds {
        let outgoing = std::mem::take(&mut prepared);
        let mut incoming = if search.settings.threads > 1 && plan.processes > 1 && round + 1 < rounds {
            // The main thread exchanges (only it may call MPI) while the others work out the next contributions.
            let (source, plan) = (&opened.source, &plan);
            let (pool, prepared, work) = (&search.pool, &mut prepared, &mut *work);
            pool.in_place_scope(|scope| {
                scope.spawn(move |_| *prepared = work_out(plan, source, me, round + 1, work));
                search.exchange.all_to_all(outgoing)
            })
        } else {
            if round + 1 < rounds {
                prepared = contributions_for_others(search, &plan, &opened.source, round + 1, work);
            }
            search.exchange.all_to_all(outgoing)
        };
        if fault_point::damages("drop-message") {
            incoming.iter_mut().rev().find_map(|words| words.last_mut().map(|word| *word ^= 1));
        }
        if fault_point::damages("long-lanes")
            && let Some(words) = incoming.iter_mut().rev().find(|words| !words.is_empty())
        {
            words.push(0);
        }
        let pulled = opened.pull_round(search, &plan, round, &incoming, &mut tallies, work);
        work.expanded = own_frontier * to_u64(round + 1) / to_u64(rounds);
        let found = tallies.iter().map(|tally| tally.states).sum();
        match end_round(search, observer, round + 1 < rounds, pulled, work.expanded, found)? {
            RoundEnd::More => {}
            RoundEnd::Last => break,
            RoundEnd::Stop(reason) => {
                stopped = Some(reason);
                break;
            }
        }
    }
    let packed = opened.into_packed();
    if stopped.is_none() {
        for (shard, bits) in shards.iter_mut().zip(packed) {
            shard.next.set_packed(bits);
        }
        for (shard, tally) in shards.iter_mut().zip(&tallies) {
            shard.next.set_overwritten(tally.states);
        }
        let whole = tallies.iter().fold(LaneTally::default(), |sum, tally| sum.plus(*tally));
        work.edges.up = whole.edges;
        work.fingerprint = Some(whole.fingerprint);
        work.wrong_signs = match search.rules.sign_at(search.depth().next()) {
            None => 0,
            Some(true) => whole.states - whole.odd,
            // A halved space has none: its lanes hold one sign only.
            Some(false) => whole.odd,
        };
    }
    Ok(stopped)
}

/// What this process contributes to the jobs of the others in a round, by process.
fn contributions_for_others(search: &Search<'_>, plan: &Plan<'_>, source: &LaneSource<'_>, round: usize, work: &mut Work) -> Vec<Vec<u64>> {
    if plan.processes == 1 {
        return vec![Vec::new()];
    }
    let me = search.exchange.process().index();
    search.pool.install(|| work_out(plan, source, me, round, work))
}

/// [`contributions_for_others`] on the threads of the pool it is called in.
fn work_out(plan: &Plan<'_>, source: &LaneSource<'_>, me: usize, round: usize, work: &mut Work) -> Vec<Vec<u64>> {
    let mut outgoing = Vec::with_capacity(plan.processes);
    for owner in 0..plan.processes {
        let mut words = Vec::new();
        if owner != me {
            let parts: Vec<(Vec<u64>, Tally)> =
                plan.round_jobs(owner, round).par_iter().map(|&job| contribute_job(plan, source, owner, me, job)).collect();
            for (part, sent) in parts {
                words.extend(part);
                work.sent = work.sent.plus(sent);
            }
        }
        outgoing.push(words);
    }
    outgoing
}
