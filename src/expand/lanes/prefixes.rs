//! The labels of neighbouring lanes, in strips: label by label, 32 lanes side by side, so that one
//! instruction compares or subtracts the labels of a whole strip.

use super::LaneExpansion;
use crate::base::fingerprint::LANE_STATES;
use crate::base::ids::{low_u32, to_u64, to_usize};
use crate::expand::lane_plan::{LanePlan, MOST_CROSSINGS, MOST_PREFIX, Origin, SUFFIX};
use crate::ranking::lehmer;

/// Lanes of a strip: bytes of a vector register of AVX2.
pub(super) const STRIP: usize = 32;

/// One byte of each lane of a strip.
pub(super) type Bytes = [u8; STRIP];

/// Lanes that share all but the last label of their prefixes.
const SIBLINGS: u64 = 6;

/// The prefixes of neighbouring lanes of a block, worked out once for all planes.
#[derive(Clone, Debug, Default)]
pub struct PrefixTable {
    pub(super) block: usize,
    pub(super) first_lane: usize,
    pub(super) lanes: usize,
    pub(super) strips: Vec<PrefixStrip>,
}

/// 32 lanes. Behind the last lane of a table the bytes are 0 and mean nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrefixStrip {
    /// Labels by prefix position.
    pub(super) labels: [Bytes; MOST_PREFIX],
    /// Labels of the suffix, ascending.
    pub(super) rest: [Bytes; SUFFIX],
    /// 1 where the lane's first arrangement is odd: its suffix ascends, so its sign is the
    /// prefix's.
    pub(super) odd: Bytes,
}

/// Where the source lanes of a strip are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// Number of the block in its plane.
    pub(super) block: [u32; STRIP],
    /// Number of the lane in its block.
    pub(super) lane: [u32; STRIP],
}

impl PrefixStrip {
    const BLANK: Self = Self { labels: [[0; STRIP]; MOST_PREFIX], rest: [[0; STRIP]; SUFFIX], odd: [0; STRIP] };
}

impl LaneExpansion {
    /// Works out the prefixes of `units` units of `block` from `first_unit` on; they serve every
    /// plane.
    #[must_use]
    pub fn prefixes(&self, block: usize, first_unit: usize, units: usize) -> PrefixTable {
        let first_lane = first_unit * self.lanes_per_unit();
        let lanes = units * self.lanes_per_unit();
        let length = self.prefix_length + SUFFIX;
        let last = self.prefix_length - 1;
        let mut strips = vec![PrefixStrip::BLANK; lanes.div_ceil(STRIP)];
        let (mut family, mut labels, mut family_odd) = (u64::MAX, lehmer::Labels::default(), false);
        for lane in 0..lanes {
            let number = to_u64(block * self.lanes_per_block + first_lane + lane);
            if number / SIBLINGS != family {
                family = number / SIBLINGS;
                (labels, family_odd) = lehmer::unrank(length, family * SIBLINGS * LANE_STATES);
            }
            // The first of the siblings has the other six labels in ascending order: one of them
            // ends the prefix, the rest is the suffix.
            let sibling = to_usize(number % SIBLINGS);
            let (strip, at) = (&mut strips[lane / STRIP], lane % STRIP);
            for (row, &label) in strip.labels.iter_mut().zip(&labels[..last]) {
                row[at] = label;
            }
            strip.labels[last][at] = labels[last + sibling];
            for (index, row) in strip.rest.iter_mut().enumerate() {
                row[at] = labels[last + index + usize::from(index >= sibling)];
            }
            strip.odd[at] = u8::from(family_odd ^ (sibling % 2 == 1));
        }
        PrefixTable { block, first_lane, lanes, strips }
    }

