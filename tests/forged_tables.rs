//! False folders whose lies are in single rows, numbers and names of their files. As in `forged.rs`, their author controls every file: each check of a table
//! must tell by itself.

mod common;

use common::forge::{change_json, levels, seal, set_config, set_levels};
use common::outcome;
use common::truth::{DIRECTED, Truth, edit_and_seal, edit_config, text, verify};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A cycle of six and a swap, both odd. No move undoes the cycle: 720 states.
const ODD: &str = "family = \"permutations\"\nname = \"odd\"\npositions = 6\n[[generators]]\nname = \"A\"\ncycles = \"(0 1 2 3 4 5)\"\n\
                   [[generators]]\nname = \"B\"\ncycles = \"(0 1)\"\n";

fn six() -> Truth {
    Truth::plain("turnstyle-6", "true-turnstyle-6")
}

/// Changes the rows of a table below its heading, and seals the folder.
fn set_rows(run: &Path, file: &str, change: impl FnOnce(&mut Vec<String>)) {
    let before = text(&run.join(file));
    let mut rows: Vec<String> = before.lines().map(str::to_owned).collect();
    let heading = rows.remove(0);
    change(&mut rows);
    let rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    fs::write(run.join(file), format!("{heading}\n{rows}")).expect("written");
    seal(run);
}

/// The place of the first row of this depth in `samples.tsv`.
fn first_of(rows: &[String], depth: u32) -> usize {
    rows.iter().position(|row| row.starts_with(&format!("{depth}\t"))).expect("a sample")
}

#[test]
fn tables_are_written_in_one_way() {
    let mut six = six();
    for (file, from, to, code, part) in [
        ("levels.tsv", "depth\tstates\t", "depth\tcount\t", 2, "levels.tsv:1: found \"depth\\tcount\\t"),
        ("antipodes.tsv", "rank\tstate\n", "", 2, "antipodes.tsv:1: found \"479\\t4 3 2 1 6 5\", expected \"rank\\tstate\""),
        ("levels.tsv", "\n3\t11\t", "\n4\t11\t", 1, "levels.tsv:5: found depth \"4\" with \"11\" states, expected 3 with 11"),
        ("distribution.tsv", "\n3\t11\n", "\n03\t11\n", 2, "distribution.tsv:5: found \"03\", expected a number"),
        ("distribution.tsv", "\n3\t11\n", "\n3\t+11\n", 2, "distribution.tsv:5: found \"+11\", expected a number"),
        ("distribution.tsv", "\n3\t11\n", "\n3\t11\t0\n", 2, "distribution.tsv:5: found \"3\\t11\\t0\", expected 2 cells"),
        ("distribution.tsv", "\n3\t11\n", "\n3\n", 2, "distribution.tsv:5: found \"3\", expected 2 cells"),
    ] {
        six.forged(code, part, |run| edit_and_seal(run, file, from, to));
    }
}

/// The mean is rounded to the nearest millionth: 644 / 120, and neither neighbour of it.
#[test]
fn facts_of_the_summary_are_exact() {
    let mut six = six();
    let set = |run: &Path, key: &str, value: Value| {
        change_json(&run.join("summary.json"), |summary| summary[key] = value);
        seal(run);
    };
    let copy = six.copy();
    set(&copy, "mean_depth", json!(5.366_667));
    assert_eq!(outcome(verify().arg(&copy)).0, 3);
    for mean in [5.366_666, 5.366_668] {
        six.forged(1, &format!("found mean_depth \"{mean}\", expected the mean of distribution.tsv"), |run| {
            set(run, "mean_depth", json!(mean));
        });
    }
    six.forged(1, "found metric \"turn\", expected step, as in run.toml", |run| set(run, "metric", json!("turn")));
    six.forged(1, "found puzzle \"turnstyle-7\", expected turnstyle-6, as in run.toml", |run| set(run, "puzzle", json!("turnstyle-7")));
    for digest in ["0".repeat(63), "0".repeat(65), "g".repeat(64)] {
        six.forged(2, "expected 64 hexadecimal digits", |run| set(run, "puzzle_digest", json!(digest)));
    }
}

#[test]
fn rows_of_levels_are_possible() {
    let mut seven = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    let truth = levels(&seven.run);
    let last = truth.len() - 1;
    let capitals = truth[9].fingerprint.to_ascii_uppercase();
    assert_ne!(capitals, truth[9].fingerprint);
    for fingerprint in [capitals, truth[9].fingerprint[1..].to_owned(), format!("{}0", truth[9].fingerprint)] {
        seven.forged(2, "levels.tsv:11: found ", |run| {
            let mut levels = truth.clone();
            levels[9].fingerprint = fingerprint;
            set_levels(run, &levels);
        });
    }
    seven.forged(1, "found 1 edges up from the last level, expected 0", |run| {
        let mut levels = truth.clone();
        levels[last].edges = [levels[last].edges[0], levels[last].edges[1] - 1, 1];
        set_levels(run, &levels);
    });
    // A state more on level 11 and one less on 12, with edges within these levels: only the certificate knows better.
    seven.forged(1, "found other numbers of states, expected those of distribution.tsv", |run| {
        let mut levels = truth.clone();
        levels[11].states += 1;
        levels[11].edges[1] += 3;
        levels[12].states -= 1;
        levels[12].edges[1] -= 3;
        set_levels(run, &levels);
    });
    // Two states that one edge leads to.
    let mut directed = Truth::plain(DIRECTED, "true-directed");
    let truth = levels(&directed.run);
    assert_eq!(truth[25].states, 2);
    directed.forged(1, "levels.tsv:27: found 2 states, expected at most 1: so many edges lead up to them", |run| {
        let mut levels = truth.clone();
        let [down, same, up] = levels[24].edges;
        levels[24].edges = [down, same + up - 1, 1];
        set_levels(run, &levels);
    });
}

