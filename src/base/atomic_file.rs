//! Files that are there whole or not at all: written under a temporary name, synced, renamed,
//! folder synced.
//!
//! The rename is the commit (POSIX: atomic within a file system). A failed sync is never retried:
//! after it nothing is known about the file (Rebello et al., "Can Applications Recover from fsync
//! Failures?", USENIX ATC 2020); the temporary is removed and the error returned.

use super::error::{Error, Result};
use super::fault_point;
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Puts `bytes` under `path`, durably, replacing what was there.
///
/// # Errors
/// When any step fails; `path` then still holds what it held before.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_name(path);
    let attempt = || -> std::io::Result<()> {
        fault_point::pass("file-create")?;
        let mut file = create_new(&temporary)?;
        fault_point::pass("file-write")?;
        file.write_all(bytes)?;
        fault_point::pass("file-sync")?;
        file.sync_all()?;
        fault_point::pass("file-rename")?;
        fs::rename(&temporary, path)?;
        fault_point::pass("file-renamed")
    };
    attempt().map_err(|source| {
        let _ = fs::remove_file(&temporary);
        Error::io("write", path, source)
    })?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// Replaces `path` in one step but without waiting for the disk: for files that only inform, such
/// as progress.
///
/// # Errors
/// When writing or renaming fails.
pub fn replace_unsynced(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_name(path);
    let attempt = || create_new(&temporary)?.write_all(bytes).and_then(|()| fs::rename(&temporary, path));
    attempt().map_err(|source| Error::io("write", path, source))
}

/// Creates the file anew. What a killed run left under its name goes first: it may be a link to
/// somewhere else, or a pipe that would block its writer.
fn create_new(temporary: &Path) -> std::io::Result<File> {
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(temporary)
}

/// Makes renames and new names in `folder` durable.
///
/// # Errors
/// When the folder cannot be opened or synced.
pub fn sync_folder(folder: &Path) -> Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fault_point::pass("folder-sync")
        .and_then(|()| open_folder(folder))
        .and_then(|file| file.sync_all())
        .map_err(|source| Error::io("sync", folder, source))
}

/// Opens a folder, and nothing else: a pipe in its place would block.
///
/// # Errors
/// As the system's.
pub fn open_folder(folder: &Path) -> std::io::Result<File> {
    let only_folders = i32::try_from(OFlags::DIRECTORY.bits()).expect("a flag of open");
    OpenOptions::new().read(true).custom_flags(only_folders).open(folder)
}

/// The name under which the bytes for `path` are written before they are renamed; a kill may leave
/// it.
#[must_use]
pub fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".tmp");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_replaces_the_whole_file_and_leaves_no_temporary() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("out.json");
        write(&path, b"a long first version").expect("first");
        write(&path, b"second").expect("second");
        assert_eq!(fs::read(&path).expect("readable"), b"second");
        assert_eq!(fs::read_dir(folder.path()).expect("listable").count(), 1);
    }

    #[test]
    fn what_stands_under_the_temporary_name_is_neither_waited_for_nor_followed() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let folder = tempfile::tempdir().expect("temporary folder");
        let (path, other) = (folder.path().join("out"), folder.path().join("other"));
        fs::write(&other, b"not ours").expect("written");
        for write in [write, replace_unsynced] {
            mknodat(CWD, temporary_name(&path), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
            write(&path, b"new").expect("written");
            std::os::unix::fs::symlink(&other, temporary_name(&path)).expect("a link");
            write(&path, b"newer").expect("written");
            assert_eq!(fs::read(&path).expect("readable"), b"newer");
        }
        assert_eq!(fs::read(&other).expect("readable"), b"not ours");
        assert!(open_folder(&other).is_err() && open_folder(folder.path()).is_ok());
    }

    #[test]
    fn a_failed_write_says_where() {
        let error = write(Path::new("/nonexistent-folder/x"), b"").expect_err("no such folder");
        assert_eq!(error.exit_code(), 74);
        assert!(error.to_string().contains("/nonexistent-folder/x"), "{error}");
    }
}
