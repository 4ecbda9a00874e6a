//! A validated puzzle in one metric: planes x arrangements, generators of cost 1, and the start states.
//!
//! A state is `(plane, arrangement)`; a generator leads from `(p, a)` to `(target[p], a∘permutation[p])`.
//! All families compile to this one form; everything above this layer knows only this.

use super::encoding;
use super::generator::{Generator, PlaneMove};
use super::layout::Layout;
use super::permutation::{MOST_RANKED_POSITIONS, Permutation};
use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::base::{Error, Result};
use std::collections::HashMap;

/// Most planes of a puzzle: their move tables stay below 100 MB for 8 generators.
pub const MOST_PLANES: usize = 1 << 20;

/// Most generators of a puzzle.
pub const MOST_GENERATORS: usize = 1 << 10;

/// One configuration of a puzzle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Plane, `0..planes`.
    pub plane: u32,
    /// Labels in position order, each of `0..arrangement_length` once.
    pub arrangement: Vec<u8>,
}

/// What the generators fix about the signs of states at a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignRule {
    /// Every generator is odd: a state of depth `d` has the sign of `d`.
    Alternating,
    /// Every generator is even: all states have the sign of the start.
    Constant,
    /// Both occur, or the puzzle has no consistent sign.
    Free,
}

/// A puzzle in one metric. Built by a family, then only read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puzzle {
    name: String,
    metric: String,
    planes: u32,
    arrangement_length: u32,
    generators: Vec<Generator>,
    permutations: Vec<Permutation>,
    starts: Vec<State>,
    layout: Layout,
}

impl Puzzle {
    /// Checks and compiles a definition. `generators` hold for each plane the target plane and the permutation of positions.
    ///
    /// # Errors
    /// `Config` when there is no generator, too many planes, generators or positions, a permutation of another length, or a map of planes that
    /// is no bijection.
    pub fn new(
        name: impl Into<String>,
        metric: impl Into<String>,
        arrangement_length: usize,
        generators: Vec<(String, Vec<(u32, Permutation)>)>,
        starts: Vec<State>,
        layout: Layout,
    ) -> Result<Self> {
        let (name, metric) = (name.into(), metric.into());
        let refuse = |what: String| Err(Error::config(format!("puzzle {name}, metric {metric}: {what}")));
        let Some((_, first)) = generators.first() else {
            return refuse("no generators; a puzzle needs at least one".into());
        };
        let planes = first.len();
        if arrangement_length == 0 || arrangement_length > MOST_RANKED_POSITIONS {
            return refuse(format!("arrangements of {arrangement_length} positions; 1 to {MOST_RANKED_POSITIONS} have 64-bit ranks"));
        }
        if planes == 0 || planes > MOST_PLANES || generators.len() > MOST_GENERATORS {
            return refuse(format!(
                "{planes} planes and {} generators; at most {MOST_PLANES} planes and {MOST_GENERATORS} generators are possible",
                generators.len()
            ));
        }
        let mut table: Vec<Permutation> = Vec::new();
        let mut known: HashMap<Permutation, u32> = HashMap::new();
        let mut compiled = Vec::with_capacity(generators.len());
        for (generator, moves) in generators {
            let mut reached = vec![false; planes];
            let mut compiled_moves = Vec::with_capacity(planes);
            if moves.len() != planes {
                return refuse(format!("generator {generator} acts on {} planes, the first one on {planes}", moves.len()));
            }
            for (target, permutation) in moves {
                if permutation.length() != arrangement_length {
                    return refuse(format!(
                        "generator {generator} permutes {} positions, the arrangement has {arrangement_length}",
                        permutation.length()
                    ));
                }
                if index_u32(target) >= planes || std::mem::replace(&mut reached[index_u32(target)], true) {
                    return refuse(format!("generator {generator}: its map of planes is no bijection (plane {target})"));
                }
                let index = *known.entry(permutation).or_insert_with_key(|permutation| {
                    table.push(permutation.clone());
                    low_u32(to_u64(table.len() - 1))
                });
                compiled_moves.push(PlaneMove { target, permutation: index });
            }
            compiled.push(Generator { name: generator, moves: compiled_moves });
        }
        if starts.is_empty() {
            return refuse("no start state".into());
        }
        for start in &starts {
            if index_u32(start.plane) >= planes
                || start.arrangement.len() != arrangement_length
                || Permutation::new(start.arrangement.clone()).is_err()
            {
                return refuse(format!("start {start:?} is no state of the puzzle"));
            }
        }
        Ok(Self {
            name,
            metric,
            planes: low_u32(to_u64(planes)),
            arrangement_length: low_u32(to_u64(arrangement_length)),
            generators: compiled,
            permutations: table,
            starts,
            layout,
        })
    }

