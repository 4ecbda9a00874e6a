//! Level 0: the start states.

use super::archive;
use super::job::Job;
use super::level_record::LevelRecord;
use super::progress::Progress;
use super::samples;
use super::space::Space;
use super::sums::Sums;
use crate::base::ids::to_u64;
use crate::base::{Depth, Error, Result, StateRank, fault_point};
use crate::exchange::agree;
use crate::store::LevelPart;
use std::collections::BTreeSet;

/// Closes level 0: puts the start states into their shards. Collective.
///
/// # Errors
/// The same on every process.
pub fn close_level_0(job: &Job<'_>, space: &Space<'_>, progress: &mut Progress) -> Result<()> {
    let found = agree(job.exchange, put_starts(space, progress))?.sum_over_processes(job.exchange);
    // A start that no process owned would be missing from all that follows.
    let starts: BTreeSet<StateRank> = space.puzzle.starts().iter().map(|start| space.numbering().rank(start)).collect();
    if found.states != to_u64(starts.len()) {
        return Err(Error::invariant("start states in the shards of all processes", found.states, starts.len()));
    }
    progress.levels = vec![LevelRecord::new(Depth::ZERO, found)];
    samples::draw(job.exchange, space, progress)?;
    if job.settings.keep_levels {
        archive::keep(job, &progress.shards, Depth::ZERO)?;
    }
    Ok(())
}

/// Puts the start states that this process owns into their shards, and closes level 0 in them.
fn put_starts(space: &Space<'_>, progress: &mut Progress) -> Result<LevelPart> {
    for start in space.puzzle.starts() {
        let rank = space.numbering().rank(start);
        // The others are other processes' to put; `close_level_0` counts whether all of them were.
        if let Some(own) = progress.own_shard(space.partition.shard_of(rank))
            && !fault_point::damages("drop-start")
        {
            progress.shards[own].accept(&[rank.0])?;
        }
    }
    progress.shards.iter_mut().try_fold(LevelPart::default(), |sum, shard| {
        let part = shard.measure_next(true)?;
        shard.close_level()?;
        Ok(sum.plus(part))
    })
}
