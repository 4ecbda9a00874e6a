//! The files of a complete run: written whole, synced, and read back. The formats are in the README of this layer.

use crate::base::{Error, Result, atomic_file};
use crate::puzzle::Puzzle;
use crate::ranking::StateSpace;
use crate::search::{LevelRecord, Outcome};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Version of the files of a run folder.
pub const FORMAT: u32 = 1;

/// The results, as in `summary.json`. No times, no hosts: the same for every way to run the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// Short name of the puzzle.
    pub puzzle: String,
    /// The metric.
    pub metric: String,
    /// States reached.
    pub states: u64,
    /// Greatest depth.
    pub gods_number: u32,
    /// States of that depth.
    pub antipodes: u64,
    /// How many of them `antipodes.tsv` lists: all, or those of lowest rank.
    pub antipodes_listed: u64,
    /// Mean depth of all states, to six decimals.
    pub mean_depth: f64,
    /// Identifies the levels with their states.
    pub fingerprint: String,
    /// States that the group's order promises; equal to `states`.
    pub states_by_group_order: u64,
    /// Identifies the compiled puzzle.
    pub puzzle_digest: String,
    /// How far the numbers were checked: "single run", "rechecked" or "certified".
    pub evidence: String,
}

/// How a run was made, as in `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The command line of the last session.
    pub command: Vec<String>,
    /// blake3 of `run.toml`.
    pub config_digest: String,
    /// Version of the program.
    pub program_version: String,
    /// Compiler that built it, and its features.
    pub build: String,
    /// The transport between processes.
    pub transport: String,
    /// Processes of the last session.
    pub processes: u32,
    /// Threads of each process.
    pub threads_per_process: u64,
    /// Host of each process.
    pub hosts: Vec<String>,
    /// The first process's processor.
    pub processor: String,
    /// When the last session started and the run ended, in UTC.
    pub started: String,
    /// See `started`.
    pub finished: String,
    /// Settings that define the run's cut of the space.
    pub settings: BTreeMap<String, String>,
    /// Number of shards.
    pub shards: u32,
}

/// The whole of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ManifestFile {
    #[serde(flatten)]
    provenance: Provenance,
    resumes: u32,
    seconds: f64,
    bytes_exchanged: u64,
    levels: Vec<LevelCost>,
}

/// What the expansion of a level cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LevelCost {
    depth: u32,
    expansion: String,
    seconds: f64,
    bytes_exchanged: u64,
    bytes_received: u64,
    waited_seconds: f64,
}

/// Names of the files that the checksums cover.
const COVERED: [&str; 6] = ["antipodes.tsv", "distribution.tsv", "levels.tsv", "manifest.json", "run.toml", "summary.json"];

/// Writes all files of a complete run to `folder`, where `run.toml` stands already, and reads them back.
///
/// # Errors
/// `Io` when a file cannot be written; `BadData` when it does not hold what was written.
pub fn write(folder: &Path, puzzle: &Puzzle, outcome: &Outcome, states_by_group_order: u64, provenance: &Provenance) -> Result<Summary> {
    let summary = Summary {
        format: FORMAT,
        puzzle: puzzle.name().into(),
        metric: puzzle.metric().into(),
        states: outcome.states,
        gods_number: outcome.gods_number.0,
        antipodes: outcome.antipodes,
        antipodes_listed: crate::base::ids::to_u64(outcome.listed_antipodes.len()),
        mean_depth: (outcome.mean_depth() * 1e6).round() / 1e6,
        fingerprint: outcome.fingerprint(),
        states_by_group_order,
        puzzle_digest: puzzle.digest(),
        evidence: "single run".into(),
    };
    let cost = |level: &LevelRecord| LevelCost {
        depth: level.depth.0,
        expansion: level.expansion.clone(),
        seconds: level.seconds,
        bytes_exchanged: level.bytes_exchanged,
        bytes_received: level.bytes_received,
        waited_seconds: level.waited_seconds,
    };
    let manifest = ManifestFile {
        provenance: provenance.clone(),
        resumes: outcome.resumes,
        seconds: outcome.seconds,
        bytes_exchanged: outcome.bytes_exchanged,
        levels: outcome.levels.iter().map(cost).collect(),
    };
    atomic_file::write(&folder.join("distribution.tsv"), distribution(&outcome.levels).as_bytes())?;
    atomic_file::write(&folder.join("levels.tsv"), levels_table(&outcome.levels).as_bytes())?;
    atomic_file::write(&folder.join("antipodes.tsv"), antipodes(puzzle, outcome).as_bytes())?;
    atomic_file::write(&folder.join("summary.json"), json(&summary).as_bytes())?;
    atomic_file::write(&folder.join("manifest.json"), json(&manifest).as_bytes())?;
    let sums = checksums(folder)?;
    atomic_file::write(&folder.join("SHA256SUMS"), sums.as_bytes())?;
    let again = read(folder)?;
    if again.summary != summary {
        return Err(Error::bad_data(
            &folder.join("summary.json"),
            "other values",
            "the values just written",
            "the disk does not keep what is written; run again elsewhere",
        ));
    }
    Ok(summary)
}

