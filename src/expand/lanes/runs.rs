//! Permutations of the prefix as a table: which run of lanes each run of lanes comes from.
//!
//! A permutation that moves prefix positions i to j-1 among themselves changes the digits of these
//! positions only, and how it changes them depends on these digits alone: a label's digit is its
//! rank among the labels from its position on, and the labels from i on are the same set before and
//! after. So lanes that share the digits before j move as a run, and of the digits before i only
//! the sum counts. The table has an entry for each value of the digits i to j-1, (m-i)!/(m-j)!
//! of them for m positions, and no lane is ranked.

use super::digit_swaps::FAMILY;
use super::strip::{MARGIN, StripBuffer};
use super::units::read_half;
use super::{LaneExpansion, UNIT_BYTES};
use crate::base::ids::{index_u32, low_u32, low_u64, to_usize};
use crate::expand::lane_plan::SUFFIX;
use crate::ranking::lehmer::{self, FACTORIALS};

/// Most entries of a table: half a megabyte, read in order.
const MOST_RUNS: u64 = 1 << 17;

/// Where runs of lanes come from.
#[derive(Clone, Debug)]
pub(super) struct LaneRuns {
    /// Lanes of a run.
    run: usize,
    /// For each run of a window of neighbouring ones the number of its source in the window.
    sources: Vec<u32>,
    is_identity: bool,
    /// Whether windows are parts of blocks: a lane's source is in the same block.
    is_within: bool,
}

impl LaneRuns {
    /// The table of a permutation that keeps the positions before `end` among themselves, by its
    /// `images`. `None` where the table would be too long.
    pub(super) fn new(images: &[u8], end: usize, lanes_per_block: usize) -> Option<Self> {
        let moves = |position: &usize| usize::from(images[*position]) != *position;
        let (Some(first), Some(last)) = ((0..end).find(moves), (0..end).rfind(moves)) else {
            let is_within = lanes_per_block.is_multiple_of(FAMILY);
            return Some(Self { run: FAMILY, sources: vec![0], is_identity: true, is_within });
        };
        let length = images.len() - first;
        let run_states = FACTORIALS[images.len() - last - 1];
        let runs = FACTORIALS[length] / run_states;
        if runs > MOST_RUNS {
            return None;
        }
        let source = |run: u64| {
            let (labels, _) = lehmer::unrank(length, run * run_states);
            let mut moved = labels;
            for position in first..=last {
                moved[position - first] = labels[usize::from(images[position]) - first];
            }
            low_u32(lehmer::rank(&moved[..length]) / run_states)
        };
        let run = to_usize(run_states / FACTORIALS[SUFFIX]);
        let is_within = lanes_per_block.is_multiple_of(run * to_usize(runs));
        Some(Self { run, sources: (0..runs).map(source).collect(), is_identity: false, is_within })
    }

    /// Whether nothing moves.
    pub(super) fn is_identity(&self) -> bool {
        self.is_identity
    }

    /// Copies the sources of `count` lanes of a plane, from lane `first` of `block` on, to byte
    /// `to` of `buffer`. What is not at hand, or beyond the plane, counts as zero.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(super) fn copy(
        &self,
        lanes: &LaneExpansion,
        blocks: &[&[u8]],
        block: usize,
        first: usize,
        count: usize,
        buffer: &mut StripBuffer,
        to: usize,
    ) {
        let window = self.run * self.sources.len();
        let first = if self.is_within { first } else { block * lanes.lanes_per_block + first };
        let number = first / self.run;
        let mut index = number % self.sources.len();
        let mut window_first = (number - index) * self.run;
        let mut offset = first % self.run;
        let mut done = 0;
        while done < count {
            let mut lane = window_first + index_u32(self.sources[index]) * self.run + offset;
            let mut from = block;
            if !self.is_within {
                (from, lane) = (lane / lanes.lanes_per_block, lane % lanes.lanes_per_block);
            }
            // Beyond the block's end there is nothing that counts.
            let left = lanes.lanes_per_block.checked_sub(lane).filter(|&left| left > 0).unwrap_or(count);
            let length = (self.run - offset).min(count - done).min(left);
            let bytes: &[u8] = blocks.get(from).copied().unwrap_or_default();
            // Runs of a halved space are single lanes, or whole units of two.
            match (lanes.halved, self.run) {
                (false, _) => copy_units(bytes, lane, length, buffer, to + done * UNIT_BYTES),
                (true, 1) => copy_half(low_u64(read_half(bytes, lane)), buffer, to + done / 2 * UNIT_BYTES, done % 2 == 1),
                (true, _) => copy_units(bytes, lane / 2, length / 2, buffer, to + done / 2 * UNIT_BYTES),
            }
            done += length;
            offset += length;
            if offset == self.run {
                (index, offset) = (index + 1, 0);
                if index == self.sources.len() {
                    index = 0;
                    window_first += window;
                }
            }
        }
    }
}

/// Copies `count` units from unit `first` of `bytes` on to byte `to` of the buffer, in its order:
/// a byte after the last one may be overwritten, too.
#[inline(always)]
pub(super) fn copy_units(bytes: &[u8], first: usize, count: usize, buffer: &mut StripBuffer, to: usize) {
    let target = &mut buffer.0[to..to + count * UNIT_BYTES + 1];
    let Some(source) = bytes.get(first * UNIT_BYTES..(first + count) * UNIT_BYTES + 1) else {
        return copy_what_is_there(bytes, first, count, target);
    };
    for lane in 0..count {
        // Sixteen bytes are one register, fifteen are not. The last byte is the next lane's.
        let at = lane * UNIT_BYTES;
        target[at..at + 16].copy_from_slice(&source[at..at + 16]);
    }
}

/// Overwrites the first or second lane of the unit at byte `to`, in this order.
#[inline(always)]
fn copy_half(lane: u64, buffer: &mut StripBuffer, to: usize, is_second: bool) {
    if is_second {
        let shared = u64::from(buffer.0[to + 7] & 0xf);
        buffer.0[to + 7..to + 15].copy_from_slice(&(lane << 4 | shared).to_le_bytes());
    } else {
        buffer.0[to..to + 8].copy_from_slice(&lane.to_le_bytes());
    }
}

/// [`copy_units`] where the source ends before the last lane.
#[cold]
fn copy_what_is_there(bytes: &[u8], first: usize, count: usize, target: &mut [u8]) {
    target[..count * UNIT_BYTES].fill(0);
    let there = bytes.get(first * UNIT_BYTES..).unwrap_or_default();
    let length = there.len().min(count * UNIT_BYTES);
    target[..length].copy_from_slice(&there[..length]);
}

const _: () = assert!(MARGIN > FAMILY * UNIT_BYTES);
