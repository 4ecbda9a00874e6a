//! The engine against a breadth-first search over a hash map of label vectors, written here from
//! scratch.
//!
//! The oracle shares no code with the crate: it has its own reader of puzzle files, its own rules
//! of Turnstyle on the word of pieces, no ranks and no planes. Engine and oracle must agree on the
//! number of states at every depth and on the set of antipodes. The engine runs alone and with
//! three participants, in large and in tiny rounds, and by each of its expansions.
//!
//! Random puzzles come from proptest with a fixed seed (`FARTHEST_TEST_CASES` asks for more than
//! the usual number). A failure is shrunk and printed as a puzzle file: put it into
//! `tests/regressions/`, whose files are run first, each time.

mod common;

use farthest::base::{Depth, ProcessId};
use farthest::exchange::{Exchange, local};
use farthest::families::{reading, turnstyle};
use farthest::puzzle::Puzzle;
use farthest::ranking::StateSpace;
use farthest::search::expansion_choice::ExpansionChoice;
use farthest::search::{self, Ending, RunFolder, Search, Settings, Silent, StopRequest};
use farthest::store::Storage;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Random puzzles of each family in a usual run.
const CASES: u32 = 120;

// ---- The oracle: a state is a vector of labels, a level a list of states, nothing else.
// --------------------------------

type State = Vec<u8>;
type Move = Box<dyn Fn(&State) -> State>;

/// All levels from `start` on; the last one holds the antipodes.
fn levels(start: State, moves: &[Move]) -> Vec<Vec<State>> {
    let mut seen = HashSet::from([start.clone()]);
    let mut levels = vec![vec![start]];
    loop {
        let mut next = Vec::new();
        for state in levels.last().expect("a level") {
            for play in moves {
                let successor = play(state);
                if seen.insert(successor.clone()) {
                    next.push(successor);
                }
            }
        }
        if next.is_empty() {
            return levels;
        }
        levels.push(next);
    }
}

/// The levels as a result: how many states at each depth, and the states of the last one as the
/// program writes them.
fn result_of(levels: &[Vec<State>], written: impl Fn(&State) -> String) -> Found {
    Found {
        counts: levels.iter().map(|level| level.iter().map(|_| 1).sum()).collect(),
        antipodes: levels.last().expect("a level").iter().map(written).collect(),
    }
}

/// Labels in position order, counted from `first`.
fn labels(state: &[u8], first: u8) -> String {
    state.iter().map(|label| (label + first).to_string()).collect::<Vec<_>>().join(" ")
}

/// Turnstyle as the puzzle is described: a word of pieces, the turntable over its first four
/// letters.
fn turnstyle(size: u8, metric: &str) -> Found {
    let flip = |word: &State| {
        let mut word = word.clone();
        word[..4].reverse();
        word[..4].rotate_left(2);
        word
    };
    let shift = |amount: u8| -> Move { Box::new(move |word| [&word[usize::from(amount)..], &word[..usize::from(amount)]].concat()) };
    // Shifts that cost nothing: of all rotations of a word the one that begins with piece 0 stands
    // for them.
    let flip_anywhere = |amount: u8| -> Move {
        let shift = shift(amount);
        Box::new(move |word| {
            let word = flip(&shift(word));
            let home = word.iter().position(|&piece| piece == 0).expect("piece 0");
            [&word[home..], &word[..home]].concat()
        })
    };
    let moves: Vec<Move> = match metric {
        "step" => vec![shift(1), shift(size - 1), Box::new(flip)],
        "turn" => (1..size).map(shift).chain([Move::from(Box::new(flip))]).collect(),
        _ => (0..size).map(flip_anywhere).collect(),
    };
    result_of(&levels((0..size).collect(), &moves), |word| labels(word, 1))
}

/// A puzzle file of the families `permutations` (a state is its labels) and `planes` (the plane,
/// then the labels).
fn puzzle_file(text: &str) -> Found {
    let file: toml::Table = text.parse().expect("TOML");
    let number = |key: &str| file.get(key).and_then(toml::Value::as_integer).and_then(|number| u8::try_from(number).ok());
    let positions = number("positions").expect("a number of positions");
    let planes = number("planes").unwrap_or(1);
    let mut turns: Vec<Turn> =
        file["generators"].as_array().expect("a list").iter().map(|turn| read_turn(turn, planes, positions)).collect();
    if file.get("inverses").and_then(toml::Value::as_bool) == Some(true) {
        turns.extend(turns.clone().iter().map(undone));
    }
    let moves: Vec<Move> = turns.into_iter().map(|turn| -> Move { Box::new(move |state| play(&turn, state)) }).collect();
    let start: State = std::iter::once(number("start_plane").unwrap_or(0)).chain(0..positions).collect();
    let numbered = file["family"].as_str() == Some("planes");
    result_of(
        &levels(start, &moves),
        |state| {
            if numbered { format!("{}: {}", state[0], labels(&state[1..], 0)) } else { labels(&state[1..], 1) }
        },
    )
}

