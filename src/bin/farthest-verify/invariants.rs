//! Invariants: what every move keeps, but the way from one state to the other does not. Each is
//! checked on the moves themselves, place by place.

use crate::claims::{Ends, distinct};
use crate::limits::{Checked, Limits, refuted, shown};
use crate::puzzle::{Puzzle, is_odd, state_text};
use crate::records::Records;

/// What every move keeps.
#[derive(Clone, Copy)]
enum Invariant {
    /// The sign of the permutation.
    Parity,
    /// The colour of the cell that each piece is on.
    Colours,
    /// The colours, and whether the signs on the two colours are equal.
    ColourSigns,
    /// The colours, and the sign on each of them.
    ColourParity,
}

pub fn invariant(puzzle: &Puzzle, records: &mut Records, limits: &Limits) -> Checked<String> {
    let record = records.expect("invariant")?;
    let [name] = record.fields("invariant NAME")?;
    let invariant = match name {
        "parity" => Invariant::Parity,
        "colours" => Invariant::Colours,
        "colour-signs" => Invariant::ColourSigns,
        "colour-parity" => Invariant::ColourParity,
        _ => return Err(record.unreadable(shown(name), "parity, colours, colour-signs or colour-parity")),
    };
    let colours = match (invariant, puzzle.colours()) {
        (Invariant::Parity, _) => Vec::new(),
        (_, Some(colours)) => colours,
        (_, None) => {
            return Err(record.unreadable(format!("{name} of {}", puzzle.title), "a rotation board, whose cells have colours"));
        }
    };
    let ends = Ends::read(puzzle, records)?;
    records.end()?;
    distinct(puzzle, &record)?;
    limits.steps(record.place(), puzzle.steps_a_state())?;
    for (name, from) in puzzle.names.iter().zip(&puzzle.moves) {
        if let Some((found, expected)) = invariant.broken_by(from, &colours) {
            return Err(refuted(record.place(), format!("the {found} move {}", shown(name)), expected));
        }
    }
    let between = between(&ends);
    match invariant.shown_by(&between, &colours) {
        Ok(reason) => {
            Ok(format!("{}: {} cannot be reached from {}: {reason}", puzzle.named(), state_text(&ends.to), state_text(&ends.from)))
        }
        Err((found, expected)) => Err(refuted(&ends.place, found, expected)),
    }
}

/// For each place of `to`, the place in `from` of the same piece.
fn between(ends: &Ends) -> Vec<u16> {
    let largest = ends.from.iter().copied().max().unwrap_or(0);
    let mut place_of = vec![0; usize::from(largest) + 1];
    for (&label, place) in ends.from.iter().zip(0_u16..) {
        place_of[usize::from(label)] = place;
    }
    // Both states are rearrangements of the solved one, which has no equal pieces.
    ends.to.iter().map(|&label| place_of[usize::from(label)]).collect()
}

impl Invariant {
    /// What is wrong with a move, and what is expected instead; none when the move keeps the
    /// invariant.
    fn broken_by(self, from: &[u16], colours: &[bool]) -> Option<(&'static str, &'static str)> {
        match (self, signs(from, colours)) {
            (Self::Parity, _) => is_odd(from).then_some(("odd", "even moves only")),
            (_, None) => Some(("colour-changing", "moves that keep the colour of every piece's cell")),
            (Self::Colours, Some(_)) => None,
            (Self::ColourSigns, Some([one, other])) => (one != other).then_some(("unequal", "moves with the same sign on both colours")),
            (Self::ColourParity, Some(odd)) => (odd != [false; 2]).then_some(("odd", "moves that are even on each colour")),
        }
    }

    /// Why no moves lead from one state to the other. The error says what was found and what was
    /// expected.
    fn shown_by(self, between: &[u16], colours: &[bool]) -> Result<&'static str, (&'static str, &'static str)> {
        let same_colours =
            ("a piece that changes its colour", "pieces that keep it, for signs on colours (the invariant \"colours\" is another one)");
        match (self, signs(between, colours)) {
            (Self::Parity, _) if is_odd(between) => Ok("every move is even, the two differ by an odd permutation"),
            (Self::Parity, _) => Err(("an even permutation of \"from\"", "an odd one")),
            (Self::Colours, None) => Ok("no move changes the colour of a piece's cell, and a piece has different ones in the two"),
            (Self::Colours, Some(_)) => Err(("every piece on a cell of the same colour as in \"from\"", "a piece that changes its colour")),
            (_, None) => Err(same_colours),
            (Self::ColourSigns, Some([one, other])) if one != other => {
                Ok("every move keeps the colours and has the same sign on both, the two differ by a permutation with different signs")
            }
            (Self::ColourSigns, Some(_)) => Err(("a permutation of \"from\" with the same sign on both colours", "different ones")),
            (Self::ColourParity, Some(odd)) if odd != [false; 2] => {
                Ok("every move keeps the colours and is even on each, the two differ by a permutation that is odd on one")
            }
            (Self::ColourParity, Some(_)) => Err(("a permutation of \"from\" that is even on each colour", "one that is odd on a colour")),
        }
    }
}

/// Whether a permutation is odd on the places of each colour. None when it takes a piece to a place
/// of the other colour.
fn signs(from: &[u16], colours: &[bool]) -> Option<[bool; 2]> {
    let mut odd = [false; 2];
    let mut seen = vec![false; colours.len()];
    for start in 0..colours.len() {
        let (mut place, mut length) = (start, 0_u32);
        while !std::mem::replace(&mut seen[place], true) {
            if colours[place] != colours[start] {
                return None;
            }
            place = usize::from(from[place]);
            length += 1;
        }
        odd[usize::from(colours[start])] ^= length > 0 && length % 2 == 0;
    }
    Some(odd)
}
