//! Units of 120 bits and lanes of 60 or 120 in slices of bytes.

use super::UNIT_BYTES;
use crate::base::fingerprint::LANE_STATES;
use crate::base::ids::low_u64;

/// All bits of a unit.
pub(super) const UNIT: u128 = (1 << LANE_STATES) - 1;

/// Bits of a lane in a halved space, and all of them.
pub(super) const HALF_BITS: u32 = 60;
pub(super) const HALF: u128 = (1 << HALF_BITS) - 1;

/// Unit `unit` of a slice that has at least one byte after it; 0 when the slice does not reach
/// that far, like one of a block that is not at hand. The search checks before every level that the
/// slices at hand are whole (`check_at_hand`).
#[inline(always)]
pub(super) fn read_unit(bytes: &[u8], unit: usize) -> u128 {
    let first = unit * UNIT_BYTES;
    let Some(window) = bytes.get(first..first + 16).and_then(|window| window.first_chunk()) else { return 0 };
    u128::from_le_bytes(*window) & UNIT
}

/// Unit `unit` of a slice without padding.
#[inline(always)]
pub(super) fn read_unit_exact(bytes: &[u8], unit: usize) -> u128 {
    let mut window = [0; 16];
    window[..UNIT_BYTES].copy_from_slice(&bytes[unit * UNIT_BYTES..(unit + 1) * UNIT_BYTES]);
    u128::from_le_bytes(window)
}

/// The 60 bits of lane `lane` of a halved space; 0 when the slice does not reach that far.
#[inline(always)]
pub(super) fn read_half(bytes: &[u8], lane: usize) -> u128 {
    u128::from(read_run(bytes, lane * UNIT_BYTES * 4) & low_u64(HALF))
}

/// At least 57 bits of a slice from bit `first` on; 0 when the slice does not reach eight bytes
/// further.
#[inline(always)]
pub(super) fn read_run(bytes: &[u8], first: usize) -> u64 {
    let Some(window) = bytes.get(first / 8..first / 8 + 8).and_then(|window| window.first_chunk()) else { return 0 };
    u64::from_le_bytes(*window) >> (first % 8)
}

/// Overwrites a unit.
#[inline(always)]
pub(super) fn write_unit(bytes: &mut [u8], unit: usize, bits: u128) {
    bytes[unit * UNIT_BYTES..(unit + 1) * UNIT_BYTES].copy_from_slice(&bits.to_le_bytes()[..UNIT_BYTES]);
}
