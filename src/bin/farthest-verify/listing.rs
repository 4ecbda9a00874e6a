//! What follows from the labels of all states: fingerprints of levels, samples of levels, and the
//! states of the last level.
//!
//! A lane is 120 numbers in a row. Each lane with a member of the level gives two mixed values,
//! made from the lane's number and its members; the fingerprint of the level is the sum of each
//! over all such lanes. For the sample, four numbers are drawn for each level: from each of them
//! on, the first member is taken. src/evidence/README.md specifies both.

use crate::limits::{index, wide};
use rayon::prelude::*;
use std::ops::Range;

/// How many numbers a lane has.
const LANE: usize = 120;

/// How many lanes one thread works through at a time.
const STRETCH: usize = 1 << 12;

/// How many numbers are drawn for each level.
const SAMPLES: u64 = 4;

/// Stands for a distance as long as no member is found.
const NONE: u64 = u64::MAX;

/// What the numbers of a level's members give.
#[derive(Clone, Copy)]
pub struct Listing {
    fingerprint: [u64; 2],
    /// For each drawn number, how far the first member is from it. After the last number the count
    /// goes on at 0.
    distances: [u64; 4],
}

impl Listing {
    const EMPTY: Self = Self { fingerprint: [0; 2], distances: [NONE; 4] };

    /// Adds the members of a lane: bit `i` of `members` stands for number `120 lane + i`.
    fn add(&mut self, lane: u64, members: u128, drawn: &[u64; 4], ranks: u64) {
        let mixed = mixed_lane(lane, members);
        self.fingerprint = [0, 1].map(|half| self.fingerprint[half].wrapping_add(mixed[half]));
        let first = lane * wide(LANE);
        for (distance, &drawn) in self.distances.iter_mut().zip(drawn) {
            // Looks from the drawn number on if it lies in this lane, else from the lane's first
            // number. A member before the drawn number is reached around the end.
            let within = drawn.checked_sub(first).filter(|&offset| offset < wide(LANE));
            let ahead = within.map_or(members, |offset| members >> offset << offset);
            let next = if ahead == 0 { members } else { ahead };
            let number = first + u64::from(next.trailing_zeros());
            let far = if number >= drawn { number - drawn } else { number + (ranks - drawn) };
            *distance = far.min(*distance);
        }
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            fingerprint: [0, 1].map(|half| self.fingerprint[half].wrapping_add(other.fingerprint[half])),
            distances: [0, 1, 2, 3].map(|number| self.distances[number].min(other.distances[number])),
        }
    }

    /// The fingerprint as `levels.tsv` writes it: 32 hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        format!("{:016x}{:016x}", self.fingerprint[0], self.fingerprint[1])
    }

    /// The numbers that `samples.tsv` lists for this level, ascending and each once. Empty when the
    /// level is empty.
    pub fn sample(&self, depth: u64, ranks: u64) -> Vec<u64> {
        let found = drawn(depth, ranks).into_iter().zip(self.distances).filter(|(_, distance)| *distance != NONE);
        let around = |drawn: u64, distance: u64| if distance < ranks - drawn { drawn + distance } else { distance - (ranks - drawn) };
        let mut sample: Vec<u64> = found.map(|(drawn, distance)| around(drawn, distance)).collect();
        sample.sort_unstable();
        sample.dedup();
        sample
    }
}

