//! What all rounds share, by whichever expansion: what this process adds up in them, and how one
//! ends on all processes.

use super::job::Job;
use super::machine::stop::{StopReason, VOTES};
use super::observer::{Event, Observer};
use super::progress::Progress;
use super::sums::Sums;
use super::tally::Tally;
use crate::base::Result;
use crate::base::fingerprint::{Fingerprint, RunFingerprint};
use crate::exchange::agree;
use crate::store::Edges;

/// What the rounds of this process have done for a level.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnSums {
    /// Frontier states expanded; where others are asked, the share of the frontier that stands for
    /// them.
    pub expanded: u64,
    /// What the expansion has gone through, which must be all there is: frontier states, ranks of
    /// pulled lanes, or unseen ranks.
    pub covered: u64,
    /// Fingerprint of the states that were expanded, where the frontier is.
    pub states: RunFingerprint,
    /// States of a sign that their depth cannot have.
    pub wrong_signs: u64,
    /// Edges; only those that lead up when states were asked for their neighbours.
    pub edges: Edges,
    /// Edges from seen states to those of the frontier; only by lanes of directed puzzles.
    pub level_edges: u64,
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

/// One round of this process.
#[derive(Debug)]
pub struct Round {
    /// Whether it has more to do.
    pub more: bool,
    /// Whether it went well.
    pub result: Result<()>,
    /// Frontier states that it has expanded for the level so far.
    pub expanded: u64,
    /// States that it has found for the next one so far.
    pub found: u64,
}

/// What the processes agree on at the end of a round.
#[derive(Clone, Copy, Debug, Default)]
struct RoundSums {
    /// Processes that have more to do.
    more: u64,
    /// Processes that failed.
    failed: u64,
    expanded: u64,
    found: u64,
    /// Votes to stop, by reason.
    votes: [u64; VOTES],
}

impl Sums for RoundSums {
    fn numbers(&mut self) -> Vec<&mut u64> {
        let Self { more, failed, expanded, found, votes } = self;
        [more, failed, expanded, found].into_iter().chain(votes).collect()
    }
}

/// Ends a round on all processes: errors, votes to stop, and the end of the level are agreed on in
/// one sum.
///
/// # Errors
/// The same on every process, when the result of any is an error.
pub fn end_round(job: &Job<'_>, progress: &Progress, observer: &mut dyn Observer, round: Round) -> Result<RoundEnd> {
    let Round { more, result, expanded, found } = round;
    let mut own = RoundSums { more: u64::from(more), failed: u64::from(result.is_err()), expanded, found, votes: [0; VOTES] };
    job.stop.vote(job.is_first(), progress.commits.longest_seconds, &mut own.votes);
    let sums = own.sum_over_processes(job.exchange);
    if sums.failed > 0 {
        agree(job.exchange, result)?;
    }
    let last = progress.last_level();
    observer.notice(&Event::Round {
        depth: last.depth,
        frontier: last.states,
        expanded: sums.expanded,
        closed: progress.total_states(),
        found: sums.found,
    });
    Ok(match StopReason::of_votes(&sums.votes) {
        Some(reason) => RoundEnd::Stop(reason),
        None if sums.more == 0 => RoundEnd::Last,
        None => RoundEnd::More,
    })
}
