//! Names of puzzles and metrics, as configurations give them.

use crate::base::Result;
use crate::base::config_text::{ConfigTable, shown_text};

/// Longest name of a puzzle or metric.
const LONGEST_NAME: usize = 100;

/// Takes `name`, which becomes part of a path: `[a-z0-9._-]{1,100}` without leading dot or dash.
pub(in crate::families) fn name(table: &mut ConfigTable) -> Result<String> {
    let name = table.required_string("name")?;
    let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(fits) || name.starts_with(['.', '-']) {
        return Err(table.place_of("name").refuse(
            format!("\"{}\"", shown_text(&name)),
            format!("1 to {LONGEST_NAME} lower-case letters, digits, dots, dashes and underscores, the first one no dot or dash"),
            "the name becomes a folder: choose one such as \"my-puzzle\"",
        ));
    }
    Ok(name)
}

/// Names that begin so are those of built-in puzzles, now or later: no puzzle file may take one.
const RESERVED: [&str; 2] = ["turnstyle", "rotation"];

/// Takes the name of a puzzle, which must not be that of a built-in one.
pub(in crate::families) fn puzzle_name(table: &mut ConfigTable) -> Result<String> {
    let name = name(table)?;
    if is_reserved(&name) {
        return Err(table.place_of("name").refuse(
            format!("\"{name}\", which reads as the name of a built-in puzzle"),
            "a name of its own",
            "its results would mix with that one's: choose another name",
        ));
    }
    Ok(name)
}

/// Whether the name reads as that of a built-in puzzle, or as the measures of a board.
pub(in crate::families) fn is_reserved(name: &str) -> bool {
    let of_a_family = |family| name.strip_prefix(family).is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('-'));
    RESERVED.into_iter().any(of_a_family) || begins_with_measures(name)
}

/// Whether the name begins as `4x3n2` does: digits, `x`, digits, `n`, and a digit.
fn begins_with_measures(name: &str) -> bool {
    let rows = after_digits(name).and_then(|rest| rest.strip_prefix('x'));
    rows.and_then(after_digits).and_then(|rest| rest.strip_prefix('n')).and_then(after_digits).is_some()
}

/// What follows the digits that the text begins with; none when there are none.
fn after_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}
