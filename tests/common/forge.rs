//! What an author does who controls every file of a run folder: tables, sums, digests and labels that agree with one another, whatever they say.

use super::disturb::sha256;
use super::{distribution, json};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// A level as `levels.tsv` has it: states, edges down, on the level and up, fingerprint.
#[derive(Clone, Debug)]
pub struct LevelRow {
    pub states: u64,
    pub edges: [u64; 3],
    pub fingerprint: String,
}

/// The rows of `levels.tsv`.
pub fn levels(run: &Path) -> Vec<LevelRow> {
    let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |cell: usize| cells[cell].parse().expect("a number");
        LevelRow { states: number(1), edges: [number(2), number(3), number(4)], fingerprint: cells[5].into() }
    };
    text.lines().skip(1).map(row).collect()
}

/// Writes these levels to all tables and files that speak of them, and seals the folder. The lists of states stay.
pub fn set_levels(run: &Path, levels: &[LevelRow]) {
    let mut distribution = String::from("depth\tstates\n");
    let mut table = String::from("depth\tstates\tedges_down\tedges_same\tedges_up\tfingerprint\n");
    let mut fingerprint = blake3::Hasher::new();
    let (mut sum, mut states) = (0.0, 0.0);
    for (depth, level) in levels.iter().enumerate() {
        let [down, same, up] = level.edges;
        distribution += &format!("{depth}\t{}\n", level.states);
        table += &format!("{depth}\t{}\t{down}\t{same}\t{up}\t{}\n", level.states, level.fingerprint);
        fingerprint.update(format!("{depth} {} {}\n", level.states, level.fingerprint).as_bytes());
        let [depth, count] = [depth.to_string(), level.states.to_string()].map(|text| text.parse::<f64>().expect("a number"));
        sum += depth * count;
        states += count;
    }
    fs::write(run.join("distribution.tsv"), distribution).expect("written");
    fs::write(run.join("levels.tsv"), table).expect("written");
    let total: u64 = levels.iter().map(|level| level.states).sum();
    let antipodes = levels.last().expect("a level").states;
    change_json(&run.join("summary.json"), |summary| {
        summary["states"] = total.into();
        summary["states_by_group_order"] = total.into();
        summary["gods_number"] = (levels.len() - 1).into();
        summary["antipodes"] = antipodes.into();
        summary["fingerprint"] = fingerprint.finalize().to_hex().to_string().into();
        summary["mean_depth"] = ((sum / states * 1e6).round() / 1e6).into();
    });
    change_json(&run.join("manifest.json"), |manifest| {
        let costs = manifest["levels"].as_array_mut().expect("a list");
        costs.resize(levels.len(), costs[0].clone());
        for (depth, cost) in costs.iter_mut().enumerate() {
            cost["depth"] = depth.into();
        }
    });
    seal(run);
}

/// Changes a JSON file, keeping the order of its keys.
pub fn change_json(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).expect("readable")).expect("JSON");
    change(&mut value);
    fs::write(path, serde_json::to_string_pretty(&value).expect("JSON") + "\n").expect("written");
}

/// Another `run.toml`, of which the manifest has the digest.
pub fn set_config(run: &Path, text: &str) {
    fs::write(run.join("run.toml"), text).expect("written");
    let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
    change_json(&run.join("manifest.json"), |manifest| manifest["config_digest"] = digest.into());
    seal(run);
}

/// Lists all files that there are, with their digests, in `SHA256SUMS`.
pub fn seal(run: &Path) {
    let mut names: Vec<PathBuf> = ["antipodes.tsv", "distance.cert", "distribution.tsv"].map(PathBuf::from).into();
    for level in entries(&run.join("levels")) {
        names.extend(entries(&run.join("levels").join(&level)).into_iter().map(|name| Path::new("levels").join(&level).join(name)));
    }
    names.extend(["levels.tsv", "manifest.json", "run.toml", "samples.tsv", "summary.json"].map(PathBuf::from));
    let there = names.into_iter().filter(|name| run.join(name).is_file());
    let line = |name: PathBuf| format!("{}  {}\n", sha256(&run.join(&name)), name.display());
    fs::write(run.join("SHA256SUMS"), there.map(line).collect::<String>()).expect("written");
}

/// Changes a text in a file.
pub fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("text");
    assert!(text.contains(from), "{from:?} is not in {text}");
    fs::write(path, text.replacen(from, to, 1)).expect("written");
}

/// Makes lengths and digests of the archive in the certificate right again.
pub fn digests_again(run: &Path) {
    let text = fs::read_to_string(run.join("distance.cert")).expect("text");
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["archive", depth, _, _, path] => {
            let file = run.join(path);
            format!("archive {depth} {} {} {path}\n", fs::metadata(&file).expect("there").len(), sha256(&file))
        }
        _ => format!("{line}\n"),
    };
    fs::write(run.join("distance.cert"), text.lines().map(line).collect::<String>()).expect("written");
}

/// The same, with the digest of the certificate in the manifest, and the sums where there are some.
pub fn certify_again(run: &Path) {
    digests_again(run);
    let (manifest, digest) = (run.join("manifest.json"), sha256(&run.join("distance.cert")));
    change_json(&manifest, |manifest| {
        for record in manifest.get_mut("certificates").and_then(Value::as_array_mut).into_iter().flatten() {
            record["sha256"] = digest.clone().into();
        }
    });
    if run.join("SHA256SUMS").is_file() {
        seal(run);
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.expect("listed").file_name().into()).collect();
    names.sort();
    names
}

/// Replaces text that must be in a file, once.
pub fn replace(run: &Path, name: &str, from: &str, to: &str) {
    edit(&run.join(name), from, to);
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
    let table = super::succeed(super::farthest().args(["table", "--format", "json"]).arg(run));
    let table: Value = serde_json::from_str(&table).expect("JSON");
    assert_eq!(table["count"], 1, "{table:#}");
    table["runs"][0]["evidence"].as_str().expect("a label").to_owned()
}

/// The label that the manifest states.
pub fn stated_label(run: &Path) -> String {
    json(run, "manifest.json")["evidence"].as_str().expect("a label").to_owned()
}
