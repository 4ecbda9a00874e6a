//! False folders by an author who controls every file: all sums, digests and labels fit one another. None may be called verified, and what can be told cheaply
//! to be false must be refuted. `src/evidence/README.md` has the table of these attacks.

mod common;

use common::disturb::{copy_folder, scratch};
use common::forge::{LevelRow, certify_again, change_json, edit, levels, seal, set_levels};
use common::truth::{DIRECTED, Truth, edit_and_seal, edit_config, files, text, verify};
use common::{outcome, succeed};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Forgeries as they were once, whatever the search writes today. `corrupt/folders` holds true runs, and for each false one the files that differ from a true
/// one and a file `expect`: the true run, the exit code, and a part of what is said.
#[test]
fn kept_forgeries_are_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corrupt/folders");
    let mut tried = 0;
    let scratch = scratch();
    for entry in fs::read_dir(&root).expect("listed") {
        let folder = entry.expect("listed").path();
        let copy = scratch.path().join("copy");
        let Ok(expect) = fs::read_to_string(folder.join("expect")) else {
            let (code, stdout, stderr) = outcome(verify().arg(&folder));
            assert!(code == if folder.join("distance.cert").exists() { 0 } else { 3 }, "{stdout}{stderr}");
            continue;
        };
        let said = |key: &str| {
            expect
                .lines()
                .filter_map(|line| line.split_once(' '))
                .filter(|(name, _)| *name == key)
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
        };
        copy_folder(&root.join(said("base")[0]), &copy);
        for name in files(&folder).iter().filter(|name| !name.ends_with("expect")) {
            fs::create_dir_all(copy.join(name).parent().expect("a folder")).expect("made");
            fs::copy(folder.join(name), copy.join(name)).expect("copied");
        }
        said("without").iter().for_each(|name| fs::remove_file(copy.join(name)).expect("removable"));
        let (code, stdout, stderr) = outcome(verify().arg(&copy));
        assert_eq!(code.to_string(), said("code")[0], "{}: {stdout}{stderr}", folder.display());
        assert!(
            (stdout.clone() + &stderr).escape_debug().to_string().contains(said("text")[0].trim_end_matches('\\')),
            "{}: {stdout}{stderr}",
            folder.display()
        );
        assert!(!stdout.lines().any(|line| line.starts_with("verified")), "{stdout}");
        fs::remove_dir_all(copy).expect("removable");
        tried += 1;
    }
    assert!(tried >= 50, "{tried} forgeries are kept");
}

#[test]
fn keys_that_no_check_uses_are_refused() {
    let mut directed = Truth::certified(DIRECTED, "step", "true-directed-certified");
    // The inverses are moves then: another puzzle than that of the certificate, with God's number 21.
    directed.forged(1, "found 2 edges, expected 3: every move of every state", |run| {
        edit_config(run, "positions = 7\n", "positions = 7\ninverses = true\n")
    });
    let images = "images = [6, 0, 1, 2, 3, 4, 5]\n";
    directed.forged(2, "found images and cycles, expected one of them", |run| {
        edit_config(run, images, &format!("{images}cycles = \"(0 6 5 4 3 2 1)\"\n"));
    });
    directed.forged(2, "found the key \"colour\"", |run| edit_config(run, "positions = 7\n", "positions = 7\ncolour = 3\n"));
    directed.forged(2, "found the key \"weight\"", |run| edit_config(run, images, &format!("{images}weight = 2\n")));
    directed.forged(2, "found the key \"fast\"", |run| edit_config(run, "[search]\n", "[search]\nfast = true\n"));
    directed.forged(2, "duplicate key", |run| edit_config(run, "positions = 7\n", "positions = 7\npositions = 7\n"));
    directed.forged(2, "found the metric other again, expected each once", |run| {
        let metric = "[[metrics]]\nname = \"other\"\ngenerators = [\"A\"]\n";
        let all = "[[metrics]]\nname = \"step\"\ngenerators = [\"A\", \"B\"]\n";
        edit_config(run, "[search]\n", &format!("{all}{metric}{metric}[search]\n"));
    });
    let mut known = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    known.forged(2, "found the name of a puzzle, expected its rules", |run| {
        edit_config(run, "size = 7\n", "size = 7\npuzzle = \"turnstyle-14\"\n")
    });
    known.forged(2, "found the key \"inverses\"", |run| edit_config(run, "size = 7\n", "size = 7\ninverses = false\n"));
    known.forged(2, "found the key \"name\"", |run| edit_config(run, "size = 7\n", "size = 7\nname = \"turnstyle-14\"\n"));
    for (file, from, to, part) in [
        ("summary.json", "{", "{\n  \"verified\": true,", "unknown field `verified`"),
        ("summary.json", "{", "{\n  \"gods_number\": 99,", "duplicate field `gods_number`"),
        ("manifest.json", "{", "{\n  \"proof\": \"yes\",", "unknown field `proof`"),
        ("manifest.json", "{", "{\n  \"evidence\": \"certified\",", "duplicate field `evidence`"),
        ("manifest.json", "\"depth\": 3,", "\"depth\": 3, \"depth\": 3,", "duplicate field `depth`"),
        ("manifest.json", "\"settings\": {", "\"settings\": {\n    \"keep_levels\": \"false\",", "duplicate key"),
        ("manifest.json", "{", "", "manifest.json: found "),
        ("manifest.json", "{", "not JSON {", "manifest.json: found "),
    ] {
        known.forged(2, part, |run| edit_and_seal(run, file, from, to));
    }
}

