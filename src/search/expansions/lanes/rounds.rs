//! Expansion by lanes: every unit of 120 ranks that is not full is pulled from its neighbours'
//! lanes, on all processes and threads, without atomics.
//!
//! All processes know the list of tasks of every process (`layout.rs`). In round r each process
//! first works out, for the r-th tasks of every other process, what its own shards contribute: the
//! bits of whole target lanes, already in the target's order, one bit for each state and generator
//! that crosses. Then the contributions are exchanged while (with more than one thread) the next
//! ones are worked out, and the own tasks of the round are pulled.
//!
//! Processes of one host read each other's scratch files (`shared_views.rs`) and send each other no
//! lanes. The own tasks are in `tasks.rs`, the messages in `messages.rs`.

use super::layout::LaneLayout;
use super::messages::contribute_task;
use super::shared_views::{self, SharedViews};
use super::tasks::{Filler, Opened};
use crate::base::ids::{approximate, to_u64};
use crate::base::{Error, Result, fault_point};
use crate::exchange::agree;
use crate::expand::{LaneExpansion, LaneSource, LaneTally};
use crate::search::expansion_row::{Expansion, LevelForm};
use crate::search::expansions::costs;
use crate::search::guards;
use crate::search::job::Job;
use crate::search::machine::stop::StopReason;
use crate::search::observer::Observer;
use crate::search::progress::Progress;
use crate::search::round::{OwnSums, Round, RoundEnd, end_round};
use crate::search::space::Space;
use crate::search::spot_checks;
use crate::search::tally::Tally;
use crate::store::Shard;
use rayon::prelude::*;

/// Its row in the table.
pub const EXPANSION: Expansion = Expansion {
    name: NAME,
    seconds,
    leaves: LevelForm::Packed,
    run,
    covers: "ranks of the lanes pulled",
    must_cover: |space, _| space.partition.state_count(),
    edges: guards::pulled_edges,
    second_look: Some(spot_checks::check),
};

/// Its name.
pub const NAME: &str = "lanes";

/// What counts of a unit's cost in the first level by lanes, beside its pulling: what is seen and
/// what is next get their memory, twice as much (35, by the measure of the other costs). A search
/// that gets dense pays for it sooner or later, so it should not put off lanes by more than the
/// level or so where both ways are about even: with all of it turnstyle-12 took 0.1 s longer.
const SET_UP_NANOSECONDS: f64 = 15.0;

/// Every lane that is not full is pulled, 120 states at a time: right for dense levels.
fn seconds(space: &Space<'_>, progress: &Progress) -> Option<f64> {
    let lanes = space.lanes.as_ref()?;
    // Of directed puzzles the edges into the frontier are counted, too.
    let counted = if lanes.is_directed() { progress.last_level().states } else { 0 };
    let (units, open) = (costs::units(space), approximate(costs::unseen(space, progress) + counted));
    // What a process contributes to others is pulled without knowing what is seen there.
    let apart = progress.shared.as_ref().map_or(0, SharedViews::processes_apart);
    let contributing = f64::from(apart) * units * lanes.crossing_unit_cost();
    let set_up = if progress.shared.is_some() { 0.0 } else { units * SET_UP_NANOSECONDS };
    Some((costs::passing(space) + open.min(units) * lanes.unit_cost() + contributing + set_up) * 1e-9)
}

/// Pulls the next level into `next` on all processes. Returns the reason when asked to stop on the
/// way.
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
    let pool = &job.pool;
    let shards = &mut progress.shards;
    let is_directed = space.lanes.as_ref().is_some_and(LaneExpansion::is_directed);
    let prepare = |shard: &mut Shard| {
        shard.seen.prepare_lanes()?;
        if is_directed { shard.frontier.prepare_lanes() } else { Ok(()) }
    };
    let prepared = pool.install(|| shards.par_iter_mut().try_for_each(prepare));
    agree(job.exchange, prepared)?;
    let known = progress.shared.take();
    progress.shared = Some(shared_views::update(job, space, &progress.shards, known)?);
    // The level borrows the shards for itself; the rest of the progress stays readable.
    let mut shards = std::mem::take(&mut progress.shards);
    let result = run_rounds(job, space, progress, &mut shards, observer, sums);
    progress.shards = shards;
    result
}