    /// The puzzle's short name, such as `turnstyle-12`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The metric: which turns cost 1.
    #[must_use]
    pub fn metric(&self) -> &str {
        &self.metric
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

    /// The states of depth 0.
    #[must_use]
    pub fn starts(&self) -> &[State] {
        &self.starts
    }

    /// How states are written.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The state as text.
    #[must_use]
    pub fn text(&self, state: &State) -> String {
        self.layout.text(state.plane, &state.arrangement)
    }

    /// The state that `generator` leads to from `state`. The obvious form, for tests and words.
    #[must_use]
    pub fn apply(&self, generator: usize, state: &State) -> State {
        let plane_move = self.generators[generator].moves[index_u32(state.plane)];
        let permutation = &self.permutations[index_u32(plane_move.permutation)];
        let arrangement = permutation.images().iter().map(|&i| state.arrangement[usize::from(i)]).collect();
        State { plane: plane_move.target, arrangement }
    }

    /// The names of the generators of a word.
    #[must_use]
    pub fn word_names(&self, word: &[usize]) -> Vec<String> {
        word.iter().map(|&generator| self.generators[generator].name.clone()).collect()
    }

    /// Identifies the compiled puzzle: blake3 of its canonical encoding (`encoding.rs`), as hexadecimal text.
    /// Names of generators and layout count, too: two runs with one digest give the same bytes.
    #[must_use]
    pub fn digest(&self) -> String {
        encoding::digest(self)
    }

    /// The same puzzle with its generators in reverse order: the same states, ranks and levels, found by other steps.
    #[must_use]
    pub fn with_reversed_generators(mut self) -> Self {
        self.generators.reverse();
        self
    }

    /// Every move as (plane, target plane, permutation index), generator by generator.
    fn edges(&self) -> impl Iterator<Item = (u32, PlaneMove)> + '_ {
        self.generators.iter().flat_map(|generator| (0..self.planes).zip(generator.moves.iter().copied()))
    }

    /// Whether the neighbour relation is symmetric: for every move from plane p to q by a permutation there are as many moves from q
    /// to p by its inverse. Edge balance, and levels that differ by at most one along an edge, hold exactly then.
    #[must_use]
    pub fn is_inverse_closed(&self) -> bool {
        let numbers: HashMap<&Permutation, u32> = self.permutations.iter().zip(0_u32..).collect();
        let inverses: Vec<Option<u32>> = self.permutations.iter().map(|p| numbers.get(&p.inverse()).copied()).collect();
        let mut surplus: HashMap<(u32, PlaneMove), i64> = HashMap::new();
        for (plane, forward) in self.edges() {
            let Some(inverse) = inverses[index_u32(forward.permutation)] else { return false };
            *surplus.entry((plane, forward)).or_default() += 1;
            *surplus.entry((forward.target, PlaneMove { target: plane, permutation: inverse })).or_default() -= 1;
        }
        surplus.values().all(|&count| count == 0)
    }

    /// Signs of the planes and the rule they follow: a state's sign is its plane's sign times its arrangement's. Found by walking the planes from
    /// the first start with "every generator odd", then "every generator even".
    #[must_use]
    pub fn sign_rule(&self) -> (SignRule, Vec<bool>) {
        for (rule, generators_odd) in [(SignRule::Constant, false), (SignRule::Alternating, true)] {
            if let Some(odd_planes) = self.consistent_signs(generators_odd) {
                return (rule, odd_planes);
            }
        }
        (SignRule::Free, vec![false; index_u32(self.planes)])
    }

