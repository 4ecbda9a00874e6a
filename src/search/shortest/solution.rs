//! The whole answer to "how far is it from here to there": every shortest word, replayed, and the
//! balls that show that none is shorter.

use super::ball::{Ball, MemoryLimit};
use super::meet::meet;
use super::table::TableLevels;
use super::words::ShortestWords;
use crate::base::ids::index_u32;
use crate::base::{Error, Result};
use crate::expand::{Direction, Moves};
use crate::puzzle::{Puzzle, State};

/// A puzzle's moves in both directions.
#[derive(Clone, Debug)]
pub struct BothWays {
    /// By generators.
    pub forward: Moves,
    /// By their inverses.
    pub backward: Moves,
    /// Whether each is the other.
    pub inverse_closed: bool,
}

impl BothWays {
    /// The moves of `puzzle`.
    ///
    /// # Errors
    /// `Config` when its states have no 63-bit rank.
    pub fn of(puzzle: &Puzzle) -> Result<Self> {
        Ok(Self {
            forward: Moves::of(puzzle, Direction::Forward)?,
            backward: Moves::of(puzzle, Direction::Backward)?,
            inverse_closed: puzzle.is_inverse_closed(),
        })
    }
}

/// Two balls that do not meet, with radii that sum to the distance less 1: the proof that no word
/// is shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisjointBalls {
    /// Radii: around the first state, and by inverse moves around the last.
    pub radii: [usize; 2],
    /// States in each.
    pub states: [u64; 2],
}

/// All shortest words from one state to another.
#[derive(Clone, Debug)]
pub struct Solution {
    /// Length of each word.
    pub length: usize,
    /// How many there are.
    pub count: u128,
    /// The first of them, as numbers of generators, in lexicographic order; each was replayed.
    pub words: Vec<Vec<usize>>,
    /// Why none is shorter; none when the length is 0, or was read from a table.
    pub balls: Option<DisjointBalls>,
}

/// The shortest words from `from` to the nearest of `to`, at most `most` of them. `None` when no
/// word leads there.
///
/// # Errors
/// `Config` when the balls outgrow the limit, `Invariant` when a word does not lead there.
pub fn solve(puzzle: &Puzzle, from: &State, to: &[State], limit: MemoryLimit, most: usize) -> Result<Option<Solution>> {
    let moves = BothWays::of(puzzle)?;
    check_numbered(puzzle, &moves, from)?;
    // A halved space numbers one sign only; renaming two labels brings the other sign in, and
    // changes no word.
    let other_sign = moves.forward.rank(from).is_none();
    let rank = |state: &State| if other_sign { moves.forward.rank(&with_labels_swapped(state)) } else { moves.forward.rank(state) };
    let targets: Vec<u64> = to.iter().filter_map(rank).collect();
    let Some(first) = rank(from).filter(|_| !targets.is_empty()) else { return Ok(None) };
    let mut near = Ball::around(&moves.forward, vec![first], moves.inverse_closed);
    let mut far = Ball::around(&moves.backward, targets, moves.inverse_closed);
    let Some(meeting) = meet(&mut near, &mut far, limit)? else { return Ok(None) };
    let words = ShortestWords::through((&moves.forward, &moves.backward), &meeting.shared, (&near, meeting.near), (&far, meeting.far))?;
    let balls = (meeting.distance() > 0).then(|| {
        let radii = meeting.disjoint_radii();
        DisjointBalls { radii, states: [near.states_within(radii[0]), far.states_within(radii[1])] }
    });
    finished(puzzle, from, to, &moves, &words, balls, most).map(Some)
}

/// The shortest words from `from` to the starts of a run whose levels are archived, and hold the
/// states by their distances to the starts. `None` when no level holds `from`.
///
/// # Errors
/// What reading the archive returns.
pub fn solve_by_table(puzzle: &Puzzle, from: &State, table: &TableLevels, most: usize) -> Result<Option<Solution>> {
    let moves = BothWays::of(puzzle)?;
    let Some(first) = moves.forward.rank(from) else { return Ok(None) };
    let Some(depth) = table.depth_of(first)? else { return Ok(None) };
    let words = ShortestWords::through((&moves.forward, &moves.backward), &[first], (table, 0), (table, depth))?;
    finished(puzzle, from, puzzle.starts(), &moves, &words, None, most).map(Some)
}

fn with_labels_swapped(state: &State) -> State {
    let swapped = |&label: &u8| if label < 2 { 1 - label } else { label };
    State { plane: state.plane, arrangement: state.arrangement.iter().map(swapped).collect() }
}

/// Refuses a plane that the puzzle's starts do not reach when the numbering rests on the signs of
/// those they do.
fn check_numbered(puzzle: &Puzzle, moves: &BothWays, from: &State) -> Result<()> {
    if !moves.forward.space().is_halved() {
        return Ok(());
    }
    let Some(planes) = puzzle.as_planes() else { return Ok(()) };
    let mut reached = vec![false; index_u32(planes.planes())];
    let mut open: Vec<u32> = puzzle.starts().iter().map(|start| start.plane).collect();
    while let Some(plane) = open.pop() {
        if !std::mem::replace(&mut reached[index_u32(plane)], true) {
            open.extend(planes.generators().iter().filter_map(|generator| Some(generator.moves[index_u32(plane)]?.target)));
        }
    }
    if reached[index_u32(from.plane)] {
        return Ok(());
    }
    let shown = puzzle.text(from);
    Err(Error::config(format!(
        "found the state {shown}, in a plane that the solved state does not reach; expected a state of a plane that it does"
    )))
}

fn finished(
    puzzle: &Puzzle,
    from: &State,
    to: &[State],
    moves: &BothWays,
    words: &ShortestWords,
    balls: Option<DisjointBalls>,
    most: usize,
) -> Result<Solution> {
    let listed = words.list(&moves.forward, most);
    for word in &listed {
        let reached = replay(puzzle, from, word);
        if word.len() != words.length() || !to.contains(&reached) {
            return Err(Error::invariant("a shortest word, replayed", puzzle.text(&reached), "the wanted state"));
        }
    }
    if listed.is_empty() != (most == 0) {
        return Err(Error::invariant("words listed", listed.len(), words.count()));
    }
    Ok(Solution { length: words.length(), count: words.count(), words: listed, balls })
}

/// The state that `word` leads to from `from`.
#[must_use]
pub fn replay(puzzle: &Puzzle, from: &State, word: &[usize]) -> State {
    word.iter().fold(from.clone(), |state, &generator| puzzle.apply(generator, &state))
}
