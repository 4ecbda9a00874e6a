//! A board with numbers in its cells, and how people write it.

use super::turn_names::TWIDDLE;
use crate::base::config_text::shown_text;
use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::base::{Error, Result};
use crate::families::rotation_board::{BlockTurn, BoardShape};

/// A board. Cells hold their tile's home: tile t is at home in cell t - 1, in book order.
/// Invariant: every home once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    shape: BoardShape,
    homes: Vec<u32>,
}

impl Board {
    /// The solved board.
    #[must_use]
    pub fn solved(shape: BoardShape) -> Self {
        Self { shape, homes: (0..shape.cells()).collect() }
    }

    /// The board with these numbers, 1 to the number of cells, in book order.
    ///
    /// # Errors
    /// `Usage` when a number is missing, repeated or out of range; the message names it and its
    /// cell.
    pub fn new(shape: BoardShape, numbers: &[u64]) -> Result<Self> {
        let cells = u64::from(shape.cells());
        let refuse = |found: String| {
            Error::Usage(format!("board {shape}: found {found}, expected each number from 1 to {cells} once; correct the board"))
        };
        if to_u64(numbers.len()) != cells {
            return Err(refuse(format!("{} numbers", numbers.len())));
        }
        let mut place_of: Vec<Option<u32>> = vec![None; numbers.len()];
        let mut homes = Vec::with_capacity(numbers.len());
        for (&number, cell) in numbers.iter().zip(0_u32..) {
            let at = |cell: u32| {
                let (row, column) = shape.place(cell);
                format!("row {}, column {}", row + 1, column + 1)
            };
            if number == 0 || number > cells {
                return Err(refuse(format!("{number} in {}", at(cell))));
            }
            let home = low_u32(number - 1);
            if let Some(first) = place_of[index_u32(home)].replace(cell) {
                return Err(refuse(format!("{number} twice, in {} and in {}", at(first), at(cell))));
            }
            homes.push(home);
        }
        Ok(Self { shape, homes })
    }

    /// The board of a text: numbers separated by blanks or commas. Line breaks, `/` and `;` end a
    /// row; a text of one row is read in book order.
    ///
    /// # Errors
    /// `Usage` when a word is no number, a row has another length than the board's, or the numbers
    /// make no board.
    pub fn parse(shape: BoardShape, text: &str) -> Result<Self> {
        let rows: Vec<Vec<u64>> = text
            .split(['\n', '/', ';'])
            .map(|row| row.split([' ', '\t', '\r', ',']).filter(|word| !word.is_empty()).map(number).collect::<Result<Vec<u64>>>())
            .filter(|row| row.as_ref().map_or(true, |row| !row.is_empty()))
            .collect::<Result<_>>()?;
        if rows.len() > 1 {
            let (count, length) = (index_u32(shape.rows()), index_u32(shape.columns()));
            if let Some((row, numbers)) = rows.iter().enumerate().find(|(_, row)| row.len() != length) {
                return Err(Error::Usage(format!(
                    "board {shape}: found {} numbers in row {}, expected {length} in every row; correct the row or the size",
                    numbers.len(),
                    row + 1
                )));
            }
            if rows.len() != count {
                return Err(Error::Usage(format!(
                    "board {shape}: found {} rows, expected {count}; correct the board or its size",
                    rows.len()
                )));
            }
        }
        Self::new(shape, &rows.concat())
    }

    /// The board of a game string of Simon Tatham's Twiddle: `3x3n2:5,1,...`, parameters (width
    /// first), then the numbers in book order. None when the text has no colon.
    ///
    /// # Errors
    /// As for names and boards, and when the part before the colon is no parameter string.
    pub fn from_twiddle(text: &str) -> Result<Option<Self>> {
        let text = text.trim();
        let Some((parameters, numbers)) = text.strip_prefix(TWIDDLE).unwrap_or(text).split_once(':') else { return Ok(None) };
        let shape = BoardShape::from_name(&format!("{TWIDDLE}{}", parameters.trim()))?.ok_or_else(|| {
            Error::Usage(format!(
                "found \"{}\" before the colon, expected Twiddle's parameters widthxheightnblock, such as 4x3n2",
                shown_text(parameters.trim())
            ))
        })?;
        Self::parse(shape, numbers).map(Some)
    }

    /// Its shape.
    #[must_use]
    pub fn shape(&self) -> BoardShape {
        self.shape
    }

    /// For each cell the home of the tile in it.
    #[must_use]
    pub fn homes(&self) -> &[u32] {
        &self.homes
    }

