//! Where the source lanes of a strip are, worked out for all ways to choose the crossing labels at
//! once.
//!
//! Some positions q of the source's prefix hold suffix labels c of the target, which differ from
//! slice to slice; all others hold labels of the target's prefix. So the place of all digits but
//! those at the positions q, as if no labels were there, is worked out once. A label c at q adds
//! its own digit there, and takes 1 off the digit of every later label that is greater than c:
//! `weight(q) digit(c) - sum of weight(x) over x > q with c < label(x)`. Of two crossing labels the
//! first one takes 1 off the other's digit where it is smaller. The suffix labels of a lane ascend,
//! so whether it is smaller is known from the choice, the same for all lanes.

use super::prefixes::{Bytes, PrefixStrip, STRIP, low_u16, subtract_smaller};
use super::strip::StripBuffer;
use super::units::{HALF_BITS, read_half, write_unit};
use super::{LaneExpansion, UNIT_BYTES};
use crate::base::ids::{index_u32, low_u64};
use crate::expand::lane_plan::{MOST_PREFIX, Origin, SUFFIX};
use crate::ranking::lehmer::FACTORIALS;

/// Bytes of a piece of 24 bits.
pub(super) const PIECE_BYTES: usize = 3;

/// Places of a strip's source lanes, in parts that are cheap to change.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitPlaces {
    /// Number of the block in its plane: what the leading positions make.
    block: [u32; STRIP],
    /// Number of the lane in its block: what the positions before the last five make.
    high: [u32; STRIP],
    /// What the last five make, less than 10!/5!: half as wide, twice as many in a register.
    low: [u16; STRIP],
}

/// Positions of the prefix whose digits make less than 2^16.
const LOW_POSITIONS: usize = 5;

const _: () = assert!(FACTORIALS[SUFFIX + LOW_POSITIONS] / FACTORIALS[SUFFIX] < 1 << 16);

impl SplitPlaces {
    pub(super) const ZERO: Self = Self { block: [0; STRIP], high: [0; STRIP], low: [0; STRIP] };

    /// The places of lanes whose prefixes have labels of these origins, but for crossing labels.
    #[inline(always)]
    pub(super) fn without_crossing(lanes: &LaneExpansion, strip: &PrefixStrip, prefix: &[Origin]) -> Self {
        let mut places = Self::ZERO;
        let mut before = [&strip.labels[0]; MOST_PREFIX];
        let mut count = 0;
        for (position, origin) in prefix.iter().enumerate() {
            let Origin::Prefix(from) = *origin else { continue };
            let labels = &strip.labels[usize::from(from)];
            let mut digits = *labels;
            for before in &before[..count] {
                subtract_smaller(&mut digits, before, labels);
            }
            before[count] = labels;
            count += 1;
            places.add_digits(lanes, position, &digits);
        }
        places
    }

    /// Adds what crossing labels `labels` at position `crossing` make.
    #[inline(always)]
    pub(super) fn add_crossing(&mut self, lanes: &LaneExpansion, strip: &PrefixStrip, prefix: &[Origin], crossing: usize, labels: &Bytes) {
        let mut digits = *labels;
        for origin in &prefix[..crossing] {
            let Origin::Prefix(from) = *origin else { continue };
            subtract_smaller(&mut digits, &strip.labels[usize::from(from)], labels);
        }
        self.add_digits(lanes, crossing, &digits);
        for (position, origin) in prefix.iter().enumerate().skip(crossing + 1) {
            let Origin::Prefix(from) = *origin else { continue };
            self.subtract_where_smaller(lanes, position, labels, &strip.labels[usize::from(from)]);
        }
    }

    /// Adds another part of the places.
    #[inline(always)]
    pub(super) fn add(&mut self, part: &Self) {
        for at in 0..STRIP {
            self.block[at] = self.block[at].wrapping_add(part.block[at]);
            self.high[at] = self.high[at].wrapping_add(part.high[at]);
            self.low[at] = self.low[at].wrapping_add(part.low[at]);
        }
    }

    /// Takes 1 off the digit of a position in all lanes.
    #[inline(always)]
    pub(super) fn subtract_one(&mut self, lanes: &LaneExpansion, position: usize) {
        self.subtract_where_smaller(lanes, position, &[0; STRIP], &[1; STRIP]);
    }

