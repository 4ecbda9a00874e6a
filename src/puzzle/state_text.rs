//! Reads a state as people write it: the labels in position order.
//!
//! Numbers from 1, separated by blanks or commas, as [`Puzzle::text`] writes them; for at most 12
//! positions also one character each without separators: `1` to `9`, then `0` for 10, `A` for 11,
//! `B` for 12. States without positions of their own ([`Layout::Numbered`]) are written
//! `plane: labels`, both from 0.

use super::tokens::Tokens;
use super::{Layout, Puzzle, Rules, State};
use crate::base::config_text::shown_text;
use crate::base::ids::{index_u32, low_u8, low_u32, to_u64, to_usize};
use crate::base::{Error, Result};

/// Positions that can be written with one character each.
const MOST_CHARACTERS: u64 = 12;

/// What a text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A state.
    State(State),
    /// Every label once, but some stand where no move can bring them: the reason, in words.
    Outside(String),
}

impl Puzzle {
    /// Reads a state.
    ///
    /// # Errors
    /// `Usage` for a wrong number of labels, a label that is none, repeated or missing.
    pub fn read_state(&self, text: &str) -> Result<Reading> {
        // Of the rules only these numbers matter: how a state is written is the layout's.
        let (planes, length) = match self.rules() {
            Rules::Planes(planes) => (planes.planes(), u64::from(planes.arrangement_length())),
            Rules::Tokens(tokens) => return cells(&numbers(text)?, tokens).map(Reading::State),
        };
        match self.layout() {
            Layout::Cycle { size } => Ok(Reading::State(from_piece_one(&labels(text, u64::from(*size))?, true))),
            Layout::Circle => Ok(Reading::State(from_piece_one(&labels(text, length + 1)?, false))),
            Layout::Orbits { positions, arranged, planar, planes } => {
                Ok(orbits(&labels(text, u64::from(*positions))?, arranged, planar, planes))
            }
            Layout::Numbered => {
                let (plane, rest) = text.split_once(':').ok_or_else(|| {
                    Error::Usage(format!(
                        "found the state \"{}\", expected plane: labels, such as \"{}\"",
                        shown_text(text),
                        self.text(&self.starts()[0])
                    ))
                })?;
                let plane = plane.trim().parse().ok().filter(|&plane: &u32| plane < planes).ok_or_else(|| {
                    Error::Usage(format!("found the plane \"{}\", expected a number from 0 to {}", shown_text(plane.trim()), planes - 1))
                })?;
                Ok(Reading::State(State { plane, arrangement: zero_based(&once_each(&numbers(rest)?, 0, length)?, 0) }))
            }
            Layout::Cells => Err(Error::invariant("a layout of cells", "planes", "tokens")),
        }
    }
}

/// The contents of all cells.
fn cells(all: &[u64], tokens: &Tokens) -> Result<State> {
    if all.len() != tokens.cells() {
        return Err(Error::Usage(format!("found {} numbers in a state, expected the contents of {} cells", all.len(), tokens.cells())));
    }
    if let Some(wrong) = all.iter().find(|&&content| content >= u64::from(tokens.contents())) {
        return Err(Error::Usage(format!("found {wrong} in a state, expected contents from 0 to {}", tokens.contents() - 1)));
    }
    Ok(State { plane: 0, arrangement: zero_based(all, 0) })
}

/// The labels 1 to `count`, each once.
fn labels(text: &str, count: u64) -> Result<Vec<u64>> {
    let separated = text.trim().contains([' ', '\t', ',', '\n']);
    let all = if separated || count > MOST_CHARACTERS || count == 1 { numbers(text)? } else { characters(text.trim(), count)? };
    once_each(&all, 1, count)
}

fn numbers(text: &str) -> Result<Vec<u64>> {
    let words = text.split([' ', '\t', ',', '\n']).filter(|word| !word.is_empty());
    words
        .map(|word| {
            word.parse().map_err(|_| {
                Error::Usage(format!("found \"{}\" in a state, expected numbers separated by blanks or commas", shown_text(word)))
            })
        })
        .collect()
}