#[test]
fn names_cannot_print_lines_of_their_own() {
    let mut plain = Truth::plain(DIRECTED, "true-directed");
    for name in ["toy\\nverified    here: God's number is 1", "a\\u001b[2Jb", "a\\rb", "t\\u00f6y", "-x", ".x", "", "\\u202etoy"] {
        let written = format!("name = \"{name}\"");
        plain.forged(2, ": name: found ", |run| {
            edit_config(run, "name = \"directed\"", &written);
            let stated: String = toml::from_str::<toml::Table>(&written).expect("TOML")["name"].as_str().expect("a string").into();
            change_json(&run.join("summary.json"), |summary| summary["puzzle"] = stated.into());
            seal(run);
        });
    }
    // In what is printed of a refused file nothing moves the cursor.
    let copy = plain.copy();
    change_json(&copy.join("summary.json"), |summary| summary["puzzle"] = "a\u{1b}[2J\r\nverified b".into());
    edit(&copy.join("antipodes.tsv"), "rank\tstate", "rank\u{1b}]0;x\u{7}\tstate");
    seal(&copy);
    let (code, stdout, stderr) = outcome(verify().arg(&copy));
    assert!(code != 0 && !(stdout.clone() + &stderr).contains(['\u{1b}', '\r', '\u{7}']), "{stdout}{stderr}");
    assert_eq!((stdout.lines().count(), stderr.lines().count()), (1, 1), "{stdout}{stderr}");
    // A generator's name, too.
    plain.forged(2, "generators[0]: name: found \"A\\n\"", |run| edit_config(run, "name = \"A\"", "name = \"A\\n\""));
}

