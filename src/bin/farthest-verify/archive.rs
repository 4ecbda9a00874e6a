//! A file of a level archive, read from its bytes: blocks, then an index. The layout is specified in src/evidence/README.md.

use crate::limits::{Checked, Limits, index, refuted, unreadable, wide};
use std::ops::Range;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: &[u8] = b"FARTHESTPACK\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
const INDEX_MAGIC: &[u8] = b"FARTHESTINDX\x01\0\x01\0";
const INDEX_HEADER: usize = 32;
const END: &[u8] = b"FARTHEND";
const TRAILER: usize = 24;

/// Bytes of an entry of the index in memory, in a list that may have grown to twice its length, and its shard.
const ENTRY_BYTES: u128 = 2 * 64 + 8;

/// The level set of one shard, as the index describes it.
struct Block {
    shard: u64,
    encoding: u64,
    members: u64,
    raw_bytes: u64,
    is_compressed: bool,
    offset: u64,
    stored_bytes: u64,
    checksum: u64,
}

/// The cut of the numbers into shards.
#[derive(Clone, Copy)]
pub struct Shards {
    pub ranks: u64,
    pub length: u64,
}

/// Calls `found` with the number of every state in the file, block by block.
pub fn read(bytes: &[u8], shards: Shards, place: &str, limits: &Limits, found: &mut impl FnMut(u64) -> Checked<()>) -> Checked<()> {
    let end = bytes.len().checked_sub(TRAILER).filter(|&end| end >= MAGIC.len() && bytes.starts_with(MAGIC) && bytes.ends_with(END));
    let end = end.ok_or_else(|| unreadable(place, "other bytes", "a pack file of version 1 with a trailer"))?;
    let (start, length) = (word(bytes, end), word(bytes, end + 8));
    let start = usize::try_from(start)
        .ok()
        .filter(|&start| start >= MAGIC.len() && start.checked_add(INDEX_HEADER).is_some_and(|least| least <= end));
    let start =
        start.filter(|&start| wide(end - start) == length).ok_or_else(|| unreadable(place, "a wrong trailer", "the place of the index"))?;
    let payload =
        index_payload(&bytes[start..end]).ok_or_else(|| unreadable(place, "a damaged index", "an index of version 1 with its checksum"))?;
    // An entry has at least nine bytes in the file and many more here.
    let entries = u128::from(wide(payload.len())) / 9;
    limits.memory(place, u128::from(shards.ranks) + u128::from(wide(bytes.len())) + entries * ENTRY_BYTES)?;
    limits.steps(place, u128::from(wide(payload.len())))?;
    let blocks = blocks(payload).ok_or_else(|| unreadable(place, "another index", "entries of level sets"))?;
    let mut shards_named: Vec<u64> = blocks.iter().map(|block| block.shard).collect();
    shards_named.sort_unstable();
    if let Some(twice) = shards_named.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(unreadable(place, format!("two entries of shard {}", twice[0]), "one for each shard of the level"));
    }
    for block in blocks {
        let place = format!("{place}: the block of shard {} at offset {}", block.shard, block.offset);
        let first = block.shard.checked_mul(shards.length).filter(|&first| first < shards.ranks);
        let first =
            first.ok_or_else(|| refuted(&place, format!("shard {}", block.shard), format!("shards of {} numbers", shards.ranks)))?;
        // Beside the labels of all numbers and this file.
        limits.memory(&place, u128::from(shards.ranks) + u128::from(wide(bytes.len())) + u128::from(block.raw_bytes))?;
        let end = first + shards.length.min(shards.ranks - first);
        block.read(&bytes[..start], first..end, &place, limits, found)?;
    }
    Ok(())
}

