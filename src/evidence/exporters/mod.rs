//! Puzzles and complete runs as files for other programs: a file of this folder for each format,
//! behind the trait [`Exporter`].
//!
//! To add a format: its file here, and its line in [`EXPORTERS`]. The command line, its help and
//! its messages take the formats from that list.

mod gap;

use crate::base::Result;
use crate::puzzle::{Puzzle, State};

/// What is exported.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The puzzle.
    pub puzzle: Puzzle,
    /// States that can be reached; none when nobody knows how many.
    pub states: Option<u64>,
    /// What a complete run claims; none for a puzzle alone.
    pub run: Option<RunClaims>,
}

/// What a complete run claims beside the number of states.
#[derive(Clone, Debug)]
pub struct RunClaims {
    /// States by depth.
    pub distribution: Vec<u64>,
    /// Whether the distances are those to the start, not from it.
    pub is_to_start: bool,
    /// Antipodes that are listed, with a shortest word where one is known: numbers of generators,
    /// left to right, from a start to the antipode, or from the antipode to a start.
    pub antipodes: Vec<(State, Option<Vec<usize>>)>,
}

/// A format of another program.
pub trait Exporter: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// What the other program does with the file, in a line.
    fn about(&self) -> &'static str;

    /// The file's text.
    ///
    /// # Errors
    /// `Config` when the format cannot say what the puzzle is, with the reason.
    fn text(&self, exported: &Exported) -> Result<String>;
}

/// All formats, in the order of the help.
pub const EXPORTERS: [&dyn Exporter; 1] = [&gap::Gap];

/// The format of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Exporter> {
    EXPORTERS.into_iter().find(|exporter| exporter.name() == name)
}
