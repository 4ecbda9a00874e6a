//! The numbers that a level archive gives to states: `plane * A + number of the arrangement`.
//! src/evidence/README.md specifies them.
//!
//! Some labels are *arranged*: they fill the places that the others leave, in a fixed order of
//! these places. What the other labels show is the plane. A move acts on places, whatever stands
//! there. So it takes each plane to one plane, and permutes the arrangement in a way that depends
//! only on the plane. The checker reads this off one state of each plane.
//!
//! The proof of the distances needs only that the numbering is one to one. So the certificate may
//! choose the order of the places, and for a rotation board it does: any order will do, as long as
//! no move mixes these places with others.

use crate::limits::{Checked, Limits, refuted, shown, unreadable, wide};
use crate::puzzle::{Puzzle, Shape, moved};
use crate::records::Records;
use std::collections::{BTreeSet, HashMap};

/// Most labels of an arrangement: 20! is the largest factorial below 2^63.
pub const MOST_ARRANGED: usize = 20;

/// An arrangement of `m` labels. The first `m` entries are 0 to m-1 in some order; the others are
/// unused.
pub type Arrangement = [u8; MOST_ARRANGED];

/// What a move does in a plane. It leads to `plane`; entry `k` of the arrangement there was entry
/// `from[k]` before.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    pub plane: usize,
    pub from: Vec<u8>,
    /// Whether the arrangement, and with it its number, stays the same.
    pub stays: bool,
}

impl Step {
    fn new(plane: usize, from: Vec<u8>) -> Self {
        let stays = from.iter().copied().eq((0..u8::MAX).take(from.len()));
        Self { plane, from, stays }
    }
}

/// A plane. `word` is what the labels that are not arranged show, with 0 for the others. `places`
/// are the places of the arrangement, in their order.
struct Plane {
    word: Vec<u16>,
    places: Vec<u16>,
    is_odd: bool,
    steps: Vec<Step>,
}

pub struct Numbering {
    /// The arranged labels: entry `k` of an arrangement stands for `labels[k]`.
    labels: Vec<u16>,
    planes: Vec<Plane>,
    by_word: HashMap<Vec<u16>, usize>,
    /// How many arrangements of a plane are numbered: m!, or half of that.
    pub arrangements: u64,
    /// Whether only arrangements that have the sign of their plane are numbered.
    is_halved: bool,
}

impl Numbering {
    /// Numbers the states of a puzzle. `arranged` are the places of the arrangement, in their
    /// order, where a certificate states them; [`read_arranged`] has checked that the moves do not
    /// mix them with others.
    pub fn new(puzzle: &Puzzle, arranged: Option<&[u16]>, place: &str, limits: &Limits) -> Checked<Self> {
        let refuse = |found: String, expected: &str| Err(unreadable(place, found, expected));
        if !puzzle.is_distinct() {
            return refuse("a solved state with equal pieces".into(), "each label once, for numbered states");
        }
        let size = puzzle.solved.len();
        let ring = |first: usize, count: usize| (first..first + count).map(|at| u16::try_from(at % size).expect("at most 1,000")).collect();
        let (places, home): (Vec<u16>, Vec<u16>) = match puzzle.shape {
            Shape::Ring | Shape::Circle => (ring(1, size - 1), (2..=u16::MAX).take(size - 1).collect()),
            Shape::Orbits | Shape::Board { .. } => {
                let places = arranged.map_or_else(|| largest_orbit(puzzle), <[u16]>::to_vec);
                let home = places.iter().map(|&at| puzzle.solved[usize::from(at)]).collect();
                (places, home)
            }
        };
        if places.len() > MOST_ARRANGED {
            return refuse(format!("{} places that reach one another", places.len()), "at most 20, for numbered states");
        }
        let mut numbering = Self { labels: home, planes: Vec::new(), by_word: HashMap::new(), arrangements: 0, is_halved: false };
        let solved = numbering.masked(&puzzle.solved);
        // Plane p of a ring has piece 1 at place -p. The planes of other puzzles are the words that
        // moves lead to, in ascending order.
        let words: Vec<Vec<u16>> = match puzzle.shape {
            Shape::Ring => (0..size).map(|plane| (0..size).map(|at| u16::from((at + plane) % size == 0)).collect()).collect(),
            Shape::Circle => vec![solved.clone()],
            Shape::Orbits | Shape::Board { .. } => reachable(puzzle, &solved, place, limits)?,
        };
        limits.memory(place, u128::from(wide(words.len())) * bytes_a_plane(puzzle))?;
        limits.steps(place, u128::from(wide(words.len())) * puzzle.steps_a_state())?;
        numbering.by_word = words.iter().cloned().zip(0..).collect();
        for (plane, word) in words.into_iter().enumerate() {
            let places = if puzzle.shape == Shape::Ring { ring(size - plane + 1, size - 1) } else { places.clone() };
            numbering.planes.push(Plane { word, places, is_odd: false, steps: Vec::new() });
        }
        for plane in 0..numbering.planes.len() {
            let steps = puzzle.moves.iter().map(|from| numbering.step(plane, from)).collect();
            numbering.planes[plane].steps = steps;
        }
        let start = numbering.by_word[&solved];
        numbering.is_halved = numbering.labels.len() >= 2 && numbering.find_signs(start);
        let all: u64 = (1..=wide(numbering.labels.len())).product();
        numbering.arrangements = if numbering.is_halved { all / 2 } else { all };
        Ok(numbering)
    }

