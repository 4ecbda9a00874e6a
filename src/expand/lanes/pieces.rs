//! One label that crosses: five pieces of 24 bits for each lane, gathered or scattered.
//!
//! One position q of the source's prefix holds a suffix label c of the target, and one label M of
//! the target's prefix moves into the source's suffix. For each of the five c the source lane is
//! another one, but their places differ little: the source's prefix has the same labels but for
//! position q. So the place of all digits but q's, as if there were no label at q, is worked out
//! once. Then each c adds its own digit at q, and takes 1 off the digit of every later label that
//! is greater than c: `place(c) = base + weight(q) digit(c) - sum of weight(x) over x > q with
//! c < label(x)`. M's rank among the source's suffix labels, the key, is the number of the target's
//! suffix labels below M, less 1 if c is one of them.
//!
//! - *Gather*: c leads the target's suffix. Its piece is three whole bytes of the target; the
//!   source's bits are under a mask that only the key fixes.
//! - *Scatter*: M leads the source's suffix. The piece is three whole bytes of the source, at place
//!   `key`; the target's bits are under a mask that only c fixes.
//!
//! Without a crossing label the base is the place of a whole lane, for permutations of the prefix
//! whose table of runs would be too long.

use super::prefixes::{Bytes, Places, PrefixStrip, STRIP, subtract_smaller};
use super::strip::StripBuffer;
use super::{LaneExpansion, UNIT_BYTES};
use crate::base::ids::{index_u32, low_u32, low_u64, to_u64};
use crate::expand::bit_moves::BitMoves;
use crate::expand::lane_plan::{LanePlan, MOST_PREFIX, Origin, SUFFIX};

/// Bits and bytes of a piece.
const PIECE_BITS: u32 = 24;
const PIECE_BYTES: usize = 3;

/// Bits of a lane, as two words, and how many are in the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PieceMask {
    low: u64,
    high: u64,
    low_bits: u32,
}

impl PieceMask {
    fn new(mask: u128) -> Self {
        let low = low_u64(mask);
        Self { low, high: low_u64(mask >> 64), low_bits: low.count_ones() }
    }
}

/// How pieces move within lanes.
#[derive(Clone, Debug)]
pub(super) enum PieceWay {
    /// The sources' bits, by key (of which there are five: eight spare a check).
    Gather([PieceMask; 8]),
    /// The targets' bits, by crossing label.
    Scatter([PieceMask; SUFFIX]),
}

/// A permutation with one crossing label that keeps the order of all others.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    /// Origins of the labels of the source's prefix.
    prefix: Vec<Origin>,
    /// Position of the source's prefix that holds the crossing label.
    crossing: usize,
    /// Position of the target's prefix whose label moves out.
    moved_out: usize,
    /// How bits move.
    pub(super) way: PieceWay,
}

impl Pieces {
    /// `None` where `plan` does not have one crossing label with whole bytes on one side.
    pub(super) fn new(plan: &LanePlan) -> Option<Self> {
        if plan.crossings != 1 || !plan.inner.is_empty() {
            return None;
        }
        let crossing = plan.prefix.iter().position(|origin| matches!(origin, Origin::Crossing(_)))?;
        let moved_out = usize::from(*plan.moved_out.first()?);
        let bytes_at = |mask: u128, place: usize| mask == 0xff_ffff << (PIECE_BITS * low_u32(to_u64(place)));
        let moves = |label: usize, key: usize| plan.moves[label * SUFFIX + key];
        let all = |holds: &dyn Fn(usize, usize) -> bool| (0..SUFFIX * SUFFIX).all(|at| holds(at / SUFFIX, at % SUFFIX));
        let way = if all(&|label, key| bytes_at(moves(label, key).target, label) && moves(label, key).source == moves(0, key).source) {
            let mut masks = [PieceMask::default(); 8];
            (0..SUFFIX).for_each(|key| masks[key] = PieceMask::new(moves(0, key).source));
            PieceWay::Gather(masks)
        } else if all(&|label, key| bytes_at(moves(label, key).source, key) && moves(label, key).target == moves(label, 0).target) {
            PieceWay::Scatter(std::array::from_fn(|label| PieceMask::new(moves(label, 0).target)))
        } else {
            return None;
        };
        Some(Self { prefix: plan.prefix.clone(), crossing, moved_out, way })
    }

    /// The sources of a strip's lanes, piece by piece.
    #[inline(always)]
    pub(super) fn pull<B: BitMoves>(
        &self,
        moves: B,
        lanes: &LaneExpansion,
        blocks: &[&[u8]],
        strip: &PrefixStrip,
        buffer: &mut StripBuffer,
    ) {
        let base = lanes.places_but(strip, &self.prefix, self.crossing);
        let moved_out = &strip.labels[self.moved_out];
        let mut smaller = [0_u8; STRIP];
        for rest in &strip.rest {
            for at in 0..STRIP {
                smaller[at] += u8::from(rest[at] < moved_out[at]);
            }
        }
        let mut places = [base; SUFFIX];
        let mut keys = [smaller; SUFFIX];
        for label in 0..SUFFIX {
            subtract_smaller(&mut keys[label], &strip.rest[label], moved_out);
            self.add_crossing(lanes, strip, &strip.rest[label], &mut places[label]);
        }
        let out = buffer.strip_mut();
        match &self.way {
            PieceWay::Gather(masks) => {
                for at in 0..STRIP {
                    let mut pieces = [0; SUFFIX];
                    for label in 0..SUFFIX {
                        let lane = lane_window(blocks, &places[label], at);
                        let mask = &masks[usize::from(keys[label][at] & 7)];
                        let low = moves.extract(low_u64(lane), mask.low);
                        let high = moves.extract(low_u64(lane >> 64), mask.high);
                        pieces[label] = low | high << mask.low_bits;
                    }
                    let low = pieces[0] | pieces[1] << 24 | pieces[2] << 48;
                    let high = pieces[2] >> 16 | pieces[3] << 8 | pieces[4] << 32;
                    write_lane(out, at, low, high);
                }
            }
            PieceWay::Scatter(masks) => {
                for at in 0..STRIP {
                    let (mut low, mut high) = (0, 0);
                    for label in 0..SUFFIX {
                        let piece = piece_window(blocks, &places[label], at, usize::from(keys[label][at]));
                        low |= moves.deposit(piece, masks[label].low);
                        high |= moves.deposit(piece >> masks[label].low_bits, masks[label].high);
                    }
                    write_lane(out, at, low, high);
                }
            }
        }
    }

