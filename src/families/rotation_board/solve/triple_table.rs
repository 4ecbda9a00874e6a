//! What it costs to cycle three cells of a window: the shortest `setup, ladder word, setup undone`,
//! in quarter turns.
//!
//! A triple (x, y, z) stands for the 3-cycle that takes the tile in x to y, y to z, z to x. Sources
//! are the triples of the ladder's words with the words' lengths; a turn g before, undone after,
//! costs 2 more and makes the triple g^-1(x, y, z) of (x, y, z). Dijkstra's search over all
//! triples, with buckets by cost; a byte for each triple is kept. The window is the largest one
//! that is cheap, or, where even the smallest with ladder words is not, that one, up to
//! [`MOST_TRIPLES`]: blocks of 20 on 20x21 cells take seconds and half a gigabyte.

use super::ladder::{ThreeCycle, three_cycles};
use super::shorten::inverse;
use crate::base::ids::{index_u32, low_u8, to_u64, to_usize};
use crate::base::{Error, Result};
use crate::families::rotation_board::{BlockTurn, BoardShape};
use std::collections::HashMap;

/// Triples of cells that a table may have: 441 cells.
const MOST_TRIPLES: u64 = 86_000_000;

/// Turns tried while the table is built that are thought affordable: about a quarter of a second.
const MOST_STEPS: u64 = 16_000_000;

/// Cheapest triples that are listed for those who look for any good one.
const MOST_LISTED: usize = 400_000;

/// No way is known.
const UNKNOWN: u8 = u8::MAX;

/// Three cells in the order of their cycle.
pub type Triple = [u32; 3];

/// The costs of a window.
#[derive(Clone, Debug)]
pub struct TripleTable {
    window: BoardShape,
    words: Vec<ThreeCycle>,
    sources: HashMap<u64, usize>,
    costs: Vec<u8>,
    /// The cheapest triples, one of each three rotations, ascending by cost.
    listed: Vec<(u8, Triple)>,
    turns: Vec<BlockTurn>,
    /// For each turn the target of each cell.
    targets: Vec<Vec<u32>>,
}

impl TripleTable {
    /// The table of the largest cheap window of `shape`; none when even the smallest window with
    /// ladder words has more than [`MOST_TRIPLES`] triples.
    ///
    /// # Errors
    /// `Invariant` when no window has ladder words, which is so for the boards of small groups
    /// only.
    pub fn of(shape: BoardShape) -> Result<Option<Self>> {
        let n = shape.block();
        let mut window = BoardShape::new(n, n, n)?;
        // Grow by a row or column, the smaller measure first, until there are words, and then as
        // long as it is cheap.
        loop {
            let grown = |rows: u32, columns: u32| {
                (rows <= shape.rows() && columns <= shape.columns()).then(|| BoardShape::new(rows, columns, n).ok()).flatten()
            };
            let (row, column) = (grown(window.rows() + 1, window.columns()), grown(window.rows(), window.columns() + 1));
            let Some(larger) = (if window.rows() < window.columns() { row.or(column) } else { column.or(row) }) else { break };
            if steps(larger) > MOST_STEPS && !three_cycles(window).is_empty() {
                break;
            }
            window = larger;
        }
        let words = three_cycles(window);
        if words.is_empty() {
            return Err(Error::invariant(format!("ladder words on the board {shape}"), "none", "some"));
        }
        let fits = u64::from(window.cells()).pow(3) <= MOST_TRIPLES;
        Ok(fits.then(|| Self::new(window, words)))
    }

    fn new(window: BoardShape, words: Vec<ThreeCycle>) -> Self {
        let turns: Vec<BlockTurn> = (0..window.blocks()).flat_map(|block| [1, 3].map(|quarters| BlockTurn { block, quarters })).collect();
        let targets = turns.iter().map(|&turn| (0..window.cells()).map(|cell| window.target(turn, cell)).collect()).collect();
        let costs = vec![UNKNOWN; to_usize(u64::from(window.cells()).pow(3))];
        let mut table = Self { window, words, sources: HashMap::new(), costs, listed: Vec::new(), turns, targets };
        table.fill();
        table
    }

