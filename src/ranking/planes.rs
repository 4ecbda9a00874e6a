//! The whole state's rank: `plane * A + lexicographic rank of the arrangement`, with A = m!
//! arrangements a plane.
//!
//! When every generator is even, every plane is reached with arrangements of one sign only. Of the
//! two arrangements of ranks 2i and 2i+1, which differ by a swap of the last two labels, exactly
//! one has that sign; the space is then *halved*: A = m!/2, and the state's number in its plane is
//! i.

use super::Partition;
use super::lehmer::{self, FACTORIALS, Labels};
use crate::base::Result;
use crate::base::StateRank;
use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::puzzle::planes::Planes;
use crate::puzzle::{SignRule, State};

/// The numbering of planes and arrangements. Ranks run from 0 to [`PlaneSpace::state_count`] - 1;
/// not all need be reachable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaneSpace {
    arrangement_length: u32,
    /// Planes whose arrangements are odd in a halved space.
    odd_planes: Vec<bool>,
    halved: bool,
}

impl PlaneSpace {
    /// The numbering for planes and arrangements.
    #[must_use]
    pub fn of(planes: &Planes, starts: &[State]) -> Self {
        let (rule, odd_planes) = planes.signs(starts);
        let halved = rule == SignRule::Constant && planes.arrangement_length() >= 2;
        Self { arrangement_length: planes.arrangement_length(), odd_planes, halved }
    }

    /// The cut into shards by the digits of leading positions; `None` chooses how many.
    ///
    /// # Errors
    /// As [`Partition::new`].
    pub fn cut(&self, leading_positions: Option<u32>) -> Result<Partition> {
        Partition::new(to_u64(self.odd_planes.len()), self.arrangement_length, self.halved, leading_positions)
    }

    /// Whether a plane is one of these, and an arrangement as long as these.
    #[must_use]
    pub fn has_form(&self, state: &State) -> bool {
        index_u32(state.plane) < self.odd_planes.len() && state.arrangement.len() == index_u32(self.arrangement_length)
    }

    /// Whether only arrangements of one sign are numbered.
    #[must_use]
    pub fn is_halved(&self) -> bool {
        self.halved
    }

    /// Numbered arrangements per plane, A.
    #[must_use]
    pub fn arrangements(&self) -> u64 {
        FACTORIALS[index_u32(self.arrangement_length)] / if self.halved { 2 } else { 1 }
    }

    /// Ranks in all; in 128 bits, as 20! arrangements in many planes have no 64-bit rank.
    #[must_use]
    pub fn state_count(&self) -> u128 {
        u128::from(to_u64(self.odd_planes.len())) * u128::from(self.arrangements())
    }

    /// Rank of `state`; in a halved space the state must have its plane's sign.
    #[must_use]
    pub fn rank(&self, state: &State) -> StateRank {
        self.rank_of_labels(state.plane, &state.arrangement)
    }

    /// Rank of the state with these labels in `plane`: [`PlaneSpace::rank`] without a [`State`].
    #[inline]
    #[must_use]
    pub fn rank_of_labels(&self, plane: u32, labels: &[u8]) -> StateRank {
        let arrangement = lehmer::rank(labels);
        let number = if self.halved { arrangement / 2 } else { arrangement };
        StateRank(u64::from(plane) * self.arrangements() + number)
    }

    /// State of rank `rank`.
    #[must_use]
    pub fn unrank(&self, rank: StateRank) -> State {
        let length = index_u32(self.arrangement_length);
        let plane = low_u32(rank.0 / self.arrangements());
        let (labels, _) = self.labels(plane, rank.0 % self.arrangements());
        State { plane, arrangement: labels[..length].to_vec() }
    }

    /// Whether the state of rank `rank` is odd, by the puzzle's sign.
    #[must_use]
    pub fn is_odd(&self, rank: StateRank) -> bool {
        self.labels(low_u32(rank.0 / self.arrangements()), rank.0 % self.arrangements()).1
    }

    /// Labels of arrangement `number` of `plane`, and whether the state is odd by the puzzle's
    /// sign.
    #[inline]
    #[must_use]
    pub fn labels(&self, plane: u32, number: u64) -> (Labels, bool) {
        let length = index_u32(self.arrangement_length);
        let odd_plane = self.odd_planes[index_u32(plane)];
        if !self.halved {
            let (labels, odd) = lehmer::unrank(length, number);
            return (labels, odd ^ odd_plane);
        }
        let (mut labels, odd) = lehmer::unrank(length, 2 * number);
        if odd != odd_plane {
            labels.swap(length - 2, length - 1);
        }
        (labels, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::turnstyle;
    use crate::puzzle::Permutation;
    use crate::ranking::StateSpace;

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

    #[test]
    fn a_halved_space_numbers_the_states_of_one_sign() {
        let puzzle = turnstyle::build(7, "step").expect("valid");
        let space = StateSpace::of(&puzzle);
        assert!(space.is_halved());
        assert_eq!(space.state_count(), 2_520);
        assert_eq!(space.rank(&puzzle.starts()[0]), StateRank(0));
        let odd_planes = puzzle.as_planes().expect("planes").signs(puzzle.starts()).1;
        for rank in (0..2_520).map(StateRank) {
            let state = space.unrank(rank);
            assert_eq!(space.rank(&state), rank);
            let odd = Permutation::new(state.arrangement.clone()).expect("a bijection").is_odd();
            assert_eq!(odd, odd_planes[index_u32(state.plane)]);
        }
    }
}
