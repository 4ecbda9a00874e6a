//! Compiles a permutation of positions into moves of whole lanes and slices of lanes.
//!
//! A *lane* is the set of all arrangements that share their first m-5 labels (the prefix); its
//! number is the prefix's lexicographic rank, its 120 bits stand for the orders of the other five
//! labels (the suffix), in lexicographic order. In a *halved* space only one sign of arrangement
//! exists over each plane; of the two arrangements of ranks 2i and 2i+1, which differ by a swap of
//! the last two labels, exactly one has it, so a lane has 60 bits.
//!
//! To know which states `a` of a target lane have their neighbour `a∘s` in a set, the neighbour's
//! lanes are *pulled*. Let k be the number of prefix positions of the neighbour that hold a suffix
//! label of the target. Fixing which k labels those are splits the target lane into 5!/(5-k)!
//! *slices* of (5-k)! states; each slice lies in one source lane, in the places where the k labels
//! that moved out of the prefix stand at fixed suffix positions. Which places these are depends
//! only on the moved-out labels' ranks among the source's five suffix labels (the *key*), so all
//! masks are worked out once, by enumeration. Within a slice the remaining labels keep their
//! relative order, so lexicographic order is kept up to a fixed permutation, mostly none.
//!
//! - k = 0, suffix untouched: one load, one OR for 120 states.
//! - k = 0, suffix permuted: a fixed 120-bit permutation, 15 look-ups in byte tables.
//! - k = 1 to 3: slices of 24, 6 or 2 bits, by extract and deposit with the masks of the key.
//! - k = 4 or 5: single states; the expansion of states does it better, and the cost model knows.
//!
//! A swap that straddles the boundary is the case k = 1, like any other permutation; nothing here
//! knows a puzzle.
//!
//! Levels are pulled by kernels, which move 32 lanes at once (`lanes/kernel.rs`). By what is
//! compiled here processes agree which of them speaks for which bits, and the kernels are tested.

use crate::base::ids::{low_u8, low_u32, low_u64, to_u64};
use crate::puzzle::Permutation;
use crate::ranking::lehmer;
use std::collections::HashMap;

/// Labels that a lane leaves open.
pub const SUFFIX: usize = 5;

/// Arrangements of a lane, both signs.
pub const ORDERS: usize = 120;

/// Most crossing positions for which slices are compiled.
pub const MOST_CROSSINGS: usize = 3;

/// Most positions of a prefix: 20 - 5.
pub const MOST_PREFIX: usize = 15;

/// Where a label of the source's prefix comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The target's prefix position.
    Prefix(u8),
    /// The slice's crossing label with this number.
    Crossing(u8),
}

/// How a slice's bits move: the bits of `source` in the source lane become those of `target` in the
/// target lane, in order, after `inner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PieceMove {
    /// Bits of the source lane; 0 when the key cannot occur.
    pub source: u128,
    /// Bits of the target lane.
    pub target: u128,
    /// Index + 1 of the permutation of the slice's bits in between; 0 for none.
    pub inner: u16,
    /// The first bit of the source.
    pub source_first: u8,
}

/// A permutation of up to 120 bits as look-up tables: a table a byte of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitPermutation {
    tables: Vec<[u128; 256]>,
}

impl BitPermutation {
    /// The permutation that takes bit `from[i]` to bit `i`.
    fn new(from: &[u8]) -> Self {
        let mut tables = vec![[0; 256]; from.len().div_ceil(8)];
        for (to, &from) in from.iter().enumerate() {
            let (byte, bit) = (usize::from(from / 8), from % 8);
            for (value, entry) in tables[byte].iter_mut().enumerate() {
                if value >> bit & 1 == 1 {
                    *entry |= 1 << to;
                }
            }
        }
        Self { tables }
    }

