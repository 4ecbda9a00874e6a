//! What a process that owns source blocks contributes to target lanes of another one: one bit for
//! each state whose source it owns.
//!
//! Both sides work out which bits those are, so nothing but the bits is sent.

use super::kernel::Scratch;
use super::prefixes::{PrefixStrip, PrefixTable, STRIP};
use super::pull::{Bits, members};
use super::strip::MARGIN;
use super::units::{HALF, HALF_BITS, UNIT, read_half, read_unit, read_unit_exact, write_unit};
use super::{LaneExpansion, LaneSource};
use crate::base::bit_moves::{BitMoves, BitWork, do_work};
use crate::base::ids::index_u32;
use crate::expand::bit_stream::{BitReader, BitWriter};
use crate::expand::lane_plan::{LanePlan, MOST_CROSSINGS};

impl LaneExpansion {
    /// For the process that owns sources but not the target: the states of a part of `plane` whose
    /// neighbour by `generator` is in `source`, whatever is seen of them, as a run of bits. Only
    /// bits that the process can speak for are in it: those whose source block is `owned` (plane by
    /// plane, block by block), which the target's owner works out, too. `None` when no state has
    /// such a neighbour.
    #[must_use]
    pub fn contribute(
        &self,
        source: &LaneSource<'_>,
        owned: &[bool],
        prefixes: &PrefixTable,
        plane: usize,
        generator: usize,
    ) -> Option<Vec<u8>> {
        do_work(Contribute { expansion: self, source, owned, prefixes, plane, generator })
    }

    /// Adds what the owner of the `owned` blocks contributed to `units`. False when `contributed`
    /// is not as long as it must be.
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
        do_work(Receive { expansion: self, contributed, owned, prefixes, plane, generator, units })
    }

    /// Bits that [`LaneExpansion::contribute`] writes where many states are seen.
    #[must_use]
    pub fn contributed_bits(&self, owned: &[bool], prefixes: &PrefixTable, plane: usize, generator: usize) -> u64 {
        let Some((target_plane, plan)) = self.moves[plane * self.generators + generator] else { return 0 };
        let (plan, owned) = (&self.plans[plan], self.plane_of(owned, target_plane));
        prefixes
            .strips
            .iter()
            .zip(lanes_of_strips(prefixes.lanes))
            .flat_map(|(strip, lanes)| self.spoken_for(owned, strip, lanes, self.odd_planes[plane], plan))
            .map(|mask| u64::from(mask.count_ones()))
            .sum()
    }

    /// Bits of the target lanes of a strip whose source blocks are `owned`.
    #[inline(always)]
    fn spoken_for(&self, owned: &[bool], strip: &PrefixStrip, lanes: usize, odd_plane: bool, plan: &LanePlan) -> Bits {
        let mut masks = [0; STRIP];
        if plan.crossings > MOST_CROSSINGS {
            // Not split by state: every owner speaks for the whole lane.
            masks[..lanes].fill(if self.halved { HALF } else { UNIT });
            return masks;
        }
        for number in 0..plan.choices.len() {
            let (places, index) = self.slice(strip, odd_plane, plan, number);
            for lane in 0..lanes {
                if owned[index_u32(places.block[lane])] {
                    masks[lane] |= plan.moves[usize::from(index[lane])].target;
                }
            }
        }
        masks
    }
}

/// Lanes in each strip of a table of so many.
fn lanes_of_strips(lanes: usize) -> impl Iterator<Item = usize> {
    (0..lanes).step_by(STRIP).map(move |first| STRIP.min(lanes - first))
}

/// [`LaneExpansion::contribute`], for the instructions at hand.
struct Contribute<'a> {
    expansion: &'a LaneExpansion,
    source: &'a LaneSource<'a>,
    owned: &'a [bool],
    prefixes: &'a PrefixTable,
    plane: usize,
    generator: usize,
}

impl BitWork for Contribute<'_> {
    type Output = Option<Vec<u8>>;

    #[inline(always)]
    fn run<B: BitMoves>(self, moves: B) -> Option<Vec<u8>> {
        let Self { expansion, source, owned, prefixes, plane, generator } = self;
        let (target_plane, plan) = expansion.moves[plane * expansion.generators + generator]?;
        let kernel = expansion.kernels[plan].as_ref();
        let (plan, blocks, owned) =
            (&expansion.plans[plan], expansion.plane_of(&source.blocks, target_plane), expansion.plane_of(owned, target_plane));
        let odd_plane = expansion.odd_planes[plane];
        let mut any = 0;
        let mut stream = BitWriter::default();
        let mut bits = [0; STRIP];
        let mut scratch = Scratch::new();
        for (number, (strip, lanes)) in prefixes.strips.iter().zip(lanes_of_strips(prefixes.lanes)).enumerate() {
            let masks = expansion.spoken_for(owned, strip, lanes, odd_plane, plan);
            let mut wanted = 0;
            for (lane, &mask) in masks.iter().enumerate() {
                wanted |= u32::from(mask != 0) << lane;
            }
            match kernel {
                _ if wanted == 0 => {}
                Some(kernel) => {
                    let pulled = kernel.pull(moves, expansion, blocks, prefixes, strip, odd_plane, number * STRIP, &mut scratch);
                    for (lane, bits) in bits.iter_mut().enumerate() {
                        let pulled = &pulled.0[MARGIN..];
                        *bits = if expansion.halved { read_half(pulled, lane) } else { read_unit(pulled, lane) };
                    }
                }
                None => expansion.pull_lanes(moves, blocks, strip, wanted, odd_plane, plan, &mut bits),
            }
            for lane in members(wanted) {
                any |= bits[lane];
                stream.push(moves.extract_wide(bits[lane], masks[lane]), masks[lane].count_ones());
            }
        }
        (any != 0).then(|| stream.finish())
    }
}

/// [`LaneExpansion::receive`], for the instructions at hand.
struct Receive<'a> {
    expansion: &'a LaneExpansion,
    contributed: &'a [u8],
    owned: &'a [bool],
    prefixes: &'a PrefixTable,
    plane: usize,
    generator: usize,
    units: &'a mut [u8],
}

impl BitWork for Receive<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<B: BitMoves>(self, moves: B) -> bool {
        let Self { expansion, contributed, owned, prefixes, plane, generator, units } = self;
        let Some((target_plane, plan)) = expansion.moves[plane * expansion.generators + generator] else { return false };
        let (plan, owned) = (&expansion.plans[plan], expansion.plane_of(owned, target_plane));
        let mut stream = BitReader::new(contributed);
        let per_unit = expansion.lanes_per_unit();
        for (number, (strip, lanes)) in prefixes.strips.iter().zip(lanes_of_strips(prefixes.lanes)).enumerate() {
            let masks = expansion.spoken_for(owned, strip, lanes, expansion.odd_planes[plane], plan);
            for (unit, masks) in masks[..lanes].chunks(per_unit).enumerate() {
                let unit = number * STRIP / per_unit + unit;
                let mut bits = read_unit_exact(units, unit);
                for (lane, &mask) in (0_u32..).zip(masks) {
                    if mask != 0 {
                        bits |= moves.deposit_wide(stream.take(mask.count_ones()), mask) << (lane * HALF_BITS);
                    }
                }
                write_unit(units, unit, bits);
            }
        }
        stream.is_used_up()
    }
}
