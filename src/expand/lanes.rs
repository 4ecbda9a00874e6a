//! Lane expansion: which states of a target lane have a neighbour in a set, 120 (or 60) states at a time, without ranking any of them.
//!
//! *Pull.* With a generator set closed under inverses, an unseen state is new at depth d+1 exactly when one of its neighbours is in `seen` as it stood at the
//! start of the level: a neighbour of depth below d would have made it seen already. So a dense level reads `seen` and writes the new states of each
//! target lane once, without atomics. For every target lane and generator the neighbour's lane is found by ranking one prefix (m - 5 labels), and its bits are
//! moved as `lane_plan.rs` compiled.
//!
//! Stored unit: 120 bits of the numbering of states, one lane of 120 or two of 60 (halved space), 15 bytes. All planes of a block share the table of prefixes.
//!
//! The new states' edges to `seen` are counted with multiplicity: a neighbour of a new state that is seen lies at depth d, so they are the down-edges of level
//! d+1, which are the up-edges of level d.
#![allow(unsafe_code)]

use super::bit_moves::{BitMoves, Portable};
use super::lane_plan::{LanePlan, MOST_CROSSINGS, MOST_PREFIX, Origin, PieceMove, SUFFIX};
use crate::base::ids::{approximate, index_u32, low_u64, to_u64, to_usize};
use crate::base::mix::{Fingerprint, LANE_STATES};
use crate::puzzle::Puzzle;
use crate::ranking::StateSpace;
use crate::ranking::lehmer::{self, FACTORIALS};

mod contributions;
#[cfg(test)]
mod tests;

/// Bytes of a stored unit of 120 bits.
pub const UNIT_BYTES: usize = 15;

const UNIT: u128 = (1 << LANE_STATES) - 1;

/// Bits read behind a unit: slices handed in have this many bytes more than their units.
pub const PADDING_BYTES: usize = 8;

/// Where `seen` is: a slice for each plane and block, `plane * blocks + block`, of whole units and [`PADDING_BYTES`] more; empty for a block that is
/// not at hand, whose states count as unseen.
#[derive(Clone, Debug)]
pub struct LaneSource<'a> {
    /// The slices.
    pub blocks: Vec<&'a [u8]>,
}

/// What a piece of work found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneTally {
    /// New states.
    pub states: u64,
    /// Their fingerprint.
    pub fingerprint: Fingerprint,
    /// Their edges to seen states.
    pub edges: u64,
    /// Odd ones among them, by the puzzle's sign.
    pub odd: u64,
}

impl LaneTally {
    /// Sum of two tallies.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            states: self.states + other.states,
            fingerprint: self.fingerprint.plus(other.fingerprint),
            edges: self.edges + other.edges,
            odd: self.odd + other.odd,
        }
    }
}

/// The generators of a puzzle, compiled for lanes, and the shape of its blocks.
#[derive(Clone, Debug)]
pub struct LaneExpansion {
    prefix_length: usize,
    halved: bool,
    blocks_per_plane: usize,
    lanes_per_block: usize,
    /// Weight of each prefix position's digit: the block's number in the high, the lane's in the low half.
    weights: [u64; MOST_PREFIX],
    plans: Vec<LanePlan>,
    /// For each plane and generator: target plane and plan.
    moves: Vec<(usize, usize)>,
    generators: usize,
    odd_planes: Vec<bool>,
    /// Bits of a lane whose suffix is an even, or odd, permutation.
    suffix_signs: [u128; 2],
    /// For each plane and generator whether it moves labels of the leading positions, which select the block.
    crossing_blocks: Vec<bool>,
}

