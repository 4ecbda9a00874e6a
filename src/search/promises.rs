//! What a puzzle promises about its levels, known before a search starts.

use crate::base::Depth;
use crate::puzzle::{Facts, Puzzle, SignRule};

/// The invariants that a puzzle obeys.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    facts: Facts,
}

impl Promises {
    /// The promises of `puzzle`.
    #[must_use]
    pub fn of(puzzle: &Puzzle) -> Self {
        Self { facts: *puzzle.facts() }
    }

    /// The sign that all states of depth `depth` have (true = odd), where the generators fix it.
    #[must_use]
    pub fn sign_at(&self, depth: Depth) -> Option<bool> {
        match self.facts.sign_rule {
            SignRule::Free => None,
            // `Puzzle::sign_rule` chooses the planes' signs such that the starts are even.
            SignRule::Constant => Some(false),
            SignRule::Alternating => Some(depth.0 % 2 == 1),
        }
    }

    /// Whether the generators are closed under inverses.
    #[must_use]
    pub fn is_inverse_closed(&self) -> bool {
        self.facts.is_inverse_closed
    }

    /// Moves of a state, when all states have as many.
    #[must_use]
    pub fn moves(&self) -> Option<u64> {
        self.facts.moves
    }

    /// Whether no edge stays on a level: all generators are odd, and starts have one sign.
    #[must_use]
    pub fn alternates_signs(&self) -> bool {
        self.facts.sign_rule == SignRule::Alternating
    }

    /// States that the group promises, where the moves make one; [`super::space::Space::new`] has
    /// seen that they fit 63 bits.
    #[must_use]
    pub fn expected_states(&self) -> Option<u64> {
        self.facts.states.and_then(|states| u64::try_from(states).ok())
    }
}
