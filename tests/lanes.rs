//! Every expansion finds the same levels: by states (the oracle), by lanes, from the unseen, and
//! whichever is cheapest.
//!
//! Through the program, files are compared byte by byte, but for the configuration's echo, which
//! names the expansion: Turnstyle of every size and metric that takes seconds, the shipped puzzles,
//! and two puzzles made here whose generators move up to four labels across a lane's boundary; with
//! one process, with participants, with MPI processes, in small messages, and with another
//! expansion and number of processes at each resume. Each run's manifest shows that it really
//! worked as it was told to.
//!
//! In the library, random generators of nine positions (`src/expand/lanes.rs` has those of six to
//! eight), one kind of lane move after the other.

mod common;

use common::needs::{Need, part_lacks};
use farthest::base::fingerprint::Fingerprint;
use farthest::base::fingerprint::{self, LANE_STATES, mix64};
use farthest::base::ids::{low_u8, to_u64, to_usize};
use farthest::expand::lanes::{PADDING_BYTES, UNIT_BYTES};
use farthest::expand::{Direction, LaneExpansion, LaneSource, LaneTally, Moves, Target};
use farthest::puzzle::{Layout, Permutation, Puzzle, SignRule, State};
use farthest::ranking::StateSpace;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const EXPANSIONS: [&str; 4] = ["states", "lanes", "unseen", "auto"];

const METRICS: [&str; 3] = ["step", "turn", "flip"];

/// Makes processes of one host exchange lanes as if they were on two.
const APART: &str = "share_memory = false\n";

/// Most ranks that an expansion from the unseen looks at in one test, all levels together: about
/// two seconds of CPU.
const MOST_UNSEEN: u64 = 6_000_000;

fn shipped(name: &str, metric: &str) -> String {
    format!("puzzle = \"{name}\"\nmetric = \"{metric}\"\n")
}

/// Pancakes: the first 2, 3, ... `positions` reversed. With nine positions these cross the boundary
/// of a lane with 0, 0, 0, 1, 2, 3, 4 and 4 labels.
fn pancakes(positions: usize) -> String {
    let mut text = format!("family = \"permutations\"\nname = \"pancake-{positions}\"\npositions = {positions}\n");
    for length in 2..=positions {
        let images: Vec<usize> = (0..length).rev().chain(length..positions).collect();
        let _ = write!(text, "[[generators]]\nname = \"F{length}\"\nimages = {images:?}\n");
    }
    text
}

/// Two even generators and their inverses: a shift by four, whose prefix and suffix change places,
/// and a turn of three. 9!/2 states.
fn even_crossings() -> String {
    "family = \"permutations\"\nname = \"shift-by-four\"\npositions = 9\ninverses = true\n\
     [[generators]]\nname = \"A\"\nimages = [4, 5, 6, 7, 8, 0, 1, 2, 3]\n[[generators]]\nname = \"B\"\ncycles = \"(0 1 2)\"\n"
        .into()
}

/// The runs of one puzzle, and what all of them must find.
struct Comparison {
    puzzle: String,
    folder: TempDir,
    runs: u32,
    expected: BTreeMap<String, Vec<u8>>,
    /// States of each level.
    counts: Vec<u64>,
}

impl Comparison {
    /// Runs the reference: by states, one process, one thread.
    fn new(puzzle: &str) -> Self {
        let folder = common::folder_in_memory();
        let mut new = Self { puzzle: puzzle.into(), folder, runs: 0, expected: BTreeMap::new(), counts: Vec::new() };
        let run = new.new_run();
        common::succeed(&mut new.session(common::farthest(), "states", "", &["--threads", "1"], &run));
        new.expected = common::result_bytes(&run);
        new.counts = common::distribution(&run);
        assert!(expansions(&run).iter().all(|used| used == "states"));
        new
    }

    fn new_run(&mut self) -> PathBuf {
        self.runs += 1;
        self.folder.path().join(format!("run-{}", self.runs))
    }

