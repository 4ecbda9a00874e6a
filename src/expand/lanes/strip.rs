//! A strip as one string of bytes: 32 lanes of 120 bits without gaps. Its bits are taken as words
//! side by side, in loops of fixed length that compilers turn into vector instructions.

use super::UNIT_BYTES;
use super::prefixes::STRIP;

/// Bytes of a strip of 120-bit lanes; a strip of 60-bit lanes fills half of them.
pub(super) const STRIP_BYTES: usize = STRIP * UNIT_BYTES;

/// Words of a strip.
pub(super) const STRIP_WORDS: usize = STRIP_BYTES / 8;

/// The bits of a strip.
pub(super) type Words = [u64; STRIP_WORDS];

/// Bytes on either side of a strip that may be read: the rest of the families (six lanes) at its
/// ends, 75, and what words reach beyond.
pub(super) const MARGIN: usize = 96;

/// A strip with its margins. What the margins hold is of no account unless a caller fills them.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct StripBuffer(pub(super) [u8; MARGIN + STRIP_BYTES + MARGIN]);

impl StripBuffer {
    pub(super) const BLANK: Self = Self([0; MARGIN + STRIP_BYTES + MARGIN]);

    /// The strip without its margins.
    #[inline(always)]
    pub(super) fn strip(&self) -> &[u8; STRIP_BYTES] {
        self.0[MARGIN..].first_chunk().expect("a strip lies between the margins")
    }

    /// See [`StripBuffer::strip`].
    #[inline(always)]
    pub(super) fn strip_mut(&mut self) -> &mut [u8; STRIP_BYTES] {
        self.0[MARGIN..].first_chunk_mut().expect("a strip lies between the margins")
    }
}

/// The words of a strip's bytes.
#[inline(always)]
pub(super) fn words(bytes: &[u8; STRIP_BYTES]) -> Words {
    let mut words = [0; STRIP_WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// The words of a part of a strip, with `filler` in the bytes after it.
#[inline(always)]
pub(super) fn words_of_part(part: &[u8], filler: u8) -> Words {
    match part.first_chunk() {
        Some(bytes) => words(bytes),
        None => {
            let mut bytes = [filler; STRIP_BYTES];
            bytes[..part.len()].copy_from_slice(part);
            words(&bytes)
        }
    }
}

/// Overwrites a strip's bytes.
#[inline(always)]
pub(super) fn write_words(bytes: &mut [u8; STRIP_BYTES], words: &Words) {
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

/// The bits of either.
#[inline(always)]
pub(super) fn union(one: &Words, other: &Words) -> Words {
    std::array::from_fn(|at| one[at] | other[at])
}

/// Whether no bit is set.
#[inline(always)]
pub(super) fn is_zero(words: &Words) -> bool {
    words.iter().fold(0, |any, word| any | word) == 0
}

/// Bits that are set.
#[inline(always)]
pub(super) fn count(words: &Words) -> u64 {
    words.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Bits that both have.
#[inline(always)]
pub(super) fn common(one: &Words, other: &Words) -> u64 {
    one.iter().zip(other).map(|(one, other)| u64::from((one & other).count_ones())).sum()
}

/// Adds the bits of `pulled` that are in `unseen` to `new`; returns how many there are. Lanes of a
/// `halved` space fill half of the words.
#[inline(always)]
pub(super) fn take_new(pulled: &[u8; STRIP_BYTES], unseen: &Words, new: &mut Words, halved: bool) -> u64 {
    // Lengths that the compiler knows, in whole vectors.
    if halved { take_words::<32>(pulled, unseen, new) } else { take_words::<STRIP_WORDS>(pulled, unseen, new) }
}

#[inline(always)]
fn take_words<const COUNT: usize>(pulled: &[u8; STRIP_BYTES], unseen: &Words, new: &mut Words) -> u64 {
    let mut edges = 0;
    for ((new, unseen), pulled) in new[..COUNT].iter_mut().zip(&unseen[..COUNT]).zip(&pulled.as_chunks().0[..COUNT]) {
        let found = u64::from_le_bytes(*pulled) & unseen;
        *new |= found;
        edges += u64::from(found.count_ones());
    }
    edges
}
