//! The method of the puzzle's author: one 3-cycle word, and a way to bring any three cells of a
//! colour to where it acts.
//!
//! On n x (n+1) cells with n >= 5, X the left block, Y the right one (T. Lam, arXiv 2211.16787, and
//! his guide on Puzzling Stack Exchange):
//!
//! - *Cycle* C = (YX)^4 moves only the belt (left column, bottom row, right column), by n-3 cells.
//!   With A = XYYXY'X' the belts of C and A C A' meet in one cell, so phi = C (A C A') C' (A C' A')
//!   cycles three cells.
//! - *Spiral*: turn the block that holds the cell so that the cell comes nearest to the other
//!   block's centre, then that block, and so on: by the law of cosines it comes nearer each time,
//!   until it is at X's centre.
//! - *Spiral-cycle* brings three cells to intermediate ones: the first to the corner (1,1), the
//!   second to (2,1) (n even) or (3,1) (n odd), the third to the centre. A word for the three
//!   cells, and one for phi's own, undone, bring the three to phi's.
//!
//! Where the author's text leaves the order of turns open we use: a path over turns that leave the
//! corner alone, Y and H X H' with H = X'Y', which takes the left column but its last cell to the
//! right one, out of X's way; XYX' clears the left column and XY'X' places the second cell there.
//! On larger boards three cells are first brought into some n x (n+1) window.

use super::placement::blocks_of;
use super::shorten::inverse;
use super::triple_table::{Triple, conjugated};
use super::work::{Cycles, Work};
use crate::base::ids::index_u32;
use crate::base::{Error, Result};
use crate::families::rotation_board::parse_turns;
use crate::families::rotation_board::{BlockTurn, BoardShape};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Smallest block for which phi is a 3-cycle.
pub const SMALLEST_BLOCK: u32 = 5;

const CYCLE: &str = "YXYXYXYX";
const SWITCH: &str = "XYYXY'X'";

/// The method on an n x (n+1) window of a board.
#[derive(Clone, Debug)]
pub struct SpiralCycle {
    shape: BoardShape,
    window: BoardShape,
    /// A 3-cycle of the corner's colour, with the word that brings its cells to the intermediate
    /// ones.
    word: Vec<BlockTurn>,
    cells: Triple,
    to_intermediate: Vec<BlockTurn>,
}

impl SpiralCycle {
    /// For a board with at least one more column than its block.
    ///
    /// # Errors
    /// `Config` for blocks below [`SMALLEST_BLOCK`]; `Invariant` when a word does not do what it
    /// should.
    pub fn of(shape: BoardShape) -> Result<Self> {
        let n = shape.block();
        if n < SMALLEST_BLOCK {
            return Err(Error::config(format!(
                "board {shape}: found blocks of {n}x{n} cells, expected at least {SMALLEST_BLOCK}x{SMALLEST_BLOCK} for the method spiral-cycle, whose \
                 word is no 3-cycle there; use --method ladder"
            )));
        }
        let window = BoardShape::new(n, n + 1, n)?;
        let turns = |text: &str| parse_turns(window, text).expect("turns of X and Y");
        let (cycle, switch) = (turns(CYCLE), turns(SWITCH));
        let moved_cycle = conjugated(&switch, &cycle);
        let word = [cycle.clone(), moved_cycle.clone(), inverse(&cycle), inverse(&moved_cycle)].concat();
        let fault = || Error::invariant(format!("phi on the board {window}"), "another permutation", "a 3-cycle of the belts");
        let cells = super::ladder::cycled(window, &word).ok_or_else(fault)?;
        let mut method = Self { shape, window, word, cells, to_intermediate: Vec::new() };
        if method.is_other_colour(cells) {
            method.word = method.mirrored_word(&method.word);
            method.cells = method.mirrored(cells);
        }
        method.to_intermediate = method.spiral_cycle(method.cells)?;
        Ok(method)
    }

    fn is_other_colour(&self, triple: Triple) -> bool {
        self.window.block() % 2 == 1 && self.window.colour(triple[0])
    }

    /// Left and right exchanged: of an even number of columns, so colours change.
    fn mirrored(&self, triple: Triple) -> Triple {
        triple.map(|cell| {
            let (row, column) = self.window.place(cell);
            self.window.cell(row, self.window.columns() - 1 - column)
        })
    }