fn run_rounds(
    job: &Job<'_>,
    space: &Space<'_>,
    progress: &Progress,
    shards: &mut [Shard],
    observer: &mut dyn Observer,
    sums: &mut OwnSums,
) -> Result<Option<StopReason>> {
    let (Some(lanes), Some(shared)) = (&space.lanes, &progress.shared) else {
        return Err(Error::invariant("lanes of this puzzle", "none", "some"));
    };
    let plan = LaneLayout::new(lanes, shared, &space.partition, job.exchange.processes());
    let me = job.process().index();
    let own_frontier: u64 = shards.iter().map(|shard| shard.frontier.count()).sum();
    let depth = progress.depth().next();
    let filler = Filler::new(space.partition.shard_length());
    let mut tallies = vec![LaneTally::default(); shards.len()];
    let opened = Opened::new(job, space, depth, &plan, shards, &filler);
    let mut opened = agree(job.exchange, opened)?;
    let mut prepared = contributions_for_others(job, &plan, &opened.source, 0, sums);
    let rounds = plan.rounds().max(1);
    let mut stopped = None;
    for round in 0..rounds {
        let outgoing = std::mem::take(&mut prepared);
        let mut incoming = if job.settings.threads > 1 && plan.processes > 1 && round + 1 < rounds {
            // The main thread exchanges (only it may call MPI) while the others work out the next
            // contributions.
            let (source, plan) = (&opened.source, &plan);
            let (pool, prepared, sums) = (&job.pool, &mut prepared, &mut *sums);
            pool.in_place_scope(|scope| {
                scope.spawn(move |_| *prepared = work_out(plan, source, me, round + 1, sums));
                job.exchange.all_to_all(outgoing)
            })
        } else {
            if round + 1 < rounds {
                prepared = contributions_for_others(job, &plan, &opened.source, round + 1, sums);
            }
            job.exchange.all_to_all(outgoing)
        };
        if fault_point::damages("drop-message") {
            incoming.iter_mut().rev().find_map(|words| words.last_mut().map(|word| *word ^= 1));
        }
        if fault_point::damages("long-lanes")
            && let Some(words) = incoming.iter_mut().rev().find(|words| !words.is_empty())
        {
            words.push(0);
        }
        let pulled = opened.pull_round(job, &plan, round, &incoming, &mut tallies, sums);
        sums.expanded = own_frontier * to_u64(round + 1) / to_u64(rounds);
        let found = tallies.iter().map(|tally| tally.states).sum();
        let done = Round { more: round + 1 < rounds, result: pulled, expanded: sums.expanded, found };
        match end_round(job, progress, observer, done)? {
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
        sums.edges.up = whole.edges;
        sums.level_edges = whole.level_edges;
        sums.fingerprint = Some(whole.fingerprint);
        sums.wrong_signs = match space.promises.sign_at(depth) {
            None => 0,
            Some(true) => whole.states - whole.odd,
            // A halved space has none: its lanes hold one sign only.
            Some(false) => whole.odd,
        };
    }
    Ok(stopped)
}

/// What this process contributes to the tasks of the others in a round, by process.
fn contributions_for_others(
    job: &Job<'_>,
    plan: &LaneLayout<'_>,
    source: &LaneSource<'_>,
    round: usize,
    sums: &mut OwnSums,
) -> Vec<Vec<u64>> {
    if plan.processes == 1 {
        return vec![Vec::new()];
    }
    let me = job.process().index();
    job.pool.install(|| work_out(plan, source, me, round, sums))
}

/// [`contributions_for_others`] on the threads of the pool it is called in.
fn work_out(plan: &LaneLayout<'_>, source: &LaneSource<'_>, me: usize, round: usize, sums: &mut OwnSums) -> Vec<Vec<u64>> {
    let mut outgoing = Vec::with_capacity(plan.processes);
    for owner in 0..plan.processes {
        let mut words = Vec::new();
        if owner != me {
            let parts: Vec<(Vec<u64>, Tally)> =
                plan.round_tasks(owner, round).par_iter().map(|&task| contribute_task(plan, source, owner, me, task)).collect();
            for (part, sent) in parts {
                words.extend(part);
                sums.sent = sums.sent.plus(sent);
            }
        }
        outgoing.push(words);
    }
    outgoing
}
