//! Bits of a chunk of a level, coded so that they take little more than their entropy and little
//! time.
//!
//! First a byte that names the form, then:
//! - *raw*: the bytes of the words, where every fourth bit is set or more;
//! - *masked*: for each word two bytes that say which of its sixteen nibbles (groups of four bits)
//!   are not zero, then all those nibbles, low half of a byte first. The cost is per word, without
//!   a branch: about 3 ns where an instruction extracts bits, against 4 ns a member for gaps;
//! - *gaps*: a byte for each member. 0 to 254: so many bits that are not set, then one that is. 255:
//!   so many bits that are not set, and the gap goes on. The cost is per member.
//!
//! Bits after the last gap are not set. Of random bits with density 1/8 the masked form takes 0.66
//! of the space (their entropy is 0.54), with 1/50 the gaps take 0.16 (0.14). A general compressor
//! takes about as much space and, on dense bits, thirty times the time.

use crate::base::bit_moves::{BitMoves, BitWork, do_work};
use crate::base::ids::{index_u32, low_u8, low_u32, low_u64, to_u64};

const RAW: u8 = 0;
const MASKED: u8 = 1;
const GAPS: u8 = 2;

/// Densities from which the masked form is taken instead of gaps (they take the same space at one
/// in 25, but gaps more time), and the raw bits instead of it: one in 28, and one in 4.
const MASKED_FROM: usize = 28;
const RAW_FROM: usize = 4;

/// The low bit of each nibble.
const LOW_BITS: u64 = 0x1111_1111_1111_1111;

/// Bytes after the nibbles, so that they can be read and written nine at a time.
const PADDING: usize = 8;

/// Codes the bits of `bytes`, of which `count` are set.
#[must_use]
pub fn encode(bytes: &[u8], count: u32) -> Vec<u8> {
    let (bits, count) = (bytes.len() * 8, index_u32(count));
    if count * RAW_FROM > bits {
        return [&[RAW], bytes].concat();
    }
    if count * MASKED_FROM > bits {
        return do_work(Mask { bytes });
    }
    let mut code = Vec::with_capacity(count + bits / 256 + 2);
    code.push(GAPS);
    for_each_gap(bytes, |mut gap| {
        while gap >= 255 {
            code.push(255);
            gap -= 255;
        }
        code.push(low_u8(u64::from(gap)));
    });
    code
}

/// Sets the bits of `words`, all zero before, that were coded. A code that means no such bits sets
/// some of them, or none.
pub fn decode(code: &[u8], words: &mut [u64]) {
    let Some((&form, code)) = code.split_first() else { return };
    match form {
        RAW => {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
            if let Some(bytes) = bytes.get_mut(..code.len()) {
                bytes.copy_from_slice(code);
            }
        }
        MASKED => do_work(Unmask { code, words }),
        GAPS => {
            let mut next = 0_u32;
            for &byte in code {
                next += u32::from(byte);
                if byte < 255 {
                    if let Some(word) = words.get_mut(index_u32(next / 64)) {
                        *word |= 1 << (next % 64);
                    }
                    next += 1;
                }
            }
        }
        _ => {}
    }
}

/// Writes the masked form of bytes.
struct Mask<'a> {
    bytes: &'a [u8],
}

impl BitWork for Mask<'_> {
    type Output = Vec<u8>;

    #[inline(always)]
    fn run<B: BitMoves>(self, moves: B) -> Vec<u8> {
        let (words, last) = words_of(self.bytes);
        let count = self.bytes.len().div_ceil(8);
        let mut code = vec![0; 1 + 2 * count + 8 * count + PADDING];
        code[0] = MASKED;
        let (masks, nibbles) = code[1..].split_at_mut(2 * count);
        let (masks, _) = masks.as_chunks_mut::<2>();
        // Nibbles written so far.
        let mut end = 0;
        for (word, mask) in words.iter().chain([&last]).zip(masks) {
            let word = u64::from_le_bytes(*word);
            let pairs = word | word >> 1;
            let filled = (pairs | pairs >> 2) & LOW_BITS;
            let [low, high, ..] = moves.extract(filled, LOW_BITS).to_le_bytes();
            *mask = [low, high];
            let packed = u128::from(moves.extract(word, filled * 15)) << (4 * (end % 2));
            let Some(out) = nibbles.get_mut(end / 2..).and_then(|rest| rest.first_chunk_mut::<9>()) else { break };
            let bytes = packed.to_le_bytes();
            let first = out[0] | bytes[0];
            out.copy_from_slice(&bytes[..9]);
            out[0] = first;
            end += index_u32(filled.count_ones());
        }
        code.truncate(1 + 2 * count + end.div_ceil(2) + PADDING);
        code
    }
}

