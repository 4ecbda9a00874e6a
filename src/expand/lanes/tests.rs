//! Lane expansion against state expansion, on Turnstyle and on random puzzles.

use super::*;
use crate::base::fingerprint;
use crate::base::ids::{low_u8, low_u32};
use crate::expand::lane_plan::MOST_CROSSINGS;
use crate::expand::{Direction, Moves};
use crate::families::turnstyle;
use crate::puzzle::planes::{PlaneMoves, Planes};
use crate::puzzle::{Layout, Permutation, Rules, State};
use crate::ranking::StateSpace;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// One level from the set `seen`, by both expansions.
fn check_level(puzzle: &Puzzle, seen: &BTreeSet<u64>, blocks: u64) {
    let space = StateSpace::of(puzzle);
    let by_strips = LaneExpansion::new(puzzle, blocks).expect("closed under inverses, long enough");
    // Without kernels all is pulled slice by slice.
    let mut by_slices = by_strips.clone();
    by_slices.kernels.fill_with(|| None);
    let lanes = &by_strips;
    let states = Moves::of(puzzle, Direction::Forward).expect("small");
    // The oracle: unseen neighbours of seen states, and the edges to them.
    let mut new = BTreeSet::new();
    let (mut edges, mut level_edges) = (0, 0);
    // Any seen states may be the level whose edges are counted.
    let level: BTreeSet<u64> = seen.iter().copied().filter(|rank| fingerprint::mix64(*rank).is_multiple_of(3)).collect();
    for &rank in seen {
        states.for_each(rank, |_, successor| {
            if !seen.contains(&successor) {
                new.insert(successor);
                edges += 1;
            }
            level_edges += u64::from(level.contains(&successor));
        });
    }
    let odd = new.iter().filter(|&&rank| states.for_each(rank, |_, _| {})).count();
    let expected = LaneTally {
        states: to_u64(new.len()),
        fingerprint: fingerprint::of_sorted_ranks(new.iter().copied()),
        edges,
        level_edges,
        // What is always odd or always even, and not by the numbering alone, is counted.
        odd: if puzzle.sign_rule() == SignRule::Free || space.is_halved() { 0 } else { to_u64(odd) },
    };
    // The same as bits, block by block.
    let block_bytes = lanes.units_per_block() * UNIT_BYTES;
    let parts = lanes.planes() * lanes.blocks_per_plane();
    let block_states = to_u64(block_bytes) * 8;
    assert_eq!(to_u64(parts) * block_states, u64::try_from(space.state_count()).expect("small"));
    let as_bits = |set: &BTreeSet<u64>| {
        let mut bits = vec![vec![0_u8; block_bytes + PADDING_BYTES]; parts];
        for &rank in set {
            let offset = rank % block_states;
            bits[to_usize(rank / block_states)][to_usize(offset / 8)] |= 1 << (offset % 8);
        }
        bits
    };
    let (bits, level_bits) = (as_bits(seen), as_bits(&level));
    let whole = LaneSource { blocks: bits.iter().map(Vec::as_slice).collect() };
    // Two processes: each holds every second block, and contributes to the other's.
    let half = |parity: usize| LaneSource {
        blocks: bits
            .iter()
            .enumerate()
            .map(|(at, block)| if at % lanes.blocks_per_plane() % 2 == parity { block.as_slice() } else { &[] })
            .collect(),
    };
    let halves = [half(0), half(1)];
    let ways = [(&by_strips, false, false), (&by_strips, true, false), (&by_strips, false, true), (&by_slices, false, true)];
    for (lanes, portable, split) in ways {
        let mut tally = LaneTally::default();
        let mut found = BTreeSet::new();
        for block in 0..lanes.blocks_per_plane() {
            // In two parts, to try first units after the block's start.
            let units = lanes.units_per_block();
            for (first, count) in [(0, units / 2), (units / 2, units - units / 2)] {
                let prefixes = lanes.prefixes(block, first, count);
                for plane in 0..lanes.planes() {
                    let part = plane * lanes.blocks_per_plane() + block;
                    let mut next = vec![0xff; count * UNIT_BYTES];
                    let mut given = vec![vec![0; count * UNIT_BYTES]; lanes.generators()];
                    let source = if split { &halves[block % 2] } else { &whole };
                    if split {
                        // Each state is spoken for by one of the two, where it is not the whole
                        // lane that is.
                        let owned = [0, 1].map(|parity| halves[parity].blocks.iter().map(|block| !block.is_empty()).collect::<Vec<_>>());
                        for generator in 0..lanes.generators() {
                            let Some((_, plan)) = lanes.moves[plane * lanes.generators + generator] else { continue };
                            if lanes.plans[plan].crossings <= MOST_CROSSINGS {
                                let bits =
                                    owned.iter().map(|owned| lanes.contributed_bits(owned, &prefixes, plane, generator)).sum::<u64>();
                                assert_eq!(bits, to_u64(count) * LANE_STATES);
                            }
                        }
                        let other = &halves[1 - block % 2];
                        let owned: Vec<bool> = other.blocks.iter().map(|block| !block.is_empty()).collect();
                        for (generator, units) in given.iter_mut().enumerate() {
                            if let Some(stream) = lanes.contribute(other, &owned, &prefixes, plane, generator) {
                                assert!(lanes.crosses_blocks(plane, generator));
                                assert!(lanes.receive(&stream, &owned, &prefixes, plane, generator, units));
                                assert!(!lanes.receive(&stream[1..], &owned, &prefixes, plane, generator, &mut units.clone()));
                            }
                        }
                    }
                    let mut target = Target {
                        plane,
                        seen: &bits[part][first * UNIT_BYTES..],
                        level: Some(&level_bits[part][first * UNIT_BYTES..]),
                        next: &mut next,
                        first_unit: to_u64(part * units + first),
                        contributed: if split { given.iter().map(|units| Some(units.as_slice())).collect() } else { Vec::new() },
                    };
                    tally = tally.plus(if portable {
                        lanes.pull_portable(source, &prefixes, &mut target)
                    } else {
                        lanes.pull(source, &prefixes, &mut target)
                    });
                    let base = to_u64(part) * block_states + to_u64(first) * LANE_STATES;
                    for offset in 0..to_u64(next.len()) * 8 {
                        if next[to_usize(offset / 8)] >> (offset % 8) & 1 == 1 {
                            found.insert(base + offset);
                        }
                    }
                }
            }
        }
        let differ: Vec<_> = found.symmetric_difference(&new).take(5).collect();
        assert!(
            differ.is_empty(),
            "portable {portable}, split {split}: first ranks of {} and {} that differ: {differ:?}; {:?}",
            found.len(),
            new.len(),
            puzzle.as_planes().expect("planes").permutations()
        );
        assert_eq!(tally, expected, "portable {portable}, split {split}");
    }
}

