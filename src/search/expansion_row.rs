//! The columns of the table of expansions: all that the level algorithm knows of one.

use super::job::Job;
use super::level_totals::LevelTotals;
use super::machine::stop::StopReason;
use super::observer::Observer;
use super::progress::Progress;
use super::promises::Promises;
use super::round::OwnSums;
use super::space::Space;
use crate::base::Result;
use crate::store::Edges;
use std::fmt;

/// Finds the next level into `next` of all shards, in rounds, on all processes; the reason when
/// asked to stop on the way.
pub type Run = fn(&Job<'_>, &Space<'_>, &mut Progress, &mut dyn Observer, &mut OwnSums) -> Result<Option<StopReason>>;

/// A way to find the next level. Called once a level, so what is a function here costs nothing a
/// state.
pub struct Expansion {
    /// Its word in configurations, logs and results.
    pub name: &'static str,
    /// Estimated seconds of one thread of all processes together; `None` where the puzzle does not
    /// allow it.
    pub seconds: fn(&Space<'_>, &Progress) -> Option<f64>,
    /// In compact storage, how it leaves the level it finds.
    pub leaves: LevelForm,
    /// Finds the level.
    pub run: Run,
    /// What it goes through, in the words of the guard.
    pub covers: &'static str,
    /// How much of that there is in all, so that nothing may be left out.
    pub must_cover: fn(&Space<'_>, &Progress) -> u64,
    /// The edges of the expanded level, from what was counted.
    pub edges: fn(&Promises, &Progress, &LevelTotals) -> Result<Edges>,
    /// A second look at what it found, where the edges are no second count.
    pub second_look: Option<SecondLook>,
}

/// Checks the level found, which is still in `next`.
pub type SecondLook = fn(&Job<'_>, &Space<'_>, &Progress, &LevelTotals) -> Result<()>;

/// How a new level is left in compact storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelForm {
    /// As a list of ranks, in memory.
    Listed,
    /// Packed, in a file.
    Packed,
}

impl fmt::Debug for Expansion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Expansion").field(&self.name).finish()
    }
}
