//! Why no word leads from one state to another: the reason that a certificate of the same kind
//! shows.

use crate::base::ids::{index_u32, low_u64, to_u64};
use crate::base::{Error, Result};
use crate::puzzle::order::Reached;
use crate::puzzle::{Permutation, Puzzle, SignRule, State, ValueBall};
use std::fmt;

/// Closed sets up to this size are enumerated; larger ones are known by the order of the group.
const MOST_ENUMERATED: u128 = 50_000;

/// A reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// Every move is even and the way is odd.
    Parity,
    /// The states that are reached from the first one: no move leaves them, and the wanted one is
    /// not among them.
    ClosedSet {
        /// How many they are; none when they are 2^128 or more.
        states: Option<u128>,
        /// Whether every one of them was looked at; else the order of the group and a sifted
        /// product tell.
        enumerated: bool,
    },
    /// A search from both sides met nowhere, and nothing is left to look at.
    Searched,
    /// The wanted state is none of the puzzle: the reason in words.
    Outside(String),
}

impl fmt::Display for Unreachable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parity => {
                formatter.write_str("parity: every move is an even permutation, and the way from one state to the other is odd")
            }
            Self::ClosedSet { states: None, .. } => {
                formatter.write_str("closed set: the moves generate a group that does not hold the way")
            }
            Self::ClosedSet { states: Some(states), enumerated: true } => {
                write!(formatter, "closed set: only {states} states are reached (all were looked at), and this is none of them")
            }
            Self::ClosedSet { states: Some(states), enumerated: false } => {
                write!(formatter, "closed set: {states} states are reached (the order of the group), and this is none of them")
            }
            Self::Searched => formatter.write_str("search: all states that are reached were looked at, and this is none of them"),
            Self::Outside(reason) => formatter.write_str(reason),
        }
    }
}

/// Why no word leads from `from` to any of `to`; none when one does.
///
/// # Errors
/// `Invariant` when the enumeration and the group's order differ.
pub fn why(puzzle: &Puzzle, from: &State, to: &[State]) -> Result<Option<Unreachable>> {
    // Without a group only a search can tell.
    let Some(planes) = puzzle.as_planes() else { return Ok(None) };
    let reached = Reached::from(planes, from);
    if to.iter().any(|state| reached.holds(state)) {
        return Ok(None);
    }
    let (rule, odd_planes) = planes.signs(puzzle.starts());
    let odd = |state: &State| {
        odd_planes[index_u32(state.plane)] ^ Permutation::new(state.arrangement.clone()).is_ok_and(|permutation| permutation.is_odd())
    };
    if rule == SignRule::Constant && to.iter().all(|state| odd(state) != odd(from)) {
        return Ok(Some(Unreachable::Parity));
    }
    let states = reached.states();
    let Some(few) = states.filter(|&states| states <= MOST_ENUMERATED) else {
        return Ok(Some(Unreachable::ClosedSet { states, enumerated: false }));
    };
    let set = closed_set(puzzle, from);
    if to_u64(set.len()) != low_u64(few) || to.iter().any(|state| set.contains(state)) {
        return Err(Error::invariant("states reached from one state", set.len(), format!("{few}, without the unreachable one")));
    }
    Ok(Some(Unreachable::ClosedSet { states, enumerated: true }))
}

/// All states that are reached from `from`. Only for sets that are known to be small.
#[must_use]
pub fn closed_set(puzzle: &Puzzle, from: &State) -> ValueBall<State> {
    ValueBall::whole(from.clone(), puzzle.generators(), usize::MAX, |state, generator| puzzle.successor(generator, state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::turnstyle;

    #[test]
    fn the_reason_and_the_reached_states_agree_with_an_enumeration() {
        for (size, metric) in [(4, "step"), (5, "step"), (6, "turn"), (6, "flip"), (7, "flip")] {
            let puzzle = turnstyle::build(size, metric).expect("valid");
            let start = puzzle.starts()[0].clone();
            let set = closed_set(&puzzle, &start);
            // Every state with the first three labels permuted.
            for rank in 0..6 {
                let (labels, odd) = crate::ranking::lehmer::unrank(3, rank);
                let mut state = start.clone();
                state.arrangement[..3].copy_from_slice(&labels[..3]);
                let reason = why(&puzzle, &start, std::slice::from_ref(&state)).expect("small");
                assert_eq!(reason.is_none(), set.contains(&state), "{size} {metric} {state:?}");
                if size % 2 == 1 {
                    assert_eq!(reason == Some(Unreachable::Parity), odd);
                } else if let Some(reason) = reason {
                    assert_eq!(reason, Unreachable::ClosedSet { states: u128::try_from(set.len()).ok(), enumerated: true });
                }
            }
        }
    }
}
