//! The neighbours of a ranked state, by every generator or by every generator's inverse.
//!
//! Cost: one unranking, then a pass over the positions and a ranking for each generator; 50 to 100 ns a neighbour at 16 positions.

use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::base::{Error, Result, StateRank};
use crate::puzzle::{Permutation, Puzzle, State};
use crate::ranking::StateSpace;
use crate::ranking::lehmer::Labels;

/// Which way moves are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a state to those its generators lead to.
    Forward,
    /// From a state to those whose generators lead to it.
    Backward,
}

/// Every generator of a puzzle (or its inverse) on ranked states.
#[derive(Clone, Debug)]
pub struct Moves {
    space: StateSpace,
    length: usize,
    planes: usize,
    /// Generator by generator, plane by plane: target plane and index of the permutation.
    steps: Vec<Vec<(u32, u32)>>,
    permutations: Vec<Permutation>,
}

impl Moves {
    /// The moves of `puzzle` in one direction.
    ///
    /// # Errors
    /// `Config` when the states have no 63-bit rank.
    pub fn of(puzzle: &Puzzle, direction: Direction) -> Result<Self> {
        let space = StateSpace::of(puzzle);
        if space.state_count() >= 1 << 63 {
            return Err(Error::config(format!(
                "puzzle {}: found {} numbered states, expected fewer than 2^63; choose a smaller puzzle",
                puzzle.name(),
                space.state_count()
            )));
        }
        let planes = index_u32(puzzle.planes());
        let steps = puzzle
            .generators()
            .iter()
            .map(|generator| {
                let mut steps = vec![(0, 0); planes];
                for (plane, step) in (0_u32..).zip(&generator.moves) {
                    match direction {
                        Direction::Forward => steps[index_u32(plane)] = (step.target, step.permutation),
                        Direction::Backward => steps[index_u32(step.target)] = (plane, step.permutation),
                    }
                }
                steps
            })
            .collect();
        let permutations = puzzle
            .permutations()
            .iter()
            .map(|permutation| match direction {
                Direction::Forward => permutation.clone(),
                Direction::Backward => permutation.inverse(),
            })
            .collect();
        Ok(Self { space, length: index_u32(puzzle.arrangement_length()), planes, steps, permutations })
    }

    /// The numbering of states.
    #[must_use]
    pub fn space(&self) -> &StateSpace {
        &self.space
    }

    /// Number of generators.
    #[must_use]
    pub fn generators(&self) -> usize {
        self.steps.len()
    }

    /// Rank of `state`, or none when the numbering has no number for it (its sign is not reached).
    #[must_use]
    pub fn rank(&self, state: &State) -> Option<u64> {
        if index_u32(state.plane) >= self.planes || state.arrangement.len() != self.length {
            return None;
        }
        let rank = self.space.rank(state);
        (self.space.unrank(rank) == *state).then_some(rank.0)
    }

    /// State of rank `rank`.
    #[must_use]
    pub fn state(&self, rank: u64) -> State {
        self.space.unrank(StateRank(rank))
    }

    /// Calls `found(generator, neighbour)` for every generator in order.
    #[inline]
    pub fn for_each(&self, rank: u64, mut found: impl FnMut(usize, u64)) {
        let (plane, labels) = self.unrank(rank);
        for (generator, steps) in self.steps.iter().enumerate() {
            let (target, permutation) = steps[plane];
            found(generator, self.moved(target, &labels, permutation));
        }
    }

    /// The neighbour by one generator.
    #[must_use]
    pub fn by(&self, generator: usize, rank: u64) -> u64 {
        let (plane, labels) = self.unrank(rank);
        let (target, permutation) = self.steps[generator][plane];
        self.moved(target, &labels, permutation)
    }

    /// The state with the same plane whose labels are renamed by `names` (label `x` becomes `names[x]`). Renaming commutes with moves, so in a
    /// plane it maps shortest words to shortest words. In a halved space the names must be an even permutation.
    #[inline]
    #[must_use]
    pub fn relabelled(&self, rank: u64, names: &[u8]) -> u64 {
        let (plane, mut labels) = self.unrank(rank);
        for label in &mut labels[..self.length] {
            *label = names[usize::from(*label)];
        }
        self.space.rank_of_labels(low_u32(to_u64(plane)), &labels[..self.length]).0
    }

    #[inline]
    fn unrank(&self, rank: u64) -> (usize, Labels) {
        let plane = low_u32(rank / self.space.arrangements());
        (index_u32(plane), self.space.labels(plane, rank % self.space.arrangements()).0)
    }

    #[inline]
    fn moved(&self, target: u32, labels: &Labels, permutation: u32) -> u64 {
        let mut moved: Labels = Labels::default();
        for (place, &source) in moved.iter_mut().zip(self.permutations[index_u32(permutation)].images()) {
            *place = labels[usize::from(source)];
        }
        self.space.rank_of_labels(target, &moved[..self.length]).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::turnstyle;

    #[test]
    fn neighbours_are_those_of_the_puzzle_and_backward_undoes_forward() {
        for (size, metric) in [(6, "step"), (7, "turn"), (8, "flip")] {
            let puzzle = turnstyle::build(size, metric).expect("valid");
            let forward = Moves::of(&puzzle, Direction::Forward).expect("small");
            let backward = Moves::of(&puzzle, Direction::Backward).expect("small");
            let states = u64::try_from(forward.space().state_count()).expect("small");
            for rank in (0..states).step_by(7) {
                let state = forward.state(rank);
                assert_eq!(forward.rank(&state), Some(rank));
                forward.for_each(rank, |generator, neighbour| {
                    assert_eq!(forward.state(neighbour), puzzle.apply(generator, &state));
                    assert_eq!(forward.by(generator, rank), neighbour);
                    assert_eq!(backward.by(generator, neighbour), rank);
                });
            }
        }
    }

    #[test]
    fn states_of_the_other_sign_have_no_rank() {
        let puzzle = turnstyle::build(7, "step").expect("valid");
        let moves = Moves::of(&puzzle, Direction::Forward).expect("small");
        let mut state = puzzle.starts()[0].clone();
        state.arrangement.swap(0, 1);
        assert_eq!(moves.rank(&state), None);
        state.arrangement.swap(2, 3);
        assert!(moves.rank(&state).is_some());
    }

    #[test]
    fn renaming_commutes_with_moves() {
        let puzzle = turnstyle::build(8, "step").expect("valid");
        let moves = Moves::of(&puzzle, Direction::Forward).expect("small");
        let names = [2, 0, 1, 4, 3, 5, 6];
        for rank in (0..40_320).step_by(11) {
            moves.for_each(rank, |generator, neighbour| {
                assert_eq!(moves.relabelled(neighbour, &names), moves.by(generator, moves.relabelled(rank, &names)));
            });
        }
    }
}
