//! Reading files that others may have put there: regular files only, and never more bytes than
//! expected.
//!
//! A run folder comes from anywhere. A pipe in the place of a file would block its reader for ever,
//! a device would never end. So a file is opened without waiting, looked at through the open handle
//! (what it is cannot change in between), and read up to a limit.

use super::error::{Error, Result};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Most bytes of a small text file of a run folder: a manifest of 1,000 levels has a tenth of it.
pub const MOST_TEXT_BYTES: u64 = 64 << 20;

/// Most bytes of a note of a few lines: who holds a lock, which host has something.
pub const MOST_NOTE_BYTES: u64 = 64 << 10;

/// What was found under a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A pipe, a socket or a device.
    Other,
}

/// Opens whatever is there for reading, without waiting for anybody, and says what it is. Symbolic
/// links are followed.
///
/// # Errors
/// As the system's.
pub fn look(path: &Path) -> io::Result<(What, File)> {
    look_with(path, OpenOptions::new().read(true))
}

fn look_with(path: &Path, options: &mut OpenOptions) -> io::Result<(What, File)> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.custom_flags(i32::try_from(flags.bits()).expect("flags of open")).open(path)?;
    let facts = file.metadata()?;
    let what = match (facts.is_file(), facts.is_dir()) {
        (true, _) => What::File,
        (_, true) => What::Folder,
        _ => What::Other,
    };
    Ok((what, file))
}

fn only_file(action: &'static str, path: &Path, looked: io::Result<(What, File)>) -> Result<File> {
    let found = match looked {
        Ok((What::File, file)) => return Ok(file),
        Ok((What::Folder, _)) => "a folder",
        Ok((What::Other, _)) => OTHER,
        Err(source) => match source.raw_os_error().map(Errno::from_raw_os_error) {
            // Opened for writing: a folder, a pipe that nobody reads or a socket, a device that is
            // not there.
            Some(Errno::ISDIR) => "a folder",
            Some(Errno::NXIO | Errno::NODEV) => OTHER,
            _ => return Err(Error::io(action, path, source)),
        },
    };
    Err(Error::bad_data(path, found, "a regular file", "put the file there, or name another folder"))
}

/// What is neither a file nor a folder.
const OTHER: &str = "a pipe, socket or device";

/// Opens a regular file for reading. Symbolic links are followed; a folder, pipe, socket or device
/// is refused at once.
///
/// # Errors
/// `Io` when it cannot be opened, `BadData` when it is no regular file.
pub fn open(path: &Path) -> Result<File> {
    only_file("read", path, look(path))
}

/// Opens a regular file for reading and writing, as it is; creates it, empty, when nothing is
/// there.
///
/// # Errors
/// As [`open`].
pub fn open_to_change(path: &Path) -> Result<File> {
    only_file("open", path, look_with(path, OpenOptions::new().read(true).write(true).create(true).truncate(false)))
}

/// Opens a regular file for writing after its end; creates it when nothing is there.
///
/// # Errors
/// As [`open`].
pub fn open_to_append(path: &Path) -> Result<File> {
    only_file("open", path, look_with(path, OpenOptions::new().append(true).create(true)))
}

/// The bytes of a regular file that has at most `most` of them.
///
/// # Errors
/// As [`open`]; `BadData` when it is longer.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    read_open(open(path)?, path, most)
}

/// The same of a file that is open already, from where it stands; `path` is for messages.
///
/// # Errors
/// As [`read`].
pub fn read_open(file: File, path: &Path, most: u64) -> Result<Vec<u8>> {
    let cannot = |source| Error::io("read", path, source);
    let too_long = || Error::bad_data(path, format!("more than {most} bytes"), "a shorter file", "restore it, or name another folder");
    // Some systems give files of unknown length the length 0, and a file may grow.
    if file.metadata().map_err(cannot)?.len() > most {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(cannot)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) { Ok(bytes) } else { Err(too_long()) }
}

/// The bytes of a regular file, or none when nothing is there.
///
/// # Errors
/// As [`read`], but for a file that is not there.
pub fn read_if_there(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    match read(path, most) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
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
        for open in [open_to_change, open_to_append] {
            for (path, found) in [(pipe.as_path(), "a pipe"), (folder.path(), "a folder")] {
                let error = open(path).expect_err("no file");
                assert!(error.exit_code() == 65 && error.to_string().contains(found), "{error}");
            }
        }
        assert_eq!(read_if_there(&pipe, 100).expect_err("no file").exit_code(), 65);
        assert_eq!(read_if_there(&folder.path().join("none"), 100).expect("nothing there"), None);
        assert_eq!(open(&folder.path().join("none")).expect_err("missing").exit_code(), 74);
    }

    #[test]
    fn the_limit_is_exact_and_text_is_utf_8() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("file");
        std::fs::write(&path, b"abc\xff").expect("written");
        assert_eq!(read(&path, 4).expect("as long as may be"), b"abc\xff");
        assert!(read(&path, 3).expect_err("longer").to_string().contains("more than 3 bytes"));
        File::options().write(true).open(&path).and_then(|file| file.set_len(1 << 40)).expect("sparse");
        assert!(read(&path, 1 << 39).expect_err("not read at all").to_string().contains("more than 549755813888 bytes"));
        std::fs::write(&path, b"abc\xff").expect("written");
        assert!(read_text(&path, 9).expect_err("no text").to_string().contains("UTF-8"));
    }
}
