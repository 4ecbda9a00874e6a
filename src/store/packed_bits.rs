//! A level kept compressed in a file: chunks of a bitset, each as the gaps between its members (`gap_code.rs`), appended by many threads and read back one by one.
//!
//! For searches whose three bitsets do not fit the memory: only what is seen stays in memory as bits. A level with an eighth of all states takes 0.57 of its bits. The file belongs to one
//! level of one process and is removed with the last set that is in it. A chunk that cannot be read back counts as empty: the counts of states then differ from the chunk's own, and the
//! guards end the search.

use super::bitset;
use super::chunked_bits::{CHUNK_OFFSETS, CHUNK_WORDS};
use super::gap_code;
use crate::base::ids::{low_u32, to_u64, to_usize};
use crate::base::mix::{Fingerprint, LANE_STATES};
use crate::base::{Error, Result, fault_point};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The file of one level. Dropping it removes the file.
#[derive(Debug)]
pub struct LevelFile {
    file: File,
    path: PathBuf,
    end: AtomicU64,
}

impl LevelFile {
    /// Creates the file, empty.
    ///
    /// # Errors
    /// `Io` when it cannot be created.
    pub fn create(path: &Path) -> Result<Arc<Self>> {
        let file = fault_point::pass("scratch-create")
            .and_then(|()| OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path))
            .map_err(|source| Error::io("create scratch file", path, source))?;
        Ok(Arc::new(Self { file, path: path.to_owned(), end: AtomicU64::new(0) }))
    }

    /// Compresses the bytes of a chunk (at most [`CHUNK_WORDS`] words) and appends them. Any thread may.
    ///
    /// # Errors
    /// `Io` when the disk has no room or fails.
    pub fn pack(&self, bytes: &[u8]) -> Result<Chunk> {
        let count = count_bits(bytes);
        if count == 0 {
            return Ok(Chunk::EMPTY);
        }
        let stored = gap_code::encode(bytes, count);
        let first = self.end.fetch_add(to_u64(stored.len()), Ordering::Relaxed);
        fault_point::pass("scratch-allocate")
            .and_then(|()| self.file.write_all_at(&stored, first))
            .map_err(|source| Error::io("write scratch file", &self.path, source))?;
        Ok(Chunk { first, bytes: low_u32(to_u64(stored.len())), count })
    }
}

impl Drop for LevelFile {
    fn drop(&mut self) {
        // The folder is emptied when the next run starts, too.
        let _ = fs::remove_file(&self.path);
    }
}

/// Where a chunk is, and how many members it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    first: u64,
    bytes: u32,
    count: u32,
}

impl Chunk {
    /// Without members, and without bytes.
    pub const EMPTY: Self = Self { first: 0, bytes: 0, count: 0 };

    /// Number of members.
    #[must_use]
    pub fn count(self) -> u32 {
        self.count
    }
}

/// The bitset of offsets `0..length`, chunk by chunk.
#[derive(Clone, Debug)]
pub struct PackedBits {
    file: Arc<LevelFile>,
    chunks: Vec<Chunk>,
    length: u64,
}

impl PackedBits {
    /// The set whose chunks are in `file`, one for each [`CHUNK_WORDS`] words.
    #[must_use]
    pub fn new(file: Arc<LevelFile>, chunks: Vec<Chunk>, length: u64) -> Self {
        debug_assert_eq!(chunks.len(), chunks_of(length));
        Self { file, chunks, length }
    }

    /// Packs the words of a whole set.
    ///
    /// # Errors
    /// As [`LevelFile::pack`].
    pub fn of_words(file: &Arc<LevelFile>, words: &[u64], length: u64) -> Result<Self> {
        let chunks = words.chunks(CHUNK_WORDS).map(|chunk| file.pack(bytemuck::cast_slice(chunk))).collect::<Result<_>>()?;
        Ok(Self::new(Arc::clone(file), chunks, length))
    }