#[test]
fn a_foreign_puzzle_has_no_known_name() {
    let mut plain = Truth::plain(DIRECTED, "true-directed");
    let rename = |run: &Path, name: &str| {
        edit_config(run, "name = \"directed\"", &format!("name = \"{name}\""));
        change_json(&run.join("summary.json"), |summary| summary["puzzle"] = name.into());
        seal(run);
    };
    for name in ["turnstyle-12", "turnstyle", "turnstyle-12-mine", "rotation-board-3x4n2", "rotation-3x4n2", "3x4n2"] {
        plain.forged(1, &format!("name: found {name}, the name of a family"), |run| rename(run, name));
    }
    for name in ["pancake-7", "pocket-cube", "loopover-3x3", "board-2x3n2", "board-3x4n3"] {
        plain.forged(1, &format!("name: found {name} with rules of SHA-256 "), |run| rename(run, name));
    }
    plain.forged(2, "family: found \"magic\", expected turnstyle, rotation-board, permutations or planes", |run| {
        edit_config(run, "family = \"permutations\"", "family = \"magic\"");
    });
    // What the user asks for is compared by its rules.
    let certified = Truth::certified(DIRECTED, "step", "true-directed-certified");
    let file = certified.folder.path().join("directed.toml");
    let file = file.to_str().expect("UTF-8");
    let other = certified.folder.path().join("other.toml");
    fs::write(&other, DIRECTED.replace("(0 1)", "(0 2)")).expect("written");
    for (puzzle, code) in [
        ("directed/step", 0),
        ("directed", 0),
        (file, 0),
        (other.to_str().expect("UTF-8"), 1),
        ("directed/turn", 1),
        ("toy", 1),
        ("turnstyle-7/step", 1),
    ] {
        let (found, stdout, stderr) = outcome(verify().args(["--puzzle", puzzle]).arg(&certified.run));
        assert_eq!(found, code, "{puzzle}: {stdout}{stderr}");
    }
    let told = succeed(verify().arg(&certified.run));
    assert!(told.contains(": directed (step) (rules of SHA-256 "), "{told}");
    assert!(told.contains("rules of SHA-256 ") && told.contains("A = (1 2 3 4 5 6 7), B = (1 2)"), "{told}");
    // A certificate alone has no name.
    let certificate = certified.run.join("distance.cert");
    assert_eq!(outcome(verify().args(["--puzzle", "directed/step"]).arg(&certificate)).0, 1);
    assert_eq!(outcome(verify().args(["--puzzle", file]).arg(&certificate)).0, 0);
    for (puzzle, code) in
        [("turnstyle-12/step", 1), ("turnstyle-12/jump", 2), ("turnstyle-3/step", 2), ("rotation-2x3n2/half", 1), ("none.toml", 2)]
    {
        assert_eq!(outcome(verify().args(["--puzzle", puzzle]).arg(&certified.run)).0, code, "{puzzle}");
    }
}

/// A row of `levels.tsv` that no sum contradicts.
fn row(states: u64, edges: [u64; 3]) -> LevelRow {
    LevelRow { states, edges, fingerprint: "0123456789abcdef".repeat(2) }
}

#[test]
fn absurd_levels_without_a_certificate_are_refuted() {
    let mut eight = Truth::plain("turnstyle-8", "true-turnstyle-8");
    let truth = levels(&eight.run);
    assert_eq!(truth.iter().map(|level| level.states).sum::<u64>(), 40_320);
    eight.forged(1, "distribution.tsv:2: found 40320 states, expected 1, the solved state", |run| {
        set_levels(run, &[row(40_320, [0, 120_960, 0])]);
    });
    eight.forged(1, "found 1 states in all, expected 40320, the order of the group of turnstyle-8 (step)", |run| {
        set_levels(run, &[row(1, [0, 3, 0])])
    });
    eight.forged(1, "found 1000000001 states in all, expected 40320", |run| {
        let mut levels = truth.clone();
        levels[12].states += 1_000_000_001 - 40_320;
        levels[12].edges[1] += 3 * (1_000_000_001 - 40_320);
        set_levels(run, &levels);
    });
    eight.forged(1, "distribution.tsv:7: found 0 states, expected at least one", |run| {
        let mut levels = truth.clone();
        levels.insert(5, row(0, [0, 0, 0]));
        set_levels(run, &levels);
    });
    // States moved between levels far from the solved one, edges and all.
    eight.forged(1, "levels.tsv:", |run| {
        let mut levels = truth.clone();
        levels[20].states += 1;
        levels[20].edges[1] += 3;
        levels[21].states -= 1;
        levels[21].edges[1] -= 3;
        set_levels(run, &levels);
    });
    // The solved state is no antipode.
    let solved = "1 2 3 4 5 6 7 8";
    eight.forged(1, "found a state that 0 moves reach, expected a state of level 24", |run| {
        fs::write(run.join("antipodes.tsv"), format!("rank\tstate\n0\t{solved}\n")).expect("written");
        seal(run);
    });
    // A board whose moves change the sign has no edges within a level, and half of its states at even depths.
    let mut board = Truth::plain("rotation-board-2x4n2", "true-rotation-board-2x4n2");
    let truth = levels(&board.run);
    board.forged(1, "edges within the level, expected 0, as every move changes the sign", |run| {
        let mut levels = truth.clone();
        for (level, edges) in [(6, [0, 2, -2_i64]), (7, [-2, 2, 0])] {
            levels[level].edges = [0, 1, 2].map(|way| levels[level].edges[way].strict_add_signed(edges[way]));
        }
        set_levels(run, &levels);
    });
}

