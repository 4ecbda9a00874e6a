//! Invariants that every level and the whole search must obey. A broken one ends the run with exit code 70 and publishes nothing.
//!
//! With `b` generators and `N_d` states at depth d:
//! 0. *Coverage*: the expansion went through all frontier states, all lanes, or all unseen ranks. By states, those expanded have the fingerprint that was recorded
//!    when their level was found: an altered state shows at once, for directed puzzles too, which have no edge balance.
//! 1. *Transport*: as many ranks arrive as were sent, with the same sum of mixed values. Where ranks are questions, the same holds for the answers, each of which is
//!    mixed with the questions that it answers. Nothing that is missing is read as zero: a message of another length than its receiver expects, and a rank that arrives where
//!    its shard is not owned, are errors at once.
//! 2. *Edges*: every state of the level has `b` successors: down + same + up = b N_d.
//! 3. *Edge balance*, when the generators are closed under inverses: the up-edges of level d are the down-edges of level d+1. Two independent
//!    passes must agree to the last unit; a lost, doubled or altered state shows here. Where level d+1 is expanded by pulling, its down-edges are not counted a
//!    second time; the bound on the edges remains, and a sample of its states is compared with the expansion of states (`spot_checks.rs`).
//! 4. *Signs*: where all generators have one sign, a level's states have the sign of its depth (or of the start); odd generators never stay on a level.
//! 5. *Growth*: N_1 <= b N_0, and N_(d+1) <= (b-1) N_d behind it when closed under inverses; no more states than the group has.
//! 6. *Total*: the counts sum to the group's order, which is computed by Schreier and Sims's method, not by searching.
//!
//! 7. *What was seen*: at the end the sets hold as many states as the levels sum to, counted from the bits.
//!
//! The popcount of every new level is compared with the states accepted into it where levels are closed (`store/shard.rs`).

use super::Search;
use super::expansion_choice::Expansion;
use crate::base::ids::to_u64;
use crate::base::mix::{Fingerprint, mix64};
use crate::base::{Depth, Error, Result};
use crate::puzzle::{Puzzle, SignRule};
use crate::store::{Edges, LevelPart};
use rayon::prelude::*;

/// Number of ranks and the sum (mod 2^64) of their mixed values: the same for the same ranks in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// Sum of `mix64`.
    pub mixed: u64,
}

impl Tally {
    /// Counts one rank.
    #[inline(always)]
    pub fn add(&mut self, rank: u64) {
        self.count += 1;
        self.mixed = self.mixed.wrapping_add(mix64(rank ^ 0x6a09_e667_f3bc_c909));
    }

    /// Sum of two tallies.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { count: self.count + other.count, mixed: self.mixed.wrapping_add(other.mixed) }
    }
}

/// What all processes together did for one level.
#[derive(Clone, Copy, Debug)]
pub struct LevelTotals {
    /// Edges of the expanded level. Expansions that pull know only those that lead up; the others follow (see [`complete_edges`]).
    pub edges: Edges,
    /// What the expansion went through.
    pub covered: u64,
    /// Fingerprint of the states that were expanded; only by states.
    pub expanded: Fingerprint,
    /// States of the wrong sign met: in the expanded level when it was expanded by states, else in the one found.
    pub wrong_signs: u64,
    /// Ranks, or bytes of lanes, sent.
    pub sent: Tally,
    /// The same received.
    pub received: Tally,
    /// Answers to the questions of the unseen, as they were given.
    pub answered: Tally,
    /// The same as they arrived.
    pub answers: Tally,
    /// The level found.
    pub found: LevelPart,
    /// Bytes that all processes sent to others, and received.
    pub bytes: [u64; 2],
}

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

    /// States that the group promises.
    #[must_use]
    pub fn expected_states(&self) -> u64 {
        self.expected_states
    }
}

/// Checks that an expansion went through everything it had to.
///
/// # Errors
/// `Invariant` when something was left out or met twice.
pub fn check_coverage(search: &Search<'_>, expansion: Expansion, found: u64, expected: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    let what = match expansion {
        Expansion::States => "frontier states expanded",
        Expansion::Lanes => "ranks of the lanes pulled",
        Expansion::Unseen => "unseen ranks that asked for their neighbours",
    };
    Err(Error::invariant(format!("{what} for level {}", search.depth().next()), found, expected))
}

/// Checks that the states expanded are those of the level, by the fingerprint that was recorded when it was found.
///
/// # Errors
/// `Invariant` when a state was altered since, in memory or on its way through the listing.
pub fn check_expanded(search: &Search<'_>, found: Fingerprint) -> Result<()> {
    let last = search.last_level();
    if found == last.fingerprint {
        return Ok(());
    }
    Err(Error::invariant(format!("fingerprint of the states expanded from level {}", last.depth), found, last.fingerprint))
}

