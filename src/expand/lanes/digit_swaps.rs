//! Swaps of neighbouring positions as shifts of a whole strip.
//!
//! Let d and e be the Lehmer digits of two neighbouring positions. After a swap of the two they are
//! `(e + 1, d)` if `d <= e`, and `(e, d - 1)` otherwise; all other digits stay. So the bit of a
//! state moves by a distance that only d and e fix. With d below r and e below r - 1 these are
//! 2(r - 1) distances, each with a mask of the bits that move so far. A swap is an OR of as many
//! shifted and masked copies of the strip, whatever the labels are.
//!
//! - r = 5, 4, 3, 2: the swaps of the suffix.
//! - r = 6: the swap of the last prefix position and the first of the suffix. It moves pieces of 24
//!   bits, three bytes, within a *family*: the six lanes that share all but the last label of their
//!   prefixes.
//!
//! Cost: about 3 instructions a lane and distance with registers of 32 bytes.

use super::UNIT_BYTES;
use super::strip::{MARGIN, STRIP_BYTES, StripBuffer};
use crate::base::ids::{low_u32, to_u64, to_usize};
use crate::expand::lane_plan::SUFFIX;
use crate::ranking::lehmer::{self, FACTORIALS};
use std::collections::BTreeMap;

/// The number of values that the last prefix position's digit has.
pub(super) const FAMILY: usize = SUFFIX + 1;

/// Bytes that are worked on together, so that their sums stay in registers.
const CHUNK: usize = 96;

const _: () = assert!(STRIP_BYTES.is_multiple_of(CHUNK) && CHUNK.is_multiple_of(8));

/// The swap of two neighbouring positions.
#[derive(Clone, Debug)]
struct DigitSwap {
    shifts: Vec<Shift>,
    /// Whether the masks depend on the sign of a lane's suffixes.
    is_signed: bool,
    /// Chunks of a strip: lanes of a halved space fill half of its bytes.
    chunks: usize,
}

/// Bits that move by one distance.
#[derive(Clone, Debug)]
struct Shift {
    /// Where the source of a strip's first bits is: byte of the buffer, and bit.
    byte: usize,
    bit: u32,
    /// The target's bits, for a strip that begins with the first lane of a family and the lanes
    /// after it: where its suffixes are even, and odd. They differ in halved spaces only.
    masks: [Vec<u8>; 2],
}

/// 1 bits in lanes whose suffixes are odd, and all bits to flip them.
pub(super) type OddLanes<'a> = (&'a [u8; STRIP_BYTES], u64);

impl DigitSwap {
    /// The swap of two positions whose first one's digit is below `radix`.
    fn new(radix: usize, halved: bool) -> Self {
        // Strips may begin with any lane of a family.
        let mask_bytes = STRIP_BYTES + (FAMILY - 1) * UNIT_BYTES;
        let margin = to_u64(MARGIN * 8);
        let per_bit = if halved { 2 } else { 1 };
        let mut masks: BTreeMap<u64, [Vec<u8>; 2]> = BTreeMap::new();
        for (number, odd) in [false, true].into_iter().enumerate() {
            let source = |bit: u64| {
                let (lane_odd, rank) = (lehmer::unrank(SUFFIX, bit * per_bit % FACTORIALS[SUFFIX]).1, bit * per_bit);
                let (mut labels, _) = lehmer::unrank(FAMILY, rank + u64::from(halved && lane_odd != odd));
                labels.swap(FAMILY - radix, FAMILY - radix + 1);
                lehmer::rank(&labels[..FAMILY]) / per_bit
            };
            let sources: Vec<u64> = (0..FACTORIALS[FAMILY] / per_bit).map(source).collect();
            for (target, (within, source)) in (0..to_u64(mask_bytes * 8)).zip((0..).zip(&sources).cycle()) {
                let masks = masks.entry(margin + source - within).or_insert_with(|| [vec![0; mask_bytes], vec![0; mask_bytes]]);
                masks[number][to_usize(target / 8)] |= 1 << (target % 8);
            }
        }
        let is_signed = masks.values().any(|[even, odd]| even != odd);
        let shifts = masks.into_iter().map(|(from, masks)| Shift { byte: to_usize(from / 8), bit: low_u32(from % 8), masks });
        Self { shifts: shifts.collect(), is_signed, chunks: (STRIP_BYTES / if halved { 2 } else { 1 }).div_ceil(CHUNK) }
    }

    /// `skipped` bytes of the masks belong to lanes before the strip.
    #[inline(always)]
    fn apply(&self, skipped: usize, (odd, flip): OddLanes<'_>, from: &StripBuffer, to: &mut StripBuffer) {
        for (chunk, to) in to.strip_mut().as_chunks_mut::<CHUNK>().0.iter_mut().take(self.chunks).enumerate() {
            let at = chunk * CHUNK;
            let mut sums = [0; CHUNK / 8];
            for shift in &self.shifts {
                let mut mask = chunk_words(&shift.masks[0], skipped + at);
                if self.is_signed {
                    let (if_odd, odd) = (chunk_words(&shift.masks[1], skipped + at), chunk_words(odd, at));
                    for word in 0..mask.len() {
                        let odd = odd[word] ^ flip;
                        mask[word] = mask[word] & !odd | if_odd[word] & odd;
                    }
                }
                let low = chunk_words(&from.0, shift.byte + at);
                if shift.bit == 0 {
                    for word in 0..sums.len() {
                        sums[word] |= low[word] & mask[word];
                    }
                } else {
                    // A word lacks its highest bits after the shift: the word one byte on has them.
                    let high = chunk_words(&from.0, shift.byte + at + 1);
                    for word in 0..sums.len() {
                        sums[word] |= (low[word] >> shift.bit | high[word] << (8 - shift.bit)) & mask[word];
                    }
                }
            }
            for (bytes, sum) in to.as_chunks_mut().0.iter_mut().zip(sums) {
                *bytes = sum.to_le_bytes();
            }
        }
    }
}

