//! Pulling a part of a block: the hot loops. A strip of 32 lanes at a time, generator by generator,
//! slice by slice: what depends on the generator only is outside of the innermost loop, which reads
//! a source lane, moves its bits, and knows nothing else.

use super::kernel::Scratch;
use super::prefixes::{Places, PrefixStrip, PrefixTable, STRIP};
use super::strip::{STRIP_BYTES, STRIP_WORDS, Words, common, count, is_zero, take_new, union, words, words_of_part, write_words};
use super::units::{HALF_BITS, read_half, read_run, read_unit, write_unit};
use super::{LaneExpansion, LaneSource, LaneTally, Target, UNIT_BYTES};
use crate::base::bit_moves::{BitMoves, BitWork, Portable, do_work};
use crate::base::fingerprint::{Fingerprint, LANE_STATES};
use crate::base::ids::{index_u32, to_u64, to_usize};
use crate::expand::lane_plan::{LanePlan, MOST_CROSSINGS, SUFFIX};
use crate::ranking::lehmer;
use std::ops::Range;

/// Bits of each lane, or unit, of a strip.
pub(super) type Bits = [u128; STRIP];

impl LaneExpansion {
    /// Finds the new states of `target`, whose lanes are those of `prefixes`: unseen states with a
    /// neighbour in `source` or contributed.
    #[must_use]
    pub fn pull(&self, source: &LaneSource<'_>, prefixes: &PrefixTable, target: &mut Target<'_>) -> LaneTally {
        do_work(Pull { expansion: self, source, prefixes, target })
    }

    /// [`LaneExpansion::pull`] without special instructions; the same results.
    #[must_use]
    pub fn pull_portable(&self, source: &LaneSource<'_>, prefixes: &PrefixTable, target: &mut Target<'_>) -> LaneTally {
        self.pull_with(Portable, source, prefixes, target)
    }

    #[inline(always)]
    fn pull_with<B: BitMoves>(&self, moves: B, source: &LaneSource<'_>, prefixes: &PrefixTable, target: &mut Target<'_>) -> LaneTally {
        let mut tally = LaneTally::default();
        let steps = &self.moves[target.plane * self.generators..(target.plane + 1) * self.generators];
        let odd_plane = self.odd_planes[target.plane];
        let units_per_strip = STRIP / self.lanes_per_unit();
        let units = target.next.len() / UNIT_BYTES;
        let mut scratch = Scratch::new();
        for (number, strip) in prefixes.strips.iter().enumerate() {
            let first = number * units_per_strip;
            let count = units_per_strip.min(units - first);
            let bytes = first * UNIT_BYTES..(first + count) * UNIT_BYTES;
            // After a strip's last unit all counts as seen.
            let unseen = words_of_part(&target.seen[bytes.clone()], 0xff).map(|word| !word);
            let level = target.level.map(|level| words_of_part(&level[bytes.clone()], 0));
            let open = level.map_or(unseen, |level| union(&unseen, &level));
            if is_zero(&open) {
                target.next[bytes].fill(0);
                continue;
            }
            let mut new = [0; STRIP_WORDS];
            for (generator, step) in steps.iter().enumerate() {
                let &Some((plane, plan)) = step else { continue };
                let blocks = self.plane_of(&source.blocks, plane);
                let kernel = self.kernels[plan].as_ref();
                let of_slices;
                let pulled = match (kernel, self.strip_at(blocks, prefixes, first)) {
                    (Some(kernel), Some(strip)) if kernel.is_identity() => strip,
                    (Some(kernel), _) => kernel.pull(moves, self, blocks, prefixes, strip, odd_plane, number * STRIP, &mut scratch).strip(),
                    (None, _) => {
                        let mut bits = [0; STRIP];
                        let units = open_units(&open);
                        self.pull_units(moves, blocks, prefixes, strip, first, units, odd_plane, &self.plans[plan], &mut bits);
                        of_slices = bytes_of(&bits);
                        &of_slices
                    }
                };
                let with_contributed;
                let pulled = match target.contributed.get(generator) {
                    Some(Some(contributed)) => {
                        with_contributed = joined(pulled, &contributed[bytes.clone()]);
                        &with_contributed
                    }
                    _ => pulled,
                };
                // A pulled state that is not seen is new: so these are the new states' edges.
                tally.edges += take_new(pulled, &unseen, &mut new, self.halved);
                if let Some(level) = &level {
                    tally.level_edges += common(&words(pulled), level);
                }
            }
            self.write_new(strip, first, odd_plane, &new, target, bytes, &mut tally);
        }
        tally
    }

