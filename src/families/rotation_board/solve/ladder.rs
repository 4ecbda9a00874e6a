//! The ladder: words that cycle three cells and move nothing else, on sub-boards whose measures
//! grow with the block size n.
//!
//! | sub-board | quarter turns | valid |
//! | --- | --- | --- |
//! | n x (n+1) | 32; 26 for n = 4 | n >= 4 |
//! | n x (n+2) | 14 and 16, one for each colour | n >= 2 |
//! | (n+1) x (n+1) | 12 | n >= 2 |
//! | (n+1) x (n+2) | 10 | n >= 2 |
//! | (n+2) x (n+2) | 8 | n >= 2 |
//! | (2n-1) x (2n-1) | 4: the commutator of two blocks that share one cell | n >= 2 |
//!
//! Found by exhaustive search for small n and checked there for n up to 40. Nothing here trusts
//! them: a word counts only where it is seen to cycle three cells of the board at hand.

use super::shorten::inverse;
use crate::families::rotation_board::parse_turns;
use crate::families::rotation_board::{BlockTurn, BoardShape};

/// A word on a sub-board, in the letters of that sub-board.
struct Rung {
    /// Rows and columns of the sub-board for block size n.
    measures: fn(u32) -> (u32, u32),
    /// The block sizes it is for.
    valid: fn(u32) -> bool,
    letters: Letters,
}