/// For each plane where it leads, and for each position where its new label comes from.
type Turn = Vec<(u8, Vec<u8>)>;

fn play(turn: &Turn, state: &State) -> State {
    let (target, sources) = &turn[usize::from(state[0])];
    std::iter::once(*target).chain(sources.iter().map(|&source| state[1 + usize::from(source)])).collect()
}

fn undone(turn: &Turn) -> Turn {
    let mut inverse = turn.clone();
    for ((target, sources), plane) in turn.iter().zip(0..) {
        let mut back = sources.clone();
        for (&source, position) in sources.iter().zip(0..) {
            back[usize::from(source)] = position;
        }
        inverse[usize::from(*target)] = (plane, back);
    }
    inverse
}

fn read_turn(turn: &toml::Value, planes: u8, positions: u8) -> Turn {
    let bytes = |value: &toml::Value| -> Vec<u8> { value.clone().try_into().expect("small numbers") };
    let targets = turn.get("planes").map_or_else(|| (0..planes).collect(), bytes);
    let each: Vec<Vec<u8>> = match (turn.get("permutations"), turn.get("images").or(turn.get("permutation")), turn.get("cycles")) {
        (Some(lists), _, _) => lists.as_array().expect("lists").iter().map(bytes).collect(),
        (_, Some(list), _) => vec![bytes(list); usize::from(planes)],
        (_, _, Some(cycles)) => {
            let mut sources: Vec<u8> = (0..positions).collect();
            for cycle in cycles.as_str().expect("text").split(')').filter_map(|part| part.split('(').nth(1)) {
                let members: Vec<u8> = cycle.split_whitespace().map(|member| member.parse().expect("a position")).collect();
                // The piece at each member goes to the next one.
                for (&from, &to) in members.iter().zip(members.iter().cycle().skip(1)) {
                    sources[usize::from(to)] = from;
                }
            }
            vec![sources; usize::from(planes)]
        }
        _ => vec![(0..positions).collect(); usize::from(planes)],
    };
    targets.into_iter().zip(each).collect()
}

// ---- The engine, by the library, in a temporary folder.
// -----------------------------------------------------------------

/// Runs in which a level was expanded by lanes: most small puzzles have none.
static RUNS_BY_LANES: AtomicU32 = AtomicU32::new(0);

/// What either side found.
#[derive(Debug, PartialEq)]
struct Found {
    counts: Vec<u64>,
    antipodes: BTreeSet<String>,
}