    fn fill(&mut self) {
        let mut buckets: Vec<Vec<Triple>> = Vec::new();
        let put = |buckets: &mut Vec<Vec<Triple>>, cost: usize, triple: Triple| {
            if buckets.len() <= cost {
                buckets.resize(cost + 1, Vec::new());
            }
            buckets[cost].push(triple);
        };
        for (number, word) in self.words.iter().enumerate() {
            let [x, y, z] = word.cells;
            for triple in [[x, y, z], [y, z, x], [z, x, y]] {
                let best = self.sources.entry(key(self.window, triple)).or_insert(number);
                if self.words[*best].cost >= word.cost {
                    *best = number;
                    put(&mut buckets, to_usize(word.cost), triple);
                }
            }
        }
        let mut cost = 0;
        while cost < buckets.len() && cost < usize::from(UNKNOWN) {
            let byte = low_u8(to_u64(cost));
            for triple in std::mem::take(&mut buckets[cost]) {
                if self.cost(triple).is_some() {
                    continue;
                }
                self.costs[to_usize(key(self.window, triple))] = byte;
                if self.listed.len() < MOST_LISTED && triple[0] < triple[1] && triple[0] < triple[2] {
                    self.listed.push((byte, triple));
                }
                for targets in &self.targets {
                    let next = triple.map(|cell| targets[index_u32(cell)]);
                    if next != triple && self.cost(next).is_none() {
                        put(&mut buckets, cost + 2, next);
                    }
                }
            }
            cost += 1;
        }
    }

    /// The window.
    #[must_use]
    pub fn window(&self) -> BoardShape {
        self.window
    }

    /// Least cost of the 3-cycle of these cells of the window; none when it is not known.
    #[inline]
    #[must_use]
    pub fn cost(&self, triple: Triple) -> Option<u8> {
        Some(self.costs[to_usize(key(self.window, triple))]).filter(|&cost| cost != UNKNOWN)
    }

    /// The cheapest triples, ascending by cost.
    #[must_use]
    pub fn cheapest(&self) -> &[(u8, Triple)] {
        &self.listed
    }

    /// The word of a triple whose cost is known, in turns of the window's blocks.
    ///
    /// # Panics
    /// When its cost is not known.
    #[must_use]
    pub fn word(&self, mut triple: Triple) -> Vec<BlockTurn> {
        let mut setup = Vec::new();
        loop {
            let cost = self.cost(triple).expect("the triple is in the table");
            if let Some(&number) = self.sources.get(&key(self.window, triple)).filter(|&&number| self.words[number].cost == u64::from(cost))
            {
                return conjugated(&setup, &self.words[number].word);
            }
            let (turn, next) = self
                .turns
                .iter()
                .zip(&self.targets)
                .map(|(turn, targets)| (turn, triple.map(|cell| targets[index_u32(cell)])))
                .find(|(_, next)| self.cost(*next).is_some_and(|next| next + 2 == cost))
                .expect("the cost came from a neighbour");
            setup.push(*turn);
            triple = next;
        }
    }
}

/// `setup, word, setup undone`.
#[must_use]
pub fn conjugated(setup: &[BlockTurn], word: &[BlockTurn]) -> Vec<BlockTurn> {
    [setup, word, &inverse(setup)].concat()
}

/// Turns that a search over all triples tries.
fn steps(window: BoardShape) -> u64 {
    let cells = u64::from(window.cells());
    let triples = if window.block() % 2 == 1 { cells.pow(3) / 4 } else { cells.pow(3) };
    triples * 2 * u64::from(window.blocks())
}

#[inline]
fn key(window: BoardShape, triple: Triple) -> u64 {
    let cells = u64::from(window.cells());
    (u64::from(triple[0]) * cells + u64::from(triple[1])) * cells + u64::from(triple[2])
}
