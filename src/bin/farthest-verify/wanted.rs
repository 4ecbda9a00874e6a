//! `--puzzle`: the puzzle that the user wants a claim about. Rules are compared, not only names. A
//! built-in name stands for the rules that are built in; a file stands for the rules in it. The
//! name of anyone else's puzzle stands for no rules, so the claim prints them.

use crate::config::{Config, Rules, is_reserved};
use crate::limits::{Checked, Limits, refuted, shown, unreadable};
use crate::puzzle::Puzzle;
use crate::records::shown_path;
use crate::sources;
use std::path::Path;

/// What the user asked for with `--puzzle`.
pub enum Wanted {
    /// A built-in puzzle, in this metric or in any.
    Known { name: String, metric: Option<String> },
    /// The name of a puzzle that is not built in.
    Own { name: String, metric: Option<String> },
    /// A file with the rules.
    File(Box<Config>),
}

impl Wanted {
    /// Parses `NAME`, `NAME/METRIC`, `FILE.toml` or `FILE.toml/METRIC`.
    pub fn parse(text: &str, limits: &Limits) -> Checked<Self> {
        let is_file = |text: &str| text.ends_with(".toml");
        let (name, metric) = match text.rsplit_once('/') {
            Some((name, metric)) if !is_file(text) => (name, Some(metric.to_owned())),
            _ => (text, None),
        };
        if is_file(name) {
            let path = Path::new(name);
            let text = sources::text_of(path, limits)?;
            return Config::parse(&shown_path(path), &text, metric, limits).map(|config| Self::File(Box::new(config)));
        }
        // Accepts the short form of a board's name, too.
        let measures = name.strip_prefix("rotation-").filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
        let name = measures.map_or_else(|| name.to_owned(), |measures| format!("rotation-board-{measures}"));
        if !is_reserved(&name) {
            return Ok(Self::Own { name, metric });
        }
        let wanted = Self::Known { name, metric };
        wanted.check_exists(text, limits)?;
        Ok(wanted)
    }

    fn check_exists(&self, text: &str, limits: &Limits) -> Checked<()> {
        let Self::Known { name, metric } = self else { return Ok(()) };
        let metrics = metric.as_ref().map_or_else(|| vec!["step", "quarter"], |metric| vec![metric.as_str()]);
        let exists = metrics.into_iter().any(|metric| known(name, metric, limits).is_some());
        if exists { Ok(()) } else { Err(unreadable("--puzzle", shown(text), "a puzzle such as turnstyle-12/step, or a file")) }
    }

    /// Refutes a claim about another puzzle. The rules must agree, and name and metric where the
    /// claim has them.
    pub fn check(&self, place: &str, name: Option<(&str, &str)>, rules: &Puzzle, limits: &Limits) -> Checked<()> {
        let refuse = |expected: String| Err(refuted(place, format!("a claim about {}", rules.named()), format!("one about {expected}")));
        match self {
            Self::Known { name, metric } => {
                let metric = metric.as_deref().or(rules.known.as_ref().map(|(_, metric)| metric.as_str())).unwrap_or_default();
                match known(name, metric, limits) {
                    Some(puzzle) if puzzle.has_rules_of(rules) => Ok(()),
                    _ => refuse(format!("{name} ({metric})")),
                }
            }
            Self::Own { name: wanted, metric } => match name {
                Some((name, found)) if name == wanted && metric.as_ref().is_none_or(|metric| metric == found) => Ok(()),
                _ => refuse(format!("{} (for a certificate alone, give --puzzle a file with the rules)", shown(wanted))),
            },
            Self::File(config) => match &config.rules {
                Rules::Places(puzzle) if puzzle.has_rules_of(rules) => Ok(()),
                _ => refuse(config.rules.named(&config.title())),
            },
        }
    }

    /// The same check for a run. Its rules may be known only as planes.
    pub fn check_run(&self, place: &str, config: &Config, limits: &Limits) -> Checked<()> {
        let name = Some((config.name.as_str(), config.metric.as_str()));
        match &config.rules {
            Rules::Places(puzzle) => self.check(place, name, puzzle, limits),
            Rules::Planes(planes) => {
                let is_wanted = match self {
                    Self::Known { .. } => false,
                    Self::Own { name, metric } => *name == config.name && metric.as_ref().is_none_or(|metric| *metric == config.metric),
                    Self::File(file) => matches!(&file.rules, Rules::Planes(rules) if rules.is_same(planes)),
                };
                if is_wanted {
                    Ok(())
                } else {
                    Err(refuted(
                        place,
                        format!("a claim about {}", config.rules.named(&config.title())),
                        "one about the puzzle of --puzzle",
                    ))
                }
            }
        }
    }
}

/// The rules of the built-in puzzle with this name and metric; none when there is no such puzzle.
fn known(name: &str, metric: &str, limits: &Limits) -> Option<Puzzle> {
    if let Some(size) = name.strip_prefix("turnstyle-") {
        return Puzzle::turnstyle(size.parse().ok()?, metric);
    }
    let (rows, rest) = name.strip_prefix("rotation-board-")?.split_once('x')?;
    let (columns, block) = rest.split_once('n')?;
    let measures = [rows.parse().ok()?, columns.parse().ok()?, block.parse().ok()?];
    Puzzle::rotation_board(measures, metric, "--puzzle", limits).ok()
}
