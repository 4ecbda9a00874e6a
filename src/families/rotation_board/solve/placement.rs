//! Direct placement: cells are finished one by one, each by a shortest path of its tile over blocks
//! without finished cells.
//!
//! A finished cell freezes all blocks that contain it. So the cells to finish are those in one free
//! block only, corners of what is still free: each costs one block, and as many cells can be
//! finished as there are blocks. Of these the one with the shortest path is next. Tiles that cannot
//! reach their cell are left to the 3-cycles.

use super::work::Work;
use crate::base::ids::{index_u32, low_u32};
use crate::families::rotation_board::{BlockTurn, BoardShape};
use std::collections::VecDeque;

/// The blocks that may turn.
struct Free {
    shape: BoardShape,
    blocks: Vec<bool>,
    /// For each cell the number of free blocks that contain it.
    cover: Vec<u32>,
}

impl Free {
    fn all(shape: BoardShape) -> Self {
        let cover = (0..shape.cells()).map(|cell| low_u32(blocks_of(shape, cell).count().try_into().expect("a count"))).collect();
        Self { shape, blocks: vec![true; index_u32(shape.blocks())], cover }
    }

    /// Freezes the blocks that contain `cell`.
    fn finish(&mut self, cell: u32) {
        for block in blocks_of(self.shape, cell) {
            if std::mem::replace(&mut self.blocks[index_u32(block)], false) {
                for member in cells_of(self.shape, block) {
                    self.cover[index_u32(member)] -= 1;
                }
            }
        }
    }
}

/// The blocks that contain a cell.
pub fn blocks_of(shape: BoardShape, cell: u32) -> impl Iterator<Item = u32> {
    let (row, column) = shape.place(cell);
    let range = |at: u32, blocks: u32| (at + 1).saturating_sub(shape.block())..=at.min(blocks - 1);
    let columns = range(column, shape.block_columns());
    range(row, shape.block_rows()).flat_map(move |row| columns.clone().map(move |column| shape.block_at(row, column)))
}

/// The cells of a block.
fn cells_of(shape: BoardShape, block: u32) -> impl Iterator<Item = u32> {
    let (top, left) = shape.corner(block);
    (top..top + shape.block()).flat_map(move |row| (left..left + shape.block()).map(move |column| shape.cell(row, column)))
}

/// A breadth-first search over the cells that a tile can reach.
struct Paths {
    /// For each cell the search that came there last, and the turn that leads on from there towards
    /// that search's goal.
    reached: Vec<(u32, BlockTurn)>,
    search: u32,
}

impl Paths {
    /// Quarter turns that take the tile in `from` to `goal`, when there are at most `most`.
    fn length(&mut self, free: &Free, from: u32, goal: u32, most: u32) -> Option<u32> {
        self.search += 1;
        self.reached[index_u32(goal)].0 = self.search;
        let mut open = VecDeque::from([(goal, 0)]);
        while let Some((cell, length)) = open.pop_front() {
            if cell == from {
                return Some(length);
            }
            if length == most {
                continue;
            }
            for block in blocks_of(free.shape, cell).filter(|&block| free.blocks[index_u32(block)]) {
                for quarters in [1, 3] {
                    let turn = BlockTurn { block, quarters };
                    let before = free.shape.target(turn, cell);
                    let entry = &mut self.reached[index_u32(before)];
                    if entry.0 != self.search {
                        *entry = (self.search, turn.inverse());
                        open.push_back((before, length + 1));
                    }
                }
            }
        }
        None
    }

    /// The turns of the path that the last search found from `from`.
    fn follow(&self, shape: BoardShape, mut from: u32, goal: u32) -> Vec<BlockTurn> {
        let mut turns = Vec::new();
        while from != goal {
            let turn = self.reached[index_u32(from)].1;
            turns.push(turn);
            from = shape.target(turn, from);
        }
        turns
    }
}

/// Finishes cells as long as that is possible. `variant` decides ties.
pub fn place(work: &mut Work, variant: u64) {
    let shape = work.shape();
    let mut free = Free::all(shape);
    let mut paths = Paths { reached: vec![(0, BlockTurn { block: 0, quarters: 1 }); index_u32(shape.cells())], search: 0 };
    loop {
        let place_of = work.places();
        let mut best: Option<(u32, u64, u32)> = None;
        for cell in (0..shape.cells()).filter(|&cell| free.cover[index_u32(cell)] == 1) {
            let most = best.map_or(u32::MAX, |best| best.0);
            if let Some(length) = paths.length(&free, place_of[index_u32(cell)], cell, most) {
                let candidate = (length, work.tie(variant, cell), cell);
                if best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
        }
        let Some((_, _, cell)) = best else { return };
        let from = place_of[index_u32(cell)];
        paths.length(&free, from, cell, u32::MAX);
        for turn in paths.follow(shape, from, cell) {
            work.turn(turn);
        }
        free.finish(cell);
    }
}
