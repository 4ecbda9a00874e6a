//! One configuration gives the same result bytes for any number of processes and threads,
//! interrupted and resumed or not.
//!
//! The reference of each puzzle is one process with one thread. Against it run: 1 to 4 MPI
//! processes, 1 to 4 in-process participants, 1 to 3 threads each, every expansion, exchanges split
//! into many rounds, and a run that is killed, stopped and resumed on other numbers of processes at
//! each turn. Tests of several MPI processes are skipped where there is no MPI.

mod common;

use common::needs::{Need, part_lacks, test_lacks};
use farthest::base::Depth;
use farthest::families::PuzzleSource;
use farthest::puzzle::Puzzle;
use farthest::ranking::Partition;
use farthest::ranking::StateSpace;
use farthest::store::level_archive;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Puzzle and metric of the runs that are compared: both parities of Turnstyle, all its metrics,
/// one orbit and two orbits by permutations.
const PUZZLES: [(&str, &str); 6] = [
    ("turnstyle-8", "step"),
    ("turnstyle-9", "step"),
    ("turnstyle-8", "flip"),
    ("turnstyle-7", "turn"),
    ("pancake-7", "step"),
    ("board-3x4n3", "quarter"),
];

/// Exit code of a stopped and resumable run.
const STOPPED: i32 = 75;

/// A folder with a configuration and the runs of it.
struct Bench {
    folder: tempfile::TempDir,
    config: PathBuf,
    runs: u32,
}

impl Bench {
    fn new(puzzle: &str, metric: &str, search: &str) -> Self {
        let folder = common::folder_in_memory();
        let config = folder.path().join("run.toml");
        fs::write(&config, format!("puzzle = \"{puzzle}\"\nmetric = \"{metric}\"\n[search]\n{search}")).expect("written");
        Self { folder, config, runs: 0 }
    }

    /// A new run folder's path.
    fn new_run(&mut self) -> PathBuf {
        self.runs += 1;
        self.folder.path().join(format!("run-{}", self.runs))
    }

    /// Runs to the end in a new folder, which is returned.
    fn run(&mut self, mut command: Command, more: &[&str]) -> PathBuf {
        let run = self.new_run();
        self.run_into(&mut command, &run, more);
        common::succeed(&mut command);
        run
    }

    fn run_into(&self, command: &mut Command, run: &Path, more: &[&str]) {
        command.arg("run").arg(&self.config).arg("--out").arg(run).args(["--quiet", "--progress", "none"]).args(more);
    }

    /// The result bytes of the reference: one process, one thread.
    fn reference(&mut self) -> BTreeMap<String, Vec<u8>> {
        let run = self.run(common::farthest(), &["--threads", "1"]);
        common::result_bytes(&run)
    }
}

/// Demands the same bytes in every file; says which differs.
fn same_bytes(expected: &BTreeMap<String, Vec<u8>>, run: &Path, what: &str) {
    let found = common::result_bytes(run);
    for (name, bytes) in expected {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&found[name]), text(bytes), "{what}: {name} differs");
    }
}

/// Without the configuration's echo, for runs that are configured to work in another way.
fn without_config(mut bytes: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    bytes.remove("run.toml").expect("it is one of the files");
    bytes
}

#[test]
fn participants_and_threads() {
    for (puzzle, metric) in PUZZLES {
        let mut bench = Bench::new(puzzle, metric, "");
        let expected = bench.reference();
        for (participants, threads) in [("1", "2"), ("1", "3"), ("2", "1"), ("3", "2"), ("4", "1")] {
            let run = bench.run(common::farthest(), &["--participants", participants, "--threads", threads]);
            same_bytes(&expected, &run, &format!("{puzzle} {metric}, {participants} participants x {threads} threads"));
            let manifest = common::json(&run, "manifest.json");
            assert_eq!(manifest["processes"].to_string(), participants);
            assert_eq!(manifest["threads_per_process"].to_string(), threads);
        }
    }
}

