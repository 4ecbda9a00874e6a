//! A validated puzzle in one metric: its rules, its start states, and what is known of them without
//! a search.
//!
//! All families compile to one of the kinds of [`Rules`]; everything above this layer knows only
//! these.

use super::layout::Layout;
use super::planes::{PlaneMoves, Planes};
use super::tokens::Tokens;
use super::{Permutation, encoding, order};
use crate::base::ids::to_u64;
use crate::base::{Error, Result};
use std::sync::OnceLock;

/// One configuration of a puzzle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Plane, `0..planes`; 0 for kinds without planes.
    pub plane: u32,
    /// Labels in position order, each of `0..arrangement_length` once; or the contents of all
    /// cells.
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

/// The kinds of rules. A kind is known to this layer, to the numbering of states (`ranking`) and to
/// their successors (`expand`), and to nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Planes x arrangements.
    Planes(Planes),
    /// Contents of cells, moves that depend on them.
    Tokens(Tokens),
}

/// What is known of a puzzle without a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Moves of a state, when all states have as many.
    pub moves: Option<u64>,
    /// Whether there are as many moves from one state to another as back.
    pub is_inverse_closed: bool,
    /// What the moves fix about signs.
    pub sign_rule: SignRule,
    /// States that are reached from the starts, counted without a search where the moves make a
    /// group.
    pub states: Option<u128>,
}

/// A puzzle in one metric. Built by a family, then only read.
#[derive(Clone, Debug)]
pub struct Puzzle {
    name: String,
    metric: String,
    rules: Rules,
    starts: Vec<State>,
    layout: Layout,
    facts: OnceLock<Facts>,
}

impl PartialEq for Puzzle {
    fn eq(&self, other: &Self) -> bool {
        // Facts follow from the rest.
        (&self.name, &self.metric, &self.rules, &self.starts, &self.layout)
            == (&other.name, &other.metric, &other.rules, &other.starts, &other.layout)
    }
}

impl Eq for Puzzle {}

impl Puzzle {
    /// A puzzle with these rules.
    ///
    /// # Errors
    /// `Config` when there is no start, or one is no state of the rules.
    pub fn new(name: impl Into<String>, metric: impl Into<String>, rules: Rules, starts: Vec<State>, layout: Layout) -> Result<Self> {
        let (name, metric) = (name.into(), metric.into());
        let refuse = |what: String| Err(Error::config(format!("puzzle {name}, metric {metric}: {what}")));
        if starts.is_empty() {
            return refuse("no start state".into());
        }
        let holds = |state: &State| match &rules {
            Rules::Planes(planes) => planes.holds(state),
            Rules::Tokens(tokens) => tokens.holds(state),
        };
        if let Some(start) = starts.iter().find(|start| !holds(start)) {
            return refuse(format!("start {start:?} is no state of the puzzle"));
        }
        Ok(Self { name, metric, rules, starts, layout, facts: OnceLock::new() })
    }