    fn mirrored_word(&self, word: &[BlockTurn]) -> Vec<BlockTurn> {
        word.iter().map(|turn| BlockTurn { block: 1 - turn.block, quarters: 4 - turn.quarters }).collect()
    }

    fn moved(&self, triple: Triple, word: &[BlockTurn]) -> Triple {
        word.iter().fold(triple, |triple, &turn| triple.map(|cell| self.window.target(turn, cell)))
    }

    /// A word on the window that takes the tile in the first cell to the second, that to the third,
    /// and that to the first.
    ///
    /// # Errors
    /// `Invariant` when the method does not end.
    pub fn three_cycle(&self, triple: Triple) -> Result<Vec<BlockTurn>> {
        if self.is_other_colour(triple) {
            return Ok(self.mirrored_word(&self.three_cycle_of_first_colour(self.mirrored(triple))?));
        }
        self.three_cycle_of_first_colour(triple)
    }

    fn three_cycle_of_first_colour(&self, triple: Triple) -> Result<Vec<BlockTurn>> {
        let mut setup = self.spiral_cycle(triple)?;
        setup.extend(inverse(&self.to_intermediate));
        debug_assert_eq!(self.moved(triple, &setup), self.cells);
        Ok(conjugated(&setup, &self.word))
    }

    /// The word that brings a cell to the centre of X; for even n to the upper left one of its
    /// four.
    ///
    /// # Errors
    /// `Invariant` when it does not end.
    pub fn spiral(&self, cell: u32) -> Result<Vec<BlockTurn>> {
        let n = self.window.block();
        // Twice the distance from a block's centre, squared: centres lie between cells when n is
        // even.
        let distance = |cell: u32, block: u32| {
            let (row, column) = self.window.place(cell);
            (2 * row).abs_diff(n - 1).pow(2) + (2 * column).abs_diff(n - 1 + 2 * block).pow(2)
        };
        let goal = self.window.cell((n - 1) / 2, (n - 1) / 2);
        let near = distance(goal, 0);
        let (mut at, mut word) = (cell, Vec::new());
        let turned = |at: u32, block: u32, quarters: u8| match quarters {
            0 => at,
            quarters => self.window.target(BlockTurn { block, quarters }, at),
        };
        // X and Y in turn; first the one after which the other brings it on.
        let mut block = 1;
        for _ in 0..4 * n {
            if distance(at, 0) == near {
                let quarters = (0..4).find(|&quarters| turned(at, 0, quarters) == goal);
                let quarters = quarters.ok_or_else(|| self.endless("the centre cells"))?;
                word.extend((quarters > 0).then_some(BlockTurn { block: 0, quarters }));
                return Ok(word);
            }
            let key = |&quarters: &u8| (distance(turned(at, block, quarters), 1 - block), if quarters == 0 { 0 } else { quarters % 2 + 1 });
            let quarters = (0..4).min_by_key(key).expect("four turns");
            at = turned(at, block, quarters);
            word.extend((quarters > 0).then_some(BlockTurn { block, quarters }));
            block = 1 - block;
        }
        Err(self.endless("the spiral"))
    }

    fn endless(&self, what: &str) -> Error {
        Error::invariant(format!("spiral-cycle on the board {}: {what}", self.window), "no end", "the intermediate cells")
    }