/// A larger puzzle, of which the checker finds only the levels near the solved state.
#[test]
fn lies_beyond_the_ball_are_consistent_at_the_most() {
    let mut ten = Truth::plain("turnstyle-10", "true-turnstyle-10");
    let truth = levels(&ten.run);
    ten.forged(3, "not proved: that these are the distances, for which there is no distance.cert", |run| {
        let mut levels = truth.clone();
        levels[27].fingerprint = "0".repeat(32);
        set_levels(run, &levels);
    });
    ten.forged(1, "levels.tsv:10: found ", |run| {
        let mut levels = truth.clone();
        levels[8].fingerprint = "0".repeat(32);
        set_levels(run, &levels);
    });
    ten.forged(1, "edges down, expected", |run| {
        let mut levels = truth.clone();
        levels[27].edges[0] += 1;
        levels[27].edges[1] -= 1;
        set_levels(run, &levels);
    });
    // An antipode that is nearer than stated, within the ball around the solved state or beyond it: two balls meet.
    let samples = text(&ten.run.join("samples.tsv"));
    let sample =
        |depth: &str| samples.lines().find(|line| line.starts_with(depth)).expect("a sample").split_once('\t').expect("cells").1.to_owned();
    let rank = |row: &&str| row.rsplit('\t').nth(1).and_then(|rank| rank.parse::<u64>().ok());
    for (depth, told) in
        [("16\t", "found a state that 16 moves reach, expected a state of level 32"), ("24\t", "found a state that 24 moves reach")]
    {
        let near = sample(depth);
        ten.forged(1, told, |run| {
            let antipodes = text(&run.join("antipodes.tsv"));
            let mut rows: Vec<&str> = antipodes.lines().skip(2).chain([near.as_str()]).collect();
            rows.sort_by_key(rank);
            fs::write(run.join("antipodes.tsv"), format!("rank\tstate\n{}\n", rows.join("\n"))).expect("written");
            seal(run);
        });
    }
    // A sample that is farther than stated: two balls that should meet do not.
    let far = format!("20\t{}", sample("32\t"));
    ten.forged(1, "moves reach, expected a state of level 20", |run| {
        let (level, others): (Vec<&str>, Vec<&str>) = samples.lines().partition(|line| line.starts_with("20\t"));
        let mut level: Vec<&str> = level[1..].iter().copied().chain([far.as_str()]).collect();
        level.sort_by_key(rank);
        let at = others.iter().position(|line| line.starts_with("21\t")).expect("a level");
        let rows = [&others[..at], &level, &others[at..]].concat();
        fs::write(run.join("samples.tsv"), rows.join("\n") + "\n").expect("written");
        seal(run);
    });
}

