//! Everything within some moves of a centre, kept by value: for states of any type that need no
//! rank, and for spaces that a hash map holds.
//!
//! The balls of large searches hold ranks (`search/shortest/ball.rs`); this is the small, obvious
//! one. Moves are numbers from 0; where one is absent, its successor is none.

use std::collections::HashMap;
use std::hash::Hash;

/// A ball, which remembers the first move that led to each state. Cost: a hash entry a state.
#[derive(Clone, Debug)]
pub struct ValueBall<S> {
    /// The move that first led to each state; none for the centre.
    reached: HashMap<S, Option<usize>>,
    outermost: Vec<S>,
    radius: usize,
}

impl<S: Clone + Eq + Hash> ValueBall<S> {
    /// The ball of radius 0.
    #[must_use]
    pub fn around(centre: S) -> Self {
        Self { reached: HashMap::from([(centre.clone(), None)]), outermost: vec![centre], radius: 0 }
    }

    /// Everything that is reached from `centre` by the moves below `moves`, or the first levels
    /// that hold more than `most` states together.
    #[must_use]
    pub fn whole(centre: S, moves: usize, most: usize, successor: impl Fn(&S, usize) -> Option<S>) -> Self {
        let mut ball = Self::around(centre);
        while !ball.outermost.is_empty() && ball.len() <= most {
            ball.grow(moves, &successor, |_| false);
        }
        ball
    }

    /// Adds the next level, state by state in the order of the states before and of the moves.
    /// Stops at the first new state that is `wanted`, and returns it.
    pub fn grow(&mut self, moves: usize, successor: impl Fn(&S, usize) -> Option<S>, wanted: impl Fn(&S) -> bool) -> Option<S> {
        let mut next = Vec::new();
        for state in std::mem::take(&mut self.outermost) {
            for number in 0..moves {
                let Some(new) = successor(&state, number).filter(|new| !self.reached.contains_key(new)) else { continue };
                self.reached.insert(new.clone(), Some(number));
                if wanted(&new) {
                    return Some(new);
                }
                next.push(new);
            }
        }
        self.outermost = next;
        self.radius += 1;
        None
    }

    /// The moves from the centre to a state of the ball; none for another state. `predecessor` is
    /// the state that a move leads from.
    #[must_use]
    pub fn word_to(&self, state: &S, predecessor: impl Fn(&S, usize) -> S) -> Option<Vec<usize>> {
        let mut at = state.clone();
        let mut word = Vec::new();
        while let Some(number) = *self.reached.get(&at)? {
            word.push(number);
            at = predecessor(&at, number);
        }
        word.reverse();
        Some(word)
    }

    /// Whether the ball holds the state.
    #[must_use]
    pub fn contains(&self, state: &S) -> bool {
        self.reached.contains_key(state)
    }

    /// All states, in no order.
    pub fn states(&self) -> impl Iterator<Item = &S> {
        self.reached.keys()
    }

    /// Number of states.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a ball holds its centre at least")]
    pub fn len(&self) -> usize {
        self.reached.len()
    }

    /// Number of states of the last level.
    #[must_use]
    pub fn outermost(&self) -> usize {
        self.outermost.len()
    }

    /// Levels added to the centre.
    #[must_use]
    pub fn radius(&self) -> usize {
        self.radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock of 12 hours with moves by 1 and by 5; the move by 5 is absent at 3.
    fn clock(hour: &u8, number: usize) -> Option<u8> {
        match number {
            0 => Some((hour + 1) % 12),
            _ => (*hour != 3).then_some((hour + 5) % 12),
        }
    }

    #[test]
    fn by_hand() {
        let mut ball = ValueBall::around(0);
        assert_eq!(ball.grow(2, clock, |_| false), None);
        assert_eq!((ball.len(), ball.outermost(), ball.radius()), (3, 2, 1));
        // From 1: 2 and 6; from 5: 6 again and 10.
        assert_eq!(ball.grow(2, clock, |&hour| hour == 10), Some(10));
        let back = |hour: &u8, number: usize| if number == 0 { (hour + 11) % 12 } else { (hour + 7) % 12 };
        assert_eq!(ball.word_to(&10, back), Some(vec![1, 1]));
        assert_eq!(ball.word_to(&6, back), Some(vec![0, 1]));
        assert_eq!(ball.word_to(&0, back), Some(vec![]));
        assert_eq!(ball.word_to(&9, back), None);
        let whole = ValueBall::whole(0, 2, 99, clock);
        assert_eq!((whole.len(), whole.outermost()), (12, 0));
        assert!(whole.contains(&11) && whole.states().count() == 12);
        assert!(ValueBall::whole(0, 2, 4, clock).outermost() > 0);
    }
}
