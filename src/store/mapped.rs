//! Scratch words in a file, mapped for reading and writing, or in memory (`arena.rs`). One of the
//! few files with `unsafe`.
//!
//! The file is created by us, preallocated before it is mapped (a sparse file mapped on a full disk
//! ends in SIGBUS), used by this process only under the lock of the run folder, and never grows or
//! shrinks.
#![allow(unsafe_code)]

use super::arena::{Arena, Slot};
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, Result, fault_point, regular_file};
use memmap2::{Mmap, MmapMut, MmapOptions};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use std::fmt;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Zero words after the last one, so that lanes can be read in windows of 16 bytes.
const PADDING_WORDS: u64 = 2;

/// Regions are multiples of this; larger pages are aligned by the mapping itself.
const PAGE_BYTES: u64 = 4_096;

/// Where a search keeps its sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In memory only: nothing is written to disk, and large pages are asked for.
    Memory,
    /// In a file, which other processes of the host can map, and from which the system can take
    /// memory back.
    File,
    /// What is seen in memory only; levels found by lanes are packed into files.
    Compact,
}

impl Storage {
    /// All of them, each taking no more memory than the one before.
    pub const ALL: [Self; 3] = [Self::Memory, Self::File, Self::Compact];

    /// The word of the configuration.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::File => "files",
            Self::Compact => "compact",
        }
    }

    /// The storage that a word stands for.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|storage| storage.name() == name)
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Where the sets of a process have their words, once they need any.
#[derive(Clone, Debug)]
pub enum Home {
    /// In the scratch file of this path, which is shared by the sets of all shards.
    File(PathBuf),
    /// In memory.
    Memory(Arc<Arena>),
}

/// Where the words of a set are: a region of the process's scratch file, or memory.
#[derive(Clone, Debug)]
pub struct Region {
    /// The file or the memory.
    pub home: Home,
    /// Number of the region in the file.
    pub number: u64,
    /// Words of each region.
    pub words: u64,
}

impl Region {
    /// Length of a region in the file: whole pages, as mappings start at pages.
    fn bytes(&self) -> u64 {
        region_bytes(self.words)
    }

    /// Gives the region's space back to the disk. A region that is not there is fine, and a disk
    /// that cannot is, too: the file is removed with the folder.
    pub fn release(&self) {
        // Words in memory go back with the last use of them.
        let Home::File(path) = &self.home else { return };
        if path.is_file()
            && let Ok(file) = regular_file::open_to_change(path)
        {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = rustix::fs::fallocate(&file, hole, self.number * self.bytes(), self.bytes());
        }
    }
}

/// Bytes of a region of `words` words, with its padding: whole pages.
#[must_use]
pub(super) fn region_bytes(words: u64) -> u64 {
    ((words + PADDING_WORDS) * 8).next_multiple_of(PAGE_BYTES)
}

/// 64-bit words in a region of a file or in memory. Dereferences to a slice.
#[derive(Debug)]
pub struct MappedWords {
    bytes: Bytes,
    words: usize,
}

#[derive(Debug)]
enum Bytes {
    File(MmapMut),
    Memory(Slot),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::File(map) => map,
            Self::Memory(slot) => slot,
        }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::File(map) => map,
            Self::Memory(slot) => slot,
        }
    }
}

impl MappedWords {
    /// Preallocates `region`, which must be new or released, so its words are zero, and maps it; or
    /// takes memory for it. The file is created when it is not there.
    ///
    /// # Errors
    /// `Io` when the file cannot be created, the disk has no room (exit 74, before anything was
    /// lost), or mapping fails.
    pub fn create(region: &Region) -> Result<Self> {
        let bytes = match &region.home {
            Home::Memory(arena) => {
                Bytes::Memory(arena.take().map_err(|source| Error::io("allocate memory for", Path::new("the sets of states"), source))?)
            }
            Home::File(path) => {
                let cannot = |source| Error::io("allocate scratch file", path, source);
                fault_point::pass("scratch-create").map_err(cannot)?;
                let mut file = regular_file::open_to_change(path)?;
                Bytes::File(Self::map_file(region, &mut file).map_err(cannot)?)
            }
        };
        Ok(Self { bytes, words: to_usize(region.words) })
    }