#[test]
fn lists_of_states_are_complete_and_true() {
    let mut seven = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    let antipodes = text(&seven.run.join("antipodes.tsv"));
    let rows: Vec<&str> = antipodes.lines().collect();
    let samples = text(&seven.run.join("samples.tsv"));
    // One of nine antipodes left out, whatever is said of it.
    let short: String = rows.iter().enumerate().filter(|(number, _)| *number != 3).map(|(_, row)| format!("{row}\n")).collect();
    let leave_out = |run: &Path, listed: u64| {
        fs::write(run.join("antipodes.tsv"), &short).expect("written");
        change_json(&run.join("summary.json"), |summary| summary["antipodes_listed"] = listed.into());
        seal(run);
    };
    seven.forged(1, "found 8 listed antipodes, expected 9: all of the last level", |run| leave_out(run, 8));
    // With a limit that allows it the missing one is not the last.
    seven.forged(1, "antipodes.tsv:4: found number ", |run| {
        edit_config(run, "most_antipodes = 1000", "most_antipodes = 8");
        leave_out(run, 8);
    });
    // Another state in its place.
    let other = samples.lines().find(|line| line.starts_with("14\t")).expect("a sample").split_once('\t').expect("cells").1;
    seven.forged(1, "antipodes.tsv:", |run| {
        let mut rows: Vec<&str> = rows[1..].iter().copied().skip(1).chain([other]).collect();
        rows.sort_by_key(|row| row.split_once('\t').and_then(|(rank, _)| rank.parse::<u64>().ok()));
        fs::write(run.join("antipodes.tsv"), format!("rank\tstate\n{}\n", rows.join("\n"))).expect("written");
        seal(run);
    });
    // Ranks that do not ascend.
    seven.forged(1, "expected ascending ranks", |run| {
        edit_and_seal(run, "antipodes.tsv", &format!("{}\n{}", rows[2], rows[3]), &format!("{}\n{}", rows[3], rows[2]))
    });
    let sample = samples.lines().find(|line| line.starts_with("9\t")).expect("a sample").to_owned();
    let cells: Vec<&str> = sample.split('\t').collect();
    for (to, code, part) in [
        ("junk".into(), 2, "expected 3 cells"),
        (format!("8\t{}\t{}", cells[1], cells[2]), 1, "samples.tsv:"),
        (format!("9\t{}\t{}", cells[1], "1 2 3 4 5 6 7"), 1, "a state with number 0, expected number"),
        (format!("9\t{}\t{}", cells[1], "1 1 2 3 4 5 6"), 1, "expected a state of turnstyle-7"),
        (format!("99\t{}\t{}", cells[1], cells[2]), 1, "found depth \"99\", expected one of the levels"),
        (format!("9\t{}\t{} ", cells[1], cells[2]), 1, "expected a state of turnstyle-7"),
    ] {
        seven.forged(code, part, |run| edit_and_seal(run, "samples.tsv", &sample, &to));
    }
    seven.forged(1, "the states drawn", |run| edit_and_seal(run, "samples.tsv", &format!("{sample}\n"), ""));
    seven.forged(1, "found no line for samples.tsv, expected one", |run| {
        let sums: String =
            text(&run.join("SHA256SUMS")).lines().filter(|line| !line.ends_with("samples.tsv")).map(|line| format!("{line}\n")).collect();
        fs::write(run.join("SHA256SUMS"), sums).expect("written");
    });
    // Edges and fingerprints follow from the labels, too.
    let truth = levels(&seven.run);
    seven.forged(1, "found edges [", |run| {
        let mut levels = truth.clone();
        levels[9].edges = [levels[9].edges[0], levels[9].edges[1] - 1, levels[9].edges[2] + 1];
        levels[10].edges = [levels[10].edges[0] + 1, levels[10].edges[1] - 1, levels[10].edges[2]];
        set_levels(run, &levels);
    });
    seven.forged(1, "levels.tsv:11: found fingerprint ", |run| {
        let mut levels = truth.clone();
        levels[9].fingerprint = levels[8].fingerprint.clone();
        set_levels(run, &levels);
    });
    // None listed is as much as was asked for.
    let copy = seven.copy();
    edit_config(&copy, "most_antipodes = 1000", "most_antipodes = 0");
    fs::write(copy.join("antipodes.tsv"), "rank\tstate\n").expect("written");
    change_json(&copy.join("summary.json"), |summary| summary["antipodes_listed"] = 0.into());
    seal(&copy);
    succeed(verify().arg(&copy));
}

#[test]
fn labels_need_evidence() {
    let mut plain = Truth::plain("turnstyle-6", "true-turnstyle-6");
    let label = |run: &Path, change: fn(&mut serde_json::Value)| {
        change_json(&run.join("manifest.json"), change);
        seal(run);
    };
    plain.forged(1, "found the label \"certified\", expected \"single run\"", |run| {
        label(run, |manifest| manifest["evidence"] = "certified".into())
    });
    plain.forged(1, "found the label \"rechecked\", expected \"single run\"", |run| {
        label(run, |manifest| manifest["evidence"] = "rechecked".into())
    });
    plain.forged(1, "found the label \"proved by all\\n\", expected", |run| {
        label(run, |manifest| manifest["evidence"] = "proved by all\n".into())
    });
    let record = |manifest: &mut serde_json::Value| {
        manifest["evidence"] = "certified".into();
        let entry = serde_json::json!({"file": "distance.cert", "sha256": "0".repeat(64), "checker": "x", "date": "x", "commands": []});
        manifest["certificates"] = serde_json::json!([entry]);
    };
    plain.forged(3, "label: single run (the manifest speaks of a certificate that is not here)", |run| label(run, record));
    let mut certified = Truth::certified("turnstyle-6", "step", "true-turnstyle-6-certified");
    certified.forged(1, "expected that of distance.cert in this folder", |run| label(run, record));
    certified.forged(1, "found the label \"certified\", expected \"disputed\"", |run| {
        label(run, |manifest| {
            let entry = serde_json::json!({"difference": "level 3", "date": "x", "program_version": "x", "transport": "x", "processes": 1,
                "threads_per_process": 1, "shards": 1, "expansions": [], "generators": [], "seconds": 1.0});
            manifest["rechecks"] = serde_json::json!([entry]);
        });
    });
    certified.forged(1, "config_digest", |run| label(run, |manifest| manifest["config_digest"] = "0".repeat(64).into()));
    certified.forged(1, "found other levels", |run| label(run, |manifest| drop(manifest["levels"].as_array_mut().expect("a list").pop())));
}

