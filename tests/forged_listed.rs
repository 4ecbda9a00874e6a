//! False folders whose lies are in the lists of states, in the facts of a run, or near its start. As in `forged.rs`, their author controls every file.

mod common;

use common::forge::{change_json, levels, seal, set_levels};
use common::outcome;
use common::truth::{DIRECTED, Truth, text, verify};
use std::fs;
use std::path::Path;

/// What is cheap to tell of listed states is told without a certificate, for boards, too.
#[test]
fn listed_states_can_be_reached_and_are_listed_once() {
    let mut board = Truth::plain("rotation-board-3x4n3", "true-rotation-board-3x4n3");
    let antipodes = text(&board.run.join("antipodes.tsv"));
    let rows: Vec<(&str, &str)> = antipodes.lines().skip(1).map(|row| row.split_once('\t').expect("two cells")).collect();
    let with = |rows: &[(&str, String)]| {
        let rows: String = rows.iter().map(|(rank, state)| format!("{rank}\t{state}\n")).collect();
        move |run: &Path| {
            fs::write(run.join("antipodes.tsv"), format!("rank\tstate\n{rows}")).expect("written");
            seal(run);
        }
    };
    // One antipode in the place of all.
    let same: Vec<(&str, String)> = rows.iter().map(|(rank, _)| (*rank, rows[0].1.to_owned())).collect();
    assert!(same.len() > 1);
    board.forged(1, "for it, and ", with(&same));
    // Pieces on cells of the other colour, where no move takes them.
    let mut foreign: Vec<(&str, String)> = rows.iter().map(|(rank, state)| (*rank, (*state).to_owned())).collect();
    let mut pieces: Vec<&str> = rows[0].1.split(' ').collect();
    pieces.swap(0, 1);
    foreign[0].1 = pieces.join(" ");
    board.forged(1, "expected a state that moves of rotation-board-3x4n3 (quarter) reach", with(&foreign));
    // Two numbers for one state, in two tables.
    board.forged(1, "for it, and ", |run| {
        let samples = text(&run.join("samples.tsv"));
        let (before, last) = samples.trim_end().rsplit_once('\n').expect("rows");
        let [depth, rank, state] = last.split('\t').collect::<Vec<_>>()[..] else { panic!("{last}") };
        let next = rank.parse::<u64>().expect("a number") + 1;
        assert!(rows.iter().all(|(rank, _)| *rank != next.to_string()));
        fs::write(run.join("samples.tsv"), format!("{before}\n{depth}\t{next}\t{state}\n")).expect("written");
        seal(run);
    });
    // One number for two states, in two tables.
    board.forged(1, "at this rank", |run| {
        let samples = text(&run.join("samples.tsv"));
        let (before, last) = samples.trim_end().rsplit_once('\n').expect("rows");
        let [depth, rank, state] = last.split('\t').collect::<Vec<_>>()[..] else { panic!("{last}") };
        let other = rows.iter().map(|(_, other)| other).find(|other| **other != state).expect("another antipode");
        fs::write(run.join("samples.tsv"), format!("{before}\n{depth}\t{rank}\t{other}\n")).expect("written");
        seal(run);
    });
}

/// Three planes that a cycle leads through, swaps on them: 2,160 states.
const PLANES: &str = "family = \"planes\"\nname = \"planes\"\nplanes = 3\npositions = 6\n[[generators]]\nname = \"A\"\nplanes = [1, 2, 0]\n\
                      permutation = [1, 2, 3, 4, 5, 0]\n[[generators]]\nname = \"B\"\ncycles = \"(0 1)\"\n[[generators]]\nname = \"C\"\n\
                      permutations = [[0, 1, 2, 3, 5, 4], [0, 1, 3, 2, 4, 5], [0, 1, 2, 3, 4, 5]]\n";

