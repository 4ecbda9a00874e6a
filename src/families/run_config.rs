//! The configuration of a run: a puzzle, a metric, and how to search. Read from a file or a short
//! name, echoed to the run folder.
//!
//! ```toml
//! puzzle = "../puzzles/turnstyle-12.toml"   # a file relative to this one, a short name, or a table [puzzle]
//! metric = "step"
//! direction = "to"             # or "from": which distances are counted, where moves cannot be undone by moves
//!
//! [search]
//! checkpoint_seconds = 60      # at least, between commits, which take at most a tenth of the time; 0 commits every level
//! keep_levels = false          # archive every level
//! leading_positions = 2        # positions whose digits select the shard; left out: chosen
//! most_antipodes = 1000        # antipodes listed
//! round_kib = 16384            # successors held between two exchanges, in KiB
//! exchange_kib = 65536         # most sent to one process in one message, in KiB
//! share_memory = true          # processes of one host read each other's scratch files instead of exchanging lanes
//! shared_filesystem = true     # all hosts see the run folder; false: each has its own at the same path, on a disk that the others need not see
//! storage = "auto"             # or "memory"; "files", which processes of one host share; "compact": what is seen in memory, levels compressed in files, half the memory
//! expansion = "auto"           # or "states", "lanes", "unseen": how levels are expanded
//! ```
//! A puzzle's own file is a run configuration, too: everything else has a default.

use super::{PuzzleSource, reading};
use crate::base::config_text::{ConfigTable, StringOrTable};
use crate::base::ids::{low_u32, to_usize};
use crate::base::{Error, Result};
use crate::evidence::certificates::CertifiedPuzzle;
use crate::puzzle::Puzzle;
use crate::ranking::Partition;
use crate::ranking::StateSpace;
use crate::search::expansion_choice::{AUTO, ExpansionChoice};
use crate::store::Storage;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The words for the storage, the one that leaves it to the program first.
pub const STORAGES: [&str; 4] = [AUTO, Storage::ALL[0].name(), Storage::ALL[1].name(), Storage::ALL[2].name()];

/// How to search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchConfig {
    /// Seconds between commits, at least; 0 commits every level.
    pub checkpoint_seconds: u64,
    /// Whether levels are archived.
    pub keep_levels: bool,
    /// Positions whose digits select the shard; `None` lets the program choose.
    pub leading_positions: Option<u32>,
    /// Antipodes listed.
    pub most_antipodes: usize,
    /// Successors held between two exchanges, in KiB.
    pub round_kib: u64,
    /// Most sent to one process in one message, in KiB.
    pub exchange_kib: u64,
    /// Whether processes of one host read each other's scratch files.
    pub share_memory: bool,
    /// Whether all hosts see one run folder.
    pub shared_filesystem: bool,
    /// Where sets are kept; none where the program chooses what fits.
    pub storage: Option<Storage>,
    /// How levels are expanded.
    pub expansion: ExpansionChoice,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            checkpoint_seconds: 60,
            keep_levels: false,
            leading_positions: None,
            most_antipodes: 1_000,
            round_kib: 16_384,
            exchange_kib: 65_536,
            share_memory: true,
            shared_filesystem: true,
            storage: None,
            expansion: ExpansionChoice::Auto,
        }
    }
}

impl SearchConfig {
    /// Levels are archived in one folder only: those who read them must find all parts of a level
    /// there.
    ///
    /// # Errors
    /// A message when they are to be archived on the disks of many hosts.
    pub fn check_archive(&self) -> std::result::Result<(), String> {
        if self.keep_levels && !self.shared_filesystem {
            return Err("found shared_filesystem = false together with keep_levels, expected one of the two; archive levels in a folder that all hosts see".into());
        }
        Ok(())
    }
}

/// Which distances a search counts. It makes a difference for directed puzzles only: those with a
/// move that no move undoes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedDistance {
    /// From a state to the solved one: how many moves it takes to solve it.
    ToSolved,
    /// From the solved state to another.
    FromSolved,
}

