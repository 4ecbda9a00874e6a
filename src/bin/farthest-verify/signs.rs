//! Signs. Where every move changes the sign, depths alternate with it: no edge stays on a level,
//! and the sign of a state tells whether its depth is even or odd.

use crate::puzzle::{Puzzle, is_odd};

/// Most orbits of places that can be told apart.
const MOST_ORBITS: usize = 64;

/// A union of orbits of places on which every move is an odd permutation, as a flag for each place.
/// None when there is no such union.
pub fn alternating_places(puzzle: &Puzzle) -> Option<Vec<bool>> {
    if !puzzle.is_distinct() {
        return None;
    }
    let orbits = orbits(puzzle);
    let count = orbits.iter().max().map_or(0, |last| last + 1);
    if count > MOST_ORBITS {
        return None;
    }
    // Each move is a row of bits. The low bits are the orbits on which it is odd. The last bit is
    // what is wanted: an odd number of them must be chosen.
    let wanted = 1_u128 << MOST_ORBITS;
    let mut rows: Vec<u128> = puzzle
        .moves
        .iter()
        .map(|from| (0..count).filter(|&orbit| is_odd(&within(from, &orbits, orbit))).fold(wanted, |row, orbit| row | 1 << orbit))
        .collect();
    rows.sort_unstable();
    rows.dedup();
    // Gaussian elimination: each row that is kept has a pivot that no other row has.
    let mut kept: Vec<(usize, u128)> = Vec::new();
    for mut row in rows {
        for (pivot, known) in &kept {
            if row >> pivot & 1 == 1 {
                row ^= known;
            }
        }
        if row == wanted {
            return None;
        }
        let Some(pivot) = (0..count).find(|orbit| row >> orbit & 1 == 1) else { continue };
        for (_, known) in &mut kept {
            if *known >> pivot & 1 == 1 {
                *known ^= row;
            }
        }
        kept.push((pivot, row));
    }
    // An orbit without a pivot is left out. One with a pivot is chosen when its row wants that.
    let chosen: Vec<usize> = kept.into_iter().filter(|(_, row)| row & wanted != 0).map(|(pivot, _)| pivot).collect();
    Some(orbits.iter().map(|orbit| chosen.contains(orbit)).collect())
}

impl Puzzle {
    /// Whether a state differs from the solved one by an odd permutation on these places.
    pub fn is_odd_on(&self, places: &[bool], labels: &[u16]) -> bool {
        let sources = self.sources(labels);
        let from = sources.into_iter().zip(places).zip(0_u16..).map(|((source, is_in), place)| if *is_in { source } else { place });
        is_odd(&from.collect::<Vec<u16>>())
    }

    /// A state as a permutation: for each place, the place where its piece stands in the solved
    /// state.
    pub fn sources(&self, labels: &[u16]) -> Vec<u16> {
        let largest = self.solved.iter().copied().max().unwrap_or(0);
        let mut place_of = vec![0; usize::from(largest) + 1];
        for (&label, place) in self.solved.iter().zip(0_u16..) {
            place_of[usize::from(label)] = place;
        }
        labels.iter().map(|label| place_of[usize::from(*label)]).collect()
    }
}

/// For each place, the number of its orbit.
fn orbits(puzzle: &Puzzle) -> Vec<usize> {
    let size = puzzle.solved.len();
    let mut orbit_of = vec![usize::MAX; size];
    let mut count = 0;
    for start in 0..size {
        if orbit_of[start] != usize::MAX {
            continue;
        }
        orbit_of[start] = count;
        let mut open = vec![start];
        while let Some(place) = open.pop() {
            // Following the moves forwards is enough: a set that a finite group of moves maps into
            // itself is closed backwards, too.
            for from in &puzzle.moves {
                let next = usize::from(from[place]);
                if orbit_of[next] == usize::MAX {
                    orbit_of[next] = count;
                    open.push(next);
                }
            }
        }
        count += 1;
    }
    orbit_of
}

/// What a move does on one orbit. All other places stay.
fn within(from: &[u16], orbits: &[usize], orbit: usize) -> Vec<u16> {
    from.iter().zip(orbits).zip(0_u16..).map(|((source, at), place)| if *at == orbit { *source } else { place }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::puzzle::{inverse, moved};

    fn board(measures: [u64; 3], metric: &str) -> Puzzle {
        let limits = Limits::new(1 << 30, 1 << 40);
        Puzzle::rotation_board(measures, metric, "here", &limits).unwrap_or_else(|refusal| panic!("{}", refusal.text))
    }

    #[test]
    fn signs_are_found_on_parts_of_a_puzzle() {
        let turnstyle = |size: u64| Puzzle::turnstyle(size, "step").expect("a size");
        // Turning an even ring by one place is odd, and F is even. On an odd ring both are even.
        assert!(alternating_places(&turnstyle(8)).is_none() && alternating_places(&turnstyle(7)).is_none());
        // A quarter turn of four cells is odd. Half a turn is not.
        assert!(alternating_places(&board([3, 4, 2], "quarter")).is_some() && alternating_places(&board([3, 4, 2], "half")).is_none());
        // A quarter turn of nine cells is odd on the block's corners and odd on its edges. Corners
        // have one colour and edges the other, so one colour is enough.
        let puzzle = board([3, 4, 3], "quarter");
        let places = alternating_places(&puzzle).expect("a colour");
        assert!(places.iter().filter(|is_in| **is_in).count() == 6);
        let mut state = puzzle.solved.clone();
        for (number, from) in puzzle.moves.iter().cycle().take(20).enumerate() {
            assert_eq!(puzzle.is_odd_on(&places, &state), number % 2 == 1);
            state = moved(&state, from);
        }
        assert!(puzzle.is_inverse_closed() && inverse(&puzzle.moves[0]) == puzzle.moves[1]);
    }

    /// Orbits of two places each. A move is given as the list of the orbits that it swaps.
    #[test]
    fn orbits_that_are_not_wanted_stay_out() {
        for (moves, expected) in [
            (vec![vec![0]], Some(vec![0])),
            (vec![vec![0], vec![0, 1]], Some(vec![0])),
            (vec![vec![0, 1], vec![1, 2]], Some(vec![1])),
            (vec![vec![0, 1], vec![1, 2], vec![0, 2]], None),
            (vec![vec![0, 1, 2], vec![1, 2, 3], vec![1], vec![2]], Some(vec![0, 1, 2, 3])),
            (vec![vec![0, 1, 2], vec![1, 2, 3], vec![3]], Some(vec![0, 3])),
        ] {
            let swaps = |orbits: &Vec<u16>| (0..8_u16).map(|place| if orbits.contains(&(place / 2)) { place ^ 1 } else { place }).collect();
            let named = moves.iter().zip(0..).map(|(orbits, number)| (format!("M{number}"), swaps(orbits))).collect();
            let puzzle = Puzzle::own("toy".into(), named, (1..=8).collect());
            let found = alternating_places(&puzzle);
            // This makes the answer right, whichever orbits are chosen: each move is odd on them.
            if let Some(places) = &found {
                let is_odd = |from: &Vec<u16>| puzzle.is_odd_on(places, &moved(&puzzle.solved, from));
                assert!(puzzle.moves.iter().all(is_odd), "{moves:?}: {places:?}");
            }
            let expected = expected.map(|orbits: Vec<u16>| (0..8_u16).map(|place| orbits.contains(&(place / 2))).collect::<Vec<bool>>());
            assert_eq!(found, expected, "{moves:?}");
        }
    }
}
