//! The cheapest known way to cycle three cells of the board: by the table where a window holds
//! them, else by a search that brings them into one.

use super::placement::blocks_of;
use super::triple_table::{Triple, TripleTable, conjugated};
use crate::base::Result;
use crate::families::rotation_board::{BlockTurn, BoardShape};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

/// Triples that a search looks at before it takes the best it has found, and before it gives up.
const ENOUGH_NODES: usize = 60;
const MOST_NODES: usize = 4_000_000;

/// How much the search prefers cells that are nearer each other to few turns: 1 would be exact, and
/// slow where cells are far apart.
const HURRY: u64 = 3;

/// The table of a window, used all over a board.
#[derive(Clone, Debug)]
pub struct Setups {
    shape: BoardShape,
    table: TripleTable,
}

/// A way to cycle three cells.
#[derive(Clone, Debug)]
pub struct Way {
    /// Quarter turns.
    pub cost: u64,
    /// Turns before, undone after.
    setup: Vec<BlockTurn>,
    /// The cells then, and the top-left cell of the window that holds them.
    triple: Triple,
    corner: (u32, u32),
}

/// A triple that a search has seen, with the node and turn before it and the number of turns so
/// far.
struct Node {
    triple: Triple,
    before: Option<(usize, BlockTurn)>,
    depth: u64,
}

impl Setups {
    /// For a board of this shape, which is not that of a small group; none when the table would be
    /// too large.
    ///
    /// # Errors
    /// `Invariant` when there are no ladder words.
    pub fn of(shape: BoardShape) -> Result<Option<Self>> {
        Ok(TripleTable::of(shape)?.map(|table| Self { shape, table }))
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &TripleTable {
        &self.table
    }

    /// Places of the window: the number of top rows and of left columns.
    #[must_use]
    pub fn windows(&self) -> (u32, u32) {
        let window = self.table.window();
        (self.shape.rows() - window.rows() + 1, self.shape.columns() - window.columns() + 1)
    }

    /// A triple of the window, when its top-left cell is `corner`.
    #[must_use]
    pub fn on_board(&self, triple: Triple, corner: (u32, u32)) -> Triple {
        triple.map(|cell| {
            let (row, column) = self.table.window().place(cell);
            self.shape.cell(corner.0 + row, corner.1 + column)
        })
    }

    fn in_window(&self, triple: Triple, corner: (u32, u32)) -> Triple {
        triple.map(|cell| {
            let (row, column) = self.shape.place(cell);
            self.table.window().cell(row - corner.0, column - corner.1)
        })
    }

    /// The least cost of all windows that hold the triple, and that window's corner.
    #[must_use]
    pub fn by_table(&self, triple: Triple) -> Option<(u64, (u32, u32))> {
        let window = self.table.window();
        let (top, left, bottom, right) = self.bounds(triple);
        let (window_rows, window_columns) = self.windows();
        let rows = (bottom + 1).saturating_sub(window.rows())..=top.min(window_rows - 1);
        let mut best: Option<(u64, (u32, u32))> = None;
        for row in rows {
            for column in (right + 1).saturating_sub(window.columns())..=left.min(window_columns - 1) {
                let cost = self.table.cost(self.in_window(triple, (row, column))).map(u64::from);
                best = best.into_iter().chain(cost.map(|cost| (cost, (row, column)))).min_by_key(|found| found.0);
            }
        }
        best
    }

    /// Top, left, bottom and right of the three cells.
    fn bounds(&self, triple: Triple) -> (u32, u32, u32, u32) {
        let places = triple.map(|cell| self.shape.place(cell));
        let least = |values: [u32; 3]| values.into_iter().min().expect("three");
        let most = |values: [u32; 3]| values.into_iter().max().expect("three");
        let (rows, columns) = (places.map(|place| place.0), places.map(|place| place.1));
        (least(rows), least(columns), most(rows), most(columns))
    }

    /// Rows and columns by which the cells are too far apart for a window, and the sum of their
    /// distances.
    #[must_use]
    pub fn spread(&self, triple: Triple) -> (u32, u32) {
        let (top, left, bottom, right) = self.bounds(triple);
        let window = self.table.window();
        let excess = (bottom - top + 1).saturating_sub(window.rows()) + (right - left + 1).saturating_sub(window.columns());
        let distance = |first: u32, second: u32| {
            let ((row, column), (other_row, other_column)) = (self.shape.place(first), self.shape.place(second));
            row.abs_diff(other_row) + column.abs_diff(other_column)
        };
        (excess, distance(triple[0], triple[1]) + distance(triple[1], triple[2]) + distance(triple[2], triple[0]))
    }

    /// A cheap way, found by a best-first search over turns before the table's: by cost so far and
    /// [`HURRY`] times the turns that the excess must take. Ends after [`ENOUGH_NODES`] triples
    /// with a way at hand.
    #[must_use]
    pub fn way(&self, triple: Triple) -> Option<Way> {
        let mut nodes = vec![Node { triple, before: None, depth: 0 }];
        let mut known: HashSet<Triple> = HashSet::from([triple]);
        let rank = |triple: Triple, depth: u64| {
            let (excess, distance) = self.spread(triple);
            (2 * depth + HURRY * 2 * u64::from(excess.div_ceil(self.shape.block() - 1)), distance)
        };
        let mut open = BinaryHeap::from([Reverse((rank(triple, 0), 0_usize))]);
        let mut best: Option<(u64, usize, (u32, u32))> = None;
        let mut looked_at = 0;
        while let Some(Reverse((_, node))) = open.pop() {
            if best.is_some() && looked_at >= ENOUGH_NODES || nodes.len() > MOST_NODES {
                break;
            }
            looked_at += 1;
            let Node { triple: here, depth, .. } = nodes[node];
            let found = self.by_table(here).map(|(cost, corner)| (cost + 2 * depth, node, corner));
            best = best.into_iter().chain(found).min_by_key(|found| found.0);
            let mut blocks: Vec<u32> = here.iter().flat_map(|&cell| blocks_of(self.shape, cell)).collect();
            blocks.sort_unstable();
            blocks.dedup();
            for block in blocks {
                for quarters in [1, 3] {
                    let turn = BlockTurn { block, quarters };
                    let next = here.map(|cell| self.shape.target(turn, cell));
                    if known.insert(next) {
                        nodes.push(Node { triple: next, before: Some((node, turn)), depth: depth + 1 });
                        open.push(Reverse((rank(next, depth + 1), nodes.len() - 1)));
                    }
                }
            }
        }
        let (cost, node, corner) = best?;
        let mut setup = Vec::new();
        let mut at = node;
        while let Some((before, turn)) = nodes[at].before {
            setup.push(turn);
            at = before;
        }
        setup.reverse();
        Some(Way { cost, setup, triple: nodes[node].triple, corner })
    }

    /// The way of [`Setups::by_table`].
    #[must_use]
    pub fn table_way(&self, triple: Triple) -> Option<Way> {
        self.by_table(triple).map(|(cost, corner)| Way { cost, setup: Vec::new(), triple, corner })
    }

    /// The turns of a way.
    #[must_use]
    pub fn word(&self, way: &Way) -> Vec<BlockTurn> {
        let word: Vec<BlockTurn> = self
            .table
            .word(self.in_window(way.triple, way.corner))
            .into_iter()
            .map(|turn| {
                let (row, column) = self.table.window().corner(turn.block);
                BlockTurn { block: self.shape.block_at(way.corner.0 + row, way.corner.1 + column), quarters: turn.quarters }
            })
            .collect();
        conjugated(&way.setup, &word)
    }
}
