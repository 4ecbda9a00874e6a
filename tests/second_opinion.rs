//! A second opinion: `scripts/verify.py`, written from `src/evidence/README.md` alone, gives the
//! answers of `farthest-verify`.
//!
//! Compared on every true certificate of `results/` that plain Python can check in seconds, on the
//! fixtures, and on certificates and archives with something changed. Where one checker would need
//! more memory or work than it is given there is no answer to compare; the tests bound how often.

#[path = "second_opinion/archives.rs"]
mod archives;
#[path = "second_opinion/checkers.rs"]
mod checkers;
mod common;
#[path = "second_opinion/texts.rs"]
mod texts;

use checkers::{Answer, compare, count};
use common::disturb::{Dice, copy_folder, scratch};
use common::{certified, contents, known, numbers};
use std::fs;
use std::path::{Path, PathBuf};
use texts::one_of;

/// States of two balls together that plain Python lists in a second, and of those in changed
/// certificates, of which there are hundreds.
const MOST_STATES: u64 = 1_000_000;
const MOST_STATES_OF_MANY: u64 = 3_000;

/// Changed certificates and archives.
const CHANGED_TEXTS: usize = 380;
const CHANGED_ARCHIVES: usize = 120;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All certificates below a folder.
fn certificates(folder: &Path) -> Vec<PathBuf> {
    let names = contents(folder).into_keys().filter(|name| name.ends_with(".cert"));
    let paths: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths
}

/// States that a checker has to list for a certificate: those of its balls.
fn listed_states(path: &Path) -> u64 {
    let text = fs::read_to_string(path).expect("text");
    let balls = text.lines().find_map(|line| line.strip_prefix("balls "));
    balls.map_or(0, |balls| numbers(balls).iter().sum())
}

#[test]
fn both_verify_the_published_certificates() {
    let (small, large): (Vec<PathBuf>, Vec<PathBuf>) =
        certificates(&root().join("results")).into_iter().partition(|path| listed_states(path) <= MOST_STATES);
    // Shortest words of turnstyle-14, -16 and -18 and reversals of turnstyle-12, whose balls have up
    // to 57 million states.
    let most = large.iter().map(|path| listed_states(path)).max();
    eprintln!("{} are left out, of more than {MOST_STATES} states, at the most {most:?}", large.len());
    assert!(small.len() > 160 && large.len() < 90, "{} are checked, {} are not", small.len(), large.len());
    for kind in ["word", "group", "invariant", "closed-set", "bidirectional", "distance"] {
        let is_one = |path: &PathBuf| fs::read_to_string(path).expect("text").contains(&format!("\nclaim {kind}\n"));
        assert!(small.iter().chain(&certificates(&known("certificates"))).any(is_one), "{kind}");
    }
    let files: Vec<(PathBuf, String)> = small.into_iter().map(|path| (path, "published".to_owned())).collect();
    let answers = compare(&files);
    assert_eq!(count(&answers, Answer::Verified), files.len());
}

#[test]
fn both_verify_fresh_runs_of_every_numbering() {
    let folder = scratch();
    let larger = [("turnstyle-9", "step"), ("turnstyle-8", "turn"), ("turnstyle-8", "flip"), ("board-3x4n3", "quarter")];
    let larger = larger.map(|(puzzle, metric)| certified(puzzle, metric, folder.path()));
    let runs = small_runs(folder.path()).into_iter().chain(larger);
    let files: Vec<(PathBuf, String)> = runs.map(|run| (run.join("distance.cert"), "a run".to_owned())).collect();
    let answers = compare(&files);
    assert_eq!(count(&answers, Answer::Verified), files.len());
}

#[test]
fn both_answer_alike_about_the_fixtures() {
    let good = certificates(&known("certificates"));
    // Kept run folders are another test's, `forged`.
    let corrupt = root().join("tests/corrupt");
    let broken = certificates(&corrupt).into_iter().filter(|path| path.parent() == Some(&corrupt));
    let files: Vec<(PathBuf, String)> = good.iter().cloned().chain(broken).map(|path| (path, "a fixture".to_owned())).collect();
    let answers = compare(&files);
    let [verified, refuted, unreadable, too_large] =
        [Answer::Verified, Answer::Refuted, Answer::Unreadable, Answer::TooLarge].map(|answer| count(&answers, answer));
    println!("{verified} verified, {refuted} refuted, {unreadable} unreadable, {too_large} too large");
    assert_eq!(verified, good.len(), "all that are good, and no other");
    assert!(refuted > 40 && unreadable > 60 && too_large < 12, "{refuted} refuted, {unreadable} unreadable, {too_large} too large");
}

/// A cycle and a swap; no move undoes the cycle.
const DIRECTED: &str = "family = \"permutations\"\nname = \"directed\"\npositions = 5\n[[generators]]\nname = \"c\"\ncycles = \"(0 1 2 3 4)\"\n\
                        [[generators]]\nname = \"s\"\ncycles = \"(0 1)\"\n";

/// A cycle of three places and a swap of two others at once: two planes, and a sign that halves
/// each.
const HALVED: &str = "family = \"permutations\"\nname = \"halved\"\npositions = 6\ninverses = true\n[[generators]]\nname = \"a\"\n\
                      cycles = \"(0 1 2 3)(4 5)\"\n[[generators]]\nname = \"b\"\ncycles = \"(1 2)(4 5)\"\n";

