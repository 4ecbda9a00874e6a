//! Requests to stop: signals and the wall-clock budget. All processes vote in every round and stop at the same one.

use crate::base::error::EXIT_STOPPED;
use crate::base::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Who may ask this process to stop.
#[derive(Debug, Default)]
pub struct StopRequest {
    flags: Vec<Arc<AtomicBool>>,
    budget: Option<(Instant, Duration)>,
}

impl StopRequest {
    /// Nobody: for tests and searches that end by themselves.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// Listens to USR1, TERM, INT, XCPU and HUP, and to the clock when there is a `budget`. A handler only sets a flag; the same signal
    /// a second time ends the process at once with exit code 75, which is safe: the last checkpoint stays valid.
    ///
    /// # Errors
    /// When the system refuses to register a handler.
    pub fn listen(budget: Option<Duration>) -> Result<Self> {
        let mut flags = Vec::new();
        for (signal, name) in SIGNALS {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register_conditional_shutdown(signal, EXIT_STOPPED, Arc::clone(&flag))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
                .map_err(|error| Error::config(format!("cannot listen to {name}: {error}")))?;
            flags.push(flag);
        }
        Ok(Self { flags, budget: budget.map(|length| (Instant::now(), length)) })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_up_budget_stops_the_search() {
        let stop = StopRequest { flags: Vec::new(), budget: Some((Instant::now(), Duration::from_secs(0))) };
        let mut votes = [0; VOTES];
        stop.vote(false, 0.0, &mut votes);
        assert_eq!(StopReason::of_votes(&votes), None);
        stop.vote(true, 0.0, &mut votes);
        assert_eq!(StopReason::of_votes(&votes), Some(StopReason::Budget));
        // A commit that takes a minute needs a margin of two.
        let stop = StopRequest { flags: Vec::new(), budget: Some((Instant::now(), Duration::from_secs(100))) };
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
