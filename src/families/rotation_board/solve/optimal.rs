//! Shortest words for small boards: two balls, around the board and around the solved one, grown by
//! whole levels until they meet.
//!
//! While they have not met with radii a and b there is no word of a + b turns or fewer; so the
//! first meeting is a shortest word. The smaller outermost level grows. Costs the states of both
//! balls, about 100 bytes each.

use super::super::board::Board;
use crate::base::ids::{low_u8, to_u64};
use crate::base::{Error, Result};
use crate::families::rotation_board::{BlockTurn, BoardShape};
use std::collections::HashMap;

/// States that both balls may have together: about 500 MB.
const MOST_STATES: usize = 5_000_000;

/// Most cells, so that a cell is a byte.
const MOST_CELLS: u32 = 255;

/// Cells of boards that the general search can take.
const MOST_SEARCHED_CELLS: u32 = 20;

type Cells = Box<[u8]>;

/// The states within a distance, with the turn that came to each.
struct Ball {
    known: HashMap<Cells, Option<BlockTurn>>,
    outermost: Vec<Cells>,
    radius: u64,
}

impl Ball {
    fn around(centre: Cells) -> Self {
        Self { known: HashMap::from([(centre.clone(), None)]), outermost: vec![centre], radius: 0 }
    }

    /// Grows by a level; returns the first new state that `other` knows.
    fn grow(&mut self, shape: BoardShape, turns: &[BlockTurn], other: &Self) -> Option<Cells> {
        let mut next = Vec::new();
        for state in std::mem::take(&mut self.outermost) {
            for &turn in turns {
                let mut turned = state.clone();
                shape.turn(&mut turned, turn);
                if self.known.contains_key(&turned) {
                    continue;
                }
                self.known.insert(turned.clone(), Some(turn));
                if other.known.contains_key(&turned) {
                    return Some(turned);
                }
                next.push(turned);
            }
        }
        self.outermost = next;
        self.radius += 1;
        None
    }

    /// The turns from the centre to a known state.
    fn word_to(&self, shape: BoardShape, state: &[u8]) -> Vec<BlockTurn> {
        let mut at = state.to_vec();
        let mut word = Vec::new();
        while let Some(turn) = self.known[at.as_slice()] {
            word.push(turn);
            shape.turn(&mut at, turn.inverse());
        }
        word.reverse();
        word
    }
}

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
    let cells = |homes: &[u32]| homes.iter().map(|&home| low_u8(u64::from(home))).collect::<Cells>();
    let turns: Vec<BlockTurn> =
        (0..shape.blocks()).flat_map(|block| quarters.iter().map(move |&quarters| BlockTurn { block, quarters })).collect();
    let (mut from, mut to) = (Ball::around(cells(board.homes())), Ball::around(cells(Board::solved(shape).homes())));
    if board.is_solved() {
        return Ok(Vec::new());
    }
    loop {
        let forward = from.outermost.len() <= to.outermost.len();
        let (growing, other) = if forward { (&mut from, &to) } else { (&mut to, &from) };
        if let Some(meeting) = growing.grow(shape, &turns, other) {
            let mut word = from.word_to(shape, &meeting);
            word.extend(to.word_to(shape, &meeting).into_iter().rev().map(BlockTurn::inverse));
            return Ok(word);
        }
        let states = from.known.len() + to.known.len();
        if states > MOST_STATES || from.outermost.is_empty() || to.outermost.is_empty() {
            let searched = shape.cells() <= MOST_SEARCHED_CELLS;
            let other = if searched {
                format!(", or farthest solve {} --state BOARD, which holds as many states as memory allows", shape.name())
            } else {
                String::new()
            };
            return Err(Error::config(format!(
                "board {shape}: no word of {} turns or fewer solves it, which took {} states; a longer shortest word needs more than the {MOST_STATES} \
                 states that are kept; use --method ladder{other}",
                from.radius + to.radius,
                to_u64(states)
            )));
        }
    }
}