/// Published runs of boards and fresh ones of all other numberings, small enough to be changed and
/// checked many times.
fn small_runs(folder: &Path) -> Vec<PathBuf> {
    let boards = ["rotation-board-2x3n2/half", "rotation-board-2x3n2/quarter", "rotation-board-3x4n3/half", "rotation-board-2x4n2/half"];
    let boards = boards.map(|name| root().join("results").join(name));
    let own = [("directed", DIRECTED), ("halved", HALVED)].map(|(name, text)| {
        let path = folder.join(format!("{name}.toml"));
        fs::write(&path, text).expect("written");
        (path.to_str().expect("UTF-8").to_owned(), "step")
    });
    let named = [("turnstyle-6", "step"), ("turnstyle-7", "step"), ("turnstyle-6", "turn"), ("turnstyle-6", "flip")];
    let named = named.map(|(puzzle, metric)| (puzzle.to_owned(), metric));
    boards.into_iter().chain(named.into_iter().chain(own).map(|(puzzle, metric)| certified(&puzzle, metric, folder))).collect()
}

/// The certificate of a run and its archive, alone.
fn copy_run(run: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    copy_folder(&run.join("levels"), &to.join("levels"));
    fs::copy(run.join("distance.cert"), to.join("distance.cert")).expect("copied");
}

fn check_balance(answers: &[Answer]) {
    let counts = [Answer::Verified, Answer::Refuted, Answer::Unreadable, Answer::TooLarge].map(|answer| count(answers, answer));
    println!("of {}: verified, refuted, unreadable, too large: {counts:?}", answers.len());
    let [verified, refuted, unreadable, too_large] = counts;
    assert!(
        [verified, refuted, unreadable].iter().all(|&count| count * 20 > answers.len()) && too_large * 20 < answers.len(),
        "{counts:?}: the test is blind"
    );
}

#[test]
fn both_answer_alike_about_changed_certificates() {
    let folder = scratch();
    fs::create_dir(folder.path().join("runs")).expect("created");
    let mut dice = Dice::new(11);
    let small = certificates(&root().join("results")).into_iter().chain(certificates(&known("certificates")));
    let small: Vec<PathBuf> = small.filter(|path| listed_states(path) <= MOST_STATES_OF_MANY && !path.ends_with("distance.cert")).collect();
    // Large states only slow this down.
    let texts: Vec<String> = small.iter().map(|path| fs::read_to_string(path).expect("text")).filter(|text| text.len() < 3_000).collect();
    let kinds = ["word", "group", "invariant", "closed-set", "bidirectional"];
    let runs: Vec<(PathBuf, String)> = small_runs(&folder.path().join("runs"))
        .into_iter()
        .map(|run| (run.clone(), fs::read_to_string(run.join("distance.cert")).expect("text")))
        .collect();
    let mut files = Vec::new();
    for attempt in 0.. {
        let number = files.len();
        if number == CHANGED_TEXTS {
            break;
        }
        let (name, change) = texts::CHANGES[attempt % texts::CHANGES.len()];
        // Every kind of certificate as often as any other.
        let kind = kinds.get(attempt / texts::CHANGES.len() % (kinds.len() + 1));
        let run = one_of(&mut dice, &runs).clone();
        let of_kind: Vec<&String> =
            kind.map_or(vec![&run.1], |kind| texts.iter().filter(|text| text.contains(&format!("claim {kind}\n"))).collect());
        let text = (*one_of(&mut dice, &of_kind)).clone();
        let changed = change(&mut dice, &text, &texts);
        if changed == text {
            continue;
        }
        let path = if kind.is_none() {
            let copy = folder.path().join(format!("{number:03}"));
            copy_run(&run.0, &copy);
            copy.join("distance.cert")
        } else {
            folder.path().join(format!("{number:03}.cert"))
        };
        fs::write(&path, &changed).expect("written");
        let lines: Vec<&str> = changed.lines().filter(|line| !text.lines().any(|old| old == *line)).collect();
        files.push((path, format!("{number}: {name}, {kind:?}: {lines:?}")));
    }
    check_balance(&compare(&files));
}

#[test]
fn both_answer_alike_about_changed_archives() {
    let folder = scratch();
    fs::create_dir(folder.path().join("runs")).expect("created");
    let mut dice = Dice::new(12);
    let runs = small_runs(&folder.path().join("runs"));
    let mut files = Vec::new();
    for attempt in 0.. {
        let number = files.len();
        if number == CHANGED_ARCHIVES {
            break;
        }
        let (name, change) = archives::CHANGES[attempt % archives::CHANGES.len()];
        let run = one_of(&mut dice, &runs);
        let copy = folder.path().join(format!("{number:03}"));
        copy_run(run, &copy);
        change(&mut dice, &copy);
        if !archives::differ(run, &copy) {
            fs::remove_dir_all(&copy).expect("removable");
            continue;
        }
        files.push((copy.join("distance.cert"), format!("{number}: {name}, {}", run.display())));
    }
    check_balance(&compare(&files));
}
