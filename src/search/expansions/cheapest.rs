//! Which expansion a level gets.
//!
//! The choice changes the time and nothing else. It is made from counts that all processes share,
//! so all choose alike, by the estimated costs of the table.
//!
//! Compact storage is there for memory: a level whose states would take much of it as a list is
//! found by an expansion that packs it into a file, even where another is a little faster.

use super::{EXPANSIONS, with_name};
use crate::base::ids::to_u64;
use crate::search::budget::{LIST_BYTES, list_budget};
use crate::search::estimate::Estimate;
use crate::search::expansion_choice::ExpansionChoice;
use crate::search::expansion_row::{Expansion, LevelForm};
use crate::search::progress::Progress;
use crate::search::settings::Settings;
use crate::search::space::Space;
use crate::store::Storage;

/// The expansion for the last level, and the estimate behind it.
#[must_use]
pub fn choose(settings: &Settings, space: &Space<'_>, progress: &Progress) -> (&'static Expansion, Estimate) {
    let estimate = Estimate::new(EXPANSIONS.iter().map(|row| (row.name, (row.seconds)(space, progress))));
    let name = match settings.expansion {
        ExpansionChoice::Always(name) => Some(name).filter(|name| estimate.allows(name)),
        ExpansionChoice::Auto => best(&estimate, lists_fit(settings.storage, space, progress)),
    };
    // Every puzzle allows the first one.
    (name.and_then(with_name).unwrap_or(&EXPANSIONS[0]), estimate)
}

/// The cheapest expansion; where lists of the frontier and the new states would not fit, of those
/// that pack them, if any is possible.
fn best(estimate: &Estimate, lists_fit: bool) -> Option<&'static str> {
    let packs = |name: &str| with_name(name).is_some_and(|row| row.leaves == LevelForm::Packed);
    let packed = if lists_fit { None } else { estimate.cheapest(packs) };
    packed.or_else(|| estimate.cheapest(|_| true))
}

/// Whether lists of the frontier, of the level after it and of what is seen stay in the memory
/// that the budget of compact storage has for lists; in files they always do.
fn lists_fit(storage: Storage, space: &Space<'_>, progress: &Progress) -> bool {
    let last = progress.last_level().states;
    let before = progress.levels.len().checked_sub(2).map_or(1, |at| progress.levels[at].states);
    // A level grows no faster than the one before it did, as a rule, and never by more than the
    // number of generators.
    let growth = last.div_ceil(before).clamp(1, to_u64(space.moves.generators()));
    let (ranks, seen) = (space.partition.state_count(), progress.total_states());
    // What is seen was a list, too, until lanes were first wanted.
    let states = seen + last.saturating_mul(growth + 1).min(last + ranks - seen);
    storage != Storage::Compact || states.saturating_mul(LIST_BYTES) <= list_budget(ranks / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_do_not_fit_are_avoided_where_there_are_lanes() {
        let best = |lanes| best(&Estimate::new([("states", Some(1.0)), ("lanes", lanes), ("unseen", None)]), false);
        assert_eq!(best(Some(2.0)), Some("lanes"));
        assert_eq!(best(None), Some("states"));
    }
}
