//! A level kept compressed in a file: chunks of a bitset, coded (`chunk_code.rs`), appended by many
//! threads and read back one by one.
//!
//! For searches whose three bitsets do not fit the memory: only what is seen stays in memory as
//! bits. A level with an eighth of all states takes 0.66 of its bits. The file belongs to one level
//! of one process and is removed with the last set that is in it. A chunk that cannot be read back
//! counts as empty: the counts of states then differ from the chunk's own, and the guards end the
//! search.

use super::bitset;
use super::chunk_code;
use super::format::CHUNK_WORDS;
use crate::base::fingerprint::{Fingerprint, LANE_STATES};
use crate::base::ids::{low_u32, to_u64, to_usize};
use crate::base::{Error, Result, fault_point};
use std::fs::{self, File, OpenOptions};
use std::ops::Range;
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

    /// Compresses the bytes of a chunk (at most [`CHUNK_WORDS`] words) and appends them. Any thread
    /// may.
    ///
    /// # Errors
    /// `Io` when the disk has no room or fails.
    pub fn pack(&self, bytes: &[u8]) -> Result<Chunk> {
        let count = count_bits(bytes);
        if count == 0 {
            return Ok(Chunk::EMPTY);
        }
        let stored = chunk_code::encode(bytes, count);
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

/// How a set is cut: into parts of equal length, as lanes are pulled, and each part into chunks of
/// [`CHUNK_WORDS`] words, the last of them shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Words of the whole set.
    words: usize,
    /// Words of a part.
    part_words: usize,
}

impl Cut {
    /// The cut of a set of `length` offsets into parts of `part_length`; `None` when the parts are
    /// no whole words.
    #[must_use]
    pub fn new(length: u64, part_length: u64) -> Option<Self> {
        let whole = part_length > 0 && (part_length.is_multiple_of(64) || part_length == length) && length.is_multiple_of(part_length);
        whole.then(|| Self { words: to_usize(bitset::words_for(length)), part_words: to_usize(bitset::words_for(part_length)) })
    }

    /// Number of chunks.
    #[must_use]
    pub fn chunks(self) -> usize {
        self.words / self.part_words * self.chunks_per_part()
    }

    /// Number of the chunk that begins with word `word` of part `part`.
    #[must_use]
    pub fn chunk(self, part: usize, word: usize) -> usize {
        part * self.chunks_per_part() + word / CHUNK_WORDS
    }

    fn chunks_per_part(self) -> usize {
        self.part_words.div_ceil(CHUNK_WORDS)
    }

    /// The words of a chunk.
    fn range(self, chunk: usize) -> Range<usize> {
        let (part, within) = (chunk / self.chunks_per_part(), chunk % self.chunks_per_part());
        let first = part * self.part_words + within * CHUNK_WORDS;
        first..(first + CHUNK_WORDS).min((part + 1) * self.part_words)
    }

    /// The chunk that holds a word.
    fn chunk_of(self, word: usize) -> usize {
        self.chunk(word / self.part_words, word % self.part_words)
    }
}

/// A bitset, chunk by chunk.
#[derive(Clone, Debug)]
pub struct PackedBits {
    file: Arc<LevelFile>,
    chunks: Vec<Chunk>,
    cut: Cut,
}

impl PackedBits {
    /// The set whose chunks are in `file`.
    #[must_use]
    pub fn new(file: Arc<LevelFile>, chunks: Vec<Chunk>, cut: Cut) -> Self {
        debug_assert_eq!(chunks.len(), cut.chunks());
        Self { file, chunks, cut }
    }

    /// Packs the words of a whole set.
    ///
    /// # Errors
    /// As [`LevelFile::pack`].
    pub fn of_words(file: &Arc<LevelFile>, words: &[u64]) -> Result<Self> {
        let cut = Cut { words: words.len(), part_words: words.len() };
        let chunks = words.chunks(CHUNK_WORDS).map(|chunk| file.pack(bytemuck::cast_slice(chunk))).collect::<Result<_>>()?;
        Ok(Self::new(Arc::clone(file), chunks, cut))
    }

