//! A puzzle as it is configured, before a metric is chosen: what a configuration file says, and what a run folder keeps of it.
//!
//! [`PuzzleSource::to_toml`] is canonical: it reads back as the same source, and two sources with the same text are the same.

pub(in crate::puzzle) mod named_generators;

pub use named_generators::{Metric, NamedGenerators, Turn};

use super::family::permutations::PermutationPuzzle;
use super::family::planes::PlanePuzzle;
use super::family::{rotation_board, turnstyle};
use super::{BoardShape, Puzzle, shipped};
use crate::base::config_text::{nearest, shown_text};
use crate::base::{Error, Result};

/// A puzzle of one of the families, in all its metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PuzzleSource {
    /// Turnstyle(size).
    Turnstyle {
        /// Number of pieces and positions.
        size: u32,
    },
    /// Generators given as permutations of positions.
    Permutations(PermutationPuzzle),
    /// Generators given as maps of planes with permutations of positions.
    Planes(PlanePuzzle),
    /// A number rotation board; of any size, though only small ones can be built.
    RotationBoard(BoardShape),
}

impl PuzzleSource {
    /// Turnstyle(`size`).
    ///
    /// # Errors
    /// When the size does not exist, or its states have no 63-bit rank.
    pub fn turnstyle(size: u32) -> Result<Self> {
        // The family's own message estimates the states, which is no use for absurd sizes.
        const LARGEST_ESTIMATED: u32 = 100;
        if size > LARGEST_ESTIMATED {
            return Err(Error::config(format!(
                "turnstyle size {size}: state ranks have 63 bits, so the largest size is {}",
                turnstyle::LARGEST_SIZE
            )));
        }
        turnstyle::build(size, turnstyle::METRICS[0])?;
        Ok(Self::Turnstyle { size })
    }

    /// Turnstyle(`size`) in its metric `step` with the pieces ranked by position, `size`! states: the form in which every relabelling of pieces is a
    /// symmetry, so that one ball serves many targets.
    ///
    /// # Errors
    /// When the size does not exist, or its states have no 63-bit rank.
    pub fn turnstyle_by_position(size: u32) -> Result<Puzzle> {
        turnstyle::build_by_position(size)
    }

    /// The puzzle of a short name: `turnstyle-12`, `rotation-board-3x4n2` (rows x columns), Twiddle's `4x3n2` (width x height), or a shipped puzzle.
    ///
    /// # Errors
    /// When no puzzle has the name (the nearest name is given), or its size is impossible.
    pub fn from_short_name(name: &str) -> Result<Self> {
        if let Some(size) = turnstyle_size(name) {
            return Self::turnstyle(size);
        }
        if let Some(shape) = BoardShape::from_name(name)? {
            return Ok(Self::RotationBoard(shape));
        }
        if let Some(puzzle) = shipped::find(name) {
            return puzzle.source();
        }
        let names = short_names();
        let cure = match nearest(name, names.iter().map(String::as_str)) {
            Some(known) => format!("did you mean \"{known}\"?"),
            None => "`farthest puzzles` lists them".into(),
        };
        let others: Vec<&str> = names.iter().map(String::as_str).filter(|name| !is_reserved(name)).collect();
        Err(Error::config(format!(
            "found no file and no puzzle \"{}\", expected a puzzle file or one of turnstyle-{} to turnstyle-{}, \
             rotation-board-ROWSxCOLUMNSnBLOCK, {}; {cure}",
            shown_text(name),
            turnstyle::SMALLEST_SIZE,
            turnstyle::LARGEST_SIZE,
            others.join(", "),
        )))
    }

    /// The puzzle's short name, which also names its folder of results.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Turnstyle { size } => format!("turnstyle-{size}"),
            Self::Permutations(puzzle) => puzzle.name().to_owned(),
            Self::Planes(puzzle) => puzzle.name().to_owned(),
            Self::RotationBoard(shape) => shape.name(),
        }
    }

    /// The metric that is meant when none is named.
    #[must_use]
    pub fn default_metric(&self) -> String {
        self.metrics().swap_remove(0)
    }

    /// All metrics, the default one first; never empty.
    #[must_use]
    pub fn metrics(&self) -> Vec<String> {
        match self {
            Self::Turnstyle { .. } => turnstyle::METRICS.map(str::to_owned).to_vec(),
            Self::Permutations(puzzle) => puzzle.generators().metrics(),
            Self::Planes(puzzle) => puzzle.generators().metrics(),
            Self::RotationBoard(_) => rotation_board::METRICS.map(str::to_owned).to_vec(),
        }
    }

    /// The puzzle in one metric.
    ///
    /// # Errors
    /// When there is no such metric (the nearest is named), or its states have no representation.
    pub fn build(&self, metric: &str) -> Result<Puzzle> {
        self.check_metric(metric)?;
        match self {
            Self::Turnstyle { size } => turnstyle::build(*size, metric),
            Self::Permutations(puzzle) => puzzle.build(metric),
            Self::Planes(puzzle) => puzzle.build(metric),
            Self::RotationBoard(shape) => rotation_board::build(*shape, metric),
        }
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

    /// The canonical text: top-level keys, then lists of tables. So further top-level keys (`metric = ...`) may be put before
    /// it, and further tables (`[search]`) behind it.
    #[must_use]
    pub fn to_toml(&self) -> String {
        match self {
            Self::Turnstyle { size } => format!("family = \"turnstyle\"\nsize = {size}\n"),
            Self::Permutations(puzzle) => puzzle.to_toml(),
            Self::Planes(puzzle) => puzzle.to_toml(),
            Self::RotationBoard(shape) => rotation_board::to_toml(*shape),
        }
    }
}

/// Whether a built-in family makes puzzles of such names, now or later, or they read as Twiddle's parameters, which stand for a built-in board; so that no
/// file may take it.
pub(in crate::puzzle) fn is_reserved(name: &str) -> bool {
    let of_a_family = |family| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    ["turnstyle", "rotation"].into_iter().any(of_a_family) || begins_with_measures(name)
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

/// The size in `turnstyle-12`.
fn turnstyle_size(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("turnstyle-")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

/// Every short name there is.
fn short_names() -> Vec<String> {
    let sizes = turnstyle::SMALLEST_SIZE..=turnstyle::LARGEST_SIZE;
    let mut names: Vec<String> = sizes.map(|size| format!("turnstyle-{size}")).collect();
    names.extend(shipped::SHIPPED.iter().map(|puzzle| puzzle.name.to_owned()));
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_exact() {
        assert_eq!(PuzzleSource::from_short_name("turnstyle-12").expect("a puzzle"), PuzzleSource::Turnstyle { size: 12 });
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
        let source = PuzzleSource::Turnstyle { size: 8 };
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
