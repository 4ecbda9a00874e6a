//! Reads a file of a level archive: blocks first, then an index. src/evidence/README.md specifies
//! the layout.

use crate::limits::{Checked, Limits, index, refuted, unreadable, wide};
use std::ops::Range;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: &[u8] = b"FARTHESTPACK\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
const INDEX_MAGIC: &[u8] = b"FARTHESTINDX\x01\0\x01\0";
const INDEX_HEADER: usize = 32;
const END: &[u8] = b"FARTHEND";
const TRAILER: usize = 24;

/// Bytes of memory that an index entry and its shard number take. The list of entries may have
/// grown to twice its length.
const ENTRY_BYTES: u128 = 2 * 64 + 8;

/// The level set of one shard, as the index describes it. Offsets and lengths are in bytes.
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

/// How the numbers of the states are cut into shards: `ranks` numbers, `length` to a shard; the
/// last shard may be shorter.
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
        // This comes on top of the labels of all numbers and of this file.
        limits.memory(&place, u128::from(shards.ranks) + u128::from(wide(bytes.len())) + u128::from(block.raw_bytes))?;
        let end = first + shards.length.min(shards.ranks - first);
        block.read(&bytes[..start], first..end, &place, limits, found)?;
    }
    Ok(())
}

impl Block {
    /// Calls `found` with each member of this block. Its shard holds the states `numbers`.
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
        // A bit set always covers the whole shard.
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

/// The payload of the index, once its envelope is checked. The envelope holds magic bytes, kind,
/// version, codec, length, and a checksum over all of that and the payload.
fn index_payload(envelope: &[u8]) -> Option<&[u8]> {
    let (header, payload) = envelope.split_at_checked(INDEX_HEADER)?;
    let mut hasher = Xxh3::new();
    hasher.update(&header[..24]);
    hasher.update(payload);
    let whole = header.starts_with(INDEX_MAGIC) && word(header, 16) == wide(payload.len()) && word(header, 24) == hasher.digest();
    whole.then_some(payload)
}

/// Reads the entries: first how many there are, then nine numbers for each. None when they are
/// malformed.
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
        // Set 1 is the set of a level. A level archive holds no other set.
        if set != 1 || encoding > 3 || compressed > 1 {
            return None;
        }
        blocks.push(Block { shard, encoding, members, raw_bytes, is_compressed: compressed == 1, offset, stored_bytes, checksum });
    }
    (at == payload.len()).then_some(blocks)
}

/// Reads a number. A number below 251 is one byte. A larger one is a byte 251, 252 or 253, then 2,
/// 4 or 8 bytes in little-endian order.
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