fn characters(text: &str, count: u64) -> Result<Vec<u64>> {
    let label = |letter: char| match letter {
        '1'..='9' => letter.to_digit(10).map(u64::from),
        '0' => Some(10),
        'A' | 'a' => Some(11),
        'B' | 'b' => Some(12),
        _ => None,
    };
    text.chars()
        .map(|letter| {
            label(letter).filter(|&label| label <= count).ok_or_else(|| {
                let highest = ["0 (10)", "A (11)", "B (12)"].get(to_usize(count.saturating_sub(10))).filter(|_| count >= 10);
                let expected = highest.map_or_else(|| format!("1 to {count}"), |highest| format!("1 to 9 and on to {highest}"));
                Error::Usage(format!(
                    "found {letter:?} in a state without separators, expected a character from {expected}; or write numbers separated by blanks"
                ))
            })
        })
        .collect()
}

/// `all`, when it holds each of `first..first + count` once.
fn once_each(all: &[u64], first: u64, count: u64) -> Result<Vec<u64>> {
    let last = first + count - 1;
    if let Some(wrong) = all.iter().find(|&&label| label < first || label > last) {
        return Err(Error::Usage(format!("found {wrong} in a state, expected the numbers {first} to {last}")));
    }
    let places = |label: u64| all.iter().filter(|&&other| other == label).count();
    let listed = |wanted: &dyn Fn(usize) -> bool| {
        let labels: Vec<String> = (first..=last).filter(|&label| wanted(places(label))).map(|label| label.to_string()).collect();
        labels.join(", ")
    };
    let (repeated, missing) = (listed(&|places| places > 1), listed(&|places| places == 0));
    let problem = match (repeated.is_empty(), missing.is_empty()) {
        (true, true) => return Ok(all.to_vec()),
        (true, false) => format!("no {missing}"),
        (false, true) => format!("{repeated} more than once"),
        (false, false) => format!("{repeated} more than once and no {missing}"),
    };
    Err(Error::Usage(format!("found {} numbers in a state, {problem}; expected each of {first} to {last} once", all.len())))
}

fn zero_based(labels: &[u64], first: u64) -> Vec<u8> {
    labels.iter().map(|label| low_u8(label - first)).collect()
}

/// The inverse of [`Layout::Cycle`] and [`Layout::Circle`]: the pieces clockwise from piece 1, and
/// where the table stands from there.
fn from_piece_one(labels: &[u64], has_planes: bool) -> State {
    let size = labels.len();
    let home = labels.iter().position(|&label| label == 1).unwrap_or(0);
    let arrangement = (1..size).map(|clockwise| low_u8(labels[(home + clockwise) % size] - 2)).collect();
    State { plane: if has_planes { low_u32(to_u64((size - home) % size)) } else { 0 }, arrangement }
}

