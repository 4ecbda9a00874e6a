//! A solution for every solvable board, by construction.
//!
//! 1. The verdict; boards of small groups are looked up in their list (shortest words).
//! 2. Direct placement of as many tiles as blocks can be spared (`placement.rs`).
//! 3. The sign step: where a quarter turn is odd and the rest is odd, the turn after which the
//!    fewest 3-cycles remain.
//! 4. 3-cycles for the rest (`by_three_cycles.rs`), each `setup, ladder word, setup undone`
//!    (`triple_table.rs`, `ladder.rs`).
//! 5. Turns that meet are joined (`shorten.rs`).
//!
//! Blocks so large that the table would not fit (over 20x20) are left to the author's method
//! (`spiral.rs`), which can be chosen for blocks of 5 and more.
//!
//! Small boards are solved in several variants (ties decided otherwise, with and without step 2,
//! and the inverse board, whose word is undone), and the shortest word is kept. Every word is
//! replayed before it is returned.

mod by_three_cycles;
pub mod ladder;
pub mod optimal;
mod placement;
mod setup;
mod shorten;
pub mod spiral;
mod triple_table;
mod work;

use super::board::Board;
use super::group::BoardGroup;
use super::small_group::SmallGroup;
use super::unsolvable::Unsolvable;
use super::verdict::{signs, verdict};
use crate::base::config_text::shown_text;
use crate::base::{Error, Result};
use crate::families::rotation_board::{BlockTurn, BoardShape};
use setup::Setups;
pub use shorten::lengths;
use work::{Cycles, Work};

/// Most cells of a board that is solved: minutes and megabytes; larger ones are refused.
pub const MOST_CELLS: u32 = 2_500;

/// A word that solves a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardSolution {
    /// The turns, first one first.
    pub word: Vec<BlockTurn>,
    /// Its length when a half turn costs 2.
    pub quarter: u64,
    /// Its length when every turn costs 1.
    pub half: u64,
    /// Whether it is known that no word is shorter in the metric that was asked for; quarter turns
    /// where none was.
    pub shortest: bool,
}

impl BoardSolution {
    /// The word as a solution of `board`, after replaying it.
    ///
    /// # Errors
    /// `Invariant` when it does not solve the board.
    fn replayed(board: &Board, word: Vec<BlockTurn>, shortest: bool) -> Result<Self> {
        let mut replayed = board.clone();
        word.iter().for_each(|&turn| replayed.turn(turn));
        if !replayed.is_solved() {
            let text = |board: &Board| shown_text(&board.text());
            return Err(Error::invariant(format!("the solution of the board {}", text(board)), text(&replayed), "the solved board"));
        }
        let (quarter, half) = lengths(&word);
        Ok(Self { word, quarter, half, shortest })
    }
}

/// A shortest word that solves a small board, when each turn by one of these numbers of quarters
/// costs 1, or why there is none.
///
/// # Errors
/// `Config` when the board is too far from the solved one to be sure.
pub fn solve_shortest(board: &Board, quarters: &[u8]) -> Result<Result<BoardSolution, Unsolvable>> {
    if let Err(reason) = verdict(board) {
        return Ok(Err(reason));
    }
    let shape = board.shape();
    let word = if BoardGroup::of(shape).is_small() {
        SmallGroup::with_turns(shape, quarters).word(board).unwrap_or_default()
    } else {
        optimal::shortest(board, quarters)?
    };
    BoardSolution::replayed(board, word, true).map(Ok)
}

/// A word by the author's spiral-cycle method, or why there is none; hundreds of turns for each
/// 3-cycle, any block size from 5 on.
///
/// # Errors
/// `Config` for blocks that are too small for the method.
pub fn solve_by_spirals(board: &Board) -> Result<Result<BoardSolution, Unsolvable>> {
    if let Err(reason) = verdict(board) {
        return Ok(Err(reason));
    }
    let shape = board.shape();
    if BoardGroup::of(shape).is_small() {
        return Solver::new(shape)?.solve(board);
    }
    check_size(shape)?;
    // The windows are wide; a board that is not is solved with rows and columns exchanged.
    let is_narrow = shape.columns() == shape.block();
    let mut work = Work::new(&if is_narrow { board.transposed() } else { board.clone() });
    let method = spiral::SpiralCycle::of(work.shape())?;
    sign_step(&mut work);
    method.finish(&mut work)?;
    let image = work.shape();
    let mut word = shorten::shortened(image, &work.into_word());
    if is_narrow {
        for turn in &mut word {
            let (row, column) = image.corner(turn.block);
            *turn = BlockTurn { block: shape.block_at(column, row), quarters: 4 - turn.quarters };
        }
    }
    BoardSolution::replayed(board, word, board.is_solved()).map(Ok)
}

