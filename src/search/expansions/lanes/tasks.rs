//! The tasks of this process in a level by lanes: the shards opened for reading and writing, and
//! the pulling of a task in all its planes.

use super::layout::{LaneLayout, LaneTask, TASK_UNITS};
use super::messages::{Contribution, read_contributions};
use crate::base::fingerprint::LANE_STATES;
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Depth, Error, Result, fault_point};
use crate::expand::lanes::{PADDING_BYTES, UNIT_BYTES};
use crate::expand::{LaneSource, LaneTally, Target};
use crate::search::job::Job;
use crate::search::round::OwnSums;
use crate::search::space::Space;
use crate::store::chunked_bits::CHUNK_OFFSETS;
use crate::store::{Chunk, Cut, Lanes, LevelFile, PackedBits, RankSet, Shard, Storage};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const _: () = assert!(TASK_UNITS == 512 && CHUNK_OFFSETS == 512 * LANE_STATES);

/// A task of this process with its slices.
struct OwnTask<'a> {
    task: LaneTask,
    parts: Vec<OwnPart<'a>>,
    contributions: Vec<Contribution>,
}

/// What a task does in one plane.
struct OwnPart<'a> {
    plane: usize,
    /// Place of the shard in the list of owned ones.
    place: usize,
    seen: &'a [u8],
    /// The frontier states, for directed puzzles.
    level: Option<&'a [u8]>,
    /// First offset in the shard.
    first: u64,
    /// Receives the new states; empty in compact storage.
    next: &'a mut [u8],
    /// Whether there is nothing to find or to count: all of it is known to be seen.
    is_full: bool,
}

/// Stand-ins for shards without data.
pub(super) struct Filler {
    empty: Vec<u8>,
    full: Vec<u8>,
}

impl Filler {
    pub(super) fn new(shard_length: u64) -> Self {
        let bytes = to_usize(shard_length / 8) + PADDING_BYTES + 8;
        Self { empty: vec![0; bytes], full: vec![0xff; bytes] }
    }

    /// The bytes of a set that is ready for lanes.
    fn bytes_of<'a>(&'a self, set: &'a RankSet) -> &'a [u8] {
        match set.lanes() {
            Lanes::Empty => &self.empty,
            Lanes::Full => &self.full,
            Lanes::Bits(bytes) => bytes,
        }
    }
}

/// The shards of this process, open for a level by lanes.
pub(super) struct Opened<'a> {
    pub(super) source: LaneSource<'a>,
    /// What is seen of each plane and block, as far as it is at hand.
    seen: Vec<&'a [u8]>,
    /// For directed puzzles the frontier in the same parts; empty for others.
    level: Vec<&'a [u8]>,
    /// What is seen in each owned shard, its frontier, and its first rank.
    sets: Vec<(&'a RankSet, &'a RankSet, u64)>,
    /// For each plane and block the place of its shard in the list of owned ones, and what is still
    /// to be written of its next level.
    rest: Vec<Option<(usize, &'a mut [u8])>>,
    /// In compact storage, where new states go: the file, and the chunks of each owned shard.
    packed: Option<Packed>,
}

/// New states in compact storage: where their chunks go, and the chunks of each owned shard.
struct Packed {
    file: Arc<LevelFile>,
    cut: Cut,
    chunks: Vec<Vec<Chunk>>,
}

