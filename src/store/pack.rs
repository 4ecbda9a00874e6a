//! Many entries in one file: few large files instead of one a shard, each written once and synced.

use super::format::{
    INDEX_KIND, PACK_HEADER_BYTES, PACK_MAGIC, PACK_TRAILER_BYTES, PACK_VERSION, pack_header, pack_trailer, parse_trailer,
};
use super::pack_entry::{Contents, PackEntry};
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, Result, codec, fault_point, regular_file};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Sets that [`PackWriter::add_all`] encodes at a time: bounds the memory it takes.
const SETS_AT_ONCE: usize = 128;

/// Writes a pack file. Nothing may name the file before [`PackWriter::finish`] has returned.
#[derive(Debug)]
pub struct PackWriter {
    path: PathBuf,
    file: File,
    offset: u64,
    entries: Vec<PackEntry>,
}

impl PackWriter {
    /// Creates `path`, which must not exist.
    ///
    /// # Errors
    /// `Io` when it exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        let attempt = || {
            fault_point::pass("pack-create")?;
            let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
            file.write_all(&pack_header())?;
            Ok(file)
        };
        let file = attempt().map_err(|source| Error::io("create", path, source))?;
        Ok(Self { path: path.to_path_buf(), file, offset: PACK_HEADER_BYTES, entries: Vec::new() })
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// `Io` when writing fails; the file is then useless and stays unnamed.
    pub fn add(&mut self, mut entry: PackEntry, stored: &[u8]) -> Result<()> {
        fault_point::pass("pack-write")
            .and_then(|()| self.file.write_all(stored))
            .map_err(|source| Error::io("write", &self.path, source))?;
        entry.offset = self.offset;
        self.offset += entry.stored_bytes;
        self.entries.push(entry);
        Ok(())
    }

    /// Encodes sets on the threads of `pool` and appends them in their order, [`SETS_AT_ONCE`] at a
    /// time.
    ///
    /// # Errors
    /// What `encode` returns; as [`PackWriter::add`].
    pub fn add_all<T: Sync>(
        &mut self,
        pool: &ThreadPool,
        sets: &[T],
        encode: impl Fn(&T) -> Result<(PackEntry, Vec<u8>)> + Sync,
    ) -> Result<()> {
        for part in sets.chunks(SETS_AT_ONCE) {
            let encoded: Vec<(PackEntry, Vec<u8>)> = pool.install(|| part.par_iter().map(&encode).collect::<Result<_>>())?;
            for (entry, stored) in encoded {
                self.add(entry, &stored)?;
            }
        }
        Ok(())
    }

    /// Writes the index and syncs the file; returns the entries and the file's length in bytes.
    ///
    /// # Errors
    /// `Io` when writing or syncing fails (never retried).
    pub fn finish(mut self) -> Result<(Vec<PackEntry>, u64)> {
        let index = codec::encode(INDEX_KIND, &self.entries)?;
        let length = to_u64(index.len());
        let attempt = |file: &mut File| {
            file.write_all(&index)?;
            file.write_all(&pack_trailer(self.offset, length))?;
            fault_point::pass("pack-sync")?;
            file.sync_all()
        };
        attempt(&mut self.file).map_err(|source| Error::io("write", &self.path, source))?;
        Ok((self.entries, self.offset + length + PACK_TRAILER_BYTES))
    }
}

/// Reads entries of a pack file with plain reads, never mapped: a file that changes underneath gives
/// an error, not a signal.
#[derive(Debug)]
pub struct PackReader {
    path: PathBuf,
    file: File,
    index_offset: u64,
}

impl PackReader {
    /// Opens `path` and checks its header and trailer.
    ///
    /// # Errors
    /// `Io` when it cannot be read, `BadData` when it is no complete pack file of this version.
    pub fn open(path: &Path) -> Result<Self> {
        let file = regular_file::open(path)?;
        let length = file.metadata().map_err(|source| Error::io("open", path, source))?.len();
        let damaged = |found: String, expected: String| {
            Error::bad_data(path, found, expected, "the file is damaged or truncated; an older checkpoint or another copy is needed")
        };
        if length < PACK_HEADER_BYTES + PACK_TRAILER_BYTES {
            return Err(damaged(format!("{length} bytes"), "a pack file".into()));
        }
        let mut header = [0; 32];
        let mut trailer = [0; 24];
        file.read_exact_at(&mut header, 0)
            .and_then(|()| file.read_exact_at(&mut trailer, length - PACK_TRAILER_BYTES))
            .map_err(|source| Error::io("read", path, source))?;
        if header[..12] != PACK_MAGIC {
            return Err(damaged("another kind of file".into(), "a pack file".into()));
        }
        let version = u16::from_le_bytes([header[12], header[13]]);
        if version != PACK_VERSION {
            return Err(damaged(format!("pack version {version}"), format!("version {PACK_VERSION}")));
        }
        if header != pack_header() {
            return Err(damaged("a damaged header".into(), "zeros behind the version".into()));
        }
        match parse_trailer(&trailer) {
            Some((offset, index_length))
                if offset >= PACK_HEADER_BYTES && offset.checked_add(index_length) == Some(length - PACK_TRAILER_BYTES) =>
            {
                Ok(Self { path: path.to_path_buf(), file, index_offset: offset })
            }
            _ => Err(damaged(format!("{length} bytes without an index at their end"), "a complete pack file".into())),
        }
    }