    /// The word that brings three cells of the corner's colour to the intermediate ones.
    fn spiral_cycle(&self, triple: Triple) -> Result<Vec<BlockTurn>> {
        let window = self.window;
        let n = window.block();
        let turns = |text: &str| parse_turns(window, text).expect("turns of X and Y");
        let corner = window.cell(0, 0);
        let second = window.cell(1 + n % 2, 0);
        // The first: spiral in, and out to the corner.
        let mut word = self.spiral(triple[0])?;
        word.extend(inverse(&self.spiral(corner)?));
        let mut at = self.moved(triple, &word);
        // The others: out of the left column.
        let in_left = |cell: u32| window.place(cell).1 == 0;
        for _ in 0..n {
            if in_left(at[1]) || in_left(at[2]) {
                word.extend(turns("XYX'"));
                at = self.moved(triple, &word);
            }
        }
        // The second: to the cell from which XY'X' takes it to its place, while the third stays out
        // of the left column, too.
        let before = self.moved([second; 3], &turns("XYX'"))[0];
        let placing = turns("XY'X'");
        let placed = |[_, second, third]: Triple| second == before && !in_left(self.moved([third; 3], &placing)[0]);
        word.extend(self.path([corner, at[1], corner], |[_, second, _]| second == before)?);
        // Mostly the third stays out; else both are watched.
        word.extend(self.path(self.moved(triple, &word), placed)?);
        word.extend(&placing);
        at = self.moved(triple, &word);
        // The third: to the centre.
        let centre = window.cell((n - 1) / 2, (n - 1) / 2);
        word.extend(self.path([corner, corner, at[2]], |[_, _, third]| third == centre)?);
        if self.moved(triple, &word) == [corner, second, centre] { Ok(word) } else { Err(self.endless("a word that misses")) }
    }

    /// The cheapest word of turns Y and H X H' that brings three cells where `arrived` says. It
    /// leaves the left column but its last cell alone.
    fn path(&self, from: Triple, arrived: impl Fn(Triple) -> bool) -> Result<Vec<BlockTurn>> {
        let turns = |text: &str| parse_turns(self.window, text).expect("turns of X and Y");
        let hide = turns("X'Y'");
        let moves: Vec<Vec<BlockTurn>> = vec![turns("Y"), turns("Y'"), conjugated(&hide, &turns("X")), conjugated(&hide, &turns("X'"))];
        let mut reached: HashMap<Triple, (Triple, usize)> = HashMap::new();
        let mut open = BinaryHeap::from([Reverse((0, from, from, usize::MAX))]);
        while let Some(Reverse((cost, here, before, by))) = open.pop() {
            if reached.contains_key(&here) {
                continue;
            }
            reached.insert(here, (before, by));
            if arrived(here) {
                let mut steps = Vec::new();
                let mut at = here;
                while at != from {
                    let (before, by) = reached[&at];
                    steps.push(by);
                    at = before;
                }
                return Ok(steps.into_iter().rev().flat_map(|by| moves[by].clone()).collect());
            }
            for (by, turns) in moves.iter().enumerate() {
                open.push(Reverse((cost + turns.len(), self.moved(here, turns), here, by)));
            }
        }
        Err(self.endless("no path"))
    }

    /// Turns of the board that bring three cells into one window, the cells then, and the window's
    /// top-left cell.
    fn gathered(&self, triple: Triple) -> Option<(Vec<BlockTurn>, Triple, (u32, u32))> {
        let (rows, columns) = (self.window.rows(), self.window.columns());
        let spread = |triple: Triple| {
            let places = triple.map(|cell| self.shape.place(cell));
            let (top, bottom) = (places.iter().map(|place| place.0).min()?, places.iter().map(|place| place.0).max()?);
            let (left, right) = (places.iter().map(|place| place.1).min()?, places.iter().map(|place| place.1).max()?);
            let excess = (bottom - top + 1).saturating_sub(rows) + (right - left + 1).saturating_sub(columns);
            Some((excess, bottom - top + right - left, (top.min(self.shape.rows() - rows), left.min(self.shape.columns() - columns))))
        };
        let mut known: HashMap<Triple, Option<(Triple, BlockTurn)>> = HashMap::from([(triple, None)]);
        let (excess, distance, _) = spread(triple)?;
        let mut open = BinaryHeap::from([Reverse((excess, distance, triple))]);
        while let Some(Reverse((excess, _, here))) = open.pop() {
            if excess == 0 {
                let mut setup = Vec::new();
                let mut at = here;
                while let Some((before, turn)) = known[&at] {
                    setup.push(turn);
                    at = before;
                }
                setup.reverse();
                return Some((setup, here, spread(here)?.2));
            }
            for turn in here
                .iter()
                .flat_map(|&cell| blocks_of(self.shape, cell))
                .flat_map(|block| [1, 3].map(|quarters| BlockTurn { block, quarters }))
            {
                let next = here.map(|cell| self.shape.target(turn, cell));
                if let std::collections::hash_map::Entry::Vacant(entry) = known.entry(next) {
                    entry.insert(Some((here, turn)));
                    let (excess, distance, _) = spread(next)?;
                    open.push(Reverse((excess, distance, next)));
                }
            }
        }
        None
    }

