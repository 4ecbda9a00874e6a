//! Shortest words against breadth-first distances and path counts, which a plain search over a map
//! of states gives.
#![allow(missing_docs)]

use farthest::families::{PuzzleSource, reading, turnstyle};
use farthest::puzzle::state_text::Reading;
use farthest::puzzle::{Puzzle, State};
use farthest::search::shortest::{Ball, BothWays, MemoryLimit, RelabelledBall, ShortestWords, distances_by_relabelling, replay, solve};
use std::collections::{HashMap, HashSet};

const LIMIT: MemoryLimit = MemoryLimit { bytes: 1 << 30 };

/// Distance and number of shortest words to every state from `first`.
fn distances(puzzle: &Puzzle, first: &State) -> HashMap<State, (usize, u128)> {
    let mut known = HashMap::from([(first.clone(), (0, 1))]);
    let mut level = vec![first.clone()];
    for depth in 1.. {
        let mut next = Vec::new();
        for state in &level {
            let ways = known[state].1;
            for generator in 0..puzzle.generators() {
                let successor = puzzle.apply(generator, state);
                match known.get_mut(&successor) {
                    None => {
                        known.insert(successor.clone(), (depth, ways));
                        next.push(successor);
                    }
                    Some((at, count)) if *at == depth => *count += ways,
                    Some(_) => {}
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    known
}

/// Some of the states, the same in every test run.
fn sample(known: &HashMap<State, (usize, u128)>, most: usize) -> Vec<State> {
    let mut states: Vec<&State> = known.keys().collect();
    states.sort_by_key(|state| (state.plane, state.arrangement.clone()));
    let step = (states.len() / most).max(1);
    states.into_iter().step_by(step).cloned().collect()
}

fn check_all(puzzle: &Puzzle, most: usize) {
    let first = puzzle.starts()[0].clone();
    let known = distances(puzzle, &first);
    for state in sample(&known, most) {
        let solution = solve(puzzle, &first, std::slice::from_ref(&state), LIMIT, 200).expect("small").expect("reached");
        let (distance, words) = known[&state];
        assert_eq!((solution.length, solution.count), (distance, words), "{} {} {}", puzzle.name(), puzzle.metric(), puzzle.text(&state));
        let distinct: HashSet<&Vec<usize>> = solution.words.iter().collect();
        assert_eq!(u128::try_from(distinct.len()).expect("small"), words.min(200));
        assert!(solution.words.is_sorted());
        assert!(solution.words.iter().all(|word| word.len() == distance && replay(puzzle, &first, word) == state));
        match solution.balls {
            None => assert_eq!(distance, 0),
            Some(balls) => {
                assert_eq!(balls.radii[0] + balls.radii[1] + 1, distance);
                let within = known.values().filter(|(depth, _)| *depth <= balls.radii[0]).count();
                assert_eq!(balls.states[0], u64::try_from(within).expect("small"));
            }
        }
        // The way back has the same length wherever moves can be undone.
        if puzzle.is_inverse_closed() {
            let back = solve(puzzle, &state, puzzle.starts(), LIMIT, 1).expect("small").expect("reached");
            assert_eq!((back.length, back.count), (distance, words));
        }
    }
}

#[test]
fn turnstyle_in_every_metric() {
    for size in 4..=9 {
        for metric in ["step", "turn", "flip"] {
            let source = turnstyle::source(size).expect("a size");
            check_all(&source.build(metric).expect("a metric"), if size < 8 { 60 } else { 25 });
        }
    }
}

#[test]
fn shipped_puzzles() {
    for (name, metric, most) in
        [("board-2x3n2", "half", 50), ("board-3x4n3", "quarter", 50), ("pancake-7", "step", 50), ("loopover-3x3", "step", 12)]
    {
        check_all(&PuzzleSource::from_short_name(name).and_then(|source| source.build(metric)).expect("shipped"), most);
    }
}

/// The pocket cube has 3.7 million states: distances up to 7 by a plain search (the counts are OEIS
/// A079761's in the shipped-puzzle tests).
#[test]
fn the_pocket_cube_near_the_start() {
    let puzzle = PuzzleSource::from_short_name("pocket-cube").and_then(|source| source.build("quarter")).expect("shipped");
    let mut seen: HashSet<State> = puzzle.starts().iter().cloned().collect();
    let mut level = puzzle.starts().to_vec();
    for depth in 1..=7 {
        let mut next = Vec::new();
        for state in &level {
            for generator in 0..puzzle.generators() {
                let successor = puzzle.apply(generator, state);
                if seen.insert(successor.clone()) {
                    next.push(successor);
                }
            }
        }
        for state in next.iter().step_by(next.len().div_ceil(8)) {
            assert_eq!(solve(&puzzle, state, puzzle.starts(), LIMIT, 1).expect("small").expect("reached").length, depth);
        }
        level = next;
    }
}

/// Moves without inverses, on one plane, on several, and with several starts at one distance.
#[test]
fn directed_puzzles() {
    let cycles = "family = \"permutations\"\nname = \"directed\"\npositions = 7\n[[generators]]\nname = \"A\"\ncycles = \"(0 1 2 3 4)\"\n[[generators]]\nname = \"B\"\ncycles = \"(4 5 6)\"\n";
    let planes = "family = \"planes\"\nname = \"directed-planes\"\nplanes = 3\npositions = 5\n[[generators]]\nname = \"A\"\nplanes = [1, 2, 0]\ncycles = \"(0 1 2)\"\n[[generators]]\nname = \"B\"\npermutations = [[0, 1, 3, 4, 2], [1, 2, 3, 4, 0], [0, 1, 2, 3, 4]]\n";
    for text in [cycles, planes] {
        let puzzle = reading::puzzle_text("x.toml", text).and_then(|source| source.build("step")).expect("valid");
        assert!(!puzzle.is_inverse_closed());
        check_all(&puzzle, 80);
        // To the solved state: distances over the reversed moves, by searching from each state.
        let known = distances(&puzzle, &puzzle.starts()[0]);
        for state in sample(&known, 10) {
            let (distance, words) = distances(&puzzle, &state)[&puzzle.starts()[0]];
            let solution = solve(&puzzle, &state, puzzle.starts(), LIMIT, 5).expect("small").expect("a permutation has an order");
            assert_eq!((solution.length, solution.count), (distance, words), "{}", puzzle.text(&state));
        }
    }
}

/// In a halved space (every move even) two odd states are as far apart as the even ones that
/// renaming gives.
#[test]
fn states_of_the_other_sign() {
    let puzzle = turnstyle::source(7).and_then(|source| source.build("step")).expect("valid");
    let state = |text: &str| match puzzle.read_state(text).expect("valid") {
        Reading::State(state) => state,
        Reading::Outside(reason) => panic!("{reason}"),
    };
    let odd = state("2 1 3 4 5 6 7");
    let known = distances(&puzzle, &odd);
    assert_eq!(known.len(), 2_520);
    for target in sample(&known, 40) {
        let solution = solve(&puzzle, &odd, std::slice::from_ref(&target), LIMIT, 9).expect("small").expect("reached");
        assert_eq!((solution.length, solution.count), known[&target]);
    }
    assert!(solve(&puzzle, &odd, puzzle.starts(), LIMIT, 1).expect("small").is_none());
}

/// One ball for many targets gives what two balls give.
#[test]
fn relabelling_gives_the_distances_of_the_puzzle() {
    let puzzle = turnstyle::build_by_position(8).expect("valid");
    let known = distances(&puzzle, &puzzle.starts()[0]);
    let targets: Vec<State> = sample(&known, 300);
    let names: Vec<Vec<u8>> = targets.iter().map(|target| target.arrangement.clone()).collect();
    let moves = BothWays::of(&puzzle).expect("small");
    let mut ball = Ball::around(&moves.forward, vec![0], true);
    let mut found = vec![None; names.len()];
    distances_by_relabelling(&mut ball, &names, LIMIT, false, |index, ball, meeting| {
        let far = RelabelledBall::new(ball, &names[index]);
        let words = ShortestWords::through((&moves.forward, &moves.backward), &meeting.shared, (ball, meeting.near), (&far, meeting.far))?;
        assert_eq!(replay(&puzzle, &puzzle.starts()[0], &words.list(&moves.forward, 1)[0]), targets[index]);
        found[index] = Some((words.length(), words.count()));
        Ok(())
    })
    .expect("small");
    for (target, found) in targets.iter().zip(found) {
        assert_eq!(found, Some(known[target]));
    }
}

#[test]
fn balls_that_do_not_fit_are_refused_with_the_cure() {
    let puzzle = turnstyle::source(12).and_then(|source| source.build("step")).expect("valid");
    let mut far = puzzle.starts()[0].clone();
    far.arrangement.reverse();
    let error = solve(&puzzle, &far, puzzle.starts(), MemoryLimit { bytes: 1 << 16 }, 1).expect_err("64 KiB");
    assert_eq!(error.exit_code(), 78);
    assert!(error.to_string().contains("--memory"), "{error}");
}
