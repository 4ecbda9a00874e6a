//! Archived levels: `levels/DDDDDD/process-P.pack` hold every set of a level.
//!
//! Which process wrote which pack has no meaning: a reader takes all packs of the folder together.

use super::pack_entry::SetName;
use super::{Contents, LevelPart, PackEntry, PackReader, PackWriter, Shard, bitset};
use crate::base::fingerprint::{Fingerprint, LANE_STATES, of_sorted_ranks};
use crate::base::removal::remove_folder;
use crate::base::{Depth, Error, ProcessId, Result, ShardId, atomic_file};
use rayon::ThreadPool;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The ranks of each shard that a run's cut of the space has; none for others.
pub type RanksOf<'a> = &'a dyn Fn(ShardId) -> Option<Range<u64>>;

/// The folder of a level.
#[must_use]
pub fn level_folder(levels: &Path, depth: Depth) -> PathBuf {
    levels.join(format!("{:06}", depth.0))
}

/// Makes the folder of a level anew, empty.
///
/// # Errors
/// `Io` when an old one cannot be removed, or the new one cannot be made.
pub fn begin(levels: &Path, depth: Depth) -> Result<()> {
    let folder = level_folder(levels, depth);
    remove_folder(&folder)?;
    fs::create_dir_all(&folder).map_err(|source| Error::io("create folder", &folder, source))
}

/// Makes the names of the folders of levels durable.
///
/// # Errors
/// `Io` when the disk fails.
pub fn end(levels: &Path) -> Result<()> {
    atomic_file::sync_folder(levels)
}

/// Writes the frontiers of a process's shards to its pack in the folder of a level.
///
/// # Errors
/// `Io` when the pack cannot be written.
pub fn write_part(levels: &Path, depth: Depth, process: ProcessId, shards: &[Shard], pool: &ThreadPool) -> Result<()> {
    let folder = level_folder(levels, depth);
    let mut writer = PackWriter::create(&folder.join(format!("process-{:04}.pack", process.0)))?;
    let filled: Vec<_> = shards.iter().filter(|shard| shard.frontier.count() > 0).collect();
    writer.add_all(pool, &filled, |shard| {
        Ok(PackEntry::encode(shard.id, SetName::Level, shard.frontier.count(), &shard.frontier.contents()))
    })?;
    writer.finish()?;
    atomic_file::sync_folder(&folder)
}

/// Removes the levels after `kept`, or all of them.
///
/// # Errors
/// `Io` when the archive cannot be listed, or one cannot be removed; an archive that is not there
/// has none.
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

/// What an archived level holds of a shard.
pub struct ArchivedSet<'a> {
    /// The shard's ranks.
    pub ranks: Range<u64>,
    /// States of the level among them.
    pub count: u64,
    reader: &'a PackReader,
    entry: &'a PackEntry,
}

impl ArchivedSet<'_> {
    /// The states, as offsets from the first rank.
    ///
    /// # Errors
    /// `Io` or `BadData` when they cannot be read, or are damaged.
    pub fn contents(&self) -> Result<Contents<'static>> {
        self.reader.read_set(self.entry, self.ranks.end - self.ranks.start)
    }
}

/// Visits what an archived level holds, shard by shard, in the order of its packs.
///
/// # Errors
/// `Io` or `BadData` when a pack is missing or damaged, or has a shard that the run's cut of the
/// space does not have; what `visit` returns.
pub fn for_each_set(
    levels: &Path,
    depth: Depth,
    ranks_of: RanksOf<'_>,
    mut visit: impl FnMut(&ArchivedSet<'_>) -> Result<()>,
) -> Result<()> {
    for path in packs(levels, depth)? {
        let reader = PackReader::open(&path)?;
        for entry in reader.entries()? {
            let ranks = ranks_of(entry.shard).ok_or_else(|| {
                Error::bad_data(&path, format!("shard {}", entry.shard), "a shard of this run", "the archive belongs to another run")
            })?;
            visit(&ArchivedSet { ranks, count: entry.count, reader: &reader, entry: &entry })?;
        }
    }
    Ok(())
}

/// Reads an archived level back: number of states and fingerprint, from checked sets.
///
/// # Errors
/// As [`for_each_set`].
pub fn read_level(levels: &Path, depth: Depth, ranks_of: RanksOf<'_>) -> Result<LevelPart> {
    let mut whole = LevelPart::default();
    for_each_set(levels, depth, ranks_of, |set| {
        let fingerprint = fingerprint(&set.contents()?, set.ranks.start, set.ranks.end);
        whole = whole.plus(LevelPart { states: set.count, fingerprint });
        Ok(())
    })?;
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