    fn map_file(region: &Region, file: &mut File) -> std::io::Result<MmapMut> {
        fault_point::pass("scratch-allocate")?;
        let (first, length) = (region.number * region.bytes(), region.bytes());
        preallocate(file, first, length)?;
        // SAFETY: the file is ours alone (in a run folder we hold the lock of), the mapped range is
        // in it, and it never gets shorter.
        unsafe { MmapOptions::new().offset(first).len(to_usize(length)).map_mut(&*file) }
    }
}

impl MappedWords {
    /// The bytes of the words and 16 zero bytes after them.
    #[must_use]
    pub fn padded_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A region that another process of this host maps for writing, mapped here for reading.
#[derive(Debug)]
pub struct MappedView {
    map: Mmap,
}

impl MappedView {
    /// Maps `region` of another process. The caller makes sure that the bytes are read only while
    /// nobody writes them: during a level by lanes, which no process closes before all have read.
    ///
    /// # Errors
    /// `Io` when the region is not there.
    pub fn open(region: &Region) -> Result<Self> {
        let Home::File(path) = &region.home else { return Err(Error::invariant("regions of other processes in memory", 1, 0)) };
        let file = regular_file::open(path)?;
        let attempt = || -> std::io::Result<Mmap> {
            let (first, length) = (region.number * region.bytes(), region.bytes());
            if file.metadata()?.len() < first + length {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            // SAFETY: the mapped range is in the file, which never gets shorter while the job holds
            // the run folder's lock; see above for writers.
            unsafe { MmapOptions::new().offset(first).len(to_usize(length)).map(&file) }
        };
        attempt().map(|map| Self { map }).map_err(|source| Error::io("read the shared scratch file", path, source))
    }

    /// The bytes of the words and at least 16 zero bytes after them.
    #[must_use]
    pub fn padded_bytes(&self) -> &[u8] {
        &self.map[..]
    }
}

/// Reserves `length` bytes at `first` on disk. File systems without fallocate get zeros written.
fn preallocate(file: &mut File, first: u64, length: u64) -> std::io::Result<()> {
    match rustix::fs::fallocate(&*file, FallocateFlags::empty(), first, length) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            let zeros = [0_u8; 65_536];
            file.seek(SeekFrom::Start(first))?;
            let mut left = length;
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
        &bytemuck::cast_slice(&self.bytes)[..self.words]
    }
}

impl DerefMut for MappedWords {
    fn deref_mut(&mut self) -> &mut [u64] {
        let words = self.words;
        &mut bytemuck::cast_slice_mut(&mut self.bytes)[..words]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_start_as_zeros_and_do_not_overlap() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let region = |number| Region { home: Home::File(folder.path().join("a")), number, words: 600 };
        let mut second = MappedWords::create(&region(1)).expect("room");
        let mut first = MappedWords::create(&region(0)).expect("room");
        assert!(first.iter().chain(second.iter()).all(|&word| word == 0));
        first.fill(1);
        second.fill(2);
        assert!(first.iter().all(|&word| word == 1) && second.iter().all(|&word| word == 2));
        assert_eq!(first.padded_bytes()[4_800..4_816], [0; 16]);
        drop(first);
        region(0).release();
        assert!(MappedWords::create(&region(0)).expect("room").iter().all(|&word| word == 0));
        assert!(second.iter().all(|&word| word == 2));
        let view = MappedView::open(&region(1)).expect("there");
        assert_eq!(view.padded_bytes()[..16], [2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        assert!(MappedView::open(&region(2)).is_err());
    }
}
