//! The shape of a number rotation board: its cells, its blocks, its turns, and their names.
//!
//! `rows x columns` cells hold the numbers 1 to `rows * columns`; the goal is book order. A *block*
//! is a square of `block x block` cells, named by its top-left cell; a *turn* rotates the contents
//! of a block by 90, 180 or 270 degrees. Counter-clockwise, the content of the block's cell (i, j)
//! goes to (block-1-j, i), counted from 0. Cells are numbered in book order from 0.

use crate::base::ids::index_u32;
use crate::base::{Error, Result};
use std::fmt;

/// Most cells of a board: 1024 x 1024.
pub const MOST_CELLS: u32 = 1 << 20;

/// Rows, columns and block size of a board. Invariant: `2 <= block <= min(rows, columns)`, at most
/// [`MOST_CELLS`] cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BoardShape {
    rows: u32,
    columns: u32,
    block: u32,
}

/// A rotation of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockTurn {
    /// Number of the block, row by row.
    pub block: u32,
    /// Quarter turns counter-clockwise, 1 to 3.
    pub quarters: u8,
}

impl BlockTurn {
    /// Cost in quarter turns: 1 either way, 2 for half a turn.
    #[must_use]
    pub fn quarter_cost(self) -> u64 {
        if self.quarters == 2 { 2 } else { 1 }
    }

    /// The turn that undoes it.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { block: self.block, quarters: 4 - self.quarters }
    }
}

impl BoardShape {
    /// The shape with these measures.
    ///
    /// # Errors
    /// `Config` when there is no such board, or it has more than [`MOST_CELLS`] cells.
    pub fn new(rows: u32, columns: u32, block: u32) -> Result<Self> {
        let refuse = |found: String, cure: &str| Err(Error::config(format!("rotation board {rows}x{columns}n{block}: {found}; {cure}")));
        if block < 2 {
            return refuse(format!("found blocks of {block}x{block} cells, expected at least 2x2"), "choose a larger block");
        }
        if block > rows.min(columns) {
            return refuse(
                format!("found blocks of {block}x{block} cells, expected at most {0}x{0}: they must fit the board", rows.min(columns)),
                "choose a smaller block or a larger board",
            );
        }
        if u64::from(rows) * u64::from(columns) > u64::from(MOST_CELLS) {
            let cells = u64::from(rows) * u64::from(columns);
            return refuse(format!("found {cells} cells, expected at most {MOST_CELLS}"), "choose a smaller board");
        }
        Ok(Self { rows, columns, block })
    }

    /// Rows of cells.
    #[must_use]
    pub fn rows(self) -> u32 {
        self.rows
    }

    /// Columns of cells.
    #[must_use]
    pub fn columns(self) -> u32 {
        self.columns
    }

    /// Cells along the edge of a block.
    #[must_use]
    pub fn block(self) -> u32 {
        self.block
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(self) -> u32 {
        self.rows * self.columns
    }

    /// Blocks in a row of blocks.
    #[must_use]
    pub fn block_columns(self) -> u32 {
        self.columns - self.block + 1
    }

    /// Rows of blocks.
    #[must_use]
    pub fn block_rows(self) -> u32 {
        self.rows - self.block + 1
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(self) -> u32 {
        self.block_rows() * self.block_columns()
    }

    /// Row and column, from 0, of the top-left cell of `block`.
    #[must_use]
    pub fn corner(self, block: u32) -> (u32, u32) {
        (block / self.block_columns(), block % self.block_columns())
    }

    /// The block with this top-left cell, counted from 0.
    #[must_use]
    pub fn block_at(self, row: u32, column: u32) -> u32 {
        row * self.block_columns() + column
    }

    /// The cell at a row and column, counted from 0.
    #[must_use]
    pub fn cell(self, row: u32, column: u32) -> u32 {
        row * self.columns + column
    }

    /// Row and column of a cell, from 0.
    #[must_use]
    pub fn place(self, cell: u32) -> (u32, u32) {
        (cell / self.columns, cell % self.columns)
    }

    /// Colour of a cell like a checkerboard's: false for the colour of the top-left corner.
    #[must_use]
    pub fn colour(self, cell: u32) -> bool {
        let (row, column) = self.place(cell);
        (row + column) % 2 == 1
    }

    /// Where a turn takes the content of `cell`.
    #[must_use]
    pub fn target(self, turn: BlockTurn, cell: u32) -> u32 {
        let (top, left) = self.corner(turn.block);
        let (row, column) = self.place(cell);
        if row < top || column < left || row >= top + self.block || column >= left + self.block {
            return cell;
        }
        let last = self.block - 1;
        let (mut row, mut column) = (row - top, column - left);
        for _ in 0..turn.quarters {
            (row, column) = (last - column, row);
        }
        self.cell(top + row, left + column)
    }

    /// Turns the contents of `cells`. Costs the block's cells.
    pub fn turn<T: Copy>(self, cells: &mut [T], turn: BlockTurn) {
        let (top, left) = self.corner(turn.block);
        let at = |row: u32, column: u32| index_u32(self.cell(top + row, left + column));
        let last = self.block - 1;
        for row in 0..self.block / 2 {
            for column in 0..self.block.div_ceil(2) {
                // The four places of a cycle, counter-clockwise.
                let ring = [at(row, column), at(last - column, row), at(last - row, last - column), at(column, last - row)];
                let contents = ring.map(|cell| cells[cell]);
                for (place, content) in contents.into_iter().enumerate() {
                    cells[ring[(place + usize::from(turn.quarters)) % 4]] = content;
                }
            }
        }
    }

    /// The short name: `rotation-board-3x4n2` has three rows.
    #[must_use]
    pub fn name(self) -> String {
        format!("rotation-board-{self}")
    }
}

impl fmt::Display for BoardShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}x{}n{}", self.rows, self.columns, self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_move_contents_as_described() {
        let shape = BoardShape::new(2, 3, 2).expect("valid");
        let mut cells = [1, 2, 3, 4, 5, 6];
        // 1 2 3 / 4 5 6: the left block counter-clockwise gives 2 5 3 / 1 4 6.
        shape.turn(&mut cells, BlockTurn { block: 0, quarters: 1 });
        assert_eq!(cells, [2, 5, 3, 1, 4, 6]);
        for (rows, columns, block) in [(3, 4, 2), (5, 4, 3), (7, 6, 5), (4, 4, 4)] {
            let shape = BoardShape::new(rows, columns, block).expect("valid");
            for block in 0..shape.blocks() {
                for quarters in 1..=3 {
                    let turn = BlockTurn { block, quarters };
                    let mut cells: Vec<u32> = (0..shape.cells()).collect();
                    shape.turn(&mut cells, turn);
                    for cell in 0..shape.cells() {
                        assert_eq!(cells[index_u32(shape.target(turn, cell))], cell);
                    }
                    shape.turn(&mut cells, turn.inverse());
                    assert!(cells.is_sorted());
                }
            }
        }
    }

    #[test]
    fn impossible_shapes_say_why() {
        for ((rows, columns, block), part) in [
            ((3, 4, 1), "found blocks of 1x1 cells, expected at least 2x2"),
            ((3, 4, 4), "expected at most 3x3: they must fit the board"),
            ((2_000, 2_000, 2), "found 4000000 cells, expected at most 1048576"),
        ] {
            let text = BoardShape::new(rows, columns, block).expect_err("impossible").to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}
