//! Number rotation boards of the family `rotation-board`: the states at every depth are the known
//! ones, for any number of processes, and shortest.
//!
//! `tests/known/boards/ROWSxCOLS_nBLOCK_METRIC.json` hold the counts of a program in C++ that
//! searched each board whole; twsearch gave the same for six of the boards in quarter turns.

mod common;

use std::fs;
use std::path::Path;

/// Boards with more states are searched one process alone.
const SMALL: u64 = 4_000_000;

/// Seconds that the largest search may take on a machine that has other things to do.
const PATIENCE_SECONDS: u32 = 280;

/// What a file of `tests/known/boards` says.
struct Known {
    name: String,
    metric: String,
    counts: Vec<u64>,
}

impl Known {
    fn read(file: &Path) -> Self {
        let value: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).expect("readable")).expect("JSON");
        let number = |key: &str| value[key].as_u64().expect("a number");
        let counts: Vec<u64> = value["counts"].as_array().expect("a list").iter().map(|count| count.as_u64().expect("a count")).collect();
        assert_eq!(counts.iter().sum::<u64>(), number("total"), "{}", file.display());
        let name = format!("rotation-board-{}x{}n{}", number("rows"), number("cols"), number("block"));
        Self { name, metric: value["metric"].as_str().expect("a name").to_owned(), counts }
    }

    fn states(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Searches the board with these further arguments, and compares.
    fn check(&self, arguments: &[&str]) -> tempfile::TempDir {
        let folder = if self.states() > SMALL { tempfile::tempdir().expect("a folder") } else { common::folder_in_memory() };
        let mut command = common::farthest_within(PATIENCE_SECONDS);
        command.args(["run", &self.name, "--metric", &self.metric, "--quiet", "--out"]).arg(folder.path()).args(arguments);
        common::succeed(&mut command);
        assert_eq!(common::distribution(folder.path()), self.counts, "{} {} {arguments:?}", self.name, self.metric);
        folder
    }
}

/// All files with counts.
fn known() -> Vec<Known> {
    let mut files: Vec<_> = fs::read_dir(common::known("boards"))
        .expect("listed")
        .map(|entry| entry.expect("listed").path())
        .filter(|path| path.file_stem().is_some_and(|name| name.to_string_lossy().contains("_n")))
        .collect();
    files.sort();
    files.iter().map(|file| Known::read(file)).collect()
}

fn one(name: &str, metric: &str) -> Known {
    known().into_iter().find(|board| board.name == name && board.metric == metric).expect("a known board")
}

#[test]
fn small_boards_for_one_to_four_processes() {
    let boards: Vec<Known> = known().into_iter().filter(|board| board.states() <= SMALL).collect();
    assert_eq!(boards.len(), 10);
    for board in boards {
        let alone = common::result_bytes(board.check(&["--threads", "1"]).path());
        for participants in ["2", "3", "4"] {
            let folder = board.check(&["--threads", "1", "--participants", participants]);
            assert!(common::result_bytes(folder.path()) == alone, "{} {}: {participants} processes", board.name, board.metric);
        }
    }
}

/// 720 states of 12! arrangements: kilobytes, in the results and in a checkpoint, and a search of
/// milliseconds. A bit for each arrangement would be 60 MB.
#[test]
fn the_exotic_board_is_cheap() {
    let folder = one("rotation-board-3x4n3", "quarter").check(&[]);
    let manifest = common::json(folder.path(), "manifest.json");
    let bytes: u64 = common::contents(folder.path()).values().map(|bytes| bytes.iter().map(|_| 1).sum::<u64>()).sum();
    assert!(bytes < 40_000, "{bytes} bytes of results");
    let seconds = manifest["seconds"].as_f64().expect("a number");
    assert!(seconds < 2.0, "{seconds} s");
    let plan = common::succeed(common::farthest().args(["plan", "rotation-board-3x4n3", "--metric", "quarter", "--json"]));
    let plan: serde_json::Value = serde_json::from_str(&plan).expect("one JSON value");
    let planned = plan["checkpoint_bytes"].as_u64().expect("a number");
    assert!(planned < 100_000, "{planned} bytes of a checkpoint");
}

#[test]
fn two_orbits() {
    one("rotation-board-3x5n3", "quarter").check(&[]);
}

/// 479,001,600 states with 12 generators: 11 s of CPU in a release build.
#[test]
fn the_3x4_board() {
    let folder = one("rotation-board-3x4n2", "quarter").check(&[]);
    // The reversed board is the only one of the greatest depth.
    assert_eq!(common::antipodes(folder.path()), ["12 11 10 9 8 7 6 5 4 3 2 1"]);
}

/// As large.
#[test]
fn other_large_boards() {
    one("rotation-board-3x4n2", "half").check(&[]);
    one("rotation-board-2x6n2", "quarter").check(&[]);
}

/// The names of a board are one board: that of this program, its short forms, and Twiddle's
/// parameters, whose width comes first. Measures mean the same in every command.
#[test]
fn names_are_one_board() {
    let digest = |name: &str| {
        let folder = common::folder_in_memory();
        common::succeed(common::farthest().args(["run", name, "--quiet", "--out"]).arg(folder.path()));
        common::json(folder.path(), "summary.json")["puzzle_digest"].to_string()
    };
    assert_eq!(digest("rotation-board-2x3n2"), digest("2x3n2"));
    assert_eq!(digest("rotation-2x3n2"), digest("twiddle:3x2n2"));
    assert_ne!(digest("rotation-3x2n2"), digest("2x3n2"));
    let plan = common::succeed(common::farthest().args(["plan", "2x3n2"]));
    assert!(plan.contains("rotation-board-2x3n2"), "{plan}");
    let solved = common::succeed(common::farthest().args(["solve", "rotation-board", "--size", "2x3n2", "--random", "1"]));
    assert!(solved.contains("2 rows, 3 columns"), "{solved}");
    let (code, _, message) = common::outcome(common::farthest().args(["run", "rotation-board-3x4n5"]));
    assert_eq!(code, 78);
    assert!(message.contains("expected at most 3x3: they must fit the board"), "{message}");
}