/// The prefixes of neighbouring lanes of a block, worked out once for all planes.
#[derive(Clone, Debug, Default)]
pub struct PrefixTable {
    block: usize,
    first_lane: usize,
    rows: Vec<PrefixRow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PrefixRow {
    labels: [u8; MOST_PREFIX],
    /// Labels of the suffix, ascending.
    rest: [u8; SUFFIX],
    rest_set: u32,
    odd: bool,
}

/// A piece of a target lane: its number, and the labels of its source's suffix.
#[derive(Clone, Copy, Debug)]
struct Piece {
    number: usize,
    suffix_set: u32,
}

/// A part of a block in one plane: where new states go, and what is known of it.
pub struct Target<'a> {
    /// The plane.
    pub plane: usize,
    /// Seen states of the part.
    pub seen: &'a [u8],
    /// Receives the new states; as many units as the part has, no padding.
    pub next: &'a mut [u8],
    /// Number of the part's first unit in the whole space, for the fingerprint.
    pub first_unit: u64,
    /// For each generator the pulled states that other processes contributed; may be left empty when there are none.
    pub contributed: Vec<Option<&'a [u8]>>,
}

impl LaneExpansion {
    /// Compiles `puzzle` for a cut of each plane into `blocks_per_plane` blocks. `None` when it has too few positions for lanes, or generators that are not closed under
    /// inverses, or its blocks are no whole units.
    #[must_use]
    pub fn new(puzzle: &Puzzle, blocks_per_plane: u64) -> Option<Self> {
        let space = StateSpace::of(puzzle);
        let length = index_u32(puzzle.arrangement_length());
        let block_states = space.arrangements() / blocks_per_plane;
        if length <= SUFFIX || !puzzle.is_inverse_closed() || !block_states.is_multiple_of(LANE_STATES) {
            return None;
        }
        let prefix_length = length - SUFFIX;
        let lanes_per_plane = FACTORIALS[length] / FACTORIALS[SUFFIX];
        let lanes_per_block = lanes_per_plane / blocks_per_plane;
        let mut weights = [0; MOST_PREFIX];
        for (position, weight) in weights.iter_mut().enumerate().take(prefix_length) {
            let lanes = FACTORIALS[length - 1 - position] / FACTORIALS[SUFFIX];
            *weight = if lanes >= lanes_per_block { (lanes / lanes_per_block) << 32 } else { lanes };
        }
        let leading = weights.iter().take_while(|&&weight| weight >= 1 << 32).count();
        let plans = puzzle.permutations().iter().map(|permutation| LanePlan::new(permutation, space.is_halved())).collect();
        let moves: Vec<(usize, usize)> = (0..index_u32(puzzle.planes()))
            .flat_map(|plane| puzzle.generators().iter().map(move |generator| generator.moves[plane]))
            .map(|step| (index_u32(step.target), index_u32(step.permutation)))
            .collect();
        let crossing_blocks = moves
            .iter()
            .map(|&(_, plan)| {
                let images = puzzle.permutations()[plan].images();
                images[..leading].iter().enumerate().any(|(position, &image)| usize::from(image) != position)
            })
            .collect();
        let mut suffix_signs = [0; 2];
        for order in 0..LANE_STATES {
            let (_, odd) = lehmer::unrank(SUFFIX, order);
            suffix_signs[usize::from(odd)] |= 1 << order;
        }
        Some(Self {
            prefix_length,
            halved: space.is_halved(),
            blocks_per_plane: to_usize(blocks_per_plane),
            lanes_per_block: to_usize(lanes_per_block),
            weights,
            plans,
            moves,
            generators: puzzle.generators().len(),
            odd_planes: puzzle.sign_rule().1,
            suffix_signs,
            crossing_blocks,
        })
    }

    /// Number of generators.
    #[must_use]
    pub fn generators(&self) -> usize {
        self.generators
    }

    /// Number of planes.
    #[must_use]
    pub fn planes(&self) -> usize {
        self.odd_planes.len()
    }

    /// Units of 120 bits in a block.
    #[must_use]
    pub fn units_per_block(&self) -> usize {
        self.lanes_per_block / self.lanes_per_unit()
    }

    /// Blocks that each plane is cut into.
    #[must_use]
    pub fn blocks_per_plane(&self) -> usize {
        self.blocks_per_plane
    }

