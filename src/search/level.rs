//! One level: from "seen up to depth d" to "seen up to depth d+1".
//!
//! An expansion (a row of the table in `expansions/mod.rs`) works in bounded rounds and leaves the
//! new states of every shard in `next`. `seen` and `frontier` do not change before the level is
//! closed, so a level can be abandoned at any round and the search committed as it was at the
//! level's start.

use super::archive;
use super::expansions::cheapest;
use super::job::Job;
use super::level_record::LevelRecord;
use super::level_totals::LevelTotals;
use super::machine::stop::StopReason;
use super::observer::{Event, Observer};
use super::parts::Search;
use super::round::OwnSums;
use super::sums::Sums;
use super::{guards, move_count, samples};
use crate::base::fingerprint::Fingerprint;
use crate::base::{Depth, Result};
use crate::exchange::{Traffic, agree};
use crate::store::{LevelPart, Shard};
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

/// Finds and closes the level after the last closed one.
///
/// # Errors
/// The same on every process: a broken invariant, or a disk that failed.
pub fn advance(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<Advance> {
    let Search { job, space, progress, .. } = search;
    let since = Instant::now();
    let before = job.exchange.traffic();
    let (expansion, estimate) = cheapest::choose(&job.settings, space, progress);
    let depth = progress.depth();
    observer.notice(&Event::LevelStarts { depth, expansion: expansion.name, estimate });
    let moves = move_count::of_frontier(job, space, progress);
    let mut sums = OwnSums::default();
    if let Some(reason) = (expansion.run)(job, space, progress, observer, &mut sums)? {
        progress.shards.iter_mut().for_each(Shard::abandon_level);
        observer.notice(&Event::Stopping(reason));
        return Ok(Advance::Stopped(reason));
    }
    let found = measure(job, &mut progress.shards, sums.fingerprint)?;
    let after = job.exchange.traffic();
    let mut totals = own_totals(&sums, moves, found, &before, &after).sum_over_processes(job.exchange);
    guards::check_coverage(expansion.covers, depth, totals.covered, (expansion.must_cover)(space, progress))?;
    guards::check_transport(depth, totals.sent, totals.received)?;
    guards::check_answers(depth, totals.answered, totals.answers)?;
    totals.edges = (expansion.edges)(&space.promises, progress, &totals)?;
    guards::check_level(&space.promises, progress, &totals)?;
    if let Some(look) = expansion.second_look {
        look(job, space, progress, &totals)?;
    }
    let last = progress.levels.last_mut().expect("level 0 is closed when a search starts");
    last.edges = Some(totals.edges);
    last.bytes_exchanged = totals.bytes_sent;
    last.bytes_received = totals.bytes_received;
    last.waited_seconds = after.waited_seconds - before.waited_seconds;
    last.expansion = expansion.name.to_owned();
    observer.notice(&Event::LevelExpanded(last));
    if totals.found.states == 0 {
        // The last level stays the frontier: it holds the antipodes.
        last.seconds = since.elapsed().as_secs_f64();
        return Ok(Advance::Exhausted);
    }
    close(job, &mut progress.shards, depth.next())?;
    let last = progress.levels.last_mut().expect("there still");
    last.seconds = since.elapsed().as_secs_f64();
    progress.levels.push(LevelRecord::new(depth.next(), totals.found));
    samples::draw(job.exchange, space, progress)?;
    Ok(Advance::Closed)
}

/// What this process did for the level, and what it found, in the numbers that are summed over all.
fn own_totals(sums: &OwnSums, moves: u64, found: LevelPart, before: &Traffic, after: &Traffic) -> LevelTotals {
    LevelTotals {
        edges: sums.edges,
        level_edges: sums.level_edges,
        moves,
        covered: sums.covered,
        expanded: sums.states.finish(),
        wrong_signs: sums.wrong_signs,
        sent: sums.sent,
        received: sums.received,
        answered: sums.answered,
        answers: sums.answers,
        found,
        bytes_sent: after.bytes_sent - before.bytes_sent,
        bytes_received: after.bytes_received - before.bytes_received,
    }
}

/// Counts the level found in the shards of this process from its data, and fingerprints it unless
/// the expansion did.
fn measure(job: &Job<'_>, shards: &mut [Shard], fingerprint: Option<Fingerprint>) -> Result<LevelPart> {
    let found = job.pool.install(|| {
        shards.par_iter_mut().map(|shard| shard.measure_next(fingerprint.is_none())).try_reduce(LevelPart::default, |a, b| Ok(a.plus(b)))
    });
    let found = agree(job.exchange, found)?;
    Ok(LevelPart { fingerprint: fingerprint.unwrap_or(found.fingerprint), ..found })
}

/// Closes the level in every shard, where it becomes level `depth`, and archives it when levels are
/// kept.
fn close(job: &Job<'_>, shards: &mut [Shard], depth: Depth) -> Result<()> {
    let closed = job.pool.install(|| shards.par_iter_mut().try_for_each(Shard::close_level));
    agree(job.exchange, closed)?;
    if job.settings.keep_levels {
        archive::keep(job, shards, depth)?;
    }
    Ok(())
}