    /// The command of a session that starts `run`, or goes on with it, with an expansion and more
    /// keys of `[search]`.
    fn session(&self, mut command: Command, expansion: &str, keys: &str, more: &[&str], run: &Path) -> Command {
        let config = run.with_extension(format!("{expansion}.toml"));
        fs::write(&config, format!("{}[search]\nexpansion = \"{expansion}\"\n{keys}", self.puzzle)).expect("written");
        command.arg("run").arg(config).args(["--quiet", "--progress", "none", "--out"]).arg(run).args(more);
        command
    }

    /// A whole run, checked; returns its folder.
    fn run(&mut self, command: Command, expansion: &str, keys: &str, more: &[&str]) -> PathBuf {
        let run = self.new_run();
        let mut command = self.session(command, expansion, keys, more, &run);
        common::succeed(&mut command);
        self.check(&run, &format!("{command:?}"));
        let used = expansions(&run);
        let expected = match expansion {
            "lanes" if !self.has_lanes() => "states",
            other => other,
        };
        assert!(expansion == "auto" || used.iter().all(|used| used == expected), "{command:?}: {used:?}");
        assert_eq!(used.len(), self.counts.len());
        run
    }

    /// Whether there are lanes to expand by: at least six positions, so Turnstyle of at least seven
    /// pieces (the first one stands for the frame).
    fn has_lanes(&self) -> bool {
        !["turnstyle-4\"", "turnstyle-5\"", "turnstyle-6\""].iter().any(|name| self.puzzle.contains(name))
    }

    /// Demands the reference's bytes.
    fn check(&self, run: &Path, what: &str) {
        let found = common::result_bytes(run);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for (name, bytes) in self.expected.iter().filter(|(name, _)| *name != "run.toml") {
            assert_eq!(text(&found[name]), text(bytes), "{name} of {}{what}", self.puzzle);
        }
    }

    /// The levels from the unseen: all, or the last ones, after a run by states that is killed as
    /// soon as few enough are left.
    fn run_tail_from_the_unseen(&mut self) {
        let mut unseen: u64 = self.counts.iter().sum();
        let mut left: Vec<u64> = Vec::new();
        for count in &self.counts {
            unseen -= count;
            left.push(unseen);
        }
        let depth = (0..left.len()).find(|&depth| left[depth..].iter().sum::<u64>() <= MOST_UNSEEN).expect("none at the end");
        if depth == 0 {
            self.run(common::farthest(), "unseen", "", &["--threads", "2"]);
            return;
        }
        let run = self.new_run();
        // The n-th commit closes level n: killed before it, the run goes on from level n - 1.
        let mut killed = self.session(common::farthest(), "states", "checkpoint_seconds = 0\n", &["--threads", "2"], &run);
        common::outcome(common::disturb::fault(&mut killed, "before-commit", to_u64(depth) + 1, "kill"));
        let mut resumed = self.session(common::farthest(), "unseen", "", &["--threads", "2", "--resume", "require"], &run);
        common::succeed(&mut resumed);
        self.check(&run, "from the unseen at the end");
        let used = expansions(&run);
        assert!(used.iter().enumerate().all(|(at, used)| used == if at < depth { "states" } else { "unseen" }), "{depth}: {used:?}");
        assert!(depth + 3 < used.len(), "levels from the unseen: {depth} to {}", used.len());
    }
}

/// How each level of a run was expanded.
fn expansions(run: &Path) -> Vec<String> {
    let manifest = common::json(run, "manifest.json");
    let levels = manifest["levels"].as_array().expect("a list");
    levels.iter().map(|level| level["expansion"].as_str().expect("text").to_owned()).collect()
}

#[test]
fn turnstyle_from_start_to_end() {
    for size in 4..=9 {
        for metric in METRICS {
            let mut comparison = Comparison::new(&shipped(&format!("turnstyle-{size}"), metric));
            for expansion in EXPANSIONS {
                comparison.run(common::farthest(), expansion, "", &["--threads", "2"]);
            }
        }
    }
}