impl Block {
    /// Calls `found` with the members of a shard that has these numbers.
    fn read(
        &self,
        bytes: &[u8],
        numbers: Range<u64>,
        place: &str,
        limits: &Limits,
        found: &mut impl FnMut(u64) -> Checked<()>,
    ) -> Checked<()> {
        let length = numbers.end - numbers.start;
        let range = self.offset.checked_add(self.stored_bytes).filter(|&end| self.offset >= wide(MAGIC.len()) && end <= wide(bytes.len()));
        let stored = range.map(|end| &bytes[index(self.offset)..index(end)]);
        let stored =
            stored.ok_or_else(|| unreadable(place, format!("{} bytes", self.stored_bytes), "bytes between the header and the index"))?;
        limits.steps(place, u128::from(self.stored_bytes))?;
        let checksum = xxh3_64(stored);
        if checksum != self.checksum {
            return Err(refuted(place, format!("checksum {checksum:016x}"), format!("{:016x}", self.checksum)));
        }
        let most = match self.encoding {
            0 | 1 => 0,
            2 => self.members.saturating_mul(10),
            _ => length.div_ceil(64) * 8,
        };
        // Bits are those of the whole shard.
        let is_whole = self.encoding != 3 || self.raw_bytes == most;
        if self.members > length || self.raw_bytes > most || !is_whole {
            let found = format!("{} members in {} bytes", self.members, self.raw_bytes);
            return Err(unreadable(place, found, format!("at most {length} members in {most} bytes")));
        }
        limits.steps(place, u128::from(self.raw_bytes) + u128::from(self.members))?;
        let unpacked;
        let raw = if self.is_compressed {
            let result = zstd::bulk::decompress(stored, index(self.raw_bytes));
            unpacked = result.map_err(|error| unreadable(place, error, "a zstd frame"))?;
            &unpacked
        } else {
            stored
        };
        if wide(raw.len()) != self.raw_bytes {
            return Err(unreadable(place, format!("{} bytes", raw.len()), self.raw_bytes));
        }
        let mut members = 0;
        let mut take = |offset: u64| {
            members += 1;
            if offset >= length {
                return Err(unreadable(place, format!("offset {offset}"), format!("offsets below {length}")));
            }
            found(numbers.start + offset)
        };
        match self.encoding {
            0 => {}
            1 => (0..length).try_for_each(&mut take)?,
            2 => {
                let (mut at, mut least) = (0, 0_u64);
                while at < raw.len() {
                    let offset = leb128(raw, &mut at).and_then(|delta| least.checked_add(delta));
                    let offset = offset
                        .filter(|&offset| offset < u64::MAX)
                        .ok_or_else(|| unreadable(place, "a broken list", "ascending offsets"))?;
                    take(offset)?;
                    least = offset + 1;
                }
            }
            _ => {
                for (base, bytes) in (0..).step_by(8).zip(raw) {
                    let mut rest = *bytes;
                    while rest != 0 {
                        take(base + u64::from(rest.trailing_zeros()))?;
                        rest &= rest - 1;
                    }
                }
            }
        }
        if members == self.members { Ok(()) } else { Err(unreadable(place, format!("{members} members"), self.members)) }
    }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}

/// The payload of the index's envelope: magic, kind, version and codec, length, checksum over the header so far and the payload.
fn index_payload(envelope: &[u8]) -> Option<&[u8]> {
    let (header, payload) = envelope.split_at_checked(INDEX_HEADER)?;
    let mut hasher = Xxh3::new();
    hasher.update(&header[..24]);
    hasher.update(payload);
    let whole = header.starts_with(INDEX_MAGIC) && word(header, 16) == wide(payload.len()) && word(header, 24) == hasher.digest();
    whole.then_some(payload)
}

/// The entries: their number, then nine numbers each.
fn blocks(payload: &[u8]) -> Option<Vec<Block>> {
    let mut at = 0;
    let count = varint(payload, &mut at)?;
    let mut blocks = Vec::new();
    for _ in 0..count {
        let mut fields = [0; 9];
        for field in &mut fields {
            *field = varint(payload, &mut at)?;
        }
        let [shard, set, encoding, members, raw_bytes, compressed, offset, stored_bytes, checksum] = fields;
        // Set 1 is a level.
        if set != 1 || encoding > 3 || compressed > 1 {
            return None;
        }
        blocks.push(Block { shard, encoding, members, raw_bytes, is_compressed: compressed == 1, offset, stored_bytes, checksum });
    }
    (at == payload.len()).then_some(blocks)
}

/// A number below 251 in a byte; 251, 252 or 253 and then 2, 4 or 8 bytes, little-endian.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    *at += 1;
    let length = match first {
        0..=250 => return Some(first.into()),
        251 => 2,
        252 => 4,
        253 => 8,
        _ => return None,
    };
    let digits = bytes.get(*at..*at + length)?;
    *at += length;
    Some(digits.iter().rev().fold(0, |number, &digit| number << 8 | u64::from(digit)))
}

/// Seven bits a byte, lowest first; the high bit says that more follow.
fn leb128(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