    /// Number of members, by the chunks' own counts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.count)).sum()
    }

    /// The chunks with members: the place of their first word, count and words.
    pub fn filled(&self) -> impl Iterator<Item = (usize, u32, Vec<u64>)> + '_ {
        let filled = self.chunks.iter().enumerate().filter(|(_, chunk)| chunk.count > 0);
        filled.map(|(number, chunk)| (self.cut.range(number).start, chunk.count, self.words(number)))
    }

    /// The words of a chunk, from the file.
    fn words(&self, number: usize) -> Vec<u64> {
        let chunk = self.chunks[number];
        let mut words = vec![0_u64; self.cut.range(number).len()];
        if chunk.count == 0 {
            return words;
        }
        let mut stored = vec![0; to_usize(u64::from(chunk.bytes))];
        if self.file.file.read_exact_at(&mut stored, chunk.first).is_err() {
            return words;
        }
        chunk_code::decode(&stored, &mut words);
        words
    }

    /// Whether `offset` is a member. Cost: a chunk is read and decoded, about 10 microseconds.
    #[must_use]
    pub fn contains(&self, offset: u64) -> bool {
        let number = self.cut.chunk_of(to_usize(offset / 64));
        let first = to_u64(self.cut.range(number).start) * 64;
        self.chunks[number].count > 0 && bitset::contains(&self.words(number), offset - first)
    }

    /// Counts the members from the data.
    #[must_use]
    pub fn recount(&self) -> u64 {
        self.filled().map(|(_, _, words)| bitset::count(&words)).sum()
    }

    /// As `RankSet::list_from`.
    pub fn list_from(&self, cursor: u64, enough: usize, base: u64, out: &mut Vec<u64>) -> Option<u64> {
        let mut word = to_usize(cursor / 64);
        while word < self.cut.words {
            let number = self.cut.chunk_of(word);
            let range = self.cut.range(number);
            if self.chunks[number].count > 0 {
                for (at, bits) in range.clone().zip(self.words(number)).skip(word - range.start) {
                    let offset = to_u64(at) * 64;
                    if out.len() >= enough {
                        return Some(offset);
                    }
                    bitset::push_members(bits, base + offset, out);
                }
            }
            word = range.end;
        }
        None
    }

    /// The words of the whole set.
    #[must_use]
    pub fn all_words(&self) -> Vec<u64> {
        (0..self.chunks.len()).flat_map(|number| self.words(number)).collect()
    }

    /// Fingerprint of the members, for a set whose lane 0 has the number `first_lane` in the whole
    /// space.
    #[must_use]
    pub fn fingerprint(&self, first_lane: u64) -> Fingerprint {
        // Parts and chunks are whole lanes, but for words at the end that hold no member.
        self.filled().fold(Fingerprint::default(), |total, (first, _, words)| {
            let lanes = (to_u64(words.len()) * 64).div_ceil(LANE_STATES);
            total.plus(bitset::fingerprint(&words, 0..lanes, first_lane + to_u64(first) * 64 / LANE_STATES))
        })
    }

    /// Forgets the first members, for the tests of the guards.
    pub fn damage(&mut self) {
        if let Some(chunk) = self.chunks.iter_mut().find(|chunk| chunk.count > 0) {
            *chunk = Chunk::EMPTY;
        }
    }
}

