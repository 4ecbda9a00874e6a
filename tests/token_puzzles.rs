//! Puzzles without a group: moves that depend on the state. The kind is one variant of the rules,
//! one of the numbering and one of the moves, and nothing in `src/search/` knows it; so what a
//! search must do is tried on it from outside.
//!
//! The 8-puzzle with a real blank (every move can be undone, states differ in the number of moves),
//! and peg solitaire on a board of three rows of four holes (no move can be undone, pegs
//! disappear).

mod common;

use common::disturb::{fail_with, fault, only_line, scratch};
use common::needs::{Need, part_lacks};
use common::{distribution, farthest, json, mpirun, outcome, result_bytes, succeed};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

/// States by fewest moves from the solved state with the blank in a corner: OEIS A089473.
const EIGHT_PUZZLE: [u64; 32] = [
    1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286, 396, 748, 1024, 1893, 2512, 4485, 5638, 9529, 10878, 16993, 17110, 23952, 20224, 24047,
    15578, 14560, 6274, 3910, 760, 221, 2,
];

/// Cells of a grid that are beside each other.
fn neighbours(rows: usize, columns: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for cell in 0..rows * columns {
        if cell % columns + 1 < columns {
            pairs.extend([(cell, cell + 1), (cell + 1, cell)]);
        }
        if cell + columns < rows * columns {
            pairs.extend([(cell, cell + columns), (cell + columns, cell)]);
        }
    }
    pairs
}

/// A tile slides from the first cell of each pair into the blank at the second.
fn eight_puzzle() -> String {
    let mut text =
        "family = \"tokens\"\nname = \"eight-puzzle\"\ncells = 9\ncontents = 9\nstarts = [[1, 2, 3, 4, 5, 6, 7, 8, 0]]\n".to_owned();
    for (from, to) in neighbours(3, 3) {
        text += &format!(
            "[[moves]]\nname = \"{from}-{to}\"\ncells = [{from}, {to}]\nneeds = [[1, 2, 3, 4, 5, 6, 7, 8], [0]]\ntakes = [{to}, {from}]\n"
        );
    }
    text
}

/// Three holes in a row, either way, of three rows of four.
fn rows_of_three() -> Vec<[usize; 3]> {
    let mut rows = Vec::new();
    for cell in 0..12 {
        if cell % 4 < 2 {
            rows.extend([[cell, cell + 1, cell + 2], [cell + 2, cell + 1, cell]]);
        }
        if cell < 4 {
            rows.extend([[cell, cell + 4, cell + 8], [cell + 8, cell + 4, cell]]);
        }
    }
    rows
}

/// All holes full but the second one.
fn solitaire() -> String {
    let mut text =
        "family = \"tokens\"\nname = \"solitaire\"\ncells = 12\ncontents = 2\nstarts = [[1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]\n".to_owned();
    for [from, over, to] in rows_of_three() {
        text +=
            &format!("[[moves]]\nname = \"{from}-{to}\"\ncells = [{from}, {over}, {to}]\nneeds = [[1], [1], [0]]\nbecomes = [0, 0, 1]\n");
    }
    text
}

/// States by distance from a start: a search over a set, which shares nothing with the program.
fn counts<S: Clone + Eq + std::hash::Hash>(start: S, successors: impl Fn(&S) -> Vec<S>) -> Vec<u64> {
    let mut seen = HashSet::from([start.clone()]);
    let mut frontier = vec![start];
    let mut counts = Vec::new();
    while !frontier.is_empty() {
        counts.push(u64::try_from(frontier.len()).expect("small"));
        frontier = frontier.iter().flat_map(&successors).filter(|state| seen.insert(state.clone())).collect();
    }
    counts
}

/// Solitaire on the bits of a number.
fn solitaire_counts() -> Vec<u64> {
    let rows = rows_of_three();
    counts(0xffd_u16, |state| {
        let jumps = rows.iter().filter(|[from, over, to]| state >> from & 1 == 1 && state >> over & 1 == 1 && state >> to & 1 == 0);
        jumps.map(|[from, over, to]| state ^ (1 << from | 1 << over | 1 << to)).collect()
    })
}

/// A puzzle's file, and the runs of it.
struct Bench {
    folder: tempfile::TempDir,
    file: PathBuf,
}

impl Bench {
    fn new(text: &str) -> Self {
        let folder = scratch();
        let file = folder.path().join("puzzle.toml");
        fs::write(&file, text).expect("written");
        Self { folder, file }
    }

    fn run(&self, command: &mut std::process::Command, name: &str, more: &[&str]) -> PathBuf {
        let run = self.folder.path().join(name);
        succeed(command.arg("run").arg(&self.file).arg("--out").arg(&run).arg("--quiet").args(more));
        run
    }
}

fn puzzles() -> [(String, Vec<u64>); 2] {
    [(eight_puzzle(), EIGHT_PUZZLE.to_vec()), (solitaire(), solitaire_counts())]
}