    fn lanes_per_unit(&self) -> usize {
        if self.halved { 2 } else { 1 }
    }

    /// Whether `generator` takes states of `plane` to other blocks.
    #[must_use]
    pub fn crosses_blocks(&self, plane: usize, generator: usize) -> bool {
        self.crossing_blocks[plane * self.generators + generator]
    }

    /// The plane that `generator` takes states of `plane` to.
    #[must_use]
    pub fn target_plane(&self, plane: usize, generator: usize) -> usize {
        self.moves[plane * self.generators + generator].0
    }

    /// Estimated nanoseconds to pull one unit that is not full, averaged over planes; of one generator, or all. Measured on one machine (`tests/benches`); only the
    /// choice between expansions depends on it.
    #[must_use]
    pub fn unit_cost(&self) -> f64 {
        let moves: f64 = self.moves.iter().map(|&(_, plan)| self.plan_cost(plan)).sum();
        let lanes = approximate(to_u64(self.lanes_per_unit()));
        25.0 + lanes * moves / approximate(to_u64(self.planes()))
    }

    /// Estimated nanoseconds that a unit costs beside [`LaneExpansion::unit_cost`] when another process owns its sources: contributing and receiving.
    #[must_use]
    pub fn crossing_unit_cost(&self) -> f64 {
        let crossing = self.moves.iter().zip(&self.crossing_blocks).filter(|(_, crosses)| **crosses);
        let moves: f64 = crossing.map(|(&(_, plan), _)| 2.0 * self.plan_cost(plan)).sum();
        approximate(to_u64(self.lanes_per_unit())) * moves / approximate(to_u64(self.planes()))
    }

    fn plan_cost(&self, plan: usize) -> f64 {
        let plan = &self.plans[plan];
        match (plan.is_identity, plan.crossings) {
            (true, _) => 3.0,
            (false, 0) => 12.0,
            (false, 1) => 60.0,
            (false, 2) => 250.0,
            (false, 3) => 900.0,
            _ => 6_000.0,
        }
    }

    /// Works out the prefixes of `units` units of `block` from `first_unit` on; they serve every plane.
    #[must_use]
    pub fn prefixes(&self, block: usize, first_unit: usize, units: usize) -> PrefixTable {
        let first_lane = first_unit * self.lanes_per_unit();
        let lanes = units * self.lanes_per_unit();
        let length = self.prefix_length + SUFFIX;
        let rows = (0..lanes)
            .map(|lane| {
                let number = to_u64(block * self.lanes_per_block + first_lane + lane);
                // The lane's first state has its suffix in ascending order, so its sign is the prefix's.
                let (labels, odd) = lehmer::unrank(length, number * LANE_STATES);
                let mut row = PrefixRow { odd, ..PrefixRow::default() };
                row.labels[..self.prefix_length].copy_from_slice(&labels[..self.prefix_length]);
                row.rest.copy_from_slice(&labels[self.prefix_length..length]);
                row.rest_set = row.rest.iter().fold(0, |set, label| set | 1 << label);
                row
            })
            .collect();
        PrefixTable { block, first_lane, rows }
    }

    /// Finds the new states of `target`, whose lanes are those of `prefixes`: unseen states with a neighbour in `source` or contributed.
    #[must_use]
    pub fn pull(&self, source: &LaneSource<'_>, prefixes: &PrefixTable, target: &mut Target<'_>) -> LaneTally {
        #[cfg(target_arch = "x86_64")]
        if let Some(moves) = super::bit_moves::Bmi2::new() {
            // SAFETY: a value of this type exists only on processors with the features that the function is compiled for.
            return unsafe { pull_with_bmi2(self, moves, source, prefixes, target) };
        }
        self.pull_portable(source, prefixes, target)
    }

    /// [`LaneExpansion::pull`] without special instructions; the same results.
    #[must_use]
    pub fn pull_portable(&self, source: &LaneSource<'_>, prefixes: &PrefixTable, target: &mut Target<'_>) -> LaneTally {
        self.pull_with(Portable, source, prefixes, target)
    }