#[test]
fn absurd_levels_of_planes_are_refuted() {
    let mut planes = Truth::plain(PLANES, "true-planes");
    let truth = levels(&planes.run);
    assert_eq!(truth.iter().map(|level| level.states).sum::<u64>(), 2_160);
    // As many edges lead up to the states of level 2 as are claimed; three of them lead to states that are there already.
    let states = truth[2].states;
    planes.forged(1, &format!("levels.tsv:4: found {} states, expected {states}", states + 1), |run| {
        let mut levels = truth.clone();
        levels[2].states += 1;
        levels[2].edges[1] += 3;
        levels[3].states -= 1;
        levels[3].edges[1] -= 3;
        set_levels(run, &levels);
    });
    planes.forged(1, "levels.tsv:3: found edges", |run| {
        let mut levels = truth.clone();
        levels[1].edges = [levels[1].edges[0] - 1, levels[1].edges[1] + 1, levels[1].edges[2]];
        set_levels(run, &levels);
    });
}

/// Of planes nothing else is known about listed states: each has one depth, and each number one state.
#[test]
fn planes_list_a_state_at_one_depth() {
    let mut planes = Truth::plain(PLANES, "true-planes");
    let samples = text(&planes.run.join("samples.tsv"));
    let last = samples.lines().next_back().expect("a row").to_owned();
    let [depth, rank, state] = last.split('\t').collect::<Vec<_>>()[..] else { panic!("{last}") };
    assert!(text(&planes.run.join("antipodes.tsv")).contains(&format!("\n{rank}\t{state}\n")));
    planes.forged(1, &format!("expected rank {rank} of level {depth} for it, and"), |run| {
        let nearer = depth.parse::<u32>().expect("a number") - 1;
        let before = samples.lines().filter(|row| !row.starts_with(&format!("{nearer}\t")) && !row.starts_with(&format!("{depth}\t")));
        let rows: String = before.map(|row| format!("{row}\n")).collect();
        fs::write(run.join("samples.tsv"), format!("{rows}{nearer}\t{rank}\t{state}\n{last}\n")).expect("written");
        seal(run);
    });
    planes.forged(1, " at this rank", |run| {
        let (before, _) = samples.trim_end().rsplit_once('\t').expect("cells");
        fs::write(run.join("samples.tsv"), format!("{before}\tanother state\n")).expect("written");
        seal(run);
    });
}

/// A list of values has no keys to read.
#[test]
fn facts_without_keys_are_unreadable() {
    let mut seven = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    seven.forged(2, "summary.json: found \"a list without keys\"", |run| {
        change_json(&run.join("summary.json"), |summary| {
            let keys = [
                "format",
                "puzzle",
                "metric",
                "states",
                "gods_number",
                "antipodes",
                "antipodes_listed",
                "mean_depth",
                "fingerprint",
                "states_by_group_order",
                "puzzle_digest",
            ];
            *summary = keys.map(|key| summary[key].clone()).to_vec().into();
        });
        seal(run);
    });
    seven.forged(2, "manifest.json: found \"a list without keys\"", |run| {
        change_json(&run.join("manifest.json"), |manifest| {
            for record in manifest["certificates"].as_array_mut().expect("a list") {
                *record = ["file", "sha256", "checker", "date", "commands"].map(|key| record[key].clone()).to_vec().into();
            }
        });
        seal(run);
    });
}

/// Every fact of the summary is compared, not only those that others rest on.
#[test]
fn every_number_of_the_summary_is_compared() {
    let mut seven = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    for key in ["format", "states", "states_by_group_order", "gods_number", "antipodes", "antipodes_listed"] {
        let part = if key == "antipodes_listed" { "listed antipodes, expected".into() } else { format!("summary.json: found {key} ") };
        seven.forged(1, &part, |run| {
            change_json(&run.join("summary.json"), |summary| summary[key] = (summary[key].as_u64().expect("a number") + 1).into());
            seal(run);
        });
    }
}

