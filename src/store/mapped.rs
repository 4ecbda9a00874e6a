//! Scratch words in a file, mapped for reading and writing. One of the few files with `unsafe`.
//!
//! The file is created by us, preallocated before it is mapped (a sparse file mapped on a full disk ends in SIGBUS), used by this process only
//! under the lock of the run folder, and never grows or shrinks.
#![allow(unsafe_code)]

use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, Result, fault_point};
use memmap2::MmapMut;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// Zero words behind the last one, so that lanes can be read in windows of 16 bytes.
const PADDING_WORDS: u64 = 2;

/// 64-bit words backed by a file. Dereferences to a slice.
#[derive(Debug)]
pub struct MappedWords {
    map: MmapMut,
    words: usize,
}

impl MappedWords {
    /// Creates `path` (replacing a leftover of an earlier run), preallocates `words` zero words and maps them.
    ///
    /// # Errors
    /// `Io` when the file cannot be created, the disk has no room (exit 74, before anything was lost), or mapping fails.
    pub fn create(path: &Path, words: u64) -> Result<Self> {
        let attempt = || -> std::io::Result<MmapMut> {
            fault_point::pass("scratch-create")?;
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
            fault_point::pass("scratch-allocate")?;
            preallocate(&mut file, (words + PADDING_WORDS) * 8)?;
            // SAFETY: the file is ours alone (created above, in a run folder we hold the lock of), has the mapped length and keeps it.
            unsafe { MmapMut::map_mut(&file) }
        };
        let map = attempt().map_err(|source| {
            let _ = std::fs::remove_file(path);
            Error::io("allocate scratch file", path, source)
        })?;
        Ok(Self { map, words: to_usize(words) })
    }
}

impl MappedWords {
    /// The bytes of the words and 16 zero bytes behind them.
    #[must_use]
    pub fn padded_bytes(&self) -> &[u8] {
        &self.map[..]
    }
}

/// Reserves `bytes` on disk. File systems without fallocate get zeros written.
fn preallocate(file: &mut File, bytes: u64) -> std::io::Result<()> {
    match rustix::fs::fallocate(&*file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            let zeros = [0_u8; 65_536];
            let mut left = bytes;
            while left > 0 {
                let part = left.min(to_u64(zeros.len()));
                file.write_all(&zeros[..to_usize(part)])?;
                left -= part;
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

impl Deref for MappedWords {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &bytemuck::cast_slice(&self.map[..])[..self.words]
    }
}

impl DerefMut for MappedWords {
    fn deref_mut(&mut self) -> &mut [u64] {
        let words = self.words;
        &mut bytemuck::cast_slice_mut(&mut self.map[..])[..words]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_start_as_zeros_and_reach_the_file() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("a");
        let mut words = MappedWords::create(&path, 3).expect("room");
        assert_eq!(&words[..], &[0, 0, 0]);
        words[2] = u64::MAX;
        drop(words);
        let bytes = std::fs::read(&path).expect("readable");
        assert_eq!(bytes.len(), 40);
        assert_eq!(bytes[16..24], [255; 8]);
        // A leftover is replaced, not reused.
        assert_eq!(&MappedWords::create(&path, 2).expect("room")[..], &[0, 0]);
    }
}
