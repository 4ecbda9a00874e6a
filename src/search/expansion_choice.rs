//! Which expansion a level gets: by states, by lanes, or by its unseen states only.
//!
//! The choice changes the time and nothing else. It is made from counts that all processes share, so all choose alike, by estimated cost in nanoseconds of
//! one thread (measured on one machine; only ratios matter):
//! - *states*: every frontier state is unranked, and ranked again for each generator: right for sparse levels, the first and last third of most searches;
//! - *lanes*: every lane that is not full is pulled, 120 states at a time: right for dense levels;
//! - *unseen*: every unseen state asks for its neighbours: right when few states are left but the last level was large, and lanes are dear (generators
//!   that move many labels between prefix and suffix).
//!
//! Compact storage is there for memory: a level whose states would take much of it as a list is found by lanes, which pack it into a file, even where
//! states are a little faster.

use super::budget::{LIST_BYTES, list_budget};
use super::expansions::lanes::shared_views::SharedViews;
use super::progress::Progress;
use super::settings::Settings;
use super::space::Space;
use crate::base::ids::{approximate, to_u64};
use crate::base::mix::LANE_STATES;
use crate::store::Storage;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expansion {
    /// State by state, from the frontier.
    States,
    /// Lane by lane, to the unseen.
    Lanes,
    /// State by state, from the unseen.
    Unseen,
}

/// What the configuration says about expansions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpansionChoice {
    /// The cheapest for each level.
    Auto,
    /// Always this one, where the puzzle allows it.
    Always(Expansion),
}

impl ExpansionChoice {
    /// The words of the configuration.
    pub const NAMES: [&str; 4] = ["auto", "states", "lanes", "unseen"];

    /// The choice that a word of [`ExpansionChoice::NAMES`] stands for.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "states" => Some(Self::Always(Expansion::States)),
            "lanes" => Some(Self::Always(Expansion::Lanes)),
            "unseen" => Some(Self::Always(Expansion::Unseen)),
            _ => None,
        }
    }
}

impl fmt::Display for Expansion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::States => "states",
            Self::Lanes => "lanes",
            Self::Unseen => "unseen",
        })
    }
}

impl fmt::Display for ExpansionChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str("auto"),
            Self::Always(expansion) => expansion.fmt(formatter),
        }
    }
}

/// Cost of unranking a state and giving it away, and of each of its successors.
const STATE_NANOSECONDS: f64 = 60.0;
const SUCCESSOR_NANOSECONDS: f64 = 40.0;

/// Cost of passing over a full unit of 120 ranks.
const FULL_UNIT_NANOSECONDS: f64 = 2.0;

/// Estimated seconds of one thread of all processes together, for each expansion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// By states.
    pub states: f64,
    /// By lanes; `None` where the puzzle has none.
    pub lanes: Option<f64>,
    /// By unseen states; `None` where the generators are not closed under inverses.
    pub unseen: Option<f64>,
}

impl Estimate {
    /// For the expansion of the last closed level.
    #[must_use]
    pub fn of(space: &Space<'_>, progress: &Progress) -> Self {
        let successors = approximate(to_u64(space.states.generators()));
        let by_state = STATE_NANOSECONDS + SUCCESSOR_NANOSECONDS * successors;
        let ranks = space.partition.state_count();
        // Ranks that are never reached look unseen for ever.
        let unseen = approximate(ranks - progress.total_states());
        let units = approximate(ranks.div_ceil(LANE_STATES));
        let passing = units * FULL_UNIT_NANOSECONDS;
        let lane_cost = space.lanes.as_ref().map(|lanes| {
            // What a process contributes to others is pulled without knowing what is seen there.
            let apart = progress.shared.as_ref().map_or(0, SharedViews::processes_apart);
            let contributing = f64::from(apart) * units * lanes.crossing_unit_cost();
            passing + unseen.min(units) * lanes.unit_cost() + contributing
        });
        Self {
            states: approximate(progress.last_level().states) * by_state * 1e-9,
            lanes: lane_cost.map(|cost| cost * 1e-9),
            unseen: space.rules.is_inverse_closed().then_some((passing + unseen * by_state) * 1e-9),
        }
    }

