//! The files of a level archive with their digests, for the certificate of the distances.

use super::certificate::ArchiveFile;
use super::dataset;
use crate::base::ids::{low_u32, to_u64};
use crate::base::partition::Partition;
use crate::base::{Depth, Error, Result};
use crate::search::archive;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Bytes hashed at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// The archive of the run folder `run`, checked to hold `levels` states by depth: by depth, then by name.
///
/// # Errors
/// `Io` when a file is missing, `BadData` when one is damaged or a level holds another number of states.
pub fn of_run(run: &Path, partition: &Partition, levels: &[u64]) -> Result<Vec<ArchiveFile>> {
    let root = run.join("levels");
    if !root.is_dir() {
        return Err(Error::config(format!(
            "{}: the run archived no levels; run again with keep_levels = true (farthest run --keep-levels) in another folder",
            run.display()
        )));
    }
    let mut files = Vec::new();
    for (depth, &states) in levels.iter().enumerate() {
        let depth = Depth(low_u32(to_u64(depth)));
        let found = archive::read_level(&root, depth, partition)?.states;
        if found != states {
            return Err(Error::bad_data(
                &archive::level_folder(&root, depth),
                format!("{found} states"),
                format!("{states} states"),
                "the archive is damaged; run again",
            ));
        }
        for path in archive::packs(&root, depth)? {
            let (bytes, sha256) = digest(&path)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            files.push(ArchiveFile { depth: depth.0, bytes, sha256, path: format!("levels/{depth:06}/{name}", depth = depth.0) });
        }
    }
    Ok(files)
}

/// Length and SHA-256 of a file.
fn digest(path: &Path) -> Result<(u64, String)> {
    let mut file = File::open(path).map_err(|source| Error::io("open", path, source))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut length = 0;
    loop {
        let read = file.read(&mut buffer).map_err(|source| Error::io("read", path, source))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        length += to_u64(read);
    }
    Ok((length, dataset::hexadecimal(&hasher.finalize())))
}
