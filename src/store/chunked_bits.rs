//! A bitset in mapped words with a summary: how many members each chunk of words has. Chunks
//! without members are skipped when members are listed or joined, full chunks when absent offsets
//! are listed or lanes are pulled.

use super::bitset;
use super::format::CHUNK_WORDS;
use super::mapped::MappedWords;
use super::packed_bits::PackedBits;
use crate::base::fingerprint::{Fingerprint, LANE_STATES};
use crate::base::ids::{low_u32, to_u64, to_usize};
use crate::base::{Error, Result};
use std::ops::Range;

/// Offsets of a chunk.
pub const CHUNK_OFFSETS: u64 = 61_440;

const _: () = assert!(CHUNK_WORDS * 64 == 512 * 120);

/// Bits of offsets `0..length`. Invariant: the counts, when there are any, are those of the words.
#[derive(Debug)]
pub struct ChunkedBits {
    words: MappedWords,
    length: u64,
    /// Members by chunk; `None` after the words were overwritten, until they are counted.
    counts: Option<Vec<u32>>,
}

impl ChunkedBits {
    /// The empty set in `words`, which are zero.
    #[must_use]
    pub fn empty(words: MappedWords, length: u64) -> Self {
        let counts = vec![0; words.len().div_ceil(CHUNK_WORDS)];
        Self { words, length, counts: Some(counts) }
    }

    /// The set in `words`, whatever it is.
    #[must_use]
    pub fn unknown(words: MappedWords, length: u64) -> Self {
        Self { words, length, counts: None }
    }

