//! Moves on ranked states, one by one: unrank a state, make every move, rank the results.
//!
//! The slow and obvious way, and the oracle for every faster expansion. A generator whose
//! permutation is the identity only moves the plane and is applied to the rank itself. Cost for
//! planes: about 60 ns a state for one unranking and 30 ns for each generator that moves positions
//! (m = 10).

use crate::base::ids::{index_u32, low_u32};
use crate::base::{Error, Result, StateRank};
use crate::puzzle::planes::Planes;
use crate::puzzle::tokens::{MOST_CELLS, TokenMove, Tokens};
use crate::puzzle::{Permutation, Puzzle, Rules, State};
use crate::ranking::lehmer::{self, Labels};
use crate::ranking::{PlaneSpace, StateSpace, TokenSpace};

/// Which way moves are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a state to those its generators lead to.
    Forward,
    /// From a state to those whose generators lead to it.
    Backward,
}

/// Every generator of a puzzle, or what undoes it, on ranked states. One `match` on the kind stands
/// outside the loops: see [`Moves::expand_all`].
#[derive(Clone, Debug)]
pub struct Moves {
    space: StateSpace,
    generators: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Planes(OnPlanes),
    Tokens(OnTokens),
}

/// Moves of planes and arrangements.
#[derive(Clone, Debug)]
struct OnPlanes {
    space: PlaneSpace,
    arrangements: u64,
    length: usize,
    generators: usize,
    /// `planes x generators`, plane by plane; 16 bytes each.
    steps: Vec<Step>,
    permutations: Vec<Labels>,
    /// Whether no move is absent anywhere.
    is_total: bool,
}

/// A move compiled for ranks.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// First rank of the target plane; [`ABSENT`] where there is no move.
    base: u64,
    /// Index of the permutation, or [`STAYS`].
    permutation: u32,
}

/// No move leads here.
const ABSENT: u64 = u64::MAX;

/// Positions stay.
const STAYS: u32 = u32::MAX;

/// Moves of tokens.
#[derive(Clone, Debug)]
struct OnTokens {
    space: TokenSpace,
    moves: Vec<TokenMove>,
}

/// Moves on ranked states of one kind.
trait OnRanks {
    /// Calls `found(generator, successor)` for every move of a state; returns whether the state is
    /// odd.
    fn for_each(&self, rank: u64, found: impl FnMut(usize, u64)) -> bool;
}

impl Moves {
    /// The moves of `puzzle` in one direction.
    ///
    /// # Errors
    /// `Config` when the states have no 63-bit rank, or moves lose contents and cannot be undone.
    pub fn of(puzzle: &Puzzle, direction: Direction) -> Result<Self> {
        let (space, kind) = match puzzle.rules() {
            Rules::Planes(planes) => {
                let space = PlaneSpace::of(planes, puzzle.starts());
                check_numbered(puzzle, space.state_count())?;
                (StateSpace::Planes(space.clone()), Kind::Planes(OnPlanes::of(planes, space, direction)))
            }
            Rules::Tokens(tokens) => {
                let space = TokenSpace::of(tokens, puzzle.starts());
                check_numbered(puzzle, space.state_count())?;
                let moves = OnTokens::of(tokens, space.clone(), direction).map_err(|name| {
                    Error::config(format!(
                        "puzzle {}: found the move {name}, which loses what a cell held, expected moves that can be undone; \
                         only a search of the whole space can answer this",
                        puzzle.name()
                    ))
                })?;
                (StateSpace::Tokens(space), Kind::Tokens(moves))
            }
        };
        Ok(Self { space, generators: puzzle.generators(), kind })
    }

    /// The numbering of states.
    #[must_use]
    pub fn space(&self) -> &StateSpace {
        &self.space
    }

    /// Number of generators: the most moves that a state has.
    #[must_use]
    pub fn generators(&self) -> usize {
        self.generators
    }

    /// Rank of `state`, or none when the numbering has no number for it (its sign is not reached).
    #[must_use]
    pub fn rank(&self, state: &State) -> Option<u64> {
        self.space.rank_if_numbered(state).map(|rank| rank.0)
    }

    /// State of rank `rank`.
    #[must_use]
    pub fn state(&self, rank: u64) -> State {
        self.space.unrank(StateRank(rank))
    }

    /// Calls `found(generator, neighbour)` for every move of a state, in the order of the
    /// generators; returns whether the state is odd (by the puzzle's sign of planes and
    /// arrangements).
    #[inline]
    pub fn for_each(&self, rank: u64, found: impl FnMut(usize, u64)) -> bool {
        match &self.kind {
            Kind::Planes(moves) => moves.for_each(rank, found),
            Kind::Tokens(moves) => moves.for_each(rank, found),
        }
    }