    /// The strip that begins with unit `first` of the table, in `blocks`, where it is at hand as a
    /// whole.
    #[inline(always)]
    fn strip_at<'a>(&self, blocks: &[&'a [u8]], prefixes: &PrefixTable, first: usize) -> Option<&'a [u8; STRIP_BYTES]> {
        let first = prefixes.first_lane / self.lanes_per_unit() + first;
        blocks[prefixes.block].get(first * UNIT_BYTES..)?.first_chunk()
    }

    /// Writes the new states of a strip to the `bytes` of the target, and counts them.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn write_new(
        &self,
        strip: &PrefixStrip,
        first: usize,
        odd_plane: bool,
        new: &Words,
        target: &mut Target<'_>,
        bytes: Range<usize>,
        tally: &mut LaneTally,
    ) {
        let units = bytes.len() / UNIT_BYTES;
        let mut buffer = [0; STRIP_BYTES + 1];
        write_words(buffer.first_chunk_mut().expect("a byte more than a strip"), new);
        target.next[bytes.clone()].copy_from_slice(&buffer[..bytes.len()]);
        let states = count(new);
        if states == 0 {
            return;
        }
        tally.states += states;
        let mut fingerprint = Fingerprint::default();
        for at in 0..units {
            let members = read_unit(&buffer, at);
            if members == 0 {
                continue;
            }
            fingerprint = fingerprint.plus(Fingerprint::of_lane(target.first_unit + to_u64(first + at), members));
            if self.counts_odd {
                let odd = self.suffix_signs[usize::from((strip.odd[at] == 0) ^ odd_plane)];
                tally.odd += u64::from((members & odd).count_ones());
            }
        }
        tally.fingerprint = tally.fingerprint.plus(fingerprint);
    }

    /// The states of the `open` units of a strip, from unit `first` of the table on, whose
    /// neighbour is in `blocks`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn pull_units<B: BitMoves>(
        &self,
        moves: B,
        blocks: &[&[u8]],
        prefixes: &PrefixTable,
        strip: &PrefixStrip,
        first: usize,
        open: u32,
        odd_plane: bool,
        plan: &LanePlan,
        bits: &mut Bits,
    ) {
        if plan.is_identity {
            let (block, first) = (blocks[prefixes.block], prefixes.first_lane / self.lanes_per_unit() + first);
            for at in members(open) {
                bits[at] = read_unit(block, first + at);
            }
            return;
        }
        if !self.halved {
            self.pull_lanes(moves, blocks, strip, open, odd_plane, plan, bits);
            return;
        }
        self.pull_lanes(moves, blocks, strip, doubled(open), odd_plane, plan, bits);
        // Ascending: a unit's place was read before it is written.
        for at in 0..STRIP / 2 {
            bits[at] = bits[2 * at] | bits[2 * at + 1] << HALF_BITS;
        }
    }

    /// The states of the lanes of a strip that are in `wanted`, whose neighbour is in `blocks`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn pull_lanes<B: BitMoves>(
        &self,
        moves: B,
        blocks: &[&[u8]],
        strip: &PrefixStrip,
        wanted: u32,
        odd_plane: bool,
        plan: &LanePlan,
        result: &mut Bits,
    ) {
        *result = [0; STRIP];
        if plan.crossings > MOST_CROSSINGS {
            for at in members(wanted) {
                result[at] = self.pull_states(blocks, plan, strip, at, odd_plane);
            }
            return;
        }
        for number in 0..plan.choices.len() {
            let (places, index) = self.slice(strip, odd_plane, plan, number);
            if plan.crossings == 0 {
                for at in members(wanted) {
                    let bits = self.read_lane(blocks, &places, at);
                    result[at] = match plan.moves[usize::from(index[at])].inner_of(plan) {
                        Some(inner) => inner.apply(bits),
                        None => bits,
                    };
                }
            } else if plan.source_runs {
                let lane_bits = if self.halved { index_u32(HALF_BITS) } else { UNIT_BYTES * 8 };
                for at in members(wanted) {
                    let slice = &plan.moves[usize::from(index[at])];
                    let first = index_u32(places.lane[at]) * lane_bits + usize::from(slice.source_first);
                    let run = read_run(blocks[index_u32(places.block[at])], first) & plan.run_mask;
                    result[at] |= moves.deposit_slice(slice.permuted(plan, run), slice.target);
                }
            } else {
                for at in members(wanted) {
                    let slice = &plan.moves[usize::from(index[at])];
                    let bits = moves.extract_slice(self.read_lane(blocks, &places, at), slice.source);
                    result[at] |= moves.deposit_slice(slice.permuted(plan, bits), slice.target);
                }
            }
        }
    }

    /// The lane at a place; 0 when its block is not at hand.
    #[inline(always)]
    fn read_lane(&self, blocks: &[&[u8]], places: &Places, at: usize) -> u128 {
        let (block, lane) = (blocks[index_u32(places.block[at])], index_u32(places.lane[at]));
        if self.halved { read_half(block, lane) } else { read_unit(block, lane) }
    }

    /// State by state, for permutations with more crossings than slices are compiled for.
    fn pull_states(&self, blocks: &[&[u8]], plan: &LanePlan, strip: &PrefixStrip, at: usize, odd_plane: bool) -> u128 {
        let sign = (strip.odd[at] == 1) ^ odd_plane;
        let lane = self.lane_labels(strip, at);
        let mut result = 0;
        for order in 0..LANE_STATES {
            let (suffix, odd) = lehmer::unrank(SUFFIX, order);
            if self.halved && odd != sign {
                continue;
            }
            let mut labels = lane;
            for (label, &rank) in labels[self.prefix_length..].iter_mut().zip(&suffix[..SUFFIX]) {
                *label = lane[self.prefix_length + usize::from(rank)];
            }
            let mut moved = lehmer::Labels::default();
            for (label, &image) in moved.iter_mut().zip(&plan.images) {
                *label = labels[usize::from(image)];
            }
            let rank = lehmer::rank(&moved[..plan.images.len()]);
            let place = if self.halved { rank / 2 } else { rank };
            let block_states = to_u64(self.units_per_block()) * LANE_STATES;
            let bit = read_run(blocks[to_usize(place / block_states)], to_usize(place % block_states)) & 1;
            result |= u128::from(bit) << (if self.halved { order / 2 } else { order });
        }
        result
    }
}