/// Levels of the search from the start, and of a search from random states.
fn check_puzzle(puzzle: &Puzzle, blocks: u64, seed: u64) {
    let space = StateSpace::of(puzzle);
    let count = u64::try_from(space.state_count()).expect("small");
    let states = Moves::of(puzzle, Direction::Forward).expect("small");
    let mut seen: BTreeSet<u64> = (0..seed % 40).map(|i| fingerprint::mix64(seed ^ i << 20) % count).collect();
    seen.insert(0);
    for _ in 0..4 {
        check_level(puzzle, &seen, blocks);
        let mut more = BTreeSet::new();
        for &rank in &seen {
            states.for_each(rank, |_, successor| {
                more.insert(successor);
            });
        }
        seen.extend(more);
    }
    // A random half of all states.
    check_level(puzzle, &(0..count).filter(|&rank| fingerprint::mix64(rank ^ seed) & 1 == 1).collect(), blocks);
}

#[test]
fn turnstyle_levels_are_those_of_the_state_expansion() {
    for size in 7..=9_u32 {
        for metric in turnstyle::METRICS {
            let puzzle = turnstyle::build(size, metric).expect("valid");
            let halved = StateSpace::of(&puzzle).is_halved();
            let length = size - 1;
            for leading in 0..=length - if halved { 6 } else { 5 } {
                let blocks = (0..leading).map(|i| u64::from(length - i)).product();
                if size < 9 || leading == 1 {
                    check_puzzle(&puzzle, blocks, 7 + u64::from(size));
                }
            }
        }
    }
}