    /// Number of members, by the chunks' own counts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.count)).sum()
    }

    /// The chunks with members: number, count and words.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u32, Vec<u64>)> + '_ {
        self.chunks.iter().enumerate().filter(|(_, chunk)| chunk.count > 0).map(|(number, chunk)| (number, chunk.count, self.words(number)))
    }

    /// The words of a chunk, from the file.
    fn words(&self, number: usize) -> Vec<u64> {
        let chunk = self.chunks[number];
        let all = to_usize(bitset::words_for(self.length));
        let length = CHUNK_WORDS.min(all - number * CHUNK_WORDS);
        let mut words = vec![0_u64; length];
        if chunk.count == 0 {
            return words;
        }
        let mut stored = vec![0; to_usize(u64::from(chunk.bytes))];
        if self.file.file.read_exact_at(&mut stored, chunk.first).is_err() {
            return words;
        }
        gap_code::decode(&stored, &mut words);
        words
    }

    /// Whether `offset` is a member. Cost: a chunk is read and decoded, about 10 microseconds.
    #[must_use]
    pub fn contains(&self, offset: u64) -> bool {
        let number = to_usize(offset / CHUNK_OFFSETS);
        self.chunks[number].count > 0 && bitset::contains(&self.words(number), offset % CHUNK_OFFSETS)
    }

    /// Counts the members from the data.
    #[must_use]
    pub fn recount(&self) -> u64 {
        self.filled().map(|(_, _, words)| bitset::count(&words)).sum()
    }

    /// As `RankSet::list_from`.
    pub fn list_from(&self, cursor: u64, enough: usize, base: u64, out: &mut Vec<u64>) -> Option<u64> {
        let mut number = to_usize(cursor / CHUNK_OFFSETS);
        let mut first_word = to_usize(cursor % CHUNK_OFFSETS / 64);
        while number < self.chunks.len() {
            if self.chunks[number].count > 0 {
                let words = self.words(number);
                for (at, &word) in words.iter().enumerate().skip(first_word) {
                    let offset = to_u64(number) * CHUNK_OFFSETS + to_u64(at) * 64;
                    if out.len() >= enough {
                        return Some(offset);
                    }
                    let mut left = word;
                    while left != 0 {
                        out.push(base + offset + u64::from(left.trailing_zeros()));
                        left &= left - 1;
                    }
                }
            }
            first_word = 0;
            number += 1;
        }
        None
    }

    /// The words of the whole set.
    #[must_use]
    pub fn all_words(&self) -> Vec<u64> {
        (0..self.chunks.len()).flat_map(|number| self.words(number)).collect()
    }

    /// Fingerprint of the members, for a set whose lane 0 has the number `first_lane` in the whole space.
    #[must_use]
    pub fn fingerprint(&self, first_lane: u64) -> Fingerprint {
        let lanes_per_chunk = CHUNK_OFFSETS / LANE_STATES;
        self.filled().fold(Fingerprint::default(), |total, (number, _, words)| {
            let lanes = (to_u64(words.len()) * 64).div_ceil(LANE_STATES);
            total.plus(bitset::fingerprint(&words, 0..lanes, first_lane + to_u64(number) * lanes_per_chunk))
        })
    }

    /// Forgets the first members, for the tests of the guards.
    pub fn damage(&mut self) {
        if let Some(chunk) = self.chunks.iter_mut().find(|chunk| chunk.count > 0) {
            *chunk = Chunk::EMPTY;
        }
    }
}

/// Chunks of a set of offsets below `length`.
#[must_use]
pub fn chunks_of(length: u64) -> usize {
    to_usize(length.div_ceil(CHUNK_OFFSETS))
}

/// Number of bits that are set.
fn count_bits(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let in_words: u32 = words.iter().map(|&word| u64::from_ne_bytes(word).count_ones()).sum();
    in_words + rest.iter().map(|byte| byte.count_ones()).sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::mix::{self, mix64};

    /// Four chunks, the last of them short.
    const LENGTH: u64 = 3 * CHUNK_OFFSETS + 1_200;

    #[test]
    fn the_members_come_back() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("level");
        // Every second offset is too dense to compress, one in 20 compresses, none takes no bytes.
        for density in [0, 1 << 63, u64::MAX / 20] {
            let file = LevelFile::create(&path).expect("room");
            let members: Vec<u64> = (0..LENGTH).filter(|&offset| mix64(offset) < density && !(61_440..122_880).contains(&offset)).collect();
            let mut words = vec![0; to_usize(bitset::words_for(LENGTH))];
            for &offset in &members {
                bitset::insert(&mut words, offset);
            }
            let packed = PackedBits::of_words(&file, &words, LENGTH).expect("room");
            drop(file);
            assert_eq!((packed.count(), packed.recount()), (to_u64(members.len()), to_u64(members.len())));
            assert_eq!(packed.all_words(), words);
            assert_eq!(packed.fingerprint(7), mix::of_sorted_ranks(members.iter().map(|offset| offset + 840)));
            assert!((0..LENGTH).step_by(997).all(|offset| packed.contains(offset) == bitset::contains(&words, offset)));
            for enough in [100, 40_000, usize::MAX] {
                let (mut all, mut cursor) = (Vec::new(), Some(0));
                while let Some(from) = cursor {
                    let mut part = Vec::new();
                    cursor = packed.list_from(from, enough, 0, &mut part);
                    assert!(part.len() < enough.saturating_add(64));
                    all.extend(part);
                }
                assert_eq!(all, members);
            }
            let stored: u32 = packed.chunks.iter().map(|chunk| chunk.bytes).sum();
            assert!(density != u64::MAX / 20 || stored < 7_000, "{stored} bytes for 1/20 of two chunks");
            drop(packed);
            assert!(!path.exists(), "the file goes with the last set");
        }
    }

    #[test]
    fn what_cannot_be_read_back_is_missed() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = LevelFile::create(&folder.path().join("level")).expect("room");
        let packed = PackedBits::of_words(&file, &vec![0x0100; to_usize(bitset::words_for(LENGTH))], LENGTH).expect("room");
        file.file.set_len(10).expect("shorter");
        assert!(packed.recount() < packed.count());
    }
}
