//! What a permutation does to whole strips: it is factored once into a part that moves lanes or
//! pieces of lanes, and swaps within lanes.
//!
//! Every permutation s with at most three crossing labels is `pi ∘ s'`, where pi permutes the
//! suffix positions only. The neighbour of a by s is `a∘pi∘s'`, and a and `a∘pi` are in one lane. So the
//! bits are those that s' pulls, permuted within each lane by pi, the same for all lanes. There are
//! 120 ways to choose pi; the cheapest is taken of those where s' is one of [`LaneMove`]. A
//! permutation of more crossings has no kernel, and is pulled state by state (`pull.rs`).

use super::LaneExpansion;
use super::crossing::Crossing;
use super::digit_swaps::{FAMILY, suffix_words};
use super::pieces::Pieces;
use super::places::write_halves;
use super::prefixes::{Bytes, PrefixStrip, PrefixTable, STRIP};
use super::runs::LaneRuns;
use super::slices::Slices;
use super::strip::{MARGIN, STRIP_BYTES, StripBuffer};
use super::units::HALF;
use crate::base::bit_moves::BitMoves;
use crate::base::ids::{approximate, low_u8, low_u64, to_u64};
use crate::expand::lane_plan::{Origin, SUFFIX};
use crate::puzzle::Permutation;

/// Costs of the parts in distances that bits of a strip move by (see `digit_swaps.rs`), for the
/// choice of a factor only.
const STRADDLE_COST: usize = 14;
const PIECES_COST: usize = 30;

/// A permutation, compiled for strips of lanes of one width.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    /// What comes first.
    lanes: LaneMove,
    /// The swaps that follow, by radix (see [`super::digit_swaps::SuffixWord`]).
    swaps: Vec<u8>,
}

/// How lanes, or pieces of them, move.
#[derive(Clone, Debug)]
enum LaneMove {
    /// Whole lanes, by a table.
    Runs(LaneRuns),
    /// Whole lanes, each ranked by itself.
    Ranked(Vec<Origin>),
    /// Whole families, by a table, for a first swap of the last prefix position with the first of
    /// the suffix.
    Families(LaneRuns),
    /// Five pieces.
    Pieces(Box<Pieces>),
    /// More and smaller ones.
    Slices(Slices),
}

/// Room for a strip at work.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    now: StripBuffer,
    after: StripBuffer,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self { now: StripBuffer::BLANK, after: StripBuffer::BLANK }
    }
}