#[test]
fn mpi_processes() {
    if test_lacks(Need::Mpi) {
        return;
    }
    for (puzzle, metric) in PUZZLES {
        let mut bench = Bench::new(puzzle, metric, "");
        let expected = bench.reference();
        for (processes, threads) in [(1, "2"), (2, "1"), (3, "1"), (4, "1"), (2, "3")] {
            let run = bench.run(common::mpirun(processes), &["--threads", threads]);
            same_bytes(&expected, &run, &format!("{puzzle} {metric}, {processes} MPI processes x {threads} threads"));
            let manifest = common::json(&run, "manifest.json");
            assert_eq!(manifest["processes"], processes);
            assert!(manifest["transport"].as_str().expect("text").starts_with("MPI"), "{}", manifest["transport"]);
            // Every process owns some shards of a puzzle this large, so the processes really worked
            // together.
            if puzzle.starts_with("turnstyle") {
                assert_eq!(manifest["bytes_exchanged"].as_u64().expect("a number") > 0, processes > 1, "{manifest}");
            }
        }
    }
}

/// One of several sessions of a run: a program with more arguments, and what ends it early.
struct Session {
    command: Command,
    more: Vec<&'static str>,
    ending: Ending,
}

enum Ending {
    Complete,
    /// Asked to stop in its first round.
    Stopped,
    /// Killed by a fault point.
    Killed,
}

