//! Two or three labels that cross: 20 slices of 6 bits, or 60 of 2, for each lane.
//!
//! The crossing labels lead the target's suffix, so each choice of them is a run of the target's
//! bits. The source's bits are those where the labels that moved out stand with a certain *key*,
//! their ranks among the source's suffix labels. Places and keys are sums: what all choices share,
//! and a part for each crossing position and label, which are worked out once and added up choice
//! by choice.

use super::LaneExpansion;
use super::crossing::{Crossing, LaneMask, is_odd, masks_by_value};
use super::places::{SplitPlaces, write_halves, write_lane};
use super::prefixes::{Bytes, PrefixStrip, STRIP};
use super::strip::StripBuffer;
use crate::base::bit_moves::BitMoves;
use crate::base::ids::{low_u32, low_u64, to_usize};
use crate::expand::lane_plan::{MOST_CROSSINGS, SUFFIX, choices};
use crate::ranking::lehmer;

/// Bits of a half of a lane, which holds whole slices.
const HALF_LANE: u64 = 60;

/// A permutation with two or three crossing labels that keeps the order of all others.
#[derive(Clone, Debug)]
pub(super) struct Slices {
    crossing: Crossing,
    choices: Vec<Choice>,
    /// The sources' bits by key, of which there are at most 125.
    /// In a halved space by the sign of the other labels, too.
    masks: Box<[[LaneMask; 128]; 2]>,
}

/// One choice of the crossing labels.
#[derive(Clone, Debug)]
struct Choice {
    /// By crossing position; ranks among the target's suffix labels.
    labels: [u8; MOST_CROSSINGS],
    /// Half of the target lane, and the first bit in it.
    half: usize,
    first: u32,
    /// 1 where the order is odd when the other labels ascend.
    odd: u8,
}

impl Slices {
    /// `None` where there are not two or three crossing labels, or they do not lead the target's
    /// suffix.
    pub(super) fn new(crossing: Crossing, halved: bool) -> Option<Self> {
        let count = crossing.positions.len();
        if !(2..=MOST_CROSSINGS).contains(&count) || !crossing.keeps_order || !crossing.leads_target() {
            return None;
        }
        let choice = |labels: [u8; MOST_CROSSINGS]| {
            let chosen = &labels[..count];
            let order: Vec<u8> = chosen.iter().copied().chain((0..5).filter(|label| !chosen.contains(label))).collect();
            let first = lehmer::rank(&order) / if halved { 2 } else { 1 };
            let odd = u8::from(is_odd(&crossing.from, chosen));
            Choice { labels, half: to_usize(first / HALF_LANE), first: low_u32(first % HALF_LANE), odd }
        };
        let choices = choices(count).into_iter().map(choice).collect();
        let masks = Box::new([false, true].map(|odd| masks_by_value(&crossing.to, halved.then_some(odd))));
        Some(Self { crossing, choices, masks })
    }

    /// Slices of a lane.
    pub(super) fn count(&self) -> usize {
        self.choices.len()
    }

    /// The sources of a strip's lanes, slice by slice.
    #[inline(always)]
    // A lane is one place of several arrays.
    #[allow(clippy::needless_range_loop, clippy::too_many_arguments)]
    pub(super) fn pull<B: BitMoves>(
        &self,
        moves: B,
        lanes: &LaneExpansion,
        blocks: &[&[u8]],
        strip: &PrefixStrip,
        odd: &Bytes,
        buffer: &mut StripBuffer,
    ) {
        let Crossing { prefix, positions, .. } = &self.crossing;
        let shared = SplitPlaces::without_crossing(lanes, strip, prefix);
        let shared_keys = self.crossing.keys(strip);
        let mut parts = [[SplitPlaces::ZERO; SUFFIX]; MOST_CROSSINGS];
        let mut less = [[0; STRIP]; SUFFIX];
        for label in 0..SUFFIX {
            less[label] = self.crossing.key_less(strip, &strip.rest[label]);
            for (part, &position) in parts.iter_mut().zip(positions) {
                part[label].add_crossing(lanes, strip, prefix, position, &strip.rest[label]);
            }
        }
        let mut halves = [[0_u64; STRIP]; 2];
        for choice in &self.choices {
            let (mut places, mut keys) = (shared, shared_keys);
            for (number, &position) in positions.iter().enumerate() {
                let label = choice.labels[number];
                places.add(&parts[number][usize::from(label)]);
                for at in 0..STRIP {
                    keys[at] = keys[at].wrapping_sub(less[usize::from(label)][at]);
                }
                for &before in &choice.labels[..number] {
                    if before < label {
                        places.subtract_one(lanes, position);
                    }
                }
            }
            let half = &mut halves[choice.half];
            if lanes.halved {
                for at in 0..STRIP {
                    let mask = &self.masks[usize::from((odd[at] ^ choice.odd) & 1)][usize::from(keys[at] & 127)];
                    half[at] |= moves.extract(places.half_lane(blocks, at), mask.low) << choice.first;
                }
                continue;
            }
            for at in 0..STRIP {
                let lane = places.lane_window(blocks, at);
                let mask = &self.masks[0][usize::from(keys[at] & 127)];
                let low = moves.extract(low_u64(lane), mask.low);
                let high = moves.extract(low_u64(lane >> 64), mask.high);
                half[at] |= (low | high << mask.low_bits) << choice.first;
            }
        }
        let out = buffer.strip_mut();
        if lanes.halved {
            write_halves(out, &halves[0]);
            return;
        }
        for at in 0..STRIP {
            let (low, high) = (halves[0][at], halves[1][at]);
            write_lane(out, at, low | high << HALF_LANE, high >> (64 - HALF_LANE));
        }
    }
}
