//! Constructed words, for rings of any size.
//!
//! Slots are places that stay while the table moves: R moves the table one slot to the left, L to
//! the right, F swaps two pairs of slots.
//!
//! **A cycle of three.** [`THREE_CYCLE`] uses seven slots and brings the table back, so on every
//! ring of at least seven pieces it does the same: a cycle of the three pieces at positions 0, 1,
//! 2.
//!
//! **SWAP.** With n even one piece that is carried past n - 2 others, all around the ring, has
//! changed places with the last one: a SWAP. [`CARRY`] does one step of that. On the five slots
//! from the table's first one on it makes `q d p x y` of `p q y d x`, then moves the table two
//! slots to the left, where, with the next two pieces `r s`, it finds `r s q d p`: the same form.
//! So each step leaves the two pieces of the last but one step behind in their old order, `x y`,
//! and the carried piece `d` has passed two more pieces. [`HEAD`] makes the form, [`TAIL`] ends it
//! with the ring closed. A further step passes two further pieces, which head and tail never touch:
//! when the word for n is a SWAP, so is the word with a step more for n + 2. Each word is replayed
//! before it is used all the same.
//!
//! Length: 23 + 6 (n - 10) / 2 + 4 = 3 n - 3 moves for even n >= 10, that is 3 moves a piece; 17
//! for n = 8. The shortest ones known (up to n = 18) grow as fast: 24 for n = 10, 49 for n = 18.

use super::arrangements;
use super::ring::{Ring, letters};
use crate::base::{Error, Result};
use crate::evidence::certificates::Word;

/// A cycle of the pieces at positions 0, 1, 2, in every size from 7 on (and, wrapped around the
/// ring, in size 5).
pub const THREE_CYCLE: &str = "FRFLLLFRRRFLLLFRR";

/// Makes the form in which [`CARRY`] carries a piece.
pub const HEAD: &str = "RFRRRFRFRRFRFLLFLFRRRFR";

/// Carries one piece past two others.
pub const CARRY: &str = "FLFRRR";

/// Ends the carrying.
pub const TAIL: &str = "FLFR";

/// A shortest SWAP for n = 8, of positions 1 and 2.
pub const SMALLEST: &str = "FRFRFLLFLFLLFRFRF";

/// Smallest even size with a SWAP.
pub const SMALLEST_SIZE: u16 = 8;

/// Pieces of the ring for which [`HEAD`] and [`TAIL`] alone are a SWAP.
const BASE_SIZE: u16 = 10;

/// A word that exchanges two neighbours on a ring of `size` pieces, and the pair; none for odd
/// sizes and below 8.
///
/// # Errors
/// `Invariant` when the replayed word is no SWAP.
pub fn swap_word(size: u16) -> Result<Option<(Word, u16)>> {
    if size < SMALLEST_SIZE || size % 2 == 1 {
        return Ok(None);
    }
    let word = match size.checked_sub(BASE_SIZE) {
        None => letters(SMALLEST),
        Some(more) => letters(&[HEAD, &CARRY.repeat(usize::from(more / 2)), TAIL].concat()),
    };
    let mut ring = Ring::solved(size);
    ring.play_word(&word)?;
    let reached = ring.labels();
    let pair = (0..size).find(|&pair| arrangements::swap(size, pair) == reached);
    pair.map(|pair| Some((word, pair)))
        .ok_or_else(|| Error::invariant("a constructed SWAP, replayed", format!("{reached:?}"), "two neighbours exchanged"))
}

/// A word for the cycle of the pieces at positions 0, 1, 2; none for sizes below 5 and for 6.
///
/// # Errors
/// `Invariant` when the replayed word is no such cycle.
pub fn three_cycle_word(size: u16) -> Result<Option<Word>> {
    if size < 5 || size == 6 {
        return Ok(None);
    }
    let word = letters(THREE_CYCLE);
    let mut ring = Ring::solved(size);
    ring.play_word(&word)?;
    let mut cycled = arrangements::solved(size);
    cycled[..3].rotate_left(1);
    if ring.labels() == cycled {
        Ok(Some(word))
    } else {
        Err(Error::invariant("a cycle of three, replayed", format!("{:?}", ring.labels()), format!("{cycled:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_to_1000_has_its_word() {
        for size in 4..=1_000 {
            let swap = swap_word(size).expect("replayed");
            assert_eq!(swap.is_some(), size % 2 == 0 && size >= 8, "{size}");
            if let Some((word, _)) = swap {
                assert_eq!(word.len(), if size == 8 { 17 } else { usize::from(3 * size - 3) });
            }
            assert_eq!(three_cycle_word(size).expect("replayed").is_some(), size == 5 || size >= 7, "{size}");
        }
    }

    /// The step as the text above describes it, on letters.
    #[test]
    fn a_step_keeps_its_form() {
        let play = |names: &str, start: &str| {
            let mut slots: Vec<char> = start.chars().collect();
            let mut table = 2;
            for name in names.chars() {
                match name {
                    'R' => table -= 1,
                    'L' => table += 1,
                    _ => {
                        slots.swap(table, table + 1);
                        slots.swap(table + 2, table + 3);
                    }
                }
            }
            (slots.into_iter().collect::<String>(), table)
        };
        assert_eq!(play(CARRY, "rspqydxab"), ("rsqdpxyab".into(), 0));
    }

    #[test]
    fn the_cycle_of_three_stays_in_seven_slots_and_comes_back() {
        let (mut table, mut lowest, mut highest) = (0_i32, 0, 0);
        for name in THREE_CYCLE.chars() {
            table += match name {
                'R' => -1,
                'L' => 1,
                _ => 0,
            };
            (lowest, highest) = (lowest.min(table), highest.max(table));
        }
        assert_eq!((table, highest - lowest + 4), (0, 7));
    }
}