#[test]
fn larger_turnstyle() {
    for (size, metric) in [(10, "step"), (10, "turn"), (10, "flip"), (11, "step")] {
        let mut comparison = Comparison::new(&shipped(&format!("turnstyle-{size}"), metric));
        for expansion in ["states", "lanes", "auto"] {
            let run = comparison.run(common::farthest(), expansion, "", &["--threads", "2"]);
            // The point of having a choice: dense levels by lanes, sparse ones by states.
            let used = expansions(&run);
            assert!(expansion != "auto" || (used.contains(&"states".into()) && used.contains(&"lanes".into())), "{used:?}");
        }
        comparison.run_tail_from_the_unseen();
    }
}

#[test]
fn shipped_puzzles_and_many_crossings() {
    let small = [
        shipped("loopover-3x3", "step"),
        shipped("board-3x4n3", "quarter"),
        shipped("board-3x4n3", "half"),
        shipped("board-2x3n2", "quarter"),
        shipped("board-2x3n2", "half"),
        shipped("pancake-7", "step"),
        even_crossings(),
    ];
    for puzzle in small {
        let mut comparison = Comparison::new(&puzzle);
        for expansion in EXPANSIONS {
            comparison.run(common::farthest(), expansion, "", &["--threads", "2"]);
        }
    }
    for puzzle in [shipped("pocket-cube", "quarter"), shipped("pocket-cube", "half"), pancakes(9)] {
        let mut comparison = Comparison::new(&puzzle);
        for expansion in ["states", "lanes", "auto"] {
            comparison.run(common::farthest(), expansion, "", &["--threads", "2"]);
        }
        comparison.run_tail_from_the_unseen();
    }
}

#[test]
fn several_processes() {
    let puzzles = [
        shipped("turnstyle-8", "step"),
        shipped("turnstyle-9", "step"),
        shipped("turnstyle-9", "flip"),
        shipped("turnstyle-8", "turn"),
        pancakes(9),
        even_crossings(),
    ];
    for puzzle in puzzles {
        let mut comparison = Comparison::new(&puzzle);
        for (expansion, keys) in [("lanes", ""), ("lanes", APART), ("unseen", "")] {
            if expansion == "unseen" && puzzle.contains("pancake-9") {
                continue;
            }
            comparison.run(common::farthest(), expansion, keys, &["--participants", "3", "--threads", "2"]);
            for processes in [2, 3] {
                if !part_lacks(Need::Mpi) {
                    let run = comparison.run(common::mpirun(processes), expansion, keys, &["--threads", "1"]);
                    let manifest = common::json(&run, "manifest.json");
                    assert_eq!(manifest["processes"], processes);
                    // At least a bit for every eighth state: what only one of them knows has
                    // crossed.
                    let bytes = manifest["bytes_exchanged"].as_u64().expect("a number");
                    let states: u64 = comparison.counts.iter().sum();
                    assert!(keys != APART || bytes > states / 64, "{puzzle}: {bytes} bytes between {processes} processes");
                }
            }
        }
    }
}

#[test]
fn small_messages() {
    let keys = &format!("round_kib = 1\nexchange_kib = 1\n{APART}");
    for puzzle in [shipped("turnstyle-8", "step"), shipped("turnstyle-9", "step"), shipped("turnstyle-9", "flip"), pancakes(8)] {
        let mut comparison = Comparison::new(&puzzle);
        comparison.run(common::farthest(), "lanes", keys, &["--participants", "2", "--threads", "2"]);
        if !part_lacks(Need::Mpi) {
            comparison.run(common::mpirun(2), "lanes", keys, &["--threads", "1"]);
        }
    }
}