/// Where every move is odd, half of the states have an even depth, and each state tells the parity of its own.
#[test]
fn signs_tell_the_parity_of_depths() {
    let mut odd = Truth::plain(ODD, "true-odd");
    let truth = levels(&odd.run);
    assert_eq!(truth.iter().map(|level| level.states).sum::<u64>(), 720);
    assert_eq!(truth.iter().step_by(2).map(|level| level.states).sum::<u64>(), 360);
    // Of the checks of rows none tells: edges down are counted by nothing where moves cannot be undone.
    let depth = (3..truth.len() - 1).find(|&depth| truth[depth].edges[0] > 2 && truth[depth].edges[2] > truth[depth + 1].states);
    let depth = depth.expect("a level with room");
    odd.forged(1, "of 720 states at even depths, expected half of them, as every move changes the sign", |run| {
        let mut levels = truth.clone();
        levels[depth].states -= 1;
        levels[depth].edges[0] -= 2;
        levels[depth + 1].states += 1;
        levels[depth + 1].edges[0] += 2;
        set_levels(run, &levels);
    });
    let mut board = Truth::plain("rotation-board-2x4n2", "true-rotation-board-2x4n2");
    board.forged(1, "found a state of the other sign, which every move changes, expected a state of level 9", |run| {
        set_rows(run, "samples.tsv", |rows| {
            let other = rows[first_of(rows, 10)].replacen("10", "9", 1);
            let place = first_of(rows, 9);
            rows.retain(|row| !row.starts_with("9\t"));
            rows.insert(place, other);
        });
    });
}

/// A change to the rows of a table.
type Change = fn(&mut Vec<String>);

#[test]
fn samples_are_those_that_are_drawn() {
    let mut six = six();
    let order = "expected every level after the first one, ranks ascending";
    let cases: [(&str, Change); 9] = [
        // Out of order, twice, a level left out.
        (order, |rows| {
            let place = first_of(rows, 3);
            rows.swap(place, place + 1);
        }),
        (order, |rows| rows.insert(first_of(rows, 3), rows[first_of(rows, 3)].clone())),
        (order, |rows| rows.retain(|row| !row.starts_with("5\t"))),
        ("found level 9 as the last one, expected level 10", |rows| rows.retain(|row| !row.starts_with("10\t"))),
        ("found 2 samples of level 0, expected at most 4, and no more than its states (1)", |rows| {
            rows.insert(1, "0\t120\t2 3 4 5 6 1".into());
        }),
        // Near the start: one left out, on the first level with samples, too; a number of another state.
        ("of level 4, expected [82, 127, 275, 515], the states drawn", |rows| drop(rows.remove(first_of(rows, 4)))),
        ("of level 4, expected [82, 127, 275, 515], the states drawn", |rows| drop(rows.drain(..=first_of(rows, 4)))),
        ("found a state with number 82, expected number 83", |rows| {
            let place = first_of(rows, 4);
            rows[place] = rows[place].replacen("\t82\t", "\t83\t", 1);
        }),
        ("found a state with number 479, expected number 480", |rows| {
            let place = first_of(rows, 10);
            rows[place] = rows[place].replacen("\t479\t", "\t480\t", 1);
        }),
    ];
    for (part, change) in cases {
        six.forged(1, part, |run| set_rows(run, "samples.tsv", change));
    }
    // A run may draw samples from some level on.
    let copy = six.copy();
    set_rows(&copy, "samples.tsv", |rows| drop(rows.drain(..first_of(rows, 4))));
    assert_eq!(outcome(verify().arg(&copy)).0, 3);
    let mut seven = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    seven.forged(1, "antipodes.tsv:3: found rank ", |run| set_rows(run, "antipodes.tsv", |rows| rows[1] = rows[0].clone()));
    seven.forged(1, "of level 9, expected [", |run| set_rows(run, "samples.tsv", |rows| drop(rows.drain(..=first_of(rows, 9)))));
    // The other arrangement that counts as the same number where one sign only is reached: the last two places of the ring exchanged.
    seven.forged(1, "found no state that has a number, expected number ", |run| {
        set_rows(run, "samples.tsv", |rows| {
            let row = rows.last_mut().expect("a row");
            let (before, state) = row.rsplit_once('\t').expect("cells");
            let mut pieces: Vec<&str> = state.split(' ').collect();
            let first = pieces.iter().position(|piece| *piece == "1").expect("piece 1");
            pieces.swap((first + 5) % 7, (first + 6) % 7);
            *row = format!("{before}\t{}", pieces.join(" "));
        });
    });
    // What counts as one state up to rotation is written from piece 1 on.
    let mut circle = Truth::certified("turnstyle-6", "flip", "true-turnstyle-6-flip-certified");
    circle.forged(1, "expected a state of turnstyle-6 (flip)", |run| {
        set_rows(run, "samples.tsv", |rows| {
            let last = rows.last_mut().expect("a row");
            let (before, pieces) = last.rsplit_once('\t').expect("cells");
            *last = format!("{before}\t{} 1", pieces.strip_prefix("1 ").expect("piece 1"));
        });
    });
}