fn session(command: Command, more: &[&'static str]) -> Session {
    Session { command, more: more.to_vec(), ending: Ending::Complete }
}

impl Session {
    fn stopped(mut self) -> Self {
        self.more.extend(["--max-hours", "1us"]);
        self.ending = Ending::Stopped;
        self
    }

    /// Process `process` kills itself when it passes a point, as in `before-commit:3`.
    fn killed(mut self, process: u32, point: &str) -> Self {
        self.command.env("FARTHEST_FAULT", format!("{point}:kill")).env("FARTHEST_FAULT_PROCESS", process.to_string());
        self.ending = Ending::Killed;
        self
    }
}

/// Runs in sessions, the first one into a new folder, and demands the expected bytes at the end.
fn check_sessions(bench: &mut Bench, expected: &BTreeMap<String, Vec<u8>>, sessions: Vec<Session>, what: &str) -> PathBuf {
    let run = bench.new_run();
    // A session that committed nothing leaves no trace, so it does not count as resumed.
    let (mut resumes, mut newest) = (0, None);
    for (Session { mut command, more, ending }, number) in sessions.into_iter().zip(1..) {
        if number == 1 {
            bench.run_into(&mut command, &run, &more);
        } else {
            command.arg("resume").arg(&run).args(["--quiet", "--progress", "none"]).args(&more);
        }
        // Killed processes leave the memory that Open MPI shares between them: it goes with the
        // folder.
        command.env("OMPI_MCA_btl_vader_backing_directory", bench.folder.path());
        let (code, _, stderr) = common::outcome(&mut command);
        let what = format!("{what}, session {number}: exit code {code}\n{stderr}");
        assert!(!stderr.contains("not usable"), "every checkpoint is whole: {what}");
        match ending {
            Ending::Complete => assert_eq!(code, 0, "{what}"),
            Ending::Stopped => assert!(code == STOPPED && stderr.contains("farthest resume"), "{what}"),
            // What mpirun or timeout make of SIGKILL; 124 is a hang that ran into the time limit.
            Ending::Killed => assert!(![0, STOPPED, 78, 124].contains(&code), "{what}"),
        }
        let complete = run.join("SHA256SUMS").exists();
        assert_eq!(complete, matches!(ending, Ending::Complete), "{what}");
        assert_eq!(complete, !run.join("checkpoint").exists(), "{what}");
        let before = std::mem::replace(&mut newest, newest_manifest(&run));
        resumes += u32::from(number > 1 && newest != before);
    }
    same_bytes(expected, &run, what);
    assert_eq!(common::json(&run, "manifest.json")["resumes"], resumes, "{what}");
    run
}

/// Name of the newest checkpoint's manifest, if there is one.
fn newest_manifest(run: &Path) -> Option<String> {
    let names = fs::read_dir(run.join("checkpoint")).ok()?.map(|entry| entry.expect("listed").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("manifest-") && !name.ends_with(".tmp")).max()
}

#[test]
fn interrupted_and_resumed_on_other_participants() {
    for (puzzle, metric) in PUZZLES {
        let mut bench = Bench::new(puzzle, metric, "checkpoint_seconds = 0\n");
        let expected = bench.reference();
        let sessions = vec![
            session(common::farthest(), &["--participants", "3"]).killed(0, "before-commit:3"),
            session(common::farthest(), &["--threads", "2"]).stopped(),
            session(common::farthest(), &["--participants", "4"]).killed(0, "after-commit:2"),
            session(common::farthest(), &["--participants", "2", "--threads", "3"]),
        ];
        check_sessions(&mut bench, &expected, sessions, &format!("{puzzle} {metric}"));
    }
}

#[test]
fn interrupted_and_resumed_on_other_mpi_processes() {
    if test_lacks(Need::Mpi) {
        return;
    }
    // Every mpirun takes a second or two to start and to notice a killed process: one puzzle by
    // permutations is enough.
    for (puzzle, metric) in &PUZZLES[..5] {
        let mut bench = Bench::new(puzzle, metric, "checkpoint_seconds = 0\n");
        let expected = bench.reference();
        let sessions = vec![
            session(common::mpirun(3), &["--threads", "1"]).killed(1, "pack-sync:3"),
            session(common::mpirun(2), &["--threads", "2"]).stopped(),
            session(common::mpirun(4), &["--threads", "1"]).killed(0, "after-commit:2"),
            session(common::mpirun(2), &["--threads", "1"]).killed(0, "before-commit:2"),
            session(common::farthest(), &["--participants", "3"]).stopped(),
            session(common::mpirun(1), &[]),
        ];
        check_sessions(&mut bench, &expected, sessions, &format!("{puzzle} {metric}, MPI"));
    }
}

/// Bytes that were exchanged for each level.
fn exchanged_bytes(run: &Path) -> Vec<u64> {
    let manifest = common::json(run, "manifest.json");
    let levels = manifest["levels"].as_array().expect("a list");
    levels.iter().map(|level| level["bytes_exchanged"].as_u64().expect("a number")).collect()
}

#[test]
fn exchanges_in_many_rounds() {
    let expected = without_config(Bench::new("turnstyle-8", "step", "").reference());
    // 42 states a round on each participant: a thousand rounds in all.
    for expansion in ["states", "lanes", "unseen"] {
        let config = format!("round_kib = 1\nexchange_kib = 1\nshare_memory = false\nexpansion = \"{expansion}\"\n");
        let mut bench = Bench::new("turnstyle-8", "step", &config);
        let run = bench.run(common::farthest(), &["--participants", "3", "--threads", "2"]);
        same_bytes(&expected, &run, &format!("round_kib = 1, 3 participants, {expansion}"));
        if !part_lacks(Need::Mpi) {
            let run = bench.run(common::mpirun(2), &["--threads", "1"]);
            same_bytes(&expected, &run, &format!("round_kib = 1, 2 MPI processes, {expansion}"));
        }
    }
    if part_lacks(Need::Mpi) {
        return;
    }
    // MPI carries at most a KiB at a time from process to process; by states each level is one
    // exchange, whatever it holds.
    let expected = without_config(Bench::new("turnstyle-9", "step", "").reference());
    for (expansion, processes, rounds) in [("states", 2_u32, 5), ("states", 3, 1), ("lanes", 2, 4), ("unseen", 2, 20)] {
        let mut bench =
            Bench::new("turnstyle-9", "step", &format!("exchange_kib = 1\nshare_memory = false\nexpansion = \"{expansion}\"\n"));
        let run = bench.run(common::mpirun(processes), &["--threads", "1"]);
        same_bytes(&expected, &run, &format!("exchange_kib = 1, {processes} MPI processes, {expansion}"));
        let largest = exchanged_bytes(&run).into_iter().max().expect("levels");
        let one_round = u64::from(processes * (processes - 1)) * 1_024;
        assert!(largest > rounds * one_round, "{expansion}: {largest} bytes in a level, {one_round} in a round");
    }
}

#[test]
fn every_expansion() {
    for (puzzle, metric) in PUZZLES {
        let mut bench = Bench::new(puzzle, metric, "");
        let expected = without_config(bench.reference());
        for expansion in ["states", "lanes", "unseen"] {
            let mut bench = Bench::new(puzzle, metric, &format!("expansion = \"{expansion}\"\n"));
            for more in [&["--threads", "1"][..], &["--participants", "3", "--threads", "2"]] {
                let run = bench.run(common::farthest(), more);
                same_bytes(&expected, &run, &format!("{puzzle} {metric}, {expansion}, {more:?}"));
                if puzzle == "turnstyle-9" {
                    let manifest = common::json(&run, "manifest.json");
                    let levels = manifest["levels"].as_array().expect("a list");
                    assert!(levels.iter().all(|level| level["expansion"] == expansion), "{manifest}");
                }
            }
        }
    }
}

fn partition(puzzle: &Puzzle) -> Partition {
    StateSpace::of(puzzle).cut(None).expect("small")
}

/// Every archived level read back is the one in `levels.tsv`.
fn check_archive(run: &Path, puzzle: &Puzzle) {
    let partition = partition(puzzle);
    let table = fs::read_to_string(run.join("levels.tsv")).expect("readable");
    let mut levels = 0;
    for (row, depth) in table.lines().skip(1).zip(0..) {
        let columns: Vec<&str> = row.split('\t').collect();
        let found = level_archive::read_level(&run.join("levels"), Depth(depth), &|shard| partition.ranks_if_any(shard)).expect("whole");
        let [first, states, .., fingerprint] = columns[..] else { panic!("{row}") };
        assert_eq!((first, states), (depth.to_string().as_str(), found.states.to_string().as_str()), "{row}");
        assert_eq!(fingerprint, found.fingerprint.to_string(), "{row}");
        levels += 1;
    }
    assert_eq!(fs::read_dir(run.join("levels")).expect("listed").count(), levels, "no other level is archived");
}

#[test]
fn archived_levels_read_back() {
    for (puzzle, metric) in [("turnstyle-8", "step"), ("board-3x4n3", "quarter"), ("turnstyle-8", "flip")] {
        let expected = without_config(Bench::new(puzzle, metric, "").reference());
        let mut bench = Bench::new(puzzle, metric, "keep_levels = true\ncheckpoint_seconds = 0\n");
        let built = PuzzleSource::from_short_name(puzzle).expect("a puzzle").build(metric).expect("a metric");
        for more in [&["--threads", "2"][..], &["--participants", "3"]] {
            let run = bench.run(common::farthest(), more);
            same_bytes(&expected, &run, &format!("{puzzle} {metric}, archived, {more:?}"));
            check_archive(&run, &built);
        }
        let sessions = vec![
            session(common::farthest(), &["--participants", "3"]).killed(0, "before-commit:4"),
            session(common::farthest(), &["--participants", "2"]),
        ];
        let run = check_sessions(&mut bench, &expected, sessions, &format!("{puzzle} {metric}, archived"));
        check_archive(&run, &built);
        if !part_lacks(Need::Mpi) {
            let run = bench.run(common::mpirun(3), &["--threads", "1"]);
            same_bytes(&expected, &run, &format!("{puzzle} {metric}, archived by 3 MPI processes"));
            check_archive(&run, &built);
        }
    }
}

/// The comparisons above would notice: another puzzle, metric or a damaged archive are not the
/// same.
#[test]
fn differences_are_noticed() {
    let mut bench = Bench::new("turnstyle-7", "step", "keep_levels = true\n");
    let step = bench.reference();
    let turn = Bench::new("turnstyle-7", "turn", "keep_levels = true\n").reference();
    for name in common::SAME_BYTES {
        assert_ne!(step[name], turn[name], "{name}");
    }
    let run = bench.folder.path().join("run-1");
    let pack = fs::read_dir(run.join("levels/000009")).expect("listed").next().expect("a pack").expect("listed").path();
    let mut bytes = fs::read(&pack).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&pack, bytes).expect("written");
    let puzzle = PuzzleSource::from_short_name("turnstyle-7").expect("a puzzle").build("step").expect("a metric");
    let partition = partition(&puzzle);
    let error = level_archive::read_level(&run.join("levels"), Depth(9), &|shard| partition.ranks_if_any(shard)).expect_err("damaged");
    assert_eq!(error.exit_code(), 65, "{error}");
    assert!(level_archive::read_level(&run.join("levels"), Depth(8), &|shard| partition.ranks_if_any(shard)).is_ok());
}