/// The words of `CHUNK` bytes from `at` on.
#[inline(always)]
fn chunk_words(bytes: &[u8], at: usize) -> [u64; CHUNK / 8] {
    let mut words = [0; CHUNK / 8];
    for (word, bytes) in words.iter_mut().zip(bytes[at..at + CHUNK].as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// The swaps of neighbouring positions from the last of the prefix on.
#[derive(Clone, Debug)]
pub(super) struct DigitSwaps {
    /// By the radix of the first digit, from 2 on.
    by_radix: Vec<DigitSwap>,
}

impl DigitSwaps {
    pub(super) fn new(halved: bool) -> Self {
        Self { by_radix: (2..=FAMILY).map(|radix| DigitSwap::new(radix, halved)).collect() }
    }

    /// Applies the swap of the two positions whose first one's digit is below `radix`, to a strip
    /// that begins with byte `skipped` of a family. Across the boundary, `radix` 6, the margins
    /// hold the rest of the families at the strip's ends. `odd` is about the suffixes after the swap.
    #[inline(always)]
    pub(super) fn apply(&self, radix: u8, skipped: usize, odd: OddLanes<'_>, from: &StripBuffer, to: &mut StripBuffer) {
        // All others have the same masks for every lane.
        let skipped = if usize::from(radix) == FAMILY { skipped } else { 0 };
        self.by_radix[usize::from(radix) - 2].apply(skipped, odd, from, to);
    }
}

/// A permutation of the suffix as swaps of neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SuffixWord {
    /// The permutation, as images.
    pub(super) images: [u8; SUFFIX],
    /// The swaps by the radix of their first digit, in the order in which they are applied.
    pub(super) swaps: Vec<u8>,
    /// Distances that bits move by, all swaps together.
    pub(super) shifts: usize,
}

/// The cheapest word for each of the 120 permutations of the suffix.
pub(super) fn suffix_words() -> Vec<SuffixWord> {
    let identity = [0, 1, 2, 3, 4];
    let mut known = BTreeMap::from([(identity, SuffixWord { images: identity, swaps: Vec::new(), shifts: 0 })]);
    let mut changed = vec![identity];
    while let Some(images) = changed.pop() {
        let word = known[&images].clone();
        for first in 0..SUFFIX - 1 {
            let radix = SUFFIX - first;
            let shifts = word.shifts + 2 * (radix - 1);
            // The states of a set moved by `pi ∘ t` are those moved by t first, then by pi.
            let mut longer = images;
            longer.swap(first, first + 1);
            if known.get(&longer).is_none_or(|other| shifts < other.shifts) {
                let radix = u8::try_from(radix).expect("at most 5");
                let swaps = std::iter::once(radix).chain(word.swaps.iter().copied()).collect();
                known.insert(longer, SuffixWord { images: longer, swaps, shifts });
                changed.push(longer);
            }
        }
    }
    known.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::fingerprint::mix64;
    use crate::base::ids::low_u8;

    /// Bit `bit` of a strip, counted from its first lane.
    fn bit(buffer: &StripBuffer, bit: u64) -> bool {
        let place = to_u64(MARGIN * 8) + bit;
        buffer.0[to_usize(place / 8)] >> (place % 8) & 1 == 1
    }

    #[test]
    fn swaps_are_those_of_the_states() {
        let mut from = StripBuffer::BLANK;
        for (at, byte) in from.0.iter_mut().enumerate() {
            *byte = low_u8(mix64(to_u64(at)) & 0xff);
        }
        let swaps = DigitSwaps::new(false);
        for radix in 2..=FAMILY {
            for lane_of_family in 0..if radix == FAMILY { FAMILY } else { 1 } {
                let mut to = StripBuffer::BLANK;
                swaps.apply(low_u8(to_u64(radix)), lane_of_family * UNIT_BYTES, (&[0; STRIP_BYTES], 0), &from, &mut to);
                let before = to_u64(lane_of_family) * 120;
                for target in 0..to_u64(STRIP_BYTES) * 8 {
                    let family = (before + target) / 720;
                    let (mut labels, _) = lehmer::unrank(FAMILY, (before + target) % 720);
                    labels.swap(FAMILY - radix, FAMILY - radix + 1);
                    let source = family * 720 + lehmer::rank(&labels[..FAMILY]);
                    // Families may begin in the margin.
                    let place = to_u64(MARGIN * 8) + source - before;
                    let expected = from.0[to_usize(place / 8)] >> (place % 8) & 1 == 1;
                    assert_eq!(bit(&to, target), expected, "radix {radix}, lane {lane_of_family}, bit {target}");
                }
            }
        }
    }

    #[test]
    fn words_are_the_permutations_they_stand_for() {
        let words = suffix_words();
        assert_eq!(words.len(), 120);
        for word in words {
            // From a: applied last means moved first.
            let mut images = [0, 1, 2, 3, 4];
            for &radix in word.swaps.iter().rev() {
                images.swap(SUFFIX - usize::from(radix), SUFFIX - usize::from(radix) + 1);
            }
            assert_eq!(images, word.images);
            let inversions = (0..SUFFIX).flat_map(|i| (0..i).map(move |j| (j, i))).filter(|&(j, i)| images[j] > images[i]).count();
            assert_eq!(word.swaps.len(), inversions);
        }
    }
}
