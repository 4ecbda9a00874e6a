//! The arrangements that have names. Positions count from 0 at the turntable's left end; pairs are
//! numbered by their left position.

use crate::evidence::certificates::Labels;

/// The solved ring.
#[must_use]
pub fn solved(size: u16) -> Labels {
    (1..=size).collect()
}

/// SWAP: the pieces at positions `pair` and `pair + 1` (around the ring) exchanged.
#[must_use]
pub fn swap(size: u16, pair: u16) -> Labels {
    let mut labels = solved(size);
    labels.swap(usize::from(pair), usize::from((pair + 1) % size));
    labels
}

/// The pair that `pair` becomes in the mirror that takes position `i` to `3 - i`.
#[must_use]
pub fn mirrored_pair(size: u16, pair: u16) -> u16 {
    (2 + size - pair) % size
}

/// The ring in reverse order, with the last piece at position `rotation`.
#[must_use]
pub fn reversal(size: u16, rotation: u16) -> Labels {
    let mut labels = solved(size);
    labels.reverse();
    labels.rotate_right(usize::from(rotation));
    labels
}

/// The pair at positions `place`, `place + 1` moved past the `passed` pieces to its right; then the
/// ring turned by `turned` to the right.
#[must_use]
pub fn jump(size: u16, passed: u16, place: u16, turned: u16) -> Labels {
    let mut ring = solved(size);
    ring.rotate_left(usize::from(place));
    ring[..usize::from(passed) + 2].rotate_left(2);
    ring.rotate_right(usize::from((place + turned) % size));
    ring
}

/// The solved ring with `four` on the turntable.
#[must_use]
pub fn final_four(size: u16, four: [u16; 4]) -> Labels {
    let mut labels = solved(size);
    labels[..4].copy_from_slice(&four);
    labels
}

/// The 24 orders of 1 to 4, in lexicographic order.
#[must_use]
pub fn orders_of_four() -> Vec<[u16; 4]> {
    let digits = || 1..=4_u16;
    digits()
        .flat_map(|a| digits().flat_map(move |b| digits().flat_map(move |c| digits().map(move |d| [a, b, c, d]))))
        .filter(|four| digits().all(|label| four.contains(&label)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(swap(5, 4), [5, 2, 3, 4, 1]);
        assert_eq!(mirrored_pair(12, 0), 2);
        assert_eq!(mirrored_pair(12, 1), 1);
        assert_eq!(mirrored_pair(12, 5), 9);
        assert_eq!(reversal(5, 0), [5, 4, 3, 2, 1]);
        assert_eq!(reversal(5, 1), [1, 5, 4, 3, 2]);
        assert_eq!(jump(8, 4, 0, 0), [3, 4, 5, 6, 1, 2, 7, 8]);
        assert_eq!(jump(8, 4, 1, 0), [1, 4, 5, 6, 7, 2, 3, 8]);
        assert_eq!(jump(8, 4, 1, 1), [8, 1, 4, 5, 6, 7, 2, 3]);
        // From position 7 on: 2 3 4 5, the pair 8 1, then 6 7.
        assert_eq!(jump(8, 4, 7, 0), [3, 4, 5, 8, 1, 6, 7, 2]);
        assert_eq!(final_four(6, [4, 3, 2, 1]), [4, 3, 2, 1, 5, 6]);
        assert_eq!(orders_of_four().len(), 24);
    }
}
