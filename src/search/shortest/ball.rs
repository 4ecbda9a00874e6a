//! All states within a radius of some centres, level by level.
//!
//! A level is a sorted list of ranks, 8 bytes a state. The next level: all neighbours, sorted,
//! without repeats, without the levels before. When the moves are closed under inverses a neighbour
//! of level d is in level d-1, d or d+1, so only two levels are subtracted; otherwise all are.
//! Cost: a sort of (generators x level) ranks, in place; memory: the levels plus the neighbours,
//! which are thinned whenever they reach the limit.

use crate::base::ids::{to_u64, to_usize};
use crate::base::readable::{counted, readable_bytes};
use crate::base::{Error, Result};
use crate::expand::Moves;
use rayon::prelude::*;

/// States whose neighbours one task finds.
const TASK_STATES: usize = 1 << 14;

/// Tasks between two looks at the memory.
const TASKS_AT_ONCE: usize = 64;

/// Bytes of a rank.
const RANK_BYTES: u64 = 8;

/// Bytes that the balls of one question may take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Most bytes.
    pub bytes: u64,
}

/// A ball around some states.
#[derive(Clone, Debug)]
pub struct Ball<'a> {
    moves: &'a Moves,
    levels: Vec<Vec<u64>>,
    inverse_closed: bool,
}

impl<'a> Ball<'a> {
    /// The ball of radius 0 around `centres`. `inverse_closed` says that the neighbour relation is
    /// symmetric.
    #[must_use]
    pub fn around(moves: &'a Moves, mut centres: Vec<u64>, inverse_closed: bool) -> Self {
        centres.sort_unstable();
        centres.dedup();
        Self { moves, levels: vec![centres], inverse_closed }
    }

    /// The moves that make the ball.
    #[must_use]
    pub fn moves(&self) -> &'a Moves {
        self.moves
    }

    /// The radius: number of the last level.
    #[must_use]
    pub fn radius(&self) -> usize {
        self.levels.len() - 1
    }

    /// States at distance `depth`, ascending; none beyond the radius.
    #[must_use]
    pub fn level(&self, depth: usize) -> &[u64] {
        self.levels.get(depth).map_or(&[], Vec::as_slice)
    }

    /// States at the radius.
    #[must_use]
    pub fn last(&self) -> &[u64] {
        self.level(self.radius())
    }

    /// States within `radius`.
    #[must_use]
    pub fn states_within(&self, radius: usize) -> u64 {
        self.levels.iter().take(radius + 1).map(|level| to_u64(level.len())).sum()
    }

    /// All states of the ball, in no order.
    pub fn states(&self) -> impl Iterator<Item = u64> + '_ {
        self.levels.iter().flatten().copied()
    }

    /// Bytes of the levels.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.states_within(self.radius()) * RANK_BYTES
    }

    /// Adds the next level; it is empty when the ball holds everything that can be reached.
    /// `others_bytes` are taken by something else.
    ///
    /// # Errors
    /// `Config` when the limit would be passed: the radius reached, and what to do.
    pub fn grow(&mut self, limit: MemoryLimit, others_bytes: u64) -> Result<()> {
        let held_bytes = self.bytes() + others_bytes;
        let room = to_usize(limit.bytes.saturating_sub(held_bytes) / RANK_BYTES);
        let mut next: Vec<u64> = Vec::new();
        for part in self.last().chunks(TASK_STATES * TASKS_AT_ONCE) {
            let most = part.len() * self.moves.generators();
            if next.len() + most > room {
                self.thin(&mut next);
            }
            if next.len() + most > room {
                return Err(self.too_large(limit, to_u64(next.len() + most) * RANK_BYTES + held_bytes));
            }
            let found: Vec<Vec<u64>> = part
                .par_chunks(TASK_STATES)
                .map(|states| {
                    let mut neighbours = Vec::with_capacity(states.len() * self.moves.generators());
                    for &state in states {
                        self.moves.for_each(state, |_, neighbour| neighbours.push(neighbour));
                    }
                    neighbours
                })
                .collect();
            next.reserve(most);
            found.iter().for_each(|neighbours| next.extend_from_slice(neighbours));
        }
        self.thin(&mut next);
        next.shrink_to_fit();
        self.levels.push(next);
        Ok(())
    }

    /// Sorts `next` and removes repeats and what earlier levels hold.
    fn thin(&self, next: &mut Vec<u64>) {
        next.par_sort_unstable();
        next.dedup();
        let earlier = if self.inverse_closed { self.levels.len().saturating_sub(2) } else { 0 };
        for level in &self.levels[earlier..] {
            subtract(next, level);
        }
    }

    fn too_large(&self, limit: MemoryLimit, needed_bytes: u64) -> Error {
        Error::config(format!(
            "the balls do not fit: at radius {} with {} the next level needs {} in all, the limit is {}; \
             raise --memory, or use the table of a run with keep_levels (--table)",
            self.radius(),
            counted(to_u64(self.last().len()), "state"),
            readable_bytes(needed_bytes),
            readable_bytes(limit.bytes)
        ))
    }
}

