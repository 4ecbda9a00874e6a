//! The states that a run lists one by one: its antipodes, and the sample of every level. A row ends with a rank and the state that has it.

use super::dataset::read_text;
use crate::base::{Error, Result, StateRank};
use crate::puzzle::Puzzle;
use crate::ranking::StateSpace;
use crate::search::Outcome;
use std::fmt::Write as _;
use std::path::Path;

/// All antipodes, or those of lowest rank.
pub const ANTIPODES: &str = "antipodes.tsv";

/// Sampled states of each level. Runs of earlier versions have no such file.
pub const SAMPLES: &str = "samples.tsv";

const ANTIPODES_HEADING: &str = "rank\tstate";
const SAMPLES_HEADING: &str = "depth\trank\tstate";

/// The text of `antipodes.tsv`.
#[must_use]
pub fn antipodes(puzzle: &Puzzle, outcome: &Outcome) -> String {
    table(puzzle, ANTIPODES_HEADING, outcome.listed_antipodes.iter().map(|&rank| (String::new(), rank)))
}

/// The text of `samples.tsv`.
#[must_use]
pub fn samples(puzzle: &Puzzle, outcome: &Outcome) -> String {
    let rows = outcome.samples.iter().enumerate().flat_map(|(depth, sample)| sample.iter().map(move |&rank| (format!("{depth}\t"), rank)));
    table(puzzle, SAMPLES_HEADING, rows)
}

/// A heading, and a row for each rank, behind what is given with it.
fn table(puzzle: &Puzzle, heading: &str, rows: impl Iterator<Item = (String, StateRank)>) -> String {
    let space = StateSpace::of(puzzle);
    let mut text = format!("{heading}\n");
    for (before, rank) in rows {
        let _ = writeln!(text, "{before}{rank}\t{}", puzzle.text(&space.unrank(rank)));
    }
    text
}

/// The ranks in the `antipodes.tsv` of a run of `puzzle`, each checked against the state beside it.
///
/// # Errors
/// `Io` when the file is missing, `BadData` naming the first line that is no rank and state of the puzzle.
pub fn listed_antipodes(folder: &Path, puzzle: &Puzzle) -> Result<Vec<StateRank>> {
    read(folder, ANTIPODES, ANTIPODES_HEADING, "a rank and its state", |line| rank_of(puzzle, line))
}

/// The depths and ranks in the `samples.tsv` of a run of `puzzle`, each checked against the state beside it.
///
/// # Errors
/// `Io` when the file is missing, as in runs of earlier versions; `BadData` naming the first line that is no depth, rank and state of the puzzle.
pub fn listed_samples(folder: &Path, puzzle: &Puzzle) -> Result<Vec<(usize, StateRank)>> {
    read(folder, SAMPLES, SAMPLES_HEADING, "a depth, a rank and its state", |line| {
        let (depth, rest) = line.split_once('\t')?;
        Some((depth.parse().ok()?, rank_of(puzzle, rest)?))
    })
}

/// The rank of `rank<TAB>state`, when the state has it.
fn rank_of(puzzle: &Puzzle, row: &str) -> Option<StateRank> {
    let space = StateSpace::of(puzzle);
    let (rank, state) = row.split_once('\t')?;
    let rank = StateRank(rank.parse().ok().filter(|&rank: &u64| u128::from(rank) < space.state_count())?);
    (puzzle.text(&space.unrank(rank)) == state).then_some(rank)
}

/// The rows of a file below its heading.
fn read<T>(folder: &Path, name: &str, heading: &str, expected: &str, row: impl Fn(&str) -> Option<T>) -> Result<Vec<T>> {
    let text = read_text(folder, name)?;
    let damaged = |number: usize, line: &str, expected: &str| {
        let cure = "restore it, or run again with --resume never --force";
        Error::bad_data(&folder.join(name), format!("{line:?} in line {number}"), expected, cure)
    };
    let mut lines = text.lines();
    match lines.next().unwrap_or_default() {
        first if first == heading => {}
        other => return Err(damaged(1, other, "the heading")),
    }
    lines.zip(2..).map(|(line, number)| row(line).ok_or_else(|| damaged(number, line, expected))).collect()
}
