//! The files of a complete run: written whole, synced, and read back. The formats are in the README
//! of this layer.
//!
//! Whoever reads a run reads it here, and all of it is checked each time: the digests; that the
//! configuration builds the puzzle that was searched; that the group has as many states as the
//! levels; and that the files say the same, as far as that can be told without searching. So a
//! table, a status and a label rest on the same checks.

use super::archive_files;
use super::certificates::distance_record;
use super::certificates::{ArchiveFile, Certificate, CertifiedPuzzle};
use super::checksums::{self, ANTIPODES, CERTIFICATE, Checksums, MANIFEST, SAMPLES};
use super::label;
use super::level_tables::{self, DISTRIBUTION, LEVELS};
use super::listed_states;
use super::manifest_file::{Evidence, ManifestFile, Provenance};
use super::strict_json;
use crate::base::config_text::shown_text;
use crate::base::ids::{approximate, approximate_u128, to_u64};
use crate::base::removal::remove_file;
use crate::base::{Error, Result, atomic_file, regular_file};
use crate::puzzle::Puzzle;
use crate::search::Outcome;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the files of a run folder.
pub const FORMAT: u32 = 1;

/// The results, for programs.
const SUMMARY: &str = "summary.json";

/// The effective configuration.
pub const CONFIGURATION: &str = "run.toml";

/// What to do about files that contradict one another.
const RESTORE: &str = "the files do not belong together; restore them, or run again with --resume never --force";

/// The results, as in `summary.json`. No times, no hosts: the same for every way to run the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// Short name of the puzzle.
    pub puzzle: String,
    /// The metric.
    pub metric: String,
    /// For directed puzzles: `to`, distances to the solved state, or `from`, distances from it.
    /// Missing for others, and in runs of earlier versions, which counted from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<String>,
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
    /// States that the group's order promises; equal to `states`. `null` where the moves make no
    /// group, so that nothing but the search says how many there are.
    #[serde(deserialize_with = "Option::deserialize")]
    pub states_by_group_order: Option<u64>,
    /// Identifies the compiled puzzle.
    pub puzzle_digest: String,
}

/// Writes all files of a complete run to `folder`, where `run.toml` stands already (written by
/// `cli/opening.rs`), and reads them back. `read_configuration` is `families::run_folder::configured`.
///
/// # Errors
/// `Io` when a file cannot be written; `BadData` when it does not hold what was written.
pub fn write(
    folder: &Path,
    puzzle: &Puzzle,
    outcome: &Outcome,
    states_by_group_order: Option<u64>,
    provenance: &Provenance,
    read_configuration: ReadConfiguration,
) -> Result<Summary> {
    let configured = configured(folder, read_configuration)?;
    let Configured { direction, keep_levels, .. } = configured;
    let summary = Summary {
        format: FORMAT,
        puzzle: puzzle.name().into(),
        metric: puzzle.metric().into(),
        direction: direction.map(str::to_owned),
        states: outcome.states,
        gods_number: outcome.gods_number.0,
        antipodes: outcome.antipodes,
        antipodes_listed: to_u64(outcome.listed_antipodes.len()),
        mean_depth: in_millionths(outcome.mean_depth()),
        fingerprint: outcome.fingerprint(),
        states_by_group_order,
        puzzle_digest: puzzle.digest(),
    };
    let manifest = ManifestFile::of_run(provenance.clone(), outcome);
    // That of an earlier run of this folder is about other archived files.
    remove_file(&folder.join(CERTIFICATE))?;
    for (name, text) in tables(puzzle, outcome) {
        atomic_file::write(&folder.join(name), text.as_bytes())?;
    }
    atomic_file::write(&folder.join(SUMMARY), json(&summary).as_bytes())?;
    atomic_file::write(&folder.join(MANIFEST), json(&manifest).as_bytes())?;
    let mut sums = Checksums::of_files(folder)?;
    if keep_levels {
        for file in archive_files::listed(folder, outcome.levels.len())? {
            sums.set(&file.path, file.sha256);
        }
    }
    sums.write(folder)?;
    // The configuration stood there before, and building its puzzle may take seconds.
    let again = read_as(folder, Checksums::checked(folder)?, configured)?;
    if again.summary != summary {
        return Err(Error::bad_data(
            &folder.join(SUMMARY),
            "other values",
            "the values just written",
            "the disk does not keep what is written; run again elsewhere",
        ));
    }
    Ok(summary)
}

/// What the configuration of a run says of its results. Who reads it knows the families of puzzles.
#[derive(Clone, Debug, PartialEq)]
pub struct Configured {
    /// The puzzle that was searched.
    pub puzzle: Puzzle,
    /// Which distances were counted, `to` or `from` the solved state; `None` where it makes no
    /// difference.
    pub direction: Option<&'static str>,
    /// How certificates name it; `None` where they cannot.
    pub certified: Option<CertifiedPuzzle>,
    /// Most antipodes that are listed.
    pub most_antipodes: usize,
    /// Whether the levels are archived.
    pub keep_levels: bool,
}