    /// [`BitPermutation::apply`] for a slice, which has at most 24 bits.
    #[inline(always)]
    #[must_use]
    pub fn apply_low(&self, value: u64) -> u64 {
        let mut sum = 0;
        for (table, byte) in self.tables.iter().zip(value.to_le_bytes()) {
            sum |= low_u64(table[usize::from(byte)]);
        }
        sum
    }

    /// Permutes the bits of `value`. One look-up for every eight bits.
    #[inline(always)]
    #[must_use]
    pub fn apply(&self, value: u128) -> u128 {
        let mut sum = 0;
        for (table, byte) in self.tables.iter().zip(value.to_le_bytes()) {
            sum |= table[usize::from(byte)];
        }
        sum
    }
}

/// A compiled permutation of positions.
#[derive(Clone, Debug)]
pub struct LanePlan {
    /// Origin of each label of the source's prefix.
    pub prefix: Vec<Origin>,
    /// Number of crossing positions, k.
    pub crossings: usize,
    /// Target prefix positions whose labels move into the source's suffix, in the order of the
    /// key's digits.
    pub moved_out: Vec<u8>,
    /// For each slice the crossing labels, by their rank among the target's suffix labels.
    pub choices: Vec<[u8; MOST_CROSSINGS]>,
    /// Moves by sign of the target lane, slice and key: `(sign * slices + slice) * 5^k + key`.
    /// Empty when k is over [`MOST_CROSSINGS`].
    pub moves: Vec<PieceMove>,
    /// Bit permutations that moves refer to.
    pub inner: Vec<BitPermutation>,
    /// Whether the source of every slice is a run of neighbouring bits (its first suffix labels
    /// moved out): it is read without extracting.
    pub source_runs: bool,
    /// As many low bits as a slice has.
    pub run_mask: u64,
    /// Whether nothing moves at all.
    pub is_identity: bool,
    /// The permutation itself.
    pub images: Vec<u8>,
}

impl LanePlan {
    /// Compiles `permutation`, of at least six positions, for lanes of 120 bits, or of 60 in a
    /// `halved` space.
    #[must_use]
    pub fn new(permutation: &Permutation, halved: bool) -> Self {
        let images = permutation.images();
        let prefix_length = images.len() - SUFFIX;
        let in_prefix = |position: u8| usize::from(position) < prefix_length;
        let suffix_index = |position: u8| usize::from(position) - prefix_length;
        let mut crossed: Vec<usize> = Vec::new();
        let prefix = images[..prefix_length]
            .iter()
            .map(|&image| {
                if in_prefix(image) {
                    Origin::Prefix(image)
                } else {
                    crossed.push(suffix_index(image));
                    Origin::Crossing(low_u8(to_u64(crossed.len() - 1)))
                }
            })
            .collect();
        let moved_out: Vec<u8> = images[prefix_length..].iter().copied().filter(|&image| in_prefix(image)).collect();
        let crossings = crossed.len();
        let mut plan = Self {
            prefix,
            crossings,
            moved_out,
            choices: Vec::new(),
            moves: Vec::new(),
            inner: Vec::new(),
            source_runs: false,
            run_mask: 0,
            is_identity: permutation.is_identity(),
            images: images.to_vec(),
        };
        if crossings <= MOST_CROSSINGS {
            plan.choices = choices(crossings);
            plan.compile_moves(images, &crossed, halved);
        }
        plan
    }

    /// Number of keys, 5^k.
    #[must_use]
    pub fn keys(&self) -> usize {
        SUFFIX.pow(low_u32(to_u64(self.crossings)))
    }

