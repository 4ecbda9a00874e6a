//! The claims of the puzzle's author, each checked by this program, with a witness: T. Lam, arXiv
//! 2211.16787, of which most displayed formulas are lost; what was lost is given back in our own
//! words and marked so.
//!
//! X and Y are the blocks of n x (n+1) cells, C = (YX)^4, A = XYYXY'X'; the *belt* is the left
//! column, the bottom row and the right column, the *interior* the rest.

mod exotic;
mod general;
mod small_boards;

use crate::base::Result;
use crate::base::ids::index_u32;
use crate::families::rotation_board::parse_turns;
use crate::families::rotation_board::solve::lengths;
use crate::families::rotation_board::{BlockTurn, BoardShape};
use crate::families::rotation_board::{Board, solve_shortest};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It holds, as far as it was checked.
    Holds,
    /// It fails as it stands; the witness is a counterexample, with what holds instead.
    Fails,
    /// It is a formula or an argument that cannot be computed here.
    Open,
}

/// A claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedClaim {
    /// Its number in our list.
    pub number: u32,
    /// What it says.
    pub text: &'static str,
    /// What became of it.
    pub status: Status,
    /// What was computed.
    pub witness: String,
}

/// All claims, checked anew. Takes seconds.
///
/// # Errors
/// When a search for a shortest word does not fit.
pub fn claims() -> Result<Vec<PublishedClaim>> {
    let mut all = general::claims()?;
    all.extend(small_boards::claims()?);
    all.extend(exotic::claims()?);
    all.sort_by_key(|claim| claim.number);
    Ok(all)
}

/// A claim that holds or fails by what was computed.
fn claim(number: u32, text: &'static str, holds: bool, witness: String) -> PublishedClaim {
    PublishedClaim { number, text, status: if holds { Status::Holds } else { Status::Fails }, witness }
}

fn shape(rows: u32, columns: u32, block: u32) -> BoardShape {
    BoardShape::new(rows, columns, block).expect("the boards of claims exist")
}

fn word(shape: BoardShape, text: &str) -> Vec<BlockTurn> {
    parse_turns(shape, text).expect("the words of claims fit their boards")
}

/// Where a word takes the content of each cell.
fn targets(shape: BoardShape, word: &[BlockTurn]) -> Vec<u32> {
    (0..shape.cells()).map(|cell| word.iter().fold(cell, |cell, &turn| shape.target(turn, cell))).collect()
}

/// The cycles of a word with two cells or more, from 1, each from its lowest cell, in the order of
/// these.
fn cycles(shape: BoardShape, word: &[BlockTurn]) -> Vec<Vec<(u32, u32)>> {
    let targets = targets(shape, word);
    let mut seen = vec![false; targets.len()];
    let mut found = Vec::new();
    for start in 0..shape.cells() {
        let mut cycle = Vec::new();
        let mut cell = start;
        while !std::mem::replace(&mut seen[index_u32(cell)], true) {
            let (row, column) = shape.place(cell);
            cycle.push((row + 1, column + 1));
            cell = targets[index_u32(cell)];
        }
        if cycle.len() > 1 {
            found.push(cycle);
        }
    }
    found
}

/// Cycles as text, a cell as two digits where that is clear.
fn shown(cycles: &[Vec<(u32, u32)>]) -> String {
    let cell = |&(row, column): &(u32, u32)| if row < 10 && column < 10 { format!("{row}{column}") } else { format!("{row},{column}") };
    let cycle = |cycle: &Vec<(u32, u32)>| format!("({})", cycle.iter().map(cell).collect::<Vec<_>>().join(" "));
    if cycles.is_empty() { "the identity".into() } else { cycles.iter().map(cycle).collect() }
}

/// Least lengths of what a word does, in quarter turns and with half turns at 1.
fn least(shape: BoardShape, word: &[BlockTurn]) -> Result<(u64, u64)> {
    let mut board = Board::solved(shape);
    word.iter().for_each(|&turn| board.turn(turn));
    let solved =
        |quarters: &[u8]| solve_shortest(&board, quarters).map(|found| found.map(|solution| lengths(&solution.word)).unwrap_or_default());
    Ok((solved(&[1, 3])?.0, solved(&[1, 2, 3])?.1))
}

/// The list as a document in Markdown.
#[must_use]
pub fn document(claims: &[PublishedClaim]) -> String {
    let mut text = String::from(
        "# The claims about the number rotation puzzle, checked\n\n\
         Written by `farthest board-claims`; a test compares this file with its output. The claims are those of T. Lam, arXiv 2211.16787, whose displayed \
         formulas are mostly lost in the text that we have: where it says \"ours\", the word or reading is ours. On n x (n+1) cells X is the left block and Y the right \
         one, C = (YX)^4, A = XYYXY'X'; the belt is the left column, the bottom row and the right column, the interior the rest. Boards are rows x columns n block; cells \
         are row and column. A letter turns its block by 90 degrees counter-clockwise, with ' clockwise, with 2 by 180; words are read from left to right.\n\n\
         | # | claim | status | computed |\n| --- | --- | --- | --- |\n",
    );
    for claim in claims {
        let status = match claim.status {
            Status::Holds => "holds",
            Status::Fails => "**fails**",
            Status::Open => "not computed",
        };
        text += &format!("| {} | {} | {status} | {} |\n", claim.number, claim.text, claim.witness);
    }
    text
}
