//! State expansion, the slow and obvious one: unrank a state, apply every generator, rank the results.
//!
//! It is the oracle for every faster expansion, and the right one for sparse levels. A generator whose permutation is the identity
//! only moves the plane and is applied to the rank itself. Cost: about 60 ns a state for one unranking and 30 ns for each
//! generator that moves positions (m = 10).

use crate::base::StateRank;
use crate::base::ids::{index_u32, low_u32};
use crate::puzzle::Puzzle;
use crate::ranking::StateSpace;
use crate::ranking::lehmer::{self, Labels};

/// A move compiled for ranks.
#[derive(Clone, Copy, Debug)]
struct CompiledMove {
    /// First rank of the target plane.
    base: u64,
    /// Index of the permutation, or `None` when positions stay.
    permutation: Option<usize>,
}

/// The compiled generators of a puzzle.
#[derive(Clone, Debug)]
pub struct StateExpansion {
    arrangements: u64,
    length: usize,
    generators: usize,
    /// `planes x generators`, plane by plane.
    moves: Vec<CompiledMove>,
    permutations: Vec<Labels>,
    space: StateSpace,
}

impl StateExpansion {
    /// Compiles `puzzle`. Size: 24 bytes a plane and generator.
    #[must_use]
    pub fn new(puzzle: &Puzzle) -> Self {
        let space = StateSpace::of(puzzle);
        let arrangements = space.arrangements();
        let moves = (0..index_u32(puzzle.planes()))
            .flat_map(|plane| {
                puzzle.generators().iter().map(move |generator| {
                    let step = generator.moves[plane];
                    let stays = puzzle.permutations()[index_u32(step.permutation)].is_identity();
                    CompiledMove {
                        base: u64::from(step.target) * arrangements,
                        permutation: (!stays).then_some(index_u32(step.permutation)),
                    }
                })
            })
            .collect();
        let permutations = puzzle
            .permutations()
            .iter()
            .map(|permutation| {
                let mut images = Labels::default();
                images[..permutation.length()].copy_from_slice(permutation.images());
                images
            })
            .collect();
        Self {
            arrangements,
            length: index_u32(puzzle.arrangement_length()),
            generators: puzzle.generators().len(),
            moves,
            permutations,
            space,
        }
    }

    /// Number of successors of every state, counted with multiplicity.
    #[must_use]
    pub fn generators(&self) -> usize {
        self.generators
    }

    /// Calls `found` with each successor of `state` in the order of the generators; returns whether the state is odd (by the puzzle's sign
    /// of planes and arrangements).
    #[inline]
    pub fn expand(&self, state: StateRank, mut found: impl FnMut(StateRank)) -> bool {
        let plane = low_u32(state.0 / self.arrangements);
        let number = state.0 % self.arrangements;
        let (labels, odd) = self.space.labels(plane, number);
        let plane = index_u32(plane);
        for step in &self.moves[plane * self.generators..(plane + 1) * self.generators] {
            let moved = match step.permutation {
                None => number,
                Some(permutation) => {
                    let images = &self.permutations[permutation][..self.length];
                    let mut result = Labels::default();
                    for (label, &image) in result.iter_mut().zip(images) {
                        *label = labels[usize::from(image)];
                    }
                    let rank = lehmer::rank(&result[..self.length]);
                    if self.space.is_halved() { rank / 2 } else { rank }
                }
            };
            found(StateRank(step.base + moved));
        }
        odd
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::turnstyle;

    #[test]
    fn successors_are_those_of_the_definition() {
        for metric in turnstyle::METRICS {
            let puzzle = turnstyle::build(7, metric).expect("valid");
            let space = StateSpace::of(&puzzle);
            let expansion = StateExpansion::new(&puzzle);
            for rank in (0..u64::try_from(space.state_count()).expect("small")).map(StateRank) {
                let mut found = Vec::new();
                expansion.expand(rank, |successor| found.push(successor));
                let state = space.unrank(rank);
                let expected: Vec<StateRank> =
                    (0..puzzle.generators().len()).map(|generator| space.rank(&puzzle.apply(generator, &state))).collect();
                assert_eq!(found, expected, "{metric} {rank}");
            }
        }
    }
}
