//! A distributed breadth-first search, the screen to read first.
//!
//! Every process runs this same loop over the shards it owns. A level (`level.rs`) is found in
//! rounds by one of three expansions (`expansions/`). *States*: expand a part of the frontier, send
//! each successor to the owner of its shard, keep the unseen ones. *Lanes* and *unseen* work from
//! the states that were not seen yet. All leave the new states in `next`; after the last round they
//! join `seen` and become the frontier. The search ends with the first level that is empty; God's
//! number is the depth before it.

use super::level::{self, Advance};
use super::machine::stop::StopReason;
use super::observer::{Event, Observer};
use super::outcome::{self, Outcome};
use super::parts::Search;
use super::{checkpoint, guards, start};
use crate::base::Result;
use crate::base::error::EXIT_INVARIANT;

/// How a search ended.
#[derive(Debug)]
pub enum Ending {
    /// The whole space was searched.
    Complete(Box<Outcome>),
    /// It was asked to stop, and a checkpoint holds all closed levels.
    Stopped(StopReason),
}

/// Searches from the newest checkpoint, or from the start, to the end or until asked to stop.
///
/// # Errors
/// The same on every process: broken invariants, failing disks, damaged checkpoints.
pub fn run(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<Ending> {
    let Search { job, space, progress, checkpoint } = search;
    if !checkpoint.restore(job, progress, observer)? {
        start::close_level_0(job, space, progress)?;
        observer.notice(&Event::Started);
    }
    job.stop.take_votes();
    let restored = progress.levels.len();
    let ending = go_on(search, observer);
    // Edges show a fault up to two levels after the one it happened in.
    let broken = ending.as_ref().is_err_and(|error| error.exit_code() == EXIT_INVARIANT);
    if broken && search.progress.levels.len() <= restored + 1 {
        checkpoint::set_aside(&search.job, &search.progress, restored, observer)?;
    }
    ending
}

/// Level after level to the end, or until asked to stop.
fn go_on(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<Ending> {
    loop {
        let advance = level::advance(search, observer)?;
        let Search { job, space, progress, checkpoint } = &mut *search;
        match advance {
            Advance::Closed => observer.notice(&Event::LevelClosed { level: progress.last_level(), states: progress.total_states() }),
            Advance::Exhausted => {
                guards::check_whole(job, &space.promises, progress)?;
                return outcome::collect(job, space, progress).map(|outcome| Ending::Complete(Box::new(outcome)));
            }
            Advance::Stopped(reason) => return checkpoint.commit(job, progress, observer).map(|()| Ending::Stopped(reason)),
        }
        if checkpoint.is_due(job, &progress.commits) {
            checkpoint.commit(job, progress, observer)?;
        }
    }
}
