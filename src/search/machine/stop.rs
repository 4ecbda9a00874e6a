//! Requests to stop: signals and the wall-clock budget. All processes vote in every round and stop
//! at the same one.
//!
//! There are rounds only once a search is at work. Before, while a folder is opened, a lock waited
//! for or a checkpoint read, nobody votes: a request that comes then is met by the first round when
//! that comes soon, and else ends the job, which has nothing to lose yet.

use super::run_lock;
use crate::base::error::EXIT_STOPPED;
use crate::base::say::say;
use crate::base::{Error, Result};
use crate::exchange::launcher;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Why a search stops early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A signal reached a process.
    Signal(&'static str),
    /// The time given with `--max-hours` or `--stop-at`, or by Slurm, is nearly used up.
    Budget,
}

/// The signals, in the order of the votes after the budget's.
const SIGNALS: [(i32, &str); 5] =
    [(SIGUSR1, "SIGUSR1"), (SIGTERM, "SIGTERM"), (SIGINT, "SIGINT"), (SIGXCPU, "SIGXCPU"), (SIGHUP, "SIGHUP")];

/// Length of a vote: the budget, then one entry a signal.
pub const VOTES: usize = SIGNALS.len() + 1;

impl StopReason {
    /// The reason that the summed votes give, if any.
    #[must_use]
    pub fn of_votes(votes: &[u64]) -> Option<Self> {
        let signal = votes.iter().skip(1).zip(SIGNALS).find(|(vote, _)| **vote > 0);
        match signal {
            Some((_, (_, name))) => Some(Self::Signal(name)),
            None => votes.first().is_some_and(|&vote| vote > 0).then_some(Self::Budget),
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signal(name) => write!(formatter, "{name} received"),
            Self::Budget => write!(formatter, "its time is nearly used up"),
        }
    }
}

/// How long a signal waits for a search that is not at work yet.
const PATIENCE: Duration = Duration::from_secs(1);

/// Within this time a signal that comes twice is one request.
const SENT_TWICE: Duration = Duration::from_millis(500);

/// Stack of the thread that looks.
const STACK_BYTES: usize = 128 << 10;

/// Time between two looks for such a signal.
const LOOK: Duration = Duration::from_millis(50);

/// Who may ask this process to stop.
#[derive(Debug, Default)]
pub struct StopRequest {
    signals: Arc<[Received; SIGNALS.len()]>,
    budget: Option<(Instant, Duration)>,
    phase: Arc<AtomicU8>,
}

/// Nobody votes yet.
const OPENING: u8 = 0;
/// Votes are taken often.
const VOTING: u8 = 1;
/// Nobody votes any more: the results are written.
const WRITTEN: u8 = 2;
/// The job is over.
const OVER: u8 = 3;

/// What is known of one signal.
#[derive(Debug, Default)]
struct Received {
    /// It came.
    once: Arc<AtomicBool>,
    /// It came a while ago: the next one is meant.
    again: Arc<AtomicBool>,
}

