//! Expansion by lanes: every unit of 120 ranks that is not full is pulled from its neighbours' lanes, on all processes and threads, without atomics.
//!
//! A *job* is a part of a block over all planes of a process; its prefixes are worked out once, and its sources in other planes stay in cache. All processes
//! know the list of jobs of every process. In round r each process first works out, for the r-th jobs of every other process, what its own shards contribute: the
//! bits of whole target lanes, already in the target's order, one bit for each state and generator that crosses. Then the contributions are exchanged while
//! (with more than one thread) the next ones are worked out, and the own jobs of the round are pulled.
//!
//! Processes of one host read each other's scratch files (`shared_views.rs`) and send each other no lanes. The own jobs are in `lane_jobs.rs`, the messages in `lane_messages.rs`.

use super::Search;
use super::guards::Tally;
use super::lane_jobs::{Filler, Opened};
use super::lane_messages::contribute_job;
use super::level::{RoundEnd, Work, end_round};
use super::observer::Observer;
use super::shared_views::{self, SharedViews};
use super::stop::StopReason;
use crate::base::ids::{index_u32, to_u64};
use crate::base::mix::LANE_STATES;
use crate::base::{Error, ProcessId, Result, fault_point};
use crate::exchange::agree;
use crate::expand::lanes::UNIT_BYTES;
use crate::expand::{LaneExpansion, LaneSource, LaneTally};
use crate::store::Shard;
use rayon::prelude::*;

/// Units of a job: its prefixes and one plane's sources fit the first-level cache, and it is a chunk of a packed level.
pub(super) const JOB_UNITS: usize = 512;

/// Most bytes that a process sends to another in a round, before compression.
const ROUND_BYTES: usize = 16 << 20;

/// Rounds of a level at least, so that signals and progress are looked at often enough.
const LEAST_ROUNDS: usize = 16;

/// A part of a block, in all planes that its process owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) block: usize,
    pub(super) first_unit: usize,
    pub(super) units: usize,
}

/// What all processes know: who owns what, and everybody's jobs.
pub(super) struct Plan<'a> {
    pub(super) lanes: &'a LaneExpansion,
    processes: usize,
    /// Owner of each plane and block: `plane * blocks + block`.
    pub(super) owners: Vec<ProcessId>,
    /// For each process, whether it owns each plane and block.
    pub(super) owned: Vec<Vec<bool>>,
    /// Who reads whose scratch files.
    pub(super) shared: &'a SharedViews,
    /// The jobs of each process.
    jobs: Vec<Vec<Job>>,
    jobs_per_round: usize,
}

impl<'a> Plan<'a> {
    fn new(lanes: &'a LaneExpansion, shared: &'a SharedViews, search: &Search<'_>) -> Self {
        let processes = index_u32(search.exchange.processes());
        let blocks = lanes.blocks_per_plane();
        let block_states = to_u64(lanes.units_per_block()) * LANE_STATES;
        let owners: Vec<ProcessId> = (0..lanes.planes() * blocks)
            .map(|part| search.owners[search.partition.shard_of(crate::base::StateRank(to_u64(part) * block_states)).index()])
            .collect();
        let jobs: Vec<Vec<Job>> = (0..search.exchange.processes())
            .map(|process| {
                let owned = |block: usize| (0..lanes.planes()).any(|plane| owners[plane * blocks + block] == ProcessId(process));
                (0..blocks).filter(|&block| owned(block)).flat_map(|block| jobs_of_block(lanes, block)).collect()
            })
            .collect();
        let most_jobs = jobs.iter().map(Vec::len).max().unwrap_or(0);
        let bytes_per_job = lanes.planes() * lanes.generators() * JOB_UNITS * UNIT_BYTES;
        let by_bytes = if processes > 1 { ROUND_BYTES / bytes_per_job } else { usize::MAX };
        let jobs_per_round = by_bytes.min(most_jobs.div_ceil(LEAST_ROUNDS)).max(1);
        let owned = (0..search.exchange.processes()).map(|process| owners.iter().map(|owner| owner.0 == process).collect()).collect();
        Self { lanes, processes, owners, owned, shared, jobs, jobs_per_round }
    }

    fn rounds(&self) -> usize {
        self.jobs.iter().map(|jobs| jobs.len().div_ceil(self.jobs_per_round)).max().unwrap_or(0)
    }

    /// The jobs of `process` in a round.
    pub(super) fn round_jobs(&self, process: usize, round: usize) -> &[Job] {
        let jobs = &self.jobs[process];
        let first = jobs.len().min(round * self.jobs_per_round);
        &jobs[first..jobs.len().min(first + self.jobs_per_round)]
    }

    /// Whether `process` owns `plane` of `block`.
    fn owns(&self, process: usize, plane: usize, block: usize) -> bool {
        self.owners[plane * self.lanes.blocks_per_plane() + block].index() == process
    }

    /// Planes and generators of a job of `owner` to which `sender` may contribute, in the order of the message.
    pub(super) fn contributions(&self, owner: usize, sender: usize, job: Job) -> impl Iterator<Item = (usize, usize)> + '_ {
        let apart = !self.shared.share(owner, sender);
        (0..self.lanes.planes()).filter(move |&plane| apart && self.owns(owner, plane, job.block)).flat_map(move |plane| {
            (0..self.lanes.generators())
                .filter(move |&generator| {
                    self.lanes.crosses_blocks(plane, generator) || self.owns(sender, self.lanes.target_plane(plane, generator), job.block)
                })
                .map(move |generator| (plane, generator))
        })
    }
}

fn jobs_of_block(lanes: &LaneExpansion, block: usize) -> impl Iterator<Item = Job> + use<> {
    let units = lanes.units_per_block();
    (0..units).step_by(JOB_UNITS).map(move |first_unit| Job { block, first_unit, units: JOB_UNITS.min(units - first_unit) })
}

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
    let plan = Plan::new(lanes, shared, search);
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
