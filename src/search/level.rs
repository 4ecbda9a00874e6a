//! One level: from "seen up to depth d" to "seen up to depth d+1".
//!
//! An expansion (`expansions/`) works in bounded rounds and leaves the new states of every shard in `next`. `seen` and
//! `frontier` do not change before the level is closed, so a level can be abandoned at any round and the search committed as it was at the level's
//! start.

use super::expansion_choice::{self, Expansion};
use super::expansions::{lanes, states, unseen};
use super::guards::{self, LevelTotals, Tally};
use super::level_record::LevelRecord;
use super::machine::stop::{StopReason, VOTES};
use super::observer::{Event, Observer};
use super::{Search, archive, samples, spot_checks};
use crate::base::Result;
use crate::base::mix::{Fingerprint, RunFingerprint};
use crate::exchange::agree;
use crate::store::{Edges, LevelPart, Shard};
use rayon::prelude::*;
use std::time::Instant;

/// What became of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// It has states and is closed.
    Closed,
    /// It has none: the search is complete.
    Exhausted,
    /// The search was asked to stop; the level is abandoned.
    Stopped(StopReason),
}

/// What this process has done for the level.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Frontier states expanded; where others are asked, the share of the frontier that stands for them.
    pub expanded: u64,
    /// What the expansion has gone through, which must be all there is: frontier states, ranks of pulled lanes, or unseen ranks.
    pub covered: u64,
    /// Fingerprint of the states that were expanded, where the frontier is.
    pub states: RunFingerprint,
    /// States of a sign that their depth cannot have.
    pub wrong_signs: u64,
    /// Edges; only those that lead up when states were asked for their neighbours.
    pub edges: Edges,
    /// What went to other processes, in the expansion's own measure.
    pub sent: Tally,
    /// What came from other processes.
    pub received: Tally,
    /// Answers given to questions of other processes; only by the unseen.
    pub answered: Tally,
    /// Answers that came from other processes.
    pub answers: Tally,
    /// Fingerprint of the states found, when the expansion works it out.
    pub fingerprint: Option<Fingerprint>,
}

/// Finds and closes the level behind the last closed one.
///
/// # Errors
/// The same on every process: a broken invariant, or a disk that failed.
pub fn advance(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<Advance> {
    let since = Instant::now();
    let before = search.exchange.traffic();
    let (expansion, estimate) = expansion_choice::choose(search);
    observer.notice(&Event::LevelStarts { depth: search.depth(), expansion, estimate });
    let mut work = Work::default();
    let stopped = match expansion {
        Expansion::States => states::run(search, observer, &mut work)?,
        Expansion::Lanes => lanes::rounds::run(search, observer, &mut work)?,
        Expansion::Unseen => unseen::run(search, observer, &mut work)?,
    };
    if let Some(reason) = stopped {
        search.shards.iter_mut().for_each(Shard::abandon_level);
        observer.notice(&Event::Stopping(reason));
        return Ok(Advance::Stopped(reason));
    }
    let found = measure(search, work.fingerprint)?;
    let after = search.exchange.traffic();
    let mut totals =
        sum_over_processes(search, &work, &found, [after.bytes_sent - before.bytes_sent, after.bytes_received - before.bytes_received]);
    let all = match expansion {
        Expansion::States => search.last_level().states,
        Expansion::Lanes => search.partition.state_count(),
        Expansion::Unseen => search.partition.state_count() - search.total_states(),
    };
    guards::check_coverage(search, expansion, totals.covered, all)?;
    guards::check_transport(search, totals.sent, totals.received)?;
    guards::check_answers(search, totals.answered, totals.answers)?;
    if expansion == Expansion::States {
        guards::check_expanded(search, totals.expanded)?;
    } else {
        totals.edges = guards::complete_edges(search, totals.edges.up)?;
    }
    guards::check_level(search, &totals)?;
    if expansion != Expansion::States {
        spot_checks::check(search, totals.found.states, totals.edges.up)?;
    }
    let depth = search.depth().next();
    let last = search.levels.last_mut().expect("level 0 is closed when a search starts");
    last.edges = Some(totals.edges);
    [last.bytes_exchanged, last.bytes_received] = totals.bytes;
    last.waited_seconds = after.waited_seconds - before.waited_seconds;
    last.expansion = expansion.to_string();
    observer.notice(&Event::LevelExpanded(last));
    if totals.found.states == 0 {
        // The last level stays the frontier: it holds the antipodes.
        last.seconds = since.elapsed().as_secs_f64();
        return Ok(Advance::Exhausted);
    }
    close(search)?;
    let last = search.levels.last_mut().expect("there still");
    last.seconds = since.elapsed().as_secs_f64();
    search.levels.push(LevelRecord::new(depth, totals.found));
    samples::draw(search)?;
    Ok(Advance::Closed)
}

/// What follows a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundEnd {
    /// Another one.
    More,
    /// Nothing: it was the last one.
    Last,
    /// The search is asked to stop.
    Stop(StopReason),
}

