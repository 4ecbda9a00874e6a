//! Reading files that others may have put there: regular files only, and never more bytes than expected.
//!
//! A run folder comes from anywhere. A pipe in the place of a file would block its reader for ever, a device would never end. So a file is opened without
//! waiting, looked at through the open handle (what it is cannot change in between), and read up to a limit.

use super::error::{Error, Result};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Most bytes of a small text file of a run folder: a manifest of 1,000 levels has a tenth of it.
pub const MOST_TEXT_BYTES: u64 = 64 << 20;

/// Opens a regular file for reading. Symbolic links are followed; a folder, pipe, socket or device is refused at once.
///
/// # Errors
/// `Io` when it cannot be opened, `BadData` when it is no regular file.
pub fn open(path: &Path) -> Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of open");
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|source| Error::io("read", path, source))?;
    let facts = file.metadata().map_err(|source| Error::io("read", path, source))?;
    if facts.is_file() {
        return Ok(file);
    }
    let found = if facts.is_dir() { "a folder" } else { "a pipe, socket or device" };
    Err(Error::bad_data(path, found, "a regular file", "put the file there, or name another folder"))
}

/// The bytes of a regular file that has at most `most` of them.
///
/// # Errors
/// As [`open`]; `BadData` when it is longer.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|source| Error::io("read", path, source))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        return Ok(bytes);
    }
    Err(Error::bad_data(path, format!("more than {most} bytes"), "a shorter file", "restore it, or name another folder"))
}

/// The text of a regular file that has at most `most` bytes.
///
/// # Errors
/// As [`read`]; `BadData` when it is no UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|_| Error::bad_data(path, "bytes that are no UTF-8", "text", "restore it, or name another folder"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::symlink;

    #[test]
    fn pipes_devices_and_endless_files_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        symlink("/dev/zero", &link).expect("a link");
        for (path, found) in [(pipe.as_path(), "a pipe"), (&link, "a pipe"), (folder.path(), "a folder")] {
            let error = read(path, 100).expect_err("no file");
            assert!(error.exit_code() == 65 && error.to_string().contains(found), "{error}");
        }
        assert_eq!(open(&folder.path().join("none")).expect_err("missing").exit_code(), 74);
    }

    #[test]
    fn the_limit_is_exact_and_text_is_utf_8() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"abc\xff").expect("written");
        assert_eq!(read(&path, 4).expect("as long as may be"), b"abc\xff");
        assert!(read(&path, 3).expect_err("longer").to_string().contains("more than 3 bytes"));
        assert!(read_text(&path, 9).expect_err("no text").to_string().contains("UTF-8"));
    }
}
