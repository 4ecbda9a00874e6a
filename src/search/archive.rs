//! The archive of every level, when `keep_levels` is set: what the search does with it, and when.
//! How a level is stored is `store/level_archive.rs`.
//!
//! A level's folder is complete before a checkpoint holds the level; on a resume the levels after
//! the checkpoint are removed and found again.

use super::job::Job;
use super::level_record::LevelRecord;
use super::machine::run_folder::remove_folder;
use crate::base::{Depth, Error, Result, atomic_file};
use crate::exchange::agree;
use crate::ranking::Partition;
use crate::store::level_archive::{folders_after, level_folder, read_level, write_part};
use crate::store::{LevelPart, Shard};
use std::fs;
use std::path::Path;

/// Archives the frontier, which has just become level `depth`.
///
/// # Errors
/// The same on every process, when a file cannot be written.
pub fn keep(job: &Job<'_>, shards: &[Shard], depth: Depth) -> Result<()> {
    let folder = level_folder(&job.folder.levels(), depth);
    let prepared = if job.is_first() {
        remove_folder(&folder).and_then(|()| fs::create_dir_all(&folder).map_err(|source| Error::io("create folder", &folder, source)))
    } else {
        Ok(())
    };
    agree(job.exchange, prepared)?;
    agree(job.exchange, write_part(&folder, job.process(), shards, &job.pool))?;
    let synced = if job.is_first() { atomic_file::sync_folder(&job.folder.levels()) } else { Ok(()) };
    agree(job.exchange, synced)
}

/// Removes the archived levels after `kept`, or all of them.
///
/// # Errors
/// `Io` when one cannot be removed.
pub fn remove_after(levels: &Path, kept: Option<Depth>) -> Result<()> {
    folders_after(levels, kept)?.iter().try_for_each(|folder| remove_folder(folder))
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
        let found = read_level(&levels, level.depth, &|shard| partition.ranks_if_any(shard))?;
        if found == (LevelPart { states: level.states, fingerprint: level.fingerprint }) {
            return Ok(());
        }
        Err(Error::bad_data(
            &level_folder(&levels, level.depth),
            format!("{} states, fingerprint {}", found.states, found.fingerprint),
            format!("{} states, fingerprint {}", level.states, level.fingerprint),
            "the archive is damaged; run again",
        ))
    };
    let own = closed.iter().filter(|level| level.depth.0 % processes == job.process().0).try_for_each(check);
    agree(job.exchange, own)
}