/// A run goes on with another expansion on other processes, wherever it was interrupted.
#[test]
fn resumed_by_another_expansion() {
    // Commits of levels 1, 2, ... in each session; a session that is stopped commits the level it
    // stands at, in the middle of the next one.
    let sessions: [(&str, u32, &[&str], Option<&str>); 6] = [
        ("states", 1, &["--participants", "3"], Some("before-commit:5:kill")),
        ("lanes", 2, &["--threads", "1"], Some("after-commit:2:kill")),
        ("unseen", 1, &["--participants", "2"], Some("before-commit:2:kill")),
        ("lanes", 1, &["--threads", "2", "--max-hours", "1us"], None),
        ("lanes", 1, &["--participants", "3", "--threads", "2"], Some("before-commit:2:kill")),
        ("auto", 3, &["--threads", "1"], None),
    ];
    for (name, metric) in [("turnstyle-9", "step"), ("turnstyle-9", "flip"), ("turnstyle-8", "turn")] {
        let mut comparison = Comparison::new(&shipped(name, metric));
        let run = comparison.new_run();
        for (expansion, processes, more, fault) in sessions {
            let several = processes > 1 && !part_lacks(Need::Mpi);
            let command = if several { common::mpirun(processes) } else { common::farthest() };
            let keys = format!("checkpoint_seconds = 0\n{}", if processes == 2 { APART } else { "" });
            let mut command = comparison.session(command, expansion, &keys, more, &run);
            if let Some(fault) = fault {
                command.env("FARTHEST_FAULT", fault).env("FARTHEST_FAULT_PROCESS", "0");
            }
            let (code, _, stderr) = common::outcome(&mut command);
            let as_meant = match fault {
                // What mpirun or timeout make of SIGKILL: none of the program's own codes, and no
                // time limit.
                Some(_) => ![0, 1, 2, 65, 70, 73, 74, 75, 77, 78, 101, 124].contains(&code),
                None if more.contains(&"--max-hours") => code == 75,
                None => code == 0,
            };
            assert!(as_meant, "{name} {metric} by {expansion} {more:?}, {fault:?}: exit code {code}\n{stderr}");
            assert!(!stderr.contains("not usable"), "{name} {metric}: every checkpoint is whole\n{stderr}");
        }
        comparison.check(&run, "resumed by other expansions");
        // Four levels, two, one, none (stopped), one, and the rest.
        let used = expansions(&run);
        let expected = [vec!["states"; 4], vec!["lanes"; 2], vec!["unseen"; 1], vec!["lanes"; 1]].concat();
        assert_eq!(used[..expected.len()], expected, "{name} {metric}");
        // The stopped session committed nothing.
        assert_eq!(common::json(&run, "manifest.json")["resumes"], 4);
    }
}

/// What is seen in memory and levels packed in files: the same bytes, on any number of processes,
/// and when the storage changes at a resume.
#[test]
fn compact_storage() {
    const COMPACT: &str = "storage = \"compact\"\n";
    let puzzles =
        [shipped("turnstyle-9", "step"), shipped("turnstyle-10", "step"), shipped("turnstyle-9", "flip"), pancakes(9), even_crossings()];
    for puzzle in puzzles {
        let mut comparison = Comparison::new(&puzzle);
        for expansion in ["lanes", "auto"] {
            comparison.run(common::farthest(), expansion, COMPACT, &["--threads", "2"]);
            comparison.run(common::farthest(), expansion, COMPACT, &["--participants", "3"]);
        }
        comparison.run(common::farthest(), "states", COMPACT, &["--threads", "1"]);
        comparison.run(common::farthest(), "lanes", &format!("keep_levels = true\n{COMPACT}"), &["--threads", "2"]);
        if !part_lacks(Need::Mpi) {
            comparison.run(common::mpirun(2), "lanes", COMPACT, &["--threads", "1"]);
        }
        // From storage to storage, interrupted behind the first commit of each session.
        let run = comparison.new_run();
        for (number, expansion) in ["lanes", "lanes", "states", "lanes", "unseen", "auto"].into_iter().enumerate() {
            let storage = if number % 3 == 1 { "" } else { COMPACT };
            let keys = format!("checkpoint_seconds = 0\n{storage}");
            let mut command = comparison.session(common::farthest(), expansion, &keys, &["--threads", "2"], &run);
            if number < 5 {
                command.env("FARTHEST_FAULT", "after-commit:1:kill");
            }
            let (code, _, stderr) = common::outcome(&mut command);
            assert_eq!(code == 0, number == 5, "{puzzle}: session {number}: {code} {stderr}");
            assert!(!stderr.contains("not usable"), "{puzzle}: every checkpoint is whole\n{stderr}");
        }
        comparison.check(&run, "from storage to storage");
        assert!(!run.join("work").exists(), "no scratch file is left");
    }
}