/// How the word names its blocks.
enum Letters {
    /// As the sub-board does.
    Word(&'static str),
    /// The commutator of the first and the last block.
    Corners,
}

const RUNGS: [Rung; 8] = [
    Rung { measures: |n| (2 * n - 1, 2 * n - 1), valid: |n| n >= 2, letters: Letters::Corners },
    Rung { measures: |n| (n + 2, n + 2), valid: |n| n >= 2, letters: Letters::Word("B'FHD'H'DBF'") },
    Rung { measures: |n| (n + 1, n + 2), valid: |n| n >= 2, letters: Letters::Word("AE'BCF'C'EB'A'D") },
    Rung { measures: |n| (n + 1, n + 1), valid: |n| n >= 2, letters: Letters::Word("AC'A'C'DC'AC'D'B'A'C") },
    Rung { measures: |n| (n, n + 2), valid: |n| n >= 2, letters: Letters::Word("X'Y2ZYZ'Y'Z'Y2XYXY'") },
    Rung { measures: |n| (n, n + 2), valid: |n| n >= 2, letters: Letters::Word("XYZ'YX'YZY'XYZ'YX'YZY'") },
    Rung { measures: |n| (n, n + 1), valid: |n| n == 4, letters: Letters::Word("XYXY2X'Y'X'YX'Y'X'YX'Y'X'Y2XYXY'XYXY'") },
    Rung { measures: |n| (n, n + 1), valid: |n| n >= 4, letters: Letters::Word("XYX'Y'XYXY'X'Y'X2Y'X'Y2XYX'Y'XYXY'X'Y'X2Y'X'Y2") },
];

/// A word that cycles three cells of a window: the tile of each goes to the next one's cell.
#[derive(Clone, Debug)]
pub struct ThreeCycle {
    /// The cells, counted in the window.
    pub cells: [u32; 3],
    /// The word, in blocks of the window.
    pub word: Vec<BlockTurn>,
    /// Its length in quarter turns.
    pub cost: u64,
}

/// Every ladder word at every place of the window, under all symmetries of its sub-board, and
/// undone.
#[must_use]
pub fn three_cycles(window: BoardShape) -> Vec<ThreeCycle> {
    let n = window.block();
    let mut found = Vec::new();
    for rung in RUNGS.iter().filter(|rung| (rung.valid)(n)) {
        let (rows, columns) = (rung.measures)(n);
        let Ok(sub_board) = BoardShape::new(rows, columns, n) else { continue };
        let word = match rung.letters {
            Letters::Word(letters) => parse_turns(sub_board, letters).expect("the ladder's words fit their boards"),
            Letters::Corners => commutator(sub_board),
        };
        let Some(cells) = cycled(sub_board, &word) else { continue };
        let cost = word.iter().map(|turn| turn.quarter_cost()).sum();
        for symmetry in 0..8 {
            let (shape, cells, word) = mirrored(sub_board, cells, &word, symmetry);
            if shape.rows() > window.rows() || shape.columns() > window.columns() {
                continue;
            }
            for top in 0..=window.rows() - shape.rows() {
                for left in 0..=window.columns() - shape.columns() {
                    let cells = cells.map(|cell| {
                        let (row, column) = shape.place(cell);
                        window.cell(top + row, left + column)
                    });
                    let word: Vec<BlockTurn> = word
                        .iter()
                        .map(|turn| {
                            let (row, column) = shape.corner(turn.block);
                            BlockTurn { block: window.block_at(top + row, left + column), quarters: turn.quarters }
                        })
                        .collect();
                    let undone = inverse(&word);
                    found.push(ThreeCycle { cells: [cells[0], cells[2], cells[1]], word: undone, cost });
                    found.push(ThreeCycle { cells, word, cost });
                }
            }
        }
    }
    found
}

fn commutator(shape: BoardShape) -> Vec<BlockTurn> {
    let (first, last) = (0, shape.blocks() - 1);
    [(first, 1), (last, 1), (first, 3), (last, 3)].into_iter().map(|(block, quarters)| BlockTurn { block, quarters }).collect()
}

/// The three cells that the word cycles, when it moves nothing else: the tile of each goes to the
/// next one's cell.
#[must_use]
pub fn cycled(shape: BoardShape, word: &[BlockTurn]) -> Option<[u32; 3]> {
    let mut contents: Vec<u32> = (0..shape.cells()).collect();
    word.iter().for_each(|&turn| shape.turn(&mut contents, turn));
    let moved: Vec<(u32, u32)> = contents.iter().copied().zip(0..).filter(|(content, cell)| content != cell).collect();
    let [_, _, _] = moved[..] else { return None };
    let follow = |from: u32| moved.iter().find(|(content, _)| *content == from).map(|(_, cell)| *cell);
    let first = moved[0].1;
    let second = follow(first)?;
    Some([first, second, follow(second)?])
}

/// The board, cells and word seen in a mirror: bit 0 left and right, bit 1 top and bottom, bit 2
/// rows and columns. Each of them turns clockwise into counter-clockwise.
fn mirrored(shape: BoardShape, cells: [u32; 3], word: &[BlockTurn], symmetry: u32) -> (BoardShape, [u32; 3], Vec<BlockTurn>) {
    let swaps = symmetry & 4 != 0;
    let image = if swaps { BoardShape::new(shape.columns(), shape.rows(), shape.block()).expect("the measures swapped") } else { shape };
    let place = |(mut row, mut column): (u32, u32), rows: u32, columns: u32| {
        if symmetry & 1 != 0 {
            column = columns - 1 - column;
        }
        if symmetry & 2 != 0 {
            row = rows - 1 - row;
        }
        if swaps { (column, row) } else { (row, column) }
    };
    let cells = cells.map(|cell| {
        let (row, column) = place(shape.place(cell), shape.rows(), shape.columns());
        image.cell(row, column)
    });
    let odd = symmetry.count_ones() % 2 == 1;
    let word = word
        .iter()
        .map(|turn| {
            let (row, column) = place(shape.corner(turn.block), shape.block_rows(), shape.block_columns());
            BlockTurn { block: image.block_at(row, column), quarters: if odd { 4 - turn.quarters } else { turn.quarters } }
        })
        .collect();
    (image, cells, word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::index_u32;

    #[test]
    fn every_word_cycles_its_cells_everywhere() {
        for n in 2..=24 {
            for (rows, columns) in [(n, n + 1), (n + 2, n), (n + 1, n + 1), (n + 3, n + 2), (2 * n - 1, 2 * n - 1)] {
                if n > 9 && rows > n + 1 {
                    continue;
                }
                let Ok(window) = BoardShape::new(rows, columns, n) else { continue };
                let cycles = three_cycles(window);
                assert_eq!(cycles.is_empty(), columns == n + 1 && rows == n && n < 4, "{window}");
                for cycle in cycles {
                    let mut contents: Vec<u32> = (0..window.cells()).collect();
                    cycle.word.iter().for_each(|&turn| window.turn(&mut contents, turn));
                    let [a, b, c] = cycle.cells;
                    for (from, to) in [(a, b), (b, c), (c, a)] {
                        assert_eq!(contents[index_u32(to)], from, "{window}");
                    }
                    let moved = contents.iter().zip(0_u32..).filter(|(content, cell)| *content != cell).count();
                    assert_eq!(moved, 3);
                }
            }
        }
    }
}
