//! Invariants that every level and the whole search must obey. A broken one ends the run with exit
//! code 70 and publishes nothing.
//!
//! `level::advance` calls them in this order: coverage, transport, answers, edges, the level, a
//! second look. Edges are those of level d, states those of level d+1, the one just found.
//!
//! With `N_d` states at depth d, each of which has `b` moves; where states differ in that, `b N_d`
//! is the sum of their moves, counted from the rules without making them (`expand/moves.rs`):
//! 0. *Coverage*: the expansion went through all frontier states, all lanes, or all unseen ranks.
//!    By states, those expanded have the fingerprint that was recorded when their level was found:
//!    an altered state shows at once, for directed puzzles too, which have no edge balance.
//! 1. *Transport*: as many ranks arrive as were sent, with the same sum of mixed values. Where
//!    ranks are questions, the same holds for the answers, each of which is mixed with the
//!    questions that it answers. Nothing that is missing is read as zero: a message of another
//!    length than its receiver expects, and a rank that arrives where its shard is not owned, are
//!    errors at once.
//! 2. *Edges*: every state of the level has `b` successors: down + same + up = b N_d.
//! 3. *Edge balance*, when the generators are closed under inverses: the up-edges of level d are
//!    the down-edges of level d+1. Two independent passes must agree to the last unit; a lost,
//!    doubled or altered state shows here. Where level d+1 is expanded by pulling, its down-edges
//!    are not counted a second time; the bound on the edges remains, and a sample of its states is
//!    compared with the expansion of states (`spot_checks.rs`). For directed puzzles a pull counts
//!    the edges from what is seen into the level, which are the up-edges of the level before and
//!    those within it: never fewer than the up-edges, and with those that lead up at most `b N_d`.
//! 4. *Signs*: where all generators have one sign, a level's states have the sign of its depth (or
//!    of the start); odd generators never stay on a level.
//! 5. *Growth*: N_1 <= b N_0, and N_(d+1) <= (b-1) N_d after it when closed under inverses; no
//!    more states than the group has.
//! 6. *Total*, where the moves make a group: the counts sum to its order, which is computed by
//!    Schreier and Sims's method, not by searching.
//!
//! 7. *What was seen*: at the end the sets hold as many states as the levels sum to, counted from
//!    the bits.
//!
//! The popcount of every new level is compared with the states accepted into it where levels are
//! closed (`store/shard.rs`).

use super::job::Job;
use super::level_totals::LevelTotals;
use super::progress::Progress;
use super::promises::Promises;
use super::tally::Tally;
use crate::base::{Depth, Error, Result};
use crate::store::Edges;
use rayon::prelude::*;

/// Checks that an expansion of level `depth` went through everything it had to, which `what` names.
///
/// # Errors
/// `Invariant` when something was left out or met twice.
pub fn check_coverage(what: &str, depth: Depth, found: u64, expected: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::invariant(format!("{what} for level {}", depth.next()), found, expected))
}

/// All edges of the expanded level where every one was counted. The states expanded must be those
/// of the level, by the fingerprint that was recorded when it was found.
///
/// # Errors
/// `Invariant` when a state was altered since, in memory or on its way through the listing.
pub fn counted_edges(_: &Promises, progress: &Progress, totals: &LevelTotals) -> Result<Edges> {
    let last = progress.last_level();
    if totals.expanded == last.fingerprint {
        return Ok(totals.edges);
    }
    Err(Error::invariant(format!("fingerprint of the states expanded from level {}", last.depth), totals.expanded, last.fingerprint))
}

