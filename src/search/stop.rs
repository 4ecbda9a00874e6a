//! Requests to stop: signals and the wall-clock budget. All processes vote in every round and stop at the same one.
//!
//! There are rounds only once a search is at work. Before, while a folder is opened, a lock waited for or a checkpoint read, nobody votes: a request that comes then
//! is met by the first round when that comes soon, and else ends the job, which has nothing to lose yet.

use super::run_lock;
use crate::base::error::EXIT_STOPPED;
use crate::base::say::say;
use crate::base::{Error, Result};
use crate::exchange::launcher;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// Why a search stops early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A signal reached a process.
    Signal(&'static str),
    /// The time given with `--max-hours` is nearly used up.
    Budget,
}

/// The signals, in the order of the votes behind the budget's.
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
            Self::Budget => write!(formatter, "the time of --max-hours is nearly used up"),
        }
    }
}

/// How long a signal waits for a search that is not at work yet.
const PATIENCE: Duration = Duration::from_secs(1);

/// Stack of the thread that looks.
const STACK_BYTES: usize = 128 << 10;

/// Time between two looks for such a signal.
const LOOK: Duration = Duration::from_millis(50);

/// Who may ask this process to stop.
#[derive(Debug, Default)]
pub struct StopRequest {
    flags: Vec<Arc<AtomicBool>>,
    budget: Option<(Instant, Duration)>,
    /// Whether votes are taken, or the job is over.
    at_work: Arc<AtomicBool>,
}

impl StopRequest {
    /// Nobody: for tests and searches that end by themselves.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// Listens to USR1, TERM, INT, XCPU and HUP, and to the clock when there is a `budget`. A handler only sets a flag; the same signal
    /// a second time ends the process at once with exit code 75, which is safe: the last checkpoint stays valid. So does a signal that finds no search at work
    /// ([`StopRequest::take_votes`]) within a second; this process says so if it `speaks`.
    ///
    /// # Errors
    /// When the system refuses to register a handler, or to start a thread.
    pub fn listen(budget: Option<Duration>, speaks: bool) -> Result<Self> {
        let mut flags = Vec::new();
        for (signal, name) in SIGNALS {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_STOPPED, Arc::clone(&flag))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
                .map_err(|error| Error::config(format!("cannot listen to {name}: {error}")))?;
            flags.push(flag);
        }
        let at_work = Arc::new(AtomicBool::new(false));
        let (seen, working) = (flags.clone(), Arc::clone(&at_work));
        Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || end_when_nobody_votes(&seen, &working, speaks))
            .map_err(|error| Error::config(format!("cannot start a thread: {error}; raise the limits (ulimit -u)")))?;
        Ok(Self { flags, budget: budget.map(|length| (Instant::now(), length)), at_work })
    }

    /// From now on votes are taken often, or the job is over: requests are met in order.
    pub fn take_votes(&self) {
        self.at_work.store(true, Ordering::Relaxed);
    }

    /// Adds this process's votes to `votes` ([`VOTES`] entries). Only the first process looks at the clock; it stops so early that twice the longest
    /// commit so far, and at least 2 %, of the budget is left.
    pub fn vote(&self, first: bool, longest_commit_seconds: f64, votes: &mut [u64]) {
        if let Some((since, length)) = self.budget
            && first
        {
            let seconds = length.as_secs_f64();
            let margin = (0.02 * seconds).max(2.0 * longest_commit_seconds);
            votes[0] += u64::from(since.elapsed().as_secs_f64() + margin >= seconds);
        }
        for (vote, flag) in votes[1..].iter_mut().zip(&self.flags) {
            *vote += u64::from(flag.load(Ordering::Relaxed));
        }
    }
}

impl Drop for StopRequest {
    fn drop(&mut self) {
        self.take_votes();
    }
}

/// Ends the job when a signal came and no search is at work soon after it.
fn end_when_nobody_votes(flags: &[Arc<AtomicBool>], at_work: &AtomicBool, speaks: bool) {
    let mut since: Option<(&str, Instant)> = None;
    while !at_work.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
        let received = || flags.iter().zip(SIGNALS).find(|(flag, _)| flag.load(Ordering::Relaxed)).map(|(_, (_, name))| name);
        since = since.or_else(|| received().map(|name| (name, Instant::now())));
        if let Some((name, at)) = since
            && at.elapsed() >= PATIENCE
            && !at_work.load(Ordering::Relaxed)
        {
            run_lock::give_up_marks();
            if speaks {
                say(&format!(
                    "farthest: stopped ({name} received) before the search was at work; nothing is lost, give the same command again"
                ));
            }
            launcher::end_job(EXIT_STOPPED);
        }
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
