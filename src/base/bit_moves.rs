//! Extract and deposit: bits under a mask to the low end and back. BMI2 instructions where the
//! processor has fast ones, a portable form otherwise.
#![allow(unsafe_code)]

use crate::base::ids::low_u64;
#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

/// How bits are extracted and deposited; chosen once a program.
pub trait BitMoves: Copy + Send + Sync {
    /// Bits of `value` under `mask`, moved to the low end in order.
    fn extract(self, value: u64, mask: u64) -> u64;
    /// The low bits of `value`, moved under `mask` in order.
    fn deposit(self, value: u64, mask: u64) -> u64;

    /// [`BitMoves::extract`] for 128 bits.
    #[inline(always)]
    fn extract_wide(self, value: u128, mask: u128) -> u128 {
        let (low_mask, high_mask) = (low_u64(mask), low_u64(mask >> 64));
        let low = self.extract(low_u64(value), low_mask);
        let high = self.extract(low_u64(value >> 64), high_mask);
        u128::from(low) | u128::from(high) << low_mask.count_ones()
    }

    /// [`BitMoves::extract_wide`] for masks of less than 64 bits.
    #[inline(always)]
    fn extract_slice(self, value: u128, mask: u128) -> u64 {
        let low_mask = low_u64(mask);
        let high = self.extract(low_u64(value >> 64), low_u64(mask >> 64));
        self.extract(low_u64(value), low_mask) | high.wrapping_shl(low_mask.count_ones())
    }

    /// [`BitMoves::deposit_wide`] for masks of less than 64 bits.
    #[inline(always)]
    fn deposit_slice(self, value: u64, mask: u128) -> u128 {
        let low_mask = low_u64(mask);
        let high = self.deposit(value.wrapping_shr(low_mask.count_ones()), low_u64(mask >> 64));
        u128::from(self.deposit(value, low_mask)) | u128::from(high) << 64
    }

    /// [`BitMoves::deposit`] for 128 bits.
    #[inline(always)]
    fn deposit_wide(self, value: u128, mask: u128) -> u128 {
        let (low_mask, high_mask) = (low_u64(mask), low_u64(mask >> 64));
        let low = self.deposit(low_u64(value), low_mask);
        let high = self.deposit(low_u64(value >> low_mask.count_ones()), high_mask);
        u128::from(low) | u128::from(high) << 64
    }
}

/// Shifts and masks only.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl BitMoves for Portable {
    #[inline(always)]
    fn extract(self, value: u64, mask: u64) -> u64 {
        let (mut left, mut result, mut place) = (mask, 0, 0);
        // Run by run: most masks have few runs of neighbouring bits.
        while left != 0 {
            let first = left.trailing_zeros();
            let length = (left >> first).trailing_ones();
            let run = u64::MAX >> (64 - length);
            result |= (value >> first & run) << place;
            place += length;
            left &= !(run << first);
        }
        result
    }

    #[inline(always)]
    fn deposit(self, value: u64, mask: u64) -> u64 {
        let (mut left, mut result, mut rest) = (mask, 0, value);
        while left != 0 {
            let first = left.trailing_zeros();
            let length = (left >> first).trailing_ones();
            let run = u64::MAX >> (64 - length);
            result |= (rest & run) << first;
            rest = rest.checked_shr(length).unwrap_or(0);
            left &= !(run << first);
        }
        result
    }
}

/// The BMI2 instructions. Only made by [`Bmi2::new`], which checks that the processor has them.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct Bmi2(());

#[cfg(target_arch = "x86_64")]
impl Bmi2 {
    /// The instructions, when this processor has them and they are fast: AMD's before Zen 3 (family
    /// 19h) take up to hundreds of cycles (Fog, "Instruction tables", agner.org, 2022). Asked once
    /// a program: asking is slow on virtual machines.
    #[must_use]
    pub fn new() -> Option<Self> {
        static AVAILABLE: OnceLock<bool> = OnceLock::new();
        let available = *AVAILABLE.get_or_init(|| {
            std::is_x86_feature_detected!("bmi2")
                && std::is_x86_feature_detected!("bmi1")
                && std::is_x86_feature_detected!("lzcnt")
                && std::is_x86_feature_detected!("avx2")
                && std::is_x86_feature_detected!("popcnt")
                && !slow_on_this_processor()
        });
        available.then_some(Self(()))
    }
}

