//! Names of puzzles and metrics, as configurations give them.

use crate::base::Result;
use crate::base::config_text::{ConfigTable, shown_text};
use crate::evidence::dataset::{LONGEST_NAME, OTHERS, is_name};

/// Takes `name`, which becomes part of a path: it passes [`is_name`].
pub(in crate::families) fn name(table: &mut ConfigTable) -> Result<String> {
    let name = table.required_string("name")?;
    if !is_name(&name) {
        return Err(table.place_of("name").refuse(
            format!("\"{}\"", shown_text(&name)),
            format!("1 to {LONGEST_NAME} letters from A to Z or a to z, digits and {OTHERS}, the first one a letter or digit"),
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

/// Whether the name reads as that of a built-in puzzle, or as the measures of a board, in letters
/// of either case.
pub(in crate::families) fn is_reserved(name: &str) -> bool {
    let name = &name.to_ascii_lowercase();
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
