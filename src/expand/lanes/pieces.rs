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

use super::prefixes::{Bytes, PrefixStrip, STRIP, low_u16, subtract_smaller};
use super::strip::StripBuffer;
use super::{LaneExpansion, UNIT_BYTES};
use crate::base::ids::{index_u32, low_u32, low_u64, to_u64};
use crate::expand::bit_moves::BitMoves;
use crate::expand::lane_plan::{LanePlan, MOST_PREFIX, Origin, SUFFIX};
use crate::ranking::lehmer::FACTORIALS;

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
                        let lane = places[label].lane_window(blocks, at);
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
                        let piece = places[label].piece_window(blocks, at, usize::from(keys[label][at]));
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
    fn add_crossing(&self, lanes: &LaneExpansion, strip: &PrefixStrip, labels: &Bytes, places: &mut SplitPlaces) {
        let mut digits = *labels;
        for origin in &self.prefix[..self.crossing] {
            let Origin::Prefix(from) = *origin else { continue };
            subtract_smaller(&mut digits, &strip.labels[usize::from(from)], labels);
        }
        places.add(lanes, self.crossing, &digits);
        for (position, origin) in self.prefix.iter().enumerate().skip(self.crossing + 1) {
            let Origin::Prefix(from) = *origin else { continue };
            places.subtract_where_smaller(lanes, position, labels, &strip.labels[usize::from(from)]);
        }
    }
}

/// Places of a strip's source lanes, in parts that are cheap to change.
#[derive(Clone, Copy, Debug)]
struct SplitPlaces {
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
    /// Adds the digits of a position.
    #[inline(always)]
    fn add(&mut self, lanes: &LaneExpansion, position: usize, digits: &Bytes) {
        let weight = lanes.weights[position];
        if position < lanes.leading {
            for at in 0..STRIP {
                self.block[at] = self.block[at].wrapping_add(u32::from(digits[at]) * weight);
            }
        } else if position + LOW_POSITIONS < lanes.prefix_length {
            for at in 0..STRIP {
                self.high[at] = self.high[at].wrapping_add(u32::from(digits[at]) * weight);
            }
        } else {
            let weight = low_u16(index_u32(weight));
            for at in 0..STRIP {
                self.low[at] = self.low[at].wrapping_add(u16::from(digits[at]).wrapping_mul(weight));
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
    fn lane_window(&self, blocks: &[&[u8]], at: usize) -> u128 {
        self.bytes(blocks, at, 0).first_chunk().map_or(0, |window| u128::from_le_bytes(*window))
    }

    /// Piece `key` of the source of lane `at` and eight bits more; 0 when its block is not at hand.
    #[inline(always)]
    fn piece_window(&self, blocks: &[&[u8]], at: usize, key: usize) -> u64 {
        self.bytes(blocks, at, key * PIECE_BYTES).first_chunk().map_or(0, |window| u32::from_le_bytes(*window).into())
    }
}

impl LaneExpansion {
    /// The places of lanes whose prefixes have labels of these origins, as if position `left_out`
    /// had neither label nor digit.
    #[inline(always)]
    fn places_but(&self, strip: &PrefixStrip, prefix: &[Origin], left_out: usize) -> SplitPlaces {
        let mut places = SplitPlaces { block: [0; STRIP], high: [0; STRIP], low: [0; STRIP] };
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
            places.add(self, position, &digits);
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
            let lane = places.lane_window(blocks, at);
            write_lane(out, at, low_u64(lane), low_u64(lane >> 64));
        }
    }
}

/// Overwrites lane `at` of a strip; `high` has its last seven bytes.
#[inline(always)]
fn write_lane(strip: &mut [u8], at: usize, low: u64, high: u64) {
    let lane = &mut strip[at * UNIT_BYTES..(at + 1) * UNIT_BYTES];
    lane[..8].copy_from_slice(&low.to_le_bytes());
    lane[8..].copy_from_slice(&high.to_le_bytes()[..7]);
}
