//! Keeping every level of a search in its archive, and the look at all of it at the end.

use super::read::{level_folder, read_level};
use crate::base::{Depth, Error, Result, atomic_file};
use crate::exchange::agree;
use crate::ranking::Partition;
use crate::search::job::Job;
use crate::search::level_record::LevelRecord;
use crate::search::machine::run_folder::remove_folder;
use crate::store::block::SetName;
use crate::store::{BlockEntry, LevelPart, PackWriter, Shard};
use rayon::prelude::*;
use std::fs;
use std::path::Path;

/// Blocks encoded at a time.
const BLOCKS_AT_ONCE: usize = 128;

/// Archives the frontier, which has just become level `depth`.
///
/// # Errors
/// The same on every process, when a file cannot be written.
pub fn write(job: &Job<'_>, shards: &[Shard], depth: Depth) -> Result<()> {
    let folder = level_folder(&job.folder.levels(), depth);
    let prepared = if job.is_first() {
        remove_folder(&folder).and_then(|()| fs::create_dir_all(&folder).map_err(|source| Error::io("create folder", &folder, source)))
    } else {
        Ok(())
    };
    agree(job.exchange, prepared)?;
    agree(job.exchange, write_own(job, shards, &folder))?;
    let synced = if job.is_first() { atomic_file::sync_folder(&job.folder.levels()) } else { Ok(()) };
    agree(job.exchange, synced)
}

/// Writes the level sets of this process's shards.
fn write_own(job: &Job<'_>, shards: &[Shard], folder: &Path) -> Result<()> {
    let mut writer = PackWriter::create(&folder.join(format!("process-{:04}.pack", job.process().0)))?;
    let filled: Vec<_> = shards.iter().filter(|shard| shard.frontier.count() > 0).collect();
    for part in filled.chunks(BLOCKS_AT_ONCE) {
        let encoded: Vec<(BlockEntry, Vec<u8>)> = job.pool.install(|| {
            part.par_iter()
                .map(|shard| BlockEntry::encode(shard.id, SetName::Level, shard.frontier.count(), &shard.frontier.contents()))
                .collect()
        });
        for (entry, stored) in encoded {
            writer.add(entry, &stored)?;
        }
    }
    writer.finish()?;
    atomic_file::sync_folder(folder)
}

/// Removes the archived levels after `kept`, or all of them.
///
/// # Errors
/// `Io` when one cannot be removed.
pub fn remove_after(levels: &Path, kept: Option<Depth>) -> Result<()> {
    let entries = match fs::read_dir(levels) {
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|source| Error::io("list", levels, source))?,
    };
    for entry in entries {
        let entry = entry.map_err(|source| Error::io("list", levels, source))?;
        let depth = entry.file_name().to_string_lossy().parse().ok().map(Depth);
        if depth.is_some_and(|depth| kept.is_none_or(|kept| depth > kept)) {
            remove_folder(&entry.path())?;
        }
    }
    Ok(())
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
        let found = read_level(&levels, level.depth, partition)?;
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