    /// A state with 0 in place of every arranged label.
    fn masked(&self, state: &[u16]) -> Vec<u16> {
        state.iter().map(|label| if self.labels.contains(label) { 0 } else { *label }).collect()
    }

    /// What a move does in a plane.
    fn step(&self, plane: usize, from: &[u16]) -> Step {
        let here = &self.planes[plane];
        let target = self.by_word[&moved(&here.word, from)];
        let entry_at = |source: u16| (0_u8..).zip(&here.places).find(|(_, at)| **at == source).expect("arranged places stay arranged").0;
        Step::new(target, self.planes[target].places.iter().map(|&at| entry_at(from[usize::from(at)])).collect())
    }

    /// Tries to give each plane a sign such that no move changes the sign of plane times
    /// arrangement. If that is possible, only states of one sign can be reached.
    fn find_signs(&mut self, start: usize) -> bool {
        let mut signs = vec![None; self.planes.len()];
        signs[start] = Some(false);
        let mut open = vec![start];
        while let Some(plane) = open.pop() {
            for step in &self.planes[plane].steps {
                let (_, step_is_odd) = rank(&step.from);
                let sign = signs[plane].map(|sign: bool| sign ^ step_is_odd);
                if signs[step.plane].is_none() {
                    signs[step.plane] = sign;
                    open.push(step.plane);
                } else if signs[step.plane] != sign {
                    return false;
                }
            }
        }
        for (plane, sign) in self.planes.iter_mut().zip(signs) {
            plane.is_odd = sign.unwrap_or(false);
        }
        true
    }

    /// How many states are numbered.
    pub fn count(&self) -> u128 {
        u128::from(wide(self.planes.len())) * u128::from(self.arrangements)
    }

    pub fn planes(&self) -> usize {
        self.planes.len()
    }

    /// How many labels an arrangement has.
    pub fn arranged(&self) -> u64 {
        wide(self.labels.len())
    }

    /// Whether only arrangements of one sign are numbered.
    pub fn is_halved(&self) -> bool {
        self.is_halved
    }

    pub fn steps(&self, plane: usize) -> &[Step] {
        &self.planes[plane].steps
    }

    /// For each plane, the moves that lead into it, backwards.
    pub fn steps_back(&self) -> Vec<Vec<Step>> {
        let mut back = vec![Vec::new(); self.planes.len()];
        for (plane, here) in self.planes.iter().enumerate() {
            for step in &here.steps {
                let mut from = vec![0; step.from.len()];
                for (entry, &source) in (0..).zip(&step.from) {
                    from[usize::from(source)] = entry;
                }
                back[step.plane].push(Step::new(plane, from));
            }
        }
        back
    }

    /// The number of a state, or none when it has none.
    pub fn number(&self, state: &[u16]) -> Option<u64> {
        let plane = *self.by_word.get(&self.masked(state))?;
        let here = &self.planes[plane];
        let entries = here.places.iter().map(|&at| (0_u8..).zip(&self.labels).find(|(_, label)| **label == state[usize::from(at)]));
        let arrangement: Vec<u8> = entries.map(|entry| entry.map(|(entry, _)| entry)).collect::<Option<_>>()?;
        let (number, is_odd) = rank(&arrangement);
        if self.is_halved && is_odd != here.is_odd {
            return None;
        }
        Some(wide(plane) * self.arrangements + self.shortened(number))
    }

    /// The number of an arrangement in its plane, from its place in the lexicographic order.
    pub fn shortened(&self, lexicographic: u64) -> u64 {
        if self.is_halved { lexicographic / 2 } else { lexicographic }
    }

