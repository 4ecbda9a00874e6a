//! Run folders with false statements whose checksums fit: what somebody writes who controls every
//! file.
#![allow(dead_code, missing_docs)]

use super::common::disturb::sha256;
use super::common::{distribution, json};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Replaces text that must be in a file, once.
pub fn replace(run: &Path, name: &str, from: &str, to: &str) {
    let text = fs::read_to_string(run.join(name)).expect("readable");
    assert!(text.contains(from), "{name} holds no {from:?}: {text}");
    fs::write(run.join(name), text.replacen(from, to, 1)).expect("written");
}

/// Replaces text in a file, and makes the checksums fit.
pub fn alter(run: &Path, name: &str, from: &str, to: &str) {
    replace(run, name, from, to);
    sum_again(run);
}

/// Makes the lines of `SHA256SUMS` fit the files that are there, all but those below `levels/`.
pub fn sum_again(run: &Path) {
    let sums = fs::read_to_string(run.join("SHA256SUMS")).expect("text");
    let text = sums.lines().fold(String::new(), |mut text, line| {
        let name = &line[66..];
        let is_there = run.join(name).is_file() && !name.starts_with("levels/");
        let _ = if is_there { writeln!(text, "{}  {name}", sha256(&run.join(name))) } else { writeln!(text, "{line}") };
        text
    });
    fs::write(run.join("SHA256SUMS"), text).expect("written");
}

/// Adds or takes lines of `SHA256SUMS`.
pub fn edit_sums(run: &Path, edit: impl Fn(&str) -> Option<String>) {
    let sums = fs::read_to_string(run.join("SHA256SUMS")).expect("text");
    let text: String = sums.lines().filter_map(edit).map(|line| line + "\n").collect();
    fs::write(run.join("SHA256SUMS"), text).expect("written");
}

/// Writes another value of a key of `summary.json`, as JSON.
pub fn state(run: &Path, key: &str, value: &str) {
    let text = fs::read_to_string(run.join("summary.json")).expect("readable");
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            let comma = if line.ends_with(',') { "," } else { "" };
            if line.trim_start().starts_with(&format!("\"{key}\":")) { format!("  \"{key}\": {value}{comma}") } else { line.to_owned() }
        })
        .collect();
    fs::write(run.join("summary.json"), lines.join("\n") + "\n").expect("written");
}

/// States other counts in all files, so that nothing contradicts anything else that a reader can
/// compute without searching: edges are made up that balance (for moves that can be undone), sums
/// and the fingerprint are computed anew. Antipodes and samples stay.
pub fn claim(run: &Path, counts: &[u64], generators: u64) {
    let text = fs::read_to_string(run.join("levels.tsv")).expect("readable");
    let fingerprints: Vec<&str> = text.lines().skip(1).filter_map(|line| line.rsplit('\t').next()).collect();
    let mut distribution = String::from("depth\tstates\n");
    let mut levels = String::from("depth\tstates\tedges_down\tedges_same\tedges_up\tfingerprint\n");
    let mut lines = String::new();
    let mut down = 0;
    for (depth, &states) in counts.iter().enumerate() {
        let up = counts.get(depth + 1).copied().unwrap_or(0);
        let same = (generators * states).checked_sub(down + up).expect("counts that the edges allow");
        let fingerprint = fingerprints.get(depth).copied().unwrap_or("00000000000000000000000000000000");
        let _ = writeln!(distribution, "{depth}\t{states}");
        let _ = writeln!(levels, "{depth}\t{states}\t{down}\t{same}\t{up}\t{fingerprint}");
        let _ = writeln!(lines, "{depth} {states} {fingerprint}");
        down = up;
    }
    fs::write(run.join("distribution.tsv"), distribution).expect("written");
    fs::write(run.join("levels.tsv"), levels).expect("written");
    let total: u64 = counts.iter().sum();
    // In whole numbers: the mean times a million, rounded to the nearest.
    let weighted: u64 = (0_u64..).zip(counts).map(|(depth, states)| depth * states).sum();
    let millionths = (2_000_000 * weighted + total) / (2 * total);
    let mean = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    let mean = mean.trim_end_matches('0');
    for (key, value) in [
        ("states", total.to_string()),
        ("states_by_group_order", total.to_string()),
        ("gods_number", (counts.len() - 1).to_string()),
        ("antipodes", counts.last().expect("a level").to_string()),
        ("mean_depth", if mean.ends_with('.') { format!("{mean}0") } else { mean.to_owned() }),
        ("fingerprint", format!("\"{}\"", blake3::hash(lines.as_bytes()).to_hex())),
    ] {
        state(run, key, &value);
    }
    sum_again(run);
}

/// Makes the fingerprint of `summary.json` fit `levels.tsv`, as every forger would.
pub fn fingerprint_again(run: &Path) {
    let text = fs::read_to_string(run.join("levels.tsv")).expect("readable");
    let lines: String = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            format!("{} {} {}\n", cells[0], cells[1], cells.last().expect("cells"))
        })
        .collect();
    state(run, "fingerprint", &format!("\"{}\"", blake3::hash(lines.as_bytes()).to_hex()));
    sum_again(run);
}

/// The counts of the run with those of two neighbouring levels exchanged.
pub fn exchanged(run: &Path, depth: usize) -> Vec<u64> {
    let mut counts = distribution(run);
    counts.swap(depth, depth + 1);
    counts
}

/// The label that `farthest table` shows.
pub fn shown_label(run: &Path) -> String {
    let table = super::common::succeed(super::common::farthest().args(["table", "--format", "json"]).arg(run));
    let table: serde_json::Value = serde_json::from_str(&table).expect("JSON");
    assert_eq!(table["count"], 1, "{table:#}");
    table["runs"][0]["evidence"].as_str().expect("a label").to_owned()
}

/// The label that the manifest states.
pub fn stated_label(run: &Path) -> String {
    json(run, "manifest.json")["evidence"].as_str().expect("a label").to_owned()
}