/// Makes a puzzle of a configuration's path and text.
pub type ReadConfiguration = fn(&Path, &str) -> Result<Configured>;

/// A run folder read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// `summary.json`.
    pub summary: Summary,
    /// `distribution.tsv`: states by depth.
    pub distribution: Vec<u64>,
    /// `manifest.json`.
    pub manifest: ManifestFile,
    /// The label that the evidence deserves which is in the folder.
    pub evidence: Evidence,
    /// The puzzle that `run.toml` builds.
    pub puzzle: Puzzle,
    /// How certificates name it; `None` where they cannot.
    pub certified: Option<CertifiedPuzzle>,
    sums: Checksums,
}

/// The tables of a run by file name: the same bytes for every way to run the search.
fn tables(puzzle: &Puzzle, outcome: &Outcome) -> [(&'static str, String); 4] {
    [
        (DISTRIBUTION, level_tables::distribution(&outcome.levels)),
        (LEVELS, level_tables::levels(&outcome.levels)),
        (ANTIPODES, listed_states::antipodes(puzzle, outcome)),
        (SAMPLES, listed_states::samples(puzzle, outcome)),
    ]
}

/// Compares the tables in `folder` with what another search of the same puzzle found; `None` when
/// they are the same bytes, else the first difference in words: the file, the level or line, and
/// both rows.
///
/// # Errors
/// `Io` when a file cannot be read.
pub fn first_difference(folder: &Path, puzzle: &Puzzle, outcome: &Outcome) -> Result<Option<String>> {
    for (name, again) in tables(puzzle, outcome) {
        if name == SAMPLES && !folder.join(name).exists() {
            continue;
        }
        let there = regular_file::read_text(&folder.join(name), checksums::MOST_TABLE_BYTES)?;
        if there == again {
            continue;
        }
        let rows = there.lines().count().max(again.lines().count());
        let row = |text: &str, number: usize| text.lines().nth(number).map_or_else(|| "no such row".into(), shown_row);
        let number = (0..rows).find(|&number| there.lines().nth(number) != again.lines().nth(number)).unwrap_or(rows);
        // Levels are the rows after the heading.
        let place = if [ANTIPODES, SAMPLES].contains(&name) || number == 0 {
            format!("line {}", number + 1)
        } else {
            format!("level {}", number - 1)
        };
        return Ok(Some(format!("{name}: {place} holds \"{}\", searched again it is \"{}\"", row(&there, number), row(&again, number))));
    }
    Ok(None)
}

/// A row on one line, cut only when it is longer than any of `levels.tsv`.
fn shown_row(row: &str) -> String {
    const LONGEST: usize = 200;
    row.chars().take(LONGEST).flat_map(|letter| if letter == '\t' { ' '.escape_debug() } else { letter.escape_debug() }).collect()
}

/// Whether `folder` holds the files of a complete run.
#[must_use]
pub fn is_complete(folder: &Path) -> bool {
    folder.join("SHA256SUMS").is_file() && folder.join(SUMMARY).is_file()
}

/// Reads a run folder and checks it: see the top of this file.
///
/// # Errors
/// `Io` when a file is missing, `BadData` when one is damaged or contradicts another.
pub fn read(folder: &Path, read_configuration: ReadConfiguration) -> Result<Dataset> {
    let sums = Checksums::checked(folder)?;
    read_as(folder, sums, configured(folder, read_configuration)?)
}

/// [`read`] for a configuration that was read already.
fn read_as(folder: &Path, sums: Checksums, configured: Configured) -> Result<Dataset> {
    let Configured { puzzle, direction, certified, most_antipodes, .. } = configured;
    let summary: Summary = strict_json::read(folder, SUMMARY, "the summary of a run")?;
    // Earlier versions counted from the solved state, and did not say so.
    if summary.direction.as_deref().or(direction.filter(|&direction| direction == "from")) != direction {
        let shown = |direction: Option<&str>| direction.map_or("no direction".into(), |name| format!("direction {}", shown_text(name)));
        let expected = format!("{}, as in run.toml", shown(direction));
        return Err(Error::bad_data(&folder.join(SUMMARY), shown(summary.direction.as_deref()), expected, RESTORE));
    }
    check_puzzle(folder, &summary, &puzzle)?;
    let distribution = level_tables::read_distribution(folder)?;
    let fingerprint = level_tables::check_levels(folder, &puzzle, &distribution)?;
    check_counts(folder, &summary, &distribution, &puzzle, &fingerprint)?;
    listed_states::check(folder, &puzzle, &distribution, summary.antipodes_listed, most_antipodes)?;
    let manifest: ManifestFile = strict_json::read(folder, MANIFEST, "the manifest of a run")?;
    let recorded = manifest.recorded();
    if manifest.evidence != recorded {
        let found = format!("the label \"{}\"", manifest.evidence);
        return Err(Error::bad_data(&folder.join(MANIFEST), found, format!("\"{recorded}\" by the checks that it records"), RESTORE));
    }
    let evidence = label::deserved(folder, &manifest, certified.as_ref(), &distribution);
    Ok(Dataset { summary, distribution, manifest, evidence, puzzle, certified, sums })
}

/// What the configuration of a complete run says.
fn configured(folder: &Path, read_configuration: ReadConfiguration) -> Result<Configured> {
    let path = folder.join(CONFIGURATION);
    let text = regular_file::read_text(&path, regular_file::MOST_TEXT_BYTES)?;
    read_configuration(&path, &text).map_err(|error| refused_configuration(folder, &error))
}

fn refused_configuration(folder: &Path, error: &Error) -> Error {
    let expected = "the configuration of this run";
    Error::bad_data(&folder.join(CONFIGURATION), format!("a configuration that is refused ({error})"), expected, RESTORE)
}

fn check_puzzle(folder: &Path, summary: &Summary, puzzle: &Puzzle) -> Result<()> {
    let path = folder.join(SUMMARY);
    if summary.format != FORMAT {
        return Err(Error::OtherVersion { path, found: format!("format {}", summary.format), expected: format!("format {FORMAT}") });
    }
    for (what, found, expected) in [("puzzle", &summary.puzzle, puzzle.name()), ("metric", &summary.metric, puzzle.metric())] {
        // They are printed, and become parts of paths.
        if found != expected || !is_name(found) {
            return Err(Error::bad_data(
                &path,
                format!("the {what} \"{}\"", shown_text(found)),
                format!("\"{expected}\" as in run.toml"),
                RESTORE,
            ));
        }
    }
    let (found, expected) = (puzzle.digest(), &summary.puzzle_digest);
    if found != *expected {
        return Err(Error::bad_data(
            &folder.join(CONFIGURATION),
            format!("a puzzle with digest {found}"),
            format!("{} as in summary.json", shown_text(expected)),
            "run.toml was changed, or another version of farthest wrote it: restore the file, use that version, or run again with --resume never --force",
        ));
    }
    Ok(())
}

/// Longest name of a puzzle or metric, in bytes.
pub const LONGEST_NAME: usize = 100;

/// What names of puzzles and metrics may hold beside letters and digits.
pub const OTHERS: &str = ". _ - + = ( ) , [ ]";

/// Whether a text has the form of a puzzle's or metric's name, such as `turnstyle-12`, `M12` or
/// `PSL(2,23)`: a letter or digit of ASCII, then letters, digits and [`OTHERS`].
#[must_use]
pub fn is_name(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric();
    let fits = |byte: u8| letter(byte) || byte != b' ' && OTHERS.as_bytes().contains(&byte);
    text.len() <= LONGEST_NAME && text.bytes().next().is_some_and(letter) && text.bytes().all(fits)
}

fn check_counts(folder: &Path, summary: &Summary, distribution: &[u64], puzzle: &Puzzle, fingerprint: &str) -> Result<()> {
    let damaged = |found: String, expected: String| Err(Error::bad_data(&folder.join(SUMMARY), found, expected, RESTORE));
    let Some(states) = distribution.iter().try_fold(0_u64, |sum, &states| sum.checked_add(states)) else {
        let path = folder.join(DISTRIBUTION);
        return Err(Error::bad_data(&path, "counts with a sum of more than 64 bits", "fewer states than 2^63", RESTORE));
    };
    let order = puzzle.facts().states;
    if let Some(order) = order.filter(|&order| u128::from(states) != order) {
        let path = folder.join(DISTRIBUTION);
        return Err(Error::bad_data(
            &path,
            format!("counts that sum to {states}"),
            format!("{order}, the number of states by the group's order"),
            RESTORE,
        ));
    }
    let by_order = order.map(|_| states);
    if summary.states_by_group_order != by_order {
        let shown = |states: Option<u64>| states.map_or("null".into(), |states| states.to_string());
        let found = format!("states by group order {}", shown(summary.states_by_group_order));
        return damaged(found, format!("{}, by the puzzle and distribution.tsv", shown(by_order)));
    }
    let facts = [
        ("states", states, summary.states),
        ("God's number", to_u64(distribution.len() - 1), u64::from(summary.gods_number)),
        ("antipodes", distribution.last().copied().unwrap_or(0), summary.antipodes),
    ];
    for (what, found, stated) in facts {
        if found != stated {
            return damaged(format!("{what} {stated}"), format!("{found}, as in distribution.tsv"));
        }
    }
    let sum: u128 = (0_u128..).zip(distribution).map(|(depth, &states)| depth * u128::from(states)).sum();
    let mean = in_millionths(approximate_u128(sum) / approximate(states));
    if summary.mean_depth.to_bits() != mean.to_bits() {
        return damaged(format!("mean depth {}", summary.mean_depth), format!("{mean}, as in distribution.tsv"));
    }
    if summary.fingerprint != fingerprint {
        return damaged(format!("fingerprint {}", shown_text(&summary.fingerprint)), format!("{fingerprint}, as in levels.tsv"));
    }
    Ok(())
}

/// Rounded to six decimals.
fn in_millionths(mean: f64) -> f64 {
    (mean * 1e6).round() / 1e6
}

/// Changes the manifest of a complete run, and the checksums with it, in three steps that are each
/// one rename: the line of the manifest leaves `SHA256SUMS`, the manifest is replaced, the new line
/// comes in. So all lines are right at every moment, and [`read`] accepts the folder before or
/// after, never a mixture. A change that was stopped on its way is ended by the next one.
///
/// # Errors
/// As [`read`]; `Io` when a file cannot be written.
pub fn change_manifest(folder: &Path, read_configuration: ReadConfiguration, change: impl FnOnce(&mut ManifestFile)) -> Result<Dataset> {
    let Dataset { mut manifest, mut sums, .. } = read(folder, read_configuration)?;
    change(&mut manifest);
    checksums::remove_left_over(folder)?;
    if sums.remove(MANIFEST) {
        sums.write(folder)?;
    }
    let text = json(&manifest);
    atomic_file::write(&folder.join(MANIFEST), text.as_bytes())?;
    sums.set(MANIFEST, checksums::sha256_of(text.as_bytes()));
    sums.write(folder)?;
    read(folder, read_configuration)
}

/// Puts the certificate of the distances into the folder of a complete run, and lists it and the
/// archived files that it names in `SHA256SUMS`. All lines are right at every moment here, too. A
/// certificate that is recorded, and that names the same files, stays as it is: what is there may
/// have remarks, or be another version's. The record of any other one goes before its file does, so
/// that no record names a file that is not there. Returns the digest of the certificate.
///
/// # Errors
/// As [`read`]; `BadData` when `SHA256SUMS` lists other archived files; `Io` when a file cannot be
/// written.
pub fn add_certificate(
    folder: &Path,
    read_configuration: ReadConfiguration,
    certificate: &Certificate,
    archive: &[ArchiveFile],
) -> Result<String> {
    let Dataset { sums, manifest, distribution, .. } = read(folder, read_configuration)?;
    for (path, listed) in sums.level_files() {
        let found = archive.iter().find(|file| file.path == path).map_or("no file of this archive", |file| &file.sha256);
        if found != listed {
            let cure = "the archive was changed; restore it, or run again with --resume never --force";
            return Err(Error::bad_data(&folder.join(path), found, format!("{listed} in SHA256SUMS"), cure));
        }
    }
    let text = certificate.to_text();
    let new = checksums::sha256_of(text.as_bytes());
    let path = folder.join(CERTIFICATE);
    let there = regular_file::read_text(&path, regular_file::MOST_TEXT_BYTES).ok();
    let digest_there = there.as_ref().map(|there| checksums::sha256_of(there.as_bytes()));
    let is_recorded = |digest: &String| manifest.certificates.iter().any(|known| known.file == CERTIFICATE && known.sha256 == *digest);
    let names_the_same = there
        .as_ref()
        .is_some_and(|there| distance_record::archive_of(there, &certificate.puzzle, &distribution).is_some_and(|named| named == archive));
    let digest = digest_there.clone().filter(|digest| names_the_same && is_recorded(digest)).unwrap_or(new);
    let mut before = sums;
    if manifest.certificates.iter().any(|known| known.sha256 != digest) {
        before = change_manifest(folder, read_configuration, |manifest| {
            manifest.certificates.retain(|known| known.sha256 == digest);
            manifest.evidence = manifest.recorded();
        })?
        .sums;
    }
    let mut sums = before.clone();
    if digest_there.as_ref() != Some(&digest) {
        if sums.remove(CERTIFICATE) {
            sums.write(folder)?;
        }
        atomic_file::write(&path, text.as_bytes())?;
    }
    sums.set(CERTIFICATE, digest.clone());
    for file in archive {
        sums.set(&file.path, file.sha256.clone());
    }
    if sums.digest(MANIFEST).is_none() {
        let (_, manifest) = checksums::sha256(&folder.join(MANIFEST), regular_file::MOST_TEXT_BYTES)?;
        sums.set(MANIFEST, manifest);
    }
    if sums != before {
        sums.write(folder)?;
    }
    Ok(digest)
}

fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("plain data with text keys");
    text.push('\n');
    text
}
