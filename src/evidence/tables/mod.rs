//! God's-number tables: complete runs side by side, each format a file of this folder behind the
//! trait [`TableFormat`].
//!
//! To add a format: its file here, and its line in [`FORMATS`]. The command line, its help and its
//! messages take the formats from that list.

mod bfile;
mod csv;
mod json;
mod latex;
mod text;
mod tidy;

use crate::base::Result;
use crate::base::shown::shown_path;
use crate::evidence::dataset::Dataset;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Runs to be shown, in the order of the rows.
#[derive(Clone, Debug)]
pub struct RunTable {
    /// Folders and what they hold.
    pub runs: Vec<(PathBuf, Dataset)>,
    /// Whether the states at every depth are shown, too.
    pub depths: bool,
}

/// A form of the table.
pub trait TableFormat: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What it is, in a line.
    fn about(&self) -> &'static str;

    /// The table, with a line end after its last line.
    ///
    /// # Errors
    /// `Config` when the format cannot hold these runs, with what to do.
    fn text(&self, table: &RunTable) -> Result<String>;
}

/// All formats; the first one is the default.
pub const FORMATS: [&dyn TableFormat; 7] =
    [&text::TERMINAL, &text::MARKDOWN, &csv::Csv, &json::Json, &latex::Latex, &bfile::BFile, &tidy::Tidy];

/// The format of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn TableFormat> {
    FORMATS.into_iter().find(|format| format.name() == name)
}

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortKey {
    /// The puzzle, numbers in its name by their size, then the metric.
    Puzzle,
    /// The metric, then the puzzle.
    Metric,
    /// The number of states.
    States,
    /// God's number.
    GodsNumber,
}

/// A column: its title for people, its name for programs, and whether it holds numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Column {
    title: &'static str,
    name: &'static str,
    is_number: bool,
}

impl Column {
    const fn text(title: &'static str) -> Self {
        Self { title, name: title, is_number: false }
    }

    const fn number(title: &'static str, name: &'static str) -> Self {
        Self { title, name, is_number: true }
    }
}

const COLUMNS: [Column; 7] = [
    Column::text("puzzle"),
    Column::text("metric"),
    Column::number("states", "states"),
    Column::number("God's number", "gods_number"),
    Column::number("antipodes", "antipodes"),
    Column::number("mean depth", "mean_depth"),
    Column::text("evidence"),
];

/// Which distances were counted: where that makes a difference for one of the runs.
const DIRECTION: Column = Column::text("direction");

/// Where the run is: where two rows would look alike.
const FOLDER: Column = Column::text("folder");

impl RunTable {
    /// Sorts the rows.
    pub fn sort(&mut self, key: SortKey) {
        let by_name = |one: &Dataset, other: &Dataset| {
            natural_order(&one.summary.puzzle, &other.summary.puzzle)
                .then_with(|| one.summary.metric.cmp(&other.summary.metric))
                .then_with(|| one.summary.direction.cmp(&other.summary.direction))
        };
        self.runs.sort_by(|(folder, one), (other_folder, other)| {
            let first = match key {
                SortKey::Puzzle => Ordering::Equal,
                SortKey::Metric => one.summary.metric.cmp(&other.summary.metric),
                SortKey::States => one.summary.states.cmp(&other.summary.states),
                SortKey::GodsNumber => one.summary.gods_number.cmp(&other.summary.gods_number),
            };
            first.then_with(|| by_name(one, other)).then_with(|| folder.cmp(other_folder))
        });
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = COLUMNS.to_vec();
        if self.runs.iter().any(|(_, run)| run.summary.direction.is_some()) {
            columns.push(DIRECTION);
        }
        let different: BTreeSet<_> =
            self.runs.iter().map(|(_, run)| (&run.summary.puzzle, &run.summary.metric, &run.summary.direction)).collect();
        if different.len() < self.runs.len() {
            columns.push(FOLDER);
        }
        columns
    }

