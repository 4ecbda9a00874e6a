//! The boards whose group is small: 4, 120 or 720 reachable arrangements, listed by a breadth-first
//! search, so with shortest solutions.

use super::board::Board;
use super::turns::Turns;
use super::unsolvable::Unsolvable;
use crate::base::ids::{index_u32, to_u64};
use crate::families::rotation_board::{BlockTurn, BoardShape};
use crate::puzzle::ValueBall;

/// All reachable arrangements of a board with a small group; milliseconds to build.
#[derive(Clone, Debug)]
pub struct SmallGroup {
    turns: Turns,
    reached: ValueBall<Vec<u32>>,
}

impl SmallGroup {
    /// The arrangements of `shape`, with words that are shortest in quarter turns.
    #[must_use]
    pub fn of(shape: BoardShape) -> Self {
        Self::with_turns(shape, &[1, 3])
    }

    /// The arrangements of `shape`; words are shortest when each of these turns (in quarters) costs
    /// 1.
    #[must_use]
    pub fn with_turns(shape: BoardShape, quarters: &[u8]) -> Self {
        let turns = Turns::of(shape, quarters);
        let solved: Vec<u32> = (0..shape.cells()).collect();
        let reached = ValueBall::whole(solved, turns.number(), usize::MAX, |cells, number| Some(turns.turned(cells, number)));
        Self { turns, reached }
    }

    /// Number of arrangements.
    #[must_use]
    pub fn order(&self) -> u64 {
        to_u64(self.reached.len())
    }

    /// All arrangements, in no order.
    pub fn arrangements(&self) -> impl Iterator<Item = &[u32]> {
        self.reached.states().map(Vec::as_slice)
    }

    /// A shortest word that solves `board`; none when it cannot be solved.
    #[must_use]
    pub fn word(&self, board: &Board) -> Option<Vec<BlockTurn>> {
        let word = self.reached.word_to(&board.homes().to_vec(), |cells, number| self.turns.turned_back(cells, number))?;
        Some(self.turns.undone(&word))
    }

    /// Whether the board is one of the arrangements.
    ///
    /// # Errors
    /// The reason: which cells force which others.
    pub fn verdict(&self, board: &Board) -> Result<(), Unsolvable> {
        if self.reached.contains(&board.homes().to_vec()) {
            return Ok(());
        }
        let shape = self.turns.shape();
        if shape.blocks() == 1 {
            return Err(Unsolvable::NoRotation);
        }
        // The cells that determine the others: the first three, or the corner's colour.
        let three = shape.cells() == 6;
        let (fixing, forced): (Vec<u32>, Vec<u32>) =
            (0..shape.cells()).partition(|&cell| if three { cell < 3 } else { !shape.colour(cell) });
        let tiles = |homes: &[u32], cells: &[u32]| cells.iter().map(|&cell| homes[index_u32(cell)] + 1).collect::<Vec<u32>>();
        let given = tiles(board.homes(), &fixing);
        let fitting = self.reached.states().find(|homes| tiles(homes, &fixing) == given);
        let forced = fitting.map(|homes| tiles(homes, &forced)).unwrap_or_default();
        Err(if three { Unsolvable::NotProjective { given, forced } } else { Unsolvable::OuterMismatch { given, forced } })
    }
}