/// Checks that what arrived is what was sent. Comes before the counts of edges, which a damaged message spoils, too.
///
/// # Errors
/// `Invariant` when something was lost, doubled or altered on its way.
pub fn check_transport(search: &Search<'_>, sent: Tally, received: Tally) -> Result<()> {
    let depth = search.depth();
    if received.count != sent.count {
        return Err(Error::invariant(format!("successors of level {depth} received and sent"), received.count, sent.count));
    }
    if received.mixed != sent.mixed {
        let what = format!("mixed sum of the successors of level {depth} received and sent");
        return Err(Error::invariant(what, received.mixed, sent.mixed));
    }
    Ok(())
}

/// Checks that the answers that arrived are those that were given, each to its own question.
///
/// # Errors
/// `Invariant` when an answer was lost, altered, or taken for that to another question.
pub fn check_answers(search: &Search<'_>, given: Tally, arrived: Tally) -> Result<()> {
    let depth = search.depth();
    if arrived == given {
        return Ok(());
    }
    let shown = |tally: Tally| format!("{} words of sum {:016x}", tally.count, tally.mixed);
    Err(Error::invariant(format!("answers about level {depth} received and sent"), shown(arrived), shown(given)))
}

/// All edges of the expanded level when only its up-edges are known, because the states found were asked for their neighbours: its
/// down-edges are the up-edges of the level before, and the rest stays on the level.
///
/// # Errors
/// `Invariant` when more edges lead up and down than the level has.
pub fn complete_edges(search: &Search<'_>, up: u64) -> Result<Edges> {
    let last = search.last_level();
    let all = search.rules.generators * last.states;
    let down = search.up_edges_before();
    let same = all.checked_sub(up).and_then(|rest| rest.checked_sub(down)).ok_or_else(|| {
        Error::invariant(format!("edges of level {} up and down", last.depth), format!("{up} and {down}"), format!("at most {all} in all"))
    })?;
    Ok(Edges { down, same, up })
}

/// Checks the level that was expanded, and the one found.
///
/// # Errors
/// `Invariant`, the same on every process: all inputs are sums over all processes.
pub fn check_level(search: &Search<'_>, totals: &LevelTotals) -> Result<()> {
    let rules = &search.rules;
    let last = search.last_level();
    let depth = last.depth;
    let must = |what: String, found: u64, expected: u64| {
        if found == expected { Ok(()) } else { Err(Error::invariant(what, found, expected)) }
    };
    let edges = totals.edges;
    must(format!("edges of level {depth} and generators x states"), edges.total(), rules.generators * last.states)?;
    if rules.inverse_closed {
        must(format!("down-edges of level {depth} and up-edges of the level before"), edges.down, search.up_edges_before())?;
    }
    must(format!("states of a sign that level {depth} or the one behind it cannot have"), totals.wrong_signs, 0)?;
    if rules.sign_rule == SignRule::Alternating {
        must(format!("edges within level {depth}, where every generator is odd"), edges.same, 0)?;
    }
    let found = totals.found.states;
    let branching = if rules.inverse_closed && depth.0 > 0 { rules.generators - 1 } else { rules.generators };
    let most = branching * last.states;
    if found > most {
        return Err(Error::invariant(format!("states of level {}", depth.next()), found, format!("at most {most}")));
    }
    let total = search.total_states() + found;
    if total > rules.expected_states {
        return Err(Error::invariant(
            format!("states up to level {}", depth.next()),
            total,
            format!("at most {}, the number the group's order promises", rules.expected_states),
        ));
    }
    Ok(())
}

/// Checks the complete search. Collective.
///
/// # Errors
/// `Invariant` when the counts do not sum to the number of states that the group's order promises, or the sets hold another number of states.
pub fn check_whole(search: &Search<'_>) -> Result<()> {
    let total = search.total_states();
    let shards = &search.shards;
    let mut held = [search.pool.install(|| shards.par_iter().map(|shard| shard.seen.recount()).sum())];
    search.exchange.sum(&mut held);
    if held[0] != total {
        return Err(Error::invariant("states that the sets hold at the end and the sum of all levels", held[0], total));
    }
    if total != search.rules.expected_states {
        return Err(Error::invariant(
            "sum of all levels and the number of states from the group's order",
            total,
            search.rules.expected_states,
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum alone would balance.
    #[test]
    fn a_tally_tells_ranks_of_the_same_sum_apart() {
        let tally = |ranks: &[u64]| {
            let mut tally = Tally::default();
            ranks.iter().for_each(|&rank| tally.add(rank));
            tally
        };
        assert_eq!(tally(&[5, 8]), tally(&[8, 5]));
        assert_ne!(tally(&[5, 8]), tally(&[6, 7]));
        assert_ne!(tally(&[5, 5]), tally(&[8, 8]));
        assert_eq!(tally(&[5]).plus(tally(&[8])), tally(&[5, 8]));
    }
}