impl CountedDistance {
    /// The words of the configuration.
    pub const NAMES: [&str; 2] = ["to", "from"];

    /// The one that a word of [`CountedDistance::NAMES`] stands for.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::ToSolved, Self::FromSolved].into_iter().find(|direction| direction.name() == name)
    }

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToSolved => "to",
            Self::FromSolved => "from",
        }
    }

    /// What is counted.
    #[must_use]
    pub fn explained(self) -> &'static str {
        match self {
            Self::ToSolved => "moves to the solved state",
            Self::FromSolved => "moves from the solved state",
        }
    }
}

/// A run as configured.
#[derive(Clone, Debug, PartialEq)]
pub struct RunConfig {
    /// The puzzle.
    pub puzzle: PuzzleSource,
    /// The metric.
    pub metric: String,
    /// Which distances are counted; none where it makes no difference, or nobody has said.
    pub direction: Option<CountedDistance>,
    /// How to search.
    pub search: SearchConfig,
}

impl RunConfig {
    /// Reads `name`: a file, or the short name of a puzzle.
    ///
    /// # Errors
    /// `Config` naming file, line, column and field; `Io` when the file cannot be read.
    pub fn load(name: &Path) -> Result<Self> {
        // A folder of a puzzle's results may have the puzzle's short name.
        let is_there = name.exists() && !name.is_dir();
        if is_there || name.extension().is_some_and(|extension| extension == "toml") {
            return Self::read(ConfigTable::read(name)?, name.parent());
        }
        let puzzle = reading::resolve(name, None)?;
        let metric = puzzle.default_metric();
        Ok(Self { puzzle, metric, direction: None, search: SearchConfig::default() })
    }

    /// [`RunConfig::load`], with another metric when one is given.
    ///
    /// # Errors
    /// As [`RunConfig::load`]; that the puzzle has the metric is seen when it is built.
    pub fn load_in(name: &Path, metric: Option<&String>) -> Result<Self> {
        let mut config = Self::load(name)?;
        if let Some(metric) = metric {
            config.metric.clone_from(metric);
        }
        Ok(config)
    }

    /// Reads `text`, which another process read from `name`.
    ///
    /// # Errors
    /// As [`RunConfig::load`].
    pub fn of_text(name: &Path, text: &str) -> Result<Self> {
        Self::read(ConfigTable::parse(&name.display().to_string(), text)?, name.parent())
    }

    /// [`RunConfig::of_text`] for the `run.toml` in the folder of a run. Earlier versions always
    /// counted from the solved state, and wrote nothing about it.
    ///
    /// # Errors
    /// As [`RunConfig::load`].
    pub fn of_run(path: &Path, text: &str) -> Result<Self> {
        Self::of_text(path, text).map(Self::with_the_old_direction)
    }

    /// [`RunConfig::of_run`] of a file.
    ///
    /// # Errors
    /// As [`RunConfig::load`].
    pub fn load_run(path: &Path) -> Result<Self> {
        Self::read(ConfigTable::read(path)?, path.parent()).map(Self::with_the_old_direction)
    }

    fn with_the_old_direction(mut self) -> Self {
        self.direction.get_or_insert(CountedDistance::FromSolved);
        self
    }

    /// Builds the puzzle as it is searched, from the solved state on: of a directed puzzle whose
    /// distances to the solved state are counted, the inverted one. Settles the direction: none
    /// where every move is undone by a move; else the one asked for, or the family's usual one.
    ///
    /// # Errors
    /// `Config` when the puzzle cannot be built, or was to be searched against moves that lose what
    /// a cell held.
    pub fn settle(&mut self) -> Result<Puzzle> {
        let puzzle = self.puzzle.build(&self.metric)?;
        if puzzle.is_inverse_closed() {
            self.direction = None;
            return Ok(puzzle);
        }
        let usual = if self.puzzle.starts_solved() { CountedDistance::ToSolved } else { CountedDistance::FromSolved };
        match *self.direction.get_or_insert(usual) {
            CountedDistance::FromSolved => Ok(puzzle),
            CountedDistance::ToSolved => puzzle.inverted().map_err(|name| {
                Error::config(format!(
                    "puzzle {}: found direction \"to\", and the move {name}, which loses what a cell held: nothing leads back to the start; \
                     use direction \"from\"",
                    puzzle.name()
                ))
            }),
        }
    }

