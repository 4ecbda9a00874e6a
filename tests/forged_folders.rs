//! Run folders of somebody who controls every file: what is false in a way that can be told without
//! searching is refused by every command that reads a run, in one line that names the file.
//!
//! A table of forgeries: a name, a change of a copied true folder (whose checksums are made to
//! fit), and what must be said. The labels that such folders get are tested below.

mod common;

use common::disturb::{copy_folder, fail_with, only_line, scratch, sha256};
use common::forge::{alter, claim, edit_sums, exchanged, fingerprint_again, replace, shown_label, state, stated_label, sum_again};
use common::{antipodes, certified, checker, distribution, farthest, json, outcome, result_bytes, succeed};
use farthest::base::StateRank;
use farthest::evidence::{Evidence, dataset};
use farthest::families::run_folder;
use farthest::ranking::StateSpace;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A change of a copied folder, and what its readers say: the exit code, and parts of the line.
type Forgery = (&'static str, i32, &'static [&'static str], fn(&Path));

/// A change of a copied folder, with the label that it then deserves.
type LabelCase<'a> = (&'a str, &'a str, &'a dyn Fn(&Path));

/// turnstyle-7 in step, certified and rechecked: 2,520 states, 16 levels, 9 antipodes.
struct Base {
    folder: TempDir,
    run: PathBuf,
}

impl Base {
    fn new() -> Self {
        let folder = scratch();
        let run = certified("turnstyle-7", "step", folder.path());
        succeed(farthest().args(["recheck", "--quiet"]).arg(&run));
        Self { folder, run }
    }

    fn copy(&self, name: &str) -> PathBuf {
        let copy = self.folder.path().join(name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"));
        copy_folder(&self.run, &copy);
        copy
    }
}

/// The commands that read a complete run.
fn readers(run: &Path) -> Vec<Command> {
    [
        &["table"][..],
        &["table", "--format", "json"],
        &["status"],
        &["recheck", "--quiet"],
        &["spot-solve"],
        &["certify", "distance"],
        &["export", "gap"],
    ]
    .iter()
    .map(|words| {
        let mut command = farthest();
        command.args(*words).arg(run);
        command
    })
    .collect()
}

/// Every reader refuses the folder with the same words, on one line without control characters, and
/// changes none of its files.
fn refused(run: &Path, (name, code, parts, change): &Forgery) {
    change(run);
    let manifest = || fs::read(run.join("manifest.json")).ok();
    let sums = || fs::read(run.join("SHA256SUMS")).ok();
    let before = (manifest(), sums());
    for mut command in readers(run) {
        let (found, stdout, stderr) = outcome(&mut command);
        assert_eq!(found, *code, "{name}: {command:?}\n{stdout}{stderr}");
        let line = only_line(&stderr);
        assert!(parts.iter().all(|part| line.contains(part)), "{name}: {command:?}\n{parts:?}\n{line}");
        assert!(!line.chars().any(char::is_control) && line.len() < 2_000, "{name}: {line:?}");
        assert!(stdout.is_empty(), "{name}: {command:?} printed {stdout}");
    }
    assert_eq!((manifest(), sums()), before, "{name}");
}

fn refuse_all(forgeries: &[Forgery]) {
    let base = Base::new();
    for forgery in forgeries {
        let copy = base.copy(forgery.0);
        refused(&copy, forgery);
        fs::remove_dir_all(copy).expect("removable");
    }
}

/// States something else in the summary.
macro_rules! states {
    ($key:literal, $value:literal) => {
        |run| {
            state(run, $key, $value);
            sum_again(run);
        }
    };
}

#[test]
fn the_true_folder_is_accepted() {
    let base = Base::new();
    for mut command in readers(&base.run) {
        succeed(&mut command);
    }
    assert_eq!(shown_label(&base.run), "certified");
    // What the tests below build on: a folder that the forger touched without changing what it
    // says.
    let copy = base.copy("touched");
    claim(&copy, &distribution(&base.run), 3);
    assert_eq!(result_bytes(&copy)["summary.json"], result_bytes(&base.run)["summary.json"]);
    assert_eq!(shown_label(&copy), "certified");
}

#[test]
fn false_summaries_are_refused() {
    refuse_all(&[
        ("mean", 65, &["summary.json: found mean depth 10.300795, expected 10.300794"], states!("mean_depth", "10.300795")),
        ("mean-of-many-digits", 65, &["mean depth 10.3007936"], states!("mean_depth", "10.3007936")),
        ("name", 65, &["the puzzle \"turnstyle-8\", expected \"turnstyle-7\" as in run.toml"], states!("puzzle", "\"turnstyle-8\"")),
        ("name-with-a-line-end", 65, &["the puzzle \"turnstyle-7\\n"], states!("puzzle", "\"turnstyle-7\\nturnstyle-9 | certified\"")),
        ("name-with-escape", 65, &["the puzzle \"\\u{1b}[2J"], states!("puzzle", "\"\\u001b[2Jturnstyle-7\"")),
        ("name-with-return", 65, &["the puzzle \"x\\rturnstyle-7\""], states!("puzzle", "\"x\\rturnstyle-7\"")),
        ("metric", 65, &["the metric \"turn\", expected \"step\""], states!("metric", "\"turn\"")),
        ("states", 65, &["found states 2521, expected 2520"], states!("states", "2521")),
        ("order", 65, &["states by group order 5040"], states!("states_by_group_order", "5040")),
        ("gods-number", 65, &["God's number 16, expected 15"], states!("gods_number", "16")),
        ("antipodes", 65, &["antipodes 8, expected 9"], states!("antipodes", "8")),
        ("listed", 65, &["antipodes.tsv: found 9 listed, and 8 by summary.json"], states!("antipodes_listed", "8")),
        ("fingerprint", 65, &["summary.json: found fingerprint 00, expected "], states!("fingerprint", "\"00\"")),
        ("digest", 65, &["run.toml: found a puzzle with digest ", "00 as in summary.json"], states!("puzzle_digest", "\"00\"")),
        ("format", 65, &["summary.json: found format 2, expected format 1"], states!("format", "2")),
        ("negative", 65, &["summary.json: found invalid value"], states!("states", "-1")),
        ("unknown-key", 65, &["summary.json: found the unknown key \"verified\""], |run| {
            alter(run, "summary.json", "{", "{\n  \"verified\": true,");
        }),
        ("repeated-key", 65, &["summary.json: found the key `states` a second time"], |run| {
            alter(run, "summary.json", "{", "{\n  \"states\": 2520,");
        }),
        ("no-json", 65, &["summary.json: found "], |run| alter(run, "summary.json", "{", "")),
    ]);
}

#[test]
fn false_levels_are_refused() {
    refuse_all(&[
        // Counts that contradict the group, with everything else made to fit.
        (
            "one-state-more",
            65,
            &["distribution.tsv: found counts that sum to 2521, expected 2520, the number of states by the group's order"],
            |run| {
                let mut counts = distribution(run);
                counts[9] += 1;
                claim(run, &counts, 3);
            },
        ),
        ("one-state-less", 65, &["distribution.tsv: found counts that sum to 2519, expected 2520"], |run| {
            let mut counts = distribution(run);
            counts[9] -= 1;
            claim(run, &counts, 3);
        }),
        ("one-state", 65, &["distribution.tsv: found counts that sum to 1, expected 2520"], |run| claim(run, &[1], 3)),
        ("a-billion-states", 65, &["found counts that sum to 1000000001, expected 2520"], |run| {
            let mut counts: Vec<u64> = (0..30).map(|depth| 1 << depth).collect();
            let rest = 1_000_000_001 - counts[..29].iter().sum::<u64>();
            counts[29] = rest;
            claim(run, &counts, 3);
        }),
        ("all-at-depth-0", 65, &["distribution.tsv: found 2520 at depth 0, expected 1,"], |run| {
            claim(run, &[2520], 3);
            state(run, "antipodes_listed", "9");
            sum_again(run);
        }),
        ("an-empty-level", 65, &["distribution.tsv: found \"7\\t0\" in line 9, expected depth<TAB>states"], |run| {
            let row = distribution(run)[7];
            alter(run, "distribution.tsv", &format!("\n7\t{row}\n"), "\n7\t0\n");
        }),
        ("sums-over-64-bits", 65, &["in line 2, expected "], |run| {
            alter(run, "distribution.tsv", "\n0\t1\n", "\n0\t18446744073709551615\n");
            replace(run, "levels.tsv", "\n0\t1\t0\t0\t3\t", "\n0\t18446744073709551615\t0\t36893488147419103230\t3\t");
            fingerprint_again(run);
        }),
        ("a-count", 65, &["levels.tsv: found \"9\\t", "in line 11, expected the depths and states of distribution.tsv"], |run| {
            let counts = exchanged(run, 9);
            alter(run, "distribution.tsv", &format!("\n9\t{}\n", counts[10]), &format!("\n9\t{}\n", counts[9]));
        }),
        ("a-level-less", 65, &["levels.tsv: found 15 levels, expected 16"], |run| {
            let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
            let last = text.lines().last().expect("rows").to_owned() + "\n";
            alter(run, "levels.tsv", &last, "");
        }),
        ("a-level-more", 65, &["in line 18, expected the depths and states"], |run| {
            let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
            fs::write(run.join("levels.tsv"), format!("{text}16\t1\t1\t2\t0\t{}\n", "0".repeat(32))).expect("written");
            fingerprint_again(run);
        }),
        ("edges", 65, &["levels.tsv: found \"0\\t1\\t0\\t0\\t2", "expected 3 edges, all generators of all states"], |run| {
            alter(run, "levels.tsv", "\n0\t1\t0\t0\t3\t", "\n0\t1\t0\t0\t2\t");
        }),
        ("edges-out-of-balance", 65, &["in line 3, expected 2 edges down, those up from the level before"], |run| {
            alter(run, "levels.tsv", "\n0\t1\t0\t0\t3\t", "\n0\t1\t0\t1\t2\t");
        }),
        ("edges-down-from-the-start", 65, &["levels.tsv: found \"0\\t1\\t1", "in line 2, expected "], |run| {
            alter(run, "levels.tsv", "\n0\t1\t0\t0\t3\t", "\n0\t1\t1\t0\t2\t");
        }),
        ("a-fingerprint", 65, &["summary.json: found fingerprint ", "as in levels.tsv"], |run| {
            let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
            let row = text.lines().nth(5).expect("rows");
            alter(run, "levels.tsv", row, &format!("{}{}", row[..row.len() - 32].to_owned(), "0".repeat(32)));
        }),
        ("a-fingerprint-of-other-letters", 65, &["expected depth, states, edges down, same and up, and a fingerprint"], |run| {
            let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
            let row = text.lines().nth(5).expect("rows");
            replace(run, "levels.tsv", row, &format!("{}{}", row[..row.len() - 32].to_owned(), "X".repeat(32)));
            fingerprint_again(run);
        }),
        ("line-ends", 65, &["levels.tsv: found ", "\\r\" in line 1, expected the heading"], |run| {
            let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
            fs::write(run.join("levels.tsv"), text.replace('\n', "\r\n")).expect("written");
            sum_again(run);
        }),
        ("no-last-line-end", 65, &["distribution.tsv: found a row without an end in line 17"], |run| {
            alter(run, "distribution.tsv", "\n15\t9\n", "\n15\t9");
        }),
        ("no-table", 65, &["distribution.tsv: found \"\" in line 1, expected the heading"], |run| {
            fs::write(run.join("distribution.tsv"), "").expect("written");
            sum_again(run);
        }),
    ]);
}

/// The line of a table that holds a state, with its line end.
fn line_of(run: &Path, name: &str, number: usize) -> String {
    let text = fs::read_to_string(run.join(name)).expect("text");
    text.lines().nth(number).expect("a line").to_owned() + "\n"
}

#[test]
fn false_lists_of_states_are_refused() {
    refuse_all(&[
        ("antipodes-descend", 65, &["antipodes.tsv: found ", "in line 4, expected a larger rank than in the line before"], |run| {
            let (third, fourth) = (line_of(run, "antipodes.tsv", 2), line_of(run, "antipodes.tsv", 3));
            alter(run, "antipodes.tsv", &format!("{third}{fourth}"), &format!("{fourth}{third}"));
        }),
        ("antipode-twice", 65, &["antipodes.tsv: found ", "in line 4, expected a larger rank"], |run| {
            let (third, fourth) = (line_of(run, "antipodes.tsv", 2), line_of(run, "antipodes.tsv", 3));
            alter(run, "antipodes.tsv", &fourth, &third);
        }),
        ("antipode-left-out", 65, &["antipodes.tsv: found 8 listed, and 9 by summary.json, expected 9: all 9"], |run| {
            let line = line_of(run, "antipodes.tsv", 4);
            alter(run, "antipodes.tsv", &line, "");
        }),
        ("antipodes-left-out-everywhere", 65, &["antipodes.tsv: found 8 listed, and 8 by summary.json, expected 9"], |run| {
            let line = line_of(run, "antipodes.tsv", 4);
            replace(run, "antipodes.tsv", &line, "");
            state(run, "antipodes_listed", "8");
            sum_again(run);
        }),
        ("antipodes-more-than-asked-for", 65, &["antipodes.tsv: found 9 listed", "expected 5: all 9, or most_antipodes = 5"], |run| {
            alter(run, "run.toml", "most_antipodes = 1000", "most_antipodes = 5");
        }),
        ("antipode-of-another-rank", 65, &["in line 2, expected a rank and its state"], |run| {
            let line = line_of(run, "antipodes.tsv", 1);
            let (rank, rest) = line.split_once('\t').expect("cells");
            let other = rank.parse::<u64>().expect("a rank") - 1;
            alter(run, "antipodes.tsv", &line, &format!("{other}\t{rest}"));
        }),
        ("antipode-with-another-digit", 65, &["in line 2, expected a rank and its state"], |run| {
            let line = line_of(run, "antipodes.tsv", 1);
            alter(run, "antipodes.tsv", &line, &format!("0{line}"));
        }),
        ("antipode-beyond-the-last-rank", 65, &["expected a rank and its state"], |run| {
            let line = line_of(run, "antipodes.tsv", 9);
            let (_, state) = line.split_once('\t').expect("cells");
            alter(run, "antipodes.tsv", &line, &format!("18446744073709551615\t{state}"));
        }),
        ("solved-as-antipode", 65, &["found the state 0 of depth 15, expected a state that can be so far from the start"], |run| {
            let line = line_of(run, "antipodes.tsv", 1);
            alter(run, "antipodes.tsv", &line, "0\t1 2 3 4 5 6 7\n");
        }),
        ("antipodes-with-escape", 65, &["antipodes.tsv: found \"\\u{1b}[2J"], |run| {
            let line = line_of(run, "antipodes.tsv", 1);
            alter(run, "antipodes.tsv", &line, "\u{1b}[2J\n");
        }),
        ("samples-too-deep", 65, &["samples.tsv: found a state of depth 16, expected none deeper than 15"], |run| {
            let text = fs::read_to_string(run.join("samples.tsv")).expect("text");
            fs::write(run.join("samples.tsv"), text.replace("\n15\t", "\n16\t")).expect("written");
            sum_again(run);
        }),
        ("samples-in-another-order", 65, &["samples.tsv: found ", "in line 5, expected a larger depth or rank"], |run| {
            let (third, fourth) = (line_of(run, "samples.tsv", 3), line_of(run, "samples.tsv", 4));
            alter(run, "samples.tsv", &format!("{third}{fourth}"), &format!("{fourth}{third}"));
        }),
        ("samples-too-many", 65, &["samples.tsv: found ", "expected at most 4 states of a depth"], |run| {
            let text = fs::read_to_string(run.join("samples.tsv")).expect("text");
            // The rows of depth 10 are said to be of depth 9, in the order of their ranks.
            let rank = |row: &str| row.split('\t').nth(1).expect("cells").parse::<u64>().expect("a rank");
            let (mut nine, others): (Vec<String>, Vec<String>) =
                text.lines().skip(1).map(|row| row.replacen("10\t", "9\t", 1)).partition(|row| row.starts_with("9\t"));
            nine.sort_by_key(|row| rank(row));
            let at = others.iter().position(|row| row.starts_with("11\t")).expect("rows");
            let rows = [&others[..at], &nine, &others[at..]].concat();
            fs::write(run.join("samples.tsv"), format!("depth\trank\tstate\n{}\n", rows.join("\n"))).expect("written");
            sum_again(run);
        }),
        ("samples-more-than-states", 65, &["samples.tsv: found a sample of 4 of depth 1, expected at most 3"], |run| {
            let text = fs::read_to_string(run.join("samples.tsv")).expect("text");
            let of = |depth: &str| text.lines().filter(|row| row.starts_with(depth)).map(|row| format!("{row}\n")).collect::<String>();
            // Four of depth 9 in the place of those of depth 1.
            assert_eq!(of("9\t").lines().count(), 4);
            alter(run, "samples.tsv", &of("9\t"), "");
            let nine: String = of("9\t").lines().map(|row| row.replacen("9\t", "1\t", 1) + "\n").collect();
            alter(run, "samples.tsv", &of("1\t"), &nine);
        }),
        ("sample-of-another-state", 65, &["samples.tsv: found ", "in line 5, expected a depth, a rank and its state"], |run| {
            let line = line_of(run, "samples.tsv", 4);
            let (rest, _) = line.rsplit_once('\t').expect("cells");
            alter(run, "samples.tsv", &line, &format!("{rest}\t1 2 3 4 5 6 7\n"));
        }),
        ("solved-as-sample", 65, &["samples.tsv: found the state 0 of depth 1"], |run| {
            let line = line_of(run, "samples.tsv", 2);
            assert!(line.starts_with("1\t"), "{line}");
            alter(run, "samples.tsv", &line, "1\t0\t1 2 3 4 5 6 7\n");
        }),
        ("another-antipode-as-sample", 65, &["samples.tsv: found the state ", "those of the last depth as in antipodes.tsv"], |run| {
            let text = fs::read_to_string(run.join("samples.tsv")).expect("text");
            let sampled = text.lines().last().expect("rows").to_owned();
            let fourteen = text.lines().rfind(|row| row.starts_with("14\t")).expect("rows").to_owned();
            // A state of depth 14 as the only sample of depth 15.
            let rows: String =
                text.lines().filter(|row| !row.starts_with("15\t") && *row != fourteen).map(|row| format!("{row}\n")).collect();
            assert!(sampled.starts_with("15\t"));
            fs::write(run.join("samples.tsv"), format!("{rows}{}\n", fourteen.replacen("14\t", "15\t", 1))).expect("written");
            sum_again(run);
        }),
        ("an-antipode-as-sample-of-another-depth", 65, &["samples.tsv: found the state ", "of depth 14"], |run| {
            let text = fs::read_to_string(run.join("samples.tsv")).expect("text");
            let rows: String =
                text.lines().filter(|row| !row.starts_with("15\t") && !row.starts_with("14\t")).map(|row| format!("{row}\n")).collect();
            fs::write(run.join("samples.tsv"), format!("{rows}14\t{}", line_of(run, "antipodes.tsv", 1))).expect("written");
            sum_again(run);
        }),
        ("samples-of-junk", 65, &["samples.tsv: found \"junk\" in line 1, expected the heading"], |run| {
            fs::write(run.join("samples.tsv"), "junk\n").expect("written");
            sum_again(run);
        }),
        ("samples-not-listed", 65, &["SHA256SUMS: found no line for samples.tsv"], |run| {
            edit_sums(run, |line| (!line.ends_with("samples.tsv")).then(|| line.to_owned()));
        }),
        ("samples-missing", 74, &["samples.tsv"], |run| fs::remove_file(run.join("samples.tsv")).expect("there")),
    ]);
}

/// The rows of `levels.tsv` with some numbers changed: row (from the heading, 0), cell, and by how much.
fn change_levels(run: &Path, changes: &[(usize, usize, i64)]) {
    let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
    let mut rows: Vec<Vec<String>> = text.lines().map(|row| row.split('\t').map(str::to_owned).collect()).collect();
    for &(row, cell, by) in changes {
        rows[row][cell] = (rows[row][cell].parse::<i64>().expect("a number") + by).to_string();
    }
    fs::write(run.join("levels.tsv"), rows.iter().map(|row| row.join("\t") + "\n").collect::<String>()).expect("written");
    sum_again(run);
}

/// What holds of some puzzles only: signs where all generators are odd, edges where no generator can be undone.
#[test]
fn false_statements_about_signs_and_directed_edges_are_refused() {
    let folder = scratch();
    let directed = folder.path().join("directed.toml");
    let cycle_and_swap = "[[generators]]\nname = \"c\"\ncycles = \"(0 1 2 3 4)\"\n[[generators]]\nname = \"s\"\ncycles = \"(0 1)\"\n";
    let text = format!("family = \"permutations\"\nname = \"directed\"\npositions = 5\n{cycle_and_swap}");
    fs::write(&directed, text).expect("written");
    let alternating = certified("rotation-board-2x3n2", "quarter", folder.path());
    let directed = certified(directed.to_str().expect("UTF-8"), "step", folder.path());
    let check = |run: &Path, forgery: &Forgery| {
        let copy = folder.path().join(forgery.0);
        copy_folder(run, &copy);
        refused(&copy, forgery);
    };
    check(
        &alternating,
        &("within-a-level", 65, &["levels.tsv: found ", "in line 5, expected no edges within a level"], |run| {
            change_levels(run, &[(4, 4, -1), (4, 3, 1), (5, 2, -1), (5, 3, 1)]);
        }),
    );
    let wrong_sign: Forgery =
        ("wrong-sign", 65, &["antipodes.tsv: found the state ", "of depth 7, expected a state that can be so far"], |run| {
            let puzzle = run_folder::read(run).expect("whole").puzzle;
            let line = line_of(run, "antipodes.tsv", 1);
            let rank: u64 = line.split('\t').next().expect("cells").parse().expect("a rank");
            // Of the ranks 2i and 2i + 1 one is even.
            let state = puzzle.text(&StateSpace::of(&puzzle).unrank(StateRank(rank ^ 1)));
            alter(run, "antipodes.tsv", &line, &format!("{}\t{state}\n", rank ^ 1));
        });
    check(&alternating, &wrong_sign);
    check(
        &directed,
        &("too-few-edges-up", 65, &["levels.tsv: found ", "expected no more states than edges up from the level before, 2"], |run| {
            // Level 2 has 3 states, to which 3 edges lead or more.
            let states: u64 = distribution(run)[2];
            let row = line_of(run, "levels.tsv", 2);
            let up: i64 = row.split('\t').nth(4).expect("cells").parse().expect("a number");
            let by = up - i64::try_from(states).expect("small") + 1;
            change_levels(run, &[(2, 4, -by), (2, 3, by)]);
        }),
    );
    check(
        &directed,
        &("edges-up-from-the-last", 65, &["levels.tsv: found ", "expected no edges down from the first level, and none up"], |run| {
            let last = distribution(run).len();
            change_levels(run, &[(last, 4, 1), (last, 2, -1)]);
        }),
    );
}

#[test]
fn false_checksums_are_refused() {
    refuse_all(&[
        ("foreign-file", 65, &["SHA256SUMS: found \"", "notes.txt\" in line ", "expected 64 hexadecimal digits"], |run| {
            fs::write(run.join("notes.txt"), "x").expect("written");
            edit_sums(run, |line| {
                Some(if line.ends_with("run.toml") { format!("{line}\n{}  notes.txt", "0".repeat(64)) } else { line.into() })
            });
        }),
        ("file-outside", 65, &["SHA256SUMS: found \""], |run| {
            edit_sums(run, |line| Some(line.replace("run.toml", "../run.toml")));
        }),
        ("archived-file-outside", 65, &["SHA256SUMS: found \""], |run| {
            edit_sums(run, |line| Some(line.replace("levels/000003/process-0000.pack", "levels/../run.toml")));
        }),
        ("line-twice", 65, &["SHA256SUMS: found run.toml a second time in line "], |run| {
            edit_sums(run, |line| Some(if line.ends_with("run.toml") { format!("{line}\n{line}") } else { line.into() }));
        }),
        ("line-missing", 65, &["SHA256SUMS: found no line for levels.tsv"], |run| {
            edit_sums(run, |line| (!line.ends_with("levels.tsv")).then(|| line.to_owned()));
        }),
        ("upper-case", 65, &["SHA256SUMS: found \""], |run| edit_sums(run, |line| Some(line.to_uppercase()))),
        ("escape", 65, &["SHA256SUMS: found \"\\u{1b}"], |run| edit_sums(run, |line| Some(format!("\u{1b}{line}")))),
        ("another-digest", 65, &["levels.tsv: found SHA-256 ", "in SHA256SUMS"], |run| replace(run, "levels.tsv", "\n0\t", "\n1\t")),
        ("another-manifest", 65, &["manifest.json: found SHA-256 ", "do not belong together"], |run| {
            replace(run, "manifest.json", "\"resumes\": 0", "\"resumes\": 1");
        }),
        ("another-certificate", 65, &["distance.cert: found SHA-256 "], |run| replace(run, "distance.cert", "level 4 22", "level 4 23")),
        ("an-archived-file-missing", 74, &["levels/000003/process-0000.pack"], |run| {
            fs::remove_file(run.join("levels/000003/process-0000.pack")).expect("there");
        }),
        ("an-archived-file-that-is-a-folder", 65, &["levels/000003/process-0000.pack: found a folder"], |run| {
            fs::remove_file(run.join("levels/000003/process-0000.pack")).expect("there");
            fs::create_dir(run.join("levels/000003/process-0000.pack")).expect("created");
        }),
        ("no-text", 65, &["SHA256SUMS: found bytes that are no UTF-8"], |run| {
            fs::write(run.join("SHA256SUMS"), b"\xff\xfe").expect("written")
        }),
        // What an earlier version left that is no change on its way is no excuse.
        ("foreign-next", 65, &["manifest.json: found SHA-256 ", "do not belong together"], |run| {
            fs::copy(run.join("SHA256SUMS"), run.join("SHA256SUMS.next")).expect("copied");
            replace(run, "manifest.json", "\"resumes\": 0", "\"resumes\": 1");
        }),
    ]);
}

#[test]
fn false_manifests_and_configurations_are_refused() {
    refuse_all(&[
        ("no-json", 65, &["manifest.json: found "], |run| {
            fs::write(run.join("manifest.json"), "certified\n").expect("written");
            sum_again(run);
        }),
        ("deep", 65, &["manifest.json: found recursion limit"], |run| {
            fs::write(run.join("manifest.json"), "[".repeat(500_000)).expect("written");
            sum_again(run);
        }),
        ("unknown-key", 65, &["manifest.json: found the unknown key \"verified\""], |run| {
            alter(run, "manifest.json", "{", "{\n  \"verified\": true,");
        }),
        ("unknown-key-inside", 65, &["manifest.json: found the unknown key \"more\""], |run| {
            alter(run, "manifest.json", "\"difference\": null,", "\"difference\": null, \"more\": \"\\u001b[2J\",");
        }),
        ("unknown-key-with-escape", 65, &["manifest.json: found the unknown key \"\\u{1b}[2J\""], |run| {
            alter(run, "manifest.json", "{", "{\n  \"\\u001b[2J\": true,");
        }),
        ("repeated-key", 65, &["manifest.json: found the key `evidence` a second time"], |run| {
            alter(run, "manifest.json", "{", "{\n  \"evidence\": \"certified\",");
        }),
        // Of the part that says how the run was made, and of a table with free keys.
        ("repeated-key-of-the-run", 65, &["manifest.json: found the key `shards` a second time"], |run| {
            alter(run, "manifest.json", "\"shards\":", "\"shards\": 1, \"shards\":");
        }),
        ("repeated-setting", 65, &["manifest.json: found the key `round_kib` a second time"], |run| {
            alter(run, "manifest.json", "\"round_kib\":", "\"round_kib\": \"1\", \"round_kib\":");
        }),
        ("unknown-label", 65, &["manifest.json: found unknown variant `verified`"], |run| {
            alter(run, "manifest.json", "\"evidence\": \"certified\"", "\"evidence\": \"verified\"");
        }),
        (
            "lower-label",
            65,
            &["manifest.json: found the label \"rechecked\", expected \"certified\" by the checks that it records"],
            |run| {
                alter(run, "manifest.json", "\"evidence\": \"certified\"", "\"evidence\": \"rechecked\"");
            },
        ),
        ("certified-without-certificate", 65, &["found the label \"certified\", expected \"rechecked\" by the checks"], |run| {
            let text = fs::read_to_string(run.join("manifest.json")).expect("text");
            let (before, _) = text.split_once(",\n  \"certificates\"").expect("certificates");
            fs::write(run.join("manifest.json"), format!("{before}\n}}\n")).expect("written");
            sum_again(run);
        }),
        ("certified-although-disputed", 65, &["found the label \"certified\", expected \"disputed\" by the checks"], |run| {
            alter(run, "manifest.json", "\"difference\": null", "\"difference\": \"levels.tsv: level 3\"");
        }),
        ("unknown-setting", 65, &["run.toml: found a configuration that is refused (", "keep_level"], |run| {
            alter(run, "run.toml", "keep_levels", "keep_level");
        }),
        ("unknown-puzzle-key", 65, &["run.toml: found a configuration that is refused ("], |run| {
            alter(run, "run.toml", "size = 7", "size = 7\nname = \"turnstyle-12\"");
        }),
        ("repeated-puzzle-key", 65, &["run.toml: found a configuration that is refused ("], |run| {
            alter(run, "run.toml", "size = 7", "size = 7\nsize = 7");
        }),
        ("another-puzzle", 65, &["the puzzle \"turnstyle-7\", expected \"turnstyle-8\" as in run.toml"], |run| {
            alter(run, "run.toml", "size = 7", "size = 8");
        }),
        ("another-metric", 65, &["the metric \"step\", expected \"turn\" as in run.toml"], |run| {
            alter(run, "run.toml", "metric = \"step\"", "metric = \"turn\"");
        }),
        (
            "a-puzzle-of-ones-own-under-its-name",
            65,
            &["run.toml: found a configuration that is refused (", "the name of a built-in puzzle"],
            |run| {
                let text = "metric = \"step\"\nfamily = \"permutations\"\nname = \"turnstyle-7\"\npositions = 7\n[[generators]]\nname = \"A\"\nimages = [1, 0, 2, 3, 4, 5, 6]\n";
                fs::write(run.join("run.toml"), text).expect("written");
                sum_again(run);
            },
        ),
        ("a-name-with-escape", 65, &["run.toml: found a configuration that is refused (", "\\u{1b}"], |run| {
            let text = "metric = \"step\"\nfamily = \"permutations\"\nname = \"\\u001b[2J\"\npositions = 7\n[[generators]]\nname = \"A\"\nimages = [1, 0, 2, 3, 4, 5, 6]\n";
            fs::write(run.join("run.toml"), text).expect("written");
            sum_again(run);
        }),
    ]);
}

/// Files that would block a reader for ever, never end, or be too long to hash.
#[test]
fn only_regular_files_of_bounded_size_are_read() {
    let base = Base::new();
    let names = [
        "antipodes.tsv",
        "distance.cert",
        "distribution.tsv",
        "levels.tsv",
        "manifest.json",
        "run.toml",
        "samples.tsv",
        "summary.json",
        "levels/000003/process-0000.pack",
    ];
    for name in names {
        for kind in ["pipe", "device", "hole"] {
            // Of an archived file only the certificate says how long it is.
            let is_archived = name.starts_with("levels/");
            if is_archived && kind == "hole" {
                continue;
            }
            let copy = base.copy("copy");
            let path = copy.join(name);
            fs::remove_file(&path).expect("there");
            match kind {
                "pipe" => mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe"),
                "device" => symlink("/dev/zero", &path).expect("a link"),
                _ => fs::File::create(&path).expect("created").set_len(1 << 40).expect("a hole"),
            }
            for mut command in readers(&copy) {
                let (code, stdout, stderr) = outcome(&mut command);
                // A summary that is no file is no complete run.
                let no_run = name == "summary.json" && kind != "hole" && [1, 74, 75, 78].contains(&code);
                assert!(code == 65 || no_run, "{name} {kind}: {command:?}: {code}\n{stdout}{stderr}");
                if code == 65 {
                    let line = only_line(&stderr);
                    let found = if kind == "hole" { "bytes" } else { "a pipe, socket or device" };
                    assert!(line.contains(&format!("{name}: found ")) && line.contains(found), "{name} {kind}: {line}");
                }
            }
            // To resume reads them, too, and other files of its own before.
            let (code, stdout, stderr) = outcome(farthest().args(["resume", "--quiet"]).arg(&copy));
            let config = name == "run.toml" && code == 78;
            assert!(code == 65 || config || (name == "summary.json" && kind != "hole"), "{name} {kind}: resume: {code}\n{stdout}{stderr}");
            fs::remove_dir_all(copy).expect("removable");
        }
    }
}

/// What the label rests on must be there.
#[test]
fn a_label_needs_its_evidence() {
    let base = Base::new();
    let other = certified("turnstyle-7", "turn", base.folder.path());
    // The digest that the manifest records, made to fit whatever certificate is there.
    let record_again = |run: &Path| {
        let known = json(run, "manifest.json")["certificates"][0]["sha256"].as_str().expect("a digest").to_owned();
        replace(run, "manifest.json", &known, &sha256(&run.join("distance.cert")));
        sum_again(run);
    };
    let not_listed = |run: &Path, part: &str| edit_sums(run, |line| (!line.contains(part)).then(|| line.to_owned()));
    let cases: [LabelCase; 12] = [
        ("nothing changed", "certified", &|_| {}),
        ("certificate not listed, as earlier versions left it", "certified", &|run| {
            not_listed(run, "distance.cert");
            not_listed(run, "levels/");
        }),
        ("certificate removed", "rechecked", &|run| {
            fs::remove_file(run.join("distance.cert")).expect("there");
            not_listed(run, "distance.cert");
        }),
        ("another certificate than the one verified", "rechecked", &|run| {
            alter(run, "distance.cert", "claim distance\n", "# later\nclaim distance\n");
        }),
        ("a digest of nothing", "rechecked", &|run| {
            let known = json(run, "manifest.json")["certificates"][0]["sha256"].as_str().expect("a digest").to_owned();
            alter(run, "manifest.json", &known, "00ff");
        }),
        ("a file outside the folder", "rechecked", &|run| {
            alter(run, "manifest.json", "\"distance.cert\"", "\"../distance.cert\"");
        }),
        ("a certificate of another metric", "rechecked", &|run| {
            fs::copy(other.join("distance.cert"), run.join("distance.cert")).expect("copied");
            record_again(run);
        }),
        ("a certificate of other levels", "rechecked", &|run| {
            replace(run, "distance.cert", "level 4 22\nlevel 5 40\n", "level 4 40\nlevel 5 22\n");
            record_again(run);
        }),
        ("a text that is no certificate", "rechecked", &|run| {
            fs::write(run.join("distance.cert"), "verified\n").expect("written");
            record_again(run);
        }),
        ("an archived file cut short", "rechecked", &|run| {
            let path = run.join("levels/000009/process-0000.pack");
            let bytes = fs::read(&path).expect("there");
            fs::write(&path, &bytes[..bytes.len() - 1]).expect("written");
        }),
        ("an archived file missing, and not listed", "rechecked", &|run| {
            fs::remove_file(run.join("levels/000009/process-0000.pack")).expect("there");
            not_listed(run, "levels/000009/process-0000.pack");
        }),
        ("disputed", "disputed", &|run| {
            replace(run, "manifest.json", "\"difference\": null", "\"difference\": \"levels.tsv: level 3\"");
            alter(run, "manifest.json", "\"evidence\": \"certified\"", "\"evidence\": \"disputed\"");
        }),
    ];
    for (name, label, change) in cases {
        let copy = base.copy(name);
        change(&copy);
        assert_eq!(shown_label(&copy), label, "{name}");
        for format in ["terminal", "markdown", "csv"] {
            let table = succeed(farthest().args(["table", "--format", format]).arg(&copy));
            assert!(table.contains(label), "{name}: {table}");
        }
        succeed(farthest().arg("status").arg(&copy));
        // The next change says the same, and leaves the record.
        let told = succeed(farthest().args(["spot-solve"]).arg(&copy));
        assert!(told.trim_end().ends_with(&format!("evidence: {label}")), "{name}: {told}");
        fs::remove_dir_all(copy).expect("removable");
    }
}

/// The label is given by the check that the manifest names, of the whole folder.
#[test]
fn a_false_antipode_keeps_a_run_from_being_certified() {
    let folder = scratch();
    let run = folder.path().join("run");
    succeed(farthest().args(["run", "turnstyle-7", "--keep-levels", "--quiet", "--out"]).arg(&run));
    let certify = || {
        let mut command = farthest();
        command.args(["certify", "distance"]).arg(&run);
        command
    };
    // Another state, with its right rank and in its place, for the first antipode; no sample gives
    // the exchange away.
    let true_ones = fs::read_to_string(run.join("antipodes.tsv")).expect("text");
    let samples = fs::read_to_string(run.join("samples.tsv")).expect("text");
    let first = line_of(&run, "antipodes.tsv", 1);
    let rank: u64 = first.split('\t').next().expect("cells").parse().expect("a rank");
    let puzzle = run_folder::read(&run).expect("a whole run folder").puzzle;
    let nearer = puzzle.text(&StateSpace::of(&puzzle).unrank(StateRank(rank - 1)));
    let kept: String = samples.lines().filter(|row| !row.starts_with("15\t")).map(|row| format!("{row}\n")).collect();
    fs::write(run.join("samples.tsv"), kept).expect("written");
    alter(&run, "antipodes.tsv", &first, &format!("{}\t{nearer}\n", rank - 1));
    assert_eq!(shown_label(&run), "single run");
    let stderr = fail_with(1, &mut certify());
    assert!(stderr.contains("did not verify the folder") && stderr.contains("the run keeps its label"), "{stderr}");
    assert_eq!((shown_label(&run), stated_label(&run)), ("single run".into(), "single run".into()));
    // What it left is a folder like any other, with all it lists.
    succeed(Command::new("sha256sum").args(["--quiet", "-c", "SHA256SUMS"]).current_dir(&run));
    let sums = fs::read_to_string(run.join("SHA256SUMS")).expect("text");
    assert!(sums.contains("  distance.cert\n") && sums.contains("  manifest.json\n"), "{sums}");
    // False edges contradict the number of moves, or one another.
    fs::write(run.join("antipodes.tsv"), true_ones).expect("written");
    fs::write(run.join("samples.tsv"), samples).expect("written");
    sum_again(&run);
    let row = line_of(&run, "levels.tsv", 6);
    let cells: Vec<&str> = row.trim_end().split('\t').collect();
    let more = |cell: &str| cell.parse::<u64>().expect("a number") + 1;
    let false_row = [cells[0], cells[1], &more(cells[2]).to_string(), cells[3], cells[4], cells[5]].join("\t") + "\n";
    alter(&run, "levels.tsv", &row, &false_row);
    assert!(fail_with(65, &mut certify()).contains("levels.tsv: found "));
    alter(&run, "levels.tsv", &false_row, &row);
    succeed(&mut certify());
    assert_eq!((shown_label(&run), stated_label(&run)), ("certified".into(), "certified".into()));
    succeed(checker("256M").arg(&run));
}

/// An archive that is not the one listed is not certified.
#[test]
fn an_archive_with_another_digest_is_not_certified() {
    let base = Base::new();
    let path = base.run.join("levels/000004/process-0001.pack");
    // As right as the listed one, but of other bytes: the second process's file of a run on three.
    let other = base.folder.path().join("other");
    succeed(farthest().args(["run", "turnstyle-7", "--keep-levels", "--quiet", "--participants", "3", "--out"]).arg(&other));
    fs::remove_dir_all(base.run.join("levels")).expect("removable");
    copy_folder(&other.join("levels"), &base.run.join("levels"));
    assert!(path.is_file());
    let stderr = fail_with(65, farthest().args(["certify", "distance"]).arg(&base.run));
    assert!(stderr.contains("levels/0000") && stderr.contains("in SHA256SUMS; the archive was changed"), "{stderr}");
}

/// The commands of a certificate's record do what they say, from within the folder of the run.
#[test]
fn recorded_commands_make_the_certificate_again() {
    let base = Base::new();
    let record = json(&base.run, "manifest.json")["certificates"][0].clone();
    let programs = Path::new(env!("CARGO_BIN_EXE_farthest")).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    for command in record["commands"].as_array().expect("commands") {
        let command = command.as_str().expect("text");
        let told = succeed(Command::new("sh").args(["-c", command]).env("PATH", &path).current_dir(&base.run));
        assert!(!told.is_empty(), "{command}");
    }
    let again = base.folder.path().join("certified-again");
    assert_eq!(result_bytes(&again)["levels.tsv"], result_bytes(&base.run)["levels.tsv"]);
    assert_eq!(shown_label(&again), "certified");
}

/// No antipodes are listed where none are wanted.
#[test]
fn a_run_that_lists_no_antipodes_is_like_any_other() {
    let folder = scratch();
    let config = folder.path().join("none.toml");
    fs::write(&config, "puzzle = \"turnstyle-6\"\n[search]\nmost_antipodes = 0\nkeep_levels = true\n").expect("written");
    let run = folder.path().join("run");
    succeed(farthest().arg("run").arg(&config).args(["--quiet", "--out"]).arg(&run));
    assert_eq!(fs::read_to_string(run.join("antipodes.tsv")).expect("text"), "rank\tstate\n");
    assert_eq!(json(&run, "summary.json")["antipodes_listed"], 0);
    for mut command in readers(&run) {
        succeed(&mut command);
    }
    assert_eq!(shown_label(&run), "certified");
    succeed(checker("256M").arg(&run));
}

/// Every published run is read, its manifest is written again as the same bytes, and its label is
/// the one that it states where its certificate is published with it.
#[test]
fn published_runs_are_read() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("results")];
    let (mut runs, mut without) = (0, 0);
    while let Some(folder) = open.pop() {
        open.extend(fs::read_dir(&folder).expect("listable").map(|entry| entry.expect("listed").path()).filter(|path| path.is_dir()));
        if !dataset::is_complete(&folder) {
            continue;
        }
        let found = run_folder::read(&folder).unwrap_or_else(|error| panic!("{error}"));
        // Runs of the first versions do not say what was received.
        let text = fs::read_to_string(folder.join("manifest.json")).expect("text");
        let is_new = |line: &&str| text.contains("\"bytes_received\"") || line.trim() != "\"bytes_received\": 0,";
        let again = serde_json::to_string_pretty(&found.manifest).expect("plain");
        let again: String = again.lines().filter(is_new).map(|line| format!("{line}\n")).collect();
        assert!(again == text, "{}: another manifest:\n{again}", folder.display());
        if found.evidence != found.manifest.evidence {
            assert!(found.manifest.evidence == Evidence::Certified && !folder.join("distance.cert").exists(), "{}", folder.display());
            without += 1;
        }
        runs += 1;
    }
    assert!(runs >= 57 && without >= 7, "{runs} runs, {without} of them certified by an archive that is not published");
}

