//! The archive of every level, when `keep_levels` is set: what the search does with it, and when.
//! How a level is stored is `store/level_archive.rs`.
//!
//! A level's folder is complete before a checkpoint holds the level; on a resume the levels after
//! the checkpoint are removed and found again.

use super::job::Job;
use super::level_record::LevelRecord;
use crate::base::{Depth, Error, Result};
use crate::exchange::agree;
use crate::ranking::Partition;
use crate::store::{LevelPart, Shard, level_archive};

/// Archives the frontier, which has just become level `depth`.
///
/// # Errors
/// The same on every process, when a file cannot be written.
pub fn keep(job: &Job<'_>, shards: &[Shard], depth: Depth) -> Result<()> {
    let levels = job.folder.levels();
    agree(job.exchange, if job.is_first() { level_archive::begin(&levels, depth) } else { Ok(()) })?;
    agree(job.exchange, level_archive::write_part(&levels, depth, job.process(), shards, &job.pool))?;
    agree(job.exchange, if job.is_first() { level_archive::end(&levels) } else { Ok(()) })
}

/// Checks all archived levels against the counts and fingerprints of the search; the processes
/// share the work.
///
/// # Errors
/// The same on every process: `BadData` naming the first level that is not what was found.
pub fn check_all(job: &Job<'_>, partition: &Partition, closed: &[LevelRecord]) -> Result<()> {
    let processes = job.exchange.processes();
    let levels = job.folder.levels();
    let check = |level: &LevelRecord| -> Result<()> {
        let found = level_archive::read_level(&levels, level.depth, &|shard| partition.ranks_if_any(shard))?;
        if found == (LevelPart { states: level.states, fingerprint: level.fingerprint }) {
            return Ok(());
        }
        Err(Error::bad_data(
            &level_archive::level_folder(&levels, level.depth),
            format!("{} states, fingerprint {}", found.states, found.fingerprint),
            format!("{} states, fingerprint {}", level.states, level.fingerprint),
            "the archive is damaged; run again",
        ))
    };
    let own = closed.iter().filter(|level| level.depth.0 % processes == job.process().0).try_for_each(check);
    agree(job.exchange, own)
}