/// Number of bits that are set.
fn count_bits(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let in_words: u32 = words.iter().map(|&word| u64::from_ne_bytes(word).count_ones()).sum();
    in_words + rest.iter().map(|byte| byte.count_ones()).sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::super::chunked_bits::{CHUNK_OFFSETS, ChunkedBits};
    use super::super::mapped::{Home, MappedWords, Region};
    use super::*;
    use crate::base::fingerprint::{self, mix64};

    /// Four chunks, the last of them short.
    const LENGTH: u64 = 3 * CHUNK_OFFSETS + 1_200;

    #[test]
    fn the_members_come_back() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("level");
        // Every second offset is too dense to compress, one in 20 compresses, none takes no bytes.
        for density in [0, 1 << 63, u64::MAX / 20, u64::MAX] {
            let file = LevelFile::create(&path).expect("room");
            let members: Vec<u64> = (0..LENGTH).filter(|&offset| mix64(offset) < density && !(61_440..122_880).contains(&offset)).collect();
            let mut words = vec![0; to_usize(bitset::words_for(LENGTH))];
            for &offset in &members {
                bitset::insert(&mut words, offset);
            }
            let packed = PackedBits::of_words(&file, &words).expect("room");
            drop(file);
            assert_eq!((packed.count(), packed.recount()), (to_u64(members.len()), to_u64(members.len())));
            assert_eq!(packed.all_words(), words);
            assert_eq!(packed.fingerprint(7), fingerprint::of_sorted_ranks(members.iter().map(|offset| offset + 840)));
            assert!((0..LENGTH).step_by(997).all(|offset| packed.contains(offset) == bitset::contains(&words, offset)));
            for enough in [64, 100, 40_000, usize::MAX] {
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

    /// Parts of a chunk and a half, whose chunks lie across those of the whole set.
    #[test]
    fn parts_have_chunks_of_their_own() {
        const PART: u64 = CHUNK_OFFSETS / 2 * 3;
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = LevelFile::create(&folder.path().join("level")).expect("room");
        let cut = Cut::new(3 * PART, PART).expect("whole words");
        assert_eq!(cut.chunks(), 6);
        let mut words = vec![0; to_usize(3 * PART / 64)];
        let members: Vec<u64> = (0..3 * PART).filter(|&offset| mix64(offset).is_multiple_of(30)).collect();
        for &offset in &members {
            bitset::insert(&mut words, offset);
        }
        let mut chunks = vec![Chunk::EMPTY; 6];
        for (part, words) in words.chunks(to_usize(PART / 64)).enumerate() {
            for (number, words) in words.chunks(CHUNK_WORDS).enumerate() {
                chunks[cut.chunk(part, number * CHUNK_WORDS)] = file.pack(bytemuck::cast_slice(words)).expect("room");
            }
        }
        let packed = PackedBits::new(file, chunks, cut);
        assert_eq!(packed.all_words(), words);
        assert_eq!(packed.fingerprint(2), fingerprint::of_sorted_ranks(members.iter().map(|offset| offset + 240)));
        assert!((0..3 * PART).step_by(101).all(|offset| packed.contains(offset) == bitset::contains(&words, offset)));
        let mut listed = Vec::new();
        assert_eq!(packed.list_from(0, usize::MAX, 0, &mut listed), None);
        assert_eq!(listed, members);
        let mut listed = Vec::new();
        let from = packed.list_from(PART - 640, 5, 0, &mut listed).expect("more");
        assert!(listed.iter().all(|&offset| (PART - 640..from).contains(&offset)));
        assert!(Cut::new(PART * 2, PART + 1).is_none() && Cut::new(1_200, 400).is_none());
        assert_eq!(Cut::new(1_000, 1_000).map(Cut::chunks), Some(1));
    }

    #[test]
    fn what_cannot_be_read_back_is_missed() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = LevelFile::create(&folder.path().join("level")).expect("room");
        let packed = PackedBits::of_words(&file, &vec![0x0100; to_usize(bitset::words_for(LENGTH))]).expect("room");
        file.file.set_len(10).expect("shorter");
        assert!(packed.recount() < packed.count());
        let region = Region { home: Home::File(folder.path().join("bits")), number: 0, words: bitset::words_for(LENGTH) };
        let mut seen = ChunkedBits::empty(MappedWords::create(&region).expect("room"), LENGTH);
        let error = seen.absorb_packed(&packed).expect_err("states are missing");
        assert!(error.to_string().contains("read back from a packed chunk"), "{error}");
    }
}
