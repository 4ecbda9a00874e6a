//! Directed puzzles: a move has none that undoes it. Distances to the solved state differ from
//! those from it, and all ways to search find the same.
//!
//! The puzzles are LX: L turns a row of n pieces, X exchanges the first two. For n = 6 the state
//! that takes most moves to be solved is `2 6 1 5 4 3`, with 18 (OEIS A186144); for the beads
//! 0 0 1 1 2 2 3 the deepest state is 20 moves away from the solved one, and 21 moves to it
//! (`shared/cases`, own search in both directions).

mod common;

use common::needs::{Need, part_lacks};
use common::{antipodes, checker, distribution, farthest, known, mpirun, outcome, result_bytes, succeed};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// LX with `size` pieces.
fn lx(size: usize, folder: &Path) -> String {
    let row = |images: Vec<usize>| format!("images = {images:?}\n");
    let turned = row((1..size).chain([0]).collect());
    let exchanged = row([1, 0].into_iter().chain(2..size).collect());
    let text = format!(
        "family = \"permutations\"\nname = \"lx-{size}\"\npositions = {size}\n[[generators]]\nname = \"L\"\n{turned}[[generators]]\nname = \"X\"\n{exchanged}"
    );
    let path = folder.join(format!("lx-{size}.toml"));
    fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").into()
}

fn run_with(mut program: Command, puzzle: &str, more: &[&str], out: &Path) -> PathBuf {
    succeed(program.args(["run", puzzle, "--quiet", "--progress", "none", "--out"]).arg(out).args(more));
    out.to_path_buf()
}

fn run(puzzle: &str, more: &[&str], out: &Path) -> PathBuf {
    run_with(farthest(), puzzle, more, out)
}

/// Moves that it takes to solve a state, by `farthest solve`.
fn solved_in(puzzle: &str, state: &str) -> u64 {
    let told = succeed(farthest().args(["solve", puzzle, "--json", "--state", state]));
    serde_json::from_str::<serde_json::Value>(&told).expect("JSON")["length"].as_u64().expect("a length")
}

#[test]
fn distances_to_the_solved_state_are_the_default() {
    let folder = common::folder_in_memory();
    let puzzle = known("lx-6.toml").to_str().expect("UTF-8").to_owned();
    let to = run(&puzzle, &[], &folder.path().join("to"));
    assert_eq!(antipodes(&to), ["2 6 1 5 4 3"]);
    assert_eq!(solved_in(&puzzle, "2 6 1 5 4 3"), 18);
    let from = run(&puzzle, &["--direction", "from"], &folder.path().join("from"));
    assert_eq!(antipodes(&from), ["3 1 6 5 4 2"]);
    // A group looks alike in both directions: the inverses of the states at a distance are as many.
    assert_eq!(distribution(&to), distribution(&from));
    assert_eq!(distribution(&to).len(), 19);
    for (run, direction) in [(&to, "to"), (&from, "from")] {
        assert_eq!(common::json(run, "summary.json")["direction"], direction);
        assert!(fs::read_to_string(run.join("run.toml")).expect("text").contains(&format!("direction = \"{direction}\"")));
        let (code, told, _) = outcome(checker("1G").arg(run));
        assert_eq!((code, told.contains("moves to the solved state")), (3, direction == "to"), "{told}");
        let table = succeed(farthest().args(["table", "--format", "csv"]).arg(run));
        assert!(table.lines().all(|line| line.ends_with(",direction") || line.ends_with(&format!(",{direction}"))), "{table}");
    }
    // Where moves have inverses nothing is said, whatever was asked for.
    let closed = run("turnstyle-6", &["--direction", "from"], &folder.path().join("closed"));
    assert!(common::json(&closed, "summary.json").get("direction").is_none());
    assert!(!fs::read_to_string(closed.join("run.toml")).expect("text").contains("direction"));
}

#[test]
fn equal_beads_are_farther_to_than_from() {
    let folder = common::folder_in_memory();
    let puzzle = known("lx-0011223.toml").to_str().expect("UTF-8").to_owned();
    for (direction, depth) in [("to", 21), ("from", 20)] {
        let run = run(&puzzle, &["--direction", direction], &folder.path().join(direction));
        assert_eq!(common::json(&run, "summary.json")["gods_number"], depth);
    }
}