/// [`LaneExpansion::pull`], for the instructions at hand.
struct Pull<'a, 'b, 'c> {
    expansion: &'a LaneExpansion,
    source: &'a LaneSource<'a>,
    prefixes: &'a PrefixTable,
    target: &'b mut Target<'c>,
}

impl BitWork for Pull<'_, '_, '_> {
    type Output = LaneTally;

    #[inline(always)]
    fn run<B: BitMoves>(self, moves: B) -> LaneTally {
        self.expansion.pull_with(moves, self.source, self.prefixes, self.target)
    }
}

/// The units of a strip with a bit in `open`.
#[inline(always)]
fn open_units(open: &Words) -> u32 {
    let mut bytes = [0; STRIP_BYTES + 1];
    write_words(bytes.first_chunk_mut().expect("a byte more than a strip"), open);
    (0..STRIP).fold(0, |units, at| units | u32::from(read_unit(&bytes, at) != 0) << at)
}

/// A strip with what others contributed.
#[cold]
fn joined(pulled: &[u8; STRIP_BYTES], contributed: &[u8]) -> [u8; STRIP_BYTES] {
    let mut joined = *pulled;
    write_words(&mut joined, &union(&words(pulled), &words_of_part(contributed, 0)));
    joined
}

/// Units as a strip's bytes.
#[inline(always)]
fn bytes_of(units: &Bits) -> [u8; STRIP_BYTES] {
    let mut bytes = [0; STRIP_BYTES];
    for (at, &unit) in units.iter().enumerate() {
        write_unit(&mut bytes, at, unit);
    }
    bytes
}

/// The numbers of the bits of `set`, ascending.
#[inline(always)]
pub(super) fn members(set: u32) -> Members {
    Members(set)
}

/// See [`members`].
pub(super) struct Members(u32);

impl Iterator for Members {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let place = index_u32(self.0.trailing_zeros());
        self.0 &= self.0 - 1;
        Some(place)
    }
}

/// Each of the low 16 bits twice: the lanes of units of two.
fn doubled(units: u32) -> u32 {
    (0..16).fold(0, |lanes, unit| lanes | ((units >> unit & 1) * 3) << (2 * unit))
}