    /// The state with this number.
    pub fn state(&self, number: u64) -> Vec<u16> {
        let plane = usize::try_from(number / self.arrangements).expect("a numbered state");
        let here = &self.planes[plane];
        let mut state = here.word.clone();
        let arrangement = self.walk(plane, number % self.arrangements).now();
        for (&at, &entry) in here.places.iter().zip(&arrangement) {
            state[usize::from(at)] = self.labels[usize::from(entry)];
        }
        state
    }

    /// Walks through the arrangements of a plane in the order of their numbers, beginning at
    /// `number`.
    pub fn walk(&self, plane: usize, number: u64) -> Walk {
        let length = self.labels.len();
        let mut rest = if self.is_halved { 2 * number } else { number };
        let mut left: Vec<u8> = (0..u8::MAX).take(length).collect();
        let mut arrangement = [0; MOST_ARRANGED];
        for (entry, behind) in arrangement.iter_mut().zip((0..wide(length)).rev()) {
            let weight: u64 = (1..=behind).product();
            *entry = left.remove(usize::try_from(rest / weight).expect("less than 20"));
            rest %= weight;
        }
        Walk { arrangement, length, sign: self.is_halved.then(|| self.planes[plane].is_odd) }
    }
}

/// See [`Numbering::walk`].
pub struct Walk {
    arrangement: Arrangement,
    length: usize,
    /// The sign of the numbered arrangements, when only those of one sign are numbered. The walk
    /// then stands at an even place of the lexicographic order.
    sign: Option<bool>,
}

impl Walk {
    pub fn now(&self) -> Arrangement {
        let mut arrangement = self.arrangement;
        if self.sign.is_some_and(|sign| rank(&arrangement[..self.length]).1 != sign) {
            arrangement.swap(self.length - 2, self.length - 1);
        }
        arrangement
    }

    pub fn advance(&mut self) {
        let arrangement = &mut self.arrangement[..self.length];
        next_arrangement(arrangement);
        if self.sign.is_some() {
            next_arrangement(arrangement);
        }
    }
}

/// Steps to the next arrangement in the lexicographic order. The last one stays.
fn next_arrangement(arrangement: &mut [u8]) {
    let Some(descent) = arrangement.windows(2).rposition(|pair| pair[0] < pair[1]) else { return };
    let larger = arrangement.iter().rposition(|&entry| entry > arrangement[descent]).expect("the entry behind it is larger");
    arrangement.swap(descent, larger);
    arrangement[descent + 1..].reverse();
}

/// The place of an arrangement in the lexicographic order, counted from 0, and whether it is an odd
/// permutation.
#[inline(always)]
pub fn rank(arrangement: &[u8]) -> (u64, bool) {
    let (mut used, mut number, mut inversions, mut behind) = (0_u32, 0_u64, 0_u32, wide(arrangement.len()));
    for &entry in arrangement {
        // The digit is how many smaller entries are still to come. Horner's rule turns the digits,
        // which are those of the factorial number system, into the number.
        let digit = u32::from(entry) - (used & ((1 << entry) - 1)).count_ones();
        used |= 1 << entry;
        number = number * behind + u64::from(digit);
        behind -= 1;
        inversions ^= digit;
    }
    (number, inversions & 1 == 1)
}

/// Reads the record `arranged` of a rotation board: cells in some order, which no move mixes with
/// other cells. None for other puzzles, whose arranged places are specified.
pub fn read_arranged(puzzle: &Puzzle, records: &mut Records) -> Checked<Option<Vec<u16>>> {
    let Shape::Board { .. } = puzzle.shape else { return Ok(None) };
    let record = records.expect("arranged")?;
    let count = record.rest().take(MOST_ARRANGED + 1).count();
    if count > MOST_ARRANGED {
        return Err(record.unreadable(format!("more than {MOST_ARRANGED} cells"), format!("at most {MOST_ARRANGED}, for numbered states")));
    }
    let cells = u16::try_from(puzzle.solved.len()).expect("at most 65,535");
    let places: Vec<u16> = record.labels(record.rest(), count, cells)?.into_iter().map(|cell| cell - 1).collect();
    if (1..count).any(|at| places[..at].contains(&places[at])) {
        return Err(record.unreadable("a cell twice", "each cell once"));
    }
    for (name, from) in puzzle.names.iter().zip(&puzzle.moves) {
        if let Some(at) = places.iter().find(|at| !places.contains(&from[usize::from(**at)])) {
            let source = from[usize::from(*at)];
            let found = format!("cell {} but not cell {}, from which {} takes a piece to it", at + 1, source + 1, shown(name));
            return Err(refuted(record.place(), found, "cells that no move mixes with others"));
        }
    }
    Ok(Some(places))
}

