//! The ball around the solved state: all states within a few moves of it, computed anew. A run
//! without a certificate must agree with it. Around each listed state, a second ball shows whether
//! the state is nearer or farther than the run says. This refutes gross lies cheaply, but it proves
//! no distance beyond the balls.

use crate::limits::{Checked, Limits, wide};
use crate::puzzle::{Puzzle, inverse, moved};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Most successors computed for one level of the ball.
const MOST_SUCCESSORS: u64 = 400_000;

/// Most successors computed around all listed states together.
const MOST_BACKWARDS: u64 = 2_000_000;

/// Most elementary steps for one level of the ball, and around all listed states. So a puzzle of
/// many places and moves takes about a second, too.
const MOST_STEPS: u64 = 2_000_000_000;

/// One level of the ball.
pub struct NearLevel<S = Vec<u16>> {
    pub states: Vec<S>,
    /// How many edges lead down, stay on the level, and lead up. None for the last level, whose
    /// successors were not computed.
    pub edges: Option<[u64; 3]>,
}

/// The ball around the solved state.
pub struct Near<'a> {
    puzzle: &'a Puzzle,
    backwards: Vec<Vec<u16>>,
    depths: HashMap<Vec<u16>, usize>,
    pub levels: Vec<NearLevel>,
    /// Whether the ball holds all states that can be reached.
    pub is_all: bool,
    limits: &'a Limits,
}

/// All states within a few moves of a start.
pub struct Ball<S> {
    depths: HashMap<S, usize>,
    pub levels: Vec<NearLevel<S>>,
    /// Whether the ball holds all states that can be reached.
    pub is_all: bool,
}

impl<S: Clone + Eq + Hash> Ball<S> {
    /// Grows the ball around `start` as far as the limits allow. `size` is how many places a state
    /// has; `next` applies the move of this number, below `moves`.
    pub fn around(start: S, size: u64, moves: usize, next: impl Fn(&S, usize) -> S, place: &str, limits: &Limits) -> Checked<Self> {
        let most = MOST_SUCCESSORS.min(MOST_STEPS / size).min(limits.memory / 4 / (2 * (64 + 2 * size)));
        let mut depths = HashMap::from([(start.clone(), 0)]);
        let mut levels = vec![NearLevel { states: vec![start], edges: None }];
        let mut is_all = false;
        while !is_all {
            let depth = levels.len() - 1;
            let successors = wide(levels[depth].states.len()).saturating_mul(wide(moves));
            if successors > most {
                break;
            }
            limits.steps(place, u128::from(successors) * u128::from(size))?;
            let mut further = Vec::new();
            let mut edges = [0; 3];
            for state in &levels[depth].states {
                for number in 0..moves {
                    let there = *depths.entry(next(state, number)).or_insert_with_key(|reached| {
                        further.push(reached.clone());
                        depth + 1
                    });
                    edges[if there > depth { 2 } else { usize::from(there == depth) }] += 1;
                }
            }
            levels[depth].edges = Some(edges);
            is_all = further.is_empty();
            if !is_all {
                levels.push(NearLevel { states: further, edges: None });
            }
        }
        Ok(Self { depths, levels, is_all })
    }
}

/// What two balls tell about the distance of a state from the solved one.
#[derive(Debug, PartialEq, Eq)]
pub enum Told {
    /// The balls meet: the distance is this many moves. It is not less, as the balls did not meet
    /// one move earlier.
    Exactly(usize),
    /// The balls do not meet: the distance is more than this many moves.
    MoreThan(usize),
}

impl<'a> Near<'a> {
    pub fn around_solved(puzzle: &'a Puzzle, place: &str, limits: &'a Limits) -> Checked<Self> {
        let size = wide(puzzle.solved.len()).max(1);
        let next = |state: &Vec<u16>, number: usize| moved(state, &puzzle.moves[number]);
        let Ball { depths, levels, is_all } = Ball::around(puzzle.solved.clone(), size, puzzle.moves.len(), next, place, limits)?;
        let backwards = puzzle.moves.iter().map(|from| inverse(from)).collect();
        Ok(Self { puzzle, backwards, depths, levels, is_all, limits })
    }

    /// How many moves the deepest level of the ball is from the solved state.
    pub fn radius(&self) -> usize {
        self.levels.len() - 1
    }

    /// What is known about the distance of a state. `listed` is how many states are asked about;
    /// they share the limits.
    pub fn tell(&self, state: &[u16], listed: usize, place: &str) -> Checked<Told> {
        let size = wide(self.puzzle.solved.len()).max(1);
        let share = wide(listed).max(1);
        let most = (MOST_BACKWARDS / share).min(MOST_STEPS / size / share);
        let mut known = HashSet::from([state.to_vec()]);
        let mut edge = vec![state.to_vec()];
        let mut moves_back = 0;
        let mut looked_at = 0;
        loop {
            let meeting = edge.iter().filter_map(|state| self.depths.get(state)).min();
            if let Some(depth) = meeting {
                return Ok(Told::Exactly(depth + moves_back));
            }
            let successors = wide(edge.len()).saturating_mul(wide(self.backwards.len()));
            looked_at += successors;
            if looked_at > most || self.is_all {
                return Ok(Told::MoreThan(self.radius() + moves_back));
            }
            self.limits.steps(place, u128::from(successors) * u128::from(size))?;
            let mut next = Vec::new();
            for state in &edge {
                for from in &self.backwards {
                    let before = moved(state, from);
                    if known.insert(before.clone()) {
                        next.push(before);
                    }
                }
            }
            edge = next;
            moves_back += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The puzzle is a cycle of seven and a swap: 5,040 states, and no move undoes the cycle. What
    /// is told must agree with a plain search.
    #[test]
    fn what_is_told_holds() {
        let cycle = (0..7).map(|place| (place + 6) % 7).collect();
        let swap = vec![1, 0, 2, 3, 4, 5, 6];
        let puzzle = Puzzle::own("toy".into(), vec![("A".into(), cycle), ("B".into(), swap)], (1..=7).collect());
        let limits = Limits::new(1 << 30, 1 << 40);
        let whole = Near::around_solved(&puzzle, "here", &limits).unwrap_or_else(|refusal| panic!("{}", refusal.text));
        assert!(whole.is_all && whole.levels.iter().map(|level| level.states.len()).sum::<usize>() == 5_040);
        // The same ball, cut at radius 5.
        let mut cut = Near::around_solved(&puzzle, "here", &limits).unwrap_or_else(|refusal| panic!("{}", refusal.text));
        cut.levels.truncate(6);
        cut.depths.retain(|_, depth| *depth <= 5);
        cut.is_all = false;
        let mut bounds = 0;
        for (depth, level) in whole.levels.iter().enumerate() {
            for state in level.states.iter().step_by(17) {
                match cut.tell(state, 400, "here").unwrap_or_else(|refusal| panic!("{}", refusal.text)) {
                    Told::Exactly(told) => assert_eq!(depth, told),
                    Told::MoreThan(least) => {
                        assert!(depth > least && least >= 6);
                        bounds += 1;
                    }
                }
            }
        }
        assert!(bounds > 0);
    }
}