    /// Expands many states: `found(neighbour)` for every move of a state, then
    /// `done(state, moves, is_odd)` with the number of moves it has.
    #[inline]
    pub fn expand_all(&self, ranks: &[u64], found: impl FnMut(StateRank), done: impl FnMut(u64, usize, bool)) {
        match &self.kind {
            Kind::Planes(moves) => expand_all(moves, ranks, found, done),
            Kind::Tokens(moves) => expand_all(moves, ranks, found, done),
        }
    }

    /// The neighbour by one generator; `None` where it is no move.
    #[must_use]
    pub fn by(&self, generator: usize, rank: u64) -> Option<u64> {
        match &self.kind {
            Kind::Planes(moves) => moves.by(generator, rank),
            Kind::Tokens(moves) => {
                let mut neighbour = None;
                moves.for_each(rank, |number, reached| neighbour = neighbour.or((number == generator).then_some(reached)));
                neighbour
            }
        }
    }

    /// The state with the same plane whose labels are renamed by `names` (label `x` becomes
    /// `names[x]`). Renaming commutes with the moves of planes, so it maps shortest words to
    /// shortest words. In a halved space the names must be an even permutation. `None` for other
    /// kinds.
    #[inline]
    #[must_use]
    pub fn relabelled(&self, rank: u64, names: &[u8]) -> Option<u64> {
        let Kind::Planes(moves) = &self.kind else { return None };
        let (plane, mut labels, _) = moves.unrank(rank);
        for label in &mut labels[..moves.length] {
            *label = names[usize::from(*label)];
        }
        Some(moves.space.rank_of_labels(plane, &labels[..moves.length]).0)
    }
}

fn check_numbered(puzzle: &Puzzle, state_count: u128) -> Result<()> {
    if state_count < 1 << 63 {
        return Ok(());
    }
    Err(Error::config(format!(
        "puzzle {}: found {state_count} numbered states, expected fewer than 2^63; choose a smaller puzzle",
        puzzle.name()
    )))
}

#[inline]
fn expand_all(moves: &impl OnRanks, ranks: &[u64], mut found: impl FnMut(StateRank), mut done: impl FnMut(u64, usize, bool)) {
    for &rank in ranks {
        let mut count = 0;
        let is_odd = moves.for_each(rank, |_, neighbour| {
            count += 1;
            found(StateRank(neighbour));
        });
        done(rank, count, is_odd);
    }
}

impl OnPlanes {
    fn of(rules: &Planes, space: PlaneSpace, direction: Direction) -> Self {
        let arrangements = space.arrangements();
        let generators = rules.generators().len();
        let mut steps = vec![Step { base: ABSENT, permutation: STAYS }; index_u32(rules.planes()) * generators];
        for (number, generator) in rules.generators().iter().enumerate() {
            for (plane, step) in (0_u32..).zip(&generator.moves) {
                let Some(step) = step else { continue };
                let (from, to) = match direction {
                    Direction::Forward => (plane, step.target),
                    Direction::Backward => (step.target, plane),
                };
                let stays = rules.permutations()[index_u32(step.permutation)].is_identity();
                steps[index_u32(from) * generators + number] =
                    Step { base: u64::from(to) * arrangements, permutation: if stays { STAYS } else { step.permutation } };
            }
        }
        let images = |permutation: &Permutation| {
            let mut images = Labels::default();
            images[..permutation.length()].copy_from_slice(permutation.images());
            images
        };
        let permutations = rules.permutations().iter().map(|permutation| match direction {
            Direction::Forward => images(permutation),
            Direction::Backward => images(&permutation.inverse()),
        });
        let permutations = permutations.collect();
        Self {
            space,
            arrangements,
            length: index_u32(rules.arrangement_length()),
            generators,
            steps,
            permutations,
            is_total: rules.is_total(),
        }
    }

    /// Plane, labels, and whether the state is odd.
    #[inline]
    fn unrank(&self, rank: u64) -> (u32, Labels, bool) {
        let plane = low_u32(rank / self.arrangements);
        let (labels, odd) = self.space.labels(plane, rank % self.arrangements);
        (plane, labels, odd)
    }