/// One way to search: participants, threads of each, successors between two exchanges, and the
/// expansion.
type Way = (u32, usize, usize, &'static str);

fn engine(puzzle: &Puzzle, way: Way) -> Found {
    let folder = common::folder_in_memory();
    let found = local::run_participants(way.0, |exchange| search_on(exchange, puzzle, folder.path(), way)).expect("threads");
    found
        .into_iter()
        .reduce(|first, other| {
            assert_eq!(first, other, "two participants disagree");
            first
        })
        .expect("a participant")
}

fn search_on(exchange: &dyn Exchange, puzzle: &Puzzle, root: &Path, (_, threads, round_successors, expansion): Way) -> Found {
    let (folder, stop, space) = (RunFolder::new(root), StopRequest::never(), StateSpace::of(puzzle));
    let partition = space.cut(None).expect("small");
    let settings = Settings {
        share_memory: true,
        // Packed levels where three participants pull lanes.
        storage: if exchange.processes() == 3 && expansion == "lanes" { Storage::Compact } else { Storage::File },
        threads,
        checkpoint_seconds: 3_600,
        keep_levels: false,
        most_antipodes: 1_000_000,
        expansion: ExpansionChoice::of_name(expansion).expect("a known expansion"),
        round_successors,
        puzzle_text: String::new(),
        fixed_settings: BTreeMap::new(),
    };
    let mut searcher = Search::new(exchange, puzzle, &folder, &stop, partition, settings).expect("threads");
    let Ending::Complete(outcome) = search::run(&mut searcher, &mut Silent).expect("no failure") else { panic!("stopped") };
    assert!(outcome.lists_all_antipodes());
    if outcome.levels.iter().any(|level| level.expansion == "lanes") {
        RUNS_BY_LANES.fetch_add(1, Ordering::Relaxed);
    }
    assert_eq!(outcome.levels.last().map(|level| level.depth), Some(outcome.gods_number));
    assert!(outcome.levels[0].depth == Depth::ZERO && exchange.process() >= ProcessId::FIRST);
    Found {
        counts: outcome.levels.iter().map(|level| level.states).collect(),
        antipodes: outcome.listed_antipodes.iter().map(|&rank| puzzle.text(&space.unrank(rank))).collect(),
    }
}

/// Alone in one round a level, and with three participants in rounds of about `few` successors, by
/// each expansion: all as the oracle says.
fn check(puzzle: &Puzzle, expected: &Found, few: usize) -> Result<(), TestCaseError> {
    for way in [(1, 1, 1 << 20, "auto"), (1, 2, few, "states"), (3, 2, few, "states"), (3, 1, few, "lanes"), (3, 1, few, "unseen")] {
        prop_assert_eq!(&engine(puzzle, way), expected, "{} {}, {:?}", puzzle.name(), puzzle.metric(), way);
    }
    Ok(())
}

/// Returns the number of states at each depth.
fn check_file(text: &str) -> Result<Vec<u64>, TestCaseError> {
    let source = reading::puzzle_text("random.toml", text).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let expected = puzzle_file(text);
    // About forty rounds in all, so that small and large puzzles both have levels of several.
    let few = usize::try_from(expected.counts.iter().sum::<u64>() / 40).expect("small").max(1);
    check(&source.build("step").expect("small"), &expected, few)?;
    Ok(expected.counts)
}

// ---- Random puzzles.
// ------------------------------------------------------------------------------------------------------

/// A permutation of `positions` that keeps the parts of `cuts` (part number by position) apart:
/// several orbits.
fn permutation(cuts: Vec<u8>) -> impl Strategy<Value = Vec<usize>> {
    Just((0..cuts.len()).collect::<Vec<usize>>()).prop_shuffle().prop_map(move |order| {
        // Within each part, its positions in the order of the shuffle.
        let mut images = vec![0; cuts.len()];
        for part in BTreeSet::from_iter(&cuts) {
            let places = (0..cuts.len()).filter(|&position| cuts[position] == *part);
            let sources = order.iter().filter(|&&position| cuts[position] == *part);
            places.zip(sources).for_each(|(place, &source)| images[place] = source);
        }
        images
    })
}

/// Different permutations that each move something; shrinks to fewer.
fn several(cuts: Vec<u8>, most: usize) -> impl Strategy<Value = Vec<Vec<usize>>> {
    let identity: Vec<usize> = (0..cuts.len()).collect();
    proptest::collection::vec(permutation(cuts), 1..=most).prop_filter_map("all generators move nothing", move |mut list| {
        let mut known = HashSet::from([identity.clone()]);
        list.retain(|images| known.insert(images.clone()));
        (!list.is_empty()).then_some(list)
    })
}

fn cycles_of(images: &[usize]) -> String {
    let mut open: BTreeSet<usize> = (0..images.len()).filter(|&position| images[position] != position).collect();
    let mut text = String::new();
    while let Some(&first) = open.first() {
        // Backwards along "comes from" is forwards along "goes to".
        let mut cycle = vec![first];
        let mut at = images[first];
        while at != first {
            cycle.insert(1, at);
            at = images[at];
        }
        open.retain(|position| !cycle.contains(position));
        text += &format!("({})", cycle.iter().map(usize::to_string).collect::<Vec<_>>().join(" "));
    }
    text
}

/// Puzzle files of the family `permutations`: 2 to 7 positions in one to three parts, one to four
/// generators as images or cycles.
fn permutation_files() -> impl Strategy<Value = String> {
    let cuts = (1..=3_u8, 2..=7_usize).prop_flat_map(|(parts, positions)| proptest::collection::vec(0..parts, positions));
    let movable = cuts.prop_filter("no two positions in one part", |cuts| BTreeSet::from_iter(cuts).len() < cuts.len());
    let generators = movable.prop_flat_map(|cuts| several(cuts, 4));
    (generators, any::<bool>(), any::<bool>()).prop_map(|(generators, inverses, as_cycles)| {
        let mut text =
            format!("family = \"permutations\"\nname = \"random\"\npositions = {}\ninverses = {inverses}\n", generators[0].len());
        for (images, number) in generators.iter().zip(0..) {
            let turn = if as_cycles { format!("cycles = \"{}\"", cycles_of(images)) } else { format!("images = {images:?}") };
            text += &format!("[[generators]]\nname = \"G{number}\"\n{turn}\n");
        }
        text
    })
}

/// Puzzle files of the family `planes`: 1 to 6 planes, 1 to 7 positions, one to four generators
/// with one permutation or one a plane.
fn plane_files() -> impl Strategy<Value = String> {
    let sizes = (1..=6_usize, 1..=7_usize).prop_filter("nothing can move", |(planes, positions)| planes * positions > 1);
    let turns = sizes.prop_flat_map(|(planes, positions)| {
        let arrangement = permutation(vec![0; positions]);
        let turn = (permutation(vec![0; planes]), proptest::collection::vec(arrangement, planes), any::<bool>());
        (Just(positions), 0..planes, proptest::collection::vec(turn, 1..=4), any::<bool>())
    });
    turns.prop_filter_map("all generators move nothing", |(positions, start, turns, inverses)| {
        let planes = turns[0].0.len();
        let identity: Vec<usize> = (0..positions).collect();
        let mut known = HashSet::from([((0..planes).collect::<Vec<_>>(), vec![identity; planes])]);
        let mut text = format!(
            "family = \"planes\"\nname = \"random\"\nplanes = {planes}\npositions = {positions}\nstart_plane = {start}\ninverses = {inverses}\n"
        );
        let head = text.len();
        for ((targets, mut permutations, same), number) in turns.into_iter().zip(0..) {
            if same {
                permutations = vec![permutations.swap_remove(0); planes];
            }
            if !known.insert((targets.clone(), permutations.clone())) {
                continue;
            }
            text += &format!("[[generators]]\nname = \"G{number}\"\nplanes = {targets:?}\n");
            text += &if same { format!("permutation = {:?}\n", permutations[0]) } else { format!("permutations = {permutations:?}\n") };
        }
        (text.len() > head).then_some(text)
    })
}

/// Runs `CASES` files of a family, always the same ones.
fn check_random(family: &str, files: impl Strategy<Value = String>) {
    let cases = std::env::var("FARTHEST_TEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    // The generator itself must not have become trivial: some of its puzzles must have levels worth
    // comparing.
    let (deepest, largest) = (Cell::new(0), Cell::new(0));
    let outcome = runner.run(&files, |text| {
        let counts = check_file(&text)?;
        deepest.set(deepest.get().max(counts.len()));
        largest.set(largest.get().max(counts.iter().sum()));
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{family}: save the file as tests/regressions/NAME.toml, then correct the fault\n{error}");
    }
    assert!(RUNS_BY_LANES.load(Ordering::Relaxed) > 0, "{family}: no random puzzle has lanes");
    assert!(deepest.get() > 15 && largest.get() >= 2_520, "{family}: random puzzles have only {deepest:?} levels and {largest:?} states");
}

#[test]
fn kept_regressions() {
    let mut files: Vec<_> = fs::read_dir("tests/regressions").expect("the folder").map(|entry| entry.expect("listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(!files.is_empty(), "tests/regressions holds at least the hand-written corner cases");
    for path in files {
        let text = fs::read_to_string(&path).expect("readable");
        check_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn random_permutations() {
    check_random("permutations", permutation_files());
}

#[test]
fn random_planes() {
    check_random("planes", plane_files());
}

#[test]
fn turnstyle_in_all_metrics() {
    for metric in ["step", "turn", "flip"] {
        for size in 4..=8 {
            let puzzle = turnstyle::source(size.into()).expect("a size").build(metric).expect("a metric");
            let expected = turnstyle(size, metric);
            check(&puzzle, &expected, 1_000).unwrap_or_else(|error| panic!("turnstyle-{size} {metric}: {error}"));
        }
    }
}

/// The oracle itself, on what can be checked by hand.
#[test]
fn the_oracle_is_right_where_a_person_can_see_it() {
    // Three positions, one directed cycle: 1 2 3, then 3 1 2, then 2 3 1.
    let text = "family = \"permutations\"\nname = \"a\"\npositions = 3\n[[generators]]\nname = \"A\"\ncycles = \"(0 1 2)\"\n";
    let found = puzzle_file(text);
    assert_eq!((found.counts, found.antipodes), (vec![1, 1, 1], BTreeSet::from(["2 3 1".to_owned()])));
    // With its inverse both others are one turn away.
    assert_eq!(puzzle_file(&format!("inverses = true\n{text}")).counts, [1, 2]);
    assert_eq!(cycles_of(&[2, 0, 1, 4, 3, 5]), "(0 1 2)(3 4)");
    // Turnstyle(4): ABCD, then DABC BCDA BADC, ...
    let found = turnstyle(4, "step");
    assert_eq!((found.counts, found.antipodes), (vec![1, 3, 3, 1], BTreeSet::from(["4 3 2 1".to_owned()])));
}