    #[inline(always)]
    fn pull_with<B: BitMoves>(&self, moves: B, source: &LaneSource<'_>, prefixes: &PrefixTable, target: &mut Target<'_>) -> LaneTally {
        let mut tally = LaneTally::default();
        let steps = &self.moves[target.plane * self.generators..(target.plane + 1) * self.generators];
        let odd_plane = self.odd_planes[target.plane];
        let per_unit = self.lanes_per_unit();
        let units = target.next.len() / UNIT_BYTES;
        let mut pulled = vec![0_u128; self.generators];
        for unit in 0..units {
            let seen = read_unit(target.seen, unit);
            if seen == UNIT {
                write_unit(target.next, unit, 0);
                continue;
            }
            let mut all = 0;
            for (generator, (&(plane, plan), bits)) in steps.iter().zip(&mut pulled).enumerate() {
                *bits = self.pull_unit(moves, source, prefixes, unit, per_unit, odd_plane, plane, plan);
                if let Some(Some(contributed)) = target.contributed.get(generator) {
                    *bits |= read_unit_exact(contributed, unit);
                }
                all |= *bits;
            }
            let new = all & !seen;
            write_unit(target.next, unit, new);
            if new != 0 {
                tally.states += u64::from(new.count_ones());
                tally.edges += pulled.iter().map(|bits| u64::from((bits & new).count_ones())).sum::<u64>();
                tally.fingerprint = tally.fingerprint.plus(Fingerprint::of_lane(target.first_unit + to_u64(unit), new));
                if !self.halved {
                    let odd = self.suffix_signs[usize::from(!(prefixes.rows[unit].odd ^ odd_plane))];
                    tally.odd += u64::from((new & odd).count_ones());
                }
            }
        }
        tally
    }