/// Removes from the sorted list `from` what the sorted list `unwanted` holds. One pass over both.
fn subtract(from: &mut Vec<u64>, unwanted: &[u64]) {
    let mut rest = unwanted.iter().copied().peekable();
    from.retain(|&rank| {
        while rest.next_if(|&other| other < rank).is_some() {}
        rest.peek() != Some(&rank)
    });
}

/// What two sorted lists share. One pass over both, split over threads.
#[must_use]
pub fn common(one: &[u64], other: &[u64]) -> Vec<u64> {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let parts: Vec<Vec<u64>> = short
        .par_chunks(TASK_STATES)
        .map(|part| {
            let (Some(&first), Some(&last)) = (part.first(), part.last()) else { return Vec::new() };
            let begin = long.partition_point(|&rank| rank < first);
            let end = begin + long[begin..].partition_point(|&rank| rank <= last);
            let mut candidates = long[begin..end].iter().copied().peekable();
            part.iter()
                .copied()
                .filter(|rank| {
                    while candidates.next_if(|other| other < rank).is_some() {}
                    candidates.peek() == Some(rank)
                })
                .collect()
        })
        .collect();
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand::Direction;
    use crate::families::turnstyle;

    const ROOMY: MemoryLimit = MemoryLimit { bytes: 1 << 28 };

    #[test]
    fn levels_are_the_known_ones() {
        // twsearch's table, as in tests/known/turnstyle_step.tsv.
        let known = [1, 3, 6, 12, 22, 40, 69, 118, 195, 320, 424, 479, 464, 285, 73, 9, 0];
        let puzzle = turnstyle::build(7, "step").expect("valid");
        let moves = Moves::of(&puzzle, Direction::Forward).expect("small");
        for inverse_closed in [true, false] {
            let mut ball = Ball::around(&moves, vec![0], inverse_closed);
            for (depth, &states) in known.iter().enumerate() {
                assert_eq!(ball.level(depth).len(), states);
                ball.grow(ROOMY, 0).expect("room");
            }
            assert_eq!(ball.states_within(99), 2_520);
        }
    }

    #[test]
    fn a_short_memory_thins_first_and_then_says_so() {
        let puzzle = turnstyle::build(8, "step").expect("valid");
        let moves = Moves::of(&puzzle, Direction::Forward).expect("small");
        let mut ball = Ball::around(&moves, vec![0], true);
        let limit = MemoryLimit { bytes: 20_000 };
        let error = (0..99).find_map(|_| ball.grow(limit, 0).err()).expect("40,320 states take more").to_string();
        assert!(error.contains("do not fit") && error.contains("--memory"), "{error}");
        assert!(ball.bytes() <= limit.bytes);
    }

    proptest::proptest! {
        #[test]
        fn set_operations(mut one in proptest::collection::vec(0_u64..60, 0..40), mut other in proptest::collection::vec(0_u64..60, 0..40)) {
            for list in [&mut one, &mut other] {
                list.sort_unstable();
                list.dedup();
            }
            let shared: Vec<u64> = one.iter().copied().filter(|rank| other.contains(rank)).collect();
            proptest::prop_assert_eq!(&common(&one, &other), &shared);
            let mut rest = one.clone();
            subtract(&mut rest, &other);
            proptest::prop_assert_eq!(rest.len() + shared.len(), one.len());
            proptest::prop_assert!(rest.iter().all(|rank| !other.contains(rank)));
        }
    }
}
