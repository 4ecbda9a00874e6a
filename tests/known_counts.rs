//! The program finds the published numbers: states at every depth, God's numbers, antipodes, and
//! files that agree with one another.
//!
//! Every puzzle is searched by the program itself, into a folder of its own. The expected values
//! and their sources are in `tests/known/`. Turnstyle(12), 479,001,600 states, is one of them: by
//! lanes it takes 6.5 s of CPU in the test profile, 13 s on two busy cores (by states alone it took
//! 63 s of CPU).

mod common;

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// God's numbers of Turnstyle in the metric `step` for the sizes 4, 5, ...
const GODS_NUMBERS: [usize; 9] = [3, 9, 10, 15, 24, 28, 32, 36, 45];

/// How many states have that depth.
const ANTIPODES: [usize; 9] = [1, 1, 1, 9, 1, 1, 18, 2, 1];

/// Seconds that the largest search may take on a machine that has other things to do.
const PATIENCE_SECONDS: u32 = 280;

/// Searches `config` in `metric` and returns the folder, after checking that its files agree with
/// one another.
fn searched(config: &str, metric: &str) -> tempfile::TempDir {
    // The largest one takes 200 MB.
    let folder = if config == "turnstyle-12" { tempfile::tempdir().expect("a folder") } else { common::folder_in_memory() };
    let mut command = common::farthest_within(PATIENCE_SECONDS);
    common::succeed(command.args(["run", config, "--metric", metric, "--quiet", "--out"]).arg(folder.path()));
    check_files(folder.path());
    folder
}

/// Every file of a complete run says the same as the others, and `SHA256SUMS` fits them.
fn check_files(folder: &Path) {
    let counts = common::distribution(folder);
    let states: u64 = counts.iter().sum();
    let last = *counts.last().expect("a depth");
    let summary = common::json(folder, "summary.json");
    let number = |key: &str| summary[key].as_u64().unwrap_or_else(|| panic!("{key} in {summary}"));
    assert_eq!(number("states"), states);
    assert_eq!(number("states_by_group_order"), states);
    assert_eq!(number("gods_number") + 1, counts.iter().map(|_| 1).sum::<u64>());
    assert_eq!(number("antipodes"), last);
    assert_eq!(number("antipodes_listed"), last.min(1_000));
    let weighted: u64 = counts.iter().zip(0..).map(|(count, depth): (&u64, u64)| count * depth).sum();
    let mean = summary["mean_depth"].as_f64().expect("a number");
    // |mean * states - weighted| in units of the sixth decimal, on integers: both fit 53 bits here.
    let rounded: u64 = format!("{:.0}", mean * 1e6).parse().expect("a count");
    let exact = (u128::from(weighted) * 2_000_000 + u128::from(states)) / (2 * u128::from(states));
    assert_eq!(u128::from(rounded), exact, "mean depth of {weighted} / {states}");

    check_levels(folder, &counts);
    check_antipodes(folder, last);
    let mut summed = BTreeSet::new();
    for line in fs::read_to_string(folder.join("SHA256SUMS")).expect("readable").lines() {
        let (sum, name) = line.split_once("  ").expect("sum and name");
        summed.insert(name.to_owned());
        let digest = Sha256::digest(fs::read(folder.join(name)).expect("a file"));
        let mut hexadecimal = String::new();
        digest.iter().for_each(|byte| write!(hexadecimal, "{byte:02x}").expect("a string grows"));
        assert_eq!(hexadecimal, sum, "{name}");
    }
    let files = common::SAME_BYTES.iter().chain(&["manifest.json"]);
    assert_eq!(summed, files.map(|name| (*name).to_owned()).collect());
    for leftover in ["checkpoint", "work", ".probe"] {
        assert!(!folder.join(leftover).exists(), "{leftover} is left");
    }
}

/// `levels.tsv` has the same counts, and each level's edges meet those of its neighbours (every
/// shipped puzzle is closed under inverses).
fn check_levels(folder: &Path, counts: &[u64]) {
    let text = fs::read_to_string(folder.join("levels.tsv")).expect("readable");
    let rows: Vec<Vec<u64>> =
        text.lines().skip(1).map(|line| common::numbers(&line.split('\t').take(5).collect::<Vec<_>>().join(" "))).collect();
    assert_eq!(rows.iter().map(|row| row[1]).collect::<Vec<_>>(), counts);
    let generators = rows[0][2..].iter().sum::<u64>();
    let mut up_before = 0;
    for (row, depth) in rows.iter().zip(0..) {
        let [level, states, down, same, up] = row[..] else { panic!("{row:?}") };
        assert_eq!(level, depth);
        assert_eq!(down, up_before, "edges into level {depth}");
        assert_eq!(down + same + up, generators * states, "edges of level {depth}");
        up_before = up;
    }
    assert_eq!(up_before, 0, "edges out of the last level");
}

/// `antipodes.tsv` lists as many as it should, each once, by ascending rank.
fn check_antipodes(folder: &Path, antipodes: u64) {
    let text = fs::read_to_string(folder.join("antipodes.tsv")).expect("readable");
    assert!(text.starts_with("rank\tstate\n"), "{text}");
    let ranks: Vec<u64> = text.lines().skip(1).map(|line| common::numbers(line.split('\t').next().expect("a column"))[0]).collect();
    assert_eq!(ranks.iter().map(|_| 1).sum::<u64>(), antipodes.min(1_000));
    assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
}

