//! `farthest solve` as it is used: answers, all words, steps, tables, unreachable states, mistakes.
#![allow(missing_docs)]

mod common;

use common::boards::known_boards;
use common::{farthest, outcome, succeed};
use serde_json::Value;
use std::path::Path;

fn solve_json(puzzle: &str, state: &str, more: &[&str]) -> Value {
    let text = succeed(farthest().args(["solve", puzzle, "--state", state, "--json"]).args(more));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The rules as the puzzle is described, on the labels.
fn play(labels: &str, word: &str) -> String {
    let mut ring: Vec<&str> = labels.split(' ').collect();
    for name in word.split_whitespace() {
        match name {
            "R" => ring.rotate_right(1),
            "L" => ring.rotate_left(1),
            _ => {
                ring.swap(0, 1);
                ring.swap(2, 3);
            }
        }
    }
    ring.join(" ")
}

#[test]
fn a_word_leads_where_it_says_and_has_the_known_length() {
    // The published length of 4321 on 12 pieces.
    let answer = solve_json("turnstyle-12", "4321567890AB", &["--all", "--steps"]);
    assert_eq!((&answer["length"], &answer["solvable"], &answer["optimal"]), (&18.into(), &true.into(), &true.into()));
    let words = answer["words"].as_array().expect("a list");
    assert!(!words.is_empty());
    assert_eq!(u64::try_from(words.len()).ok(), answer["count"].as_u64());
    for word in words {
        let (from, word) = (answer["from"].as_str().expect("text"), word.as_str().expect("text"));
        assert_eq!(word.split(' ').count(), 18);
        assert_eq!(play(from, word), "1 2 3 4 5 6 7 8 9 10 11 12");
    }
    assert_eq!(answer["steps"].as_array().map(Vec::len), Some(19));
    assert_eq!(answer["steps"][0], "[ 4  3  2  1 ]  5  6  7  8  9 10 11 12");
}

/// Exact lengths of an independent program, in both metrics. The other way to solve boards has its
/// own test of them.
#[test]
fn rotation_boards_have_the_known_lengths() {
    let known = known_boards("optimal_cases.json");
    let cases = known["cases"].as_array().expect("a list");
    let mut checked = 0;
    // Every fifth case: 2x3 to 3x4 cells, blocks of 2 and 3.
    for case in cases.iter().step_by(5) {
        let number = |key: &str| case[key].as_u64().expect("a number");
        let labels: Vec<String> = case["board"].as_array().expect("a list").iter().map(ToString::to_string).collect();
        let puzzle = format!("rotation-board-{}x{}n{}", number("rows"), number("cols"), number("block"));
        for metric in ["quarter", "half"] {
            if let Some(length) = case[metric].as_u64().filter(|&length| length <= 12) {
                let answer = solve_json(&puzzle, &labels.join(" "), &["--metric", metric]);
                assert_eq!(answer["length"].as_u64(), Some(length), "{puzzle} {metric} {labels:?}: {answer}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 40, "{checked}");
}

#[test]
fn from_and_to_say_where_the_word_starts_and_ends() {
    let (one, other) = ("2 1 4 3 5 6 7 8", "8 2 1 4 3 5 6 7");
    for (state, flag, second) in [(one, "--to", other), (other, "--from", one)] {
        let answer = solve_json("turnstyle-8", state, &[flag, second]);
        assert_eq!((&answer["from"], &answer["to"]), (&one.into(), &other.into()));
        assert_eq!(answer["word"], "R");
    }
    let same = solve_json("turnstyle-8", "12345678", &[]);
    assert_eq!((&same["length"], &same["word"]), (&0.into(), &"".into()));
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let text = succeed(farthest().args(["solve", "turnstyle-12", "--state", "4321567890AB", "--all", "--most", "3"]));
    assert!(text.contains("the first 3 are listed, --most M lists more"), "{text}");
    assert_eq!(text.lines().count(), 8, "{text}");
}

#[test]
fn the_reason_is_given_when_there_is_no_word() {
    let (code, text, _) = outcome(farthest().args(["solve", "turnstyle-9", "--state", "213456789"]));
    assert!(code == 1 && text.contains("parity"), "{code} {text}");
    let (code, text, _) = outcome(farthest().args(["solve", "turnstyle-4", "--state", "2134"]));
    assert!(code == 1 && text.contains("only 8 states"), "{code} {text}");
    let (code, text, _) = outcome(farthest().args(["solve", "board-3x4n3", "--state", "2,1,3,4,5,6,7,8,9,10,11,12"]));
    assert!(code == 1 && text.contains("no word leads there"), "{code} {text}");
    let answer = solve_json("turnstyle-6", "213456", &[]);
    assert_eq!((&answer["solvable"], &answer["word"]), (&false.into(), &Value::Null));
    assert!(answer["reason"].as_str().is_some_and(|reason| reason.contains("only 120 states")), "{answer}");
}

#[test]
fn mistakes_are_one_clear_line() {
    for (arguments, code, part) in [
        (&["solve", "turnstyle-8", "--state", "1 2 3 4 5 6 7 7"][..], 2, "7 more than once and no 8"),
        (&["solve", "turnstyle-8", "--state", "1234567"], 2, "no 8"),
        (&["solve", "turnstyle-8", "--state", "12345678", "--from", "1234567x"], 2, "--from: found 'x'"),
        (&["solve", "turnstyle-8", "--state", "12345678", "--from", "12345678", "--to", "12345678"], 2, "--to"),
        (&["solve", "turnstyle-8"], 2, "<STATE>"),
        (&["solve", "turnstyle-8", "12345678", "--state", "12345678"], 2, "cannot be used with"),
        (&["solve", "turnstyle-99", "--state", "1"], 78, "largest size is 20"),
        (&["solve", "turnstyle-8", "--metric", "stp", "--state", "12345678"], 78, "step, turn, flip"),
        (&["solve", "turnstyle-14", "--state", "1 14 13 12 11 10 9 8 7 6 5 4 3 2", "--memory", "1M"], 78, "--memory"),
        (&["solve", "turnstyle-8", "--state", "21345678", "--memory", "lots"], 2, "8G"),
        (&["solve", "turnstyle-8", "--state", "21345678", "--table", "no-such-run"], 74, "no-such-run"),
        (&["solve", "turnstyle-8", "--state", "21345678", "--table", "results/turnstyle-9/step"], 65, "expected a run of turnstyle-8"),
        (&["solve", "turnstyle-7", "--state", "1234567", "--table", "results/turnstyle-7/step"], 65, "no archived levels"),
    ] {
        let (found, _, stderr) = outcome(farthest().args(arguments));
        assert_eq!(found, code, "{arguments:?}: {stderr}");
        assert!(stderr.contains(part) && stderr.trim_end().lines().count() <= 4, "{arguments:?}: {stderr}");
    }
}

/// The state as an argument, as a flag, and from standard input.
#[test]
fn a_state_may_be_given_in_three_ways() {
    let flag = succeed(farthest().args(["solve", "turnstyle-8", "--state", "21345678"]));
    assert_eq!(succeed(farthest().args(["solve", "turnstyle-8", "2 1 3 4 5 6 7 8"])), flag);
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = folder.path().join("state");
    std::fs::write(&file, "2 1 3 4 5 6 7 8\n").expect("written");
    let input = std::fs::File::open(&file).expect("there");
    assert_eq!(succeed(farthest().args(["solve", "turnstyle-8", "-"]).stdin(input)), flag);
}

/// The table of a whole search gives the words that the balls give, in every metric.
#[test]
fn a_stored_table_gives_the_same_answers() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for metric in ["step", "turn", "flip"] {
        let run = folder.path().join(metric);
        let run = run.to_str().expect("UTF-8");
        succeed(farthest().args(["run", "turnstyle-8", "--metric", metric, "--keep-levels", "--out", run, "--quiet"]));
        for state in ["21345678", "87654321", "43218765", "1 3 2 4 8 7 6 5", "12345678"] {
            let by_balls = solve_json("turnstyle-8", state, &["--metric", metric, "--all"]);
            let by_table = solve_json("turnstyle-8", state, &["--metric", metric, "--all", "--table", run]);
            for key in ["length", "count", "words", "word"] {
                assert!(!by_balls[key].is_null(), "{metric} {state} {key}: {by_balls}");
                assert_eq!(by_balls[key], by_table[key], "{metric} {state} {key}");
            }
        }
        let (code, _, stderr) = outcome(farthest().args([
            "solve",
            "turnstyle-8",
            "--metric",
            metric,
            "--state",
            "21345678",
            "--to",
            "21345678",
            "--table",
            run,
        ]));
        assert!(code == 2 && stderr.contains("--table"), "{stderr}");
    }
    // A damaged level is noticed, not believed.
    let level = Path::new(&folder.path()).join("step/levels/000003");
    let pack = std::fs::read_dir(&level).expect("a level").next().expect("a pack").expect("readable").path();
    let mut bytes = std::fs::read(&pack).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&pack, bytes).expect("writable");
    let run = folder.path().join("step");
    let (code, _, stderr) = outcome(farthest().args(["solve", "turnstyle-8", "--state", "87654321", "--table"]).arg(&run));
    assert_eq!(code, 65, "{stderr}");
}
