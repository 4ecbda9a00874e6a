//! What a process that owns source blocks contributes to target lanes of another one: one bit for each state whose source it owns.
//!
//! Both sides work out which bits those are, so nothing but the bits is sent.
#![allow(unsafe_code)]

use super::{LaneExpansion, LaneSource, PrefixRow, PrefixTable, UNIT, read_unit_exact, write_unit};
use crate::base::ids::{low_u32, to_usize};
use crate::base::mix::LANE_STATES;
#[cfg(target_arch = "x86_64")]
use crate::expand::bit_moves::Bmi2;
use crate::expand::bit_moves::{BitMoves, Portable};
use crate::expand::bit_stream::{BitReader, BitWriter};
use crate::expand::lane_plan::{LanePlan, MOST_CROSSINGS};

impl LaneExpansion {
    /// For the process that owns sources but not the target: the states of a part of `plane` whose neighbour by `generator` is in `source`, whatever is seen of
    /// them, as a run of bits. Only bits that the process can speak for are in it: those whose source block is `owned` (plane by plane, block by block), which the
    /// target's owner works out, too. `None` when no state has such a neighbour.
    #[must_use]
    pub fn contribute(
        &self,
        source: &LaneSource<'_>,
        owned: &[bool],
        prefixes: &PrefixTable,
        plane: usize,
        generator: usize,
    ) -> Option<Vec<u8>> {
        #[cfg(target_arch = "x86_64")]
        if let Some(moves) = Bmi2::new() {
            // SAFETY: as in `pull`.
            return unsafe { contribute_with_bmi2(self, moves, source, owned, prefixes, plane, generator) };
        }
        self.contribute_with(Portable, source, owned, prefixes, plane, generator)
    }

    /// Adds what the owner of the `owned` blocks contributed to `units`. False when `contributed` is not as long as it must be.
    #[must_use]
    pub fn receive(
        &self,
        contributed: &[u8],
        owned: &[bool],
        prefixes: &PrefixTable,
        plane: usize,
        generator: usize,
        units: &mut [u8],
    ) -> bool {
        #[cfg(target_arch = "x86_64")]
        if let Some(moves) = Bmi2::new() {
            // SAFETY: as in `pull`.
            return unsafe { receive_with_bmi2(self, moves, contributed, owned, prefixes, plane, generator, units) };
        }
        self.receive_with(Portable, contributed, owned, prefixes, plane, generator, units)
    }

    #[inline(always)]
    fn contribute_with<B: BitMoves>(
        &self,
        moves: B,
        source: &LaneSource<'_>,
        owned: &[bool],
        prefixes: &PrefixTable,
        plane: usize,
        generator: usize,
    ) -> Option<Vec<u8>> {
        let (target_plane, plan) = self.moves[plane * self.generators + generator];
        let (plan, blocks, owned) = (&self.plans[plan], self.plane_of(&source.blocks, target_plane), self.plane_of(owned, target_plane));
        let mut any = 0;
        let mut stream = BitWriter::default();
        for row in &prefixes.rows {
            let mask = self.spoken_for(owned, row, self.odd_planes[plane], plan);
            if mask != 0 {
                let bits = self.pull_lane(moves, blocks, row, self.odd_planes[plane], plan);
                any |= bits;
                stream.push(moves.extract_wide(bits, mask), mask.count_ones());
            }
        }
        (any != 0).then(|| stream.finish())
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn receive_with<B: BitMoves>(
        &self,
        moves: B,
        contributed: &[u8],
        owned: &[bool],
        prefixes: &PrefixTable,
        plane: usize,
        generator: usize,
        units: &mut [u8],
    ) -> bool {
        let (target_plane, plan) = self.moves[plane * self.generators + generator];
        let (plan, owned) = (&self.plans[plan], self.plane_of(owned, target_plane));
        let mut stream = BitReader::new(contributed);
        let per_unit = self.lanes_per_unit();
        for (unit, rows) in prefixes.rows.chunks(per_unit).enumerate() {
            let mut bits = read_unit_exact(units, unit);
            for (lane, row) in (0_u32..).zip(rows) {
                let mask = self.spoken_for(owned, row, self.odd_planes[plane], plan);
                if mask != 0 {
                    let lane_bits = moves.deposit_wide(stream.take(mask.count_ones()), mask);
                    bits |= lane_bits << (lane * low_u32(LANE_STATES / 2));
                }
            }
            write_unit(units, unit, bits);
        }
        stream.is_used_up()
    }

    /// Bits of a target lane whose source blocks are `owned`.
    #[inline(always)]
    fn spoken_for(&self, owned: &[bool], row: &PrefixRow, odd_plane: bool, plan: &LanePlan) -> u128 {
        if plan.crossings > MOST_CROSSINGS {
            // Not split by state: every owner speaks for the whole lane.
            return if self.halved { UNIT >> 60 } else { UNIT };
        }
        let mut mask = 0;
        self.for_each_piece(row, plan, |place, piece| {
            if owned[to_usize(place >> 32)] {
                mask |= self.piece_move(row, odd_plane, plan, piece).target;
            }
        });
        mask
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
fn contribute_with_bmi2(
    expansion: &LaneExpansion,
    moves: Bmi2,
    source: &LaneSource<'_>,
    owned: &[bool],
    prefixes: &PrefixTable,
    plane: usize,
    generator: usize,
) -> Option<Vec<u8>> {
    expansion.contribute_with(moves, source, owned, prefixes, plane, generator)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
#[allow(clippy::too_many_arguments)]
fn receive_with_bmi2(
    expansion: &LaneExpansion,
    moves: Bmi2,
    contributed: &[u8],
    owned: &[bool],
    prefixes: &PrefixTable,
    plane: usize,
    generator: usize,
    units: &mut [u8],
) -> bool {
    expansion.receive_with(moves, contributed, owned, prefixes, plane, generator, units)
}
