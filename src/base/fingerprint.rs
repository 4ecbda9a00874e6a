//! Order-independent fingerprint of a set of states.
//!
//! A set is cut into lanes of [`LANE_STATES`] consecutive ranks. Each lane with at least one member
//! is mixed with its number to 128 bits, and the fingerprint is the sum of these values mod 2^64 in
//! both halves. A sum does not depend on the order of its terms, so the fingerprint is the same for
//! any number of shards, threads and processes, and any expansion or resume. Two different sets
//! collide with probability about 2^-128 unless they were made to collide: it detects accidents, it
//! is no cryptographic commitment.
//!
//! Mixing: `SplitMix64` finaliser (Steele, Lea and Flood, "Fast splittable pseudorandom number
//! generators", OOPSLA 2014), once per 64-bit half with different keys. Cost: about 5 ns a lane.

use super::ids::low_u64;
use serde::{Deserialize, Serialize};
use std::fmt;

/// States in a lane: the arrangements that share all but the last five positions (5! = 120).
pub const LANE_STATES: u64 = 120;

/// Fingerprint of a set of states; `Fingerprint::default()` is that of the empty set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub [u64; 2]);

impl Fingerprint {
    /// Fingerprint of the members of lane `lane`, bit `i` of `members` standing for rank
    /// `120 * lane + i`. `members` must not be zero: a lane without members contributes nothing and
    /// is not passed in.
    #[must_use]
    pub fn of_lane(lane: u64, members: u128) -> Self {
        debug_assert!(members != 0);
        let low = low_u64(members);
        let high = low_u64(members >> 64);
        let number = lane.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let first = mix64(mix64(low ^ number).wrapping_add(high));
        let second = mix64(mix64(high ^ number.rotate_left(32)).wrapping_add(low) ^ 0xd1b5_4a32_d192_ed03);
        Self([first, second])
    }

    /// The fingerprint of the union of two sets that have no lane in common. (Within a lane it is
    /// no sum: the members of a lane are mixed together.)
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self([self.0[0].wrapping_add(other.0[0]), self.0[1].wrapping_add(other.0[1])])
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}{:016x}", self.0[0], self.0[1])
    }
}

/// Fingerprint of the members given by their ranks in ascending order.
pub fn of_sorted_ranks(ranks: impl IntoIterator<Item = u64>) -> Fingerprint {
    let mut run = RunFingerprint::default();
    ranks.into_iter().for_each(|rank| run.add(rank));
    run.finish()
}

/// The fingerprint of an ascending run of ranks in the making. Its first and last lane may go on in
/// the runs before and after it, so that runs can be worked out on several threads and joined.
/// Cost: about 2 ns a rank.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunFingerprint {
    /// The first lane and its members, once a second one has begun.
    first: (u64, u128),
    /// The lanes between.
    inner: Fingerprint,
    /// The last lane and its members so far.
    last: (u64, u128),
}

impl RunFingerprint {
    /// Adds the next rank.
    #[inline]
    pub fn add(&mut self, rank: u64) {
        self.push((rank / LANE_STATES, 1 << (rank % LANE_STATES)));
    }

    /// The run with `next` after it.
    #[must_use]
    pub fn join(mut self, next: &Self) -> Self {
        self.push(next.first);
        self.push(next.last);
        self.inner = self.inner.plus(next.inner);
        self
    }

    /// The fingerprint of the whole run.
    #[must_use]
    pub fn finish(self) -> Fingerprint {
        let lanes = [self.first, self.last].into_iter().filter(|lane| lane.1 != 0);
        lanes.fold(self.inner, |sum, (lane, members)| sum.plus(Fingerprint::of_lane(lane, members)))
    }

    #[inline]
    fn push(&mut self, (lane, members): (u64, u128)) {
        if members == 0 {
            return;
        }
        if self.last.1 != 0 && self.last.0 != lane {
            if self.first.1 == 0 {
                self.first = self.last;
            } else {
                self.inner = self.inner.plus(Fingerprint::of_lane(self.last.0, self.last.1));
            }
            self.last.1 = 0;
        }
        self.last = (lane, self.last.1 | members);
    }
}

/// The `SplitMix64` finaliser: a bijection of 64-bit values in which every input bit reaches every
/// output bit.
#[inline(always)]
#[must_use]
pub fn mix64(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprint_is_a_sum_over_disjoint_parts() {
        let whole = of_sorted_ranks([0, 5, 119, 120, 1000, 1001]);
        let parts = of_sorted_ranks([0, 5, 119, 120]).plus(of_sorted_ranks([1000, 1001]));
        assert_eq!(whole, parts);
    }

    #[test]
    fn every_single_rank_changes_the_fingerprint() {
        let base: Vec<u64> = (0..600).step_by(3).collect();
        let reference = of_sorted_ranks(base.iter().copied());
        for skipped in 0..base.len() {
            let without = base.iter().enumerate().filter(|(i, _)| *i != skipped).map(|(_, &r)| r);
            assert_ne!(of_sorted_ranks(without), reference);
        }
    }

    #[test]
    fn runs_joined_anywhere_are_the_whole() {
        let ranks: Vec<u64> = (0..2_000).filter(|rank| rank % 7 < 3).collect();
        for (a, b) in [(0, 0), (1, 2), (17, 18), (51, 103), (100, 700), (400, 400), (855, 856)] {
            let run = |part: &[u64]| {
                let mut run = RunFingerprint::default();
                part.iter().for_each(|&rank| run.add(rank));
                run
            };
            let joined = run(&ranks[..a]).join(&run(&ranks[a..b])).join(&run(&ranks[b..]));
            assert_eq!(joined.finish(), of_sorted_ranks(ranks.iter().copied()), "{a} {b}");
        }
        assert_eq!(RunFingerprint::default().finish(), Fingerprint::default());
    }

    #[test]
    fn the_lane_number_matters() {
        assert_ne!(Fingerprint::of_lane(0, 1), Fingerprint::of_lane(1, 1));
        assert_ne!(of_sorted_ranks([0]), of_sorted_ranks([120]));
    }
}