/// A run folder read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// `summary.json`.
    pub summary: Summary,
    /// `distribution.tsv`: states by depth.
    pub distribution: Vec<u64>,
}

/// Whether `folder` holds the files of a complete run.
#[must_use]
pub fn is_complete(folder: &Path) -> bool {
    folder.join("SHA256SUMS").is_file() && folder.join("summary.json").is_file()
}

/// Reads a run folder: checksums first, then summary and distribution, which must agree.
///
/// # Errors
/// `Io` when a file is missing, `BadData` when one is damaged or contradicts another.
pub fn read(folder: &Path) -> Result<Dataset> {
    let damaged = |name: &str, found: String, expected: String| {
        Error::bad_data(
            &folder.join(name),
            found,
            expected,
            "the files do not belong together; restore them, or run again with --resume never --force",
        )
    };
    let path = folder.join("SHA256SUMS");
    let listed = String::from_utf8_lossy(&fs::read(&path).map_err(|source| Error::io("read", &path, source))?).into_owned();
    let actual = checksums(folder)?;
    if let Some((found, expected)) = actual.lines().zip(listed.lines()).find(|(found, listed)| found != listed) {
        let name = found.rsplit(' ').next().unwrap_or("SHA256SUMS");
        return Err(damaged(name, format!("SHA-256 {}", found.get(..64).unwrap_or(found)), format!("{:?} in SHA256SUMS", expected)));
    }
    if actual.lines().count() != listed.lines().count() {
        return Err(damaged("SHA256SUMS", format!("{} lines", listed.lines().count()), format!("{} lines", actual.lines().count())));
    }
    let summary: Summary = serde_json::from_str(&read_text(folder, "summary.json")?)
        .map_err(|error| damaged("summary.json", error.to_string(), "a summary".into()))?;
    let distribution = parse_distribution(&read_text(folder, "distribution.tsv")?)
        .ok_or_else(|| damaged("distribution.tsv", "other lines".into(), "depth<TAB>states, one row a depth from 0".into()))?;
    let depth_of_last = crate::base::ids::to_u64(distribution.len()).saturating_sub(1);
    let facts = [
        ("states", distribution.iter().fold(0_u64, |sum, &states| sum.saturating_add(states)), summary.states),
        ("God's number", depth_of_last, u64::from(summary.gods_number)),
        ("antipodes", distribution.last().copied().unwrap_or(0), summary.antipodes),
        ("states by group order", summary.states_by_group_order, summary.states),
    ];
    for (what, found, stated) in facts {
        if found != stated {
            return Err(damaged("summary.json", format!("{what} {stated}"), format!("{found}, as in distribution.tsv")));
        }
    }
    Ok(Dataset { summary, distribution })
}

fn read_text(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(name);
    fs::read_to_string(&path).map_err(|source| Error::io("read", &path, source))
}

fn distribution(levels: &[LevelRecord]) -> String {
    levels.iter().fold("depth\tstates\n".into(), |mut text, level| {
        let _ = writeln!(text, "{}\t{}", level.depth, level.states);
        text
    })
}

fn parse_distribution(text: &str) -> Option<Vec<u64>> {
    let mut lines = text.lines();
    if lines.next()? != "depth\tstates" {
        return None;
    }
    lines
        .enumerate()
        .map(|(depth, line)| {
            let (first, states) = line.split_once('\t')?;
            if first.parse::<usize>().ok()? != depth {
                return None;
            }
            states.parse().ok()
        })
        .collect()
}

fn levels_table(levels: &[LevelRecord]) -> String {
    let mut text = String::from("depth\tstates\tedges_down\tedges_same\tedges_up\tfingerprint\n");
    for level in levels {
        let edges = level.edges.unwrap_or_default();
        let _ = writeln!(text, "{}\t{}\t{}\t{}\t{}\t{}", level.depth, level.states, edges.down, edges.same, edges.up, level.fingerprint);
    }
    text
}

fn antipodes(puzzle: &Puzzle, outcome: &Outcome) -> String {
    let space = StateSpace::of(puzzle);
    let mut text = String::from("rank\tstate\n");
    for &rank in &outcome.listed_antipodes {
        let _ = writeln!(text, "{rank}\t{}", puzzle.text(&space.unrank(rank)));
    }
    text
}

fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data with text keys");
    text.push('\n');
    text
}

/// One line a file, as `sha256sum` writes them.
fn checksums(folder: &Path) -> Result<String> {
    COVERED.iter().try_fold(String::new(), |mut text, name| {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        for byte in Sha256::digest(&bytes) {
            let _ = write!(text, "{byte:02x}");
        }
        let _ = writeln!(text, "  {name}");
        Ok(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_come_back_and_broken_ones_do_not() {
        assert_eq!(parse_distribution("depth\tstates\n0\t1\n1\t3\n"), Some(vec![1, 3]));
        for broken in ["", "depth states\n0\t1\n", "depth\tstates\n1\t1\n", "depth\tstates\n0\tx\n", "depth\tstates\n0\t1\n0\t3\n"] {
            assert_eq!(parse_distribution(broken), None, "{broken:?}");
        }
    }
}
