//! Archived levels: `levels/DDDDDD/process-P.pack` hold every level set, when `keep_levels` is set.
//!
//! A level's folder is complete before a checkpoint holds the level; on a resume the levels behind the checkpoint are removed and found again. Which
//! process wrote which pack has no meaning: a reader takes all packs of the folder together.

use super::Search;
use super::level_record::LevelRecord;
use crate::base::mix::{Fingerprint, LANE_STATES, of_sorted_ranks};
use crate::ranking::Partition;
use crate::base::{Depth, Error, Result, ShardId, atomic_file};
use crate::exchange::agree;
use crate::store::block::SetName;
use crate::store::{BlockEntry, Contents, LevelPart, PackReader, PackWriter, bitset};
use rayon::prelude::*;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Blocks encoded at a time.
const BLOCKS_AT_ONCE: usize = 128;

/// The folder of a level.
#[must_use]
pub fn level_folder(levels: &Path, depth: Depth) -> PathBuf {
    levels.join(format!("{:06}", depth.0))
}

/// Archives the frontier, which has just become level `depth`.
///
/// # Errors
/// The same on every process, when a file cannot be written.
pub fn write(search: &Search<'_>, depth: Depth) -> Result<()> {
    let folder = level_folder(&search.folder.levels(), depth);
    let prepared = if search.is_first() {
        super::machine::run_folder::remove_folder(&folder)
            .and_then(|()| fs::create_dir_all(&folder).map_err(|source| Error::io("create folder", &folder, source)))
    } else {
        Ok(())
    };
    agree(search.exchange, prepared)?;
    agree(search.exchange, write_own(search, &folder))?;
    let synced = if search.is_first() { atomic_file::sync_folder(&search.folder.levels()) } else { Ok(()) };
    agree(search.exchange, synced)
}

/// Writes the level sets of this process's shards.
fn write_own(search: &Search<'_>, folder: &Path) -> Result<()> {
    let mut writer = PackWriter::create(&folder.join(format!("process-{:04}.pack", search.exchange.process().0)))?;
    let filled: Vec<_> = search.shards.iter().filter(|shard| shard.frontier.count() > 0).collect();
    for part in filled.chunks(BLOCKS_AT_ONCE) {
        let encoded: Vec<(BlockEntry, Vec<u8>)> = search.pool.install(|| {
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

/// Removes the archived levels behind `kept`, or all of them.
///
/// # Errors
/// `Io` when one cannot be removed.
pub fn remove_behind(levels: &Path, kept: Option<Depth>) -> Result<()> {
    let entries = match fs::read_dir(levels) {
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(|source| Error::io("list", levels, source))?,
    };
    for entry in entries {
        let entry = entry.map_err(|source| Error::io("list", levels, source))?;
        let depth = entry.file_name().to_string_lossy().parse().ok().map(Depth);
        if depth.is_some_and(|depth| kept.is_none_or(|kept| depth > kept)) {
            super::machine::run_folder::remove_folder(&entry.path())?;
        }
    }
    Ok(())
}

/// The pack files of an archived level, by name.
///
/// # Errors
/// `Io` when its folder cannot be listed.
pub fn packs(levels: &Path, depth: Depth) -> Result<Vec<PathBuf>> {
    let folder = level_folder(levels, depth);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect())
        .map_err(|source| Error::io("list", &folder, source))?;
    paths.sort();
    Ok(paths)
}

/// The ranks of a shard that the pack file `path` has a block of.
///
/// # Errors
/// `BadData` when the run's cut of the space has no such shard.
pub fn ranks_of(path: &Path, shard: ShardId, partition: &Partition) -> Result<Range<u64>> {
    if shard.0 < partition.shards() {
        return Ok(partition.ranks(shard));
    }
    let expected = format!("below {}", partition.shards());
    Err(Error::bad_data(path, format!("shard {shard}"), expected, "the archive belongs to another run"))
}

/// Reads an archived level back: number of states and fingerprint, from checked blocks.
///
/// # Errors
/// `Io` or `BadData` when a pack is missing or damaged.
pub fn read_level(levels: &Path, depth: Depth, partition: &Partition) -> Result<LevelPart> {
    let mut whole = LevelPart::default();
    for path in packs(levels, depth)? {
        let reader = PackReader::open(&path)?;
        for entry in reader.entries()? {
            let ranks = ranks_of(&path, entry.shard, partition)?;
            let contents = reader.block(&entry, ranks.end - ranks.start)?;
            whole = whole.plus(LevelPart { states: entry.count, fingerprint: fingerprint(&contents, ranks.start, ranks.end) });
        }
    }
    Ok(whole)
}

fn fingerprint(contents: &Contents<'_>, first: u64, end: u64) -> Fingerprint {
    match contents {
        Contents::Empty => Fingerprint::default(),
        Contents::Full => of_sorted_ranks(first..end),
        Contents::Sparse(list) => of_sorted_ranks(list.iter().map(|offset| first + offset)),
        Contents::Words(words) => bitset::fingerprint(words, 0..(end - first).div_ceil(LANE_STATES), first / LANE_STATES),
    }
}

/// Checks all archived levels against the counts and fingerprints of the search; the processes share the work.
///
/// # Errors
/// The same on every process: `BadData` naming the first level that is not what was found.
pub fn check_all(search: &Search<'_>) -> Result<()> {
    let processes = search.exchange.processes();
    let levels = search.folder.levels();
    let check = |level: &LevelRecord| -> Result<()> {
        let found = read_level(&levels, level.depth, &search.partition)?;
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
    let own = search.levels.iter().filter(|level| level.depth.0 % processes == search.exchange.process().0).try_for_each(check);
    agree(search.exchange, own)
}