#[test]
fn receipts_by_hand_prove_nothing() {
    let truth = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    let path = |name: &str| truth.folder.path().join(name);
    let by_hand = |run: &Path, ranks: u64, counts: &[u64], name: &str| {
        let certificate = text(&run.join("distance.cert"));
        let archive: String =
            certificate.lines().filter_map(|line| line.strip_prefix("archive ")).map(|line| format!("{line}\n")).collect();
        let digest = |text: &str| {
            let file = path("digest");
            fs::write(&file, text).expect("written");
            common::disturb::sha256(&file)
        };
        let levels: String = counts.iter().enumerate().map(|(depth, count)| format!("level {depth} {count}\n")).collect();
        let receipt = format!(
            "farthest-receipt 2\ncertificate {}\narchive {}\ninterval 0 {ranks}\nlevels {}\n{levels}end\n",
            digest(&certificate),
            digest(&archive),
            counts.len()
        );
        fs::write(path(name), receipt).expect("written");
        path(name)
    };
    let merge =
        |run: &Path, receipts: &[&Path], more: &[&str]| outcome(verify().arg("distance").arg(run).args(more).arg("--merge").args(receipts));
    // turnstyle-12 with five states and God's number 1.
    let lie = path("lie");
    fs::create_dir(&lie).expect("made");
    let certificate = |ranks: u64, counts: &[u64]| {
        let levels: String = counts.iter().enumerate().map(|(depth, count)| format!("level {depth} {count}\n")).collect();
        let text = format!(
            "farthest-certificate 1\nclaim distance\npuzzle turnstyle 12 step\nranks {ranks} {ranks}\nstates {}\nlevels {}\n{levels}archives 0\nend\n",
            counts.iter().sum::<u64>(),
            counts.len()
        );
        fs::write(lie.join("distance.cert"), text).expect("written");
    };
    certificate(5, &[1, 4]);
    let receipt = by_hand(&lie, 5, &[1, 4], "five");
    let (code, stdout, stderr) = merge(&lie, &[&receipt], &[]);
    assert!(code == 1 && stderr.contains("found 5 numbered states, expected 479001600 for turnstyle-12 (step)"), "{stdout}{stderr}");
    certificate(479_001_600, &[1, 4]);
    let receipt = by_hand(&lie, 479_001_600, &[1, 4], "few");
    let (code, _, stderr) = merge(&lie, &[&receipt], &[]);
    assert!(code == 1 && stderr.contains("found 5 states, expected 479001600, the order of the group"), "{stderr}");
    certificate(479_001_600, &[479_001_600]);
    let receipt = by_hand(&lie, 479_001_600, &[479_001_600], "start");
    let (code, _, stderr) = merge(&lie, &[&receipt], &[]);
    assert!(code == 1 && stderr.contains("expected the solved state alone"), "{stderr}");
    // The right total, wrong levels: nothing here can tell, and so it is not called verified.
    certificate(479_001_600, &[1, 479_001_599]);
    let receipt = by_hand(&lie, 479_001_600, &[1, 479_001_599], "total");
    let (code, stdout, _) = merge(&lie, &[&receipt], &[]);
    assert!(code == 3 && stdout.starts_with("consistent ") && stdout.contains("not proved: that a checker wrote them"), "{stdout}");
    let key = path("key");
    fs::write(&key, "a secret of some length").expect("written");
    let with_key = ["--key", key.to_str().expect("UTF-8")];
    let (code, _, stderr) = merge(&lie, &[&receipt], &with_key);
    assert!(code == 1 && stderr.contains("a receipt without the seal of this key"), "{stderr}");
    // Receipts of the checker, sealed, prove what they say; not with another key, and not when they are changed.
    let receipts: Vec<PathBuf> = (1..=3).map(|part| path(&format!("part-{part}"))).collect();
    for (part, receipt) in (1..).zip(&receipts) {
        let mut command = verify();
        command.arg("distance").arg(&truth.run).args(with_key).args(["--interval", &format!("{part}/3"), "--receipt"]).arg(receipt);
        succeed(&mut command);
        let before = fs::read(receipt).expect("readable");
        let (code, _, stderr) = outcome(&mut command);
        assert!(code == 2 && stderr.contains("no receipt is overwritten"), "{stderr}");
        assert_eq!(fs::read(receipt).expect("readable"), before);
    }
    let receipts: Vec<&Path> = receipts.iter().map(PathBuf::as_path).collect();
    assert_eq!(merge(&truth.run, &receipts, &with_key).0, 0);
    assert_eq!(merge(&truth.run, &receipts, &[]).0, 3);
    let other = path("other-key");
    fs::write(&other, "another one of some length").expect("written");
    assert_eq!(merge(&truth.run, &receipts, &["--key", other.to_str().expect("UTF-8")]).0, 1);
    fs::write(&other, "short").expect("written");
    assert_eq!(merge(&truth.run, &receipts, &["--key", other.to_str().expect("UTF-8")]).0, 2);
    let last = text(receipts[2]);
    let line = last.lines().find(|line| line.starts_with("level 9 ")).expect("a level").to_owned();
    fs::write(receipts[2], last.replace(&line, "level 9 0")).expect("written");
    assert_eq!(merge(&truth.run, &receipts, &with_key).0, 1);
}