    /// What crossing labels `labels` add to the places of a strip.
    #[inline(always)]
    fn add_crossing(&self, lanes: &LaneExpansion, strip: &PrefixStrip, labels: &Bytes, places: &mut Places) {
        let mut digits = *labels;
        for origin in &self.prefix[..self.crossing] {
            let Origin::Prefix(from) = *origin else { continue };
            subtract_smaller(&mut digits, &strip.labels[usize::from(from)], labels);
        }
        let weight = lanes.weights[self.crossing];
        let sums = if self.crossing < lanes.leading { &mut places.block } else { &mut places.lane };
        for at in 0..STRIP {
            sums[at] = sums[at].wrapping_add(u32::from(digits[at]) * weight);
        }
        for (position, origin) in self.prefix.iter().enumerate().skip(self.crossing + 1) {
            let Origin::Prefix(from) = *origin else { continue };
            let later = &strip.labels[usize::from(from)];
            let weight = lanes.weights[position];
            let sums = if position < lanes.leading { &mut places.block } else { &mut places.lane };
            for at in 0..STRIP {
                sums[at] = sums[at].wrapping_sub(if labels[at] < later[at] { weight } else { 0 });
            }
        }
    }
}

impl LaneExpansion {
    /// The places of lanes whose prefixes have labels of these origins, as if position `left_out`
    /// had neither label nor digit.
    #[inline(always)]
    pub(super) fn places_but(&self, strip: &PrefixStrip, prefix: &[Origin], left_out: usize) -> Places {
        let mut places = Places { block: [0; STRIP], lane: [0; STRIP] };
        let mut before = [&strip.labels[0]; MOST_PREFIX];
        let mut count = 0;
        for (position, origin) in prefix.iter().enumerate() {
            let Origin::Prefix(from) = *origin else { continue };
            if position == left_out {
                continue;
            }
            let labels = &strip.labels[usize::from(from)];
            let mut digits = *labels;
            for before in &before[..count] {
                subtract_smaller(&mut digits, before, labels);
            }
            before[count] = labels;
            count += 1;
            let weight = self.weights[position];
            let sums = if position < self.leading { &mut places.block } else { &mut places.lane };
            for at in 0..STRIP {
                sums[at] = sums[at].wrapping_add(u32::from(digits[at]) * weight);
            }
        }
        places
    }

    /// Copies the lanes whose prefixes have labels of these origins, all of them the target's
    /// prefix.
    #[inline(always)]
    pub(super) fn copy_ranked(&self, blocks: &[&[u8]], strip: &PrefixStrip, prefix: &[Origin], buffer: &mut StripBuffer) {
        let places = self.places_but(strip, prefix, prefix.len());
        let out = buffer.strip_mut();
        for at in 0..STRIP {
            let lane = lane_window(blocks, &places, at);
            write_lane(out, at, low_u64(lane), low_u64(lane >> 64));
        }
    }
}

/// The 15 bytes of a lane and one more; 0 when its block is not at hand.
#[inline(always)]
fn lane_window(blocks: &[&[u8]], places: &Places, at: usize) -> u128 {
    let first = index_u32(places.lane[at]) * UNIT_BYTES;
    let bytes: &[u8] = blocks.get(index_u32(places.block[at])).copied().unwrap_or_default();
    let Some(window) = bytes.get(first..first + 16).and_then(|window| window.first_chunk()) else { return 0 };
    u128::from_le_bytes(*window)
}

/// Piece `key` of a lane and eight bits more; 0 when its block is not at hand.
#[inline(always)]
fn piece_window(blocks: &[&[u8]], places: &Places, at: usize, key: usize) -> u64 {
    let first = index_u32(places.lane[at]) * UNIT_BYTES + key * PIECE_BYTES;
    let bytes: &[u8] = blocks.get(index_u32(places.block[at])).copied().unwrap_or_default();
    let Some(window) = bytes.get(first..first + 4).and_then(|window| window.first_chunk()) else { return 0 };
    u32::from_le_bytes(*window).into()
}

/// Overwrites lane `at` of a strip; `high` has its last seven bytes.
#[inline(always)]
fn write_lane(strip: &mut [u8], at: usize, low: u64, high: u64) {
    let lane = &mut strip[at * UNIT_BYTES..(at + 1) * UNIT_BYTES];
    lane[..8].copy_from_slice(&low.to_le_bytes());
    lane[8..].copy_from_slice(&high.to_le_bytes()[..7]);
}