impl<'a> Opened<'a> {
    pub(super) fn new(
        job: &Job<'_>,
        space: &Space<'_>,
        depth: Depth,
        plan: &LaneLayout<'a>,
        shards: &'a mut [Shard],
        filler: &'a Filler,
    ) -> Result<Self> {
        let parts = plan.owners.len();
        let part_bytes = plan.lanes.units_per_block() * UNIT_BYTES;
        let mut blocks: Vec<&'a [u8]> = vec![&[]; parts];
        let mut level: Vec<&'a [u8]> = vec![&[]; if plan.lanes.is_directed() { parts } else { 0 }];
        let mut rest: Vec<Option<(usize, &'a mut [u8])>> = (0..parts).map(|_| None).collect();
        let mut sets = Vec::with_capacity(shards.len());
        let shard_length = space.partition.shard_length();
        // A chunk is a task's part of a shard. Parts that are no whole words are tiny: they stay as
        // bits.
        let packed = match Cut::new(shard_length, to_u64(part_bytes) * 8) {
            Some(cut) if job.settings.storage == Storage::Compact => {
                let chunks = vec![vec![Chunk::EMPTY; cut.chunks()]; shards.len()];
                Some(Packed { file: job.level_file(depth)?, cut, chunks })
            }
            _ => None,
        };
        for (place, shard) in shards.iter_mut().enumerate() {
            let Shard { seen, frontier, next, ranks, .. } = shard;
            sets.push((&*seen, &*frontier, ranks.start));
            let seen = filler.bytes_of(seen);
            let first_part = to_usize(ranks.start / (to_u64(part_bytes) * 8));
            if plan.lanes.is_directed() {
                let frontier = filler.bytes_of(frontier);
                for number in 0..to_usize((ranks.end - ranks.start) / (to_u64(part_bytes) * 8)) {
                    level[first_part + number] = &frontier[number * part_bytes..];
                }
            }
            if packed.is_some() {
                for number in 0..to_usize((ranks.end - ranks.start) / (to_u64(part_bytes) * 8)) {
                    blocks[first_part + number] = &seen[number * part_bytes..];
                    rest[first_part + number] = Some((place, &mut []));
                }
                continue;
            }
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
            let first_part = to_usize(space.partition.first_rank(id).0 / (to_u64(part_bytes) * 8));
            let ranks = space.partition.ranks(id);
            let seen: &'a [u8] = match lanes {
                Lanes::Empty => &filler.empty,
                Lanes::Full => &filler.full,
                Lanes::Bits(bytes) => bytes,
            };
            for number in 0..to_usize((ranks.end - ranks.start) / (to_u64(part_bytes) * 8)) {
                blocks[first_part + number] = &seen[number * part_bytes..];
            }
        }
        if fault_point::damages("cut-source")
            && let Some(bytes) = blocks.iter_mut().find(|bytes| !bytes.is_empty())
        {
            *bytes = &bytes[..part_bytes / 2];
        }
        check_at_hand(job.process().index(), plan, &blocks, part_bytes)?;
        let seen = blocks.clone();
        if fault_point::damages("lane-source") {
            // As if nothing led out of the first plane: no count of lanes or bits notices.
            blocks[..plan.lanes.blocks_per_plane()].fill(&filler.empty);
        }
        debug_assert!(space.partition.shard_length().is_multiple_of(to_u64(part_bytes) * 8) || space.partition.shards() == 1);
        Ok(Self { source: LaneSource { blocks }, seen, level, sets, rest, packed })
    }

    /// Pulls the own tasks of a round with what the other processes contributed.
    pub(super) fn pull_round(
        &mut self,
        job: &Job<'_>,
        plan: &LaneLayout<'_>,
        round: usize,
        incoming: &[Vec<u64>],
        tallies: &mut [LaneTally],
        sums: &mut OwnSums,
    ) -> Result<()> {
        let me = job.process().index();
        let mut tasks: Vec<OwnTask<'_>> = Vec::new();
        let blocks_per_plane = plan.lanes.blocks_per_plane();
        for &task in plan.round_tasks(me, round) {
            if fault_point::damages("skip-shard") {
                continue;
            }
            let mut parts = Vec::new();
            for plane in 0..plan.lanes.planes() {
                let part = plane * blocks_per_plane + task.block;
                // None: another process owns it. Were one of the own left out, its ranks would be
                // missing from what is covered.
                if let Some((place, rest)) = self.rest[part].take() {
                    let (now, after) = rest.split_at_mut(if self.packed.is_some() { 0 } else { task.units * UNIT_BYTES });
                    self.rest[part] = Some((place, after));
                    let seen = &self.seen[part][task.first_unit * UNIT_BYTES..];
                    let level = self.level.get(part).map(|level| &level[task.first_unit * UNIT_BYTES..]);
                    let (set, frontier, shard_start) = self.sets[place];
                    let first = to_u64(part * plan.lanes.units_per_block() + task.first_unit) * LANE_STATES - shard_start;
                    let nothing_to_count = level.is_none() || frontier.count() == 0;
                    let is_full = nothing_to_count && set.is_full(first..first + to_u64(task.units) * LANE_STATES);
                    parts.push(OwnPart { plane, place, seen, level, first, next: now, is_full });
                }
            }
            sums.covered += to_u64(parts.len() * task.units) * LANE_STATES;
            tasks.push(OwnTask { task, parts, contributions: Vec::new() });
        }
        let of_round: Vec<LaneTask> = tasks.iter().map(|own| own.task).collect();
        let contributions = read_contributions(plan, me, incoming, &of_round, sums)?;
        tasks.iter_mut().zip(contributions).for_each(|(own, contributions)| own.contributions = contributions);
        let (source, file) = (&self.source, self.packed.as_ref().map(|packed| packed.file.as_ref()));
        let results: Vec<Result<Vec<Found>>> =
            job.pool.install(|| tasks.into_par_iter().map(|task| pull_task(plan, source, file, task)).collect());
        for result in results {
            for Found { place, tally, first, chunk } in result? {
                tallies[place] = tallies[place].plus(tally);
                if let (Some(chunk), Some(packed)) = (chunk, &mut self.packed) {
                    let part_bits = to_u64(plan.lanes.units_per_block()) * LANE_STATES;
                    let number = packed.cut.chunk(to_usize(first / part_bits), to_usize(first % part_bits / 64));
                    packed.chunks[place][number] = chunk;
                }
            }
        }
        Ok(())
    }

