//! Metadata as bytes: bincode inside a versioned, checksummed envelope. The only importer of
//! bincode.
//!
//! ```text
//! offset  bytes  content (little-endian)
//!      0      8  magic "FARTHEST"
//!      8      4  kind, four ASCII letters ("MANI", "PACK", ...)
//!     12      2  format version of this kind
//!     14      2  codec of the payload: 1 = bincode 2 standard configuration
//!     16      8  payload length P
//!     24      8  xxh3-64 of bytes 0..24 followed by the payload
//!     32      P  payload
//! ```
//! The checksum is verified before bincode sees a byte, and bincode runs with a limit: a length
//! field can then neither allocate gigabytes nor abort the process. Trailing bytes are refused.
//! bincode is pinned to 2.0.1: the newest published version is a stub that does not compile
//! (RUSTSEC-2025-0141); the codec number leaves room for a successor. Never used in a published
//! file: those are text.

use super::error::{Error, Result};
use super::ids::to_u64;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: [u8; 8] = *b"FARTHEST";
const HEADER_BYTES: usize = 32;
const CODEC_BINCODE_2: u16 = 1;

/// Most bytes that decoding may allocate, and that an envelope may hold.
pub const LIMIT_BYTES: usize = 16 << 20;

/// Most bytes of an envelope with what it holds.
pub const MOST_ENVELOPE_BYTES: u64 = (16 << 20) + 32;

/// What an envelope holds: four letters and the version of their format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Four ASCII letters.
    pub letters: [u8; 4],
    /// Format version written by this program, and the only one it reads.
    pub version: u16,
}

/// Checksum of stored bytes: xxh3-64. Detects accidents, not intent.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// Encodes `value` into an envelope of `kind`.
///
/// # Errors
/// When the value is larger than [`LIMIT_BYTES`].
pub fn encode<T: Serialize>(kind: Kind, value: &T) -> Result<Vec<u8>> {
    let configuration = bincode::config::standard().with_limit::<LIMIT_BYTES>();
    let payload = bincode::serde::encode_to_vec(value, configuration)
        .map_err(|error| Error::config(format!("metadata does not fit its format: {error}")))?;
    if payload.len() > LIMIT_BYTES {
        return Err(Error::config(format!("metadata of {} bytes is over the limit of {LIMIT_BYTES}; use fewer shards", payload.len())));
    }
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    bytes.extend(MAGIC);
    bytes.extend(kind.letters);
    bytes.extend(kind.version.to_le_bytes());
    bytes.extend(CODEC_BINCODE_2.to_le_bytes());
    bytes.extend(to_u64(payload.len()).to_le_bytes());
    let sum = envelope_checksum(&bytes, &payload);
    bytes.extend(sum.to_le_bytes());
    bytes.extend(payload);
    Ok(bytes)
}

/// Decodes an envelope of `kind` read from `path` (named in errors).
///
/// # Errors
/// `BadData` when the bytes are no envelope, of another kind or version, truncated, damaged or
/// followed by more.
pub fn decode<T: DeserializeOwned>(kind: Kind, bytes: &[u8], path: &Path) -> Result<T> {
    decode_with(kind, None, bytes, path)
}

/// [`decode`], which also reads the version before: it lacks the last fields of the value, whose
/// encoding `missing` stands in for them.
///
/// # Errors
/// As [`decode`].
pub fn decode_extended<T: DeserializeOwned>(kind: Kind, missing: &[u8], bytes: &[u8], path: &Path) -> Result<T> {
    decode_with(kind, Some(missing), bytes, path)
}