/// 479,001,600 states in the test profile, with debug assertions and overflow checks: within the
/// usual limit of two minutes, here 15 s of CPU.
#[test]
fn turnstyle_12() {
    let folder = tempfile::tempdir().expect("a folder");
    common::succeed(common::farthest().args(["run", "turnstyle-12", "--metric", "step", "--quiet", "--out"]).arg(folder.path()));
    let rows = common::known_rows("turnstyle_step.tsv");
    let known = &rows.iter().find(|row| row[0] == "12").expect("a known size")[1];
    assert_eq!(common::distribution(folder.path()), common::numbers(known));
    assert_eq!(common::json(folder.path(), "summary.json")["gods_number"], 45);
    let used = expansions(folder.path());
    assert!(used[28..34].iter().all(|used| used == "lanes"), "the densest levels: {used:?}");
}

/// A permutation that takes exactly `crossings` labels of the suffix to the prefix, and back, and
/// shuffles both parts.
fn crossing_permutation(length: usize, crossings: usize, even: bool, seed: u64) -> Permutation {
    let prefix = length - 5;
    let mut images: Vec<u8> = (0..low_u8(to_u64(length))).collect();
    images[..prefix].sort_by_key(|&image| mix64(seed ^ u64::from(image)));
    images[prefix..].sort_by_key(|&image| mix64(seed ^ u64::from(image)));
    for crossed in 0..crossings {
        images.swap(crossed, prefix + crossed);
    }
    images[..prefix].sort_by_key(|&image| mix64(seed.rotate_left(7) ^ u64::from(image)));
    images[prefix..].sort_by_key(|&image| mix64(seed.rotate_left(7) ^ u64::from(image)));
    let permutation = Permutation::new(images.clone()).expect("a bijection");
    if even && permutation.is_odd() {
        images.swap(length - 1, length - 2);
        return Permutation::new(images).expect("a bijection");
    }
    permutation
}

/// A puzzle with one generator, which goes around the planes, and its inverse; each plane has a
/// permutation of its own.
fn crossing_puzzle(length: usize, planes: u32, crossings: usize, even: bool, seed: u64) -> Puzzle {
    let permutations: Vec<Permutation> =
        (0..planes).map(|plane| crossing_permutation(length, crossings, even, mix64(seed + u64::from(plane)))).collect();
    let forward = (0..planes).zip(&permutations).map(|(plane, permutation)| ((plane + 1) % planes, permutation.clone())).collect();
    let before = |plane: u32| (plane + planes - 1) % planes;
    let back = (0..planes).map(|plane| (before(plane), permutations[to_usize(before(plane).into())].inverse())).collect();
    let start = State { plane: 0, arrangement: Permutation::identity(length).images().to_vec() };
    Puzzle::of_planes("crossing", "step", length, vec![("A".into(), forward), ("B".into(), back)], vec![start], Layout::Numbered)
        .expect("valid")
}