    /// The new states of each owned shard, in compact storage; an empty list otherwise, where they
    /// are in the shards already.
    pub(super) fn into_packed(self) -> Vec<PackedBits> {
        let Some(Packed { file, cut, chunks }) = self.packed else { return Vec::new() };
        chunks.into_iter().map(|chunks| PackedBits::new(Arc::clone(&file), chunks, cut)).collect()
    }
}

/// Checks that the sources at hand are those of the own shards and of the processes that share with
/// this one, each to its end: what is not at hand counts as unseen.
fn check_at_hand(me: usize, plan: &LaneLayout<'_>, blocks: &[&[u8]], part_bytes: usize) -> Result<()> {
    let is_wrong = |owner: usize, bytes: usize| {
        let at_hand = owner == me || plan.shared.share(me, owner);
        if at_hand { bytes < part_bytes + PADDING_BYTES } else { bytes > 0 }
    };
    match plan.owners.iter().zip(blocks).position(|(owner, bytes)| is_wrong(owner.index(), bytes.len())) {
        None => Ok(()),
        Some(part) => {
            let owner = plan.owners[part].0;
            let what = format!("bytes of what is seen of part {part} of process {owner}, at hand at process {me}");
            Err(Error::invariant(what, blocks[part].len(), format!("{part_bytes} and padding where it is shared, else none")))
        }
    }
}

/// What a task found in one plane.
struct Found {
    place: usize,
    tally: LaneTally,
    /// The first offset in the shard.
    first: u64,
    /// In compact storage the new states.
    chunk: Option<Chunk>,
}

/// Pulls one task in all its planes.
fn pull_task(plan: &LaneLayout<'_>, source: &LaneSource<'_>, file: Option<&LevelFile>, mut task: OwnTask<'_>) -> Result<Vec<Found>> {
    let lanes = plan.lanes;
    // Where everything is seen nothing can be new; what others contribute is still checked.
    for part in task.parts.iter_mut().filter(|part| part.is_full) {
        part.next.fill(0);
    }
    if task.parts.iter().all(|part| part.is_full) && task.contributions.is_empty() {
        return Ok(Vec::new());
    }
    let prefixes = lanes.prefixes(task.task.block, task.task.first_unit, task.task.units);
    let length = task.task.units * UNIT_BYTES;
    // Units contributed by all processes together, by plane and generator.
    let mut given: BTreeMap<(usize, usize), Vec<u8>> = BTreeMap::new();
    for contribution in &task.contributions {
        let units = given.entry((contribution.plane, contribution.generator)).or_insert_with(|| vec![0; length]);
        contribution.add_to(plan, &prefixes, units)?;
    }
    let mut buffer = vec![0; if file.is_some() { length } else { 0 }];
    let pull = |OwnPart { plane, place, seen, level, first, next, .. }: OwnPart<'_>| {
        let contributed = (0..lanes.generators()).map(|generator| given.get(&(plane, generator)).map(Vec::as_slice)).collect();
        let part = plane * lanes.blocks_per_plane() + task.task.block;
        let first_unit = to_u64(part * lanes.units_per_block() + task.task.first_unit);
        let next = if file.is_some() { &mut buffer[..] } else { next };
        let tally = lanes.pull(source, &prefixes, &mut Target { plane, seen, level, next, first_unit, contributed });
        let chunk = file.map(|file| file.pack(&buffer)).transpose()?;
        Ok(Found { place, tally, first, chunk })
    };
    task.parts.into_iter().filter(|part| !part.is_full).map(pull).collect()
}
