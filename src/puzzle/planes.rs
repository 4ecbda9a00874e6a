//! Rules of the kind planes x arrangements.
//!
//! A state is `(plane, arrangement)`; a generator leads from `(p, a)` to
//! `(target[p], a∘permutation[p])`. It may be absent in a plane: then no state there has this move.

use super::generator::{Generator, PlaneMove};
use super::permutation::{MOST_RANKED_POSITIONS, Permutation};
use super::{SignRule, State};
use crate::base::ids::{index_u32, low_u32, to_u64};
use std::collections::HashMap;

/// Most planes of a puzzle: their move tables stay below 100 MB for 8 generators.
pub const MOST_PLANES: usize = 1 << 20;

/// Most generators of a puzzle.
pub const MOST_GENERATORS: usize = 1 << 10;

/// For each plane the plane that a generator leads to, and how it moves the positions; `None` where
/// the generator is absent.
pub type PlaneMoves = Vec<Option<(u32, Permutation)>>;

/// Planes, and generators of cost 1 on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planes {
    planes: u32,
    arrangement_length: u32,
    generators: Vec<Generator>,
    permutations: Vec<Permutation>,
}

impl Planes {
    /// Checks and compiles generators.
    ///
    /// # Errors
    /// A message when there is no generator, too many planes, generators or positions, a
    /// permutation of another length, or two planes that a generator leads to the same one.
    pub fn new(arrangement_length: usize, generators: Vec<(String, PlaneMoves)>) -> Result<Self, String> {
        let Some((_, first)) = generators.first() else {
            return Err("no generators; a puzzle needs at least one".into());
        };
        let planes = first.len();
        if arrangement_length == 0 || arrangement_length > MOST_RANKED_POSITIONS {
            return Err(format!("arrangements of {arrangement_length} positions; 1 to {MOST_RANKED_POSITIONS} have 64-bit ranks"));
        }
        if planes == 0 || planes > MOST_PLANES || generators.len() > MOST_GENERATORS {
            return Err(format!(
                "{planes} planes and {} generators; at most {MOST_PLANES} planes and {MOST_GENERATORS} generators are possible",
                generators.len()
            ));
        }
        let mut permutations: Vec<Permutation> = Vec::new();
        let mut known: HashMap<Permutation, u32> = HashMap::new();
        let mut compiled = Vec::with_capacity(generators.len());
        for (name, moves) in generators {
            let mut reached = vec![false; planes];
            let mut compiled_moves = Vec::with_capacity(planes);
            if moves.len() != planes {
                return Err(format!("generator {name} acts on {} planes, the first one on {planes}", moves.len()));
            }
            for step in moves {
                let Some((target, permutation)) = step else {
                    compiled_moves.push(None);
                    continue;
                };
                if permutation.length() != arrangement_length {
                    return Err(format!(
                        "generator {name} permutes {} positions, the arrangement has {arrangement_length}",
                        permutation.length()
                    ));
                }
                if index_u32(target) >= planes || std::mem::replace(&mut reached[index_u32(target)], true) {
                    return Err(format!("generator {name}: its map of planes is no bijection (plane {target})"));
                }
                let index = *known.entry(permutation).or_insert_with_key(|permutation| {
                    permutations.push(permutation.clone());
                    low_u32(to_u64(permutations.len() - 1))
                });
                compiled_moves.push(Some(PlaneMove { target, permutation: index }));
            }
            compiled.push(Generator { name, moves: compiled_moves });
        }
        Ok(Self {
            planes: low_u32(to_u64(planes)),
            arrangement_length: low_u32(to_u64(arrangement_length)),
            generators: compiled,
            permutations,
        })
    }

