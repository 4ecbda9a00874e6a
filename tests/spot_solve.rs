//! `farthest spot-solve`: the samples of a run solved from both ends.

mod common;

use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

fn run(puzzle: &str, metric: &str, folder: &Path) {
    common::succeed(common::farthest().args(["run", puzzle, "--metric", metric, "--quiet", "--out"]).arg(folder));
}

/// Writes a file of a run anew, with a checksum that fits.
fn replace(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("written");
    let digest: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).expect("there");
    let line = |line: &str| if line.ends_with(&format!("  {name}")) { format!("{digest}  {name}\n") } else { format!("{line}\n") };
    fs::write(folder.join("SHA256SUMS"), sums.lines().map(line).collect::<String>()).expect("written");
}

/// The rows of `samples.tsv`: depth, rank, state.
fn samples(folder: &Path) -> Vec<[String; 3]> {
    let text = fs::read_to_string(folder.join("samples.tsv")).expect("there");
    let row = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>().try_into().expect("three columns");
    text.lines().skip(1).map(row).collect()
}

#[test]
fn samples_are_as_deep_as_stated() {
    let folder = common::folder_in_memory();
    for (puzzle, metric) in [("turnstyle-9", "step"), ("turnstyle-8", "turn"), ("pancake-7", "step"), ("rotation-board-2x4n2", "half")] {
        let run_folder = folder.path().join(puzzle);
        run(puzzle, metric, &run_folder);
        let rows = samples(&run_folder);
        let depths = common::distribution(&run_folder);
        for (depth, states) in depths.iter().enumerate() {
            let drawn = rows.iter().filter(|[found, ..]| *found == depth.to_string()).count();
            assert!((1..=4).contains(&drawn) && u64::try_from(drawn).expect("few") <= *states, "{puzzle}: {drawn} of depth {depth}");
        }
        let stdout = common::succeed(common::farthest().arg("spot-solve").arg(&run_folder));
        assert!(stdout.contains(&format!("{} states, to depth {}", rows.len(), depths.len() - 1)), "{stdout}");
        let record = &common::json(&run_folder, "manifest.json")["spot_solves"][0];
        assert_eq!((&record["states"], &record["difference"]), (&rows.len().into(), &serde_json::Value::Null));
        assert_eq!(common::json(&run_folder, "manifest.json")["evidence"], "single run");
    }
}

#[test]
fn a_wrong_depth_is_noticed_and_marks_the_run() {
    let folder = common::folder_in_memory();
    run("turnstyle-8", "step", folder.path());
    // A state of level 9 is said to be of level 11, and one of level 11 of level 9.
    let mut rows = samples(folder.path());
    let of = |depth: &str| rows.iter().position(|row| row[0] == depth).expect("a sample");
    let (nine, eleven) = (of("9"), of("11"));
    rows[nine][0] = "11".into();
    rows[eleven][0] = "9".into();
    rows.sort_by_key(|row| (row[0].parse::<u64>().expect("a depth"), row[1].parse::<u64>().expect("a rank")));
    let text: String = rows.iter().map(|row| row.join("\t") + "\n").collect();
    replace(folder.path(), "samples.tsv", &format!("depth\trank\tstate\n{text}"));
    let (code, _, stderr) = common::outcome(common::farthest().arg("spot-solve").arg(folder.path()));
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("of depth 9 in samples.tsv, has a shortest word of 11 moves") && stderr.contains("now marked as disputed"),
        "{stderr}"
    );
    assert_eq!(common::json(folder.path(), "manifest.json")["evidence"], "disputed");
}

#[test]
fn bad_samples_and_runs_without_them_are_refused() {
    let folder = common::folder_in_memory();
    run("turnstyle-6", "step", folder.path());
    let whole = fs::read_to_string(folder.path().join("samples.tsv")).expect("there");
    let refused = |text: &str, part: &str| {
        replace(folder.path(), "samples.tsv", text);
        let (code, _, stderr) = common::outcome(common::farthest().arg("spot-solve").arg(folder.path()));
        assert!(code == 65 && stderr.contains(part) && stderr.lines().count() == 1, "{code}: {stderr}");
    };
    refused("rank\tstate\n", "expected the heading");
    refused(&whole.replace("1 2 3 4 5 6", "2 1 3 4 5 6"), "a depth, a rank and its state");
    refused(&format!("{whole}3\t720\t1 2 3 4 5 6\n"), "a depth, a rank and its state");
    refused(&format!("{whole}3\n"), "a depth, a rank and its state");
    replace(folder.path(), "samples.tsv", &whole);
    let (code, stdout, stderr) = common::outcome(common::farthest().args(["spot-solve", "--memory", "100"]).arg(folder.path()));
    assert!(
        code == 0
            && stdout.contains(" states, to depth 2, are as deep as the run says; ")
            && stdout.contains(" were too far for the memory"),
        "{code}: {stdout}{stderr}"
    );
    // As an earlier version left it.
    let sums = fs::read_to_string(folder.path().join("SHA256SUMS")).expect("there");
    let without: String = sums.lines().filter(|line| !line.ends_with("samples.tsv")).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("SHA256SUMS"), without).expect("written");
    fs::remove_file(folder.path().join("samples.tsv")).expect("there");
    common::succeed(common::farthest().arg("table").arg(folder.path()));
    let (code, _, stderr) = common::outcome(common::farthest().arg("spot-solve").arg(folder.path()));
    assert!(code == 74 && stderr.contains("samples.tsv"), "{code}: {stderr}");
}