    /// Works out the moves of every sign, slice and key by enumerating the orders of the suffix.
    fn compile_moves(&mut self, images: &[u8], crossed: &[usize], halved: bool) {
        let mut known: HashMap<Vec<u8>, u16> = HashMap::new();
        let signs: &[Option<bool>] = if halved { &[Some(false), Some(true)] } else { &[None] };
        for &sign in signs {
            for choice in self.choices.clone() {
                for key in 0..self.keys() {
                    let pairs = piece_pairs(images, crossed, &choice[..self.crossings], key, sign);
                    let made = piece_move(&pairs, &mut known, &mut self.inner);
                    self.moves.push(made);
                }
            }
        }
        let is_run = |mask: u128| mask == 0 || (mask >> mask.trailing_zeros()).trailing_ones() == mask.count_ones();
        self.source_runs = self.crossings > 0 && self.moves.iter().all(|slice| is_run(slice.source));
        let length = self.moves.iter().map(|slice| slice.source.count_ones()).max().unwrap_or(0);
        self.run_mask = (1_u64.checked_shl(length).unwrap_or(0)).wrapping_sub(1);
    }
}

/// All ways to give `count` crossing positions different labels of five.
#[must_use]
pub fn choices(count: usize) -> Vec<[u8; MOST_CROSSINGS]> {
    let mut all = vec![[0; MOST_CROSSINGS]];
    for slot in 0..count {
        all = all
            .iter()
            .flat_map(|chosen| {
                (0..low_u8(to_u64(SUFFIX))).filter(move |label| !chosen[..slot].contains(label)).map(move |label| {
                    let mut longer = *chosen;
                    longer[slot] = label;
                    longer
                })
            })
            .collect();
    }
    all
}

/// The digits of a key: ranks of the moved-out labels among the source's suffix labels.
fn key_ranks(key: usize, count: usize) -> Vec<u8> {
    (0..count)
        .scan(key, |rest, _| {
            let digit = *rest % SUFFIX;
            *rest /= SUFFIX;
            Some(low_u8(to_u64(digit)))
        })
        .collect()
}

/// Bits of target and source for every state of a slice, in the order of the target's bits. `sign`
/// selects the orders of that sign (odd = true), in a halved space, whose bits are half the ranks.
/// Empty when two moved-out labels would have one rank.
fn piece_pairs(images: &[u8], crossed: &[usize], choice: &[u8], key: usize, sign: Option<bool>) -> Vec<(u8, u8)> {
    let prefix_length = images.len() - SUFFIX;
    let ranks = key_ranks(key, choice.len());
    if (1..ranks.len()).any(|i| ranks[..i].contains(&ranks[i])) {
        return Vec::new();
    }
    // Ranks in the source of the labels that stay in the suffix, ascending like the labels
    // themselves.
    let free_ranks: Vec<u8> = (0..5).filter(|rank| !ranks.contains(rank)).collect();
    let staying: Vec<u8> = (0..5).filter(|label| !choice.contains(label)).collect();
    let bit = |rank: u64| low_u8(if sign.is_some() { rank / 2 } else { rank });
    (0..to_u64(ORDERS))
        .filter_map(|target_rank| {
            let (order, odd) = lehmer::unrank(SUFFIX, target_rank);
            let belongs = crossed.iter().zip(choice).all(|(&position, &label)| order[position] == label);
            if !belongs || sign.is_some_and(|sign| sign != odd) {
                return None;
            }
            let mut moved = ranks.iter();
            let source: Vec<u8> = images[prefix_length..]
                .iter()
                .map(|&image| match usize::from(image).checked_sub(prefix_length) {
                    None => *moved.next().expect("one rank for each moved-out label"),
                    Some(position) => {
                        let place = staying.iter().position(|&label| label == order[position]);
                        free_ranks[place.expect("a label that did not cross stays")]
                    }
                })
                .collect();
            Some((bit(target_rank), bit(lehmer::rank(&source))))
        })
        .collect()
}

