//! Shortest words. The certificate claims two balls that do not meet: one of radius A around one
//! end, and one of radius B around the other end by moves backwards, where A + B = length - 1. Both
//! balls are computed anew.

use crate::claims::{Ends, read_leading_word};
use crate::limits::{Checked, Limits, counted, index, refuted, wide};
use crate::puzzle::{Puzzle, inverse, state_text};
use crate::records::Records;
use rayon::prelude::*;

/// A state of a ball. All its labels are packed into one number where they fit; else it is a list.
trait Packed: Ord + Clone + Send + Sync {
    fn moved(&self, from: &[u16], bits: u32) -> Self;
}

impl Packed for u128 {
    fn moved(&self, from: &[u16], bits: u32) -> Self {
        let mask = (1 << bits) - 1;
        from.iter().rev().fold(0, |state, &place| state << bits | (self >> (bits * u32::from(place)) & mask))
    }
}

impl Packed for Box<[u16]> {
    fn moved(&self, from: &[u16], _: u32) -> Self {
        from.iter().map(|&place| self[usize::from(place)]).collect()
    }
}

/// A ball as the certificate claims it.
struct Ball<'a> {
    place: String,
    moves: &'a [Vec<u16>],
    radius: u64,
    states: u64,
    bits: u32,
    bytes_a_state: u128,
}

pub fn bidirectional(puzzle: &Puzzle, records: &mut Records, limits: &Limits) -> Checked<String> {
    let ends = Ends::read(puzzle, records)?;
    let length = wide(read_leading_word(puzzle, records, limits, &ends)?);
    let record = records.expect("radii")?;
    let radii = record.numbers::<2>("radii A B")?;
    if u128::from(radii[0]) + u128::from(radii[1]) + 1 != u128::from(length) {
        return Err(refuted(record.place(), format!("radii {} and {}", radii[0], radii[1]), format!("a sum of {length} - 1")));
    }
    let record = records.expect("balls")?;
    let states = record.numbers::<2>("balls n m")?;
    records.end()?;
    // Labels are numbered in ascending order. Each takes as many bits as the largest number needs.
    let mut labels = puzzle.solved.clone();
    labels.sort_unstable();
    labels.dedup();
    let bits = (labels.len() - 1).checked_ilog2().map_or(1, |log| log + 1);
    let fits = u128::from(bits) * u128::from(wide(puzzle.solved.len())) <= 128;
    let bytes_a_state = if fits { 16 } else { 48 + 2 * u128::from(wide(puzzle.solved.len())) };
    let both = u128::from(states[0]) + u128::from(states[1]);
    // Sorting a ball takes half as much memory again. Its last level is held twice.
    limits.memory(record.place(), both * bytes_a_state * 5 / 2)?;
    let backwards: Vec<Vec<u16>> = puzzle.moves.iter().map(|from| inverse(from)).collect();
    let ball = |end: usize| Ball {
        place: record.place(),
        moves: if end == 0 { &puzzle.moves } else { &backwards },
        radius: radii[end],
        states: states[end],
        bits,
        bytes_a_state,
    };
    let number = |label: &u16| u16::try_from(labels.binary_search(label).expect("a label of the puzzle")).expect("at most 1,000 labels");
    let lists = [&ends.from, &ends.to].map(|state| state.iter().map(number).collect::<Vec<u16>>());
    let common = if fits {
        let pack = |state: &[u16]| state.iter().rev().fold(0_u128, |packed, &label| packed << bits | u128::from(label));
        meet(&ball(0).states_from(pack(&lists[0]), limits)?, &ball(1).states_from(pack(&lists[1]), limits)?)
    } else {
        let pack = |state: &[u16]| state.to_vec().into_boxed_slice();
        meet(&ball(0).states_from(pack(&lists[0]), limits)?, &ball(1).states_from(pack(&lists[1]), limits)?)
    };
    if common {
        return Err(refuted(record.place(), "balls that meet, so there is a shorter word", "balls without a common state"));
    }
    Ok(format!(
        "{}: from {} to {} by {} and no fewer: balls of {} and {} do not meet",
        puzzle.named(),
        state_text(&ends.from),
        state_text(&ends.to),
        counted(length, "move"),
        counted(states[0], "state"),
        counted(states[1], "state")
    ))
}

impl Ball<'_> {
    /// Returns the states within the radius, in ascending order. Refuses as soon as there are more
    /// than claimed.
    fn states_from<S: Packed>(&self, start: S, limits: &Limits) -> Checked<Vec<S>> {
        let mut seen = vec![start.clone()];
        let mut edge = vec![start];
        let moves = u128::from(wide(self.moves.len()));
        for _ in 0..self.radius {
            let (known, growing) = (u128::from(wide(seen.len())), u128::from(wide(edge.len())) * moves);
            limits.memory(&self.place, (known * 3 / 2 + growing * 2) * self.bytes_a_state)?;
            limits.steps(&self.place, known + growing * u128::from(wide(self.moves[0].len())))?;
            let mut next: Vec<S> =
                edge.par_iter().flat_map_iter(|state| self.moves.iter().map(|from| state.moved(from, self.bits))).collect();
            next.par_sort_unstable();
            next.dedup();
            let mut at = 0;
            next.retain(|state| {
                while seen.get(at).is_some_and(|known| known < state) {
                    at += 1;
                }
                seen.get(at) != Some(state)
            });
            let found = wide(seen.len()) + wide(next.len());
            if found > self.states {
                return Err(refuted(&self.place, format!("a ball of at least {found} states"), self.states));
            }
            if next.is_empty() {
                break;
            }
            seen.reserve_exact(next.len());
            seen.extend_from_slice(&next);
            // The two parts are sorted already, so the stable sort only merges them.
            seen.sort();
            edge = next;
        }
        if seen.len() != index(self.states) {
            return Err(refuted(&self.place, format!("a ball of {} states", seen.len()), self.states));
        }
        Ok(seen)
    }
}

/// Whether two ascending lists have a common member.
fn meet<S: Packed>(one: &[S], other: &[S]) -> bool {
    let mut at = 0;
    one.iter().any(|state| {
        while other.get(at).is_some_and(|known| known < state) {
            at += 1;
        }
        other.get(at) == Some(state)
    })
}
