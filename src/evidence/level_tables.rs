//! The tables with a row for each level: `distribution.tsv` and `levels.tsv`. What they must say
//! together, and of a search of the puzzle, is checked when they are read.

use super::table_rows::{TableRows, number};
use crate::base::ids::to_u64;
use crate::base::{Error, Result};
use crate::puzzle::{Puzzle, SignRule};
use crate::search::LevelRecord;
use std::fmt::Write as _;
use std::path::Path;

/// States by depth.
pub const DISTRIBUTION: &str = "distribution.tsv";

/// States, edges and fingerprint by depth.
pub const LEVELS: &str = "levels.tsv";

const DISTRIBUTION_HEADING: &str = "depth\tstates";
const LEVELS_HEADING: &str = "depth\tstates\tedges_down\tedges_same\tedges_up\tfingerprint";

/// The text of `distribution.tsv`.
#[must_use]
pub fn distribution(levels: &[LevelRecord]) -> String {
    levels.iter().fold(format!("{DISTRIBUTION_HEADING}\n"), |mut text, level| {
        let _ = writeln!(text, "{}\t{}", level.depth, level.states);
        text
    })
}

/// The text of `levels.tsv`.
#[must_use]
pub fn levels(levels: &[LevelRecord]) -> String {
    levels.iter().fold(format!("{LEVELS_HEADING}\n"), |mut text, level| {
        let edges = level.edges.unwrap_or_default();
        let _ = writeln!(text, "{}\t{}\t{}\t{}\t{}\t{}", level.depth, level.states, edges.down, edges.same, edges.up, level.fingerprint);
        text
    })
}

/// The counts of `distribution.tsv`, by depth.
///
/// # Errors
/// `Io` when the file is missing, `BadData` naming the first line that is no next level with a
/// state.
pub fn read_distribution(folder: &Path) -> Result<Vec<u64>> {
    let mut rows = TableRows::open(folder, DISTRIBUTION, DISTRIBUTION_HEADING)?;
    let mut counts = Vec::new();
    while let Some(row) = rows.next_row()? {
        let count = row.cells().and_then(|[depth, states]| {
            let is_next = number(depth) == Some(to_u64(counts.len()));
            number(states).filter(|&states| is_next && states > 0)
        });
        counts.push(count.ok_or_else(|| row.damaged("depth<TAB>states, one row a depth from 0, and no empty level"))?);
    }
    if counts.is_empty() {
        return Err(damaged(folder, DISTRIBUTION, "no level", "at least one"));
    }
    Ok(counts)
}

/// Checks `levels.tsv`: the same counts; as many edges as generators and states; up from a level as
/// many as down from the next one where every generator can be undone; fingerprints that together
/// have the one of the run. Returns that.
///
/// # Errors
/// `Io` when the file is missing, `BadData` naming the first line that cannot be.
pub fn check_levels(folder: &Path, puzzle: &Puzzle, distribution: &[u64]) -> Result<String> {
    let moves = puzzle.facts().moves.map(u128::from);
    let inverse_closed = puzzle.is_inverse_closed();
    let alternating = puzzle.sign_rule() == SignRule::Alternating;
    let mut rows = TableRows::open(folder, LEVELS, LEVELS_HEADING)?;
    let mut hasher = blake3::Hasher::new();
    let (mut depth, mut up_before) = (0_usize, 0);
    while let Some(row) = rows.next_row()? {
        let cells = row.cells().filter(|cells: &[&str; 6]| is_fingerprint(cells[5]));
        let numbers = cells.and_then(|cells| cells[..5].iter().map(|cell| number(cell)).collect::<Option<Vec<u64>>>());
        let (Some(cells), Some([found, states, down, same, up])) = (cells, numbers.as_deref()) else {
            return Err(row.damaged("depth, states, edges down, same and up, and a fingerprint of 32 hexadecimal digits"));
        };
        let (down, same, up) = (*down, *same, *up);
        if *found != to_u64(depth) || Some(states) != distribution.get(depth) {
            return Err(row.damaged("the depths and states of distribution.tsv"));
        }
        let edges = u128::from(down) + u128::from(same) + u128::from(up);
        // Where states differ in their moves, they have no more than there are generators.
        if let Some(all) = moves.map(|moves| moves * u128::from(*states)).filter(|all| edges != *all) {
            return Err(row.damaged(&format!("{all} edges, all generators of all states")));
        }
        if edges > u128::from(to_u64(puzzle.generators())) * u128::from(*states) {
            return Err(row.damaged("no more edges than generators x states"));
        }
        if inverse_closed && down != up_before {
            return Err(row.damaged(&format!("{up_before} edges down, those up from the level before")));
        }
        if depth > 0 && up_before < *states {
            return Err(row.damaged(&format!("no more states than edges up from the level before, {up_before}")));
        }
        if alternating && same > 0 {
            return Err(row.damaged("no edges within a level: every generator is odd"));
        }
        let is_last = depth + 1 == distribution.len();
        if (depth == 0 && down > 0) || (is_last && up > 0) {
            return Err(row.damaged("no edges down from the first level, and none up from the last"));
        }
        hasher.update(format!("{depth} {states} {}\n", cells[5]).as_bytes());
        (depth, up_before) = (depth + 1, up);
    }
    if depth != distribution.len() {
        return Err(damaged(folder, LEVELS, format!("{depth} levels"), format!("{}, as in distribution.tsv", distribution.len())));
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn is_fingerprint(cell: &str) -> bool {
    cell.len() == 32 && cell.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn damaged(folder: &Path, name: &str, found: impl ToString, expected: impl ToString) -> Error {
    Error::bad_data(
        &folder.join(name),
        found,
        expected,
        "the files do not belong together; restore them, or run again with --resume never --force",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_come_back_and_broken_ones_do_not() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let read = |text: &str| {
            std::fs::write(folder.path().join(DISTRIBUTION), text).expect("written");
            read_distribution(folder.path())
        };
        assert_eq!(read("depth\tstates\n0\t1\n1\t3\n").expect("whole"), [1, 3]);
        for broken in [
            "",
            "depth\tstates\n",
            "depth states\n0\t1\n",
            "depth\tstates\n1\t1\n",
            "depth\tstates\n0\tx\n",
            "depth\tstates\n0\t1\n0\t3\n",
            "depth\tstates\n0\t1\n1\t0\n",
            "depth\tstates\n0\t1\n1\t+3\n",
            "depth\tstates\n0\t1\t1\n",
            "depth\tstates\n0\t1\r\n",
            "depth\tstates\n0\t18446744073709551616\n",
        ] {
            assert_eq!(read(broken).expect_err(broken).exit_code(), 65, "{broken:?}");
        }
    }
}