/// One antipode is not "1 antipodes".
#[test]
fn numbers_agree_with_their_nouns() {
    let folder = scratch();
    let run = |puzzle: &str, metric: &str| {
        let path = folder.path().join(format!("{puzzle}-{metric}"));
        succeed(farthest().args(["run", puzzle, "--metric", metric, "--progress", "none", "--out"]).arg(path))
    };
    let told = run("turnstyle-5", "step");
    assert!(told.contains("God's number 9, 60 states, 1 antipode, mean depth"), "{told}");
    let told = run("turnstyle-7", "step");
    assert!(told.contains("God's number 15, 2520 states, 9 antipodes, mean depth"), "{told}");
}

/// A new run in the folder of an old one is not judged by the old one's certificate.
#[test]
fn a_new_run_removes_the_certificate_of_the_old_one() {
    let base = Base::new();
    let states = antipodes(&base.run);
    let again = ["--resume", "never", "--force", "--keep-levels", "--quiet", "--participants", "3", "--out"];
    succeed(farthest().args(["run", "turnstyle-7"]).args(again).arg(&base.run));
    assert!(!base.run.join("distance.cert").exists());
    assert_eq!((shown_label(&base.run), antipodes(&base.run)), ("single run".into(), states));
    let sums = fs::read_to_string(base.run.join("SHA256SUMS")).expect("text");
    assert!(sums.contains("  levels/000015/process-0002.pack\n"), "{sums}");
    succeed(Command::new("sha256sum").args(["--quiet", "-c", "SHA256SUMS"]).current_dir(&base.run));
}
