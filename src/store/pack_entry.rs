//! One set of one shard as stored bytes: encoded, compressed where that pays, checksummed.

use crate::base::bytes::{leb128_numbers, push_leb128};
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, Result, ShardId, codec};
use crate::store::bitset;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

/// zstd level: 1 compresses a bitset of density 1/16 to 40 %; higher levels are several times
/// slower and no smaller.
const ZSTD_LEVEL: i32 = 1;

/// What a set holds, owned or borrowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents<'a> {
    /// No member.
    Empty,
    /// Every offset.
    Full,
    /// The members, ascending.
    Sparse(Cow<'a, [u64]>),
    /// The bitset's words.
    Words(Cow<'a, [u64]>),
}

/// Which set of the shard an entry holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SetName {
    /// All states up to the level.
    Seen,
    /// The states of the level.
    Level,
}

/// How the stored bytes are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// No bytes: the set is empty.
    Empty,
    /// No bytes: the set is full.
    Full,
    /// LEB128 deltas of a sorted list.
    Deltas,
    /// Little-endian words of a bitset.
    Words,
}

/// What an index says of one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackEntry {
    /// The shard.
    pub shard: ShardId,
    /// Which of its sets.
    pub set: SetName,
    /// How to read it.
    pub encoding: Encoding,
    /// Members of the set.
    pub count: u64,
    /// Bytes of the encoded set before compression.
    pub raw_bytes: u64,
    /// Whether the stored bytes are a zstd frame.
    pub compressed: bool,
    /// Where the stored bytes start in the pack file.
    pub offset: u64,
    /// How many they are.
    pub stored_bytes: u64,
    /// xxh3-64 of the stored bytes.
    pub checksum: u64,
}

impl PackEntry {
    /// Encodes the contents of a set with `count` members; the offset is set by the pack writer.
    #[must_use]
    pub fn encode(shard: ShardId, set: SetName, count: u64, contents: &Contents<'_>) -> (Self, Vec<u8>) {
        let (encoding, raw) = match contents {
            Contents::Empty => (Encoding::Empty, Vec::new()),
            Contents::Full => (Encoding::Full, Vec::new()),
            Contents::Sparse(list) => (Encoding::Deltas, deltas(list)),
            Contents::Words(words) => (Encoding::Words, words.iter().flat_map(|word| word.to_le_bytes()).collect()),
        };
        let raw_bytes = to_u64(raw.len());
        let squeezed = zstd::bulk::compress(&raw, ZSTD_LEVEL).ok();
        let (compressed, stored) = match squeezed {
            Some(frame) if to_u64(frame.len()) * 100 <= raw_bytes * 97 => (true, frame),
            _ => (false, raw),
        };
        let entry = Self {
            shard,
            set,
            encoding,
            count,
            raw_bytes,
            compressed,
            offset: 0,
            stored_bytes: to_u64(stored.len()),
            checksum: codec::checksum(&stored),
        };
        (entry, stored)
    }

    /// Checks that the index promises no more members and bytes than a set of a shard of `length`
    /// offsets can have, before anything is read or unpacked.
    ///
    /// # Errors
    /// `BadData` naming what it promises.
    pub fn check_size(&self, length: u64, path: &Path) -> Result<()> {
        // A list has at most 10 bytes a member; bits have their words.
        let most_raw = match self.encoding {
            Encoding::Empty | Encoding::Full => 0,
            Encoding::Deltas => self.count.saturating_mul(10),
            Encoding::Words => bitset::words_for(length) * 8,
        };
        // Only what gets shorter is stored compressed.
        if self.raw_bytes <= most_raw && self.stored_bytes <= self.raw_bytes && self.count <= length {
            return Ok(());
        }
        Err(Error::bad_data(
            path,
            format!(
                "{} raw bytes in {} stored ones for {} members for shard {} at offset {}",
                self.raw_bytes, self.stored_bytes, self.count, self.shard, self.offset
            ),
            format!("at most {most_raw} bytes and {length} members"),
            "the file is damaged; an older checkpoint or another copy is needed",
        ))
    }

