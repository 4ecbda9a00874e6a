//! A puzzle as it is configured, before a metric is chosen: what a configuration file says, and
//! what a run folder keeps of it.

use crate::base::config_text::{nearest, shown_text};
use crate::base::{Error, Result};
use crate::evidence::certificates::{CertifiedPuzzle, Labels};
use crate::puzzle::{Puzzle, State};
use std::fmt;
use std::sync::Arc;

/// A puzzle of some family, in all its metrics.
pub trait ConfiguredPuzzle: fmt::Debug + Send + Sync {
    /// The puzzle's short name, which also names its folder of results.
    fn name(&self) -> String;

    /// All metrics, the default one first; never empty.
    fn metrics(&self) -> Vec<String>;

    /// The puzzle in one of its metrics.
    ///
    /// # Errors
    /// When its states have no representation.
    fn build(&self, metric: &str) -> Result<Puzzle>;

    /// The canonical text: it reads back as the same puzzle, and puzzles with the same text are the
    /// same. Top-level keys come first, then lists of tables: so further top-level keys
    /// (`metric = ...`) may be put before it, and further tables (`[search]`) after it.
    fn to_toml(&self) -> String;

    /// How certificates name the puzzle in one of its metrics.
    ///
    /// # Errors
    /// `Config` when there are no certificates about it.
    fn certified(&self, metric: &str) -> Result<CertifiedPuzzle>;

    /// The places of the arrangement in their order, from 1, where the checker cannot know it.
    fn arranged(&self, _built: &Puzzle) -> Option<Labels> {
        None
    }

    /// What is likely a slip in the configuration, and what to do then; none where nothing is odd.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Whether the start is the solved state, to which distances are meant; else it is a position
    /// that a game begins with, and distances are meant from it.
    fn starts_solved(&self) -> bool {
        true
    }

    /// A state drawn in one line of text; its labels unless the family has a picture.
    fn picture(&self, built: &Puzzle, state: &State) -> String {
        built.text(state)
    }
}

/// A handle to a configured puzzle. Handles are equal when the puzzles' canonical texts are.
#[derive(Clone, Debug)]
pub struct PuzzleSource(Arc<dyn ConfiguredPuzzle>);

impl PartialEq for PuzzleSource {
    fn eq(&self, other: &Self) -> bool {
        self.to_toml() == other.to_toml()
    }
}

impl Eq for PuzzleSource {}

impl PuzzleSource {
    /// A handle to `puzzle`.
    #[must_use]
    pub fn new(puzzle: impl ConfiguredPuzzle + 'static) -> Self {
        Self(Arc::new(puzzle))
    }

    /// As [`ConfiguredPuzzle::name`].
    #[must_use]
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// As [`ConfiguredPuzzle::remark`].
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        self.0.remark()
    }

    /// As [`ConfiguredPuzzle::starts_solved`].
    #[must_use]
    pub fn starts_solved(&self) -> bool {
        self.0.starts_solved()
    }

    /// The metric that is meant when none is named.
    #[must_use]
    pub fn default_metric(&self) -> String {
        self.metrics().swap_remove(0)
    }

    /// As [`ConfiguredPuzzle::metrics`].
    #[must_use]
    pub fn metrics(&self) -> Vec<String> {
        self.0.metrics()
    }

    /// The puzzle in one metric.
    ///
    /// # Errors
    /// When there is no such metric (the nearest is named), or its states have no representation.
    pub fn build(&self, metric: &str) -> Result<Puzzle> {
        self.check_metric(metric)?;
        self.0.build(metric)
    }

    /// Whether the puzzle has the metric.
    ///
    /// # Errors
    /// When it has not: the nearest is named, and all are listed.
    pub fn check_metric(&self, metric: &str) -> Result<()> {
        let metrics = self.metrics();
        if metrics.iter().any(|known| known == metric) {
            return Ok(());
        }
        let cure = match nearest(metric, metrics.iter().map(String::as_str)) {
            Some(known) => format!("did you mean \"{known}\"?"),
            None => "choose one of them".into(),
        };
        Err(Error::config(format!(
            "found the metric \"{}\", expected one of {}, the metrics of {}; {cure}",
            shown_text(metric),
            metrics.join(", "),
            self.name()
        )))
    }

    /// As [`ConfiguredPuzzle::to_toml`].
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// As [`ConfiguredPuzzle::certified`].
    ///
    /// # Errors
    /// `Config` when there is no such metric, or there are no certificates about the puzzle.
    pub fn certified(&self, metric: &str) -> Result<CertifiedPuzzle> {
        self.check_metric(metric)?;
        self.0.certified(metric)
    }

    /// As [`ConfiguredPuzzle::arranged`].
    #[must_use]
    pub fn arranged(&self, built: &Puzzle) -> Option<Labels> {
        self.0.arranged(built)
    }

    /// As [`ConfiguredPuzzle::picture`].
    #[must_use]
    pub fn picture(&self, built: &Puzzle, state: &State) -> String {
        self.0.picture(built, state)
    }
}
