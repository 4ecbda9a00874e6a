//! `farthest puzzles`: what ships with the program.

use crate::base::Result;
use crate::families::shipped::SHIPPED;

/// Prints a line for each shipped puzzle: name, metrics, description.
///
/// # Errors
/// When a shipped puzzle is faulty, which the tests exclude.
pub fn puzzles() -> Result<()> {
    let mut table = super::table::plain_table(&["puzzle", "metrics", "description"]);
    for puzzle in SHIPPED {
        table.add_row([puzzle.name.to_owned(), puzzle.source()?.metrics().join(", "), puzzle.description().to_owned()]);
    }
    println!("{table}");
    println!(
        "\nturnstyle-N exists for every N from 4 to 20, rotation-board-RxCnB for boards of any size. A file of your own (configs/puzzles has examples) works like a name."
    );
    Ok(())
}