    /// Number of planes.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.planes
    }

    /// Number of positions of the arrangement.
    #[must_use]
    pub fn arrangement_length(&self) -> u32 {
        self.arrangement_length
    }

    /// The allowed turns.
    #[must_use]
    pub fn generators(&self) -> &[Generator] {
        &self.generators
    }

    /// The distinct permutations that the generators' moves refer to.
    #[must_use]
    pub fn permutations(&self) -> &[Permutation] {
        &self.permutations
    }

    /// Whether a state is one of these planes and arrangements.
    #[must_use]
    pub fn holds(&self, state: &State) -> bool {
        state.plane < self.planes
            && state.arrangement.len() == index_u32(self.arrangement_length)
            && Permutation::new(state.arrangement.clone()).is_ok()
    }

    /// The state that a generator leads to, unless it is absent there.
    #[must_use]
    pub fn successor(&self, generator: usize, state: &State) -> Option<State> {
        let step = self.generators[generator].moves[index_u32(state.plane)]?;
        let permutation = &self.permutations[index_u32(step.permutation)];
        let arrangement = permutation.images().iter().map(|&i| state.arrangement[usize::from(i)]).collect();
        Some(State { plane: step.target, arrangement })
    }

    /// Moves of every state of a plane.
    #[must_use]
    pub fn moves_in(&self, plane: u32) -> u64 {
        to_u64(self.generators.iter().filter(|generator| generator.moves[index_u32(plane)].is_some()).count())
    }

    /// Moves of a state, when all states have as many.
    #[must_use]
    pub fn moves_everywhere(&self) -> Option<u64> {
        let first = self.moves_in(0);
        let is_everywhere = first == to_u64(self.generators.len()) && self.is_total();
        (is_everywhere || (1..self.planes).all(|plane| self.moves_in(plane) == first)).then_some(first)
    }

    /// Whether no generator is absent anywhere.
    #[must_use]
    pub fn is_total(&self) -> bool {
        self.generators.iter().all(|generator| generator.moves.iter().all(Option::is_some))
    }

    /// The same with the generators in reverse order.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.generators.reverse();
        self
    }

    /// Every move undone: the generator that leads from `(p, a)` to `(q, a∘s)` here leads from
    /// `(q, b)` to `(p, b∘s⁻¹)` there. Names stay.
    #[must_use]
    pub fn inverted(&self) -> Self {
        let inverses: Vec<Permutation> = self.permutations.iter().map(Permutation::inverse).collect();
        let generators = self.generators.iter().map(|generator| {
            let mut moves = vec![None; generator.moves.len()];
            for (plane, step) in (0_u32..).zip(&generator.moves) {
                if let Some(step) = step {
                    moves[index_u32(step.target)] = Some((plane, inverses[index_u32(step.permutation)].clone()));
                }
            }
            (generator.name.clone(), moves)
        });
        Self::new(index_u32(self.arrangement_length), generators.collect()).expect("what bijections undo are bijections")
    }

    /// Every move with the plane it starts in, generator by generator.
    fn edges(&self) -> impl Iterator<Item = (u32, PlaneMove)> + '_ {
        let steps = |generator: &'_ Generator| generator.moves.clone();
        self.generators
            .iter()
            .flat_map(move |generator| (0..self.planes).zip(steps(generator)))
            .filter_map(|(plane, step)| Some((plane, step?)))
    }

    /// Whether the neighbour relation is symmetric: for every move from plane p to q by a
    /// permutation there are as many moves from q to p by its inverse. Edge balance, and levels
    /// that differ by at most one along an edge, hold exactly then.
    #[must_use]
    pub fn is_inverse_closed(&self) -> bool {
        let numbers: HashMap<&Permutation, u32> = self.permutations.iter().zip(0_u32..).collect();
        let inverses: Vec<Option<u32>> = self.permutations.iter().map(|p| numbers.get(&p.inverse()).copied()).collect();
        if self.is_paired(&inverses) {
            return true;
        }
        let mut surplus: HashMap<(u32, PlaneMove), i64> = HashMap::new();
        for (plane, forward) in self.edges() {
            let Some(inverse) = inverses[index_u32(forward.permutation)] else { return false };
            *surplus.entry((plane, forward)).or_default() += 1;
            *surplus.entry((forward.target, PlaneMove { target: plane, permutation: inverse })).or_default() -= 1;
        }
        surplus.values().all(|&count| count == 0)
    }

    /// Whether each generator has one that undoes it everywhere, or is its own inverse: the usual
    /// way to be closed, and quick to see.
    fn is_paired(&self, inverses: &[Option<u32>]) -> bool {
        let undoes = |other: &Generator, generator: &Generator| {
            (0_u32..).zip(&generator.moves).all(|(plane, step)| {
                step.is_none_or(|step| {
                    let inverse = inverses[index_u32(step.permutation)];
                    inverse.is_some_and(|permutation| other.moves[index_u32(step.target)] == Some(PlaneMove { target: plane, permutation }))
                })
            })
        };
        let mut left: Vec<&Generator> = self.generators.iter().collect();
        while let Some(generator) = left.pop() {
            // Moves that are absent must be so in both.
            let partner = |other: &&Generator| undoes(other, generator) && undoes(generator, other);
            if partner(&generator) {
                continue;
            }
            let Some(place) = left.iter().position(partner) else { return false };
            left.swap_remove(place);
        }
        true
    }

    /// Signs of the planes and the rule they follow: a state's sign is its plane's sign times its
    /// arrangement's. Found by walking the planes from the first start with "every generator odd",
    /// then "every generator even".
    #[must_use]
    pub fn signs(&self, starts: &[State]) -> (SignRule, Vec<bool>) {
        for (rule, generators_odd) in [(SignRule::Constant, false), (SignRule::Alternating, true)] {
            if let Some(odd_planes) = self.consistent_signs(starts, generators_odd) {
                return (rule, odd_planes);
            }
        }
        (SignRule::Free, vec![false; index_u32(self.planes)])
    }

    /// Signs of the planes (true = odd) such that every move changes the sign of a state by
    /// `generators_odd`, if there are any.
    fn consistent_signs(&self, starts: &[State], generators_odd: bool) -> Option<Vec<bool>> {
        let odd: Vec<bool> = self.permutations.iter().map(Permutation::is_odd).collect();
        let mut signs: Vec<Option<bool>> = vec![None; index_u32(self.planes)];
        let first = &starts[0];
        let start_odd = |state: &State| Permutation::new(state.arrangement.clone()).is_ok_and(|p| p.is_odd());
        signs[index_u32(first.plane)] = Some(start_odd(first));
        let mut walk = vec![first.plane];
        while let Some(plane) = walk.pop() {
            let sign = signs[index_u32(plane)]?;
            for generator in &self.generators {
                let Some(step) = generator.moves[index_u32(plane)] else { continue };
                let target = sign ^ generators_odd ^ odd[index_u32(step.permutation)];
                match signs[index_u32(step.target)] {
                    None => {
                        signs[index_u32(step.target)] = Some(target);
                        walk.push(step.target);
                    }
                    Some(known) if known != target => return None,
                    Some(_) => {}
                }
            }
        }
        // All starts must agree, too: depth 0 has one sign.
        for start in starts {
            if signs[index_u32(start.plane)]? ^ start_odd(start) {
                return None;
            }
        }
        Some(signs.into_iter().map(|sign| sign.unwrap_or(false)).collect())
    }
}