fn decode_with<T: DeserializeOwned>(kind: Kind, missing: Option<&[u8]>, bytes: &[u8], path: &Path) -> Result<T> {
    let damaged = |found: String, expected: String| {
        Error::bad_data(path, found, expected, "the file is damaged or truncated; an older checkpoint or another copy is needed")
    };
    let header: &[u8; HEADER_BYTES] =
        bytes.first_chunk().ok_or_else(|| damaged(format!("{} bytes", bytes.len()), format!("at least {HEADER_BYTES} bytes")))?;
    if header[..8] != MAGIC {
        return Err(damaged("another kind of file".into(), "a file written by farthest".into()));
    }
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
    let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let payload = &bytes[HEADER_BYTES..];
    if word(16) != to_u64(payload.len()) || payload.len() > LIMIT_BYTES {
        return Err(damaged(format!("{} bytes of payload", payload.len()), format!("{} bytes", word(16))));
    }
    let sum = envelope_checksum(&header[..24], payload);
    if sum != word(24) {
        return Err(damaged(format!("checksum {sum:016x}"), format!("checksum {:016x}", word(24))));
    }
    if header[8..12] != kind.letters {
        return Err(damaged(
            format!("kind {}", String::from_utf8_lossy(&header[8..12])),
            format!("kind {}", String::from_utf8_lossy(&kind.letters)),
        ));
    }
    let missing = missing.filter(|_| half(12) + 1 == kind.version);
    if (half(12) != kind.version && missing.is_none()) || half(14) != CODEC_BINCODE_2 {
        return Err(Error::OtherVersion {
            path: path.to_path_buf(),
            found: format!("format version {} (codec {})", half(12), half(14)),
            expected: format!("version {} (codec {CODEC_BINCODE_2})", kind.version),
        });
    }
    let payload = &missing.map_or_else(|| payload.into(), |missing| Cow::from([payload, missing].concat()))[..];
    let configuration = bincode::config::standard().with_limit::<LIMIT_BYTES>();
    let (value, used) = bincode::serde::decode_from_slice(payload, configuration)
        .map_err(|error| damaged(format!("undecodable payload ({error})"), "valid metadata".into()))?;
    if used != payload.len() {
        return Err(damaged(format!("{} trailing bytes", payload.len() - used), "none".into()));
    }
    Ok(value)
}

fn envelope_checksum(header: &[u8], payload: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(header);
    hasher.update(payload);
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_its_header_and_what_it_holds() {
        assert_eq!(MOST_ENVELOPE_BYTES, to_u64(LIMIT_BYTES + HEADER_BYTES));
    }

    const KIND: Kind = Kind { letters: *b"TEST", version: 3 };

    fn sample() -> (Vec<u64>, String) {
        (vec![1, 2, u64::MAX], "text".into())
    }

    fn decoded(bytes: &[u8]) -> Result<(Vec<u64>, String)> {
        decode(KIND, bytes, Path::new("file"))
    }

    #[test]
    fn values_come_back() {
        let bytes = encode(KIND, &sample()).expect("fits");
        assert_eq!(decoded(&bytes).expect("whole"), sample());
    }

    #[test]
    fn the_version_before_gets_what_it_lacks() {
        let before = encode(Kind { version: 2, ..KIND }, &vec![1_u64]).expect("fits");
        assert!(decoded(&before).is_err());
        // An empty text is one zero byte.
        let value: (Vec<u64>, String) = decode_extended(KIND, &[0], &before, Path::new("file")).expect("known");
        assert_eq!(value, (vec![1], String::new()));
        let older = encode(Kind { version: 1, ..KIND }, &vec![1_u64]).expect("fits");
        assert!(decode_extended::<(Vec<u64>, String)>(KIND, &[0], &older, Path::new("file")).is_err());
    }

    #[test]
    fn version_3_of_the_test_kind_keeps_its_bytes() {
        // A golden envelope: a change of these bytes is a change of format and needs a new version.
        let bytes = encode(KIND, &(7_u32, "a")).expect("fits");
        assert_eq!(&bytes[..24], b"FARTHESTTEST\x03\x00\x01\x00\x03\x00\x00\x00\x00\x00\x00\x00");
        assert_eq!(&bytes[32..], b"\x07\x01a");
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_refused() {
        let bytes = encode(KIND, &sample()).expect("fits");
        for bit in 0..bytes.len() * 8 {
            let mut broken = bytes.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decoded(&broken).expect_err("damaged").exit_code(), 65, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(decoded(&bytes[..length]).is_err());
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(decoded(&longer).is_err());
    }

    #[test]
    fn a_hostile_length_allocates_nothing() {
        // A payload that claims 2^40 elements, in an envelope with a right checksum.
        let mut bytes = encode(KIND, &(0xfd_u8, 1_u64 << 40)).expect("fits");
        let claim = [253, 0, 0, 0, 0, 0, 1, 0, 0];
        bytes.truncate(16);
        bytes.extend(to_u64(claim.len()).to_le_bytes());
        let sum = envelope_checksum(&bytes, &claim);
        bytes.extend(sum.to_le_bytes());
        bytes.extend(claim);
        assert_eq!(decoded(&bytes).expect_err("over the limit").exit_code(), 65);
    }

    #[test]
    fn other_kinds_and_versions_are_named() {
        let other = encode(Kind { letters: *b"ELSE", version: 3 }, &sample()).expect("fits");
        assert!(decoded(&other).expect_err("other kind").to_string().contains("kind ELSE"));
        let newer = encode(Kind { letters: *b"TEST", version: 4 }, &sample()).expect("fits");
        assert!(decoded(&newer).expect_err("other version").to_string().contains("another version"));
    }
}
