//! What a search tells whoever watches it. The search prints nothing itself.

use super::estimate::Estimate;
use super::level_record::LevelRecord;
use super::machine::stop::StopReason;
use crate::base::Depth;

/// A thing worth knowing while a search runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The search starts at depth 0.
    Started,
    /// The search goes on from a checkpoint of this depth.
    Resumed {
        /// The last closed level.
        depth: Depth,
        /// States in the closed levels.
        states: u64,
    },
    /// The expansion of a level begins.
    LevelStarts {
        /// Its depth.
        depth: Depth,
        /// How it is expanded.
        expansion: &'static str,
        /// The costs that decided.
        estimate: Estimate,
    },
    /// A round of the current level is done on all processes.
    Round {
        /// The level being expanded.
        depth: Depth,
        /// Its states.
        frontier: u64,
        /// Those expanded so far.
        expanded: u64,
        /// States in the closed levels.
        closed: u64,
        /// States of the next level found so far.
        found: u64,
    },
    /// A level is expanded: what it took is known.
    LevelExpanded(&'a LevelRecord),
    /// A level is closed.
    LevelClosed {
        /// The level.
        level: &'a LevelRecord,
        /// States in all closed levels.
        states: u64,
    },
    /// A checkpoint is being written.
    Committing {
        /// The last level it will hold.
        depth: Depth,
    },
    /// A checkpoint is committed.
    Committed {
        /// The last level it holds.
        depth: Depth,
        /// Bytes written by all processes.
        bytes: u64,
        /// Seconds it took.
        seconds: f64,
    },
    /// Something unexpected that the search got over.
    Warning(String),
    /// The search was asked to stop.
    Stopping(StopReason),
}

/// Watches a search. Called on every process; only the first one has something to show.
pub trait Observer {
    /// Takes note of an event.
    fn notice(&mut self, event: &Event<'_>);
}

/// Watches without showing anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn notice(&mut self, _event: &Event<'_>) {}
}
