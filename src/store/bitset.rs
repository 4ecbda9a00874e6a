//! Bits in a slice of words: offset `i` is bit `i % 64` of word `i / 64`. Free functions, as the
//! words may be mapped or owned.

use crate::base::fingerprint::{Fingerprint, LANE_STATES};
use crate::base::ids::to_usize;
use std::ops::Range;

/// Words that hold `length` bits.
#[must_use]
pub fn words_for(length: u64) -> u64 {
    length.div_ceil(64)
}

/// Whether offset `offset` is a member.
#[inline(always)]
#[must_use]
pub fn contains(words: &[u64], offset: u64) -> bool {
    words[to_usize(offset / 64)] >> (offset % 64) & 1 == 1
}

/// Makes `offset` a member; returns whether it was none.
#[inline(always)]
pub fn insert(words: &mut [u64], offset: u64) -> bool {
    let word = &mut words[to_usize(offset / 64)];
    let bit = 1 << (offset % 64);
    let new = *word & bit == 0;
    *word |= bit;
    new
}

/// Number of members.
#[must_use]
pub fn count(words: &[u64]) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Appends the places of the bits of one word, counted from `first`, ascending.
#[inline(always)]
pub fn push_members(word: u64, first: u64, out: &mut Vec<u64>) {
    let mut left = word;
    while left != 0 {
        out.push(first + u64::from(left.trailing_zeros()));
        left &= left - 1;
    }
}

/// The members, ascending, from word `first_word` on.
pub fn members(words: &[u64], first_word: u64) -> impl Iterator<Item = u64> + '_ {
    (first_word..).zip(&words[to_usize(first_word)..]).flat_map(|(number, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let offset = number * 64 + u64::from(left.trailing_zeros());
                left &= left - 1;
                offset
            })
        })
    })
}

/// The 120 bits of lane `lane`; bits after the last word read as zero.
#[inline]
#[must_use]
pub fn lane(words: &[u64], lane: u64) -> u128 {
    let bit = lane * LANE_STATES;
    let word = to_usize(bit / 64);
    let shift = bit % 64;
    let at = |index: usize| u128::from(words.get(index).copied().unwrap_or(0));
    let low = at(word) >> shift | at(word + 1) << (64 - shift);
    // shift is a multiple of 8 up to 56: the third word matters when the lane ends after the
    // second.
    let value = if shift > 8 { low | at(word + 2) << (128 - shift) } else { low };
    value & ((1 << LANE_STATES) - 1)
}

/// Fingerprint of the members in some lanes of a bitset whose lane 0 has the number `first_lane` in
/// the whole space.
#[must_use]
pub fn fingerprint(words: &[u64], lanes: Range<u64>, first_lane: u64) -> Fingerprint {
    let mut total = Fingerprint::default();
    for index in lanes {
        let members = lane(words, index);
        if members != 0 {
            total = total.plus(Fingerprint::of_lane(first_lane + index, members));
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::fingerprint;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_bitset_is_a_set(offsets in proptest::collection::vec(0_u64..1_000, 0..400)) {
            let mut words = vec![0; to_usize(words_for(1_000))];
            let mut set = BTreeSet::new();
            for offset in offsets {
                prop_assert_eq!(insert(&mut words, offset), set.insert(offset));
            }
            prop_assert_eq!(members(&words, 0).collect::<Vec<_>>(), set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(usize::try_from(count(&words)).expect("small"), set.len());
            for offset in 0..1_000 {
                prop_assert_eq!(contains(&words, offset), set.contains(&offset));
            }
            for number in 0..9 {
                let expected = (0..120).filter(|i| set.contains(&(number * 120 + i))).fold(0_u128, |lane, i| lane | 1 << i);
                prop_assert_eq!(lane(&words, number), expected);
            }
            let shifted = set.iter().map(|offset| offset + 120 * 77);
            prop_assert_eq!(fingerprint(&words, 0..9, 77), fingerprint::of_sorted_ranks(shifted));
        }
    }
}
