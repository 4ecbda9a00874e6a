//! Every offset of a pack file; the layout is drawn in the README of this layer.

use crate::base::codec::Kind;

/// First bytes of a pack file.
pub const PACK_MAGIC: [u8; 12] = *b"FARTHESTPACK";

/// Version of the pack format, at offset 12.
pub const PACK_VERSION: u16 = 1;

/// Where the first entry starts.
pub const PACK_HEADER_BYTES: u64 = 32;

/// Last bytes of a pack file.
pub const PACK_END: [u8; 8] = *b"FARTHEND";

/// Length of the trailer: offset and length of the index, then [`PACK_END`].
pub const PACK_TRAILER_BYTES: u64 = 24;

/// Envelope of a pack's index.
pub const INDEX_KIND: Kind = Kind { letters: *b"INDX", version: 1 };

/// The header of a pack file.
#[must_use]
pub fn pack_header() -> [u8; 32] {
    let mut header = [0; 32];
    header[..12].copy_from_slice(&PACK_MAGIC);
    header[12..14].copy_from_slice(&PACK_VERSION.to_le_bytes());
    header
}

/// The trailer for an index of `length` bytes at `offset`.
#[must_use]
pub fn pack_trailer(offset: u64, length: u64) -> [u8; 24] {
    let mut trailer = [0; 24];
    trailer[..8].copy_from_slice(&offset.to_le_bytes());
    trailer[8..16].copy_from_slice(&length.to_le_bytes());
    trailer[16..].copy_from_slice(&PACK_END);
    trailer
}

/// Offset and length of the index, when `trailer` is one.
#[must_use]
pub fn parse_trailer(trailer: &[u8; 24]) -> Option<(u64, u64)> {
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| trailer[at + i]));
    (trailer[16..] == PACK_END).then(|| (word(0), word(8)))
}

/// Words of a chunk: 512 lanes, 7,680 bytes. The summary of a set is 1/1920 of it.
pub const CHUNK_WORDS: usize = 960;