    /// Gives the words back.
    #[must_use]
    pub fn into_words(self) -> MappedWords {
        self.words
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bytes of the words, and at least eight more.
    #[must_use]
    pub fn padded_bytes(&self) -> &[u8] {
        self.words.padded_bytes()
    }

    /// The words for changing them in any way; they must be counted afterwards.
    pub fn words_to_overwrite(&mut self) -> &mut [u64] {
        self.counts = None;
        &mut self.words
    }

    /// Flips a bit that nobody knows of, for the tests of the guards.
    pub fn damage(&mut self) {
        self.words[0] ^= 1;
    }

    /// Whether `offset` is a member.
    #[inline(always)]
    #[must_use]
    pub fn contains(&self, offset: u64) -> bool {
        bitset::contains(&self.words, offset)
    }

    /// Makes `offsets` members; returns how many were none.
    pub fn insert(&mut self, offsets: &[u64]) -> u64 {
        let mut new = 0;
        for &offset in offsets {
            if bitset::insert(&mut self.words, offset) {
                new += 1;
                if let Some(counts) = &mut self.counts {
                    counts[to_usize(offset / CHUNK_OFFSETS)] += 1;
                }
            }
        }
        new
    }

    /// Adds the members of `other`, which has none in common with this set and is counted.
    pub fn absorb_disjoint(&mut self, other: &Self) {
        let chunks = self.words.chunks_mut(CHUNK_WORDS).zip(other.words.chunks(CHUNK_WORDS)).enumerate();
        for (number, (chunk, added)) in chunks {
            if other.count_of(number) == Some(0) {
                continue;
            }
            for (word, &more) in chunk.iter_mut().zip(added) {
                debug_assert_eq!(*word & more, 0, "the next level is disjoint from what was seen");
                *word |= more;
            }
        }
        self.counts = match (self.counts.take(), &other.counts) {
            (Some(counts), Some(more)) => Some(counts.iter().zip(more).map(|(count, more)| count + more).collect()),
            _ => None,
        };
    }

    /// [`ChunkedBits::absorb_disjoint`] for a packed set. Every chunk is read back and counted on
    /// the way.
    ///
    /// # Errors
    /// `Invariant` when a chunk does not hold as many members as were packed into it.
    pub fn absorb_packed(&mut self, other: &PackedBits) -> Result<()> {
        for (first, count, added) in other.filled() {
            let found = bitset::count(&added);
            if found != u64::from(count) {
                return Err(Error::invariant("states read back from a packed chunk of the new level", found, u64::from(count)));
            }
            for (at, more) in (first..).zip(added) {
                let word = &mut self.words[at];
                debug_assert_eq!(*word & more, 0, "the next level is disjoint from what was seen");
                *word |= more;
                if let Some(counts) = &mut self.counts {
                    counts[at / CHUNK_WORDS] += more.count_ones();
                }
            }
        }
        Ok(())
    }

    /// Counts the members from the words, whatever the summary says, and makes the summary anew.
    pub fn count(&mut self) -> u64 {
        let counts: Vec<u32> = self.words.chunks(CHUNK_WORDS).map(|chunk| low_u32(bitset::count(chunk))).collect();
        let sum = counts.iter().map(|&count| u64::from(count)).sum();
        self.counts = Some(counts);
        sum
    }

    /// Whether all offsets of a range are known to be members.
    #[must_use]
    pub fn is_full(&self, offsets: Range<u64>) -> bool {
        let chunks = to_usize(offsets.start / CHUNK_OFFSETS)..to_usize(offsets.end.div_ceil(CHUNK_OFFSETS));
        chunks.into_iter().all(|number| self.is_full_chunk(number))
    }

    /// As `RankSet::list_from`.
    pub fn list_from(&self, cursor: u64, enough: usize, base: u64, out: &mut Vec<u64>) -> Option<u64> {
        let last = to_u64(self.words.len());
        let mut number = cursor / 64;
        while number < last && out.len() < enough {
            let (chunk, within) = (to_usize(number) / CHUNK_WORDS, to_usize(number) % CHUNK_WORDS);
            if within == 0 && self.count_of(chunk) == Some(0) {
                number += to_u64(CHUNK_WORDS);
                continue;
            }
            bitset::push_members(self.words[to_usize(number)], base + number * 64, out);
            number += 1;
        }
        (number < last).then_some(number * 64)
    }

    /// As `RankSet::list_absent_from`.
    pub fn list_absent_from(&self, cursor: u64, enough: usize, base: u64, out: &mut Vec<u64>) -> Option<u64> {
        let mut offset = cursor / 64 * 64;
        while offset < self.length && out.len() < enough {
            if offset.is_multiple_of(CHUNK_OFFSETS) && self.is_full_chunk(to_usize(offset / CHUNK_OFFSETS)) {
                offset += CHUNK_OFFSETS;
                continue;
            }
            let mut left = !self.words[to_usize(offset / 64)];
            let behind = self.length - offset;
            if behind < 64 {
                left &= (1 << behind) - 1;
            }
            bitset::push_members(left, base + offset, out);
            offset += 64;
        }
        (offset < self.length).then_some(offset)
    }

    /// Fingerprint of the members, for a set whose lane 0 has the number `first_lane` in the whole
    /// space.
    #[must_use]
    pub fn fingerprint(&self, first_lane: u64) -> Fingerprint {
        let lanes_per_chunk = CHUNK_OFFSETS / LANE_STATES;
        let lanes = self.length.div_ceil(LANE_STATES);
        let mut total = Fingerprint::default();
        for number in 0..self.words.len().div_ceil(CHUNK_WORDS) {
            if self.count_of(number) != Some(0) {
                let first = to_u64(number) * lanes_per_chunk;
                total = total.plus(bitset::fingerprint(&self.words, first..lanes.min(first + lanes_per_chunk), first_lane));
            }
        }
        total
    }

    fn count_of(&self, chunk: usize) -> Option<u32> {
        self.counts.as_ref().map(|counts| counts[chunk])
    }

    fn is_full_chunk(&self, chunk: usize) -> bool {
        let offsets = CHUNK_OFFSETS.min(self.length - to_u64(chunk) * CHUNK_OFFSETS);
        self.count_of(chunk).is_some_and(|count| u64::from(count) == offsets)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mapped::{Home, Region};
    use super::*;
    use crate::base::fingerprint;
    use proptest::prelude::*;

    /// Four chunks, the last of them short.
    const LENGTH: u64 = 3 * CHUNK_OFFSETS + 1_200;

    fn bits(folder: &tempfile::TempDir, number: u64, runs: &[Range<u64>]) -> ChunkedBits {
        let region = Region { home: Home::File(folder.path().join("scratch")), number, words: bitset::words_for(LENGTH) };
        let mut bits = ChunkedBits::empty(MappedWords::create(&region).expect("room"), LENGTH);
        for run in runs {
            bits.insert(&run.clone().collect::<Vec<_>>());
        }
        bits
    }

    fn listed(set: &ChunkedBits, enough: usize, absent: bool) -> Vec<u64> {
        let (mut all, mut cursor) = (Vec::new(), Some(0));
        while let Some(from) = cursor {
            let mut part = Vec::new();
            cursor = if absent { set.list_absent_from(from, enough, 7, &mut part) } else { set.list_from(from, enough, 7, &mut part) };
            all.extend(part.iter().map(|rank| rank - 7));
        }
        all
    }

    /// The last word holds any number of offsets.
    #[test]
    fn nothing_behind_the_end_is_listed_as_absent() {
        let folder = tempfile::tempdir().expect("temporary folder");
        for length in [1, 62, 63, 64, 65, 127, 128] {
            let region = Region { home: Home::File(folder.path().join("scratch")), number: length, words: 2 };
            let set = ChunkedBits::empty(MappedWords::create(&region).expect("room"), length);
            assert_eq!(listed(&set, usize::MAX, true), (0..length).collect::<Vec<_>>());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Empty, full and mixed chunks: with a summary or without, the members are the same.
        #[test]
        fn a_summary_changes_nothing(kinds in proptest::collection::vec(0_u64..4, 4), shift in 1_u64..900, enough in prop_oneof![1_usize..3_000, Just(1 << 20)]) {
            let folder = tempfile::tempdir().expect("temporary folder");
            let runs: Vec<Range<u64>> = (0..).zip(&kinds).map(|(chunk, kind)| {
                let all = chunk * CHUNK_OFFSETS..LENGTH.min((chunk + 1) * CHUNK_OFFSETS);
                match kind {
                    0 => all.start..all.start,
                    1 => all,
                    2 => all.start + shift..all.end,
                    _ => all.start..all.end - shift,
                }
            }).collect();
            let mut set = bits(&folder, 0, &runs);
            let members: Vec<u64> = runs.iter().flat_map(Clone::clone).collect();
            let absent: Vec<u64> = (0..LENGTH).filter(|offset| !runs.iter().any(|run| run.contains(offset))).collect();
            let kept = set.counts.clone().expect("kept by insert");
            for known in [true, false] {
                if !known {
                    set.words_to_overwrite();
                }
                prop_assert_eq!(&listed(&set, enough, false), &members);
                prop_assert_eq!(&listed(&set, enough, true), &absent);
                prop_assert_eq!(set.fingerprint(3), fingerprint::of_sorted_ranks(members.iter().map(|offset| offset + 360)));
                prop_assert_eq!(set.is_full(0..CHUNK_OFFSETS), known && kinds[0] == 1);
                prop_assert_eq!(set.is_full(5..LENGTH), known && kinds == [1; 4]);
            }
            prop_assert_eq!(set.count(), to_u64(members.len()));
            prop_assert_eq!(set.counts.as_ref(), Some(&kept));
            // The rest joins.
            let mut rest = bits(&folder, 1, &[]);
            rest.insert(&absent);
            set.absorb_disjoint(&rest);
            prop_assert!(set.is_full(0..LENGTH));
            prop_assert_eq!(set.count(), LENGTH);
        }
    }
}