/// The largest set of places that reach one another, ascending. Among equally large ones it is the
/// one with the lowest place.
fn largest_orbit(puzzle: &Puzzle) -> Vec<u16> {
    let mut orbit_of = vec![usize::MAX; puzzle.solved.len()];
    let mut largest = Vec::new();
    for start in 0..orbit_of.len() {
        if orbit_of[start] != usize::MAX {
            continue;
        }
        let mut orbit = vec![start];
        orbit_of[start] = start;
        let mut next = 0;
        while let Some(&at) = orbit.get(next) {
            for from in &puzzle.moves {
                let source = usize::from(from[at]);
                if orbit_of[source] == usize::MAX {
                    orbit_of[source] = start;
                    orbit.push(source);
                }
            }
            next += 1;
        }
        if orbit.len() > largest.len() {
            largest = orbit;
        }
    }
    let mut places: Vec<u16> = largest.into_iter().map(|at| u16::try_from(at).expect("at most 1,000")).collect();
    places.sort_unstable();
    places
}

/// All words of the labels that are not arranged, as far as moves reach them, in ascending order.
fn reachable(puzzle: &Puzzle, solved: &[u16], place: &str, limits: &Limits) -> Checked<Vec<Vec<u16>>> {
    let mut known = BTreeSet::from([solved.to_vec()]);
    let mut open = vec![solved.to_vec()];
    while let Some(word) = open.pop() {
        limits.steps(place, puzzle.steps_a_state())?;
        for from in &puzzle.moves {
            let next = moved(&word, from);
            if known.insert(next.clone()) {
                open.push(next);
                limits.memory(place, u128::from(wide(known.len())) * bytes_a_plane(puzzle))?;
            }
        }
    }
    Ok(known.into_iter().collect())
}

/// Bytes of memory that a plane takes: its words in the map and in the list, and its steps both
/// ways.
fn bytes_a_plane(puzzle: &Puzzle) -> u128 {
    256 + 8 * u128::from(wide(puzzle.solved.len())) + 160 * u128::from(wide(puzzle.moves.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every number has a state, and every state has its own number. This holds for arrangements of
    /// any closed set of cells, in any order.
    #[test]
    fn boards_are_numbered_one_to_one() {
        let limits = Limits::new(1 << 30, 1 << 40);
        for (measures, metric, arranged, count) in [
            ([2, 3, 2], "quarter", vec![5, 0, 3, 1, 4, 2], 720),
            // There are two colours, and either may be arranged. Turns are even on both colours
            // together, which leaves 6! 6! / 2 states.
            ([3, 4, 3], "half", vec![8, 0, 2, 10, 5, 7], 259_200),
            ([3, 4, 3], "quarter", vec![11, 9, 6, 4, 3, 1], 259_200),
            ([2, 2, 2], "quarter", vec![3, 1, 2, 0], 24),
            // Three orbits of four cells make the planes: 4! 4 / 2 states. Without arranged cells
            // each state is a plane of its own.
            ([4, 4, 4], "quarter", vec![12, 15, 0, 3], 48),
            ([4, 4, 4], "quarter", vec![], 4),
        ] {
            let puzzle = Puzzle::rotation_board(measures, metric, "here", &limits).unwrap_or_else(|refusal| panic!("{}", refusal.text));
            let numbering = Numbering::new(&puzzle, Some(&arranged), "here", &limits).unwrap_or_else(|refusal| panic!("{}", refusal.text));
            assert_eq!(numbering.count(), count, "{measures:?} {arranged:?}");
            let numbers = 0..u64::try_from(count).expect("few");
            let states: BTreeSet<Vec<u16>> = numbers.clone().map(|number| numbering.state(number)).collect();
            assert_eq!(u128::from(wide(states.len())), count, "{measures:?} {arranged:?}");
            assert!(numbers.into_iter().all(|number| numbering.number(&numbering.state(number)) == Some(number)));
            assert!(states.contains(&puzzle.solved));
            // A swap makes one arrangement into another. Both have a number, or only one of them.
            if let [one, other, ..] = arranged[..] {
                let mut swapped = puzzle.solved.clone();
                swapped.swap(usize::from(one), usize::from(other));
                assert_eq!(numbering.number(&swapped).is_none(), numbering.is_halved(), "{measures:?} {arranged:?}");
            }
        }
    }
}