#[test]
fn counts_are_the_known_ones() {
    for (text, expected) in puzzles() {
        let bench = Bench::new(&text);
        let run = bench.run(&mut farthest(), "run", &[]);
        assert_eq!(distribution(&run), expected);
        let summary = json(&run, "summary.json");
        assert!(summary["states_by_group_order"].is_null(), "{summary}");
        assert_eq!(summary["states"], expected.iter().sum::<u64>());
    }
    assert!(solitaire_counts().len() > 5);
}

#[test]
fn any_processes_and_threads_give_the_same_bytes() {
    for (text, _) in puzzles() {
        let bench = Bench::new(&text);
        let expected = result_bytes(&bench.run(&mut farthest(), "alone", &["--threads", "1"]));
        for participants in ["2", "3", "4"] {
            let run = bench.run(&mut farthest(), &format!("participants-{participants}"), &["--participants", participants]);
            assert!(result_bytes(&run) == expected, "{participants} participants");
        }
        if part_lacks(Need::Mpi) {
            continue;
        }
        for processes in 1..=4 {
            let run = bench.run(&mut mpirun(processes), &format!("processes-{processes}"), &["--threads", "1"]);
            assert!(result_bytes(&run) == expected, "{processes} processes");
        }
    }
}

/// Killed before a commit, resumed by another number of processes; then searched again in another
/// way.
#[test]
fn runs_are_resumed_and_rechecked() {
    for (text, expected) in puzzles() {
        let bench = Bench::new(&text);
        let whole = result_bytes(&bench.run(&mut farthest(), "whole", &[]));
        let run = bench.folder.path().join("run");
        let mut command = farthest();
        command.arg("run").arg(&bench.file).arg("--out").arg(&run).args(["--quiet", "--threads", "1", "--checkpoint-seconds", "0"]);
        fail_with(-1, fault(&mut command, "before-commit", 5, "kill"));
        assert!(!run.join("summary.json").exists());
        succeed(farthest().arg("resume").arg(&run).args(["--participants", "3", "--quiet"]));
        // Commits at another pace are part of the configuration, which is kept.
        let mut bytes = result_bytes(&run);
        bytes.insert("run.toml".into(), whole["run.toml"].clone());
        assert!(bytes == whole, "{run:?}");
        assert_eq!(distribution(&run), expected);
        succeed(farthest().arg("recheck").arg(&run).arg("--quiet"));
        assert_eq!(json(&run, "manifest.json")["evidence"], "rechecked");
    }
}

/// What needs a group, or a checker that knows the rules, says so.
#[test]
fn what_cannot_be_done_is_said() {
    let bench = Bench::new(&solitaire());
    let run = bench.run(&mut farthest(), "run", &[]);
    let refused = |command: &mut std::process::Command, part: &str| {
        let (code, _, stderr) = outcome(command);
        assert!(code == 78 && only_line(&stderr).contains(part), "{code} {stderr}");
    };
    refused(farthest().args(["certify", "distance"]).arg(&run), "there are no certificates");
    refused(farthest().args(["export", "gap"]).arg(&bench.file), "no group");
    let (code, _, stderr) = outcome(common::checker("256M").arg(&run));
    assert!(code == 2 && stderr.contains("tokens"), "{stderr}");
}

/// Pegs that disappear: words lead from the start only.
#[test]
fn shortest_words_of_solitaire() {
    let bench = Bench::new(&solitaire());
    let run = bench.run(&mut farthest(), "run", &[]);
    let levels = distribution(&run).len();
    let start = "1 0 1 1 1 1 1 1 1 1 1 1";
    for antipode in common::antipodes(&run) {
        let told = succeed(farthest().arg("solve").arg(&bench.file).args(["--json", "--from", start, "--state", &antipode]));
        let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        assert_eq!(told["length"].as_u64(), Some(u64::try_from(levels).expect("small") - 1), "{told}");
        let back = succeed(farthest().arg("solve").arg(&bench.file).args(["--json", "--state", &antipode]));
        assert!(back.contains("\"solvable\":false"), "{back}");
    }
}

/// Shortest words where every move can be undone.
#[test]
fn states_of_the_eight_puzzle_are_solved() {
    let bench = Bench::new(&eight_puzzle());
    let solve = |state: &str| -> serde_json::Value {
        let told = succeed(farthest().arg("solve").arg(&bench.file).args(["--json", "--state", state]));
        serde_json::from_str(&told).expect("JSON")
    };
    let near = solve("1 2 3 4 5 6 7 0 8");
    assert_eq!((near["solvable"].as_bool(), near["length"].as_u64()), (Some(true), Some(1)), "{near}");
    // One of the two states that are 31 moves away (OEIS A087725).
    let far = solve("8 6 7 2 5 4 3 0 1");
    assert_eq!((far["solvable"].as_bool(), far["length"].as_u64()), (Some(true), Some(31)), "{far}");
    let never = solve("2 1 3 4 5 6 7 8 0");
    assert_eq!(never["solvable"].as_bool(), Some(false), "{never}");
    assert!(never["reason"].as_str().expect("text").contains("search"), "{never}");
}
