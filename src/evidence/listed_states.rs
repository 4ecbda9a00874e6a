//! The states that a run lists one by one: its antipodes, and the sample of every level. A row ends
//! with a rank and the state that has it.

pub use super::checksums::{ANTIPODES, SAMPLES};
use super::level_tables::DISTRIBUTION;
use super::table_rows::{TableRows, number};
use crate::base::ids::to_u64;
use crate::base::{Error, Result, StateRank};
use crate::puzzle::{Puzzle, SignRule};
use crate::ranking::StateSpace;
use crate::search::{Outcome, samples};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

const ANTIPODES_HEADING: &str = "rank\tstate";
const SAMPLES_HEADING: &str = "depth\trank\tstate";

/// Most antipodes that a configuration can ask for.
const MOST_ANTIPODES: usize = 1_000_000;

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

/// A heading, and a row for each rank, after what is given with it.
fn table(puzzle: &Puzzle, heading: &str, rows: impl Iterator<Item = (String, StateRank)>) -> String {
    let space = StateSpace::of(puzzle);
    let mut text = format!("{heading}\n");
    for (before, rank) in rows {
        let _ = writeln!(text, "{before}{rank}\t{}", puzzle.text(&space.unrank(rank)));
    }
    text
}

/// The ranks in the `antipodes.tsv` of a run of `puzzle`: ascending, each checked against the state
/// beside it.
///
/// # Errors
/// `Io` when the file is missing, `BadData` naming the first line that is no next rank and state of
/// the puzzle.
pub fn listed_antipodes(folder: &Path, puzzle: &Puzzle) -> Result<Vec<StateRank>> {
    read_antipodes(folder, &Listing::of(puzzle))
}

fn read_antipodes(folder: &Path, listing: &Listing<'_>) -> Result<Vec<StateRank>> {
    let mut rows = TableRows::open(folder, ANTIPODES, ANTIPODES_HEADING)?;
    let mut ranks: Vec<StateRank> = Vec::new();
    while let Some(row) = rows.next_row()? {
        let [rank, state] = row.cells().ok_or_else(|| row.damaged("a rank and its state"))?;
        let rank = listing.rank(rank, state).ok_or_else(|| row.damaged("a rank and its state"))?;
        if ranks.last().is_some_and(|&last| rank <= last) {
            return Err(row.damaged("a larger rank than in the line before"));
        }
        if ranks.len() == MOST_ANTIPODES {
            return Err(row.damaged(&format!("at most {MOST_ANTIPODES} states")));
        }
        ranks.push(rank);
    }
    Ok(ranks)
}

/// The depths and ranks in the `samples.tsv` of a run of `puzzle`: ascending, at most
/// [`samples::SAMPLES`] of a depth, each rank checked against the state beside it.
///
/// # Errors
/// `Io` when the file is missing, as in runs of earlier versions; `BadData` naming the first line
/// that is no next depth, rank and state of the puzzle.
pub fn listed_samples(folder: &Path, puzzle: &Puzzle) -> Result<Vec<(usize, StateRank)>> {
    read_samples(folder, &Listing::of(puzzle))
}

fn read_samples(folder: &Path, listing: &Listing<'_>) -> Result<Vec<(usize, StateRank)>> {
    let mut rows = TableRows::open(folder, SAMPLES, SAMPLES_HEADING)?;
    let mut sampled: Vec<(usize, StateRank)> = Vec::new();
    while let Some(row) = rows.next_row()? {
        let read = row.cells().and_then(|[depth, rank, state]| Some((usize::try_from(number(depth)?).ok()?, listing.rank(rank, state)?)));
        let found = read.ok_or_else(|| row.damaged("a depth, a rank and its state"))?;
        if sampled.last().is_some_and(|last| found <= *last) {
            return Err(row.damaged("a larger depth or rank than in the line before"));
        }
        let of_depth = sampled.iter().rev().take_while(|(depth, _)| *depth == found.0).count();
        if to_u64(of_depth) >= samples::SAMPLES {
            return Err(row.damaged(&format!("at most {} states of a depth", samples::SAMPLES)));
        }
        sampled.push(found);
    }
    Ok(sampled)
}

