//! A run of bits of any length, written and read in pieces of up to 120 bits, lowest bit first.

use crate::base::ids::{low_u64, to_u64, to_usize};

/// Collects bits.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Bits not yet in `bytes`, fewer than eight.
    pending: u128,
    count: u32,
}

impl BitWriter {
    /// Appends the low `count` bits of `bits`, at most 120; the others must be zero.
    #[inline]
    pub fn push(&mut self, bits: u128, count: u32) {
        debug_assert!(count <= 120 && (count == 120 || bits >> count == 0));
        self.pending |= bits << self.count;
        self.count += count;
        let whole = self.count / 8;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..to_usize(whole.into())]);
        self.pending = self.pending.checked_shr(whole * 8).unwrap_or(0);
        self.count %= 8;
    }

    /// The bytes; the last one is filled up with zeros.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(crate::base::ids::low_u8(low_u64(self.pending)));
        }
        self.bytes
    }
}

/// Hands out bits.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Bits handed out.
    position: u64,
}

impl<'a> BitReader<'a> {
    /// Reads from `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// The next `count` bits, at most 120. Behind the end there are zeros;
    /// [`BitReader::is_used_up`] tells.
    #[inline]
    pub fn take(&mut self, count: u32) -> u128 {
        let (first, shift) = (to_usize(self.position / 8), self.position % 8);
        let mut window = [0; 16];
        let rest = self.bytes.get(first..).unwrap_or(&[]);
        let length = rest.len().min(16);
        window[..length].copy_from_slice(&rest[..length]);
        self.position += u64::from(count);
        // 7 + 120 bits fit the window.
        u128::from_le_bytes(window) >> shift & ((1 << count) - 1)
    }

    /// Whether exactly all bytes were handed out.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.position.div_ceil(8) == to_u64(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_come_back(pieces in proptest::collection::vec((any::<u128>(), 0_u32..=120), 0..40)) {
            let mut writer = BitWriter::default();
            for &(bits, count) in &pieces {
                writer.push(bits & ((1 << count) - 1), count);
            }
            let bytes = writer.finish();
            let mut reader = BitReader::new(&bytes);
            for &(bits, count) in &pieces {
                prop_assert_eq!(reader.take(count), bits & ((1 << count) - 1));
            }
            prop_assert!(reader.is_used_up());
            prop_assert_eq!(reader.take(100), 0);
        }
    }
}