    /// Adds the digits of a position.
    #[inline(always)]
    fn add_digits(&mut self, lanes: &LaneExpansion, position: usize, digits: &Bytes) {
        let weight = lanes.weights[position];
        if position < lanes.leading {
            for (sum, &digit) in self.block.iter_mut().zip(digits) {
                *sum = sum.wrapping_add(u32::from(digit).wrapping_mul(weight));
            }
        } else if position + LOW_POSITIONS < lanes.prefix_length {
            for (sum, &digit) in self.high.iter_mut().zip(digits) {
                *sum = sum.wrapping_add(u32::from(digit).wrapping_mul(weight));
            }
        } else {
            let weight = low_u16(index_u32(weight));
            for (sum, &digit) in self.low.iter_mut().zip(digits) {
                *sum = sum.wrapping_add(u16::from(digit).wrapping_mul(weight));
            }
        }
    }

    /// Takes 1 off the digits of a position where a label of `labels` is smaller than one of
    /// `later`.
    #[inline(always)]
    fn subtract_where_smaller(&mut self, lanes: &LaneExpansion, position: usize, labels: &Bytes, later: &Bytes) {
        let weight = lanes.weights[position];
        if position < lanes.leading {
            for at in 0..STRIP {
                self.block[at] = self.block[at].wrapping_sub(if labels[at] < later[at] { weight } else { 0 });
            }
        } else if position + LOW_POSITIONS < lanes.prefix_length {
            for at in 0..STRIP {
                self.high[at] = self.high[at].wrapping_sub(if labels[at] < later[at] { weight } else { 0 });
            }
        } else {
            let weight = low_u16(index_u32(weight));
            for at in 0..STRIP {
                self.low[at] = self.low[at].wrapping_sub(if labels[at] < later[at] { weight } else { 0 });
            }
        }
    }

    /// What is at hand of the block of lane `at`, from byte `more` of the source lane on.
    #[inline(always)]
    fn bytes<'a>(&self, blocks: &[&'a [u8]], at: usize, more: usize) -> &'a [u8] {
        let first = (index_u32(self.high[at]) + usize::from(self.low[at])) * UNIT_BYTES + more;
        blocks.get(index_u32(self.block[at])).and_then(|block| block.get(first..)).unwrap_or_default()
    }

    /// The 15 bytes of the source of lane `at` and one more; 0 when its block is not at hand.
    #[inline(always)]
    pub(super) fn lane_window(&self, blocks: &[&[u8]], at: usize) -> u128 {
        self.bytes(blocks, at, 0).first_chunk().map_or(0, |window| u128::from_le_bytes(*window))
    }

    /// The 60 bits of the source of lane `at` in a halved space; 0 when its block is not at hand.
    #[inline(always)]
    pub(super) fn half_lane(&self, blocks: &[&[u8]], at: usize) -> u64 {
        let lane = index_u32(self.high[at]) + usize::from(self.low[at]);
        let block: &[u8] = blocks.get(index_u32(self.block[at])).copied().unwrap_or_default();
        low_u64(read_half(block, lane))
    }

    /// Piece `key` of the source of lane `at` and eight bits more; 0 when its block is not at hand.
    #[inline(always)]
    pub(super) fn piece_window(&self, blocks: &[&[u8]], at: usize, key: usize) -> u64 {
        self.bytes(blocks, at, key * PIECE_BYTES).first_chunk().map_or(0, |window| u32::from_le_bytes(*window).into())
    }
}

impl LaneExpansion {
    /// Copies the lanes whose prefixes have labels of these origins, all of them the target's
    /// prefix.
    #[inline(always)]
    pub(super) fn copy_ranked(&self, blocks: &[&[u8]], strip: &PrefixStrip, prefix: &[Origin], buffer: &mut StripBuffer) {
        let places = SplitPlaces::without_crossing(self, strip, prefix);
        let out = buffer.strip_mut();
        if self.halved {
            write_halves(out, &std::array::from_fn(|at| places.half_lane(blocks, at)));
            return;
        }
        for at in 0..STRIP {
            let lane = places.lane_window(blocks, at);
            write_lane(out, at, low_u64(lane), low_u64(lane >> 64));
        }
    }
}

/// Overwrites lane `at` of a strip; `high` has its last seven bytes.
#[inline(always)]
pub(super) fn write_lane(strip: &mut [u8], at: usize, low: u64, high: u64) {
    let lane = &mut strip[at * UNIT_BYTES..(at + 1) * UNIT_BYTES];
    lane[..8].copy_from_slice(&low.to_le_bytes());
    lane[8..].copy_from_slice(&high.to_le_bytes()[..7]);
}

/// Overwrites a strip of lanes of a halved space.
#[inline(always)]
pub(super) fn write_halves(strip: &mut [u8], lanes: &[u64; STRIP]) {
    for (unit, lanes) in lanes.as_chunks::<2>().0.iter().enumerate() {
        write_unit(strip, unit, u128::from(lanes[0]) | u128::from(lanes[1]) << HALF_BITS);
    }
}