#[test]
fn bombs_cost_no_more_than_they_may() {
    let mut truth = Truth::certified("turnstyle-7", "step", "true-turnstyle-7-certified");
    // The index of an archive's file names one entry again and again.
    truth.forged(2, "two entries of shard", |run| {
        let path = run.join("levels/000009/process-0000.pack");
        let file = fs::read(&path).expect("readable");
        let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().expect("eight bytes"));
        let start = usize::try_from(word(file.len() - 24)).expect("small");
        let payload = &file[start + 32..file.len() - 24];
        assert!(payload[0] >= 1 && payload[0] < 250);
        let mut forged = vec![payload[0] + 1];
        forged.extend(&payload[1..]);
        // One more entry like the first: nine numbers.
        let mut at = 1;
        for _ in 0..9 {
            at += match payload[at] {
                251 => 3,
                252 => 5,
                253 => 9,
                _ => 1,
            };
        }
        forged.extend(&payload[1..at]);
        set_index(&path, &file[..start], &forged);
        certify_again(run);
        seal(run);
    });
    // The checksum of a block is another one, and nothing else: all members are right.
    truth.forged(1, "found checksum ", |run| {
        let path = run.join("levels/000009/process-0000.pack");
        let file = fs::read(&path).expect("readable");
        let start =
            usize::try_from(u64::from_le_bytes(file[file.len() - 24..file.len() - 16].try_into().expect("eight bytes"))).expect("small");
        let mut payload = file[start + 32..file.len() - 24].to_vec();
        *payload.last_mut().expect("the last byte of the last block's checksum") ^= 1;
        set_index(&path, &file[..start], &payload);
        certify_again(run);
        seal(run);
    });
    // An index of megabytes of zeros: refused by what it would take in memory, not by taking it.
    let copy = truth.copy();
    let path = copy.join("levels/000009/process-0000.pack");
    let file = fs::read(&path).expect("readable");
    let start =
        usize::try_from(u64::from_le_bytes(file[file.len() - 24..file.len() - 16].try_into().expect("eight bytes"))).expect("small");
    let mut payload = vec![252];
    payload.extend(4_000_000_u32.to_le_bytes());
    payload.resize(36_000_005, 0);
    set_index(&path, &file[..start], &payload);
    certify_again(&copy);
    seal(&copy);
    let started = Instant::now();
    let (code, _, stderr) = outcome(verify().arg(&copy));
    assert!(code == 2 && stderr.contains("bytes of memory, expected at most"), "{stderr}");
    assert!(started.elapsed().as_secs() < 60);
    // Pipes, devices and links in the place of files.
    for name in [
        "levels.tsv",
        "SHA256SUMS",
        "run.toml",
        "summary.json",
        "manifest.json",
        "samples.tsv",
        "distance.cert",
        "levels/000003/process-0000.pack",
    ] {
        truth.forged(2, "regular file", |run| {
            fs::remove_file(run.join(name)).expect("removable");
            let made = Command::new("mkfifo").arg(run.join(name)).status().expect("mkfifo can be started");
            assert!(made.success());
        });
        truth.forged(2, "found a symbolic link", |run| {
            fs::remove_file(run.join(name)).expect("removable");
            symlink("/dev/zero", run.join(name)).expect("linked");
        });
    }
}

