//! `farthest spot-solve DIR`: solves the sampled states of a complete run anew, from both ends, and compares the lengths with their depths.

use super::run_config::RunConfig;
use super::solve::memory_limit;
use crate::base::ids::to_u64;
use crate::base::{Error, Result, StateRank};
use crate::evidence::dataset;
use crate::evidence::manifest_file::{SpotSolve, record_spot_solve};
use crate::puzzle::Puzzle;
use crate::search::shortest::{Ball, BothWays, MemoryLimit, around_start};
use clap::Args;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `spot-solve`.
#[derive(Clone, Debug, Args)]
pub struct SpotSolveArguments {
    /// A complete run
    pub folder: PathBuf,
    /// Memory for the balls [default: half of what is free]
    #[arg(long, value_name = "BYTES", value_parser = super::arguments::parse_bytes)]
    pub memory: Option<u64>,
    /// Most states of a level to solve
    #[arg(long, value_name = "M", default_value_t = 4)]
    pub most: usize,
}

/// What became of the samples of one depth.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    solved: u64,
    too_large: u64,
}

/// Solves the samples, prints a line a depth, and records the outcome in `manifest.json`.
///
/// # Errors
/// `CheckFailed` when a shortest word is not as long as the state is deep; when the run is damaged or has no samples; `Config` when nothing fits the memory.
pub fn spot_solve(arguments: &SpotSolveArguments) -> Result<()> {
    let folder = arguments.folder.as_path();
    let dataset = dataset::read(folder)?;
    let config = RunConfig::load(&folder.join("run.toml"))?;
    let puzzle = config.puzzle.build(&config.metric)?;
    if dataset.summary.puzzle_digest != puzzle.digest() {
        return Err(Error::bad_data(
            &folder.join("run.toml"),
            "another puzzle",
            format!("the puzzle of digest {}", dataset.summary.puzzle_digest),
            "restore the file",
        ));
    }
    let mut samples: BTreeMap<usize, Vec<StateRank>> = BTreeMap::new();
    for (depth, rank) in dataset::listed_samples(folder, &puzzle)? {
        let sample = samples.entry(depth).or_default();
        if sample.len() < arguments.most {
            sample.push(rank);
        }
    }
    let since = Instant::now();
    let outcome = solve_all(&puzzle, &samples, memory_limit(arguments.memory))?;
    let record = SpotSolve {
        difference: outcome.difference.clone(),
        states: outcome.solved,
        deepest: outcome.deepest,
        too_large: outcome.too_large,
        date: jiff::Timestamp::now().to_string(),
        program_version: env!("CARGO_PKG_VERSION").into(),
        seconds: since.elapsed().as_secs_f64(),
    };
    let evidence = record_spot_solve(folder, record)?;
    if let Some(difference) = outcome.difference {
        return Err(Error::CheckFailed(format!("{}: {difference}; the run is now marked as disputed", folder.display())));
    }
    println!(
        "{}: {} states, to depth {}, are as deep as the run says{}; evidence: {evidence}",
        folder.display(),
        outcome.solved,
        outcome.deepest,
        if outcome.too_large == 0 { String::new() } else { format!("; {} were too far for the memory", outcome.too_large) },
    );
    Ok(())
}

/// What became of all samples.
#[derive(Clone, Debug, Default)]
struct Outcome {
    solved: u64,
    deepest: u32,
    too_large: u64,
    difference: Option<String>,
}

fn solve_all(puzzle: &Puzzle, samples: &BTreeMap<usize, Vec<StateRank>>, limit: MemoryLimit) -> Result<Outcome> {
    let moves = BothWays::of(puzzle)?;
    let starts = puzzle.starts().iter().filter_map(|start| moves.forward.rank(start)).collect();
    let mut core = Ball::around(&moves.forward, starts, moves.inverse_closed);
    let mut outcome = Outcome::default();
    for (&depth, sample) in samples {
        // The balls from both ends are equally large; this one is kept for the depths to come.
        while core.radius() < depth.div_ceil(2) && !core.last().is_empty() {
            if core.grow(MemoryLimit { bytes: limit.bytes / 2 }, 0).is_err() {
                break;
            }
        }
        let mut tally = Tally::default();
        for &rank in sample {
            match around_start::distance(&core, &moves.backward, moves.inverse_closed, rank.0, limit) {
                Ok(Some(found)) if found == depth => tally.solved += 1,
                Ok(found) => {
                    let found = found.map_or_else(|| "cannot be reached".into(), |found| format!("has a shortest word of {found} moves"));
                    outcome.difference = Some(format!("state {rank}, of depth {depth} in samples.tsv, {found}"));
                    return Ok(outcome);
                }
                Err(Error::Config { .. }) => tally.too_large += 1,
                Err(error) => return Err(error),
            }
        }
        println!("depth {depth}: {} of {} solved, as deep as stated", tally.solved, to_u64(sample.len()));
        outcome.solved += tally.solved;
        outcome.too_large += tally.too_large;
        if tally.solved > 0 {
            outcome.deepest = crate::base::ids::low_u32(to_u64(depth));
        }
    }
    if outcome.solved == 0 {
        return Err(Error::config(format!(
            "found {} samples and no memory to solve one, expected some; raise --memory",
            outcome.too_large
        )));
    }
    Ok(outcome)
}
