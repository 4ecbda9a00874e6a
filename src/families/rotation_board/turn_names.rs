//! Names of boards and turns.
//!
//! Boards: `rotation-board-3x4n2`, `rotation-3x4n2` and `3x4n2` say rows x columns, here and in every
//! option. Simon Tatham's Twiddle says width x height: `twiddle:4x3n2` is the same board, and its
//! games, which have a colon after the measures, are read by `Board::from_twiddle`. Turns: a letter is a quarter
//! counter-clockwise, the letter with `'` clockwise, with `2` half a turn. Two blocks are X and Y,
//! three X, Y and Z, otherwise they are A, B, C, ... row by row. On every board, and alone on those
//! of more than 26 blocks: `row,column,turn`, from 1, with the turn 1, -1 or 2. Words are read from
//! left to right.

use super::{BlockTurn, BoardShape};
use crate::base::config_text::shown_text;
use crate::base::{Error, Result};

/// Most blocks that have letters.
const MOST_LETTERS: u32 = 26;

/// The names of boards before their measures.
const PREFIXES: [&str; 2] = ["rotation-board-", "rotation-"];

/// What stands before Twiddle's parameters, whose width comes first.
pub(super) const TWIDDLE: &str = "twiddle:";

impl BoardShape {
    /// The board of a short name, of bare measures, or of Twiddle's parameters after `twiddle:`;
    /// none when the text is none of them.
    ///
    /// # Errors
    /// `Config` when the text is such a name, but no such board exists or it is of a kind that is
    /// not known here.
    pub fn from_name(name: &str) -> Result<Option<Self>> {
        for prefix in PREFIXES {
            if let Some(rest) = name.strip_prefix(prefix) {
                return match measures(rest) {
                    Some((rows, columns, block, "")) => Self::new(rows, columns, block).map(Some),
                    _ => Ok(None),
                };
            }
        }
        if let Some(parameters) = name.strip_prefix(TWIDDLE) {
            let Some((width, height, block, options)) = measures(parameters) else { return Ok(None) };
            twiddle_options(name, options)?;
            return Self::new(height, width, block).map(Some);
        }
        match measures(name) {
            Some((rows, columns, block, "")) => Self::new(rows, columns, block).map(Some),
            Some((_, _, _, options)) => Err(Error::config(format!(
                "{}: found \"{}\" after the measures, expected rows x columns n block; options belong to Twiddle: write twiddle:widthxheightnblock",
                shown_text(name),
                shown_text(options)
            ))),
            None => Ok(None),
        }
    }

    /// Twiddle's parameter string.
    #[must_use]
    pub fn twiddle_name(self) -> String {
        format!("{}x{}n{}", self.columns(), self.rows(), self.block())
    }

    /// The letter of a block, on boards that have letters.
    #[must_use]
    pub fn letter(self, block: u32) -> Option<char> {
        let first = match self.blocks() {
            2 | 3 => b'X',
            0..=MOST_LETTERS => b'A',
            _ => return None,
        };
        Some(char::from(first + u8::try_from(block).ok()?))
    }

    /// The turn's name: `A`, `A'`, `A2`, or `row,column,turn`.
    #[must_use]
    pub fn turn_name(self, turn: BlockTurn) -> String {
        let sign = ["", "", "2", "'"][usize::from(turn.quarters)];
        self.letter(turn.block).map_or_else(|| self.machine_name(turn), |letter| format!("{letter}{sign}"))
    }

    /// The turn as `row,column,turn`.
    #[must_use]
    pub fn machine_name(self, turn: BlockTurn) -> String {
        let (row, column) = self.corner(turn.block);
        let quarters = ["", "1", "2", "-1"][usize::from(turn.quarters)];
        format!("{},{},{quarters}", row + 1, column + 1)
    }
}

/// `AxBnC` and what follows.
fn measures(text: &str) -> Option<(u32, u32, u32, &str)> {
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let value = text[..digits].parse().ok().filter(|_| !text.starts_with('0'))?;
        Some((value, digits))
    };
    let (first, digits) = number(text)?;
    let rest = text[digits..].strip_prefix('x')?;
    let (second, digits) = number(rest)?;
    let rest = rest[digits..].strip_prefix('n')?;
    let (third, digits) = number(rest)?;
    Some((first, second, third, &rest[digits..]))
}

/// Twiddle's options after the measures: `m` with the number of shuffling moves says nothing about
/// the board.
fn twiddle_options(name: &str, options: &str) -> Result<()> {
    let kind = match options.trim_end_matches(|digit: char| digit.is_ascii_digit()) {
        "" if options.is_empty() => return Ok(()),
        "m" => return Ok(()),
        kind => kind,
    };
    let found = match kind.chars().next() {
        Some('r') => "a board with one number for a whole row (r)".to_owned(),
        Some('o') => "a board whose tiles have an orientation (o)".to_owned(),
        _ => format!("\"{}\" after the measures", shown_text(kind)),
    };
    Err(Error::config(format!(
        "{}: found {found}, expected different numbers without orientation; write widthxheightnblock, such as 4x3n2",
        shown_text(name)
    )))
}

