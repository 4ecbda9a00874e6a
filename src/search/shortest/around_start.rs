//! Distances of many states from the start, with one ball around it that serves them all.

use super::ball::{Ball, MemoryLimit, common};
use crate::base::Result;
use crate::expand::Moves;

/// Distance of `state` from the centres of `core`, a ball of generators; `backward` are their
/// inverses. `None` when no word leads there.
///
/// A state on a shortest word of length R + j, with R the radius of `core`, that is R moves from
/// the centres is j moves from `state`; and a state R moves from the centres and fewer than j from
/// `state` would make a shorter word. So the first ball around `state` that meets the last level of
/// `core` gives the distance.
///
/// # Errors
/// `Config` when the ball around `state` and `core` outgrow the limit.
pub fn distance(core: &Ball<'_>, backward: &Moves, inverse_closed: bool, state: u64, limit: MemoryLimit) -> Result<Option<usize>> {
    if let Some(depth) = (0..=core.radius()).find(|&depth| core.level(depth).binary_search(&state).is_ok()) {
        return Ok(Some(depth));
    }
    let mut near = Ball::around(backward, vec![state], inverse_closed);
    while !near.last().is_empty() {
        if !common(near.last(), core.last()).is_empty() {
            return Ok(Some(core.radius() + near.radius()));
        }
        near.grow(limit, core.bytes())?;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::solution::BothWays;
    use super::*;
    use crate::families::PuzzleSource;

    #[test]
    fn distances_are_those_of_a_whole_search() {
        let limit = MemoryLimit { bytes: 1 << 26 };
        for (name, metric) in [("turnstyle-7", "step"), ("turnstyle-6", "turn"), ("pancake-7", "step"), ("board-3x4n3", "quarter")] {
            let puzzle = PuzzleSource::from_short_name(name).and_then(|source| source.build(metric)).expect("known");
            let moves = BothWays::of(&puzzle).expect("small");
            let starts = || puzzle.starts().iter().map(|start| moves.forward.space().rank(start).0).collect::<Vec<u64>>();
            let mut whole = Ball::around(&moves.forward, starts(), moves.inverse_closed);
            while !whole.last().is_empty() {
                whole.grow(limit, 0).expect("room");
            }
            for radius in [0, 3, 99] {
                let mut core = Ball::around(&moves.forward, starts(), moves.inverse_closed);
                while core.radius() < radius && !core.last().is_empty() {
                    core.grow(limit, 0).expect("room");
                }
                for depth in 0..whole.radius() {
                    for &state in whole.level(depth).iter().step_by(37) {
                        let found = distance(&core, &moves.backward, moves.inverse_closed, state, limit).expect("room");
                        assert_eq!(found, Some(depth), "{name}, radius {radius}");
                    }
                }
            }
        }
    }
}