impl StopRequest {
    /// Nobody: for tests and searches that end by themselves.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// Listens to USR1, TERM, INT, XCPU and HUP, and to the clock when there is a `budget`. A
    /// handler only sets a flag; the same signal a second time ends the process at once with exit
    /// code 75, which is safe: the last checkpoint stays valid. (Half a second later or more:
    /// `timeout` and launchers send one request twice.) So does, after a second, a signal while
    /// nobody votes: before [`StopRequest::take_votes`], and after
    /// [`StopRequest::results_are_written`]; this process says so if it `speaks`.
    ///
    /// # Errors
    /// When the system refuses to register a handler, or to start a thread.
    pub fn listen(budget: Option<Duration>, speaks: bool) -> Result<Self> {
        let mut request = Self::never();
        request.budget = budget.map(|length| (Instant::now(), length));
        for (received, (signal, name)) in request.signals.iter().zip(SIGNALS) {
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_STOPPED, Arc::clone(&received.again))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&received.once)))
                .map_err(|error| Error::config(format!("cannot listen to {name}: {error}")))?;
        }
        let guard = Guard { signals: Arc::clone(&request.signals), phase: Arc::clone(&request.phase), speaks };
        Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || guard.keep())
            .map_err(|error| Error::config(format!("cannot start a thread: {error}; raise the limits (ulimit -u)")))?;
        Ok(request)
    }

    /// From now on votes are taken often.
    pub fn take_votes(&self) {
        self.phase.store(VOTING, Ordering::Relaxed);
    }

    /// From now on nothing is left to do but to say what was found.
    pub fn results_are_written(&self) {
        self.phase.store(WRITTEN, Ordering::Relaxed);
    }

    /// Adds this process's votes to `votes` ([`VOTES`] entries). Only the first process looks at
    /// the clock; it stops so early that twice the longest commit so far, and at least 2 %, of the
    /// budget is left.
    pub fn vote(&self, first: bool, longest_commit_seconds: f64, votes: &mut [u64]) {
        if let Some((since, length)) = self.budget
            && first
        {
            let seconds = length.as_secs_f64();
            let margin = (0.02 * seconds).max(2.0 * longest_commit_seconds);
            votes[0] += u64::from(since.elapsed().as_secs_f64() + margin >= seconds);
        }
        for (vote, received) in votes[1..].iter_mut().zip(self.signals.iter()) {
            *vote += u64::from(received.once.load(Ordering::Relaxed));
        }
    }
}

impl Drop for StopRequest {
    fn drop(&mut self) {
        self.phase.store(OVER, Ordering::Relaxed);
    }
}

/// The thread that sees to signals while nobody votes, and tells a request that is repeated from
/// one that was sent twice.
struct Guard {
    signals: Arc<[Received; SIGNALS.len()]>,
    phase: Arc<AtomicU8>,
    speaks: bool,
}

impl Guard {
    fn keep(&self) {
        let mut since = [None; SIGNALS.len()];
        loop {
            std::thread::sleep(LOOK);
            let phase = self.phase.load(Ordering::Relaxed);
            if phase == OVER {
                return;
            }
            for ((received, (_, name)), since) in self.signals.iter().zip(SIGNALS).zip(&mut since) {
                if !received.once.load(Ordering::Relaxed) {
                    continue;
                }
                let waited = since.get_or_insert_with(Instant::now).elapsed();
                received.again.store(waited >= SENT_TWICE, Ordering::Relaxed);
                match phase {
                    OPENING if waited >= PATIENCE => {
                        self.end(name, "before the search was at work; nothing is lost, give the same command again")
                    }
                    WRITTEN if waited >= PATIENCE => self.end(name, "after the results were written; the same command shows them"),
                    _ => {}
                }
            }
        }
    }

    fn end(&self, signal: &str, when: &str) {
        run_lock::give_up_marks();
        if self.speaks {
            say(&format!("farthest: stopped ({signal} received) {when}"));
        }
        launcher::end_job(EXIT_STOPPED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgeted(seconds: u64) -> StopRequest {
        let mut stop = StopRequest::never();
        stop.budget = Some((Instant::now(), Duration::from_secs(seconds)));
        stop
    }

    #[test]
    fn a_used_up_budget_stops_the_search() {
        let stop = budgeted(0);
        let mut votes = [0; VOTES];
        stop.vote(false, 0.0, &mut votes);
        assert_eq!(StopReason::of_votes(&votes), None);
        stop.vote(true, 0.0, &mut votes);
        assert_eq!(StopReason::of_votes(&votes), Some(StopReason::Budget));
        // A commit that takes a minute needs a margin of two.
        let stop = budgeted(100);
        let mut votes = [0; VOTES];
        stop.vote(true, 1.0, &mut votes);
        assert_eq!(votes[0], 0);
        stop.vote(true, 60.0, &mut votes);
        assert_eq!(votes[0], 1);
    }

    #[test]
    fn signals_are_named() {
        let mut votes = [0; VOTES];
        votes[2] = 3;
        assert_eq!(StopReason::of_votes(&votes), Some(StopReason::Signal("SIGTERM")));
    }
}