/// Ends a round on all processes: errors, votes to stop, and the end of the level are agreed on in one sum.
///
/// # Errors
/// The same on every process, when `result` is an error on any.
pub fn end_round(
    search: &Search<'_>,
    observer: &mut dyn Observer,
    more: bool,
    result: Result<()>,
    expanded: u64,
    found: u64,
) -> Result<RoundEnd> {
    let mut sums = [0; 4 + VOTES];
    sums[..4].copy_from_slice(&[u64::from(more), u64::from(result.is_err()), expanded, found]);
    search.stop.vote(search.is_first(), search.commits.longest_seconds(), &mut sums[4..]);
    search.exchange.sum(&mut sums);
    if sums[1] > 0 {
        agree(search.exchange, result)?;
    }
    let last = search.last_level();
    observer.notice(&Event::Round {
        depth: last.depth,
        frontier: last.states,
        expanded: sums[2],
        closed: search.total_states(),
        found: sums[3],
    });
    Ok(match StopReason::of_votes(&sums[4..]) {
        Some(reason) => RoundEnd::Stop(reason),
        None if sums[0] == 0 => RoundEnd::Last,
        None => RoundEnd::More,
    })
}

/// Counts the level found in the shards of this process from its data, and fingerprints it unless the expansion did.
fn measure(search: &mut Search<'_>, fingerprint: Option<Fingerprint>) -> Result<LevelPart> {
    let shards = &mut search.shards;
    let found = search.pool.install(|| {
        shards.par_iter_mut().map(|shard| shard.measure_next(fingerprint.is_none())).try_reduce(LevelPart::default, |a, b| Ok(a.plus(b)))
    });
    let found = agree(search.exchange, found)?;
    Ok(LevelPart { fingerprint: fingerprint.unwrap_or(found.fingerprint), ..found })
}

/// Closes the level in every shard, and archives it when levels are kept.
fn close(search: &mut Search<'_>) -> Result<()> {
    let shards = &mut search.shards;
    let closed = search.pool.install(|| shards.par_iter_mut().try_for_each(Shard::close_level));
    agree(search.exchange, closed)?;
    if search.settings.keep_levels {
        archive::write(search, search.depth().next())?;
    }
    Ok(())
}

/// Sums what all processes did.
fn sum_over_processes(search: &Search<'_>, work: &Work, found: &LevelPart, bytes: [u64; 2]) -> LevelTotals {
    // No lane is in two shards, so the fingerprints of the processes add up.
    let states = work.states.finish();
    let mut sums = [
        work.covered,
        work.wrong_signs,
        work.edges.down,
        work.edges.same,
        work.edges.up,
        work.sent.count,
        work.sent.mixed,
        work.received.count,
        work.received.mixed,
        work.answered.count,
        work.answered.mixed,
        work.answers.count,
        work.answers.mixed,
        found.states,
        found.fingerprint.0[0],
        found.fingerprint.0[1],
        bytes[0],
        bytes[1],
        states.0[0],
        states.0[1],
    ];
    search.exchange.sum(&mut sums);
    let [
        covered,
        wrong_signs,
        down,
        same,
        up,
        sent_count,
        sent_mixed,
        received_count,
        received_mixed,
        answered_count,
        answered_mixed,
        answers_count,
        answers_mixed,
        states,
        low,
        high,
        bytes_sent,
        bytes_received,
        expanded @ ..,
    ] = sums;
    LevelTotals {
        covered,
        expanded: Fingerprint(expanded),
        wrong_signs,
        edges: Edges { down, same, up },
        sent: Tally { count: sent_count, mixed: sent_mixed },
        received: Tally { count: received_count, mixed: received_mixed },
        answered: Tally { count: answered_count, mixed: answered_mixed },
        answers: Tally { count: answers_count, mixed: answers_mixed },
        found: LevelPart { states, fingerprint: Fingerprint([low, high]) },
        bytes: [bytes_sent, bytes_received],
    }
}