    /// Decodes stored bytes read from `path`, for a shard of `length` offsets. Checks, in this
    /// order: length, checksum, decoding, count, range.
    ///
    /// # Errors
    /// `BadData` naming the shard, the file and offset, what was found and what the index says.
    pub fn decode(&self, stored: Vec<u8>, length: u64, path: &Path) -> Result<Contents<'static>> {
        let damaged = |found: String, expected: String| {
            Error::bad_data(
                path,
                format!("{found} for shard {} at offset {}", self.shard, self.offset),
                expected,
                "the file is damaged; an older checkpoint or another copy is needed",
            )
        };
        if to_u64(stored.len()) != self.stored_bytes {
            return Err(damaged(format!("{} bytes", stored.len()), format!("{} bytes", self.stored_bytes)));
        }
        let sum = codec::checksum(&stored);
        if sum != self.checksum {
            return Err(damaged(format!("checksum {sum:016x}"), format!("checksum {:016x}", self.checksum)));
        }
        self.check_size(length, path)?;
        let raw = if self.compressed {
            zstd::bulk::decompress(&stored, to_usize(self.raw_bytes))
                .map_err(|error| damaged(format!("an undecodable frame ({error})"), "a zstd frame".into()))?
        } else {
            stored
        };
        if to_u64(raw.len()) != self.raw_bytes {
            return Err(damaged(format!("{} raw bytes", raw.len()), format!("{} raw bytes", self.raw_bytes)));
        }
        let contents = match self.encoding {
            Encoding::Empty => Contents::Empty,
            Encoding::Full => Contents::Full,
            Encoding::Deltas => {
                Contents::Sparse(read_deltas(&raw).ok_or_else(|| damaged("a broken list".into(), "ascending offsets".into()))?.into())
            }
            Encoding::Words => {
                let words: Vec<u64> = raw.chunks_exact(8).map(|bytes| u64::from_le_bytes(std::array::from_fn(|i| bytes[i]))).collect();
                if to_u64(words.len()) != bitset::words_for(length) {
                    return Err(damaged(format!("{} words", words.len()), format!("{} words", bitset::words_for(length))));
                }
                Contents::Words(words.into())
            }
        };
        let (count, largest) = measure(&contents, length);
        if count != self.count || largest.is_some_and(|offset| offset >= length) {
            return Err(damaged(format!("{count} members up to {largest:?}"), format!("{} members below {length}", self.count)));
        }
        Ok(contents)
    }
}

/// Number of members and the largest one.
fn measure(contents: &Contents<'_>, length: u64) -> (u64, Option<u64>) {
    match contents {
        Contents::Empty => (0, None),
        Contents::Full => (length, length.checked_sub(1)),
        Contents::Sparse(list) => (to_u64(list.len()), list.last().copied()),
        Contents::Words(words) => {
            let last = words.iter().rposition(|&word| word != 0);
            let largest = last.map(|at| to_u64(at) * 64 + 63 - u64::from(words[at].leading_zeros()));
            (bitset::count(words), largest)
        }
    }
}

/// LEB128 of the first offset and of each distance minus 1.
fn deltas(list: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(list.len() * 2);
    let mut expected = 0;
    for &offset in list {
        push_leb128(&mut bytes, offset - expected);
        expected = offset + 1;
    }
    bytes
}

