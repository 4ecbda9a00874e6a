//! The boards whose group is small: 4, 120 or 720 reachable arrangements, listed by a breadth-first
//! search, so with shortest solutions.

use super::board::Board;
use super::unsolvable::Unsolvable;
use crate::base::ids::{index_u32, to_u64};
use crate::families::rotation_board::{BlockTurn, BoardShape};
use std::collections::HashMap;

/// All reachable arrangements of a board with a small group; milliseconds to build.
#[derive(Clone, Debug)]
pub struct SmallGroup {
    shape: BoardShape,
    /// For each arrangement the turn that leads towards the solved one; none for that itself.
    towards_solved: HashMap<Vec<u32>, Option<BlockTurn>>,
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
        let solved: Vec<u32> = (0..shape.cells()).collect();
        let mut towards_solved = HashMap::from([(solved.clone(), None)]);
        let mut level = vec![solved];
        while !level.is_empty() {
            let mut next = Vec::new();
            for arrangement in level {
                for block in 0..shape.blocks() {
                    for &quarters in quarters {
                        let turn = BlockTurn { block, quarters };
                        let mut turned = arrangement.clone();
                        shape.turn(&mut turned, turn);
                        if !towards_solved.contains_key(&turned) {
                            towards_solved.insert(turned.clone(), Some(turn.inverse()));
                            next.push(turned);
                        }
                    }
                }
            }
            level = next;
        }
        Self { shape, towards_solved }
    }

    /// Number of arrangements.
    #[must_use]
    pub fn order(&self) -> u64 {
        to_u64(self.towards_solved.len())
    }

    /// All arrangements, in no order.
    pub fn arrangements(&self) -> impl Iterator<Item = &[u32]> {
        self.towards_solved.keys().map(Vec::as_slice)
    }

    /// A shortest word that solves `board`; none when it cannot be solved.
    #[must_use]
    pub fn word(&self, board: &Board) -> Option<Vec<BlockTurn>> {
        let mut arrangement = board.homes().to_vec();
        let mut word = Vec::new();
        while let Some(turn) = *self.towards_solved.get(&arrangement)? {
            self.shape.turn(&mut arrangement, turn);
            word.push(turn);
        }
        Some(word)
    }

    /// Whether the board is one of the arrangements.
    ///
    /// # Errors
    /// The reason: which cells force which others.
    pub fn verdict(&self, board: &Board) -> Result<(), Unsolvable> {
        if self.towards_solved.contains_key(board.homes()) {
            return Ok(());
        }
        if self.shape.blocks() == 1 {
            return Err(Unsolvable::NoRotation);
        }
        // The cells that determine the others: the first three, or the corner's colour.
        let three = self.shape.cells() == 6;
        let (fixing, forced): (Vec<u32>, Vec<u32>) =
            (0..self.shape.cells()).partition(|&cell| if three { cell < 3 } else { !self.shape.colour(cell) });
        let tiles = |homes: &[u32], cells: &[u32]| cells.iter().map(|&cell| homes[index_u32(cell)] + 1).collect::<Vec<u32>>();
        let given = tiles(board.homes(), &fixing);
        let fitting = self.towards_solved.keys().find(|homes| tiles(homes, &fixing) == given);
        let forced = fitting.map(|homes| tiles(homes, &forced)).unwrap_or_default();
        Err(if three { Unsolvable::NotProjective { given, forced } } else { Unsolvable::OuterMismatch { given, forced } })
    }
}
