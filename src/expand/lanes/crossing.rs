//! The labels that change between prefix and suffix under a permutation.

use super::prefixes::{Bytes, PrefixStrip, STRIP};
use crate::base::ids::{low_u8, low_u64, to_u64};
use crate::expand::lane_plan::{ORDERS, Origin, SUFFIX};
use crate::ranking::lehmer;

/// Bits of a lane, as two words, and how many are in the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaneMask {
    pub(super) low: u64,
    pub(super) high: u64,
    pub(super) low_bits: u32,
}

impl LaneMask {
    fn new(mask: u128) -> Self {
        let low = low_u64(mask);
        Self { low, high: low_u64(mask >> 64), low_bits: low.count_ones() }
    }
}

/// Which positions cross.
#[derive(Clone, Debug)]
pub(super) struct Crossing {
    /// Origins of the labels of the source's prefix.
    pub(super) prefix: Vec<Origin>,
    /// Positions of the source's prefix that hold suffix labels of the target, ascending.
    pub(super) positions: Vec<usize>,
    /// The target's suffix positions that they come from.
    pub(super) from: Vec<usize>,
    /// Positions of the target's prefix whose labels move out, in the order of the suffix positions
    /// that they move to.
    pub(super) moved_out: Vec<usize>,
    /// Those suffix positions of the source.
    pub(super) to: Vec<usize>,
    /// Whether the labels that stay in the suffix keep their order.
    pub(super) keeps_order: bool,
}

impl Crossing {
    pub(super) fn new(images: &[u8]) -> Self {
        let prefix_length = images.len() - SUFFIX;
        let (source_prefix, source_suffix) = images.split_at(prefix_length);
        let mut crossing =
            Self { prefix: Vec::new(), positions: Vec::new(), from: Vec::new(), moved_out: Vec::new(), to: Vec::new(), keeps_order: true };
        for (position, &image) in source_prefix.iter().enumerate() {
            match usize::from(image).checked_sub(prefix_length) {
                None => crossing.prefix.push(Origin::Prefix(image)),
                Some(from) => {
                    crossing.prefix.push(Origin::Crossing(low_u8(to_u64(crossing.from.len()))));
                    crossing.positions.push(position);
                    crossing.from.push(from);
                }
            }
        }
        for (place, &image) in source_suffix.iter().enumerate() {
            if usize::from(image) < prefix_length {
                crossing.moved_out.push(usize::from(image));
                crossing.to.push(place);
            }
        }
        crossing.keeps_order = source_suffix.iter().filter(|&&image| usize::from(image) >= prefix_length).is_sorted();
        crossing
    }

    /// Whether the crossing labels lead the target's suffix, in the order of their positions.
    pub(super) fn leads_target(&self) -> bool {
        self.from.iter().copied().eq(0..self.from.len())
    }

    /// The key of each lane of a strip as if no suffix label crossed: the ranks of the labels that
    /// move out among the target's suffix labels and each other, as digits to base 5, the first one
    /// lowest.
    #[inline(always)]
    pub(super) fn keys(&self, strip: &PrefixStrip) -> Bytes {
        let mut keys = [0_u8; STRIP];
        let mut unit = 1_u8;
        for &position in &self.moved_out {
            let labels = &strip.labels[position];
            for rest in &strip.rest {
                add_where_smaller(&mut keys, rest, labels, unit);
            }
            for &other in &self.moved_out {
                // A label is not smaller than itself.
                add_where_smaller(&mut keys, &strip.labels[other], labels, unit);
            }
            unit = unit.wrapping_mul(5);
        }
        keys
    }

    /// What suffix labels `labels` take off the keys if they cross.
    #[inline(always)]
    pub(super) fn key_less(&self, strip: &PrefixStrip, labels: &Bytes) -> Bytes {
        let mut less = [0_u8; STRIP];
        let mut unit = 1_u8;
        for &position in &self.moved_out {
            add_where_smaller(&mut less, labels, &strip.labels[position], unit);
            unit = unit.wrapping_mul(5);
        }
        less
    }
}

/// Adds `unit` to each of `sums` whose label `one` is smaller than `other`.
#[inline(always)]
fn add_where_smaller(sums: &mut Bytes, one: &Bytes, other: &Bytes, unit: u8) {
    for at in 0..STRIP {
        sums[at] = sums[at].wrapping_add(if one[at] < other[at] { unit } else { 0 });
    }
}

/// Whether an order of five labels is odd that has `values` at `places`, the rest ascending.
pub(super) fn is_odd(places: &[usize], values: &[u8]) -> bool {
    let mut rest = (0..5).filter(|label| !values.contains(label));
    let order: Vec<u8> = (0..SUFFIX)
        .map(|place| match places.iter().position(|&other| other == place) {
            Some(number) => values[number],
            None => rest.next().expect("five labels for five places"),
        })
        .collect();
    lehmer::unrank(SUFFIX, lehmer::rank(&order)).1
}

/// For each value of some suffix positions, as digits to base 5 (the first one lowest), the bits of
/// a lane that have it: labels by their rank among the five of the suffix. In a halved space only
/// the orders whose other labels are an odd permutation, or an even one: for either there are as
/// many bits, in the same order.
pub(super) fn masks_by_value<const VALUES: usize>(places: &[usize], others_odd: Option<bool>) -> [LaneMask; VALUES] {
    let mut masks = [0_u128; VALUES];
    for rank in 0..to_u64(ORDERS) {
        let (order, odd) = lehmer::unrank(SUFFIX, rank);
        let value = places.iter().rev().fold(0, |value, &place| value * SUFFIX + usize::from(order[place]));
        let values: Vec<u8> = places.iter().map(|&place| order[place]).collect();
        match others_odd {
            None => masks[value] |= 1 << rank,
            Some(others_odd) if odd ^ is_odd(places, &values) == others_odd => masks[value] |= 1 << (rank / 2),
            Some(_) => {}
        }
    }
    masks.map(LaneMask::new)
}