    /// A puzzle of planes and arrangements. `generators` hold for each plane the target plane and
    /// the permutation of positions.
    ///
    /// # Errors
    /// `Config` as for [`Planes::new`] and [`Puzzle::new`].
    pub fn of_planes(
        name: impl Into<String>,
        metric: impl Into<String>,
        arrangement_length: usize,
        generators: Vec<(String, Vec<(u32, Permutation)>)>,
        starts: Vec<State>,
        layout: Layout,
    ) -> Result<Self> {
        let (name, metric) = (name.into(), metric.into());
        let everywhere = |moves: Vec<(u32, Permutation)>| moves.into_iter().map(Some).collect::<PlaneMoves>();
        let generators = generators.into_iter().map(|(name, moves)| (name, everywhere(moves))).collect();
        let planes =
            Planes::new(arrangement_length, generators).map_err(|what| Error::config(format!("puzzle {name}, metric {metric}: {what}")))?;
        Self::new(name, metric, Rules::Planes(planes), starts, layout)
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

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The rules, where they are planes and arrangements.
    #[must_use]
    pub fn as_planes(&self) -> Option<&Planes> {
        match &self.rules {
            Rules::Planes(planes) => Some(planes),
            Rules::Tokens(_) => None,
        }
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

    /// What is known without a search. The first call works it out: milliseconds, or seconds for
    /// hundreds of thousands of planes.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| match &self.rules {
            Rules::Planes(planes) => Facts {
                moves: planes.moves_everywhere(),
                is_inverse_closed: planes.is_inverse_closed(),
                sign_rule: planes.signs(&self.starts).0,
                states: order::reachable_states(planes, &self.starts),
            },
            Rules::Tokens(tokens) => {
                Facts { moves: None, is_inverse_closed: tokens.is_inverse_closed(), sign_rule: SignRule::Free, states: None }
            }
        })
    }

    /// Whether there are as many moves from one state to another as back.
    #[must_use]
    pub fn is_inverse_closed(&self) -> bool {
        self.facts().is_inverse_closed
    }

    /// What the moves fix about signs.
    #[must_use]
    pub fn sign_rule(&self) -> SignRule {
        self.facts().sign_rule
    }

    /// Number of generators: of moves with a name.
    #[must_use]
    pub fn generators(&self) -> usize {
        match &self.rules {
            Rules::Planes(planes) => planes.generators().len(),
            Rules::Tokens(tokens) => tokens.moves().len(),
        }
    }

    /// The name of a generator.
    #[must_use]
    pub fn generator_name(&self, generator: usize) -> &str {
        match &self.rules {
            Rules::Planes(planes) => &planes.generators()[generator].name,
            Rules::Tokens(tokens) => &tokens.moves()[generator].name,
        }
    }

    /// The names of the generators of a word.
    #[must_use]
    pub fn word_names(&self, word: &[usize]) -> Vec<String> {
        word.iter().map(|&generator| self.generator_name(generator).to_owned()).collect()
    }

    /// The state as text.
    #[must_use]
    pub fn text(&self, state: &State) -> String {
        self.layout.text(state.plane, &state.arrangement)
    }

    /// The state that `generator` leads to from `state`; `None` where it is no move. The obvious
    /// form, for tests and words.
    #[must_use]
    pub fn successor(&self, generator: usize, state: &State) -> Option<State> {
        match &self.rules {
            Rules::Planes(planes) => planes.successor(generator, state),
            Rules::Tokens(tokens) => tokens.successor(generator, state),
        }
    }

    /// [`Puzzle::successor`] where the generator is known to be a move.
    ///
    /// # Panics
    /// Where it is none.
    #[must_use]
    pub fn apply(&self, generator: usize, state: &State) -> State {
        self.successor(generator, state).expect("a move of this state")
    }

    /// Number of moves of a state, counted from the rules and not by making them.
    #[must_use]
    pub fn moves_of(&self, state: &State) -> u64 {
        match &self.rules {
            Rules::Planes(planes) => planes.moves_in(state.plane),
            Rules::Tokens(tokens) => to_u64(tokens.moves().iter().filter(|step| step.is_possible(&state.arrangement)).count()),
        }
    }

    /// Identifies the compiled puzzle: blake3 of its canonical encoding (`encoding.rs`), as
    /// hexadecimal text. Names of generators and layout count, too: two runs with one digest give
    /// the same bytes.
    #[must_use]
    pub fn digest(&self) -> String {
        encoding::digest(self)
    }

    /// The puzzle whose generators undo those of this one, under the same names: its words from a
    /// start to a state, read backwards, are the words of this one from the state to the start.
    ///
    /// # Errors
    /// The name of a move that loses what a cell held, so that nothing leads back.
    pub fn inverted(&self) -> Result<Self, String> {
        let rules = match &self.rules {
            Rules::Planes(planes) => Rules::Planes(planes.inverted()),
            Rules::Tokens(tokens) => Rules::Tokens(tokens.inverted()?),
        };
        Ok(Self { rules, facts: OnceLock::new(), ..self.clone() })
    }

    /// The same puzzle with its generators in reverse order: the same states, ranks and levels,
    /// found by other steps.
    #[must_use]
    pub fn with_reversed_generators(self) -> Self {
        let rules = match self.rules {
            Rules::Planes(planes) => Rules::Planes(planes.reversed()),
            Rules::Tokens(tokens) => Rules::Tokens(tokens.reversed()),
        };
        Self { rules, ..self }
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
        Puzzle::of_planes("toy", "step", length, generators, vec![start], Layout::Numbered)
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
    fn what_is_inverted_leads_back() {
        let puzzle = one_plane(vec![("A", cycle(&[1, 2, 3, 0])), ("B", cycle(&[1, 0, 2, 3]))]).expect("valid");
        let back = puzzle.inverted().expect("bijections");
        assert_ne!(back, puzzle);
        let state = State { plane: 0, arrangement: vec![2, 0, 3, 1] };
        for generator in 0..2 {
            assert_eq!(back.generator_name(generator), puzzle.generator_name(generator));
            assert_eq!(back.apply(generator, &puzzle.apply(generator, &state)), state);
        }
        assert_eq!(back.inverted().expect("bijections"), puzzle);
    }

    #[test]
    fn sign_rules() {
        let rule = |size, metric| turnstyle::build(size, metric).expect("valid").sign_rule();
        assert_eq!(rule(9, "step"), SignRule::Constant);
        assert_eq!(rule(9, "flip"), SignRule::Constant);
        assert_eq!(rule(8, "step"), SignRule::Free);
        let swaps = one_plane(vec![("A", cycle(&[1, 0, 2])), ("B", cycle(&[0, 2, 1]))]).expect("valid");
        assert_eq!(swaps.sign_rule(), SignRule::Alternating);
    }

    #[test]
    fn faulty_definitions_are_refused() {
        assert!(one_plane(vec![]).expect_err("empty").to_string().contains("no generators"));
        let start = State { plane: 0, arrangement: vec![0, 1] };
        let same_plane = vec![(0, cycle(&[0, 1])), (0, cycle(&[1, 0]))];
        let error = Puzzle::of_planes("x", "y", 2, vec![("A".into(), same_plane)], vec![start.clone()], Layout::Numbered);
        assert!(error.expect_err("two planes on one").to_string().contains("no bijection"));
        let mixed = vec![(0, cycle(&[0, 1, 2]))];
        assert!(Puzzle::of_planes("x", "y", 2, vec![("A".into(), mixed)], vec![start], Layout::Numbered).is_err());
    }

    #[test]
    fn digests_tell_puzzles_apart() {
        let digest = |size, metric| turnstyle::build(size, metric).expect("valid").digest();
        assert_eq!(digest(8, "step"), digest(8, "step"));
        assert_ne!(digest(8, "step"), digest(8, "turn"));
        assert_ne!(digest(8, "step"), digest(9, "step"));
    }
}