/// Checks that what arrived is what was sent. Comes before the counts of edges, which a damaged
/// message spoils, too.
///
/// # Errors
/// `Invariant` when something was lost, doubled or altered on its way.
pub fn check_transport(depth: Depth, sent: Tally, received: Tally) -> Result<()> {
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
pub fn check_answers(depth: Depth, given: Tally, arrived: Tally) -> Result<()> {
    if arrived == given {
        return Ok(());
    }
    let shown = |tally: Tally| format!("{} words of sum {:016x}", tally.count, tally.mixed);
    Err(Error::invariant(format!("answers about level {depth} received and sent"), shown(arrived), shown(given)))
}

/// All edges of the expanded level when only its up-edges are known, because the states found were
/// asked for their neighbours: its down-edges are the up-edges of the level before, and the rest
/// stays on the level.
///
/// # Errors
/// `Invariant` when more edges lead up and down than the level has.
pub fn completed_edges(promises: &Promises, progress: &Progress, totals: &LevelTotals) -> Result<Edges> {
    let last = progress.last_level();
    let up = totals.edges.up;
    let all = all_edges(promises, progress, totals);
    let down = progress.up_edges_before();
    let same = all.checked_sub(up).and_then(|rest| rest.checked_sub(down)).ok_or_else(|| {
        Error::invariant(format!("edges of level {} up and down", last.depth), format!("{up} and {down}"), format!("at most {all} in all"))
    })?;
    Ok(Edges { down, same, up })
}

/// All edges of the expanded level where lanes were pulled. As [`completed_edges`] where moves have
/// inverses. For directed puzzles the edges that lead from seen states into the level were counted:
/// those from the level before, which are that one's up-edges, and those within the level. What
/// leads neither up nor within leads down.
///
/// # Errors
/// `Invariant` when fewer edges lead into the level than led up from the one before, or more lead
/// up and within than the level has.
pub fn pulled_edges(promises: &Promises, progress: &Progress, totals: &LevelTotals) -> Result<Edges> {
    if promises.is_inverse_closed() {
        return completed_edges(promises, progress, totals);
    }
    let depth = progress.depth();
    let (up, into, before) = (totals.edges.up, totals.level_edges, progress.up_edges_before());
    let same = into.checked_sub(before).ok_or_else(|| {
        Error::invariant(
            format!("edges into level {depth} from states up to it"),
            into,
            format!("at least {before}, those up from the level before"),
        )
    })?;
    let all = all_edges(promises, progress, totals);
    let down = all.checked_sub(up).and_then(|rest| rest.checked_sub(same)).ok_or_else(|| {
        Error::invariant(format!("edges of level {depth} up and within"), format!("{up} and {same}"), format!("at most {all} in all"))
    })?;
    Ok(Edges { down, same, up })
}

/// The edges that the expanded level must have: its states' moves, counted without making them.
fn all_edges(promises: &Promises, progress: &Progress, totals: &LevelTotals) -> u64 {
    promises.moves().map_or(totals.moves, |moves| moves * progress.last_level().states)
}

/// Checks the level that was expanded, and the one found.
///
/// # Errors
/// `Invariant`, the same on every process: all inputs are sums over all processes.
pub fn check_level(promises: &Promises, progress: &Progress, totals: &LevelTotals) -> Result<()> {
    let last = progress.last_level();
    let depth = last.depth;
    let must = |what: String, found: u64, expected: u64| {
        if found == expected { Ok(()) } else { Err(Error::invariant(what, found, expected)) }
    };
    let edges = totals.edges;
    let all = all_edges(promises, progress, totals);
    let what = if promises.moves().is_some() { "generators x states" } else { "the moves of its states, counted without making them" };
    must(format!("edges of level {depth} and {what}"), edges.total(), all)?;
    if promises.is_inverse_closed() {
        must(format!("down-edges of level {depth} and up-edges of the level before"), edges.down, progress.up_edges_before())?;
    }
    must(format!("states of a sign that level {depth} or the one behind it cannot have"), totals.wrong_signs, 0)?;
    if promises.alternates_signs() {
        must(format!("edges within level {depth}, where every generator is odd"), edges.same, 0)?;
    }
    let found = totals.found.states;
    // Every state after the first level has an edge back.
    let back = if promises.is_inverse_closed() && depth.0 > 0 { last.states } else { 0 };
    let most = all.saturating_sub(back);
    if found > most {
        return Err(Error::invariant(format!("states of level {}", depth.next()), found, format!("at most {most}")));
    }
    let total = progress.total_states() + found;
    if let Some(expected) = promises.expected_states().filter(|&expected| total > expected) {
        return Err(Error::invariant(
            format!("states up to level {}", depth.next()),
            total,
            format!("at most {expected}, the number the group's order promises"),
        ));
    }
    Ok(())
}

/// Checks the complete search. Collective.
///
/// # Errors
/// `Invariant` when the counts do not sum to the number of states that the group's order promises,
/// or the sets hold another number of states.
pub fn check_whole(job: &Job<'_>, promises: &Promises, progress: &Progress) -> Result<()> {
    let total = progress.total_states();
    let shards = &progress.shards;
    let mut held = [job.pool.install(|| shards.par_iter().map(|shard| shard.seen.recount()).sum())];
    job.exchange.sum(&mut held);
    if held[0] != total {
        return Err(Error::invariant("states that the sets hold at the end and the sum of all levels", held[0], total));
    }
    if let Some(expected) = promises.expected_states().filter(|&expected| total != expected) {
        return Err(Error::invariant("sum of all levels and the number of states from the group's order", total, expected));
    }
    Ok(())
}
