//! `farthest spot-solve DIR`: solves the sampled states of a complete run anew, from both ends, and
//! compares the lengths with their depths.

use super::solve::memory_limit;
use crate::base::ids::{low_u32, to_u64};
use crate::base::readable::counted;
use crate::base::shown::shown_path;
use crate::base::{Error, Result, StateRank};
use crate::evidence::later_checks::record_spot_solve;
use crate::evidence::listed_states::listed_samples;
use crate::evidence::manifest_file::SpotSolve;
use crate::families::run_folder;
use crate::puzzle::Puzzle;
use crate::search::shortest::{Ball, BothWays, MemoryLimit, around_start};
use crate::search::{LeftBehind, RunFolder};
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `spot-solve`.
#[derive(Clone, Debug, Args)]
pub struct SpotSolveArguments {
    /// The run folder of a complete run
    pub folder: PathBuf,
    /// Most memory for the search, such as 8G or 500M (powers of 1,024) [default: half of what is
    /// free]
    #[arg(long, value_name = "BYTES", value_parser = super::arguments::parse_bytes)]
    pub memory: Option<u64>,
    /// The most states to solve of each level
    #[arg(long, value_name = "M", default_value_t = 4)]
    pub most: usize,
}

/// Solves the samples of a run, whose folder is locked meanwhile, prints a line a depth, and
/// records the outcome in `manifest.json`.
///
/// # Errors
/// `CheckFailed` when a shortest word is not as long as the state is deep; when the run is damaged
/// or has no samples; `Config` when nothing fits the memory.
pub fn spot_solve(arguments: &SpotSolveArguments) -> Result<()> {
    let folder = arguments.folder.as_path();
    let run = RunFolder::new(folder);
    // Read before anything is written: a folder without a run stays as it is.
    let puzzle = run_folder::read(folder)?.puzzle;
    let _lock = run.lock(LeftBehind::Break)?;
    run.remove_temporaries()?;
    let mut samples: BTreeMap<usize, Vec<StateRank>> = BTreeMap::new();
    for (depth, rank) in listed_samples(folder, &puzzle)? {
        let sample = samples.entry(depth).or_default();
        if sample.len() < arguments.most {
            sample.push(rank);
        }
    }
    let outcome = solve_all(&puzzle, &samples, memory_limit(arguments.memory))?;
    let evidence = record_spot_solve(folder, run_folder::configured, outcome.clone())?;
    if let Some(difference) = outcome.difference {
        return Err(Error::CheckFailed(format!("{}: {difference}; the run is now marked as {evidence}", folder.display())));
    }
    let are = if outcome.states == 1 { "is" } else { "are" };
    let too_large = format!("{} {}", counted(outcome.too_large, "state"), if outcome.too_large == 1 { "was" } else { "were" });
    println!(
        "{}: {}, to depth {}, {are} as deep as the run says{}; evidence: {evidence}",
        shown_path(folder),
        counted(outcome.states, "state"),
        outcome.deepest,
        if outcome.too_large == 0 { String::new() } else { format!("; {too_large} too far for the memory") },
    );
    Ok(())
}

fn solve_all(puzzle: &Puzzle, samples: &BTreeMap<usize, Vec<StateRank>>, limit: MemoryLimit) -> Result<SpotSolve> {
    let since = Instant::now();
    let moves = BothWays::of(puzzle)?;
    let starts = puzzle.starts().iter().filter_map(|start| moves.forward.rank(start)).collect();
    let mut core = Ball::around(&moves.forward, starts, moves.inverse_closed);
    let (mut states, mut too_large, mut deepest, mut difference) = (0, 0, 0, None);
    'all: for (&depth, sample) in samples {
        // The balls from both ends are equally large; this one is kept for the depths to come.
        while core.radius() < depth.div_ceil(2) && !core.last().is_empty() {
            if core.grow(MemoryLimit { bytes: limit.bytes / 2 }, 0).is_err() {
                break;
            }
        }
        let before = states;
        for &rank in sample {
            match around_start::distance(&core, &moves.backward, moves.inverse_closed, rank.0, limit) {
                Ok(Some(found)) if found == depth => states += 1,
                Ok(found) => {
                    let found = found.map_or_else(|| "cannot be reached".into(), |found| format!("has a shortest word of {found} moves"));
                    difference = Some(format!("state {rank}, of depth {depth} in samples.tsv, {found}"));
                    break 'all;
                }
                Err(Error::Config { .. }) => too_large += 1,
                Err(error) => return Err(error),
            }
        }
        println!("depth {depth}: {} of {} solved, as deep as stated", states - before, sample.len());
        if states > before {
            deepest = low_u32(to_u64(depth));
        }
    }
    if samples.is_empty() {
        return Err(Error::config(
            "found no state in samples.tsv, expected some of every level; the run was made by a version without samples: run again",
        ));
    }
    if states == 0 && difference.is_none() {
        return Err(Error::config(format!("found {too_large} samples and no memory to solve one, expected some; raise --memory")));
    }
    Ok(SpotSolve {
        difference,
        states,
        deepest,
        too_large,
        date: jiff::Timestamp::now().to_string(),
        program_version: env!("CARGO_PKG_VERSION").into(),
        seconds: since.elapsed().as_secs_f64(),
    })
}