/// A level more at the start: each state fits those around it, but three are called solved.
#[test]
fn one_state_only_is_solved() {
    let mut directed = Truth::certified(DIRECTED, "step", "true-directed-certified");
    directed.forged(1, "found 3 states at distance 0, the solved state among them: true", |run| {
        let certificate = text(&run.join("distance.cert"));
        let mut shifted = String::new();
        for line in certificate.lines() {
            let cells: Vec<&str> = line.split(' ').collect();
            match cells[..] {
                ["levels", count] => shifted += &format!("levels {}\n", count.parse::<u32>().expect("a number") - 1),
                ["level", "0", _] => {}
                ["level", "1", states] => shifted += &format!("level 0 {}\n", states.parse::<u32>().expect("a number") + 1),
                ["level", depth, states] => shifted += &format!("level {} {states}\n", depth.parse::<u32>().expect("a number") - 1),
                ["archive", depth, bytes, sha256, path] => {
                    let before = depth.parse::<u32>().expect("a number");
                    let depth = before.saturating_sub(1);
                    let (_, name) = path.rsplit_once('/').expect("a path");
                    let moved = format!("levels/{depth:06}/from-{before}-{name}");
                    fs::rename(run.join(path), run.join(&moved)).expect("moved");
                    shifted += &format!("archive {depth} {bytes} {sha256} {moved}\n");
                }
                _ => shifted += &format!("{line}\n"),
            }
        }
        // The certificate alone: the tables of a run would tell, too.
        for file in ["SHA256SUMS", "summary.json", "manifest.json", "distribution.tsv", "run.toml"] {
            fs::remove_file(run.join(file)).expect("removed");
        }
        fs::write(run.join("distance.cert"), shifted).expect("written");
    });
    // A label and 1 must stay below the label of states without a level.
    let certificate = text(&directed.run.join("distance.cert"));
    let long = directed.folder.path().join("long.cert");
    fs::write(&long, certificate.replace("levels 26\n", "levels 255\n")).expect("written");
    let (code, _, stderr) = outcome(verify().arg(&long));
    assert!(code == 2 && stderr.contains("found 255 levels, expected 1 to 254"), "{stderr}");
}

/// A state of a deep level, listed as one of the first level beyond the ball.
#[test]
fn states_that_lie_too_far_are_refuted() {
    let mut ten = Truth::plain("turnstyle-10", "true-turnstyle-10");
    let told = outcome(verify().arg(&ten.run)).1;
    let radius = told.split_once("levels 0 to ").and_then(|(_, rest)| rest.split_once(' ')).expect("a radius").0;
    let next = radius.parse::<u32>().expect("a number") + 1;
    ten.forged(1, &format!("reach, expected a state of level {next}"), |run| {
        let samples = text(&run.join("samples.tsv"));
        let far = samples.lines().find(|row| row.starts_with("30\t")).expect("a sample");
        let place = samples.lines().position(|row| row.starts_with(&format!("{next}\t"))).expect("a sample");
        let mut rows: Vec<String> = samples.lines().map(str::to_owned).collect();
        rows[place] = far.replacen("30", &next.to_string(), 1);
        rows.retain(|row| row != far);
        let others = |row: &String| !row.starts_with(&format!("{next}\t")) || *row == far.replacen("30", &next.to_string(), 1);
        rows.retain(others);
        fs::write(run.join("samples.tsv"), rows.join("\n") + "\n").expect("written");
        seal(run);
    });
}

/// What `--puzzle` asks for is compared with planes, too, their start included; their lists are as long as lists may be.
#[test]
fn planes_are_those_that_were_asked_for() {
    let mut planes = Truth::plain(PLANES, "true-planes");
    let other = planes.folder.path().join("other.toml");
    fs::write(&other, PLANES.replace("positions = 6\n", "positions = 6\nstart_plane = 1\n")).expect("written");
    let same = planes.folder.path().join("directed.toml");
    let ask = |puzzle: &str| outcome(verify().args(["--puzzle", puzzle]).arg(&planes.run)).0;
    assert_eq!(ask(same.to_str().expect("UTF-8")), 3);
    assert_eq!(ask(other.to_str().expect("UTF-8")), 1);
    assert_eq!(ask("turnstyle-12/step"), 1);
    planes.forged(1, "samples of level 8, expected at most 4", |run| {
        let samples = text(&run.join("samples.tsv"));
        let last = samples.lines().rfind(|row| row.starts_with("8\t")).expect("a sample");
        let rank = last.split('\t').nth(1).and_then(|rank| rank.parse::<u64>().ok()).expect("a rank");
        let more: String = (1..=4).map(|number| format!("\n8\t{}\tstate {number}", rank + number)).collect();
        fs::write(run.join("samples.tsv"), samples.replace(last, &format!("{last}{more}"))).expect("written");
        seal(run);
    });
}