    /// Whether every tile is at home.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.homes.iter().zip(0..).all(|(&home, cell)| home == cell)
    }

    /// Turns a block.
    pub fn turn(&mut self, turn: BlockTurn) {
        self.shape.turn(&mut self.homes, turn);
    }

    /// The board whose tiles are moved from home to the cells where this one's tiles have their
    /// homes: the inverse permutation. A word that solves the one, undone, makes it of the other's
    /// goal.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut homes = vec![0; self.homes.len()];
        for (&home, cell) in self.homes.iter().zip(0..) {
            homes[index_u32(home)] = cell;
        }
        Self { shape: self.shape, homes }
    }

    /// The board with rows and columns exchanged, tiles renumbered by their homes.
    ///
    /// # Panics
    /// Never: the measures are those of a board.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let shape = BoardShape::new(self.shape.columns(), self.shape.rows(), self.shape.block()).expect("the measures exchanged");
        let image = |cell: u32| {
            let (row, column) = self.shape.place(cell);
            shape.cell(column, row)
        };
        let mut homes = vec![0; self.homes.len()];
        for (&home, cell) in self.homes.iter().zip(0..) {
            homes[index_u32(image(cell))] = image(home);
        }
        Self { shape, homes }
    }

    /// The numbers in book order, separated by blanks.
    #[must_use]
    pub fn text(&self) -> String {
        self.homes.iter().map(|home| (home + 1).to_string()).collect::<Vec<_>>().join(" ")
    }

    /// A board made by `turns` pseudo-random quarter turns of the solved one, so a solvable one:
    /// xorshift64* from `seed`.
    #[must_use]
    pub fn scrambled(shape: BoardShape, seed: u64, turns: u64) -> Self {
        let mut board = Self::solved(shape);
        let mut random = Random::new(seed);
        for _ in 0..turns {
            let block = low_u32(random.below(u64::from(shape.blocks())));
            board.turn(BlockTurn { block, quarters: if random.below(2) == 0 { 1 } else { 3 } });
        }
        board
    }

    /// A board whose tiles are permuted at random, solvable or not (Fisher and Yates's shuffle).
    #[must_use]
    pub fn shuffled(shape: BoardShape, random: &mut Random) -> Self {
        let mut homes: Vec<u32> = (0..shape.cells()).collect();
        for last in (1..homes.len()).rev() {
            homes.swap(last, index_u32(low_u32(random.below(to_u64(last) + 1))));
        }
        Self { shape, homes }
    }

    /// The same board with two tiles exchanged, by cells.
    #[must_use]
    pub fn exchanged(mut self, first: u32, second: u32) -> Self {
        self.homes.swap(index_u32(first), index_u32(second));
        self
    }
}

fn number(word: &str) -> Result<u64> {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| digits).ok_or_else(|| {
        let letter =
            word.ends_with(['u', 'l', 'd', 'r']) && word.len() > 1 && word[..word.len() - 1].bytes().all(|byte| byte.is_ascii_digit());
        let cure = if letter { "; tiles with an orientation are not supported" } else { "; correct the board" };
        Error::Usage(format!(
            "found \"{}\" in a board, expected whole numbers from 1 to the number of cells, separated by blanks or commas{cure}",
            shown_text(word)
        ))
    })
}

/// Pseudo-random numbers for boards: Marsaglia's xorshift with a final multiplication (Vigna's
/// xorshift64*), after mixing the seed by splitmix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ mixed >> 31) | 1)
    }

    /// A number below `bound`, which is far below 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> BoardShape {
        BoardShape::new(2, 3, 2).expect("valid")
    }

    #[test]
    fn boards_are_read_in_several_forms() {
        let board = Board::new(shape(), &[2, 5, 3, 1, 4, 6]).expect("a board");
        for text in ["2 5 3 1 4 6", "2,5,3,1,4,6", "2 5 3 / 1 4 6", "2 5 3\n1 4 6\n", " 2, 5, 3;\r\n 1,4,6 "] {
            assert_eq!(Board::parse(shape(), text).expect("a board"), board, "{text}");
        }
        assert_eq!(Board::from_twiddle("3x2n2:2,5,3,1,4,6").expect("a game"), Some(board.clone()));
        assert_eq!(Board::from_twiddle("2 5 3").expect("no game"), None);
        let mut made = Board::solved(shape());
        made.turn(BlockTurn { block: 0, quarters: 1 });
        assert_eq!(made, board);
        assert_eq!(board.inverse().inverse(), board);
        assert_eq!(board.text(), "2 5 3 1 4 6");
    }

    #[test]
    fn bad_boards_say_what_is_wrong() {
        for (text, part) in [
            ("1 2 3 4 5", "found 5 numbers, expected each number from 1 to 6 once"),
            ("1 2 3 4 5 5", "found 5 twice, in row 2, column 2 and in row 2, column 3"),
            ("1 2 3 4 5 7", "found 7 in row 2, column 3"),
            ("0 2 3 4 5 6", "found 0 in row 1, column 1"),
            ("1 2 3 4\n5 6", "found 4 numbers in row 1, expected 3 in every row"),
            ("1 2 3\n4 5 6\n7 8 9", "found 3 rows, expected 2"),
            ("1 2 x 4 5 6", "found \"x\" in a board"),
            ("1u 2u 3u 4u 5u 6u", "tiles with an orientation are not supported"),
            ("", "found 0 numbers"),
        ] {
            let error = Board::parse(shape(), text).expect_err("no board");
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(part), "{error}");
        }
        let text = Board::from_twiddle("3by2:1,2").expect_err("no game").to_string();
        assert!(text.contains("\"3by2\" before the colon"), "{text}");
    }
}