/// Solved, mirrored about the turntable: `4 3 2 1 n ... 6 5`.
fn mirror_image(size: usize) -> Vec<usize> {
    (0..size).map(|position| (size + 3 - position) % size + 1).collect()
}

fn turnstyle(size: usize) {
    let folder = searched(&format!("turnstyle-{size}"), "step");
    let rows = common::known_rows("turnstyle_step.tsv");
    let known = &rows.iter().find(|row| row[0] == size.to_string()).expect("a known size")[1];
    let counts = common::distribution(folder.path());
    assert_eq!(counts, common::numbers(known));
    assert_eq!(counts.len(), GODS_NUMBERS[size - 4] + 1);
    let factorial: u64 = (1..=u64::try_from(size).expect("small")).product();
    // Turnstyle(4) reaches 8 states and Turnstyle(6) 120: PGL(2,5) acts on six points.
    let states = match size {
        4 => 8,
        6 => 120,
        _ if size % 2 == 1 => factorial / 2,
        _ => factorial,
    };
    assert_eq!(counts.iter().sum::<u64>(), states);

    let antipodes: Vec<Vec<usize>> = common::antipodes(folder.path())
        .iter()
        .map(|text| text.split(' ').map(|label| label.parse().expect("a label")).collect())
        .collect();
    assert_eq!(antipodes.len(), ANTIPODES[size - 4]);
    let mirrored = mirror_image(size);
    for antipode in &antipodes {
        let mut labels = antipode.clone();
        labels.sort_unstable();
        assert_eq!(labels, (1..=size).collect::<Vec<_>>(), "{antipode:?}");
    }
    match size {
        4 | 5 | 6 | 8 | 9 | 12 => assert_eq!(antipodes, [mirrored]),
        // Both differ from the mirror image by one swap.
        11 => {
            for antipode in &antipodes {
                let moved: Vec<usize> = (0..size).filter(|&position| antipode[position] != mirrored[position]).collect();
                let [first, second] = moved[..] else { panic!("{antipode:?}") };
                assert_eq!((antipode[first], antipode[second]), (mirrored[second], mirrored[first]));
            }
        }
        _ => {}
    }
}

#[test]
fn turnstyle_12() {
    turnstyle(12);
}

#[test]
fn turnstyle_4_to_10() {
    assert_eq!(mirror_image(12), [4, 3, 2, 1, 12, 11, 10, 9, 8, 7, 6, 5]);
    (4..=10).for_each(turnstyle);
}

#[test]
fn turnstyle_11() {
    turnstyle(11);
}

#[test]
fn turnstyle_by_turns() {
    for row in common::known_rows("turnstyle_turn.tsv") {
        let folder = searched(&format!("turnstyle-{}", row[0]), "turn");
        let summary = common::json(folder.path(), "summary.json");
        assert_eq!(summary["metric"], "turn");
        assert_eq!(summary["states"].to_string(), row[1], "turnstyle-{}", row[0]);
        assert_eq!(summary["gods_number"].to_string(), row[2], "turnstyle-{}", row[0]);
    }
}

#[test]
fn puzzles_given_by_their_generators() {
    for row in common::known_rows("explicit.tsv") {
        let folder = searched(&row[0], &row[1]);
        assert_eq!(common::distribution(folder.path()), common::numbers(&row[2]), "{} {}", row[0], row[1]);
        let summary = common::json(folder.path(), "summary.json");
        assert_eq!((&summary["puzzle"], &summary["metric"]), (&row[0].clone().into(), &row[1].clone().into()));
    }
}

/// The definition of a number rotation board: every block turns, all its rings by a quarter.
fn board(rows: usize, columns: usize, block: usize) -> String {
    let mut text = format!("family = \"permutations\"\nname = \"board\"\npositions = {}\ninverses = true\n", rows * columns);
    let mut names = Vec::new();
    for top in 0..=rows - block {
        for left in 0..=columns - block {
            let cell = |row: usize, column: usize| (top + row) * columns + left + column;
            // The tile at the mirrored transpose comes to each cell: a quarter counter-clockwise.
            let turned = |times: usize| {
                let mut images: Vec<usize> = (0..rows * columns).collect();
                for row in 0..block {
                    for column in 0..block {
                        let source = (0..times).fold((row, column), |(row, column), _| (column, block - 1 - row));
                        images[cell(row, column)] = cell(source.0, source.1);
                    }
                }
                images
            };
            let name = format!("B{}", names.len());
            for (suffix, times) in [("", 1), ("2", 2)] {
                writeln!(text, "[[generators]]\nname = \"{name}{suffix}\"\nimages = {:?}", turned(times)).expect("a string grows");
            }
            names.push(name);
        }
    }
    for (metric, suffixes) in [("quarter", &["", "'"][..]), ("half", &["", "2", "'"])] {
        let chosen: Vec<String> = names.iter().flat_map(|name| suffixes.iter().map(move |suffix| format!("{name}{suffix}"))).collect();
        writeln!(text, "[[metrics]]\nname = \"{metric}\"\ngenerators = {chosen:?}").expect("a string grows");
    }
    text
}

#[test]
fn number_rotation_boards() {
    for row in common::known_rows("boards.tsv") {
        let [rows, columns, block] = [0, 1, 2].map(|column| row[column].parse().expect("a size"));
        let file = tempfile::Builder::new().suffix(".toml").tempfile().expect("a file");
        fs::write(file.path(), board(rows, columns, block)).expect("written");
        let folder = searched(file.path().to_str().expect("UTF-8"), &row[3]);
        assert_eq!(common::distribution(folder.path()), common::numbers(&row[4]), "{row:?}");
    }
}
