//! Whether a board can be solved, at once and with the reason: no search beyond the 720 boards of
//! the exotic case.
//!
//! `group.rs` says which boards can be. Costs two passes over the cells.

use super::board::Board;
use super::group::BoardGroup;
use super::small_group::SmallGroup;
use super::unsolvable::Unsolvable;
use crate::base::ids::index_u32;

/// Why `board` cannot be solved; `Ok` when it can.
///
/// # Errors
/// The reason.
pub fn verdict(board: &Board) -> Result<(), Unsolvable> {
    let shape = board.shape();
    let block = shape.block();
    let group = BoardGroup::of(shape);
    if block % 2 == 1 && group != BoardGroup::Rotations {
        let broken = board.homes().iter().zip(0..).find(|&(&home, cell)| shape.colour(home) != shape.colour(cell));
        if let Some((&home, cell)) = broken {
            return Err(Unsolvable::ColourBroken { shape, tile: home + 1, cell });
        }
    }
    if group == BoardGroup::All {
        return Ok(());
    }
    if group.is_small() {
        return SmallGroup::of(shape).verdict(board);
    }
    let (odd, [first, second]) = signs(board);
    match group {
        BoardGroup::Even if odd => Err(Unsolvable::Odd { block }),
        BoardGroup::SameSigns if odd => Err(Unsolvable::SignsDiffer { block, first_is_odd: first }),
        BoardGroup::BothEven if first || second => Err(Unsolvable::ColourOdd { block, odd: [first, second] }),
        _ => Ok(()),
    }
}

/// Whether the permutation is odd, and whether it is on the cells of each colour (counted by the
/// colour of the smallest cell of each cycle; so only meaningful when no tile has changed its
/// colour).
#[must_use]
pub fn signs(board: &Board) -> (bool, [bool; 2]) {
    let mut odd = [false; 2];
    let mut seen = vec![false; board.homes().len()];
    for start in 0..board.shape().cells() {
        let mut cell = start;
        let mut length = 0_u32;
        while !std::mem::replace(&mut seen[index_u32(cell)], true) {
            cell = board.homes()[index_u32(cell)];
            length += 1;
        }
        odd[usize::from(board.shape().colour(start))] ^= length > 0 && length.is_multiple_of(2);
    }
    (odd[0] ^ odd[1], odd)
}

impl Unsolvable {
    /// A word for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRotation => "no-rotation",
            Self::ColourBroken { .. } => "colour-broken",
            Self::Odd { .. } => "odd-permutation",
            Self::SignsDiffer { .. } => "colour-signs-differ",
            Self::ColourOdd { .. } => "colour-odd",
            Self::NotProjective { .. } => "not-in-pgl-2-5",
            Self::OuterMismatch { .. } => "outer-automorphism-mismatch",
        }
    }
}