    /// How the certificate of the run's distances names the puzzle, once the direction is settled.
    ///
    /// # Errors
    /// `Config` when certificates cannot name it.
    pub fn certified(&self) -> Result<CertifiedPuzzle> {
        let puzzle = self.puzzle.certified(&self.metric)?;
        Ok(if self.direction == Some(CountedDistance::ToSolved) { puzzle.to_solved() } else { puzzle })
    }

    fn read(mut table: ConfigTable, folder: Option<&Path>) -> Result<Self> {
        let puzzle = match table.optional_string_or_table("puzzle")? {
            Some(StringOrTable::String(name)) => reading::resolve(&name, folder).map_err(|error| match error {
                // A message of the named file has its own place.
                Error::Config(message) if !message.contains(".toml:") => table.place_of("puzzle").error(message),
                Error::Config(message) => Error::Config(message),
                other => table.place_of("puzzle").error(other),
            })?,
            Some(StringOrTable::Table(puzzle)) => reading::puzzle_table(puzzle)?,
            None => reading::puzzle(&mut table)?,
        };
        let metric = match table.optional_string("metric")? {
            Some(metric) => {
                puzzle.check_metric(&metric).map_err(|error| table.place_of("metric").error(error))?;
                metric
            }
            None => puzzle.default_metric(),
        };
        let direction = table.optional_choice("direction", &CountedDistance::NAMES)?.and_then(|name| CountedDistance::of_name(&name));
        let mut search = SearchConfig::default();
        if let Some(mut keys) = table.optional_table("search")? {
            if let Some(seconds) = keys.optional_integer("checkpoint_seconds", 0..=31_536_000)? {
                search.checkpoint_seconds = seconds;
            }
            if let Some(keep) = keys.optional_bool("keep_levels")? {
                search.keep_levels = keep;
            }
            let place = keys.place_of("leading_positions");
            search.leading_positions = keys.optional_integer("leading_positions", 0..=15)?.map(low_u32);
            if search.leading_positions.is_some() {
                partition_of(&puzzle.build(&metric)?, search.leading_positions).map_err(|error| place.error(error))?;
            }
            if let Some(most) = keys.optional_integer("most_antipodes", 0..=1_000_000)? {
                search.most_antipodes = to_usize(most);
            }
            if let Some(kib) = keys.optional_integer("round_kib", 1..=4_194_304)? {
                search.round_kib = kib;
            }
            if let Some(kib) = keys.optional_integer("exchange_kib", 1..=65_536)? {
                search.exchange_kib = kib;
            }
            if let Some(share) = keys.optional_bool("share_memory")? {
                search.share_memory = share;
            }
            let place = keys.place_of("shared_filesystem");
            if let Some(shared) = keys.optional_bool("shared_filesystem")? {
                search.shared_filesystem = shared;
            }
            search.check_archive().map_err(|message| place.error(message))?;
            if let Some(name) = keys.optional_choice("storage", &STORAGES)? {
                search.storage = Storage::of_name(&name);
            }
            if let Some(name) = keys.optional_choice("expansion", &ExpansionChoice::NAMES)? {
                search.expansion = ExpansionChoice::of_name(&name).unwrap_or(search.expansion);
            }
            keys.finish()?;
        }
        table.finish()?;
        Ok(Self { puzzle, metric, direction, search })
    }