/// Checks both lists of a run against the counts of its levels. There are `listed` antipodes
/// according to its summary, and `most` of them were to be listed.
///
/// # Errors
/// As [`listed_antipodes`] and [`listed_samples`]; `BadData` when they are too many or too few, or
/// a state cannot be at its depth.
pub fn check(folder: &Path, puzzle: &Puzzle, distribution: &[u64], listed: u64, most: usize) -> Result<()> {
    let damaged = |name: &str, found: String, expected: String| {
        let cure = "the files do not belong together; restore them, or run again with --resume never --force";
        Err(Error::bad_data(&folder.join(name), found, expected, cure))
    };
    let listing = Listing::of(puzzle);
    let starts: BTreeSet<StateRank> = puzzle.starts().iter().map(|start| listing.space.rank(start)).collect();
    let first = distribution.first().copied().unwrap_or(0);
    if first != to_u64(starts.len()) {
        return damaged(DISTRIBUTION, format!("{first} at depth 0"), format!("{}, as many states as the puzzle starts from", starts.len()));
    }
    let last = distribution.last().copied().unwrap_or(0);
    let wanted = last.min(to_u64(most));
    let antipodes = read_antipodes(folder, &listing)?;
    if to_u64(antipodes.len()) != wanted || listed != wanted {
        let found = format!("{} listed, and {listed} by summary.json", antipodes.len());
        return damaged(ANTIPODES, found, format!("{wanted}: all {last}, or most_antipodes = {most} of them"));
    }
    let deepest = distribution.len() - 1;
    let fits = |name: &str, depth: usize, rank: StateRank| {
        if (depth == 0) == starts.contains(&rank) && listing.may_be_at(depth, rank) {
            return Ok(());
        }
        damaged(name, format!("the state {rank} of depth {depth}"), "a state that can be so far from the start".into())
    };
    antipodes.iter().try_for_each(|&rank| fits(ANTIPODES, deepest, rank))?;
    if folder.join(SAMPLES).symlink_metadata().is_err() {
        return Ok(());
    }
    let antipodes: BTreeSet<StateRank> = antipodes.into_iter().collect();
    let all_are_listed = to_u64(antipodes.len()) == last;
    let samples = read_samples(folder, &listing)?;
    let mut ranks = BTreeSet::new();
    for &(depth, rank) in &samples {
        let Some(&states) = distribution.get(depth) else {
            return damaged(SAMPLES, format!("a state of depth {depth}"), format!("none deeper than {deepest}"));
        };
        let drawn = to_u64(samples.iter().filter(|(other, _)| *other == depth).count());
        if drawn > states {
            return damaged(SAMPLES, format!("a sample of {drawn} of depth {depth}"), format!("at most {states}"));
        }
        fits(SAMPLES, depth, rank)?;
        let contradicts = if depth == deepest { all_are_listed && !antipodes.contains(&rank) } else { antipodes.contains(&rank) };
        if !ranks.insert(rank) || contradicts {
            let expected = "each state once, and those of the last depth as in antipodes.tsv";
            return damaged(SAMPLES, format!("the state {rank} of depth {depth}"), expected.into());
        }
    }
    Ok(())
}

/// What is needed to read many rows.
struct Listing<'a> {
    puzzle: &'a Puzzle,
    space: StateSpace,
    alternating: bool,
}

impl<'a> Listing<'a> {
    fn of(puzzle: &'a Puzzle) -> Self {
        Self { puzzle, space: StateSpace::of(puzzle), alternating: puzzle.sign_rule() == SignRule::Alternating }
    }

    /// The rank of a row, when the state has it.
    fn rank(&self, rank: &str, state: &str) -> Option<StateRank> {
        let rank = StateRank(number(rank).filter(|&rank| u128::from(rank) < self.space.state_count())?);
        (self.puzzle.text(&self.space.unrank(rank)) == state).then_some(rank)
    }

    /// Whether the state has the sign of its depth, where the generators fix it.
    fn may_be_at(&self, depth: usize, rank: StateRank) -> bool {
        !self.alternating || self.space.is_odd(rank) == (depth % 2 == 1)
    }
}
