//! `farthest export`: a puzzle, or a complete run, as a file for another program.

use super::arguments::ExportArguments;
use super::prepared::states_of;
use crate::base::{Error, Result, atomic_file};
use crate::evidence::dataset::{self, Dataset};
use crate::evidence::exporters::{self, Exported, RunClaims};
use crate::evidence::listed_states;
use crate::families::run_config::{CountedDistance, RunConfig};
use crate::families::run_folder;
use crate::puzzle::{Puzzle, State};
use crate::ranking::StateSpace;
use crate::search::shortest::{MemoryLimit, solve};
use std::path::Path;

/// Antipodes of a run that words are written for.
const MOST_WORDS: usize = 20;

/// What the balls around both ends of a word may take. They hold about the square root of the
/// states that a run has.
const WORD_MEMORY: MemoryLimit = MemoryLimit { bytes: 1 << 30 };

/// Writes what a puzzle claims, and in the folder of a complete run what the run claims.
///
/// # Errors
/// As for a run of the puzzle; `BadData` when the run is damaged, `Io` when the file cannot be
/// written.
pub fn export(arguments: &ExportArguments) -> Result<()> {
    let exporter = exporters::named(&arguments.format)
        .ok_or_else(|| Error::Usage(format!("{}: found an unknown format; farthest export --help lists them", arguments.format)))?;
    let text = exporter.text(&exported(arguments)?)?;
    match &arguments.out {
        Some(path) => atomic_file::write(path, text.as_bytes()),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}

/// The puzzle or run that the arguments name.
fn exported(arguments: &ExportArguments) -> Result<Exported> {
    let path = arguments.puzzle.as_path();
    if !path.is_dir() {
        let mut config = RunConfig::load(path)?;
        if let Some(metric) = &arguments.metric {
            config.metric.clone_from(metric);
        }
        let puzzle = config.puzzle.build(&config.metric)?;
        return Ok(Exported { states: states_of(&puzzle)?, puzzle, run: None });
    }
    if !dataset::is_complete(path) {
        return Err(Error::config(format!("{}: found a folder without a complete run, expected a run folder or a puzzle", path.display())));
    }
    let (found, config) = run_folder::read_with_configuration(path)?;
    if let Some(metric) = arguments.metric.as_ref().filter(|&metric| *metric != config.metric) {
        return Err(Error::Usage(format!("--metric {metric}: the run in {} is in metric {}", path.display(), config.metric)));
    }
    let puzzle = config.puzzle.build(&config.metric)?;
    Ok(Exported { puzzle, states: Some(found.summary.states), run: Some(claims_of(path, &config, found)?) })
}

/// What the run in `folder` claims beside its states.
fn claims_of(folder: &Path, config: &RunConfig, found: Dataset) -> Result<RunClaims> {
    let puzzle = &found.puzzle;
    let space = StateSpace::of(puzzle);
    let antipodes = listed_states::listed_antipodes(folder, puzzle)?.into_iter().enumerate().map(|(number, rank)| {
        let state = space.unrank(rank);
        let word = if number < MOST_WORDS { shortest_word(puzzle, &state)? } else { None };
        Ok((state, word))
    });
    let mut antipodes: Vec<(State, Option<Vec<usize>>)> = antipodes.collect::<Result<_>>()?;
    let is_to_start = config.direction == Some(CountedDistance::ToSolved);
    if is_to_start {
        // The puzzle that was searched undoes the moves of the one that is exported.
        antipodes.iter_mut().filter_map(|(_, word)| word.as_mut()).for_each(|word| word.reverse());
    }
    Ok(RunClaims { distribution: found.distribution, is_to_start, antipodes })
}

/// A shortest word from a start to `state`; none when the balls do not fit in [`WORD_MEMORY`].
fn shortest_word(puzzle: &Puzzle, state: &State) -> Result<Option<Vec<usize>>> {
    let mut shortest: Option<Vec<usize>> = None;
    for start in puzzle.starts() {
        let solution = match solve(puzzle, start, std::slice::from_ref(state), WORD_MEMORY, 1) {
            // A word may be shorter from the start whose balls do not fit.
            Err(Error::Config(_)) => return Ok(None),
            solution => solution?,
        };
        let word = solution.and_then(|solution| solution.words.into_iter().next());
        if word.as_ref().is_some_and(|word| shortest.as_ref().is_none_or(|shortest| word.len() < shortest.len())) {
            shortest = word;
        }
    }
    Ok(shortest)
}