    /// Signs of the planes (true = odd) such that every move changes the sign of a state by `generators_odd`, if there are any.
    fn consistent_signs(&self, generators_odd: bool) -> Option<Vec<bool>> {
        let odd: Vec<bool> = self.permutations.iter().map(Permutation::is_odd).collect();
        let mut signs: Vec<Option<bool>> = vec![None; index_u32(self.planes)];
        let first = &self.starts[0];
        let start_odd = |state: &State| Permutation::new(state.arrangement.clone()).is_ok_and(|p| p.is_odd());
        signs[index_u32(first.plane)] = Some(start_odd(first));
        let mut walk = vec![first.plane];
        while let Some(plane) = walk.pop() {
            let sign = signs[index_u32(plane)]?;
            for generator in &self.generators {
                let step = generator.moves[index_u32(plane)];
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
        for start in &self.starts {
            if signs[index_u32(start.plane)]? ^ start_odd(start) {
                return None;
            }
        }
        Some(signs.into_iter().map(|sign| sign.unwrap_or(false)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::turnstyle;

    fn cycle(images: &[u8]) -> Permutation {
        Permutation::new(images.to_vec()).expect("bijection")
    }

    fn one_plane(generators: Vec<(&str, Permutation)>) -> Result<Puzzle> {
        let length = generators.first().map_or(3, |(_, p)| p.length());
        let start = State { plane: 0, arrangement: Permutation::identity(length).images().to_vec() };
        let generators = generators.into_iter().map(|(name, p)| (name.to_owned(), vec![(0, p)])).collect();
        Puzzle::new("toy", "step", length, generators, vec![start], Layout::Numbered)
    }

    #[test]
    fn inverse_closure_needs_the_inverse_as_often() {
        let directed = one_plane(vec![("A", cycle(&[1, 2, 0]))]).expect("valid");
        assert!(!directed.is_inverse_closed());
        let both = one_plane(vec![("A", cycle(&[1, 2, 0])), ("B", cycle(&[2, 0, 1]))]).expect("valid");
        assert!(both.is_inverse_closed());
        let twice = one_plane(vec![("A", cycle(&[1, 2, 0])), ("B", cycle(&[2, 0, 1])), ("C", cycle(&[1, 2, 0]))]).expect("valid");
        assert!(!twice.is_inverse_closed());
    }

    #[test]
    fn sign_rules() {
        let rule = |size, metric| turnstyle::build(size, metric).expect("valid").sign_rule().0;
        assert_eq!(rule(9, "step"), SignRule::Constant);
        assert_eq!(rule(9, "flip"), SignRule::Constant);
        assert_eq!(rule(8, "step"), SignRule::Free);
        let swaps = one_plane(vec![("A", cycle(&[1, 0, 2])), ("B", cycle(&[0, 2, 1]))]).expect("valid");
        assert_eq!(swaps.sign_rule().0, SignRule::Alternating);
    }

    #[test]
    fn faulty_definitions_are_refused() {
        assert!(one_plane(vec![]).expect_err("empty").to_string().contains("no generators"));
        let start = State { plane: 0, arrangement: vec![0, 1] };
        let same_plane = vec![(0, cycle(&[0, 1])), (0, cycle(&[1, 0]))];
        let error = Puzzle::new("x", "y", 2, vec![("A".into(), same_plane)], vec![start.clone()], Layout::Numbered);
        assert!(error.expect_err("two planes on one").to_string().contains("no bijection"));
        let mixed = vec![(0, cycle(&[0, 1, 2]))];
        assert!(Puzzle::new("x", "y", 2, vec![("A".into(), mixed)], vec![start], Layout::Numbered).is_err());
    }

    #[test]
    fn digests_tell_puzzles_apart() {
        let digest = |size, metric| turnstyle::build(size, metric).expect("valid").digest();
        assert_eq!(digest(8, "step"), digest(8, "step"));
        assert_ne!(digest(8, "step"), digest(8, "turn"));
        assert_ne!(digest(8, "step"), digest(9, "step"));
    }
}
