//! Expansion by lanes: every unit of 120 ranks that is not full is pulled from its neighbours' lanes, on all processes and threads, without atomics.
//!
//! A *job* is a part of a block over all planes of a process; its prefixes are worked out once, and its sources in other planes stay in cache. All processes
//! know the list of jobs of every process. In round r each process first works out, for the r-th jobs of every other process, what its own shards contribute: the
//! bits of whole target lanes, already in the target's order, one bit for each state and generator that crosses. Then the contributions are exchanged while
//! (with more than one thread) the next ones are worked out, and the own jobs of the round are pulled.
//!
//! Processes of one host read each other's scratch files (`shared_views.rs`) and send each other no lanes.
//!
//! Message to a process: for its jobs of the round, in order, for each plane and generator to which this process may contribute, a header word
//! `length << 2 | kind` and the bytes in words. Kind 0: no states, no bytes. Kind 1: the bits of all target lanes that this process speaks for, one bit a state.
//! Kind 2: a zstd frame of the same, where many bytes are zero.

use super::Search;
use super::guards::Tally;
use super::level::{RoundEnd, Work, end_round};
use super::observer::Observer;
use super::shared_views::{self, SharedViews};
use super::stop::StopReason;
use crate::base::ids::{index_u32, to_u64, to_usize};
use crate::base::mix::LANE_STATES;
use crate::base::{Error, ProcessId, Result, codec, fault_point};
use crate::exchange::agree;
use crate::expand::lanes::{PADDING_BYTES, UNIT_BYTES};
use crate::expand::{LaneExpansion, LaneSource, LaneTally, PrefixTable, Target};
use crate::store::{Lanes, RankSet, Shard};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Units of a job: its prefixes and one plane's sources fit the first-level cache.
const JOB_UNITS: usize = 512;

/// Most bytes that a process sends to another in a round, before compression.
const ROUND_BYTES: usize = 16 << 20;

/// Rounds of a level at least, so that signals and progress are looked at often enough.
const LEAST_ROUNDS: usize = 16;

/// A part of a block, in all planes that its process owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Job {
    block: usize,
    first_unit: usize,
    units: usize,
}

/// What all processes know: who owns what, and everybody's jobs.
struct Plan<'a> {
    lanes: &'a LaneExpansion,
    processes: usize,
    /// Owner of each plane and block: `plane * blocks + block`.
    owners: Vec<ProcessId>,
    /// For each process, whether it owns each plane and block.
    owned: Vec<Vec<bool>>,
    /// Who reads whose scratch files.
    shared: &'a SharedViews,
    /// The jobs of each process.
    jobs: Vec<Vec<Job>>,
    jobs_per_round: usize,
}

/// A job of this process with its slices.
struct OwnJob<'a> {
    job: Job,
    parts: Vec<OwnPart<'a>>,
    contributions: Vec<Contribution>,
}

/// What a job does in one plane.
struct OwnPart<'a> {
    plane: usize,
    /// Place of the shard in the list of owned ones.
    place: usize,
    seen: &'a [u8],
    next: &'a mut [u8],
    /// Whether all of it is known to be seen.
    is_full: bool,
}

/// Bits of some states of a job, from another process.
struct Contribution {
    sender: usize,
    plane: usize,
    generator: usize,
    kind: u64,
    bytes: Vec<u8>,
}

