//! What a puzzle promises about its levels, known before a search starts.

use crate::base::Depth;
use crate::base::ids::to_u64;
use crate::puzzle::{Puzzle, SignRule};

/// The invariants that a puzzle obeys.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    generators: u64,
    inverse_closed: bool,
    sign_rule: SignRule,
    expected_states: u64,
}

impl Rules {
    /// The rules of `puzzle`, whose group promises `expected_states` states.
    #[must_use]
    pub fn of(puzzle: &Puzzle, expected_states: u64) -> Self {
        Self {
            generators: to_u64(puzzle.generators().len()),
            inverse_closed: puzzle.is_inverse_closed(),
            sign_rule: puzzle.sign_rule().0,
            expected_states,
        }
    }

    /// The sign that all states of depth `depth` have (true = odd), where the generators fix it.
    #[must_use]
    pub fn sign_at(&self, depth: Depth) -> Option<bool> {
        match self.sign_rule {
            SignRule::Free => None,
            // `Puzzle::sign_rule` chooses the planes' signs such that the starts are even.
            SignRule::Constant => Some(false),
            SignRule::Alternating => Some(depth.0 % 2 == 1),
        }
    }

    /// Whether the generators are closed under inverses.
    #[must_use]
    pub fn is_inverse_closed(&self) -> bool {
        self.inverse_closed
    }

    /// Number of generators.
    #[must_use]
    pub fn generators(&self) -> u64 {
        self.generators
    }

    /// Whether no edge stays on a level: all generators are odd, and starts have one sign.
    #[must_use]
    pub fn alternates_signs(&self) -> bool {
        self.sign_rule == SignRule::Alternating
    }

    /// States that the group promises.
    #[must_use]
    pub fn expected_states(&self) -> u64 {
        self.expected_states
    }
}