/// Inverse of [`deltas`]; `None` for a list that is cut off or overflows.
fn read_deltas(bytes: &[u8]) -> Option<Vec<u64>> {
    let mut list = Vec::new();
    let mut expected = 0_u64;
    for delta in leb128_numbers(bytes) {
        let offset = expected.checked_add(delta?)?;
        list.push(offset);
        expected = offset.checked_add(1)?;
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LENGTH: u64 = 50_000;

    fn round_trip(contents: &Contents<'_>) {
        let (count, _) = measure(contents, LENGTH);
        let (entry, stored) = PackEntry::encode(ShardId(3), SetName::Seen, count, contents);
        let back = entry.decode(stored, LENGTH, Path::new("pack")).expect("whole");
        assert_eq!(&back, contents);
    }

    #[test]
    fn all_forms_come_back() {
        round_trip(&Contents::Empty);
        round_trip(&Contents::Full);
        round_trip(&Contents::Sparse(vec![0, 1, 127, 128, 40_000, 49_999].into()));
        let mut words = vec![0; to_usize(bitset::words_for(LENGTH))];
        words[3] = 0x55;
        words[to_usize((LENGTH - 1) / 64)] = 1 << ((LENGTH - 1) % 64);
        round_trip(&Contents::Words(words.into()));
    }

    /// Each check on its own: what the checksum cannot know, because the writer lied.
    #[test]
    fn every_check_of_a_block_is_needed() {
        let made = |count: u64, contents: &Contents<'_>| PackEntry::encode(ShardId(3), SetName::Seen, count, contents);
        let refused = |entry: &PackEntry, stored: &[u8], part: &str| {
            let error = entry.decode(stored.to_vec(), LENGTH, Path::new("pack")).expect_err(part).to_string();
            assert!(error.contains(part), "{part}: {error}");
        };
        let (list, stored) = made(2, &Contents::Sparse(vec![1, 2].into()));
        refused(&list, &stored[1..], "1 bytes");
        refused(&PackEntry { checksum: list.checksum ^ 1, ..list.clone() }, &stored, "checksum");
        refused(&PackEntry { raw_bytes: 3, ..list.clone() }, &stored, "found 2 raw bytes");
        // What could not be so long, or so short, is refused by its sizes alone.
        refused(&PackEntry { raw_bytes: 1, ..list.clone() }, &stored, "1 raw bytes in 2 stored ones");
        refused(&PackEntry { count: 1, ..list.clone() }, &stored, "2 members");
        let (behind, stored) = made(2, &Contents::Sparse(vec![1, LENGTH].into()));
        refused(&behind, &stored, "2 members up to");
        let words_for = to_usize(bitset::words_for(LENGTH));
        let mut words = vec![0; words_for];
        words[words_for - 1] = 1 << (LENGTH % 64);
        let (behind, stored) = made(1, &Contents::Words(words.clone().into()));
        refused(&behind, &stored, "1 members up to");
        let (short, stored) = made(0, &Contents::Words(words[1..words_for - 1].into()));
        refused(&short, &stored, &format!("{} words for shard", words_for - 2));
        let (frame, stored) = made(0, &Contents::Words(vec![0; words_for].into()));
        assert!(frame.compressed);
        refused(&PackEntry { raw_bytes: frame.raw_bytes + 8, ..frame.clone() }, &stored, "stored ones for 0 members");
        refused(&PackEntry { raw_bytes: frame.raw_bytes - 8, ..frame }, &stored, "an undecodable frame");
    }

    proptest! {
        #[test]
        fn lists_come_back(mut list in proptest::collection::vec(proptest::num::u64::ANY, 0..50)) {
            list.sort_unstable();
            list.dedup();
            list.retain(|&offset| offset != u64::MAX);
            prop_assert_eq!(read_deltas(&deltas(&list)), Some(list));
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            let _ = read_deltas(&bytes);
        }
    }

    #[test]
    fn every_flipped_bit_is_refused_and_named() {
        let list: Vec<u64> = (0..300).map(|i| i * i).filter(|&offset| offset < LENGTH).collect();
        let (entry, stored) = PackEntry::encode(ShardId(3), SetName::Seen, to_u64(list.len()), &Contents::Sparse(list.into()));
        for bit in 0..stored.len() * 8 {
            let mut broken = stored.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let error = entry.decode(broken, LENGTH, Path::new("pack")).expect_err("damaged");
            assert!(error.to_string().contains("shard 3"), "{error}");
        }
        assert!(entry.decode(stored[1..].to_vec(), LENGTH, Path::new("pack")).is_err());
    }

    #[test]
    fn lying_entries_are_refused_before_memory_is_taken() {
        let (entry, stored) = PackEntry::encode(ShardId(0), SetName::Level, 2, &Contents::Sparse(vec![1, 2].into()));
        let lies = [
            PackEntry { raw_bytes: 1 << 40, ..entry.clone() },
            PackEntry { count: 3, ..entry.clone() },
            PackEntry { count: u64::MAX, raw_bytes: u64::MAX, ..entry.clone() },
            PackEntry { encoding: Encoding::Full, ..entry.clone() },
            PackEntry { compressed: true, ..entry },
        ];
        for lie in lies {
            assert!(lie.decode(stored.clone(), LENGTH, Path::new("pack")).is_err(), "{lie:?}");
        }
    }
}