#[test]
fn plan_and_messages_say_which_distances_are_meant() {
    let folder = common::folder_in_memory();
    let puzzle = known("lx-6.toml");
    let plan = succeed(farthest().arg("plan").arg(&puzzle));
    assert!(plan.contains("moves to the solved state"), "{plan}");
    let plan = succeed(farthest().arg("plan").arg(&puzzle).args(["--direction", "from"]));
    assert!(plan.contains("moves from the solved state"), "{plan}");
    assert!(!succeed(farthest().args(["plan", "turnstyle-6"])).contains("moves to"));
    let told = succeed(farthest().arg("run").arg(&puzzle).args(["--progress", "none", "--out"]).arg(folder.path().join("run")));
    assert!(told.contains("God's number 18 (moves to the solved state)"), "{told}");
    // The folder of a run in one direction is not another one's.
    let (code, _, stderr) =
        outcome(farthest().arg("run").arg(&puzzle).args(["--direction", "from", "--out"]).arg(folder.path().join("run")));
    assert!(code == 78 && stderr.contains("holds the results of another run"), "{stderr}");
    let (code, _, stderr) = outcome(farthest().arg("run").arg(&puzzle).args(["--direction", "back"]));
    assert!(code == 2 && stderr.contains("to, from"), "{stderr}");
}

/// A plain search of LX in both directions, state by state.
fn levels(size: u8, to_solved: bool) -> Vec<(u64, [u64; 3])> {
    let moves = |state: &Vec<u8>| -> [Vec<u8>; 2] {
        let (mut turned, mut exchanged) = (state.clone(), state.clone());
        if to_solved {
            turned.rotate_right(1)
        } else {
            turned.rotate_left(1)
        }
        exchanged.swap(0, 1);
        [turned, exchanged]
    };
    let start: Vec<u8> = (0..size).collect();
    let mut depths = HashMap::from([(start.clone(), 0)]);
    let mut order = vec![start];
    let mut at = 0;
    while at < order.len() {
        for next in moves(&order[at]) {
            let depth = depths[&order[at]] + 1;
            depths.entry(next.clone()).or_insert_with(|| {
                order.push(next);
                depth
            });
        }
        at += 1;
    }
    let mut levels = vec![(0, [0; 3]); depths[order.last().expect("the start")] + 1];
    for state in &order {
        let depth = depths[state];
        levels[depth].0 += 1;
        for next in moves(state) {
            let there = depths[&next];
            levels[depth].1[usize::from(there >= depth) + usize::from(there > depth)] += 1;
        }
    }
    levels
}

/// States and edges by level, as the run says.
fn levels_of(run: &Path) -> Vec<(u64, [u64; 3])> {
    let text = fs::read_to_string(run.join("levels.tsv")).expect("text");
    let row = |line: &str| {
        let cells: Vec<u64> = line.split('\t').take(5).map(|cell| cell.parse().expect("a number")).collect();
        (cells[1], [cells[2], cells[3], cells[4]])
    };
    text.lines().skip(1).map(row).collect()
}

fn without_config(mut bytes: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    bytes.remove("run.toml");
    bytes
}

#[test]
fn lanes_find_what_states_find() {
    let folder = common::folder_in_memory();
    let path = lx(8, folder.path());
    let text = fs::read_to_string(&path).expect("text");
    let mut number = 0;
    let mut configured = |search: &str| {
        number += 1;
        let path = folder.path().join(format!("config-{number}.toml"));
        fs::write(&path, format!("{text}[search]\n{search}")).expect("written");
        (path.to_str().expect("UTF-8").to_owned(), folder.path().join(format!("run-{number}")))
    };
    for direction in ["to", "from"] {
        let (config, out) = configured("expansion = \"states\"\n");
        let by_states = run(&config, &["--direction", direction], &out);
        assert_eq!(levels_of(&by_states), levels(8, direction == "to"));
        let expected = without_config(result_bytes(&by_states));
        for (search, more) in [
            ("expansion = \"lanes\"\n", vec!["--threads", "2"]),
            ("expansion = \"lanes\"\nstorage = \"compact\"\n", vec![]),
            ("expansion = \"lanes\"\nshare_memory = false\n", vec!["--participants", "3"]),
            ("expansion = \"lanes\"\nleading_positions = 1\n", vec!["--participants", "2"]),
            ("", vec![]),
        ] {
            let (config, out) = configured(search);
            let run = run(&config, &[&["--direction", direction], more.as_slice()].concat(), &out);
            assert_eq!(without_config(result_bytes(&run)), expected, "{direction} {search} {more:?}");
        }
        if !part_lacks(Need::Mpi) {
            for search in ["expansion = \"lanes\"\n", "expansion = \"lanes\"\nshare_memory = false\n"] {
                let (config, out) = configured(search);
                let run = run_with(mpirun(2), &config, &["--direction", direction], &out);
                assert_eq!(without_config(result_bytes(&run)), expected, "MPI {direction} {search}");
            }
        }
        // Repeated by lanes what states found, and solved from both ends.
        let told = succeed(farthest().args(["recheck", "--progress", "none"]).arg(&by_states));
        assert!(told.contains("by lanes"), "{told}");
        succeed(farthest().arg("spot-solve").arg(&by_states));
    }
}