/// Reads a number of seven bits a byte, lowest bits first. The high bit says that more bytes
/// follow.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two shards of fifty numbers.
    const SHARDS: Shards = Shards { ranks: 100, length: 50 };

    /// A block and its entry: shard, set, encoding, members, raw bytes, whether it is compressed.
    type Written = ([u8; 6], Vec<u8>);

    /// Writes a pack file as src/evidence/README.md specifies it. In the index, numbers below 251
    /// take one byte; larger ones take a byte 253 and eight more.
    fn pack(blocks: &[Written], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let mut payload = vec![u8::try_from(blocks.len()).expect("few")];
        for (entry, stored) in blocks {
            payload.extend(entry);
            for number in [wide(bytes.len()), wide(stored.len()), xxh3_64(stored)] {
                payload.push(253);
                payload.extend(number.to_le_bytes());
            }
            bytes.extend(stored);
        }
        change(&mut payload);
        enveloped(bytes, INDEX_MAGIC, &payload, wide(payload.len()))
    }

    fn enveloped(mut bytes: Vec<u8>, magic: &[u8], payload: &[u8], length: u64) -> Vec<u8> {
        let start = wide(bytes.len());
        let header = [magic, &length.to_le_bytes()].concat();
        let checksum = xxh3_64(&[&header, payload].concat());
        bytes.extend([&header, &checksum.to_le_bytes()[..], payload, &start.to_le_bytes()].concat());
        bytes.extend((wide(payload.len()) + 32).to_le_bytes());
        bytes.extend(END);
        bytes
    }

    /// The numbers that are found, or the text of the refusal.
    fn numbers(bytes: &[u8]) -> Result<Vec<u64>, String> {
        let mut numbers = Vec::new();
        let mut found = |number| {
            numbers.push(number);
            Ok(())
        };
        read(bytes, SHARDS, "here", &Limits::new(1 << 20, 1 << 20), &mut found).map_err(|refusal| refusal.text)?;
        Ok(numbers)
    }

    fn list(shard: u8, deltas: &[u8]) -> Written {
        let count = u8::try_from(deltas.len()).expect("few");
        ([shard, 1, 2, count, count, 0], deltas.to_vec())
    }

    #[test]
    fn every_encoding_is_read() {
        let bits = [0b1001, 0, 0, 0, 0, 0, 0b10, 0];
        let compressed = zstd::bulk::compress(&bits, 1).expect("in memory");
        for (blocks, expected) in [
            (vec![], vec![]),
            (vec![([0, 1, 0, 0, 0, 0], vec![])], vec![]),
            (vec![([1, 1, 1, 50, 0, 0], vec![])], (50..100).collect()),
            (vec![list(1, &[0, 2])], vec![50, 53]),
            (vec![list(0, &[49])], vec![49]),
            (vec![([0, 1, 3, 3, 8, 0], bits.to_vec())], vec![0, 3, 49]),
            (vec![list(0, &[1]), ([1, 1, 3, 3, 8, 1], compressed)], vec![1, 50, 53, 99]),
        ] {
            assert_eq!(numbers(&pack(&blocks, |_| ())), Ok(expected), "{blocks:?}");
        }
    }

    /// Every block here has one thing wrong and a right checksum.
    #[test]
    fn blocks_that_are_wrong_in_one_way_are_refused() {
        let long = [[0xff; 9].as_slice(), &[2]].concat();
        for (blocks, part) in [
            (vec![list(0, &[0]), list(0, &[1])], "here: found two entries of shard 0"),
            (vec![list(2, &[0])], "found shard 2, expected shards of 100 numbers"),
            (vec![([0, 1, 1, 51, 0, 0], vec![])], "found 51 members in 0 bytes, expected at most 50 members in 0 bytes"),
            (vec![([0, 1, 1, 49, 0, 0], vec![])], "found 50 members, expected 49"),
            (vec![([0, 1, 2, 1, 11, 0], vec![0; 11])], "found 1 members in 11 bytes, expected at most 50 members in 10 bytes"),
            (vec![([0, 1, 3, 1, 7, 0], vec![1, 0, 0, 0, 0, 0, 0])], "found 1 members in 7 bytes, expected at most 50 members in 8 bytes"),
            (vec![([0, 1, 2, 2, 2, 0], vec![0, 0, 0])], "found 3 bytes, expected 2"),
            (vec![list(0, &[50])], "found offset 50, expected offsets below 50"),
            (vec![list(0, &[0, 50])], "found offset 51, expected offsets below 50"),
            (vec![([0, 1, 2, 3, 2, 0], vec![0, 0])], "found 2 members, expected 3"),
            (vec![([0, 1, 2, 1, 10, 0], long)], "found a broken list, expected ascending offsets"),
            (vec![([0, 1, 2, 1, 1, 0], vec![0x80])], "found a broken list, expected ascending offsets"),
            (vec![([0, 2, 2, 1, 1, 0], vec![0])], "here: found another index, expected entries of level sets"),
            (vec![([0, 1, 4, 1, 1, 0], vec![0])], "here: found another index, expected entries of level sets"),
            (vec![([0, 1, 2, 1, 1, 2], vec![0])], "here: found another index, expected entries of level sets"),
        ] {
            let told = numbers(&pack(&blocks, |_| ())).expect_err(part);
            assert!(told.contains(part), "{part}\n{told}");
        }
        let told = numbers(&pack(&[list(0, &[0])], |payload| *payload.last_mut().expect("a checksum") ^= 1)).expect_err("a checksum");
        assert!(told.contains("here: the block of shard 0 at offset 32: found checksum "), "{told}");
        let told = numbers(&pack(&[list(0, &[0])], |payload| payload.push(0))).expect_err("a byte more");
        assert_eq!(told, "here: found another index, expected entries of level sets");
    }

    #[test]
    fn each_part_around_the_blocks_is_compared() {
        let good = pack(&[list(0, &[0])], |_| ());
        assert_eq!(numbers(&good), Ok(vec![0]));
        let end = good.len();
        // Checked here: the magic bytes, the place and length of the index, and the last bytes. The
        // index has a checksum of its own.
        for (at, part) in [
            (0, "a pack file of version 1 with a trailer"),
            (31, "a pack file of version 1 with a trailer"),
            (end - 1, "a pack file of version 1 with a trailer"),
            (end - 16, "expected the place of the index"),
            (end - 24, "expected the place of the index"),
            (end - 25, "an index of version 1 with its checksum"),
        ] {
            let mut changed = good.clone();
            changed[at] ^= 1;
            let told = numbers(&changed).expect_err(part);
            assert!(told.contains(part), "byte {at}: {told}");
        }
        let payload = [0];
        let index = |magic: &[u8], length: u64| numbers(&enveloped(MAGIC.to_vec(), magic, &payload, length));
        assert_eq!(index(INDEX_MAGIC, 1), Ok(vec![]));
        for (magic, length) in [(b"FARTHESTINDX\x02\0\x01\0", 1), (b"FARTHESTINDX\x01\0\x01\0", 2)] {
            assert_eq!(index(magic, length), Err("here: found a damaged index, expected an index of version 1 with its checksum".into()));
        }
    }
}
