//! The script for GAP: its permutations are the puzzle's generators, its claims those of the run,
//! and GAP confirms right ones and refuses wrong ones.
//!
//! What needs GAP is skipped where `gap` is not installed (Debian: `apt-get install gap-core`); the
//! reader below checks the text everywhere.

mod common;

use common::disturb::{fail_with, only_line, scratch};
use common::needs::{Need, test_lacks};
use common::{distribution, farthest, known_rows, numbers, outcome, succeed};
use farthest::families::reading;
use farthest::puzzle::{Puzzle, State};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The lists of a script, read without any code of the program.
struct Script {
    generators: Vec<Vec<usize>>,
    starts: Vec<Vec<usize>>,
    states: u64,
    distribution: Vec<u64>,
    antipodes: Vec<Vec<usize>>,
    words: Vec<Option<Vec<usize>>>,
}

/// The lines between `name := [` and `];`, without their commas.
fn block<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let Some((_, rest)) = text.split_once(&format!("\n{name} := [\n")) else { return Vec::new() };
    let block = rest.split_once("];").expect("an end").0;
    block.lines().map(|line| line.trim().trim_end_matches(',')).collect()
}

fn list(text: &str) -> Vec<usize> {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    inner.split(',').filter(|word| !word.is_empty()).map(|word| word.trim().parse().expect("a number")).collect()
}

impl Script {
    fn read(text: &str) -> Self {
        let line = |name: &str| text.split_once(&format!("\n{name} := ")).map(|(_, rest)| rest.split_once(';').expect("an end").0);
        let lists = |name: &str| -> Vec<Vec<usize>> { block(text, name).into_iter().map(list).collect() };
        let starts = lists("starts");
        let cycles: Vec<Vec<Vec<usize>>> = block(text, "generators")
            .into_iter()
            .map(|line| line.split(['(', ')']).filter(|cycle| !cycle.is_empty()).map(list).collect())
            .collect();
        let points = cycles.iter().flatten().flatten().chain(starts.iter().flatten()).copied().max().expect("points");
        let generators = cycles
            .iter()
            .map(|cycles| {
                let mut images: Vec<usize> = (0..=points).collect();
                for cycle in cycles {
                    for (number, &point) in cycle.iter().enumerate() {
                        assert_eq!(images[point], point, "a point in two cycles");
                        images[point] = cycle[(number + 1) % cycle.len()];
                    }
                }
                images
            })
            .collect();
        Self {
            generators,
            starts,
            states: line("claimed_states").expect("a claim").parse().expect("a number"),
            distribution: line("distribution")
                .map(|text| list(text).into_iter().map(|count| count.try_into().expect("small")).collect())
                .unwrap_or_default(),
            antipodes: lists("antipodes"),
            words: block(text, "words").into_iter().map(|line| (line != "fail").then(|| list(line))).collect(),
        }
    }

    fn apply(&self, generator: usize, tuple: &[usize]) -> Vec<usize> {
        tuple.iter().map(|&point| self.generators[generator][point]).collect()
    }
}

fn export(what: &str, more: &[&str]) -> String {
    succeed(farthest().args(["export", "gap", what]).args(more))
}

/// Walks at most `most` states with the definition and the script side by side: a state always has
/// the same tuple, and different states different ones. Returns the tuples by state.
fn compare(puzzle: &Puzzle, script: &Script, most: usize) -> HashMap<State, Vec<usize>> {
    assert_eq!(script.generators.len(), puzzle.generators());
    let mut tuples: HashMap<State, Vec<usize>> = puzzle.starts().iter().cloned().zip(script.starts.iter().cloned()).collect();
    let mut open: Vec<State> = puzzle.starts().to_vec();
    let mut next = 0;
    while next < open.len() && tuples.len() < most {
        let state = open[next].clone();
        next += 1;
        for generator in 0..puzzle.generators() {
            let successor = puzzle.apply(generator, &state);
            let tuple = script.apply(generator, &tuples[&state]);
            match tuples.get(&successor) {
                Some(known) => assert_eq!(*known, tuple, "{successor:?}"),
                None => {
                    tuples.insert(successor.clone(), tuple);
                    open.push(successor);
                }
            }
        }
    }
    let mut different: Vec<&Vec<usize>> = tuples.values().collect();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), tuples.len(), "two states have one tuple");
    tuples
}

