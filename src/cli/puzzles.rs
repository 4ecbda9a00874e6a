//! `farthest puzzles`: what has a name.

use crate::base::Result;
use crate::families::FAMILIES;
use crate::families::reading::shipped_source;
use crate::families::shipped::SHIPPED;

/// Prints a line for each shipped puzzle (name, metrics, description), and the short names of the
/// families.
///
/// # Errors
/// When a shipped puzzle is faulty, which the tests exclude.
pub fn puzzles() -> Result<()> {
    let mut table = super::table::plain_table(&["puzzle", "metrics", "description"]);
    for puzzle in SHIPPED {
        table.add_row([puzzle.name.to_owned(), shipped_source(puzzle)?.metrics().join(", "), puzzle.description().to_owned()]);
    }
    println!("{table}");
    let forms: Vec<&str> = FAMILIES.iter().map(|family| family.short_names).filter(|forms| !forms.is_empty()).collect();
    println!(
        "\nShort names of built-in puzzles: {}. A file of your own (configs/puzzles has examples) works like a name.",
        forms.join(", ")
    );
    Ok(())
}