const NOTHING: u64 = 0;
const BITS: u64 = 1;
const FRAME: u64 = 2;

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
    fn round_jobs(&self, process: usize, round: usize) -> &[Job] {
        let jobs = &self.jobs[process];
        let first = jobs.len().min(round * self.jobs_per_round);
        &jobs[first..jobs.len().min(first + self.jobs_per_round)]
    }

    /// Whether `process` owns `plane` of `block`.
    fn owns(&self, process: usize, plane: usize, block: usize) -> bool {
        self.owners[plane * self.lanes.blocks_per_plane() + block].index() == process
    }

    /// Planes and generators of a job of `owner` to which `sender` may contribute, in the order of the message.
    fn contributions(&self, owner: usize, sender: usize, job: Job) -> impl Iterator<Item = (usize, usize)> + '_ {
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
    drop(opened);
    if stopped.is_none() {
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

/// Stand-ins for shards without data.
struct Filler {
    empty: Vec<u8>,
    full: Vec<u8>,
}

impl Filler {
    fn new(shard_length: u64) -> Self {
        let bytes = to_usize(shard_length / 8) + PADDING_BYTES + 8;
        Self { empty: vec![0; bytes], full: vec![0xff; bytes] }
    }
}

/// The shards of this process, open for a level by lanes.
struct Opened<'a> {
    source: LaneSource<'a>,
    /// What is seen of each plane and block, as far as it is at hand.
    seen: Vec<&'a [u8]>,
    /// The set of what is seen in each owned shard, and its first rank.
    sets: Vec<(&'a RankSet, u64)>,
    /// For each plane and block the place of its shard in the list of owned ones, and what is still to be written of its next level.
    rest: Vec<Option<(usize, &'a mut [u8])>>,
}

impl<'a> Opened<'a> {
    fn new(plan: &Plan<'a>, search: &Search<'_>, shards: &'a mut [Shard], filler: &'a Filler) -> Result<Self> {
        let parts = plan.owners.len();
        let part_bytes = plan.lanes.units_per_block() * UNIT_BYTES;
        let mut blocks: Vec<&'a [u8]> = vec![&[]; parts];
        let mut rest: Vec<Option<(usize, &'a mut [u8])>> = (0..parts).map(|_| None).collect();
        let mut sets = Vec::with_capacity(shards.len());
        for (place, shard) in shards.iter_mut().enumerate() {
            let Shard { seen, next, ranks, .. } = shard;
            sets.push((&*seen, ranks.start));
            let seen: &'a [u8] = match seen.lanes() {
                Lanes::Empty => &filler.empty,
                Lanes::Full => &filler.full,
                Lanes::Bits(bytes) => bytes,
            };
            let first_part = to_usize(ranks.start / (to_u64(part_bytes) * 8));
            let mut next = next.overwrite()?;
            let mut number = 0;
            while !next.is_empty() {
                let (now, after) = next.split_at_mut(part_bytes.min(next.len()));
                blocks[first_part + number] = &seen[number * part_bytes..];
                rest[first_part + number] = Some((place, now));
                next = after;
                number += 1;
            }
        }
        for (id, lanes) in plan.shared.others() {
            let first_part = to_usize(search.partition.first_rank(id).0 / (to_u64(part_bytes) * 8));
            let ranks = search.partition.ranks(id);
            let seen: &'a [u8] = match lanes {
                Lanes::Empty => &filler.empty,
                Lanes::Full => &filler.full,
                Lanes::Bits(bytes) => bytes,
            };
            for number in 0..to_usize((ranks.end - ranks.start) / (to_u64(part_bytes) * 8)) {
                blocks[first_part + number] = &seen[number * part_bytes..];
            }
        }
        let seen = blocks.clone();
        if fault_point::damages("lane-source") {
            // As if nothing led out of the first plane: no count of lanes or bits notices.
            blocks[..plan.lanes.blocks_per_plane()].fill(&filler.empty);
        }
        debug_assert!(search.partition.shard_length().is_multiple_of(to_u64(part_bytes) * 8) || search.partition.shards() == 1);
        Ok(Self { source: LaneSource { blocks }, seen, sets, rest })
    }

    /// Pulls the own jobs of a round with what the other processes contributed.
    fn pull_round(
        &mut self,
        search: &Search<'_>,
        plan: &Plan<'_>,
        round: usize,
        incoming: &[Vec<u64>],
        tallies: &mut [LaneTally],
        work: &mut Work,
    ) -> Result<()> {
        let me = search.exchange.process().index();
        let mut jobs: Vec<OwnJob<'_>> = Vec::new();
        let blocks_per_plane = plan.lanes.blocks_per_plane();
        for &job in plan.round_jobs(me, round) {
            if fault_point::damages("skip-shard") {
                continue;
            }
            let mut parts = Vec::new();
            for plane in 0..plan.lanes.planes() {
                let part = plane * blocks_per_plane + job.block;
                if let Some((place, rest)) = self.rest[part].take() {
                    let (now, after) = rest.split_at_mut(job.units * UNIT_BYTES);
                    self.rest[part] = Some((place, after));
                    let seen = &self.seen[part][job.first_unit * UNIT_BYTES..];
                    let (set, shard_start) = self.sets[place];
                    let first = to_u64(part * plan.lanes.units_per_block() + job.first_unit) * LANE_STATES - shard_start;
                    let is_full = set.is_full(first..first + to_u64(job.units) * LANE_STATES);
                    parts.push(OwnPart { plane, place, seen, next: now, is_full });
                }
            }
            work.covered += to_u64(parts.len() * job.units) * LANE_STATES;
            jobs.push(OwnJob { job, parts, contributions: Vec::new() });
        }
        read_contributions(plan, me, incoming, &mut jobs, work)?;
        let source = &self.source;
        let results: Vec<Result<Vec<(usize, LaneTally)>>> =
            search.pool.install(|| jobs.into_par_iter().map(|job| pull_job(plan, source, job)).collect());
        for result in results {
            for (place, tally) in result? {
                tallies[place] = tallies[place].plus(tally);
            }
        }
        Ok(())
    }
}

/// Pulls one job in all its planes.
fn pull_job(plan: &Plan<'_>, source: &LaneSource<'_>, mut job: OwnJob<'_>) -> Result<Vec<(usize, LaneTally)>> {
    let lanes = plan.lanes;
    // Where everything is seen nothing can be new; what others contribute is still checked.
    for part in job.parts.iter_mut().filter(|part| part.is_full) {
        part.next.fill(0);
    }
    if job.parts.iter().all(|part| part.is_full) && job.contributions.is_empty() {
        return Ok(Vec::new());
    }
    let prefixes = lanes.prefixes(job.job.block, job.job.first_unit, job.job.units);
    let length = job.job.units * UNIT_BYTES;
    // Units contributed by all processes together, by plane and generator.
    let mut given: BTreeMap<(usize, usize), Vec<u8>> = BTreeMap::new();
    for contribution in &job.contributions {
        let units = given.entry((contribution.plane, contribution.generator)).or_insert_with(|| vec![0; length]);
        contribution.add_to(plan, &prefixes, units)?;
    }
    let results = job.parts.into_iter().filter(|part| !part.is_full).map(|OwnPart { plane, place, seen, next, .. }| {
        let contributed = (0..lanes.generators()).map(|generator| given.get(&(plane, generator)).map(Vec::as_slice)).collect();
        let part = plane * lanes.blocks_per_plane() + job.job.block;
        let mut target = Target { plane, seen, next, first_unit: to_u64(part * lanes.units_per_block() + job.job.first_unit), contributed };
        (place, lanes.pull(source, &prefixes, &mut target))
    });
    Ok(results.collect())
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

/// The part of the message to `owner` that belongs to one of its jobs.
fn contribute_job(plan: &Plan<'_>, source: &LaneSource<'_>, owner: usize, me: usize, job: Job) -> (Vec<u64>, Tally) {
    let lanes = plan.lanes;
    let prefixes = lanes.prefixes(job.block, job.first_unit, job.units);
    let (mut words, mut sent) = (Vec::new(), Tally::default());
    for (plane, generator) in plan.contributions(owner, me, job) {
        let bits = lanes.contribute(source, &plan.owned[me], &prefixes, plane, generator).unwrap_or_default();
        let frame = if has_many_zeros(&bits) { zstd::bulk::compress(&bits, 1).ok() } else { None };
        let (kind, bytes): (u64, &[u8]) = match &frame {
            _ if bits.is_empty() => (NOTHING, &[]),
            Some(frame) if frame.len() < bits.len() => (FRAME, frame),
            _ => (BITS, &bits),
        };
        sent.add(codec::checksum(bytes) ^ kind);
        words.push(to_u64(bytes.len()) << 2 | kind);
        words.extend(bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        }));
    }
    (words, sent)
}