/// A puzzle of random planes and permutations, with their inverses unless it is to be directed.
fn random_puzzle(length: usize, planes: u32, keys: &[u64], even: bool, some_absent: bool, directed: bool) -> Puzzle {
    let shuffled = |key: u64| -> Permutation {
        let mut images: Vec<u8> = (0..low_u8(to_u64(length))).collect();
        // Some move few positions, some all.
        let first = if key.is_multiple_of(3) { length.saturating_sub(3) } else { to_usize(key % 4) };
        images[first..].sort_by_key(|&image| fingerprint::mix64(key ^ u64::from(image) << 32));
        let shuffled = Permutation::new(images).expect("a bijection");
        if even && shuffled.is_odd() {
            let mut swapped = shuffled.images().to_vec();
            swapped.swap(0, 1);
            return Permutation::new(swapped).expect("a bijection");
        }
        shuffled
    };
    let mut generators = Vec::new();
    for (number, &key) in keys.iter().enumerate() {
        // The first generator visits every plane, so that all of them are reached.
        let step = if number == 0 { 1 % planes } else { low_u32(key % 97) % planes };
        // All but the first generator may be absent in some planes.
        let is_there = |plane: u32| !(some_absent && number > 0 && (key >> plane) & 1 == 0);
        let moved = |plane: u32| ((plane + step) % planes, shuffled(key.wrapping_add(u64::from(plane))));
        let forward: PlaneMoves = (0..planes).map(|plane| is_there(plane).then(|| moved(plane))).collect();
        let mut back: PlaneMoves = vec![None; forward.len()];
        for (plane, moved) in (0..planes).zip(&forward) {
            if let Some((target, permutation)) = moved {
                back[index_u32(*target)] = Some((plane, permutation.inverse()));
            }
        }
        generators.push((format!("A{number}"), forward));
        if !directed {
            generators.push((format!("B{number}"), back));
        }
    }
    let start = State { plane: 0, arrangement: Permutation::identity(length).images().to_vec() };
    let rules = Rules::Planes(Planes::new(length, generators).expect("valid"));
    Puzzle::new("random", "step", rules, vec![start], Layout::Numbered).expect("valid")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn random_puzzles_expand_alike(length in 6_usize..=8, planes in 1_u32..=3, keys in proptest::collection::vec(any::<u64>(), 1..3), even: bool, some_absent: bool, directed: bool, seed: u64) {
        let puzzle = random_puzzle(length, planes, &keys, even, some_absent, directed);
        let halved = StateSpace::of(&puzzle).is_halved();
        let blocks = if length > 6 && (seed & 1 == 1 || halved) { to_u64(length) } else { 1 };
        check_puzzle(&puzzle, blocks, seed);
    }
}

/// Four labels leave the prefix, planes have both signs, and only one sign of arrangement is
/// numbered over each: the expansion state by state within lanes.
#[test]
fn many_crossings_in_a_halved_space_with_odd_planes() {
    // An odd cycle through 0, 4, 1, 5, 2, 6, 3, 7.
    let cycle = Permutation::new(vec![4, 5, 6, 7, 1, 2, 3, 0, 8]).expect("a bijection");
    let both = |permutation: &Permutation| vec![(1, permutation.clone()), (0, permutation.clone())];
    let generators = vec![("A".to_owned(), both(&cycle)), ("B".to_owned(), both(&cycle.inverse()))];
    let start = State { plane: 0, arrangement: Permutation::identity(9).images().to_vec() };
    let puzzle = Puzzle::of_planes("cycle", "step", 9, generators, vec![start], Layout::Numbered).expect("valid");
    let lanes = LaneExpansion::new(&puzzle, 9).expect("closed under inverses, long enough");
    assert!(StateSpace::of(&puzzle).is_halved());
    assert!(lanes.odd_planes.contains(&true) && lanes.plans.iter().any(|plan| plan.crossings > MOST_CROSSINGS));
    check_puzzle(&puzzle, 9, 5);
}