    /// One slice of the target lanes of a strip: where its source lanes are, and for each lane the
    /// index of its move in the plan.
    ///
    /// No closures here and in the loops around it: they are functions of their own, for which the
    /// compiler may forget the processor's special instructions.
    #[inline(always)]
    pub(super) fn slice(&self, strip: &PrefixStrip, odd_plane: bool, plan: &LanePlan, number: usize) -> (Places, [u16; STRIP]) {
        let choice = &plan.choices[number][..plan.crossings];
        let mut sources = [&strip.labels[0]; MOST_PREFIX];
        for (source, origin) in sources.iter_mut().zip(&plan.prefix) {
            *source = match *origin {
                Origin::Prefix(from) => &strip.labels[usize::from(from)],
                Origin::Crossing(crossing) => &strip.rest[usize::from(choice[usize::from(crossing)])],
            };
        }
        let keys = plan.keys();
        let first = low_u16(number * keys);
        let per_sign = if self.halved { low_u16(plan.choices.len() * keys) } else { 0 };
        let mut index = self.keys(strip, plan, choice);
        for (index, &odd) in index.iter_mut().zip(&strip.odd) {
            *index += first + per_sign * u16::from(odd ^ u8::from(odd_plane));
        }
        (self.places(&sources[..self.prefix_length]), index)
    }

    /// Places of the lanes whose prefixes have the labels `sources`. The digit of a label is the
    /// label minus the number of smaller ones before it.
    #[inline(always)]
    fn places(&self, sources: &[&Bytes]) -> Places {
        let mut places = Places { block: [0; STRIP], lane: [0; STRIP] };
        for (position, &labels) in sources.iter().enumerate() {
            let mut digits = *labels;
            for before in &sources[..position] {
                subtract_smaller(&mut digits, before, labels);
            }
            let weight = self.weights[position];
            let sums = if position < self.leading { &mut places.block } else { &mut places.lane };
            for (sum, &digit) in sums.iter_mut().zip(&digits) {
                *sum += u32::from(digit) * weight;
            }
        }
        places
    }

    /// For each lane the key of its move: the ranks of the moved-out labels among the source's
    /// suffix labels, as digits.
    #[inline(always)]
    fn keys(&self, strip: &PrefixStrip, plan: &LanePlan, choice: &[u8]) -> [u16; STRIP] {
        let mut keys = [0_u16; STRIP];
        for &position in plan.moved_out.iter().rev() {
            let labels = &strip.labels[usize::from(position)];
            let mut larger = [0_u8; STRIP];
            for (rank, rest) in (0_u8..).zip(&strip.rest) {
                if !choice.contains(&rank) {
                    subtract_smaller(&mut larger, rest, labels);
                }
            }
            for &other in &plan.moved_out {
                if other != position {
                    subtract_smaller(&mut larger, &strip.labels[usize::from(other)], labels);
                }
            }
            for (key, larger) in keys.iter_mut().zip(larger) {
                *key = *key * SUFFIX_DIGIT + u16::from(larger.wrapping_neg());
            }
        }
        keys
    }

    /// The labels of one lane: those of the prefix, then those of the suffix in ascending order.
    pub(super) fn lane_labels(&self, strip: &PrefixStrip, at: usize) -> lehmer::Labels {
        let mut labels = lehmer::Labels::default();
        let rows = strip.labels[..self.prefix_length].iter().chain(&strip.rest);
        for (label, row) in labels.iter_mut().zip(rows) {
            *label = row[at];
        }
        labels
    }
}

/// The base of keys, [`SUFFIX`].
const SUFFIX_DIGIT: u16 = 5;

const _: () = assert!(SUFFIX == 5 && MOST_CROSSINGS <= 5);

/// Takes 1 off each of `sums` whose label `one` is smaller than `other`.
#[inline(always)]
pub(super) fn subtract_smaller(sums: &mut Bytes, one: &Bytes, other: &Bytes) {
    for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
        *sum = sum.wrapping_sub(u8::from(one < other));
    }
}

/// The low bits of what is known to be below 2^16, like an index of a plan's moves: at most
/// 2 x 60 x 125.
#[inline(always)]
pub(super) fn low_u16(value: usize) -> u16 {
    u16::try_from(low_u32(to_u64(value)) & 0xffff).unwrap_or(0)
}
