//! The turns that a search of a board may make, as the numbered moves of a ball.

use super::shape::{BlockTurn, BoardShape};

/// Turns of every block by some numbers of quarters, numbered block by block.
#[derive(Clone, Debug)]
pub struct Turns {
    shape: BoardShape,
    turns: Vec<BlockTurn>,
}

impl Turns {
    /// The turns of the blocks of `shape` by each of `quarters`.
    #[must_use]
    pub fn of(shape: BoardShape, quarters: &[u8]) -> Self {
        let of_block = |block| quarters.iter().map(move |&quarters| BlockTurn { block, quarters });
        Self { shape, turns: (0..shape.blocks()).flat_map(of_block).collect() }
    }

    /// The board.
    #[must_use]
    pub fn shape(&self) -> BoardShape {
        self.shape
    }

    /// How many there are.
    #[must_use]
    pub fn number(&self) -> usize {
        self.turns.len()
    }

    /// What the cells hold after a turn.
    #[must_use]
    pub fn turned<T: Copy>(&self, cells: &[T], number: usize) -> Vec<T> {
        self.after(cells, self.turns[number])
    }

    /// What the cells held before a turn.
    #[must_use]
    pub fn turned_back<T: Copy>(&self, cells: &[T], number: usize) -> Vec<T> {
        self.after(cells, self.turns[number].inverse())
    }

    /// The word as turns.
    #[must_use]
    pub fn played(&self, word: &[usize]) -> Vec<BlockTurn> {
        word.iter().map(|&number| self.turns[number]).collect()
    }

    /// The turns that undo the word.
    #[must_use]
    pub fn undone(&self, word: &[usize]) -> Vec<BlockTurn> {
        word.iter().rev().map(|&number| self.turns[number].inverse()).collect()
    }

    fn after<T: Copy>(&self, cells: &[T], turn: BlockTurn) -> Vec<T> {
        let mut cells = cells.to_vec();
        self.shape.turn(&mut cells, turn);
        cells
    }
}