/// Writes a pack file with this index.
fn set_index(path: &Path, blocks: &[u8], payload: &[u8]) {
    use xxhash_rust::xxh3::Xxh3;
    let length = u64::try_from(payload.len()).expect("small");
    let mut header = b"FARTHESTINDX\x01\0\x01\0".to_vec();
    header.extend(length.to_le_bytes());
    let mut hasher = Xxh3::new();
    hasher.update(&header);
    hasher.update(payload);
    header.extend(hasher.digest().to_le_bytes());
    let mut trailer = u64::try_from(blocks.len()).expect("small").to_le_bytes().to_vec();
    trailer.extend((length + 32).to_le_bytes());
    trailer.extend(b"FARTHEND");
    fs::write(path, [blocks, &header, payload, &trailer].concat()).expect("written");
}

#[test]
fn nothing_is_passed_over_in_silence() {
    let truth = Truth::certified("turnstyle-6", "step", "true-turnstyle-6-certified");
    let root = truth.folder.path().join("all");
    let deep: PathBuf = (0..40).map(|level| format!("level-{level}")).collect();
    let folders =
        ["a b", "a+b", "a(b)", "grün", "läufe/😀", "new\nline", "esc\u{1b}[2J", "levels", "checkpoint", "work"].map(PathBuf::from);
    for name in folders.iter().chain([&deep]) {
        fs::create_dir_all(root.join(name).parent().expect("a parent")).expect("made");
        copy_folder(&truth.run, &root.join(name));
    }
    let (code, stdout, stderr) = outcome(verify().arg(&root));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert_eq!(stdout.lines().last(), Some("11 verified, 0 consistent, 0 refuted, 0 unreadable, 0 skipped"), "{stdout}");
    assert!(!stdout.contains('\u{1b}') && stdout.lines().count() == 12, "{stdout}");
    // What is not looked at is named.
    symlink(&truth.run, root.join("linked")).expect("linked");
    copy_folder(&truth.run, &root.join(".hidden"));
    copy_folder(&truth.run, &root.join("unfinished"));
    fs::remove_file(root.join("unfinished/SHA256SUMS")).expect("removable");
    fs::remove_file(root.join("unfinished/summary.json")).expect("removable");
    // Its certificate is right, and one of the claims.
    let (code, stdout, stderr) = outcome(verify().arg(&root));
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert_eq!(stdout.lines().last(), Some("12 verified, 0 consistent, 0 refuted, 0 unreadable, 3 skipped"), "{stdout}");
    for part in ["linked: a symbolic link", ".hidden: a hidden name", "unfinished: a run that is not complete"] {
        assert!(stdout.lines().any(|line| line.starts_with("skipped ") && line.contains(part)), "{part}\n{stdout}");
    }
    // The worst decides.
    let plain = Truth::plain("turnstyle-6", "true-turnstyle-6");
    let codes = |paths: &[&Path]| outcome(verify().args(paths)).0;
    let (none, broken) = (plain.folder.path().join("none.cert"), Path::new("tests/corrupt/word-one-move-short.cert"));
    assert_eq!(codes(&[&truth.run, &plain.run]), 3);
    assert_eq!(codes(&[&plain.run, &none, &truth.run]), 2);
    assert_eq!(codes(&[&none, broken, &plain.run]), 1);
    assert_eq!(codes(&[&truth.run]), 0);
}