/// A state of the deepest level, listed at the depth that the balls rule out and no less.
#[test]
fn a_bound_on_a_distance_excludes_the_bound() {
    let mut ten = Truth::plain("turnstyle-10", "true-turnstyle-10");
    let told = outcome(verify().arg(&ten.run)).1;
    let bound = told.split_once("listed states more than ").and_then(|(_, rest)| rest.split_once(' ')).expect("a bound").0;
    let bound: u32 = bound.parse().expect("a number");
    assert!(bound < 32, "{told}");
    ten.forged(1, &format!("found a state that no {bound} moves reach, expected a state of level {bound}"), |run| {
        set_rows(run, "samples.tsv", |rows| {
            let far = rows[first_of(rows, 32)].replacen("32", &bound.to_string(), 1);
            let place = first_of(rows, bound);
            // As many rows as before: the work that each listed state may cost depends on it.
            let rank = |row: &String| row.split('\t').nth(1).and_then(|rank| rank.parse::<u64>().ok());
            rows[place] = far;
            rows[place..place + 4].sort_by_key(rank);
        });
    });
    // More shards than a search may have: 10 x 9 x 8 x 7 x 6.
    ten.forged(2, "run.toml: found leading_positions = 4, expected fewer, for at most 16384 shards", |run| {
        edit_config(run, "[search]\n", "[search]\nleading_positions = 4\n");
    });
}

/// What the search could not do, it did not: a lane takes five positions.
#[test]
fn configurations_are_those_of_a_search() {
    let mut six = six();
    let part = "run.toml: found leading_positions = 1, expected fewer";
    let lead = |run: &Path| edit_config(run, "[search]\n", "[search]\nleading_positions = 1\n");
    six.forged(2, part, lead);
    Truth::certified("turnstyle-6", "step", "true-turnstyle-6-certified").forged(2, part, lead);
    six.forged(2, "rows: found 256 cells, expected at most 255", |run| {
        set_config(run, "family = \"rotation-board\"\nrows = 16\ncols = 16\nblock = 2\n");
    });
    // Read as a whole, and so of bounded length.
    let copy = six.copy();
    set_config(&copy, &format!("{}# {}\n", text(&copy.join("run.toml")), "x".repeat(1 << 20)));
    let (code, _, stderr) = outcome(verify().arg(&copy));
    assert!(code == 2 && stderr.contains("run.toml: found more than 1048576 bytes, expected a shorter file"), "{stderr}");
}

#[test]
fn checksums_name_each_file_once() {
    let mut six = six();
    let sums = |run: &Path, change: fn(&mut Vec<String>)| {
        let before = text(&run.join("SHA256SUMS"));
        let mut lines: Vec<String> = before.lines().map(str::to_owned).collect();
        change(&mut lines);
        fs::write(run.join("SHA256SUMS"), lines.join("\n") + "\n").expect("written");
    };
    let line = "expected a digest, two blanks and the name of a file of a run";
    six.forged(2, line, |run| sums(run, |lines| lines[1] = lines[1][1..].to_owned()));
    six.forged(2, line, |run| sums(run, |lines| lines[1].insert(0, '0')));
    six.forged(2, "SHA256SUMS:3: found \"antipodes.tsv\" again, expected each file once", |run| {
        sums(run, |lines| lines.insert(2, lines[0].clone()));
    });
    // Its digest is right.
    six.forged(2, line, |run| {
        fs::write(run.join("notes.txt"), "").expect("written");
        sums(run, |lines| lines.push("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  notes.txt".into()));
    });
}

#[test]
fn records_of_the_manifest_are_compared() {
    let mut certified = Truth::certified("turnstyle-6", "step", "true-turnstyle-6-certified");
    let label = |run: &Path, change: fn(&mut Value)| {
        change_json(&run.join("manifest.json"), change);
        seal(run);
    };
    certified.forged(1, "found the label \"certified\", expected \"disputed\"", |run| {
        label(run, |manifest| {
            manifest["spot_solves"] = json!([{"difference": "rank 7", "states": 1, "deepest": 1, "too_large": 0, "date": "x",
                "program_version": "x", "seconds": 1.0}]);
        });
    });
    certified.forged(1, "found a certificate \"other.cert\", expected distance.cert", |run| {
        label(run, |manifest| manifest["certificates"][0]["file"] = "other.cert".into());
    });
}