    /// Brings all tiles home by 3-cycles along the cycles of the permutation.
    ///
    /// # Errors
    /// `Invariant` when the method does not end.
    pub fn finish(&self, work: &mut Work) -> Result<()> {
        loop {
            let cycles = Cycles::of(work.homes());
            let homes = work.homes().to_vec();
            let follow = |cell: u32| homes[index_u32(cell)];
            let same_colour =
                |cell: u32, other: u32| self.shape.block().is_multiple_of(2) || self.shape.colour(cell) == self.shape.colour(other);
            let displaced = &cycles.displaced;
            let along = displaced.iter().map(|&x| [x, follow(x), follow(follow(x))]).find(|&triple| cycles.gains(triple));
            let pairs = || {
                let all = displaced.iter().flat_map(|&x| displaced.iter().map(move |&z| (x, z)));
                let other = all.filter(|&(x, z)| z != x && z != follow(x) && same_colour(x, z)).map(|(x, z)| [x, follow(x), z]);
                let mut other = other.filter(|&triple| cycles.gains(triple));
                other.next()
            };
            if cycles.three_cycles == 0 {
                return Ok(());
            }
            let triple = along.or_else(pairs).ok_or_else(|| self.endless("no 3-cycle that gains"))?;
            let (setup, cells, corner) = self.gathered(triple).ok_or_else(|| self.endless("cells that do not meet"))?;
            let inside = cells.map(|cell| {
                let (row, column) = self.shape.place(cell);
                self.window.cell(row - corner.0, column - corner.1)
            });
            let word: Vec<BlockTurn> = self
                .three_cycle(inside)?
                .into_iter()
                .map(|turn| BlockTurn { block: self.shape.block_at(corner.0, corner.1 + turn.block), quarters: turn.quarters })
                .collect();
            conjugated(&setup, &word).into_iter().for_each(|turn| work.turn(turn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(n: u32) -> SpiralCycle {
        SpiralCycle::of(BoardShape::new(n, n + 1, n).expect("valid")).expect("large enough")
    }

    /// It ends for every start, and soon: in fewer than 2n quarter turns.
    #[test]
    fn the_spiral_ends_for_every_start() {
        for n in 5..=20 {
            let method = method(n);
            // Blocks of odd size keep colours.
            for cell in (0..method.window.cells()).filter(|&cell| n % 2 == 0 || !method.window.colour(cell)) {
                let word = method.spiral(cell).expect("it ends");
                let cost: u64 = word.iter().map(|turn| turn.quarter_cost()).sum();
                assert_eq!(method.moved([cell; 3], &word)[0], method.window.cell((n - 1) / 2, (n - 1) / 2));
                assert!(cost <= u64::from(2 * n), "n = {n}: {cost}");
            }
        }
    }

    #[test]
    fn three_cycles_of_any_cells() {
        for n in [5, 6, 7, 8, 12, 13] {
            let method = method(n);
            let cells = method.window.cells();
            let mut checked = 0;
            for step in 0..400_u32 {
                let triple = [step * 7 % cells, (step * 11 + 3) % cells, (step * step + step / 5) % cells];
                let colours = triple.map(|cell| n % 2 == 1 && method.window.colour(cell));
                if triple[0] == triple[1] || triple[1] == triple[2] || triple[2] == triple[0] || colours != [colours[0]; 3] {
                    continue;
                }
                let word = method.three_cycle(triple).expect("it ends");
                let mut contents: Vec<u32> = (0..cells).collect();
                word.iter().for_each(|&turn| method.window.turn(&mut contents, turn));
                let mut expected: Vec<u32> = (0..cells).collect();
                let [x, y, z] = triple.map(index_u32);
                (expected[y], expected[z], expected[x]) = (triple[0], triple[1], triple[2]);
                assert_eq!(contents, expected, "n = {n}, {triple:?}");
                checked += 1;
            }
            assert!(checked > 20, "n = {n}: {checked}");
        }
    }
}
