//! Removing what may not be there any more.

use super::{Error, Result};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Removes a file; one that is not there is fine.
///
/// # Errors
/// `Io` when it cannot be removed.
pub fn remove_file(path: &Path) -> Result<()> {
    or_was_not_there("remove", path, std::fs::remove_file(path))
}

/// Removes a folder and all in it; one that is not there is fine.
///
/// # Errors
/// `Io` when something in it cannot be removed.
pub fn remove_folder(path: &Path) -> Result<()> {
    or_was_not_there("remove folder", path, std::fs::remove_dir_all(path))
}

fn or_was_not_there(action: &'static str, path: &Path, removed: io::Result<()>) -> Result<()> {
    match removed {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(Error::io(action, path, source)),
        _ => Ok(()),
    }
}