    /// The file's index.
    ///
    /// # Errors
    /// `BadData` when it is damaged.
    pub fn entries(&self) -> Result<Vec<PackEntry>> {
        let length = self.file.metadata().map_err(|source| Error::io("open", &self.path, source))?.len();
        let index_length = length.saturating_sub(PACK_TRAILER_BYTES + self.index_offset);
        if index_length > codec::MOST_ENVELOPE_BYTES {
            return Err(Error::bad_data(
                &self.path,
                format!("an index of {index_length} bytes"),
                format!("at most {}", codec::MOST_ENVELOPE_BYTES),
                "the file is damaged; an older checkpoint or another copy is needed",
            ));
        }
        let bytes = self.read(self.index_offset, index_length)?;
        codec::decode(INDEX_KIND, &bytes, &self.path)
    }

    /// Reads and checks the entry of `entry`, for a shard of `length` offsets.
    ///
    /// # Errors
    /// `Io` when reading fails, `BadData` when the entry is not what the entry says.
    pub fn read_set(&self, entry: &PackEntry, length: u64) -> Result<Contents<'static>> {
        entry.decode(self.stored(entry, length)?, length, &self.path)
    }

    /// The stored bytes of `entry`, for a shard of `length` offsets, unchecked: for a process that
    /// decodes them elsewhere.
    ///
    /// # Errors
    /// `Io` when reading fails, `BadData` when the entry lies outside the file, or is longer than
    /// any of such a shard.
    pub fn stored(&self, entry: &PackEntry, length: u64) -> Result<Vec<u8>> {
        entry.check_size(length, &self.path)?;
        let end = entry.offset.checked_add(entry.stored_bytes);
        if entry.offset < PACK_HEADER_BYTES || end.is_none_or(|end| end > self.index_offset) {
            return Err(Error::bad_data(
                &self.path,
                format!("an entry of {} bytes at offset {}", entry.stored_bytes, entry.offset),
                format!("entries before offset {}", self.index_offset),
                "the file is damaged; an older checkpoint or another copy is needed",
            ));
        }
        self.read(entry.offset, entry.stored_bytes)
    }

    /// `length` bytes at `offset`; the caller has checked them against the file's length.
    fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; to_usize(length)];
        self.file.read_exact_at(&mut bytes, offset).map_err(|source| Error::io("read", &self.path, source))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ShardId;
    use crate::store::pack_entry::SetName;

    fn sample(path: &Path) -> Vec<PackEntry> {
        let mut writer = PackWriter::create(path).expect("new");
        for (shard, list) in [vec![1_u64, 5, 9], vec![], vec![77]].into_iter().enumerate() {
            let shard = ShardId(u32::try_from(shard).expect("small"));
            let count = to_u64(list.len());
            let contents = if list.is_empty() { Contents::Empty } else { Contents::Sparse(list.into()) };
            let (entry, stored) = PackEntry::encode(shard, SetName::Level, count, &contents);
            writer.add(entry, &stored).expect("room");
        }
        writer.finish().expect("room").0
    }

    #[test]
    fn blocks_come_back_and_the_index_is_the_writers() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("x.pack");
        let entries = sample(&path);
        let reader = PackReader::open(&path).expect("whole");
        assert_eq!(reader.entries().expect("whole"), entries);
        assert_eq!(reader.read_set(&entries[2], 100).expect("whole"), Contents::Sparse(vec![77].into()));
        assert!(PackWriter::create(&path).is_err(), "an existing pack is never written over");
    }

    /// Each check on its own: what a writer of another kind, or one that lies, could have left.
    #[test]
    fn every_check_of_a_pack_is_needed() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("x.pack");
        let entries = sample(&path);
        let bytes = std::fs::read(&path).expect("readable");
        let refused = |change: &dyn Fn(&mut Vec<u8>), part: &str| {
            let mut changed = bytes.clone();
            change(&mut changed);
            let broken = folder.path().join("broken.pack");
            std::fs::write(&broken, changed).expect("room");
            let error = PackReader::open(&broken).expect_err(part).to_string();
            assert!(error.contains(part), "{part}: {error}");
        };
        refused(&|bytes| bytes[0] ^= 1, "another kind of file");
        refused(&|bytes| bytes[12] ^= 1, "pack version");
        refused(&|bytes| bytes[20] ^= 1, "a damaged header");
        let trailer = |offset: u64| {
            move |bytes: &mut Vec<u8>| {
                let place = bytes.len() - to_usize(PACK_TRAILER_BYTES);
                let length = to_u64(place) - offset;
                bytes[place..].copy_from_slice(&pack_trailer(offset, length));
            }
        };
        refused(&trailer(PACK_HEADER_BYTES - 8), "without an index");
        let reader = PackReader::open(&path).expect("whole");
        let outside = |entry: PackEntry| {
            let error = reader.stored(&entry, 100).expect_err("outside").to_string();
            assert!(error.contains("entries before offset"), "{error}");
        };
        outside(PackEntry { offset: PACK_HEADER_BYTES - 1, ..entries[0].clone() });
        outside(PackEntry { offset: reader.index_offset - entries[0].stored_bytes + 1, ..entries[0].clone() });
        outside(PackEntry { offset: u64::MAX, ..entries[0].clone() });
    }

    #[test]
    fn every_flipped_byte_and_truncation_is_noticed() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("x.pack");
        let entries = sample(&path);
        let bytes = std::fs::read(&path).expect("readable");
        let broken = folder.path().join("broken.pack");
        let whole = |path: &Path| -> Result<()> {
            let reader = PackReader::open(path)?;
            assert_eq!(reader.entries()?, entries);
            entries.iter().try_for_each(|entry| reader.read_set(entry, 100).map(drop))
        };
        whole(&path).expect("whole");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            std::fs::write(&broken, &changed).expect("room");
            assert!(whole(&broken).is_err(), "byte {at}");
            std::fs::write(&broken, &bytes[..at]).expect("room");
            assert!(whole(&broken).is_err(), "cut to {at}");
        }
    }
}
