//! A batch of ranks for another process, sorted and delta-coded: most distances between the
//! successors of a sparse level take two or three bytes instead of eight.
//!
//! Message: no words for no ranks; else the number of bytes, then the bytes in words. The bytes are
//! LEB128 numbers: the first rank, then the distance of each rank to the one before it (0 for a
//! repeat: each is an edge of its own).

use super::exchange::{to_bytes, to_words};
use crate::base::bytes::{leb128_numbers, push_leb128};
use crate::base::{Error, Result};

/// Sorts `ranks` and turns them into a message. Cost: the sort, about 20 ns a rank.
#[must_use]
pub fn encode(mut ranks: Vec<u64>) -> Vec<u64> {
    ranks.sort_unstable();
    let mut bytes = Vec::with_capacity(ranks.len() * 3);
    let mut last = 0;
    for rank in ranks {
        push_leb128(&mut bytes, rank - last);
        last = rank;
    }
    to_words(&bytes)
}

/// The ranks of a message, ascending.
///
/// # Errors
/// `Invariant` when the message is none of [`encode`]: it was changed on its way.
pub fn decode(words: &[u64]) -> Result<Vec<u64>> {
    let broken = || Error::invariant("delta-coded ranks that another process sent", "a number that does not end or is too large", "ranks");
    let bytes = to_bytes(words)?;
    let mut ranks = Vec::with_capacity(bytes.len() / 2);
    let mut rank = 0_u64;
    for distance in leb128_numbers(&bytes) {
        rank = distance.and_then(|distance| rank.checked_add(distance)).ok_or_else(broken)?;
        ranks.push(rank);
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranks_come_back_sorted(mut ranks in proptest::collection::vec(prop_oneof![0..300_u64, any::<u64>()], 0..200)) {
            let decoded = decode(&encode(ranks.clone())).expect("unchanged");
            ranks.sort_unstable();
            prop_assert_eq!(decoded, ranks);
        }

        #[test]
        fn nonsense_is_refused_or_read(words in proptest::collection::vec(any::<u64>(), 0..40)) {
            let _ = decode(&words);
        }
    }

    #[test]
    fn near_ranks_take_few_bytes() {
        let words = encode((0..8_000).map(|number| 1_000_000_000 + number * 100).collect());
        assert!(words.len() < 1_010, "{}", words.len());
        assert_eq!(encode(Vec::new()), [0; 0]);
        assert!(decode(&words[..words.len() - 1]).is_err(), "cut");
        assert!(decode(&[3, 0x80_80_80]).is_err(), "a number that does not end");
        let mut bytes = Vec::new();
        [u64::MAX, 1].iter().for_each(|&distance| push_leb128(&mut bytes, distance));
        assert!(decode(&to_words(&bytes)).is_err(), "a rank of more than 64 bits");
        assert!(decode(&[11, u64::MAX, 0x0001_ffff]).is_err(), "more than 64 bits");
    }
}
