//! Puzzles with the names and numbers that people have: generators called `(0,1)` or `α`, a puzzle
//! called `M11`, positions that count from 1.

mod common;

use common::truth::verify;
use common::{farthest, json, known, outcome, succeed};
use std::fs;
use std::process::Command;

/// The Mathieu group M11 on eleven points has 7,920 elements (Conway and others, "ATLAS of Finite
/// Groups", 1985); generators as GAP's `MathieuGroup(11)` gives them.
#[test]
fn a_group_as_gap_writes_it() {
    let folder = common::folder_in_memory();
    let puzzle = known("M11.toml");
    let plan = succeed(farthest().arg("plan").arg(&puzzle));
    assert!(plan.contains("puzzle            M11 in metric step") && !plan.contains("remark"), "{plan}");
    let run = folder.path().join("run");
    succeed(farthest().args(["run", "--keep-levels", "--quiet", "--out"]).arg(&run).arg(&puzzle));
    assert_eq!(json(&run, "summary.json")["states"], 7_920);
    assert_eq!(json(&run, "summary.json")["puzzle"], "M11");
    succeed(farthest().args(["certify", "distance"]).arg(&run));
    let told = succeed(verify().arg(&run));
    assert!(told.starts_with("verified") && told.contains("M11 (step)") && told.contains("7920 states can be reached"), "{told}");
    let certificate = fs::read_to_string(run.join("distance.cert")).expect("text");
    for name in ["(1..11)", "α[3,7]", "(1..11)'", "α[3,7]'"] {
        assert!(certificate.contains(&format!("generator {name} ")), "{certificate}");
    }
    // Words have blanks between the names.
    let antipodes = fs::read_to_string(run.join("antipodes.tsv")).expect("text");
    let state = antipodes.lines().nth(1).and_then(|line| line.split('\t').nth(1)).expect("an antipode");
    let told = succeed(farthest().arg("solve").arg(&puzzle).arg(state));
    let word = told.lines().last().expect("a word");
    assert!(word.split(' ').all(|name| certificate.contains(&format!("generator {name} "))), "{told}");
    // A word with these names is read by both checkers.
    let word = folder.path().join("word.cert");
    succeed(farthest().args(["certify", "word"]).arg(&puzzle).arg(state).arg("--out").arg(&word));
    let told = succeed(verify().arg(&word));
    assert!(told.starts_with("verified"), "{told}");
    if common::needs::part_lacks(common::needs::Need::Python) {
        return;
    }
    let second = succeed(Command::new("python3").arg("scripts/verify.py").arg(&word));
    assert!(second.starts_with("verified"), "{second}");
}

/// Cycles that were meant to count from 1 leave position 0 alone: that is said, and nothing more.
#[test]
fn positions_that_seem_to_count_from_1() {
    let folder = common::folder_in_memory();
    let puzzle = folder.path().join("slip.toml");
    let text = |base: &str, positions: u32| {
        format!(
            "family = \"permutations\"\nname = \"slip\"\npositions = {positions}\n{base}inverses = true\n\
             [[generators]]\nname = \"A\"\ncycles = \"(1 2 3)(4 5)\"\n"
        )
    };
    fs::write(&puzzle, text("", 6)).expect("written");
    let remark = "no generator moves position 0; if the positions count from 1, say base = 1";
    let plan = succeed(farthest().arg("plan").arg(&puzzle));
    assert!(plan.contains(remark), "{plan}");
    let (code, _, stderr) = outcome(farthest().args(["run", "--out"]).arg(folder.path().join("run")).arg(&puzzle));
    assert!(code == 0 && stderr.contains(remark), "{stderr}");
    // Where the last position is moved the slip cannot be run at all, and the cure is named.
    fs::write(&puzzle, text("", 5)).expect("written");
    let (code, _, stderr) = outcome(farthest().arg("plan").arg(&puzzle));
    assert!(
        code == 78 && stderr.contains("found 5, expected a position from 0 to 4; positions count from 0, or from 1 with base = 1"),
        "{stderr}"
    );
    fs::write(&puzzle, text("base = 1\n", 5)).expect("written");
    let plan = succeed(farthest().arg("plan").arg(&puzzle));
    assert!(plan.contains("states            6 (") && !plan.contains("remark"), "{plan}");
}

/// A folder with a puzzle's short name, as in `results/`, does not stand in its way.
#[test]
fn a_folder_of_results_has_the_name_of_its_puzzle() {
    let folder = common::folder_in_memory();
    fs::create_dir(folder.path().join("turnstyle-6")).expect("made");
    for words in [&["plan", "turnstyle-6"][..], &["solve", "turnstyle-6", "123456"], &["run", "turnstyle-6", "--quiet", "--out", "run"]] {
        succeed(farthest().current_dir(folder.path()).args(words));
    }
    fs::create_dir(folder.path().join("no-puzzle")).expect("made");
    let (code, _, stderr) = outcome(farthest().current_dir(folder.path()).args(["plan", "no-puzzle"]));
    assert!(code == 78 && stderr.contains("no-puzzle"), "{stderr}");
}