    /// The run folder when the user names none.
    #[must_use]
    pub fn default_folder(&self) -> PathBuf {
        Path::new("runs").join(self.puzzle.name()).join(&self.metric)
    }

    /// The effective configuration as text that reads back as itself.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let search = &self.search;
        let mut text = format!("metric = {}\n", quoted(&self.metric));
        if let Some(direction) = self.direction {
            let _ = writeln!(text, "direction = {}", quoted(direction.name()));
        }
        let _ = writeln!(text, "{}\n[search]", self.puzzle.to_toml());
        let _ = writeln!(text, "checkpoint_seconds = {}", search.checkpoint_seconds);
        let _ = writeln!(text, "keep_levels = {}", search.keep_levels);
        if let Some(positions) = search.leading_positions {
            let _ = writeln!(text, "leading_positions = {positions}");
        }
        let _ = writeln!(text, "most_antipodes = {}", search.most_antipodes);
        let _ = writeln!(text, "round_kib = {}\nexchange_kib = {}", search.round_kib, search.exchange_kib);
        let _ = writeln!(text, "share_memory = {}", search.share_memory);
        let _ = writeln!(text, "shared_filesystem = {}", search.shared_filesystem);
        let storage = search.storage.map_or_else(|| AUTO.to_owned(), |storage| storage.to_string());
        let _ = writeln!(text, "storage = {}", quoted(&storage));
        let _ = writeln!(text, "expansion = {}", quoted(&search.expansion.to_string()));
        text
    }

    /// The settings that a resumed run must share with the run it resumes.
    #[must_use]
    pub fn fixed_settings(&self) -> BTreeMap<String, String> {
        let mut settings = BTreeMap::from([
            ("keep_levels".to_owned(), self.search.keep_levels.to_string()),
            ("most_antipodes".to_owned(), self.search.most_antipodes.to_string()),
        ]);
        // Checkpoints of earlier versions, which always counted from the solved state, say nothing of it.
        if self.direction == Some(CountedDistance::ToSolved) {
            settings.insert("direction".into(), CountedDistance::ToSolved.name().into());
        }
        settings
    }
}

/// The cut of the puzzle's space into shards.
///
/// # Errors
/// `Config` when the space is too large, or the wanted cut impossible.
pub fn partition_of(puzzle: &Puzzle, leading_positions: Option<u32>) -> Result<Partition> {
    StateSpace::of(puzzle).cut(leading_positions)
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<RunConfig> {
        RunConfig::read(ConfigTable::parse("run.toml", text)?, None)
    }

    #[test]
    fn the_echo_reads_back_as_itself() {
        for text in [
            "puzzle = \"turnstyle-12\"",
            "family = \"turnstyle\"\nsize = 9\nmetric = \"flip\"",
            "puzzle = \"turnstyle-12\"\n[search]\nkeep_levels = true\nleading_positions = 1\nround_kib = 5",
            "puzzle = \"turnstyle-12\"\n[search]\nshared_filesystem = false",
            "[puzzle]\nfamily = \"permutations\"\nname = \"toy\"\npositions = 3\n[[puzzle.generators]]\nname = \"A\"\nimages = [1, 2, 0]\n[[puzzle.generators]]\nname = \"B\"\ncycles = \"(0 1)\"",
        ] {
            let first = config(text).expect("valid");
            let echo = first.to_toml();
            assert_eq!(config(&echo).unwrap_or_else(|error| panic!("{error}\n{echo}")), first, "{echo}");
        }
    }

    #[test]
    fn errors_name_place_and_field() {
        let message = |text: &str| config(text).expect_err("wrong").to_string();
        let error = message("puzzle = \"turnstyle-12\"\n[search]\nkeep_level = true\n");
        assert!(error.starts_with("run.toml:3:1: ") && error.contains("keep_levels"), "{error}");
        let error = message("puzzle = \"turnstile-12\"\n");
        assert!(error.starts_with("run.toml:1:") && error.contains("turnstyle-12"), "{error}");
    }
}