/// The turns of a word: letters, with blanks between them or not, or `row,column,turn` with blanks
/// between them.
///
/// # Errors
/// `Usage` when a part of it is no turn of the board.
pub fn parse_turns(shape: BoardShape, text: &str) -> Result<Vec<BlockTurn>> {
    let mut turns = Vec::new();
    for part in text.split_whitespace() {
        if part.contains(',') {
            turns.push(machine_turn(shape, part).ok_or_else(|| no_turn(shape, part))?);
            continue;
        }
        let mut rest = part;
        while let Some(letter) = rest.chars().next() {
            let block = (0..shape.blocks().min(MOST_LETTERS)).find(|&block| shape.letter(block) == Some(letter));
            let block = block.ok_or_else(|| no_turn(shape, rest))?;
            rest = &rest[1..];
            let (quarters, used) = match rest.chars().next() {
                Some('\'') => (3, 1),
                Some('2') => (2, 1),
                _ => (1, 0),
            };
            rest = &rest[used..];
            turns.push(BlockTurn { block, quarters });
        }
    }
    Ok(turns)
}

fn machine_turn(shape: BoardShape, part: &str) -> Option<BlockTurn> {
    let mut numbers = part.split(',');
    let mut place = |most: u32| -> Option<u32> {
        let number: u32 = numbers.next()?.parse().ok()?;
        number.checked_sub(1).filter(|&number| number < most)
    };
    let (row, column) = (place(shape.block_rows())?, place(shape.block_columns())?);
    let quarters = match numbers.next()? {
        "1" => 1,
        "2" => 2,
        "-1" => 3,
        _ => return None,
    };
    numbers.next().is_none().then(|| BlockTurn { block: shape.block_at(row, column), quarters })
}

fn no_turn(shape: BoardShape, part: &str) -> Error {
    let last = BlockTurn { block: shape.blocks() - 1, quarters: 3 };
    let letters = match (shape.letter(0), shape.letter(last.block)) {
        (Some(first), Some(last)) => format!("a letter from {first} to {last} with or without ' or 2, or "),
        _ => String::new(),
    };
    Error::Usage(format!(
        "found \"{}\" in a word for the board {shape}, expected {letters}row,column,turn up to {}",
        shown_text(part),
        shape.machine_name(last)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows: u32, columns: u32, block: u32) -> BoardShape {
        BoardShape::new(rows, columns, block).expect("valid")
    }

    #[test]
    fn names_of_boards() {
        let named = |name: &str| BoardShape::from_name(name).expect("possible");
        for name in ["rotation-board-3x4n2", "rotation-3x4n2", "3x4n2", "twiddle:4x3n2", "twiddle:4x3n2m7"] {
            assert_eq!(named(name), Some(shape(3, 4, 2)), "{name}");
        }
        assert_eq!(shape(3, 4, 2).twiddle_name(), "4x3n2");
        assert_eq!(shape(16, 25, 9).name(), "rotation-board-16x25n9");
        for name in ["rotation-board-03x4n2", "rotation-board-3x4", "3x4n", "x3n2", "turnstyle-12", "rotation-3x4n2m3", "3x99999999999n2"] {
            assert_eq!(named(name), None, "{name}");
        }
        for (name, part) in [
            ("twiddle:3x3n2r", "one number for a whole row"),
            ("twiddle:3x3n2om5", "orientation"),
            ("twiddle:3x3n2z", "\"z\" after the measures"),
            ("3x3n2r", "write twiddle:"),
            ("3x3n4", "at most 3x3"),
            ("rotation-3x3n5", "at most 3x3"),
        ] {
            let text = BoardShape::from_name(name).expect_err("impossible").to_string();
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn names_of_turns_come_back() {
        for shape in [shape(2, 3, 2), shape(2, 4, 2), shape(3, 3, 2), shape(3, 3, 3), shape(7, 6, 2)] {
            let all: Vec<BlockTurn> =
                (0..shape.blocks()).flat_map(|block| (1..=3).map(move |quarters| BlockTurn { block, quarters })).collect();
            let names: Vec<String> = all.iter().map(|&turn| shape.turn_name(turn)).collect();
            let machine: Vec<String> = all.iter().map(|&turn| shape.machine_name(turn)).collect();
            assert_eq!(parse_turns(shape, &names.join(" ")).expect("turns"), all);
            assert_eq!(parse_turns(shape, &machine.join(" ")).expect("turns"), all);
            if shape.letter(0).is_some() {
                assert_eq!(parse_turns(shape, &names.concat()).expect("turns"), all);
            }
        }
        assert_eq!(shape(2, 4, 2).turn_name(BlockTurn { block: 2, quarters: 3 }), "Z'");
        assert_eq!(shape(3, 3, 2).turn_name(BlockTurn { block: 3, quarters: 2 }), "D2");
        assert_eq!(shape(7, 6, 2).turn_name(BlockTurn { block: 29, quarters: 3 }), "6,5,-1");
    }

    #[test]
    fn no_turns_are_refused() {
        for (text, part) in [
            ("XYZ", "\"Z\""),
            ("X\u{e9}", "\"\u{e9}\""),
            ("1,3,1", "\"1,3,1\""),
            ("1,1,3", "\"1,1,3\""),
            ("1,1", "up to 1,2,-1"),
            ("0,1,1", "0,1,1"),
        ] {
            let text = parse_turns(shape(2, 3, 2), text).expect_err("no turn").to_string();
            assert!(text.contains(part), "{text}");
        }
    }
}