/// A puzzle whose generator permutes otherwise in each plane: points are pairs. And one that is
/// directed.
const PAIRS: &str = "family = \"planes\"\nname = \"toy\"\nplanes = 3\npositions = 4\nstart_plane = 2\n[[generators]]\nname = \"A\"\nplanes = [1, 2, 0]\npermutations = [[1, 2, 0, 3], [0, 1, 2, 3], [1, 0, 3, 2]]\n";
const DIRECTED: &str = "family = \"permutations\"\nname = \"toy\"\npositions = 6\n[[generators]]\nname = \"A\"\ncycles = \"(0 1 2 3)\"\n[[generators]]\nname = \"B\"\ncycles = \"(0 1)(4 5)\"\n";

#[test]
fn the_permutations_are_the_generators_of_the_definition() {
    let folder = scratch();
    let toys = [("pairs.toml", PAIRS), ("directed.toml", DIRECTED)].map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path.to_str().expect("UTF-8").to_owned()
    });
    let shipped = ["turnstyle-5", "turnstyle-6", "turnstyle-7", "board-2x3n2", "board-3x4n3", "pancake-7", "loopover-3x3", "pocket-cube"];
    for name in shipped.iter().map(|name| (*name).to_owned()).chain(toys) {
        let source = reading::resolve(&name, None).expect("a puzzle");
        for metric in source.metrics() {
            let puzzle = source.build(&metric).expect("valid");
            let script = Script::read(&export(&name, &["--metric", &metric]));
            let tuples = compare(&puzzle, &script, 6_000);
            if tuples.len() < 6_000 {
                assert_eq!(u64::try_from(tuples.len()).expect("small"), script.states, "{name} {metric}");
            }
        }
    }
}

/// By the rules of the puzzle themselves: R moves every piece to the next place, L back, F
/// exchanges the places 1 and 2, and 3 and 4.
#[test]
fn a_turnstyle_acts_on_its_places() {
    for size in [4, 8, 13] {
        let text = export(&format!("turnstyle-{size}"), &[]);
        let places: Vec<String> = (1..=size).map(|place| place.to_string()).collect();
        let back: Vec<String> = std::iter::once(1).chain((2..=size).rev()).map(|place: u32| place.to_string()).collect();
        let expected = [format!("({})", places.join(",")), format!("({})", back.join(",")), "(1,2)(3,4)".into()];
        assert_eq!(block(&text, "generators"), expected);
        assert_eq!(block(&text, "starts"), [format!("[{}]", places.join(","))]);
    }
}