/// Whether compression pays: at least a quarter of the bytes are zero.
fn has_many_zeros(bytes: &[u8]) -> bool {
    bytes.iter().filter(|&&byte| byte == 0).count() * 4 > bytes.len()
}

/// Takes the messages of a round apart, job by job.
fn read_contributions(plan: &Plan<'_>, me: usize, incoming: &[Vec<u64>], jobs: &mut [OwnJob<'_>], work: &mut Work) -> Result<()> {
    let broken = || Error::invariant("words of a message of lanes", "too few", "as many as its headers say");
    for (sender, words) in incoming.iter().enumerate().filter(|(sender, _)| *sender != me) {
        let mut rest = &words[..];
        for job in jobs.iter_mut() {
            for (plane, generator) in plan.contributions(me, sender, job.job) {
                let (&header, after) = rest.split_first().ok_or_else(broken)?;
                let (kind, length) = (header & 3, to_usize(header >> 2));
                let (data, after) = after.split_at_checked(length.div_ceil(8)).ok_or_else(broken)?;
                rest = after;
                let mut bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
                bytes.truncate(length);
                work.received.add(codec::checksum(&bytes) ^ kind);
                if kind != NOTHING {
                    job.contributions.push(Contribution { sender, plane, generator, kind, bytes });
                }
            }
        }
    }
    Ok(())
}

impl Contribution {
    /// Adds the states to the units of a job.
    fn add_to(&self, plan: &Plan<'_>, prefixes: &PrefixTable, units: &mut [u8]) -> Result<()> {
        let broken =
            |found: String| Error::invariant("bits of lanes that another process sent", found, "one for each state that it speaks for");
        let unpacked;
        let bits = match self.kind {
            BITS => &self.bytes,
            FRAME => {
                unpacked = zstd::bulk::decompress(&self.bytes, units.len()).map_err(|error| broken(error.to_string()))?;
                &unpacked
            }
            other => return Err(broken(format!("kind {other}"))),
        };
        if plan.lanes.receive(bits, &plan.owned[self.sender], prefixes, self.plane, self.generator, units) {
            return Ok(());
        }
        Err(broken(format!("{} bytes", bits.len())))
    }
}
