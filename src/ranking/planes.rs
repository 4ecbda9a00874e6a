//! The whole state's rank: `plane * m! + lexicographic rank of the arrangement`.

use super::lehmer::{self, FACTORIALS};
use crate::base::StateRank;
use crate::base::ids::{index_u32, low_u32};
use crate::puzzle::{Puzzle, State};

/// The numbering of a puzzle's states. Ranks run from 0 to [`StateSpace::state_count`] - 1; not all need be reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateSpace {
    planes: u32,
    arrangement_length: u32,
}

impl StateSpace {
    /// The numbering for `puzzle`'s planes and arrangements.
    #[must_use]
    pub fn of(puzzle: &Puzzle) -> Self {
        Self { planes: puzzle.planes(), arrangement_length: puzzle.arrangement_length() }
    }

    /// Arrangements per plane, `m!`.
    #[must_use]
    pub fn arrangements(&self) -> u64 {
        FACTORIALS[index_u32(self.arrangement_length)]
    }

    /// Ranks in all; in 128 bits, as 20! arrangements in many planes have no 64-bit rank.
    #[must_use]
    pub fn state_count(&self) -> u128 {
        u128::from(self.planes) * u128::from(self.arrangements())
    }

    /// Rank of `state`.
    #[must_use]
    pub fn rank(&self, state: &State) -> StateRank {
        StateRank(u64::from(state.plane) * self.arrangements() + lehmer::rank(&state.arrangement))
    }

    /// State of rank `rank`.
    #[must_use]
    pub fn unrank(&self, rank: StateRank) -> State {
        let length = index_u32(self.arrangement_length);
        let (labels, _) = lehmer::unrank(length, rank.0 % self.arrangements());
        State { plane: low_u32(rank.0 / self.arrangements()), arrangement: labels[..length].to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::family::turnstyle;

    #[test]
    fn every_rank_of_a_small_space_comes_back() {
        let puzzle = turnstyle::build(6, "step").expect("valid");
        let space = StateSpace::of(&puzzle);
        assert_eq!(space.state_count(), 720);
        for rank in (0..720).map(StateRank) {
            assert_eq!(space.rank(&space.unrank(rank)), rank);
        }
        assert_eq!(space.rank(&puzzle.starts()[0]), StateRank(0));
    }
}
