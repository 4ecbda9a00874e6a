//! The files of a complete run: written whole, synced, and read back. The formats are in the README of this layer.

use super::listed_states::{self, ANTIPODES, SAMPLES};
use super::manifest_file::{ManifestFile, Provenance};
use crate::base::{Error, Result, atomic_file};
use crate::puzzle::Puzzle;
use crate::search::{LevelRecord, Outcome};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
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
}

/// Names of the files that the checksums cover.
const COVERED: [&str; 7] = [ANTIPODES, "distribution.tsv", "levels.tsv", "manifest.json", "run.toml", SAMPLES, "summary.json"];

/// The checksums that are to replace `SHA256SUMS` when the manifest changes.
const NEXT_SUMS: &str = "SHA256SUMS.next";

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
    };
    let manifest = ManifestFile::of_run(provenance.clone(), outcome);
    for (name, text) in tables(puzzle, outcome) {
        atomic_file::write(&folder.join(name), text.as_bytes())?;
    }
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
    /// `manifest.json`.
    pub manifest: ManifestFile,
}

/// The tables of a run by file name: the same bytes for every way to run the search.
fn tables(puzzle: &Puzzle, outcome: &Outcome) -> [(&'static str, String); 4] {
    [
        ("distribution.tsv", distribution(&outcome.levels)),
        ("levels.tsv", levels_table(&outcome.levels)),
        (ANTIPODES, listed_states::antipodes(puzzle, outcome)),
        (SAMPLES, listed_states::samples(puzzle, outcome)),
    ]
}

/// Compares the tables in `folder` with what another search of the same puzzle found; `None` when they are the same bytes, else the first
/// difference in words: the file, the level or line, and both rows.
///
/// # Errors
/// `Io` when a file cannot be read.
pub fn first_difference(folder: &Path, puzzle: &Puzzle, outcome: &Outcome) -> Result<Option<String>> {
    for (name, again) in tables(puzzle, outcome) {
        if name == SAMPLES && !folder.join(name).exists() {
            continue;
        }
        let there = read_text(folder, name)?;
        if there == again {
            continue;
        }
        let rows = there.lines().count().max(again.lines().count());
        let row = |text: &str, number: usize| text.lines().nth(number).map_or_else(|| "no such row".into(), |row| row.replace('\t', " "));
        let number = (0..rows).find(|&number| row(&there, number) != row(&again, number)).unwrap_or(rows);
        // Levels are the rows behind the heading.
        let place = if [ANTIPODES, SAMPLES].contains(&name) || number == 0 {
            format!("line {}", number + 1)
        } else {
            format!("level {}", number - 1)
        };
        return Ok(Some(format!("{name}: {place} holds {:?}, searched again it is {:?}", row(&there, number), row(&again, number))));
    }
    Ok(None)
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
    let mut listed = String::from_utf8_lossy(&fs::read(&path).map_err(|source| Error::io("read", &path, source))?).into_owned();
    let actual = checksums(folder)?;
    // A change of the manifest was interrupted between its two renames; the next change ends it.
    if fs::read_to_string(folder.join(NEXT_SUMS)).is_ok_and(|next| next == actual) {
        listed.clone_from(&actual);
    }
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
    let manifest = serde_json::from_str(&read_text(folder, "manifest.json")?)
        .map_err(|error| damaged("manifest.json", error.to_string(), "the manifest of a run".into()))?;
    Ok(Dataset { summary, distribution, manifest })
}

/// Changes the manifest of a complete run, and the checksums with it. A crash leaves the old or the new manifest, and [`read`] accepts either: the new checksums
/// are written beside the old ones, then both files are renamed into place.
///
/// # Errors
/// As [`read`]; `Io` when a file cannot be written.
pub fn change_manifest(folder: &Path, change: impl FnOnce(&mut ManifestFile)) -> Result<ManifestFile> {
    let mut manifest = read(folder)?.manifest;
    change(&mut manifest);
    let text = json(&manifest);
    let sums: String = checksums(folder)?
        .lines()
        .map(|line| match line.split_once("  ") {
            Some((_, "manifest.json")) => checksum_line(text.as_bytes(), "manifest.json"),
            _ => format!("{line}\n"),
        })
        .collect();
    atomic_file::write(&folder.join(NEXT_SUMS), sums.as_bytes())?;
    atomic_file::write(&folder.join("manifest.json"), text.as_bytes())?;
    atomic_file::write(&folder.join("SHA256SUMS"), sums.as_bytes())?;
    let next = folder.join(NEXT_SUMS);
    fs::remove_file(&next).map_err(|source| Error::io("remove", &next, source))?;
    read(folder).map(|dataset| dataset.manifest)
}

pub(super) fn read_text(folder: &Path, name: &str) -> Result<String> {
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

fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data with text keys");
    text.push('\n');
    text
}

/// One line a file, as `sha256sum` writes them.
fn checksums(folder: &Path) -> Result<String> {
    let mut there = COVERED.iter().filter(|&&name| name != SAMPLES || folder.join(name).exists());
    there.try_fold(String::new(), |text, name| {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        Ok(text + &checksum_line(&bytes, name))
    })
}

fn checksum_line(bytes: &[u8], name: &str) -> String {
    hexadecimal(&Sha256::digest(bytes)) + "  " + name + "\n"
}

/// A digest in hexadecimal digits.
pub(super) fn hexadecimal(digest: &[u8]) -> String {
    let mut digits = String::new();
    for byte in digest {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// SHA-256 of a small file, in hexadecimal digits.
///
/// # Errors
/// `Io` when it cannot be read.
pub fn sha256(path: &Path) -> Result<String> {
    fs::read(path).map(|bytes| hexadecimal(&Sha256::digest(&bytes))).map_err(|source| Error::io("read", path, source))
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
