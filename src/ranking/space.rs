//! The numbering of a puzzle's states, whatever their kind: rank, unrank, count, and the cut into
//! shards.

use super::{Partition, PlaneSpace, TokenSpace};
use crate::base::{Result, StateRank};
use crate::puzzle::{Puzzle, Rules, State};

/// The numbering of a puzzle's states. Ranks run from 0 to [`StateSpace::state_count`] - 1; not all
/// need be reachable. Hot loops take what is inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateSpace {
    /// Planes x arrangements.
    Planes(PlaneSpace),
    /// Contents of cells.
    Tokens(TokenSpace),
}

impl StateSpace {
    /// The numbering of the states of `puzzle`.
    #[must_use]
    pub fn of(puzzle: &Puzzle) -> Self {
        match puzzle.rules() {
            Rules::Planes(planes) => Self::Planes(PlaneSpace::of(planes, puzzle.starts())),
            Rules::Tokens(tokens) => Self::Tokens(TokenSpace::of(tokens, puzzle.starts())),
        }
    }

    /// Ranks in all; in 128 bits, as they may be more than 64 can number.
    #[must_use]
    pub fn state_count(&self) -> u128 {
        match self {
            Self::Planes(space) => space.state_count(),
            Self::Tokens(space) => space.state_count(),
        }
    }

    /// Whether only arrangements of one sign are numbered.
    #[must_use]
    pub fn is_halved(&self) -> bool {
        matches!(self, Self::Planes(space) if space.is_halved())
    }

    /// Rank of `state`, which must be a numbered one: in a halved space it must have its plane's
    /// sign.
    #[must_use]
    pub fn rank(&self, state: &State) -> StateRank {
        match self {
            Self::Planes(space) => space.rank(state),
            Self::Tokens(space) => space.rank(&state.arrangement),
        }
    }

    /// Rank of `state`; `None` when it is no numbered one.
    #[must_use]
    pub fn rank_if_numbered(&self, state: &State) -> Option<StateRank> {
        let has_form = match self {
            Self::Planes(space) => space.has_form(state),
            Self::Tokens(space) => space.has_form(state),
        };
        let rank = has_form.then(|| self.rank(state))?;
        (self.unrank(rank) == *state).then_some(rank)
    }

    /// Whether the state of rank `rank` is odd, by the puzzle's sign of planes and arrangements;
    /// false for kinds without signs.
    #[must_use]
    pub fn is_odd(&self, rank: StateRank) -> bool {
        match self {
            Self::Planes(space) => space.is_odd(rank),
            Self::Tokens(_) => false,
        }
    }

    /// State of rank `rank`.
    #[must_use]
    pub fn unrank(&self, rank: StateRank) -> State {
        match self {
            Self::Planes(space) => space.unrank(rank),
            Self::Tokens(space) => space.unrank(rank),
        }
    }

    /// The cut of the space into shards: `leading_positions` of the arrangement select the shard;
    /// `None` chooses how many.
    ///
    /// # Errors
    /// `Config` when the space has no 63-bit rank, or the wanted cut is impossible.
    pub fn cut(&self, leading_positions: Option<u32>) -> Result<Partition> {
        match self {
            Self::Planes(space) => space.cut(leading_positions),
            Self::Tokens(space) => space.cut(leading_positions),
        }
    }
}
