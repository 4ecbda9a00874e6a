//! What `farthest plan` says about traffic, against what runs then measure.

mod common;

use std::fs;
use std::path::Path;

/// The plan of a configuration, for a number of processes.
fn plan(config: &Path, processes: u32) -> serde_json::Value {
    let plan = common::succeed(common::farthest().arg("plan").arg(config).arg("--json"));
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("one JSON value");
    let rows = plan["per_processes"].as_array().expect("a list");
    rows.iter().find(|row| row["processes"] == processes).expect("a row").clone()
}

/// A level of a run.
struct Level {
    /// Its states.
    states: f64,
    /// All states of the puzzle.
    all: f64,
    /// Share of all states that are seen when it is expanded.
    seen: f64,
    /// Bytes that were sent to expand it.
    bytes: f64,
}

/// The levels of a run of `config`.
fn run(config: &Path, processes: u32) -> Vec<Level> {
    let folder = config.with_extension("run");
    let mut command = common::farthest();
    command.arg("run").arg(config).arg("--out").arg(&folder).args(["--quiet", "--progress", "none", "--threads", "1"]);
    command.args(["--participants", &processes.to_string()]);
    common::succeed(&mut command);
    let table = fs::read_to_string(folder.join("distribution.tsv")).expect("a table");
    let states: Vec<f64> = table.lines().skip(1).map(|line| line.split('\t').nth(1).expect("a count").parse().expect("a number")).collect();
    let all: f64 = states.iter().sum();
    let manifest = common::json(&folder, "manifest.json");
    let bytes = manifest["levels"].as_array().expect("a list").iter().map(|level| number(&level["bytes_exchanged"]));
    let mut seen = 0.0;
    states
        .iter()
        .zip(bytes)
        .map(|(&states, bytes)| {
            seen += states;
            Level { states, all, seen: seen / all, bytes }
        })
        .collect()
}

fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn levels_send_what_was_planned() {
    let folder = common::folder_in_memory();
    for (puzzle, metric) in [("turnstyle-9", "step"), ("turnstyle-10", "step"), ("rotation-board-2x5n2", "quarter")] {
        for (expansion, processes) in [("lanes", 2), ("lanes", 4), ("states", 2), ("states", 4)] {
            let config = folder.path().join(format!("{puzzle}-{expansion}-{processes}.toml"));
            let search = format!("[search]\nshare_memory = false\nexpansion = \"{expansion}\"\n");
            fs::write(&config, format!("puzzle = \"{puzzle}\"\nmetric = \"{metric}\"\n{search}")).expect("written");
            let planned = plan(&config, processes);
            let levels = run(&config, processes);
            // Where little is seen, what is mostly zeros is compressed, and short lists have longer
            // distances.
            let large: Vec<&Level> = levels.iter().filter(|level| level.seen > 0.6 && level.states > 0.02 * level.all).collect();
            assert!(large.len() >= 3);
            for level in large {
                let (found, expected, tolerance) = match expansion {
                    "lanes" => (level.bytes, number(&planned["dense_level_bytes"]), 0.1),
                    _ => (level.bytes, level.states * number(&planned["bytes_per_state"]), 0.25),
                };
                let what = format!("{puzzle} by {expansion}, {processes} processes, {:.2} seen", level.seen);
                assert!((found / expected - 1.0).abs() < tolerance, "{what}: {found} bytes, {expected} planned");
            }
        }
    }
}

/// `farthest plan` of a shipped puzzle or run file, in seconds.
fn planned_in(what: &Path) -> f64 {
    let since = std::time::Instant::now();
    common::succeed(common::farthest().arg("plan").arg(what));
    since.elapsed().as_secs_f64()
}

/// The promise is two seconds on a quiet machine; a loaded one gets more.
#[test]
fn plans_of_all_shipped_files_are_quick() {
    for folder in ["configs/puzzles", "configs/runs"] {
        for entry in fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("listed").path();
            let seconds = planned_in(&path);
            println!("{}: {seconds:.1} s", path.display());
            assert!(seconds < 20.0, "{}: {seconds} s", path.display());
        }
    }
}

#[test]
fn all_storages_are_planned_and_can_be_chosen() {
    let folder = common::folder_in_memory();
    let plan = common::succeed(common::farthest().args(["plan", "turnstyle-12"]));
    for part in ["storage memory", "storage files", "storage compact", "taken here"] {
        assert!(plan.contains(part), "{plan}");
    }
    let chosen = |more: &[&str]| {
        let plan = common::succeed(common::farthest().args(["plan", "turnstyle-10", "--json"]).args(more));
        serde_json::from_str::<serde_json::Value>(&plan).expect("JSON")["storage"].as_str().expect("a word").to_owned()
    };
    assert_eq!(chosen(&[]), "memory");
    for storage in ["memory", "files", "compact"] {
        assert_eq!(chosen(&["--storage", storage]), storage);
    }
    let run = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        common::succeed(common::farthest().args(["run", "turnstyle-8", "--quiet", "--out"]).arg(&out).args(more));
        let mut bytes = common::result_bytes(&out);
        let config = String::from_utf8(bytes.remove("run.toml").expect("there")).expect("text");
        (bytes, config)
    };
    // Whoever resumes may have more or less memory, so what was chosen here is in the manifest only.
    let (auto, config) = run("auto", &[]);
    assert!(config.contains("storage = \"auto\"\nexpansion = \"auto\""), "{config}");
    assert_eq!(common::json(&folder.path().join("auto"), "manifest.json")["settings"]["storage"], "memory");
    let (files, config) = run("files", &["--storage", "files"]);
    assert!(config.contains("storage = \"files\"\nexpansion = \"auto\""), "{config}");
    assert_eq!(auto, files);
    let (compact, config) = run("compact", &["--storage", "compact", "--expansion", "lanes"]);
    assert!(config.contains("storage = \"compact\"\nexpansion = \"lanes\""), "{config}");
    assert_eq!(files, compact);
}
