//! Reading archived levels: their files, and what a level holds.

use crate::base::fingerprint::{Fingerprint, LANE_STATES, of_sorted_ranks};
use crate::base::{Depth, Error, Result, ShardId};
use crate::ranking::Partition;
use crate::store::{Contents, LevelPart, PackReader, bitset};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The folder of a level.
#[must_use]
pub fn level_folder(levels: &Path, depth: Depth) -> PathBuf {
    levels.join(format!("{:06}", depth.0))
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
