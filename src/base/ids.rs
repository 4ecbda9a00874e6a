//! The four numbers people mix up, each with its own type, and every numeric cast of the crate.
//!
//! Elsewhere `as` is a lint error: a cast that can lose bits must be one of the functions below,
//! whose name says what happens. All of them compile to nothing or to one instruction.
#![allow(clippy::as_conversions)]

use serde::{Deserialize, Serialize};
use std::fmt;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("farthest needs a 64-bit target: state ranks index memory");

/// Number of a state within its puzzle's state space, `0..state_count`; at most `2^63`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StateRank(pub u64);

/// Distance from the start in the metric's unit; level `d` is the set of all states of depth `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Depth(pub u32);

/// Number of a shard: a contiguous range of state ranks with one owner. Fixed by the run's
/// configuration, never by the number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShardId(pub u32);

/// Number of a process of the job, `0..processes` (what MPI itself calls a rank).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessId(pub u32);

impl Depth {
    /// The depth of the start states.
    pub const ZERO: Self = Self(0);

    /// The depth one further from the start.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl ShardId {
    /// The shard's place in a table of all shards.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ProcessId {
    /// The process that prints, and writes the files there is one of.
    pub const FIRST: Self = Self(0);

    /// The process's place in a table of all processes.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

macro_rules! plain_display {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }
    )*};
}
plain_display!(StateRank, Depth, ShardId, ProcessId);

/// Lossless: a 64-bit count as an index. (The crate only builds for 64-bit targets.)
#[inline(always)]
#[must_use]
pub fn to_usize(count: u64) -> usize {
    count as usize
}

/// Lossless: an index as a 64-bit count.
#[inline(always)]
#[must_use]
pub fn to_u64(index: usize) -> u64 {
    index as u64
}

/// Lossless: a 32-bit number as an index.
#[inline(always)]
#[must_use]
pub fn index_u32(value: u32) -> usize {
    value as usize
}

/// The low 8 bits; the caller knows that the value fits.
#[inline(always)]
#[must_use]
pub fn low_u8(value: u64) -> u8 {
    debug_assert!(value <= 0xff);
    value as u8
}

/// The low 32 bits; the caller knows that the value fits.
#[inline(always)]
#[must_use]
pub fn low_u32(value: u64) -> u32 {
    debug_assert!(value <= 0xffff_ffff);
    value as u32
}

/// The low 64 bits of a 128-bit value: the other half is dropped on purpose.
#[inline(always)]
#[must_use]
pub fn low_u64(value: u128) -> u64 {
    value as u64
}

/// Nearest floating-point value, for rates and estimates shown to people.
#[inline(always)]
#[must_use]
pub fn approximate(value: u64) -> f64 {
    value as f64
}

/// Nearest floating-point value of a 128-bit count, for sizes shown to people.
#[inline(always)]
#[must_use]
pub fn approximate_u128(value: u128) -> f64 {
    value as f64
}

/// A non-negative estimate as a count, rounded down; saturates.
#[inline(always)]
#[must_use]
pub fn rounded_down(value: f64) -> u64 {
    value as u64
}

/// Bits of a signed 32-bit length known to be non-negative.
#[inline(always)]
#[must_use]
pub fn non_negative(value: i32) -> u64 {
    debug_assert!(value >= 0);
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_as_their_number_and_order_by_it() {
        assert_eq!(StateRank(12).to_string(), "12");
        assert_eq!(format!("{:>4}", Depth(7)), "   7");
        assert!(ShardId(2) < ShardId(10));
        assert_eq!(Depth::ZERO.next(), Depth(1));
    }

    #[test]
    fn casts_keep_the_extremes() {
        assert_eq!(to_u64(to_usize(u64::MAX)), u64::MAX);
        assert_eq!(low_u64(u128::MAX), u64::MAX);
        assert_eq!(rounded_down(-1.0), 0);
        assert_eq!(rounded_down(1e300), u64::MAX);
    }
}
