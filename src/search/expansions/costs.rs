//! Measured costs that several expansions share, in nanoseconds of one thread (of one machine; only
//! ratios matter).

use crate::base::fingerprint::LANE_STATES;
use crate::base::ids::{approximate, to_u64};
use crate::search::progress::Progress;
use crate::search::space::Space;

/// Cost of unranking a state and giving it away, and of each of its successors.
const STATE_NANOSECONDS: f64 = 60.0;
const SUCCESSOR_NANOSECONDS: f64 = 40.0;

/// Cost of passing over a full unit of 120 ranks.
const FULL_UNIT_NANOSECONDS: f64 = 2.0;

/// Of a state with all its successors.
pub(super) fn by_state(space: &Space<'_>) -> f64 {
    STATE_NANOSECONDS + SUCCESSOR_NANOSECONDS * approximate(to_u64(space.moves.generators()))
}

/// Units of the space.
pub(super) fn units(space: &Space<'_>) -> f64 {
    approximate(space.partition.state_count().div_ceil(LANE_STATES))
}

/// Of passing over all units of the space.
pub(super) fn passing(space: &Space<'_>) -> f64 {
    units(space) * FULL_UNIT_NANOSECONDS
}

/// Ranks that are in no level. Those that are never reached look unseen for ever.
pub(super) fn unseen(space: &Space<'_>, progress: &Progress) -> u64 {
    space.partition.state_count() - progress.total_states()
}
