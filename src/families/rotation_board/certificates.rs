//! The certificate of a verdict: a word that solves the board, or why there is none.

use crate::base::ids::index_u32;
use crate::base::{Error, Result};
use crate::evidence::certificates::{Certificate, CertifiedPuzzle, Claim, ClosedSet, Invariant, InvariantName, Labels, Word, WordClaim};
use crate::families::rotation_board::small_group::SmallGroup;
use crate::families::rotation_board::{BlockTurn, BoardShape};
use crate::families::rotation_board::{Board, Solver, Unsolvable, verdict};

/// Most cells of a board in a certificate: the checker writes every move out as a list of cells,
/// below a gigabyte for all of these boards.
pub const MOST_CERTIFIED_CELLS: u32 = 10_000;

/// A board of any size, searchable or not, as certificates name it.
#[must_use]
pub fn certified(shape: BoardShape, metric: &str) -> CertifiedPuzzle {
    CertifiedPuzzle::named(&format!("rotation-board {} {} {} {metric}", shape.rows(), shape.columns(), shape.block()))
}

/// The verdict on `board`, and its certificate in quarter turns: from the board to the solved one a
/// `word`, an `invariant`, or a `closed-set`.
///
/// # Errors
/// `Config` when the board is too large for a certificate (or, when it can be solved, for the
/// solver); `Invariant` for a fault of this program.
pub fn verdict_certificate(board: &Board) -> Result<(Certificate, Option<Unsolvable>)> {
    let shape = board.shape();
    if shape.cells() > MOST_CERTIFIED_CELLS {
        return Err(Error::config(format!(
            "board {shape}: found {} cells, expected at most {MOST_CERTIFIED_CELLS} for a certificate; solve-board --verdict has no such limit",
            shape.cells()
        )));
    }
    let (from, to) = (labels(board.homes())?, solved_labels(shape)?);
    let invariant = |invariant| -> Box<dyn Claim> { Box::new(Invariant { invariant, from: from.clone(), to: to.clone() }) };
    let (claim, reason): (Box<dyn Claim>, _) = match verdict(board) {
        Ok(()) => (Box::new(WordClaim { from, to, word: solution(board)? }), None),
        Err(reason) => {
            let claim = match reason {
                Unsolvable::Odd { .. } => invariant(InvariantName::Parity),
                Unsolvable::ColourBroken { .. } => invariant(InvariantName::Colours),
                Unsolvable::SignsDiffer { .. } => invariant(InvariantName::ColourSigns),
                Unsolvable::ColourOdd { .. } => invariant(InvariantName::ColourParity),
                Unsolvable::NoRotation | Unsolvable::NotProjective { .. } | Unsolvable::OuterMismatch { .. } => {
                    Box::new(ClosedSet { from, to, states: closed_set(&SmallGroup::of(shape), board)? })
                }
            };
            (claim, Some(reason))
        }
    };
    Ok((Certificate { puzzle: certified(shape, "quarter"), claim }, reason))
}

/// The constructed word in quarter turns: half turns are two of them.
fn solution(board: &Board) -> Result<Word> {
    let shape = board.shape();
    let solution = Solver::new(shape)?.solve(board)?;
    let solution = solution.map_err(|reason| Error::invariant("a board whose verdict is that it can be solved", reason, "a word"))?;
    Ok(quarter_word(shape, &solution.word))
}

/// Names of quarter turns.
/// The word in quarter turns.
pub fn quarter_word(shape: BoardShape, word: &[BlockTurn]) -> Word {
    let quarters = |turn: &BlockTurn| if turn.quarters == 2 { vec![BlockTurn { quarters: 1, ..*turn }; 2] } else { vec![*turn] };
    word.iter().flat_map(quarters).map(|turn| shape.turn_name(turn)).collect()
}

/// All boards that turns make of `board`, ascending: what they make of the solved one, with the
/// board's tiles.
///
/// # Errors
/// `Config` when a tile's number does not fit a label.
pub fn closed_set(group: &SmallGroup, board: &Board) -> Result<Vec<Labels>> {
    let start = board.homes();
    let turned = |homes: &[u32]| homes.iter().map(|&cell| start[index_u32(cell)]).collect::<Vec<u32>>();
    let mut states: Vec<Labels> = group.arrangements().map(|homes| labels(&turned(homes))).collect::<Result<_>>()?;
    states.sort_unstable();
    Ok(states)
}

/// The solved board as labels.
///
/// # Errors
/// `Config` when a tile's number does not fit a label.
pub fn solved_labels(shape: BoardShape) -> Result<Labels> {
    labels(Board::solved(shape).homes())
}

/// Tiles from their homes, as certificates write them.
///
/// # Errors
/// `Config` when a tile's number does not fit a label.
pub fn labels(homes: &[u32]) -> Result<Labels> {
    let label = |&home: &u32| {
        u16::try_from(home + 1).map_err(|_| Error::config(format!("found the tile {}, expected at most {}", home + 1, u16::MAX)))
    };
    homes.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_turns_are_two_quarter_turns() {
        let shape = BoardShape::new(2, 3, 2).expect("a board");
        let word = [2, 3, 1].map(|quarters| BlockTurn { block: 1, quarters });
        assert_eq!(quarter_word(shape, &word), ["Y", "Y", "Y'", "Y"]);
    }

    #[test]
    fn boards_too_large_say_so() {
        let shape = BoardShape::new(101, 100, 2).expect("a board");
        let text = verdict_certificate(&Board::solved(shape)).expect_err("large").to_string();
        assert!(text.contains("found 10100 cells, expected at most 10000 for a certificate"), "{text}");
    }
}
