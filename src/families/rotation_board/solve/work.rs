//! A board on its way to the solved one, with the word that led there.

use super::super::board::Board;
use crate::base::ids::{index_u32, to_u64};
use crate::families::rotation_board::{BlockTurn, BoardShape};

/// The board and the word so far.
#[derive(Clone, Debug)]
pub struct Work {
    board: Board,
    word: Vec<BlockTurn>,
}

impl Work {
    /// Nothing done yet.
    #[must_use]
    pub fn new(board: &Board) -> Self {
        Self { board: board.clone(), word: Vec::new() }
    }

    /// The board's shape.
    #[must_use]
    pub fn shape(&self) -> BoardShape {
        self.board.shape()
    }

    /// The board as it is now.
    #[must_use]
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// For each cell the home of its tile.
    #[must_use]
    pub fn homes(&self) -> &[u32] {
        self.board.homes()
    }

    /// For each tile, by its home, the cell it is in.
    #[must_use]
    pub fn places(&self) -> Vec<u32> {
        self.board.inverse().homes().to_vec()
    }

    /// Turns a block.
    pub fn turn(&mut self, turn: BlockTurn) {
        self.board.turn(turn);
        self.word.push(turn);
    }

    /// The word.
    #[must_use]
    pub fn into_word(self) -> Vec<BlockTurn> {
        self.word
    }

    /// Decides between equals: another order for every variant; in variant 0 the lower number wins.
    #[must_use]
    pub fn tie(&self, variant: u64, number: u32) -> u64 {
        if variant == 0 {
            return u64::from(number);
        }
        let mixed = (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(variant.wrapping_mul(0xbf58_476d_1ce4_e5b9));
        let mixed = (mixed ^ mixed >> 31).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 29
    }
}

/// The cycles of the permutation that takes each cell to its tile's home.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// For each cell its cycle, its place there and the cycle's length.
    pub of: Vec<(u32, u32, u32)>,
    /// Cells whose tile is not at home.
    pub displaced: Vec<u32>,
    /// 3-cycles that it takes, when the permutation is a product of some: half of (cells - cycles
    /// of odd length).
    pub three_cycles: u64,
}

impl Cycles {
    /// The cycles of a board.
    #[must_use]
    pub fn of(homes: &[u32]) -> Self {
        let mut of = vec![(u32::MAX, 0, 0); homes.len()];
        let (mut number, mut odd_cycles) = (0, 0);
        let mut members = Vec::new();
        for start in 0..homes.len() {
            if of[start].0 != u32::MAX {
                continue;
            }
            members.clear();
            let mut cell = start;
            while of[cell].0 == u32::MAX {
                of[cell].0 = number;
                members.push(cell);
                cell = index_u32(homes[cell]);
            }
            let length = u32::try_from(members.len()).expect("cells have 32-bit numbers");
            for (&cell, place) in members.iter().zip(0..) {
                of[cell] = (number, place, length);
            }
            odd_cycles += u64::from(length % 2);
            number += 1;
        }
        let displaced = homes.iter().zip(0..).filter(|&(&home, cell)| home != cell).map(|(_, cell)| cell).collect();
        Self { of, displaced, three_cycles: (to_u64(homes.len()) - odd_cycles) / 2 }
    }

    /// Whether the 3-cycle of these cells leaves a permutation that takes one 3-cycle less: when it
    /// makes two more cycles of odd length.
    ///
    /// In one cycle of length k, met in its order at distances a, b and k - a - b, it leaves cycles
    /// of these three lengths; with two cells in one even cycle, d apart in its order, and one in
    /// another even cycle, it leaves one of length d and one of all the rest.
    #[must_use]
    pub fn gains(&self, triple: [u32; 3]) -> bool {
        let [x, y, z] = triple.map(|cell| self.of[index_u32(cell)]);
        let ahead = |from: (u32, u32, u32), to: (u32, u32, u32)| (to.1 + from.2 - from.1) % from.2;
        match (x.0 == y.0, y.0 == z.0, z.0 == x.0) {
            (true, true, _) => {
                let (first, both) = (ahead(x, y), ahead(x, z));
                let second = both.wrapping_sub(first);
                first < both && if x.2 % 2 == 1 { first % 2 == 1 && second % 2 == 1 } else { first % 2 == 1 || second % 2 == 1 }
            }
            (true, _, _) => x.2 % 2 == 0 && z.2 % 2 == 0 && ahead(x, y) % 2 == 1,
            (_, true, _) => x.2 % 2 == 0 && y.2 % 2 == 0 && ahead(y, z) % 2 == 1,
            (_, _, true) => x.2 % 2 == 0 && y.2 % 2 == 0 && ahead(z, x) % 2 == 1,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::rotation_board::Random;

    #[test]
    fn gains_are_seen_before_they_are_made() {
        let shape = BoardShape::new(3, 4, 2).expect("valid");
        let mut random = Random::new(3);
        for _ in 0..60 {
            let board = Board::shuffled(shape, &mut random);
            let cycles = Cycles::of(board.homes());
            let mut gains = 0;
            for x in 0..12 {
                for y in (0..12).filter(|&y| y != x) {
                    for z in (0..12).filter(|&z| z != x && z != y) {
                        // The tile in x goes to y, that in y to z, that in z to x.
                        let after = board.clone().exchanged(x, y).exchanged(x, z);
                        assert_eq!(after.homes()[index_u32(y)], board.homes()[index_u32(x)]);
                        assert_eq!(after.homes()[index_u32(z)], board.homes()[index_u32(y)]);
                        let gained = Cycles::of(after.homes()).three_cycles + 1 == cycles.three_cycles;
                        assert_eq!(cycles.gains([x, y, z]), gained, "{} {x} {y} {z}", board.text());
                        gains += u32::from(gained);
                    }
                }
            }
            assert!(gains > 0 || cycles.three_cycles == 0);
        }
    }
}
