//! Numbers as bytes, and bytes as words: what files and messages share.

use super::ids::low_u8;

/// Appends a number as LEB128: seven bits a byte, low ones first; the last byte is below 128.
#[inline]
pub fn push_leb128(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(low_u8(number & 0x7f | 0x80));
        number >>= 7;
    }
    bytes.push(low_u8(number));
}

/// Reads numbers that [`push_leb128`] wrote. Yields `None` once, as its last item, for a number
/// that is cut off or has more than 64 bits.
pub fn leb128_numbers(bytes: &[u8]) -> impl Iterator<Item = Option<u64>> + '_ {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (mut number, mut shift) = (0_u64, 0_u32);
        for (place, &byte) in rest.iter().enumerate() {
            if shift > 63 || (shift == 63 && byte > 1) {
                break;
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                rest = &rest[place + 1..];
                return Some(Some(number));
            }
            shift += 7;
        }
        rest = &[];
        Some(None)
    })
}

/// The bytes as little-endian words; the last one is filled up with zeros.
pub fn words_of(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    })
}

/// The first `length` bytes of little-endian words; fewer when there are no more.
#[must_use]
pub fn bytes_of(words: &[u64], length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in proptest::collection::vec(prop_oneof![0..300_u64, any::<u64>()], 0..40)) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|&number| push_leb128(&mut bytes, number));
            prop_assert_eq!(leb128_numbers(&bytes).collect::<Option<Vec<u64>>>(), Some(numbers));
        }

        #[test]
        fn bytes_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let words: Vec<u64> = words_of(&bytes).collect();
            prop_assert_eq!(words.len(), bytes.len().div_ceil(8));
            prop_assert_eq!(bytes_of(&words, bytes.len()), bytes);
        }
    }

    #[test]
    fn broken_numbers_end_the_list() {
        let read = |bytes: &[u8]| leb128_numbers(bytes).collect::<Vec<_>>();
        assert_eq!(read(&[5, 0x80, 0x80]), [Some(5), None], "cut off");
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), [Some(u64::MAX)]);
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]), [None], "more than 64 bits");
        assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 7]), [None]);
    }
}
