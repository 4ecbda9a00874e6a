//! Puzzles by short name.

use super::names::is_reserved;
use super::reading::shipped_source;
use super::registry::FAMILIES;
use super::{PuzzleSource, shipped};
use crate::base::config_text::{nearest, shown_text};
use crate::base::{Error, Result};

impl PuzzleSource {
    /// The puzzle of a short name: `turnstyle-12`, `rotation-board-3x4n2` (rows x columns),
    /// `3x4n2` (rows x columns), Twiddle's `twiddle:4x3n2` (width x height), or a shipped puzzle.
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
            return shipped_source(puzzle);
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
