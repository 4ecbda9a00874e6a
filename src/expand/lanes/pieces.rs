//! One label that crosses: five pieces of 24 bits for each lane, gathered or scattered.
//!
//! One suffix label c of the target moves into the source's prefix, and one label M of the target's
//! prefix moves into the source's suffix; the others keep their order. For each of the five c the
//! source lane is another one (`places.rs`). M's rank among the source's suffix labels is the
//! *key*.
//!
//! - *Gather*: c leads the target's suffix. Its piece is three whole bytes of the target; the
//!   source's bits are those where M stands with this key.
//! - *Scatter*: M leads the source's suffix. The piece is three whole bytes of the source, at place
//!   `key`; the target's bits are those where c stands.
//!
//! Each way a piece is extracted or deposited, and never both.

use super::LaneExpansion;
use super::crossing::{Crossing, LaneMask, is_odd, masks_by_value};
use super::places::{SplitPlaces, write_halves, write_lane};
use super::prefixes::{Bytes, PrefixStrip, STRIP};
use super::strip::StripBuffer;
use crate::base::bit_moves::BitMoves;
use crate::base::ids::low_u64;
use crate::expand::lane_plan::SUFFIX;

/// How pieces move within lanes.
#[derive(Clone, Debug)]
enum Way {
    /// The sources' bits, by key (of which there are five: eight spare a check).
    Gather([LaneMask; 8]),
    /// The targets' bits, by crossing label.
    Scatter([LaneMask; SUFFIX]),
    /// The same in a halved space, by sign of the other labels, too.
    GatherHalves([[LaneMask; 8]; 2]),
    ScatterHalves([[LaneMask; SUFFIX]; 2]),
}

/// A permutation with one crossing label that keeps the order of all others.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    crossing: Crossing,
    way: Way,
    /// 1 for crossing labels that make an order odd whose other labels ascend.
    odd_labels: [u8; SUFFIX],
}

/// Bits of a piece in a halved space.
const HALF_PIECE_BITS: usize = 12;

impl Pieces {
    /// `None` where there is not one crossing label, or a piece is in whole bytes on neither side.
    pub(super) fn new(crossing: Crossing, halved: bool) -> Option<Self> {
        if crossing.positions.len() != 1 || !crossing.keeps_order {
            return None;
        }
        let signs = [Some(false), Some(true)];
        let way = match (crossing.leads_target(), crossing.to == [0]) {
            (true, _) if halved => Way::GatherHalves(signs.map(|odd| masks_by_value(&crossing.to, odd))),
            (true, _) => Way::Gather(masks_by_value(&crossing.to, None)),
            (false, true) if halved => Way::ScatterHalves(signs.map(|odd| masks_by_value(&crossing.from, odd))),
            (false, true) => Way::Scatter(masks_by_value(&crossing.from, None)),
            (false, false) => return None,
        };
        let odd_labels = [0, 1, 2, 3, 4].map(|label| u8::from(is_odd(&crossing.from, &[label])));
        Some(Self { crossing, way, odd_labels })
    }

    /// The sources of a strip's lanes, piece by piece. In a halved space `odd` has 1 for lanes
    /// whose suffixes are odd.
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
        let mut places = [SplitPlaces::without_crossing(lanes, strip, prefix); SUFFIX];
        let mut keys = [self.crossing.keys(strip); SUFFIX];
        for label in 0..SUFFIX {
            places[label].add_crossing(lanes, strip, prefix, positions[0], &strip.rest[label]);
            let less = self.crossing.key_less(strip, &strip.rest[label]);
            for (key, less) in keys[label].iter_mut().zip(less) {
                *key = key.wrapping_sub(less);
            }
        }
        let out = buffer.strip_mut();
        match &self.way {
            Way::Gather(masks) => {
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
            Way::Scatter(masks) => {
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
            Way::GatherHalves(masks) => {
                let mut halves = [0; STRIP];
                for at in 0..STRIP {
                    for label in 0..SUFFIX {
                        let others_odd = usize::from(odd[at] ^ self.odd_labels[label]) & 1;
                        let mask = masks[others_odd][usize::from(keys[label][at] & 7)];
                        halves[at] |= moves.extract(places[label].half_lane(blocks, at), mask.low) << (HALF_PIECE_BITS * label);
                    }
                }
                write_halves(out, &halves);
            }
            Way::ScatterHalves(masks) => {
                let mut halves = [0; STRIP];
                for at in 0..STRIP {
                    for label in 0..SUFFIX {
                        let others_odd = usize::from(odd[at] ^ self.odd_labels[label]) & 1;
                        let piece = places[label].half_lane(blocks, at) >> (HALF_PIECE_BITS * usize::from(keys[label][at] & 7));
                        halves[at] |= moves.deposit(piece, masks[others_odd][label].low);
                    }
                }
                write_halves(out, &halves);
            }
        }
    }
}