/// Solves boards of one shape; holds the tables, which take most of the time for a single board.
#[derive(Clone, Debug)]
pub struct Solver {
    shape: BoardShape,
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    Small(SmallGroup),
    Setups(Setups),
    None,
}

impl Solver {
    /// For boards of this shape.
    ///
    /// # Errors
    /// `Config` when the board is too large.
    pub fn new(shape: BoardShape) -> Result<Self> {
        if BoardGroup::of(shape).is_small() {
            return Ok(Self { shape, tables: Tables::Small(SmallGroup::of(shape)) });
        }
        check_size(shape)?;
        Ok(Self { shape, tables: Setups::of(shape)?.map_or(Tables::None, Tables::Setups) })
    }

    /// A word that solves `board`, which has this solver's shape, or why there is none.
    ///
    /// # Errors
    /// `Invariant` when a word does not do what it should: a fault of this program.
    pub fn solve(&self, board: &Board) -> Result<Result<BoardSolution, Unsolvable>> {
        debug_assert_eq!(board.shape(), self.shape);
        if let Err(reason) = verdict(board) {
            return Ok(Err(reason));
        }
        let (word, shortest) = match &self.tables {
            Tables::Small(group) => (group.word(board).unwrap_or_default(), true),
            Tables::None => return solve_by_spirals(board),
            Tables::Setups(setups) => (self.best_word(board, setups)?, board.is_solved()),
        };
        BoardSolution::replayed(board, word, shortest).map(Ok)
    }

    /// The shortest word of all variants.
    fn best_word(&self, board: &Board, setups: &Setups) -> Result<Vec<BlockTurn>> {
        if board.is_solved() {
            return Ok(Vec::new());
        }
        let mut best: Option<(u64, Vec<BlockTurn>)> = None;
        let inverse = board.inverse();
        for variant in 0..variants(self.shape) {
            for (start, is_inverse) in [(board, false), (&inverse, true)] {
                if is_inverse && variants(self.shape) == 1 {
                    continue;
                }
                let mut word = construct(start, setups, variant)?;
                if is_inverse {
                    word = shorten::inverse(&word);
                }
                let word = shorten::shortened(self.shape, &word);
                let cost = lengths(&word).0;
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    best = Some((cost, word));
                }
            }
        }
        Ok(best.expect("at least one variant").1)
    }
}

fn check_size(shape: BoardShape) -> Result<()> {
    if shape.cells() <= MOST_CELLS {
        return Ok(());
    }
    Err(Error::config(format!(
        "board {shape}: found {} cells, expected at most {MOST_CELLS} for a solution; the verdict alone has no such limit (--verdict)",
        shape.cells()
    )))
}

/// Variants that are tried: many where they cost little.
fn variants(shape: BoardShape) -> u64 {
    match shape.cells() {
        0..=30 => 16,
        31..=64 => 6,
        65..=150 => 2,
        _ => 1,
    }
}

/// One solution. Every fourth variant leaves the placement out.
fn construct(board: &Board, setups: &Setups, variant: u64) -> Result<Vec<BlockTurn>> {
    let mut work = Work::new(board);
    if variant % 4 != 3 {
        placement::place(&mut work, variant);
    }
    sign_step(&mut work);
    by_three_cycles::finish(&mut work, setups, variant)?;
    Ok(work.into_word())
}

/// Makes the rest a product of 3-cycles, where one turn decides that: the turn after which the
/// fewest remain.
fn sign_step(work: &mut Work) {
    let shape = work.shape();
    let (odd, [first, _]) = signs(work.board());
    let needed = match BoardGroup::of(shape) {
        BoardGroup::All => odd,
        BoardGroup::SameSigns => first,
        _ => false,
    };
    if !needed {
        return;
    }
    let turns = (0..shape.blocks()).flat_map(|block| [1, 3].map(|quarters| BlockTurn { block, quarters }));
    let rest = |&turn: &BlockTurn| {
        let mut homes = work.homes().to_vec();
        shape.turn(&mut homes, turn);
        let cycles = Cycles::of(&homes);
        (cycles.three_cycles, cycles.displaced.len())
    };
    let best = turns.min_by_key(rest).expect("a board has a block");
    work.turn(best);
}