impl Kernel {
    /// Compiles `permutation`; `None` for more than three crossings.
    pub(super) fn new(permutation: &Permutation, lanes_per_block: usize, halved: bool) -> Option<Self> {
        let images = permutation.images();
        let prefix_length = images.len() - SUFFIX;
        let mut best: Option<(usize, Self)> = None;
        for word in suffix_words() {
            // s' = the inverse of pi after s.
            let mut rest = images.to_vec();
            for image in &mut rest {
                if let Some(place) = usize::from(*image).checked_sub(prefix_length) {
                    let before = word.images.iter().position(|&image| usize::from(image) == place).expect("a bijection");
                    *image = low_u8(to_u64(prefix_length + before));
                }
            }
            let Some((cost, lanes)) = LaneMove::new(&rest, lanes_per_block, halved) else { continue };
            let cost = cost + word.shifts;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                let first = matches!(lanes, LaneMove::Families(_)).then(|| low_u8(to_u64(FAMILY)));
                best = Some((cost, Self { lanes, swaps: first.into_iter().chain(word.swaps).collect() }));
            }
        }
        best.map(|(_, kernel)| kernel)
    }

    /// Whether it does nothing at all.
    pub(super) fn is_identity(&self) -> bool {
        self.swaps.is_empty() && matches!(&self.lanes, LaneMove::Runs(runs) if runs.is_identity())
    }

    /// Estimated nanoseconds of a lane.
    pub(super) fn nanoseconds(&self) -> f64 {
        let lanes = match &self.lanes {
            LaneMove::Runs(runs) if runs.is_identity() => 1.0,
            LaneMove::Runs(_) | LaneMove::Families(_) => 3.0,
            LaneMove::Ranked(_) => 5.0,
            LaneMove::Pieces(_) => 8.0,
            LaneMove::Slices(slices) => 2.0 * approximate(to_u64(slices.count())),
        };
        // A swap moves bits by 2(radix - 1) distances.
        let swaps: f64 = self.swaps.iter().map(|&radix| 0.8 * f64::from(radix - 1)).sum();
        lanes + swaps
    }

    /// The bits that the lanes of `strip` pull, which begins with lane `first` of the table, in the
    /// buffer that is returned. The bits of lanes after the table's last are of no account.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn pull<'a, B: BitMoves>(
        &self,
        moves: B,
        lanes: &LaneExpansion,
        blocks: &[&[u8]],
        prefixes: &PrefixTable,
        strip: &PrefixStrip,
        odd_plane: bool,
        first: usize,
        scratch: &'a mut Scratch,
    ) -> &'a mut StripBuffer {
        let Scratch { now, after } = scratch;
        let (mut now, mut after) = (now, after);
        let first = prefixes.first_lane + first;
        let lane_of_family = first % FAMILY;
        // What the kernel does first is for lanes of the sign before all swaps.
        let sign = u8::from(odd_plane ^ (self.swaps.len() % 2 == 1));
        let odd = strip.odd.map(|odd| odd ^ sign);
        let runs = match &self.lanes {
            LaneMove::Runs(runs) => Some((runs, 0, STRIP)),
            // Blocks are whole families.
            LaneMove::Families(runs) => Some((runs, lane_of_family, (lane_of_family + STRIP).next_multiple_of(FAMILY))),
            LaneMove::Ranked(prefix) => {
                lanes.copy_ranked(blocks, strip, prefix, now);
                None
            }
            LaneMove::Pieces(pieces) => {
                pieces.pull(moves, lanes, blocks, strip, &odd, now);
                None
            }
            LaneMove::Slices(slices) => {
                slices.pull(moves, lanes, blocks, strip, &odd, now);
                None
            }
        };
        // One place each for what is inlined and unrolled: the code must stay in the cache.
        if let Some((runs, before, count)) = runs {
            runs.copy(lanes, blocks, prefixes.block, first - before, count, now, MARGIN - lanes.lane_bytes(before));
        }
        let odd = if lanes.halved && !self.swaps.is_empty() { odd_lanes(&odd) } else { [0; STRIP_BYTES] };
        let mut flip = 0_u64;
        for &radix in &self.swaps {
            // A swap changes the sign.
            flip = !flip;
            lanes.digit_swaps.apply(radix, lanes.lane_bytes(lane_of_family), (&odd, flip), now, after);
            (now, after) = (after, now);
        }
        now
    }
}

/// 1 bits in the lanes of a strip of a halved space that are odd.
#[inline(always)]
fn odd_lanes(odd: &Bytes) -> [u8; STRIP_BYTES] {
    let mut bytes = [0; STRIP_BYTES];
    write_halves(&mut bytes, &odd.map(|odd| if odd == 0 { 0 } else { low_u64(HALF) }));
    bytes
}

impl LaneMove {
    /// The move of a permutation, and its cost; `None` where there is none without swaps within
    /// lanes.
    fn new(images: &[u8], lanes_per_block: usize, halved: bool) -> Option<(usize, Self)> {
        let prefix_length = images.len() - SUFFIX;
        let stays = |position: usize| usize::from(images[position]) == position;
        let suffix_stays = (prefix_length + 1..images.len()).all(stays);
        if suffix_stays && stays(prefix_length) {
            let ranked = || Self::Ranked(images[..prefix_length].iter().map(|&image| Origin::Prefix(image)).collect());
            return Some((0, LaneRuns::new(images, prefix_length, lanes_per_block).map_or_else(ranked, Self::Runs)));
        }
        let is_swapped = usize::from(images[prefix_length]) + 1 == prefix_length && usize::from(images[prefix_length - 1]) == prefix_length;
        if suffix_stays
            && is_swapped
            && lanes_per_block.is_multiple_of(FAMILY)
            && let Some(runs) = LaneRuns::new(images, prefix_length - 1, lanes_per_block)
        {
            return Some((STRADDLE_COST, Self::Families(runs)));
        }
        let crossing = Crossing::new(images);
        if let Some(pieces) = Pieces::new(crossing.clone(), halved) {
            return Some((PIECES_COST, Self::Pieces(Box::new(pieces))));
        }
        Slices::new(crossing, halved).map(|slices| (PIECES_COST, Self::Slices(slices)))
    }
}