/// Whether this is an AMD processor older than family 19h.
#[cfg(target_arch = "x86_64")]
fn slow_on_this_processor() -> bool {
    use std::arch::x86_64::__cpuid;
    let vendor = __cpuid(0);
    let is_amd = [vendor.ebx, vendor.edx, vendor.ecx] == [0x6874_7541, 0x6974_6e65, 0x444d_4163];
    let signature = __cpuid(1).eax;
    let (base, extended) = (signature >> 8 & 0xf, signature >> 20 & 0xff);
    is_amd && base + if base == 0xf { extended } else { 0 } < 0x19
}

#[cfg(target_arch = "x86_64")]
impl BitMoves for Bmi2 {
    #[inline(always)]
    fn extract(self, value: u64, mask: u64) -> u64 {
        // SAFETY: a value of this type exists only on processors with BMI2.
        unsafe { std::arch::x86_64::_pext_u64(value, mask) }
    }

    #[inline(always)]
    fn deposit(self, value: u64, mask: u64) -> u64 {
        // SAFETY: a value of this type exists only on processors with BMI2.
        unsafe { std::arch::x86_64::_pdep_u64(value, mask) }
    }
}

/// Work that moves bits, written once for all ways to move them.
pub trait BitWork {
    /// What comes of it.
    type Output;

    /// Does the work. To be marked `#[inline(always)]`, so that [`do_work`] compiles it for the
    /// instructions at hand.
    fn run<B: BitMoves>(self, moves: B) -> Self::Output;
}

/// Does the work in the fastest way that this processor has.
#[inline]
pub fn do_work<W: BitWork>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if let Some(moves) = Bmi2::new() {
        // SAFETY: a value of this type exists only on processors with the features that the
        // function is compiled for.
        return unsafe { do_with_bmi2(work, moves) };
    }
    work.run(Portable)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
fn do_with_bmi2<W: BitWork>(work: W, moves: Bmi2) -> W::Output {
    work.run(moves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bit by bit, as the operations are defined.
    fn extracted(value: u128, mask: u128) -> u128 {
        let bits = (0..128).filter(|bit| mask >> bit & 1 == 1).enumerate();
        bits.fold(0, |result, (place, bit)| result | (value >> bit & 1) << place)
    }

    fn deposited(value: u128, mask: u128) -> u128 {
        let bits = (0..128).filter(|bit| mask >> bit & 1 == 1).enumerate();
        bits.fold(0, |result, (place, bit)| result | (value >> place & 1) << bit)
    }

    proptest! {
        #[test]
        fn all_forms_agree(value: u128, a: u128, b: u128, sparse: bool) {
            let mask = if sparse { a & b } else { a };
            prop_assert_eq!(Portable.extract_wide(value, mask), extracted(value, mask));
            prop_assert_eq!(Portable.deposit_wide(value, mask), deposited(value, mask));
            if mask.count_ones() < 64 {
                prop_assert_eq!(u128::from(Portable.extract_slice(value, mask)), extracted(value, mask));
                prop_assert_eq!(Portable.deposit_slice(low_u64(value), mask), deposited(value & u128::from(u64::MAX), mask));
            }
            #[cfg(target_arch = "x86_64")]
            if let Some(fast) = Bmi2::new() {
                prop_assert_eq!(fast.extract_wide(value, mask), extracted(value, mask));
                prop_assert_eq!(fast.deposit_wide(value, mask), deposited(value, mask));
                if mask.count_ones() < 64 {
                    prop_assert_eq!(u128::from(fast.extract_slice(value, mask)), extracted(value, mask));
                    prop_assert_eq!(fast.deposit_slice(low_u64(value), mask), deposited(value & u128::from(u64::MAX), mask));
                }
            }
        }
    }

    #[test]
    fn extreme_masks() {
        for mask in [0, u128::MAX, u128::from(u64::MAX), 1 << 127, u128::MAX << 64] {
            let value = 0x0123_4567_89ab_cdef_0fed_cba9_8765_4321_u128;
            assert_eq!(Portable.extract_wide(value, mask), extracted(value, mask));
            assert_eq!(Portable.deposit_wide(value, mask), deposited(value, mask));
        }
    }
}
