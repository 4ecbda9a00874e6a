//! What an author does who controls every file of a run folder: tables, sums, digests and labels that agree with one another, whatever they say.

use super::disturb::sha256;
use serde_json::Value;
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

/// Makes the digests of the archive in the certificate right again, that of the certificate in the manifest, and the sums where there are some.
pub fn certify_again(run: &Path) {
    let text = fs::read_to_string(run.join("distance.cert")).expect("text");
    let line = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["archive", depth, _, _, path] => {
            let file = run.join(path);
            format!("archive {depth} {} {} {path}\n", fs::metadata(&file).expect("there").len(), sha256(&file))
        }
        _ => format!("{line}\n"),
    };
    fs::write(run.join("distance.cert"), text.lines().map(line).collect::<String>()).expect("written");
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
