//! `farthest export`: a puzzle, or a complete run, for another program to check.

use super::arguments::ExportArguments;
use super::prepared::states_of;
use crate::base::{Error, Result, atomic_file};
use crate::evidence::gap::{self, RunClaims};
use crate::evidence::{dataset, listed_states};
use crate::families::run_config::RunConfig;
use crate::families::run_folder;
use crate::puzzle::Puzzle;
use crate::ranking::StateSpace;
use std::path::Path;

/// Largest space that is searched for words to the antipodes of a run, in ranks: 32 MB and some
/// seconds.
const MOST_RANKS_FOR_WORDS: u64 = 1 << 25;

/// Antipodes of a run that words are written for.
const MOST_WORDS: usize = 20;

/// Writes the script for GAP: what the puzzle claims, and in the folder of a complete run what the
/// run claims.
///
/// # Errors
/// As for a run of the puzzle; `BadData` when the run is damaged, `Io` when the file cannot be
/// written.
pub fn export(arguments: &ExportArguments) -> Result<()> {
    let folder = Some(arguments.puzzle.as_path()).filter(|path| path.is_dir());
    let mut config = match folder {
        Some(folder) if !dataset::is_complete(folder) => {
            return Err(Error::config(format!(
                "{}: found a folder without a complete run, expected a run folder or a puzzle",
                folder.display()
            )));
        }
        Some(folder) => run_folder::read_with_configuration(folder)?.1,
        None => RunConfig::load(&arguments.puzzle)?,
    };
    if let Some(metric) = &arguments.metric {
        match folder {
            Some(folder) if *metric != config.metric => {
                return Err(Error::Usage(format!("--metric {metric}: the run in {} is in metric {}", folder.display(), config.metric)));
            }
            _ => config.metric.clone_from(metric),
        }
    }
    let puzzle = config.puzzle.build(&config.metric)?;
    let (states, run) = match folder {
        Some(folder) => claims_of(folder, &puzzle).map(|(states, run)| (Some(states), Some(run)))?,
        None => (states_of(&puzzle)?, None),
    };
    let text = gap::script(&puzzle, states, run.as_ref())?;
    match &arguments.out {
        Some(path) => atomic_file::write(path, text.as_bytes()),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// What the run in `folder` claims: its states, and the rest.
fn claims_of(folder: &Path, puzzle: &Puzzle) -> Result<(u64, RunClaims)> {
    let found = run_folder::read(folder)?;
    let ranks = listed_states::listed_antipodes(folder, puzzle)?;
    let space = StateSpace::of(puzzle);
    let mut words = gap::shortest_words(puzzle, &ranks[..ranks.len().min(MOST_WORDS)], MOST_RANKS_FOR_WORDS)?;
    words.resize(ranks.len(), None);
    let antipodes = ranks.into_iter().map(|rank| space.unrank(rank)).zip(words).collect();
    Ok((found.summary.states, RunClaims { distribution: found.distribution, antipodes }))
}