    /// The cheapest expansion that fits: only lanes do where lists of the frontier and the new states would not.
    #[must_use]
    pub fn best(&self, lists_fit: bool) -> Expansion {
        match self.lanes {
            Some(_) if !lists_fit => Expansion::Lanes,
            _ => self.cheapest(),
        }
    }

    /// The cheapest expansion.
    #[must_use]
    pub fn cheapest(&self) -> Expansion {
        [(self.lanes, Expansion::Lanes), (self.unseen, Expansion::Unseen)]
            .into_iter()
            .filter_map(|(cost, expansion)| cost.map(|cost| (cost, expansion)))
            .fold((self.states, Expansion::States), |best, other| if other.0 < best.0 { other } else { best })
            .1
    }
}

/// The expansion for the last level, and the estimate behind it.
#[must_use]
pub fn choose(settings: &Settings, space: &Space<'_>, progress: &Progress) -> (Expansion, Estimate) {
    let estimate = Estimate::of(space, progress);
    let expansion = match settings.expansion {
        ExpansionChoice::Always(Expansion::Lanes) if estimate.lanes.is_some() => Expansion::Lanes,
        ExpansionChoice::Always(Expansion::Unseen) if estimate.unseen.is_some() => Expansion::Unseen,
        ExpansionChoice::Always(_) => Expansion::States,
        ExpansionChoice::Auto => estimate.best(lists_fit(settings.storage, space, progress)),
    };
    (expansion, estimate)
}

/// Whether lists of the frontier, of the level behind it and of what is seen stay in the memory that the budget of compact storage has for lists; in files they always do.
fn lists_fit(storage: Storage, space: &Space<'_>, progress: &Progress) -> bool {
    let last = progress.last_level().states;
    let before = progress.levels.len().checked_sub(2).map_or(1, |at| progress.levels[at].states);
    // A level grows no faster than the one before it did, as a rule, and never by more than the number of generators.
    let growth = last.div_ceil(before).clamp(1, to_u64(space.states.generators()));
    let (ranks, seen) = (space.partition.state_count(), progress.total_states());
    // What is seen was a list, too, until lanes were first wanted.
    let states = seen + last.saturating_mul(growth + 1).min(last + ranks - seen);
    storage == Storage::File || states.saturating_mul(LIST_BYTES) <= list_budget(ranks / 8)
}

impl fmt::Display for Estimate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |cost: Option<f64>| cost.map_or_else(|| "-".into(), |seconds| format!("{seconds:.3} s"));
        write!(formatter, "states {}, lanes {}, unseen {}", shown(Some(self.states)), shown(self.lanes), shown(self.unseen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_is_chosen() {
        let estimate = |states, lanes, unseen| Estimate { states, lanes, unseen }.cheapest();
        assert_eq!(estimate(1.0, Some(2.0), Some(3.0)), Expansion::States);
        assert_eq!(estimate(5.0, Some(2.0), Some(3.0)), Expansion::Lanes);
        assert_eq!(estimate(5.0, None, Some(3.0)), Expansion::Unseen);
        assert_eq!(estimate(5.0, None, None), Expansion::States);
    }

    #[test]
    fn lists_that_do_not_fit_are_avoided_where_there_are_lanes() {
        let best = |lanes| Estimate { states: 1.0, lanes, unseen: None }.best(false);
        assert_eq!(best(Some(2.0)), Expansion::Lanes);
        assert_eq!(best(None), Expansion::States);
    }

    #[test]
    fn names_come_back() {
        for name in ExpansionChoice::NAMES {
            assert_eq!(ExpansionChoice::of_name(name).expect("known").to_string(), name);
        }
    }
}