    #[inline]
    fn moved(&self, step: Step, number: u64, labels: &Labels) -> u64 {
        if step.permutation == STAYS {
            return step.base + number;
        }
        let images = &self.permutations[index_u32(step.permutation)][..self.length];
        let mut result = Labels::default();
        for (label, &image) in result.iter_mut().zip(images) {
            *label = labels[usize::from(image)];
        }
        let rank = lehmer::rank(&result[..self.length]);
        step.base + if self.space.is_halved() { rank / 2 } else { rank }
    }

    fn by(&self, generator: usize, rank: u64) -> Option<u64> {
        let (plane, labels, _) = self.unrank(rank);
        let step = self.steps[index_u32(plane) * self.generators + generator];
        (step.base != ABSENT).then(|| self.moved(step, rank % self.arrangements, &labels))
    }
}

impl OnRanks for OnPlanes {
    #[inline]
    fn for_each(&self, rank: u64, mut found: impl FnMut(usize, u64)) -> bool {
        let number = rank % self.arrangements;
        let (plane, labels, odd) = self.unrank(rank);
        let plane = index_u32(plane);
        let steps = self.steps[plane * self.generators..(plane + 1) * self.generators].iter().enumerate();
        if self.is_total {
            steps.for_each(|(generator, &step)| found(generator, self.moved(step, number, &labels)));
        } else {
            let there = steps.filter(|(_, step)| step.base != ABSENT);
            there.for_each(|(generator, &step)| found(generator, self.moved(step, number, &labels)));
        }
        odd
    }
}

impl OnTokens {
    /// The error is the name of a move that cannot be undone.
    fn of(rules: &Tokens, space: TokenSpace, direction: Direction) -> std::result::Result<Self, String> {
        let in_direction = |step: &TokenMove| match direction {
            Direction::Forward => Ok(step.clone()),
            Direction::Backward => step.undone().ok_or_else(|| step.name.clone()),
        };
        let moves = rules.moves().iter().map(in_direction).collect::<std::result::Result<_, _>>()?;
        Ok(Self { space, moves })
    }
}

impl OnRanks for OnTokens {
    #[inline]
    fn for_each(&self, rank: u64, mut found: impl FnMut(usize, u64)) -> bool {
        let (mut before, mut after) = ([0; MOST_CELLS], [0; MOST_CELLS]);
        let cells = self.space.cells();
        let (before, after) = (&mut before[..cells], &mut after[..cells]);
        self.space.contents_of(StateRank(rank), before);
        for (number, step) in self.moves.iter().enumerate() {
            if step.is_possible(before) {
                step.make(before, after);
                found(number, self.space.rank(after).0);
            }
        }
        false
    }
}

/// Counts the moves of states from the rules, without making them: a second way, for the guard that
/// every move was made. Tokens: the moves that each content of each cell allows are a set of bits,
/// and the sets of a state's cells are intersected.
#[derive(Clone, Debug)]
pub enum MoveCounts {
    /// Every state has as many.
    Everywhere(u64),
    /// By plane.
    Planes {
        /// Numbered arrangements a plane.
        arrangements: u64,
        /// Moves of every state of a plane.
        counts: Vec<u64>,
    },
    /// By contents.
    Tokens {
        /// The numbering.
        space: TokenSpace,
        /// For each cell and content the set of moves that it does not forbid, in words of 64.
        allowed: Vec<Vec<Vec<u64>>>,
    },
}

impl MoveCounts {
    /// For the states of `puzzle`.
    #[must_use]
    pub fn of(puzzle: &Puzzle) -> Self {
        if let Some(moves) = puzzle.facts().moves {
            return Self::Everywhere(moves);
        }
        match puzzle.rules() {
            Rules::Planes(planes) => Self::Planes {
                arrangements: PlaneSpace::of(planes, puzzle.starts()).arrangements(),
                counts: (0..planes.planes()).map(|plane| planes.moves_in(plane)).collect(),
            },
            Rules::Tokens(tokens) => Self::Tokens { space: TokenSpace::of(tokens, puzzle.starts()), allowed: allowed_moves(tokens) },
        }
    }

    /// Moves of every state, when all have as many.
    #[must_use]
    pub fn everywhere(&self) -> Option<u64> {
        if let Self::Everywhere(moves) = self { Some(*moves) } else { None }
    }