/// Masks and inner permutation of a slice.
fn piece_move(pairs: &[(u8, u8)], known: &mut HashMap<Vec<u8>, u16>, inner: &mut Vec<BitPermutation>) -> PieceMove {
    let mask = |bits: &mut dyn Iterator<Item = u8>| bits.fold(0_u128, |mask, bit| mask | 1 << bit);
    let source = mask(&mut pairs.iter().map(|pair| pair.1));
    let target = mask(&mut pairs.iter().map(|pair| pair.0));
    // The i-th target bit comes from this place among the source's bits.
    let from: Vec<u8> = pairs.iter().map(|pair| low_u8((source & ((1 << pair.1) - 1)).count_ones().into())).collect();
    let in_order = from.windows(2).all(|pair| pair[0] < pair[1]);
    let number = if in_order {
        0
    } else {
        *known.entry(from).or_insert_with_key(|from| {
            inner.push(BitPermutation::new(from));
            u16::try_from(inner.len()).expect("at most one for each move")
        })
    };
    PieceMove { source, target, inner: number, source_first: low_u8(u64::from(source.trailing_zeros() & 127)) }
}

impl PieceMove {
    /// The bits of a slice, permuted as they move.
    #[inline(always)]
    #[must_use]
    pub fn permuted(&self, plan: &LanePlan, bits: u64) -> u64 {
        match self.inner_of(plan) {
            Some(inner) => inner.apply_low(bits),
            None => bits,
        }
    }

    /// The permutation of the slice's bits, if there is one.
    #[inline(always)]
    #[must_use]
    pub fn inner_of<'a>(&self, plan: &'a LanePlan) -> Option<&'a BitPermutation> {
        match self.inner {
            0 => None,
            number => Some(&plan.inner[usize::from(number) - 1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(images: &[u8], halved: bool) -> LanePlan {
        LanePlan::new(&Permutation::new(images.to_vec()).expect("a bijection"), halved)
    }

    #[test]
    fn the_kinds_of_moves() {
        // Two swaps in the prefix: whole lanes.
        let inside = plan(&[1, 0, 3, 2, 4, 5, 6, 7, 8], false);
        assert_eq!((inside.crossings, inside.moves.len()), (0, 1));
        assert_eq!(inside.moves[0], PieceMove { source: (1 << 120) - 1, target: (1 << 120) - 1, inner: 0, source_first: 0 });
        // A swap in the suffix: a fixed permutation of the bits.
        let suffix = plan(&[0, 1, 2, 3, 4, 5, 6, 8, 7], false);
        assert_eq!(suffix.inner[0].apply(0b01), 0b10);
        // A swap across the boundary, and the first label to the end: five slices of 24 bits.
        for images in [[0, 1, 2, 4, 3, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8, 0]] {
            let crossing = plan(&images, false);
            assert_eq!((crossing.crossings, crossing.choices.len()), (1, 5));
            assert!(crossing.moves.iter().all(|slice| slice.source.count_ones() == 24 && slice.target.count_ones() == 24));
            assert!(crossing.moves.iter().all(|slice| slice.inner == 0), "order is kept when one position is fixed");
            let halved = plan(&images, true);
            assert!(halved.moves.iter().all(|slice| slice.source.count_ones() == 12 && slice.source < 1 << 60));
        }
    }

    #[test]
    fn pieces_cover_the_lane_once() {
        for images in [[4_u8, 1, 2, 3, 0, 5, 6, 7], [5, 6, 2, 3, 4, 0, 1, 7], [5, 6, 7, 0, 1, 2, 3, 4], [7, 6, 5, 4, 3, 2, 1, 0]] {
            for halved in [false, true] {
                let plan = plan(&images, halved);
                let all: u128 = if halved { (1 << 60) - 1 } else { (1 << 120) - 1 };
                let per_sign = plan.choices.len() * plan.keys();
                for sign in plan.moves.chunks(per_sign) {
                    // Any valid key gives each slice the same target bits.
                    let union = sign.chunks(plan.keys()).fold(0, |union, keys| {
                        let target = keys.iter().map(|slice| slice.target).find(|&target| target != 0).expect("some key is valid");
                        assert_eq!(union & target, 0);
                        union | target
                    });
                    assert_eq!(union, all);
                }
            }
        }
    }
}
