//! A puzzle as it is configured, before a metric is chosen: what a configuration file says, and
//! what a run folder keeps of it.

use super::{FAMILIES, shipped};
use crate::base::config_text::{nearest, shown_text};
use crate::base::{Error, Result};
use crate::evidence::certificate::{CertifiedPuzzle, Labels};
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

    /// The puzzle of a short name: `turnstyle-12`, `rotation-board-3x4n2` (rows x columns),
    /// Twiddle's `4x3n2` (width x height), or a shipped puzzle.
    ///
    /// # Errors
    /// When no puzzle has the name (the nearest name is given), or its size is impossible.
    pub fn from_short_name(name: &str) -> Result<Self> {
        for family in FAMILIES {
            if let Some(source) = (family.of_short_name)(name)? {
                return Ok(source);
            }
        }
        if let Some(puzzle) = shipped::find(name) {
            return puzzle.source();
        }
        let examples = FAMILIES.iter().flat_map(|family| (family.examples)());
        let names: Vec<String> = examples.chain(shipped::SHIPPED.iter().map(|puzzle| puzzle.name.to_owned())).collect();
        let cure = match nearest(name, names.iter().map(String::as_str)) {
            Some(known) => format!("did you mean \"{known}\"?"),
            None => "`farthest puzzles` lists them".into(),
        };
        let forms = FAMILIES.iter().map(|family| family.short_names).filter(|forms| !forms.is_empty());
        let others = shipped::SHIPPED.iter().map(|puzzle| puzzle.name).filter(|name| !is_reserved(name));
        Err(Error::config(format!(
            "found no file and no puzzle \"{}\", expected a puzzle file or one of {}; {cure}",
            shown_text(name),
            forms.chain(others).collect::<Vec<_>>().join(", "),
        )))
    }

    /// As [`ConfiguredPuzzle::name`].
    #[must_use]
    pub fn name(&self) -> String {
        self.0.name()
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

/// Whether a family makes puzzles of such names, now or later, so that no file may take it.
pub(in crate::families) fn is_reserved(name: &str) -> bool {
    FAMILIES.iter().any(|family| (family.reserves)(name))
}

/// Whether the name is the family's, or begins with it and a dash.
pub(in crate::families) fn begins_with_family(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::turnstyle;

    #[test]
    fn short_names_are_exact() {
        assert_eq!(PuzzleSource::from_short_name("turnstyle-12").expect("a puzzle"), turnstyle::source(12).expect("a size"));
        for name in ["turnstyle-012", "turnstyle-+12", "turnstyle-", "turnstyle-12 ", "Turnstyle-12", ""] {
            assert!(PuzzleSource::from_short_name(name).is_err(), "{name}");
        }
        let text = PuzzleSource::from_short_name("turnstile-12").expect_err("unknown").to_string();
        assert!(text.ends_with("did you mean \"turnstyle-12\"?"), "{text}");
        let text = PuzzleSource::from_short_name("megaminx").expect_err("unknown").to_string();
        assert!(text.contains("turnstyle-4 to turnstyle-20, ") && text.contains("`farthest puzzles`"), "{text}");
    }

    #[test]
    fn impossible_sizes_say_why() {
        for (name, part) in
            [("turnstyle-3", "at least 4"), ("turnstyle-25", "about 7.76e24 states"), ("turnstyle-4000000000", "the largest size is 20")]
        {
            let text = PuzzleSource::from_short_name(name).expect_err("impossible").to_string();
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn metrics_are_checked_with_the_nearest_named() {
        let source = turnstyle::source(8).expect("a size");
        assert_eq!(source.default_metric(), "step");
        assert_eq!(source.build("flip").expect("valid").metric(), "flip");
        assert_eq!(
            source.build("stp").expect_err("unknown").to_string(),
            "found the metric \"stp\", expected one of step, turn, flip, the metrics of turnstyle-8; did you mean \"step\"?"
        );
    }

    #[test]
    fn names_of_the_families_are_reserved() {
        assert!(is_reserved("turnstyle-12") && is_reserved("rotation-3x4n2"));
        assert!(is_reserved("4x3n2") && is_reserved("03x3n2m5") && is_reserved("99999999999x3n2-mine"));
        for free in ["turnstyles", "loopover-3x3", "3x3", "x3n2", "3xn2", "3x3n", "my-4x3n2"] {
            assert!(!is_reserved(free), "{free}");
        }
    }
}
