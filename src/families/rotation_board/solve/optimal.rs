//! Shortest words for small boards: two balls, around the board and around the solved one, grown by
//! whole levels until they meet.
//!
//! While they have not met with radii a and b there is no word of a + b turns or fewer; so the
//! first meeting is a shortest word. The smaller outermost level grows. Costs the states of both
//! balls, about 100 bytes each.

use super::super::board::Board;
use super::super::turns::Turns;
use crate::base::ids::{low_u8, to_u64};
use crate::base::{Error, Result};
use crate::families::rotation_board::BlockTurn;
use crate::puzzle::ValueBall;

/// States that both balls may have together: about 500 MB.
const MOST_STATES: usize = 5_000_000;

/// Most cells, so that a cell is a byte.
const MOST_CELLS: u32 = 255;

/// Cells of boards that the general search can take.
const MOST_SEARCHED_CELLS: u32 = 20;

/// A shortest word that solves a solvable board, when each turn by one of these numbers of quarters
/// costs 1.
///
/// # Errors
/// `Config` when the board has more than 255 cells, or the balls grow too large.
pub fn shortest(board: &Board, quarters: &[u8]) -> Result<Vec<BlockTurn>> {
    let shape = board.shape();
    if shape.cells() > MOST_CELLS {
        return Err(Error::config(format!(
            "board {shape}: found {} cells, expected at most {MOST_CELLS} for a shortest word; use --method ladder",
            shape.cells()
        )));
    }
    let cells = |homes: &[u32]| homes.iter().map(|&home| low_u8(u64::from(home))).collect::<Vec<u8>>();
    let turns = Turns::of(shape, quarters);
    let turned = |cells: &Vec<u8>, number: usize| Some(turns.turned(cells, number));
    let (mut from, mut to) = (ValueBall::around(cells(board.homes())), ValueBall::around(cells(Board::solved(shape).homes())));
    if board.is_solved() {
        return Ok(Vec::new());
    }
    loop {
        let forward = from.outermost() <= to.outermost();
        let (growing, other) = if forward { (&mut from, &to) } else { (&mut to, &from) };
        if let Some(meeting) = growing.grow(turns.number(), turned, |cells| other.contains(cells)) {
            let word_to = |ball: &ValueBall<Vec<u8>>| ball.word_to(&meeting, |cells, number| turns.turned_back(cells, number));
            let (there, back) = (word_to(&from).unwrap_or_default(), word_to(&to).unwrap_or_default());
            return Ok([turns.played(&there), turns.undone(&back)].concat());
        }
        let states = from.len() + to.len();
        if states > MOST_STATES || from.outermost() == 0 || to.outermost() == 0 {
            let searched = shape.cells() <= MOST_SEARCHED_CELLS;
            let other = if searched {
                format!(", or farthest solve {} --state BOARD, which holds as many states as memory allows", shape.name())
            } else {
                String::new()
            };
            return Err(Error::config(format!(
                "board {shape}: no word of {} turns or fewer solves it, which took {} states; a longer shortest word needs more than the {MOST_STATES} \
                 states that are kept; use --method ladder{other}",
                from.radius() + to.radius(),
                to_u64(states)
            )));
        }
    }
}