/// A complete run of turnstyle-8.
fn run(folder: &Path, puzzle: &str, more: &[&str]) -> String {
    let path = folder.join(puzzle);
    succeed(farthest().args(["run", puzzle, "--quiet", "--out"]).arg(&path).args(more));
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_run_claims_what_it_found() {
    let folder = scratch();
    for (name, metric) in [("turnstyle-7", "step"), ("turnstyle-8", "turn"), ("pancake-7", "step")] {
        let path = run(folder.path(), name, &["--metric", metric]);
        let script = Script::read(&export(&path, &[]));
        let puzzle = reading::resolve(name, None).expect("a puzzle").build(metric).expect("valid");
        let tuples = compare(&puzzle, &script, usize::MAX);
        assert_eq!(script.distribution, distribution(Path::new(&path)));
        assert_eq!(script.distribution.iter().sum::<u64>(), script.states);
        let written: HashMap<String, &Vec<usize>> = tuples.iter().map(|(state, tuple)| (puzzle.text(state), tuple)).collect();
        let antipodes = common::antipodes(Path::new(&path));
        assert_eq!(script.antipodes, antipodes.iter().map(|text| written[text].clone()).collect::<Vec<_>>());
        assert_eq!(script.words.len(), script.antipodes.len(), "a word, or its want, for each antipode");
        for (number, (antipode, word)) in script.antipodes.iter().zip(&script.words).enumerate() {
            let Some(word) = word else {
                assert!(number >= 20, "no word to antipode {number}");
                continue;
            };
            assert_eq!(word.len() + 1, script.distribution.len());
            let end = word.iter().fold(script.starts[0].clone(), |tuple, &generator| script.apply(generator - 1, &tuple));
            assert_eq!(end, *antipode);
        }
    }
    // As an independent program counts.
    let script = Script::read(&export(folder.path().join("turnstyle-7").to_str().expect("UTF-8"), &[]));
    let row = known_rows("turnstyle_step.tsv").into_iter().find(|row| row[0] == "7").expect("a row");
    assert_eq!(script.distribution, numbers(&row[1]));
}

/// Exit code and standard output of GAP, without its optional packages.
fn gap(folder: &Path, text: &str) -> (i32, String) {
    let path = folder.join("script.g");
    fs::write(&path, text).expect("written");
    let (code, stdout, stderr) =
        outcome(Command::new("timeout").args(["60", "gap", "-A", "-q"]).arg(&path).stdin(std::process::Stdio::null()));
    (code, stdout + &stderr)
}

#[test]
fn gap_confirms_right_claims() {
    if test_lacks(Need::Gap) {
        return;
    }
    let folder = scratch();
    let pairs = folder.path().join("pairs.toml");
    fs::write(&pairs, PAIRS).expect("written");
    let pairs = pairs.to_str().expect("UTF-8").to_owned();
    let seven = run(folder.path(), "turnstyle-7", &[]);
    for what in [pairs.as_str(), &seven, "turnstyle-14", "pocket-cube", "board-3x4n3"] {
        let (code, said) = gap(folder.path(), &export(what, &[]));
        assert_eq!(code, 0, "{what}: {said}");
        assert_eq!(said.lines().last(), Some("OK every claim"), "{what}: {said}");
        assert!(!said.contains("Error"), "{what}: {said}");
    }
}

#[test]
fn gap_refuses_wrong_claims() {
    if test_lacks(Need::Gap) {
        return;
    }
    let folder = scratch();
    let text = export(&run(folder.path(), "turnstyle-7", &[]), &[]);
    let antipode = block(&text, "antipodes")[0];
    let mut swapped = list(antipode);
    swapped.swap(0, 1);
    let swapped = format!("[{}]", swapped.iter().map(usize::to_string).collect::<Vec<_>>().join(","));
    let word = block(&text, "words")[0];
    let shorter = format!("{}]", word.rsplit_once(',').expect("a long word").0);
    let longer = word.replacen(',', ",1,2,", 1);
    for (from, to, error) in [
        ("claimed_states := 2520;", "claimed_states := 5040;", "Error: states reached: found 2520, claimed 5040"),
        ("(1,2)(3,4)", "(1,2)", "Error: states reached: found 5040, claimed 2520"),
        (",464,", ",465,", "Error: sum of the states by depth: found 2521, claimed 2520"),
        // Every state is even: one with two labels exchanged is not reached.
        (antipode, &swapped, "Error: antipodes reached by the group: found 8, claimed 9"),
        (antipode, block(&text, "antipodes")[1], "Error: different antipodes listed: found 8, claimed 9"),
        // R and L cancel: the word leads there, and is no shortest one.
        (word, &longer, "Error: words as long as God's number: found 8, claimed 9"),
        (word, &shorter, "Error: words that lead to their antipodes: found 8, claimed 9"),
        ("starts := [", "starts := [[1,2],", "Error"),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        let (code, said) = gap(folder.path(), &wrong);
        assert!(said.contains(error), "{from}: {said}");
        assert!(code == 1 && !said.contains("OK every claim"), "{from}: exit code {code}, {said}");
    }
    // Of half a script no line says that every claim is right.
    let (_, said) = gap(folder.path(), &text[..text.len() / 2]);
    assert!(!said.contains("OK every claim"), "{said}");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let folder = scratch();
    let path = folder.path().to_str().expect("UTF-8").to_owned();
    let stderr = fail_with(78, farthest().args(["export", "gap", &path]));
    assert!(only_line(&stderr).contains("a folder without a complete run"), "{stderr}");
    let stderr = fail_with(2, farthest().args(["export", "gpa", "turnstyle-8"]));
    assert!(stderr.contains("possible values: gap"), "{stderr}");
    let seven = run(folder.path(), "turnstyle-7", &[]);
    let stderr = fail_with(2, farthest().args(["export", "gap", &seven, "--metric", "turn"]));
    assert!(only_line(&stderr).contains("is in metric step"), "{stderr}");
    let text = fs::read_to_string(Path::new(&seven).join("antipodes.tsv")).expect("readable");
    fs::write(Path::new(&seven).join("antipodes.tsv"), text.replace('7', "6")).expect("written");
    fail_with(65, farthest().args(["export", "gap", &seven]));
    let out = folder.path().join("script.g");
    succeed(farthest().args(["export", "gap", "turnstyle-8", "--out"]).arg(&out));
    assert_eq!(fs::read_to_string(out).expect("readable"), export("turnstyle-8", &[]));
}
