//! Finds certificates and run folders in and below a folder. Everything that is skipped is
//! reported, whatever its name is and however deep it lies.

use std::fs::{DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};

/// Deepest nesting of folders that is looked into. Around there, paths also reach the system's own
/// limit of length.
const MOST_NESTING: usize = 1_000;

/// What was found at a path.
pub enum Found {
    Certificate,
    /// The folder of a complete run.
    Run,
    /// The path cannot be looked into.
    Unreadable(io::Error),
    /// The path is skipped, for this reason.
    Skipped(&'static str),
}

/// Calls `found` for `path` if it is a file or a run folder, then for everything below it, in the
/// order of names.
pub fn walk(path: &Path, found: &mut impl FnMut(&Path, Found)) {
    if !path.is_dir() {
        return found(path, Found::Certificate);
    }
    let mut open = vec![(path.to_path_buf(), 0)];
    while let Some((folder, nesting)) = open.pop() {
        let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
        let is_run = is_there("SHA256SUMS") || is_there("summary.json");
        if is_run {
            found(&folder, Found::Run);
        } else if ["run.toml", "distribution.tsv", "manifest.json"].into_iter().any(is_there) {
            found(&folder, Found::Skipped("a run that is not complete: it has no SHA256SUMS and no summary.json"));
        }
        let entries = match std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<DirEntry>>>) {
            Ok(entries) => entries,
            Err(error) => {
                found(&folder, Found::Unreadable(error));
                continue;
            }
        };
        let mut paths: Vec<(PathBuf, io::Result<FileType>)> = entries.iter().map(|entry| (entry.path(), entry.file_type())).collect();
        paths.sort_by(|one, other| one.0.cmp(&other.0));
        let mut folders = Vec::new();
        for (path, kind) in paths {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            let is_certificate = name.ends_with(b".cert") && !(is_run && name == b"distance.cert");
            match kind {
                Err(error) => found(&path, Found::Unreadable(error)),
                // The target of a link is not in the folder.
                Ok(kind) if kind.is_symlink() => {
                    if is_certificate || path.is_dir() {
                        found(&path, Found::Skipped("a symbolic link; name what it points to"));
                    }
                }
                Ok(kind) if (kind.is_dir() || is_certificate) && name.starts_with(b".") => {
                    found(&path, Found::Skipped("a hidden name; name it to have it checked"));
                }
                Ok(kind) if kind.is_dir() && nesting == MOST_NESTING => found(&path, Found::Skipped("it lies too deep; name it")),
                Ok(kind) if kind.is_dir() => folders.push((path, nesting + 1)),
                Ok(_) if is_certificate => found(&path, Found::Certificate),
                Ok(_) => {}
            }
        }
        // The last folder of the list is taken first.
        open.extend(folders.into_iter().rev());
    }
}
