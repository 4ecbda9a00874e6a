//! The files of a level archive with their digests, for the certificate of the distances and for
//! `SHA256SUMS`.

use super::certificates::ArchiveFile;
use super::checksums::{LEVELS_FOLDER, is_level_file, sha256};
use crate::base::ids::{low_u32, to_u64};
use crate::base::{Depth, Error, Result, regular_file};
use crate::ranking::Partition;
use crate::store::level_archive as archive;
use std::path::Path;

/// The archive of the run folder `run`, checked to hold `levels` states by depth: by depth, then by
/// name.
///
/// # Errors
/// `Io` when a file is missing, `BadData` when one is damaged or a level holds another number of
/// states.
pub fn of_run(run: &Path, partition: &Partition, levels: &[u64]) -> Result<Vec<ArchiveFile>> {
    let root = run.join(LEVELS_FOLDER);
    if !root.is_dir() {
        return Err(Error::config(format!(
            "{}: the run archived no levels; run again with keep_levels = true (farthest run --keep-levels) in another folder",
            run.display()
        )));
    }
    let mut files = Vec::new();
    for (depth, &states) in levels.iter().enumerate() {
        let depth = Depth(low_u32(to_u64(depth)));
        files.extend(of_level(&root, depth)?);
        let found = archive::read_level(&root, depth, &|shard| partition.ranks_if_any(shard))?.states;
        if found != states {
            return Err(Error::bad_data(
                &archive::level_folder(&root, depth),
                format!("{found} states"),
                format!("{states} states"),
                "the archive is damaged; run again",
            ));
        }
    }
    Ok(files)
}

/// The files of the first `levels` levels, with their digests; none when the run archived none.
///
/// # Errors
/// `Io` when one cannot be read.
pub fn listed(run: &Path, levels: usize) -> Result<Vec<ArchiveFile>> {
    let root = run.join(LEVELS_FOLDER);
    if !root.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for depth in 0..levels {
        files.extend(of_level(&root, Depth(low_u32(to_u64(depth))))?);
    }
    Ok(files)
}

/// The files of a level.
fn of_level(root: &Path, depth: Depth) -> Result<Vec<ArchiveFile>> {
    let mut files = Vec::new();
    for path in archive::packs(root, depth)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let shown = format!("{LEVELS_FOLDER}/{:06}/{name}", depth.0);
        if !is_level_file(&shown) {
            let expected = "a name of letters, digits, dots, dashes and underscores, as archived files have";
            return Err(Error::bad_data(&path, "a file of another name", expected, "move it out of the archive"));
        }
        let most = regular_file::open(&path)?.metadata().map_err(|source| Error::io("read", &path, source))?.len();
        let (bytes, sha256) = sha256(&path, most)?;
        files.push(ArchiveFile { depth: depth.0, bytes, sha256, path: shown });
    }
    Ok(files)
}
