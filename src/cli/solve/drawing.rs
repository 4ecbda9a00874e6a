//! A state drawn in one line of text.

use crate::puzzle::{Layout, Puzzle, PuzzleSource, State};

/// Positions on Turnstyle's table.
const TABLE_POSITIONS: usize = 4;

/// How the states of a puzzle are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Turnstyle: the ring, unrolled, with the turntable in brackets.
    Table,
    /// The labels as they are.
    Plain,
}

impl Drawing {
    /// The drawing that suits the puzzle.
    #[must_use]
    pub fn of(source: &PuzzleSource, puzzle: &Puzzle) -> Self {
        match (source, puzzle.layout()) {
            (PuzzleSource::Turnstyle { .. }, Layout::Cycle { .. }) => Self::Table,
            _ => Self::Plain,
        }
    }

    /// The picture.
    #[must_use]
    pub fn picture(self, puzzle: &Puzzle, state: &State) -> String {
        let text = puzzle.text(state);
        if self == Self::Plain {
            return text;
        }
        let labels: Vec<String> = text.split(' ').map(|label| format!("{label:>2}")).collect();
        let (table, ring) = labels.split_at(TABLE_POSITIONS.min(labels.len()));
        format!("[{} ] {}", table.join(" "), ring.join(" ")).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_brackets() {
        let source = PuzzleSource::from_short_name("turnstyle-10").expect("a puzzle");
        let picture = |metric: &str| {
            let puzzle = source.build(metric).expect("valid");
            Drawing::of(&source, &puzzle).picture(&puzzle, &puzzle.starts()[0])
        };
        assert_eq!(picture("step"), "[ 1  2  3  4 ]  5  6  7  8  9 10");
        assert_eq!(picture("flip"), "1 2 3 4 5 6 7 8 9 10");
    }
}