/// Reads the masked form into words.
struct Unmask<'a> {
    code: &'a [u8],
    words: &'a mut [u64],
}

impl BitWork for Unmask<'_> {
    type Output = ();

    #[inline(always)]
    fn run<B: BitMoves>(self, moves: B) {
        let Some((masks, nibbles)) = self.code.split_at_checked(2 * self.words.len()) else { return };
        let (masks, _) = masks.as_chunks::<2>();
        let mut end = 0;
        for (word, mask) in self.words.iter_mut().zip(masks) {
            let filled = moves.deposit(u64::from(u16::from_le_bytes(*mask)), LOW_BITS);
            let Some(bytes) = nibbles.get(end / 2..).and_then(|rest| rest.first_chunk::<9>()) else { return };
            let mut window = [0; 16];
            window[..9].copy_from_slice(bytes);
            let packed = u128::from_le_bytes(window) >> (4 * (end % 2));
            *word = moves.deposit(low_u64(packed), filled * 15);
            end += index_u32(filled.count_ones());
        }
    }
}

/// The whole words of `bytes`, and the bytes after them with zeros.
fn words_of(bytes: &[u8]) -> (&[[u8; 8]], [u8; 8]) {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    (words, last)
}

/// Calls `found` with the number of bits between each member and the one before it.
#[inline(always)]
fn for_each_gap(bytes: &[u8], mut found: impl FnMut(u32)) {
    let (words, last) = words_of(bytes);
    let mut next = 0_u32;
    for (number, word) in words.iter().chain([&last]).enumerate() {
        let first = low_u32(to_u64(number)) * 64;
        let mut left = u64::from_le_bytes(*word);
        while left != 0 {
            let place = first + left.trailing_zeros();
            found(place - next);
            next = place + 1;
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::bit_moves::Portable;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_come_back(words in proptest::collection::vec(prop_oneof![Just(0_u64), any::<u64>(), any::<(u64, u64, u64)>().prop_map(|(a, b, c)| a & b & c)], 1..80), thinned in 0_u32..6, cut in 0_usize..8) {
            // Thinner and thinner, so that every form is met.
            let mut words: Vec<u64> = words.iter().enumerate().map(|(at, word)| if at % (1 << thinned) == 0 { *word } else { 0 }).collect();
            let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes.truncate(bytes.len() - cut);
            words.iter_mut().for_each(|word| *word = 0);
            let count: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
            decode(&encode(&bytes, count), &mut words);
            let found: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            prop_assert_eq!(&found[..bytes.len()], &bytes[..]);
            prop_assert!(found[bytes.len()..].iter().all(|&byte| byte == 0));
        }

        #[test]
        fn nonsense_is_read_as_something(form in 0_u8..4, code in proptest::collection::vec(any::<u8>(), 0..200), words in 0_usize..30) {
            decode(&[&[form], &code[..]].concat(), &mut vec![0; words]);
        }

        /// With and without special instructions.
        #[test]
        fn one_masked_form(bytes in proptest::collection::vec(prop_oneof![3 => Just(0), 1 => any::<u8>()], 0..200)) {
            let code = Mask { bytes: &bytes }.run(Portable);
            prop_assert_eq!(&code, &do_work(Mask { bytes: &bytes }));
            let mut words = vec![0; bytes.len().div_ceil(8)];
            Unmask { code: &code[1..], words: &mut words }.run(Portable);
            let mut again = vec![0; words.len()];
            do_work(Unmask { code: &code[1..], words: &mut again });
            prop_assert_eq!(&words, &again);
            prop_assert_eq!(&bytemuck::cast_slice::<u64, u8>(&words)[..bytes.len()], &bytes[..]);
        }
    }

    #[test]
    fn forms_change_where_they_should() {
        let form = |one_in: usize| {
            let bytes: Vec<u8> =
                (0..7_680).map(|byte| (0..8).fold(0, |sum, bit| sum | u8::from((byte * 8 + bit) % one_in == 0) << bit)).collect();
            let count = bytes.iter().map(|byte: &u8| byte.count_ones()).sum();
            let code = encode(&bytes, count);
            (code[0], code.len())
        };
        assert_eq!(form(3), (RAW, 7_681));
        // A mask for each of 960 words, and a nibble for each member.
        assert_eq!(form(8), (MASKED, 1 + 2 * 960 + 3_840 + PADDING));
        assert_eq!(form(50), (GAPS, 1_230));
    }
}