    /// The cells of every run in these columns.
    fn rows(&self, columns: &[Column]) -> Vec<Vec<String>> {
        self.runs.iter().map(|(folder, run)| columns.iter().map(|&column| cell(column, folder, run)).collect()).collect()
    }

    /// A column of depths, and one of states for each run; empty beyond a run's last depth.
    fn depth_rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let heading = std::iter::once("depth".to_owned()).chain(self.runs.iter().map(|(_, run)| run_name(run))).collect();
        let depths = self.runs.iter().map(|(_, run)| run.distribution.len()).max().unwrap_or(0);
        let rows = (0..depths).map(|depth| {
            let cell = |(_, run): &(PathBuf, Dataset)| run.distribution.get(depth).map_or_else(String::new, u64::to_string);
            std::iter::once(depth.to_string()).chain(self.runs.iter().map(cell)).collect()
        });
        (heading, rows.collect())
    }
}

/// Puzzle, metric and, where it matters, direction of a run.
fn run_name(run: &Dataset) -> String {
    let summary = &run.summary;
    let direction = summary.direction.as_ref().map_or_else(String::new, |direction| format!(" {direction}"));
    format!("{} {}{direction}", summary.puzzle, summary.metric)
}

fn cell(column: Column, folder: &std::path::Path, run: &Dataset) -> String {
    let summary = &run.summary;
    match column.name {
        "puzzle" => summary.puzzle.clone(),
        "metric" => summary.metric.clone(),
        "states" => summary.states.to_string(),
        "gods_number" => summary.gods_number.to_string(),
        "antipodes" => summary.antipodes.to_string(),
        "mean_depth" => format!("{:.6}", summary.mean_depth),
        "evidence" => run.evidence.to_string(),
        "direction" => summary.direction.clone().unwrap_or_default(),
        _ => shown_path(folder),
    }
}

/// Compares names with the numbers in them by their size: `board-2x10` after `board-2x9`.
fn natural_order(one: &str, other: &str) -> Ordering {
    let pieces = |name: &str| -> Vec<(String, u64)> {
        let mut pieces = vec![(String::new(), String::new())];
        for letter in name.chars() {
            let (text, digits) = pieces.last_mut().expect("never empty");
            match (letter.is_ascii_digit(), digits.is_empty()) {
                (true, _) => digits.push(letter),
                (false, true) => text.push(letter),
                (false, false) => pieces.push((letter.to_string(), String::new())),
            }
        }
        pieces.into_iter().map(|(text, digits)| (text, digits.parse().unwrap_or(0))).collect()
    };
    pieces(one).cmp(&pieces(other)).then_with(|| one.cmp(other))
}

/// A number with a comma after every three digits.
fn with_separators(digits: &str) -> String {
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = String::new();
    for (place, digit) in whole.char_indices() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    fraction.map_or(text.clone(), |fraction| format!("{text}.{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_compared_by_size() {
        let mut names = ["turnstyle-10", "board-2x10n2", "turnstyle-9", "board-2x9n2", "board-10x2n2", "board"];
        names.sort_by(|one, other| natural_order(one, other));
        assert_eq!(names, ["board", "board-2x9n2", "board-2x10n2", "board-10x2n2", "turnstyle-9", "turnstyle-10"]);
    }

    #[test]
    fn digits_come_in_threes() {
        for (digits, shown) in
            [("7", "7"), ("999", "999"), ("1000", "1,000"), ("87178291200", "87,178,291,200"), ("1234.567890", "1,234.567890")]
        {
            assert_eq!(with_separators(digits), shown);
        }
    }

    #[test]
    fn names_are_unique_and_known() {
        let names: BTreeSet<&str> = FORMATS.iter().map(|format| format.name()).collect();
        assert_eq!(names.len(), FORMATS.len());
        assert!(named("latex").is_some() && named("xml").is_none());
    }
}