    /// Moves of the state of rank `rank`.
    #[must_use]
    pub fn of_rank(&self, rank: u64) -> u64 {
        match self {
            Self::Everywhere(moves) => *moves,
            Self::Planes { arrangements, counts } => counts[index_u32(low_u32(rank / arrangements))],
            Self::Tokens { space, allowed } => {
                let mut cells = [0; MOST_CELLS];
                let cells = &mut cells[..space.cells()];
                space.contents_of(StateRank(rank), cells);
                let words = allowed[0][0].len();
                let of_word =
                    |word: usize| cells.iter().zip(allowed).fold(u64::MAX, |moves, (&content, by)| moves & by[usize::from(content)][word]);
                (0..words).map(|word| u64::from(of_word(word).count_ones())).sum()
            }
        }
    }
}

/// For each cell and content the moves that it does not forbid.
fn allowed_moves(tokens: &Tokens) -> Vec<Vec<Vec<u64>>> {
    let words = tokens.moves().len().div_ceil(64);
    let set = |cell: usize, content: u8| {
        let mut moves = vec![0; words];
        for (number, step) in tokens.moves().iter().enumerate() {
            let forbids = step.needs.iter().any(|&(needed, allowed)| usize::from(needed) == cell && allowed & (1 << content) == 0);
            moves[number / 64] |= u64::from(!forbids) << (number % 64);
        }
        moves
    };
    (0..tokens.cells()).map(|cell| (0..tokens.contents()).map(|content| set(cell, content)).collect()).collect()
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
            let moves = Moves::of(&puzzle, Direction::Forward).expect("small");
            for rank in (0..u64::try_from(space.state_count()).expect("small")).map(StateRank) {
                let mut found = Vec::new();
                moves.expand_all(&[rank.0], |successor| found.push(successor), |_, count, _| assert_eq!(count, puzzle.generators()));
                let state = space.unrank(rank);
                let expected: Vec<StateRank> =
                    (0..puzzle.generators()).map(|generator| space.rank(&puzzle.apply(generator, &state))).collect();
                assert_eq!(found, expected, "{metric} {rank}");
            }
        }
    }

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
                    assert_eq!(forward.by(generator, rank), Some(neighbour));
                    assert_eq!(backward.by(generator, neighbour), Some(rank));
                });
            }
        }
    }

    /// Two slides, a jump that loses pegs, and a plane where a generator is absent: as many moves
    /// are made as are counted, and each leads where the definition says.
    #[test]
    fn moves_are_as_many_as_are_counted() {
        let text = "family = \"tokens\"\nname = \"toy\"\ncells = 4\ncontents = 3\nstarts = [[1, 2, 0, 1]]\n\
                    [[moves]]\nname = \"a\"\ncells = [0, 1]\nneeds = [[0], [1, 2]]\ntakes = [1, 0]\n\
                    [[moves]]\nname = \"b\"\ncells = [1, 2]\nneeds = [[1, 2], [0]]\ntakes = [2, 1]\n\
                    [[moves]]\nname = \"c\"\ncells = [1, 2, 3]\nneeds = [[1], [], [0, 2]]\nbecomes = [0, 0, 1]\n";
        let tokens = crate::families::reading::puzzle_text("x.toml", text).and_then(|source| source.build("step")).expect("valid");
        let turn = Permutation::new(vec![1, 2, 0]).expect("a bijection");
        let moves = |absent: usize| (0..3_u32).map(|plane| (index_u32(plane) != absent).then(|| ((plane + 1) % 3, turn.clone()))).collect();
        let planes = Planes::new(3, vec![("A".into(), moves(1)), ("B".into(), moves(3))]).expect("valid");
        let start = State { plane: 0, arrangement: vec![0, 1, 2] };
        let planes = Puzzle::new("planes", "step", Rules::Planes(planes), vec![start], crate::puzzle::Layout::Numbered).expect("valid");
        for puzzle in [tokens, planes] {
            let forward = Moves::of(&puzzle, Direction::Forward).expect("small");
            let counts = MoveCounts::of(&puzzle);
            assert_eq!(counts.everywhere(), None);
            let mut differ = std::collections::BTreeSet::new();
            for rank in 0..u64::try_from(forward.space().state_count()).expect("small") {
                let state = forward.state(rank);
                let mut made = 0;
                forward.for_each(rank, |generator, successor| {
                    made += 1;
                    assert_eq!(Some(forward.state(successor)), puzzle.successor(generator, &state));
                });
                assert_eq!((counts.of_rank(rank), puzzle.moves_of(&state)), (made, made), "{state:?}");
                differ.insert(made);
            }
            assert!(differ.len() > 1);
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
            let renamed = moves.relabelled(rank, &names).expect("planes");
            moves.for_each(rank, |generator, neighbour| {
                assert_eq!(moves.relabelled(neighbour, &names), moves.by(generator, renamed));
            });
        }
    }
}