fn orbits(labels: &[u64], arranged: &[u8], planar: &[u8], planes: &[Vec<u8>]) -> Reading {
    let piece_at = |position: &u8| low_u8(labels[usize::from(*position)] - 1);
    for (position, &label) in (0_u8..=u8::MAX).zip(labels) {
        if !arranged.contains(&position) && !planar.contains(&position) && label != u64::from(position) + 1 {
            return Reading::Outside(format!("no move touches position {}, which holds {label}", u64::from(position) + 1));
        }
    }
    // The positions may be numbered in any order.
    let label_of = |piece: u8| arranged.iter().zip(0_u8..).find(|&(&home, _)| home == piece).map(|(_, label)| label);
    let arrangement: Option<Vec<u8>> = arranged.iter().map(|position| label_of(piece_at(position))).collect();
    let Some(arrangement) = arrangement else {
        return Reading::Outside("a piece stands in another orbit of positions, which no move leaves".into());
    };
    let contents: Vec<u8> = planar.iter().map(piece_at).collect();
    match planes.iter().position(|plane| *plane == contents) {
        Some(plane) => Reading::State(State { plane: low_u32(to_u64(plane)), arrangement }),
        None => {
            let places = index_u32(low_u32(to_u64(planar.len())));
            Reading::Outside(format!("the pieces at the {places} positions outside the largest orbit never stand so"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::PuzzleSource;

    fn built(name: &str, metric: &str) -> Puzzle {
        PuzzleSource::from_short_name(name).and_then(|source| source.build(metric)).expect("shipped")
    }

    #[test]
    fn what_is_written_reads_back() {
        for (name, metric) in [
            ("turnstyle-9", "step"),
            ("turnstyle-8", "flip"),
            ("pocket-cube", "half"),
            ("board-2x3n2", "quarter"),
            ("loopover-3x3", "step"),
            // Their positions are numbered in an order of their own.
            ("rotation-board-3x3n2", "quarter"),
            ("rotation-board-3x4n3", "half"),
            ("rotation-board-3x5n3", "quarter"),
        ] {
            let puzzle = built(name, metric);
            let mut state = puzzle.starts()[0].clone();
            for step in 0..200_usize {
                state = puzzle.apply((step * step + step / 3) % puzzle.generators(), &state);
                assert_eq!(puzzle.read_state(&puzzle.text(&state)).expect("valid"), Reading::State(state.clone()), "{name}");
                let with_commas = puzzle.text(&state).replace(' ', ",");
                assert_eq!(puzzle.read_state(&with_commas).expect("valid"), Reading::State(state.clone()), "{name}");
            }
        }
    }

    #[test]
    fn one_character_a_piece() {
        let puzzle = built("turnstyle-12", "step");
        let state = puzzle.read_state("4 3 2 1 5 6 7 8 9 10 11 12").expect("valid");
        for text in ["4321567890AB", " 4321567890ab ", "4,3,2,1,5,6,7,8,9,10,11,12", "4, 3, 2, 1, 5, 6, 7, 8, 9, 10, 11, 12"] {
            assert_eq!(puzzle.read_state(text).expect("valid"), state, "{text}");
        }
        let puzzle = built("turnstyle-8", "flip");
        assert_eq!(
            puzzle.read_state("34567812").expect("valid"),
            Reading::State(puzzle.starts()[0].clone()),
            "a circle has no first piece"
        );
    }

    #[test]
    fn bad_states_say_what_is_wrong() {
        let message = |name: &str, text: &str| built(name, "step").read_state(text).expect_err("bad").to_string();
        assert_eq!(
            message("turnstyle-8", "1 2 3 4 5 6 7 7"),
            "found 8 numbers in a state, 7 more than once and no 8; expected each of 1 to 8 once"
        );
        assert_eq!(message("turnstyle-8", "1 2 3 4 5 6 7"), "found 7 numbers in a state, no 8; expected each of 1 to 8 once");
        assert_eq!(message("turnstyle-8", "1 2 3 4 5 6 7 9"), "found 9 in a state, expected the numbers 1 to 8");
        assert_eq!(
            message("turnstyle-8", "1 2 3 4 5 6 7 8 8"),
            "found 9 numbers in a state, 8 more than once; expected each of 1 to 8 once"
        );
        assert!(message("turnstyle-8", "1 2 3 4 5 6 7 x").contains("found \"x\""));
        assert!(
            message("turnstyle-8", "1234567Z").contains("found 'Z'") && message("turnstyle-12", "123456789XAB").contains("on to B (12)")
        );
        assert!(message("turnstyle-8", "").contains("no 1, 2, 3, 4, 5, 6, 7, 8"));
        assert!(message("turnstyle-13", "123456789").contains("expected the numbers 1 to 13"));
    }

    #[test]
    fn pieces_out_of_their_orbit_are_no_state_but_no_mistake_either() {
        let text = "family = \"permutations\"\nname = \"toy\"\npositions = 6\n[[generators]]\nname = \"A\"\ncycles = \"(0 1 2)(3 4)\"\n";
        let puzzle = crate::families::reading::puzzle_text("x.toml", text).and_then(|source| source.build("step")).expect("valid");
        let reason = |text: &str| match puzzle.read_state(text).expect("every label once") {
            Reading::Outside(reason) => reason,
            Reading::State(state) => panic!("{state:?}"),
        };
        assert!(reason("1 2 3 4 6 5").contains("position 6"));
        assert!(reason("1 2 4 3 5 6").contains("another orbit"));
        assert!(matches!(puzzle.read_state("2 1 3 5 4 6").expect("valid"), Reading::State(_)));
    }
}