#[test]
fn an_interrupted_search_goes_on_in_its_direction() {
    let folder = common::folder_in_memory();
    let puzzle = lx(8, folder.path());
    let expected = result_bytes(&run(&puzzle, &["--checkpoint-seconds", "0", "--direction", "from"], &folder.path().join("whole")));
    let out = folder.path().join("killed");
    let mut killed = farthest();
    killed.args(["run", &puzzle, "--quiet", "--checkpoint-seconds", "0", "--direction", "from", "--out"]).arg(&out);
    assert_ne!(outcome(killed.env("FARTHEST_FAULT", "before-commit:9:kill")).0, 0);
    let (code, _, stderr) = outcome(farthest().args(["run", &puzzle, "--checkpoint-seconds", "0", "--out"]).arg(&out));
    assert!(code == 78 && stderr.contains("direction"), "the default is another search: {stderr}");
    succeed(farthest().args(["resume", "--quiet", "--participants", "2"]).arg(&out));
    assert_eq!(result_bytes(&out), expected);
}

#[test]
fn certificates_say_the_direction() {
    let folder = common::folder_in_memory();
    let puzzle = lx(7, folder.path());
    let verify = |path: &Path| outcome(checker("1G").arg(path));
    let python = |path: &Path| outcome(Command::new("python3").arg("scripts/verify.py").arg(path).current_dir(env!("CARGO_MANIFEST_DIR")));
    for direction in ["to", "from"] {
        let run = run(&puzzle, &["--direction", direction, "--keep-levels"], &folder.path().join(direction));
        let told = succeed(farthest().args(["certify", "distance"]).arg(&run));
        assert!(told.contains("now \"certified\""), "{told}");
        let (code, told, stderr) = verify(&run);
        assert_eq!((code, told.contains("moves to the solved state")), (0, direction == "to"), "{told}{stderr}");
        assert_eq!(python(&run.join("distance.cert")).0, 0);
        let deepest = antipodes(&run);
        let table = succeed(farthest().arg("table").arg(&run));
        assert!(table.contains("certified"), "{table}");
        let solve = || {
            let mut solve = farthest();
            solve.args(["solve", &puzzle, "--json", "--state", &deepest[0], "--table"]).arg(&run);
            outcome(&mut solve)
        };
        let (code, told, stderr) = solve();
        if direction == "from" {
            assert!(code == 78 && stderr.contains("--direction to"), "{stderr}");
        } else {
            let depth = distribution(&run).len() - 1;
            assert!(code == 0 && told.contains(&format!("\"length\":{depth},")), "{told}");
            assert_eq!(solved_in(&puzzle, &deepest[0]), u64::try_from(depth).expect("small"));
        }
        // The other direction in the certificate, and in the configuration.
        let certificate = run.join("distance.cert");
        let text = fs::read_to_string(&certificate).expect("text");
        let forged = if direction == "to" { text.replace("direction to\n", "") } else { text.replace("ranks ", "direction to\nranks ") };
        assert_ne!(forged, text);
        let beside = run.join("forged.cert");
        fs::write(&beside, &forged).expect("written");
        assert_eq!((verify(&beside).0, python(&beside).0), (1, 1), "{direction}");
        fs::write(&beside, text.replacen("ranks ", "direction back\nranks ", 1)).expect("written");
        assert_eq!((verify(&beside).0, python(&beside).0), (2, 2), "{direction}");
        fs::remove_file(&beside).expect("removed");
    }
    // Where every move is undone by one there is no direction to state.
    let closed = common::certified("turnstyle-6", "step", folder.path());
    let text = fs::read_to_string(closed.join("distance.cert")).expect("text");
    let stated = closed.join("stated.cert");
    fs::write(&stated, text.replacen("ranks ", "direction to\nranks ", 1)).expect("written");
    assert_eq!((verify(&stated).0, python(&stated).0), (2, 2));
}