    /// The entries of a table by plane and block that belong to `plane`.
    #[inline(always)]
    fn plane_of<'a, T>(&self, table: &'a [T], plane: usize) -> &'a [T] {
        &table[plane * self.blocks_per_plane..(plane + 1) * self.blocks_per_plane]
    }

    /// The states of one unit whose neighbour is in `source`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn pull_unit<B: BitMoves>(
        &self,
        moves: B,
        source: &LaneSource<'_>,
        prefixes: &PrefixTable,
        unit: usize,
        per_unit: usize,
        odd_plane: bool,
        plane: usize,
        plan: usize,
    ) -> u128 {
        let (plan, blocks) = (&self.plans[plan], self.plane_of(&source.blocks, plane));
        if plan.is_identity {
            let block = blocks[prefixes.block];
            return if block.is_empty() { 0 } else { read_unit(block, prefixes.first_lane / per_unit + unit) };
        }
        if per_unit == 1 {
            return self.pull_lane(moves, blocks, &prefixes.rows[unit], odd_plane, plan);
        }
        let low = self.pull_lane(moves, blocks, &prefixes.rows[2 * unit], odd_plane, plan);
        low | self.pull_lane(moves, blocks, &prefixes.rows[2 * unit + 1], odd_plane, plan) << (LANE_STATES / 2)
    }

    #[inline(always)]
    fn pull_lane<B: BitMoves>(&self, moves: B, blocks: &[&[u8]], row: &PrefixRow, odd_plane: bool, plan: &LanePlan) -> u128 {
        if plan.crossings > MOST_CROSSINGS {
            return self.pull_states(blocks, plan, row, odd_plane);
        }
        let mut result = 0;
        self.for_each_piece(row, plan, |place, piece| {
            let bits = self.read_lane(blocks, place);
            if bits == 0 {
                return;
            }
            let piece = self.piece_move(row, odd_plane, plan, piece);
            if plan.crossings == 0 {
                result = piece.inner_of(plan).map_or(bits, |inner| inner.apply(bits));
                return;
            }
            let mut extracted = moves.extract_wide(bits, piece.source);
            if let Some(inner) = piece.inner_of(plan) {
                extracted = inner.apply(extracted);
            }
            result |= moves.deposit_wide(extracted, piece.target);
        });
        result
    }

    /// Calls `visit` with every piece of a target lane: the place of its source lane (block in the high half, lane in the low one), and the piece.
    #[inline(always)]
    fn for_each_piece(&self, row: &PrefixRow, plan: &LanePlan, mut visit: impl FnMut(u64, Piece)) {
        let moved_set = plan.moved_out.iter().fold(0_u32, |set, &position| set | 1 << row.labels[usize::from(position)]);
        if plan.crossings == 1 {
            let places = self.source_places(plan, row);
            for (number, (place, label)) in places.into_iter().zip(row.rest).enumerate() {
                visit(place, Piece { number, suffix_set: (row.rest_set | moved_set) & !(1 << label) });
            }
            return;
        }
        for (number, choice) in plan.choices.iter().enumerate() {
            let mut crossing = [0; MOST_CROSSINGS];
            let mut suffix_set = row.rest_set | moved_set;
            for (label, &rank) in crossing.iter_mut().zip(choice).take(plan.crossings) {
                *label = row.rest[usize::from(rank)];
                suffix_set &= !(1 << *label);
            }
            visit(self.source_place(plan, row, &crossing), Piece { number, suffix_set });
        }
    }

    /// [`LaneExpansion::source_place`] for each of the five labels that may cross when one does. The labels that do not cross are ranked once; a crossing label x at
    /// position c has a digit of its own, and takes 1 off the digit of every larger label behind it.
    #[inline(always)]
    fn source_places(&self, plan: &LanePlan, row: &PrefixRow) -> [u64; SUFFIX] {
        let mut used = 0_u32;
        let mut common = 0_u64;
        let mut places = [0_u64; SUFFIX];
        for (number, (origin, weight)) in plan.prefix.iter().zip(self.weights).enumerate() {
            match *origin {
                Origin::Prefix(position) => {
                    let label = row.labels[usize::from(position)];
                    let below = (1_u32 << label) - 1;
                    common += u64::from(u32::from(label) - (used & below).count_ones()) * weight;
                    used |= below + 1;
                    if number > plan.crossing_at {
                        for (place, other) in places.iter_mut().zip(row.rest) {
                            *place = place.wrapping_sub(if other < label { weight } else { 0 });
                        }
                    }
                }
                Origin::Crossing(_) => {
                    for (place, label) in places.iter_mut().zip(row.rest) {
                        let below = (1_u32 << label) - 1;
                        *place = place.wrapping_add(u64::from(u32::from(label) - (used & below).count_ones()) * weight);
                    }
                }
            }
        }
        places.map(|place| place.wrapping_add(common))
    }

    /// How a piece moves: by the sign of the target lane, and the ranks of the moved-out labels among the source's suffix labels.
    #[inline(always)]
    fn piece_move<'a>(&self, row: &PrefixRow, odd_plane: bool, plan: &'a LanePlan, piece: Piece) -> &'a PieceMove {
        let sign = if self.halved { usize::from(row.odd ^ odd_plane) } else { 0 };
        let mut key = 0;
        for &position in plan.moved_out.iter().rev() {
            let below = piece.suffix_set & ((1 << row.labels[usize::from(position)]) - 1);
            key = key * SUFFIX + index_u32(below.count_ones());
        }
        &plan.moves[(sign * plan.choices.len() + piece.number) * plan.keys() + key]
    }

    /// Place of the source lane whose prefix the plan makes of the target's labels and the crossing ones.
    #[inline(always)]
    fn source_place(&self, plan: &LanePlan, row: &PrefixRow, crossing: &[u8; MOST_CROSSINGS]) -> u64 {
        let mut used = 0_u32;
        let mut place = 0_u64;
        for (origin, weight) in plan.prefix.iter().zip(self.weights) {
            let label = match *origin {
                Origin::Prefix(position) => row.labels[usize::from(position)],
                Origin::Crossing(number) => crossing[usize::from(number)],
            };
            let below = (1_u32 << label) - 1;
            place += u64::from(u32::from(label) - (used & below).count_ones()) * weight;
            used |= below + 1;
        }
        place
    }

    /// The lane at a place; 0 when its block is not at hand.
    #[inline(always)]
    fn read_lane(&self, blocks: &[&[u8]], place: u64) -> u128 {
        let block = blocks[to_usize(place >> 32)];
        if block.is_empty() {
            return 0;
        }
        let lane = to_usize(place & 0xffff_ffff);
        if self.halved { read_half(block, lane) } else { read_unit(block, lane) }
    }

    /// State by state, for permutations with more crossings than pieces are compiled for.
    fn pull_states(&self, blocks: &[&[u8]], plan: &LanePlan, row: &PrefixRow, odd_plane: bool) -> u128 {
        let sign = row.odd ^ odd_plane;
        let mut result = 0;
        for order in 0..LANE_STATES {
            let (suffix, odd) = lehmer::unrank(SUFFIX, order);
            if self.halved && odd != sign {
                continue;
            }
            let mut labels = lehmer::Labels::default();
            labels[..self.prefix_length].copy_from_slice(&row.labels[..self.prefix_length]);
            for (label, &rank) in labels[self.prefix_length..].iter_mut().zip(&suffix[..SUFFIX]) {
                *label = row.rest[usize::from(rank)];
            }
            let mut moved = lehmer::Labels::default();
            for (label, &image) in moved.iter_mut().zip(&plan.images) {
                *label = labels[usize::from(image)];
            }
            let rank = lehmer::rank(&moved[..plan.images.len()]);
            let place = if self.halved { rank / 2 } else { rank };
            let block_states = to_u64(self.units_per_block()) * LANE_STATES;
            let block = blocks[to_usize(place / block_states)];
            if !block.is_empty() {
                let offset = place % block_states;
                let bit = block[to_usize(offset / 8)] >> (offset % 8) & 1;
                result |= u128::from(bit) << (if self.halved { order / 2 } else { order });
            }
        }
        result
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
fn pull_with_bmi2(
    expansion: &LaneExpansion,
    moves: super::bit_moves::Bmi2,
    source: &LaneSource<'_>,
    prefixes: &PrefixTable,
    target: &mut Target<'_>,
) -> LaneTally {
    expansion.pull_with(moves, source, prefixes, target)
}

/// Unit `unit` of a slice that has at least one byte behind it.
#[inline(always)]
fn read_unit(bytes: &[u8], unit: usize) -> u128 {
    let first = unit * UNIT_BYTES;
    let window: [u8; 16] = bytes[first..first + 16].try_into().expect("sixteen bytes");
    u128::from_le_bytes(window) & UNIT
}

/// Unit `unit` of a slice without padding.
#[inline(always)]
fn read_unit_exact(bytes: &[u8], unit: usize) -> u128 {
    let mut window = [0; 16];
    window[..UNIT_BYTES].copy_from_slice(&bytes[unit * UNIT_BYTES..(unit + 1) * UNIT_BYTES]);
    u128::from_le_bytes(window)
}

/// The 60 bits of lane `lane` of a halved space.
#[inline(always)]
fn read_half(bytes: &[u8], lane: usize) -> u128 {
    let first = lane * UNIT_BYTES / 2;
    let window: [u8; 8] = bytes[first..first + 8].try_into().expect("eight bytes");
    let word = u64::from_le_bytes(window) >> (4 * (lane & 1));
    u128::from(word & low_u64(UNIT >> 60))
}

#[inline(always)]
fn write_unit(bytes: &mut [u8], unit: usize, bits: u128) {
    bytes[unit * UNIT_BYTES..(unit + 1) * UNIT_BYTES].copy_from_slice(&bits.to_le_bytes()[..UNIT_BYTES]);
}
