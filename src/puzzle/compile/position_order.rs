//! In which order the positions of an arrangement are numbered, so that a search by lanes is cheap.
//!
//! Arrangements are ranked lexicographically, so the order of positions decides what is near. Two
//! groups of positions matter:
//!
//! - The last [`LAST`] positions are what a lane leaves open. A generator costs a lane by the
//!   number k of other positions whose content comes from one of the last ones (as many contents go
//!   the other way): nearly nothing when it moves nothing, one load for k = 0, then 5!/(5-k)!
//!   pieces; from k = 4 on single states. [`LANE_COST`] has the measured nanoseconds. So the five
//!   are those with the least sum of costs over all generators, found by trying all (n choose 5)
//!   sets, at most 15,504. On a rotation board these are a corner block and a cell beside it: cells
//!   of few blocks, which the blocks that hold them move among themselves.
//! - The leading positions select the shard, so the process. Where a generator moves none of them,
//!   all states of a shard go to one shard of the same process. So each leading position is one
//!   that, with those before it, is moved by the fewest generators.
//!
//! Among the last five, those at which more generators cross come first: where the labels that
//! leave a lane lead its last positions, a piece is a run of bits. Ties go to the lowest positions,
//! so the order depends on the generators alone, and not on their order. Sources:
//! `expand/lane_plan.rs`.

use crate::puzzle::Permutation;

/// Positions that a lane leaves open.
const LAST: usize = 5;

/// Nanoseconds of a generator for a lane, by crossing positions; 1.5 when nothing moves.
const LANE_COST: [f64; 4] = [8.0, 30.0, 100.0, 310.0];
const IDENTITY_COST: f64 = 1.5;
const SINGLE_STATES_COST: f64 = 3_500.0;

/// The positions `0..length` in the order in which they should be numbered. The generators are
/// permutations of them.
#[must_use]
pub fn position_order(length: usize, generators: &[Permutation]) -> Vec<usize> {
    let last = if length > LAST { cheapest_last(length, generators) } else { Vec::new() };
    let mut order: Vec<usize> = Vec::with_capacity(length);
    let mut rest: Vec<usize> = (0..length).filter(|position| !last.contains(position)).collect();
    while !rest.is_empty() {
        let movers = |position: usize| {
            let leading = |moved: usize| moved == position || order.contains(&moved);
            generators.iter().filter(|turn| (0..length).any(|at| leading(at) && usize::from(turn.images()[at]) != at)).count()
        };
        // The first of the least.
        let best = (0..rest.len()).min_by_key(|&index| movers(rest[index])).expect("not empty");
        let position = rest.remove(best);
        order.push(position);
    }
    order.extend(last);
    order
}

/// The set of last positions with the least cost, those first at which the most generators cross.
fn cheapest_last(length: usize, generators: &[Permutation]) -> Vec<usize> {
    let mut best: (f64, Vec<usize>) = (f64::INFINITY, Vec::new());
    let mut chosen: Vec<usize> = (0..LAST).collect();
    loop {
        let cost = generators.iter().map(|turn| lane_cost(turn, &chosen)).sum();
        if cost < best.0 {
            best = (cost, chosen.clone());
        }
        // The next set in lexicographic order: the last member that can grow does, and those after
        // it follow closely.
        let Some(growing) = (0..LAST).rev().find(|&index| chosen[index] < length - LAST + index) else { break };
        let start = chosen[growing] + 1;
        chosen.truncate(growing);
        chosen.extend((start..).take(LAST - growing));
    }
    let mut last = best.1;
    let crossings = |position: usize| {
        let leaves = |turn: &&Permutation| !last.contains(&usize::from(turn.images()[position]));
        generators.iter().filter(leaves).count()
    };
    let counts: Vec<usize> = last.iter().map(|&position| crossings(position)).collect();
    let mut places: Vec<usize> = (0..LAST).collect();
    places.sort_by_key(|&place| std::cmp::Reverse(counts[place]));
    last = places.into_iter().map(|place| last[place]).collect();
    last
}

/// Estimated nanoseconds of a lane.
fn lane_cost(turn: &Permutation, last: &[usize]) -> f64 {
    if turn.is_identity() {
        return IDENTITY_COST;
    }
    // As many contents enter the last positions as leave them.
    let crossings = last.iter().filter(|&&position| !last.contains(&usize::from(turn.images()[position]))).count();
    LANE_COST.get(crossings).copied().unwrap_or(SINGLE_STATES_COST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::PuzzleSource;
    use proptest::prelude::*;

    #[test]
    fn the_order_of_a_board() {
        let puzzle = PuzzleSource::from_short_name("rotation-board-3x4n2").expect("a board").build("quarter").expect("valid");
        // The compiled puzzle is numbered well already: the optimum of its own generators costs the
        // same.
        let planes = puzzle.as_planes().expect("planes");
        let steps = planes.generators().iter().map(|generator| generator.moves[0].expect("moves everywhere"));
        let generators: Vec<Permutation> =
            steps.map(|step| planes.permutations()[usize::try_from(step.permutation).expect("small")].clone()).collect();
        let cost = |last: &[usize]| generators.iter().map(|turn| lane_cost(turn, last)).sum::<f64>();
        // A corner block, its left, right or lower neighbours with one crossing each, and two
        // blocks apart: 3 x 8 + 3 x 30, both ways.
        assert!((cost(&[7, 8, 9, 10, 11]) - 228.0).abs() < 1e-9);
        let movers =
            |positions: usize| generators.iter().filter(|turn| (0..positions).any(|at| usize::from(turn.images()[at]) != at)).count();
        assert_eq!([movers(1), movers(2)], [2, 4], "two corners");
    }

    proptest! {
        /// Every position once; no set of five costs less than the last ones; the order of
        /// generators says nothing.
        #[test]
        fn orders_are_best_and_depend_on_the_set_of_generators(
            (length, images) in (6_usize..9).prop_flat_map(|length| (Just(length),
                proptest::collection::vec(Just((0..u8::try_from(length).expect("small")).collect::<Vec<_>>()).prop_shuffle(), 1..5))),
        ) {
            let mut generators: Vec<Permutation> = images.into_iter().map(|images| Permutation::new(images).expect("a bijection")).collect();
            let order = position_order(length, &generators);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.iter().copied().eq(0..length));
            let cost = |last: &[usize]| generators.iter().map(|turn| lane_cost(turn, last)).sum::<f64>();
            let chosen = cost(&order[length - LAST..]);
            for set in 0_u32..1 << length {
                if set.count_ones() == 5 {
                    let members: Vec<usize> = (0..length).filter(|position| set >> position & 1 == 1).collect();
                    prop_assert!(chosen <= cost(&members) + 1e-6);
                }
            }
            generators.reverse();
            prop_assert_eq!(position_order(length, &generators), order);
        }
    }
}