/// The listings of levels 0 to `levels - 1`, from the label of every number. Labels from `levels`
/// on are ignored.
pub fn of_labels(labels: &[u8], levels: usize) -> Vec<Listing> {
    let ranks = wide(labels.len());
    let drawn: Vec<[u64; 4]> = (0..wide(levels)).map(|depth| drawn(depth, ranks)).collect();
    let stretch = |(number, labels): (usize, &[u8])| {
        let mut listings = vec![Listing::EMPTY; levels];
        for (lane, labels) in (number * STRETCH..).zip(labels.chunks(LANE)) {
            // The labels in this lane, each with its members. There are only a few.
            let mut here: Vec<(u8, u128)> = Vec::with_capacity(8);
            for (at, &label) in labels.iter().enumerate().filter(|(_, label)| usize::from(**label) < levels) {
                match here.iter_mut().find(|(known, _)| *known == label) {
                    Some((_, members)) => *members |= 1 << at,
                    None => here.push((label, 1 << at)),
                }
            }
            for (label, members) in here {
                let label = usize::from(label);
                listings[label].add(wide(lane), members, &drawn[label], ranks);
            }
        }
        listings
    };
    let join = |one: Vec<Listing>, other: Vec<Listing>| one.iter().zip(&other).map(|(one, other)| one.plus(other)).collect();
    labels.par_chunks(LANE * STRETCH).enumerate().map(stretch).reduce(|| vec![Listing::EMPTY; levels], join)
}

/// The listing of one level from the numbers of its members, in any order.
pub fn of_numbers(depth: u64, mut numbers: Vec<u64>, ranks: u64) -> Listing {
    numbers.sort_unstable();
    let mut listing = Listing::EMPTY;
    let drawn = drawn(depth, ranks);
    for lane in numbers.chunk_by(|one, other| one / wide(LANE) == other / wide(LANE)) {
        let members = lane.iter().fold(0, |members, number| members | 1 << (number % wide(LANE)));
        listing.add(lane[0] / wide(LANE), members, &drawn, ranks);
    }
    listing
}

/// The lowest numbers that have this label: at most `most`, ascending.
pub fn lowest(labels: &[u8], label: u8, most: u64) -> Vec<u64> {
    let numbers: Range<u64> = 0..wide(labels.len());
    numbers.zip(labels).filter(|(_, found)| **found == label).map(|(number, _)| number).take(index(most)).collect()
}

/// The numbers drawn for a level. They are the same in every run with as many numbers.
fn drawn(depth: u64, ranks: u64) -> [u64; 4] {
    let mut drawn = [0; 4];
    for (drawn, number) in drawn.iter_mut().zip(0..SAMPLES) {
        *drawn = mixed(depth << 8 | number) % ranks;
    }
    drawn
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
fn mixed(value: u64) -> u64 {
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

fn mixed_lane(lane: u64, members: u128) -> [u64; 2] {
    let half = |shift: u32| u64::try_from(members >> shift & u128::from(u64::MAX)).expect("64 bits");
    let (low, high) = (half(0), half(64));
    let number = lane.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [mixed(mixed(low ^ number).wrapping_add(high)), mixed(mixed(high ^ number.rotate_left(32)).wrapping_add(low) ^ 0xd1b5_4a32_d192_ed03)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways to a listing agree, and a sample is the first members from the drawn numbers on.
    #[test]
    fn listings_of_labels_and_of_numbers_agree() {
        for ranks in [1_usize, 7, 119, 120, 121, 1_000, 1_000_003] {
            let labels: Vec<u8> = (0..ranks).map(|number| u8::try_from(mixed(wide(number)) % 7).expect("small")).collect();
            let listings = of_labels(&labels, 5);
            for (depth, listing) in (0_u8..5).zip(&listings) {
                let members = lowest(&labels, depth, u64::MAX);
                let again = of_numbers(depth.into(), members.clone(), wide(ranks));
                assert_eq!(listing.fingerprint(), again.fingerprint());
                let first_from = |from: u64| members.iter().find(|&&member| member >= from).or(members.first()).copied();
                let mut expected: Vec<u64> = drawn(depth.into(), wide(ranks)).into_iter().filter_map(first_from).collect();
                expected.sort_unstable();
                expected.dedup();
                assert_eq!(listing.sample(depth.into(), wide(ranks)), expected, "{ranks} numbers, level {depth}");
                assert_eq!(again.sample(depth.into(), wide(ranks)), expected);
            }
        }
    }
}
