//! The tie between the two colours of 3x4 cells with 3x3 blocks.
//!
//! A turn permutes the six cells of the corner's colour, and the six of the other. It takes a pair
//! of cells of the one to a pair, and a *pairing* of the other, its six cells in three pairs, to a
//! pairing. There are 15 pairs and 15 pairings, and one bijection between them that all turns
//! respect: it is found here by carrying the image of one pair along with the turns. So the word
//! that swaps two cells of the corner's colour swaps three pairs of the other; an automorphism of
//! S6 that takes a swap to three swaps is an outer one.

use crate::base::{Error, Result};
use crate::families::rotation_board::Board;
use crate::families::rotation_board::small_group::SmallGroup;
use crate::families::rotation_board::{BlockTurn, BoardShape};
use std::collections::{BTreeMap, BTreeSet};

/// Two cells of one colour, ascending.
pub type Pair = [u32; 2];

/// Six cells in three pairs, ascending.
pub type Pairing = [Pair; 3];

/// Pairs of the corner's colour, and pairings of the other colour.
const COUNT: usize = 15;

/// The bijection from pairs to pairings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuterAutomorphism {
    /// For each pair of the corner's colour, ascending, the pairing of the other colour.
    pub pairings: BTreeMap<Pair, Pairing>,
}

/// 3x4 cells with 3x3 blocks.
///
/// # Panics
/// Never: the board exists.
#[must_use]
pub fn shape() -> BoardShape {
    BoardShape::new(3, 4, 3).expect("a board")
}

impl OuterAutomorphism {
    /// The only bijection that the turns respect, found from the turns alone, and then compared
    /// with what the 720 boards show.
    ///
    /// # Errors
    /// `Invariant` when there is not exactly one, or a board shows another one: a fault of this
    /// program.
    pub fn derive() -> Result<Self> {
        let (pairs, pairings) = (pairs(), pairings());
        let mut respected: Vec<BTreeMap<Pair, Pairing>> = pairings.iter().filter_map(|&image| carried(pairs[0], image)).collect();
        let (Some(pairings), true) = (respected.pop(), respected.is_empty()) else {
            return Err(Error::invariant("bijections from pairs to pairings that turns respect", "none or several", "one"));
        };
        let found = Self { pairings };
        let shown = swaps(&SmallGroup::of(shape()));
        if shown != found.pairings {
            return Err(Error::invariant("pairings swapped with a pair", format!("{shown:?}"), format!("{:?}", found.pairings)));
        }
        Ok(found)
    }

    /// The board on which a pair of the corner's colour is swapped, and the three pairs of its
    /// pairing; it can be solved.
    #[must_use]
    pub fn swapped(&self, pair: Pair) -> Board {
        let others = self.pairings.get(&pair).into_iter().flatten();
        others.chain([&pair]).fold(Board::solved(shape()), |board, &[first, second]| board.exchanged(first, second))
    }
}

/// The cells of a colour, ascending.
fn cells(colour: bool) -> Vec<u32> {
    (0..shape().cells()).filter(|&cell| shape().colour(cell) == colour).collect()
}

/// All pairs of the corner's colour, ascending.
fn pairs() -> Vec<Pair> {
    let cells = cells(false);
    cells.iter().flat_map(|&first| cells.iter().filter(move |&&second| first < second).map(move |&second| [first, second])).collect()
}

/// All pairings of the other colour: the first cell with any other, the next free one with any of
/// the rest, and what remains.
fn pairings() -> Vec<Pairing> {
    let cells = cells(true);
    let mut all = Vec::new();
    for &first in &cells[1..] {
        let rest: Vec<u32> = cells[1..].iter().copied().filter(|&cell| cell != first).collect();
        for &second in &rest[1..] {
            let last: Vec<u32> = rest[1..].iter().copied().filter(|&cell| cell != second).collect();
            all.push([[cells[0], first], [rest[0], second], [last[0], last[1]]]);
        }
    }
    all
}

fn turned_pair(turn: BlockTurn, pair: Pair) -> Pair {
    let mut pair = pair.map(|cell| shape().target(turn, cell));
    pair.sort_unstable();
    pair
}

fn turned_pairing(turn: BlockTurn, pairing: Pairing) -> Pairing {
    let mut pairing = pairing.map(|pair| turned_pair(turn, pair));
    pairing.sort_unstable();
    pairing
}

/// The map that takes `start` to `image`, carried along with the turns; none when turns contradict
/// each other, or it is no bijection.
fn carried(start: Pair, image: Pairing) -> Option<BTreeMap<Pair, Pairing>> {
    let mut map = BTreeMap::from([(start, image)]);
    let mut open = vec![start];
    while let Some(pair) = open.pop() {
        for block in 0..shape().blocks() {
            let turn = BlockTurn { block, quarters: 1 };
            let (next, image) = (turned_pair(turn, pair), turned_pairing(turn, map[&pair]));
            match map.insert(next, image) {
                None => open.push(next),
                Some(known) if known != image => return None,
                Some(_) => {}
            }
        }
    }
    let images: BTreeSet<&Pairing> = map.values().collect();
    (map.len() == COUNT && images.len() == COUNT).then_some(map)
}

/// What the boards with one pair of the corner's colour swapped show on the other colour, where
/// that is three pairs swapped.
fn swaps(group: &SmallGroup) -> BTreeMap<Pair, Pairing> {
    let swapped = |homes: &[u32], colour: bool| -> Option<Vec<Pair>> {
        let place = |cell: u32| homes.iter().zip(0..).find(|&(&home, _)| home == cell).map(|(_, place)| place);
        let moved: Vec<Pair> = homes.iter().zip(0..).filter(|&(&home, cell)| home != cell).map(|(&home, cell)| [cell, home]).collect();
        let all_swaps = moved.iter().all(|&[cell, home]| place(cell) == Some(home));
        all_swaps.then(|| moved.into_iter().filter(|&[cell, home]| cell < home && shape().colour(cell) == colour).collect())
    };
    group
        .arrangements()
        .filter_map(|homes| {
            let pair: [Pair; 1] = swapped(homes, false)?.try_into().ok()?;
            let pairing: Pairing = swapped(homes, true)?.try_into().ok()?;
            Some((pair[0], pairing))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_fifteen_of_each() {
        assert_eq!((pairs().len(), pairings().len()), (COUNT, COUNT));
        assert_eq!(pairings().into_iter().collect::<BTreeSet<_>>().len(), COUNT);
    }

    #[test]
    fn a_wrong_image_is_contradicted() {
        let right = OuterAutomorphism::derive().expect("it exists").pairings;
        for pair in pairs() {
            for image in pairings() {
                assert_eq!(carried(pair, image).is_some(), right[&pair] == image);
            }
        }
    }
}