/// One level from a random set in which one of `one_in` states is seen, or missing when `one_in` is
/// negative, by both expansions.
fn check_level(puzzle: &Puzzle, one_in: i64, seed: u64) {
    let count = u64::try_from(StateSpace::of(puzzle).state_count()).expect("small");
    let period = one_in.unsigned_abs();
    let seen: Vec<bool> = (0..count).map(|rank| mix64(rank ^ seed).is_multiple_of(period) == (one_in > 0)).collect();
    let by_states = Moves::of(puzzle, Direction::Forward).expect("small");
    let mut new = vec![false; seen.len()];
    let mut expected = LaneTally::default();
    for rank in (0..count).filter(|&rank| seen[to_usize(rank)]) {
        by_states.for_each(rank, |_, successor| {
            let place = to_usize(successor);
            if !seen[place] {
                expected.edges += 1;
                new[place] = true;
            }
        });
    }
    let ranks: Vec<u64> = (0..count).filter(|&rank| new[to_usize(rank)]).collect();
    expected.states = to_u64(ranks.len());
    expected.fingerprint = fingerprint::of_sorted_ranks(ranks.iter().copied());
    if puzzle.sign_rule() != SignRule::Free {
        expected.odd = to_u64(ranks.iter().filter(|&&rank| by_states.for_each(rank, |_, _| {})).count());
    }
    assert_ne!(expected.fingerprint, Fingerprint::default(), "a level of some states");

    let lanes = LaneExpansion::new(puzzle, puzzle.as_planes().expect("planes").arrangement_length().into())
        .expect("long enough, closed under inverses");
    let seen = blocks_of_bits(&lanes, &seen, PADDING_BYTES);
    let source = LaneSource { blocks: seen.iter().map(Vec::as_slice).collect() };
    let units = lanes.units_per_block();
    for portable in [false, true] {
        let mut tally = LaneTally::default();
        let mut found = vec![Vec::new(); seen.len()];
        for block in 0..lanes.blocks_per_plane() {
            let prefixes = lanes.prefixes(block, 0, units);
            for plane in 0..lanes.planes() {
                let part = plane * lanes.blocks_per_plane() + block;
                let mut next = vec![0xff; units * UNIT_BYTES];
                let mut target = Target {
                    plane,
                    seen: &seen[part],
                    level: None,
                    next: &mut next,
                    first_unit: to_u64(part * units),
                    contributed: Vec::new(),
                };
                let more = if portable {
                    lanes.pull_portable(&source, &prefixes, &mut target)
                } else {
                    lanes.pull(&source, &prefixes, &mut target)
                };
                tally = tally.plus(more);
                found[part] = next;
            }
        }
        assert!(found == blocks_of_bits(&lanes, &new, 0), "portable {portable}, one in {one_in}: other states; {puzzle:?}");
        assert_eq!(tally, expected, "portable {portable}, one in {one_in}; {puzzle:?}");
    }
}

/// A set of ranks as the bits of every plane and block.
fn blocks_of_bits(lanes: &LaneExpansion, members: &[bool], padding_bytes: usize) -> Vec<Vec<u8>> {
    let block_states = lanes.units_per_block() * to_usize(LANE_STATES);
    members
        .chunks(block_states)
        .map(|block| {
            let mut bytes: Vec<u8> =
                block.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit))).collect();
            bytes.resize(bytes.len() + padding_bytes, 0);
            bytes
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]
    #[test]
    fn every_kind_of_lane_move_on_nine_positions(planes in 1_u32..=3, seed: u64) {
        for crossings in 0..=4 {
            for even in [false, true] {
                let puzzle = crossing_puzzle(9, planes, crossings, even, seed);
prop_assert!(!even || StateSpace::of(&puzzle).is_halved());
                for one_in in [2, 500, -500] {
                    check_level(&puzzle, one_in, seed);
                }
            }
        }
    }
}

#[test]
fn five_crossings_on_ten_positions() {
    for even in [false, true] {
        check_level(&crossing_puzzle(10, 1, 5, even, 10), 100, 10);
    }
}
