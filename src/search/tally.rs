//! A count of ranks that shows what was lost, doubled or altered between two places.

use crate::base::fingerprint::mix64;

/// Number of ranks and the sum (mod 2^64) of their mixed values: the same for the same ranks in any
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// Sum of `mix64`.
    pub mixed: u64,
}

impl Tally {
    /// Counts one rank.
    #[inline(always)]
    pub fn add(&mut self, rank: u64) {
        self.count += 1;
        self.mixed = self.mixed.wrapping_add(mix64(rank ^ 0x6a09_e667_f3bc_c909));
    }

    /// Sum of two tallies.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { count: self.count + other.count, mixed: self.mixed.wrapping_add(other.mixed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum alone would balance.
    #[test]
    fn a_tally_tells_ranks_of_the_same_sum_apart() {
        let tally = |ranks: &[u64]| {
            let mut tally = Tally::default();
            ranks.iter().for_each(|&rank| tally.add(rank));
            tally
        };
        assert_eq!(tally(&[5, 8]), tally(&[8, 5]));
        assert_ne!(tally(&[5, 8]), tally(&[6, 7]));
        assert_ne!(tally(&[5, 5]), tally(&[8, 8]));
        assert_eq!(tally(&[5]).plus(tally(&[8])), tally(&[5, 8]));
    }
}
