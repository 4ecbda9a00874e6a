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
use super::bit_stream::{BitReader, BitWriter};
use super::lane_plan::{LanePlan, MOST_CROSSINGS, MOST_PREFIX, Origin, PieceMove, SUFFIX};
use crate::base::ids::{approximate, index_u32, low_u32, low_u64, to_u64, to_usize};
use crate::base::mix::{Fingerprint, LANE_STATES};
use crate::puzzle::Puzzle;
use crate::ranking::StateSpace;
use crate::ranking::lehmer::{self, FACTORIALS};

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
        if let Some(moves) = super::bit_moves::Bmi2::new() {
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
        if let Some(moves) = super::bit_moves::Bmi2::new() {
            // SAFETY: as in `pull`.
            return unsafe { receive_with_bmi2(self, moves, contributed, owned, prefixes, plane, generator, units) };
        }
        self.receive_with(Portable, contributed, owned, prefixes, plane, generator, units)
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

    /// The entries of a table by plane and block that belong to `plane`.
    #[inline(always)]
    fn plane_of<'a, T>(&self, table: &'a [T], plane: usize) -> &'a [T] {
        &table[plane * self.blocks_per_plane..(plane + 1) * self.blocks_per_plane]
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,popcnt,lzcnt,avx2")]
fn contribute_with_bmi2(
    expansion: &LaneExpansion,
    moves: super::bit_moves::Bmi2,
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
    moves: super::bit_moves::Bmi2,
    contributed: &[u8],
    owned: &[bool],
    prefixes: &PrefixTable,
    plane: usize,
    generator: usize,
    units: &mut [u8],
) -> bool {
    expansion.receive_with(moves, contributed, owned, prefixes, plane, generator, units)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::StateRank;
    use crate::base::ids::low_u8;
    use crate::base::mix;
    use crate::expand::StateExpansion;
    use crate::puzzle::family::turnstyle;
    use crate::puzzle::{Layout, Permutation, State};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// One level from the set `seen`, by both expansions.
    fn check_level(puzzle: &Puzzle, seen: &BTreeSet<u64>, blocks: u64) {
        let space = StateSpace::of(puzzle);
        let lanes = LaneExpansion::new(puzzle, blocks).expect("closed under inverses, long enough");
        let states = StateExpansion::new(puzzle);
        // The oracle: unseen neighbours of seen states, and the edges to them.
        let mut new = BTreeSet::new();
        let mut edges = 0;
        for &rank in seen {
            states.expand(StateRank(rank), |successor| {
                if !seen.contains(&successor.0) {
                    new.insert(successor.0);
                    edges += 1;
                }
            });
        }
        let odd = new.iter().filter(|&&rank| states.expand(StateRank(rank), |_| {})).count();
        let expected =
            LaneTally { states: to_u64(new.len()), fingerprint: mix::of_sorted_ranks(new.iter().copied()), edges, odd: to_u64(odd) };
        // The same as bits, block by block.
        let block_bytes = lanes.units_per_block() * UNIT_BYTES;
        let parts = lanes.planes() * lanes.blocks_per_plane();
        let mut bits = vec![vec![0_u8; block_bytes + PADDING_BYTES]; parts];
        let block_states = to_u64(block_bytes) * 8;
        assert_eq!(to_u64(parts) * block_states, u64::try_from(space.state_count()).expect("small"));
        for &rank in seen {
            let offset = rank % block_states;
            bits[to_usize(rank / block_states)][to_usize(offset / 8)] |= 1 << (offset % 8);
        }
        let whole = LaneSource { blocks: bits.iter().map(Vec::as_slice).collect() };
        // Two processes: each holds every second block, and contributes to the other's.
        let half = |parity: usize| LaneSource {
            blocks: bits
                .iter()
                .enumerate()
                .map(|(at, block)| if at % lanes.blocks_per_plane() % 2 == parity { block.as_slice() } else { &[] })
                .collect(),
        };
        let halves = [half(0), half(1)];
        for (portable, split) in [(false, false), (true, false), (false, true)] {
            let mut tally = LaneTally::default();
            let mut found = BTreeSet::new();
            for block in 0..lanes.blocks_per_plane() {
                // In two parts, to try first units behind the block's start.
                let units = lanes.units_per_block();
                for (first, count) in [(0, units / 2), (units / 2, units - units / 2)] {
                    let prefixes = lanes.prefixes(block, first, count);
                    for plane in 0..lanes.planes() {
                        let part = plane * lanes.blocks_per_plane() + block;
                        let mut next = vec![0xff; count * UNIT_BYTES];
                        let mut given = vec![vec![0; count * UNIT_BYTES]; lanes.generators()];
                        let source = if split { &halves[block % 2] } else { &whole };
                        if split {
                            let other = &halves[1 - block % 2];
                            let owned: Vec<bool> = other.blocks.iter().map(|block| !block.is_empty()).collect();
                            for (generator, units) in given.iter_mut().enumerate() {
                                if let Some(stream) = lanes.contribute(other, &owned, &prefixes, plane, generator) {
                                    assert!(lanes.crosses_blocks(plane, generator));
                                    assert!(lanes.receive(&stream, &owned, &prefixes, plane, generator, units));
                                    assert!(!lanes.receive(&stream[1..], &owned, &prefixes, plane, generator, &mut units.clone()));
                                }
                            }
                        }
                        let mut target = Target {
                            plane,
                            seen: &bits[part][first * UNIT_BYTES..],
                            next: &mut next,
                            first_unit: to_u64(part * units + first),
                            contributed: if split { given.iter().map(|units| Some(units.as_slice())).collect() } else { Vec::new() },
                        };
                        tally = tally.plus(if portable {
                            lanes.pull_portable(source, &prefixes, &mut target)
                        } else {
                            lanes.pull(source, &prefixes, &mut target)
                        });
                        let base = to_u64(part) * block_states + to_u64(first) * LANE_STATES;
                        for offset in 0..to_u64(next.len()) * 8 {
                            if next[to_usize(offset / 8)] >> (offset % 8) & 1 == 1 {
                                found.insert(base + offset);
                            }
                        }
                    }
                }
            }
            let differ: Vec<_> = found.symmetric_difference(&new).take(5).collect();
            assert!(
                differ.is_empty(),
                "portable {portable}, split {split}: first ranks of {} and {} that differ: {differ:?}; {:?}",
                found.len(),
                new.len(),
                puzzle.permutations()
            );
            assert_eq!(tally, expected, "portable {portable}, split {split}");
        }
    }

    /// Levels of the search from the start, and of a search from random states.
    fn check_puzzle(puzzle: &Puzzle, blocks: u64, seed: u64) {
        let space = StateSpace::of(puzzle);
        let count = u64::try_from(space.state_count()).expect("small");
        let states = StateExpansion::new(puzzle);
        let mut seen: BTreeSet<u64> = (0..seed % 40).map(|i| mix::mix64(seed ^ i << 20) % count).collect();
        seen.insert(0);
        for _ in 0..4 {
            check_level(puzzle, &seen, blocks);
            let mut more = BTreeSet::new();
            for &rank in &seen {
                states.expand(StateRank(rank), |successor| {
                    more.insert(successor.0);
                });
            }
            seen.extend(more);
        }
        // A random half of all states.
        check_level(puzzle, &(0..count).filter(|&rank| mix::mix64(rank ^ seed) & 1 == 1).collect(), blocks);
    }

    #[test]
    fn turnstyle_levels_are_those_of_the_state_expansion() {
        for size in 7..=9_u32 {
            for metric in turnstyle::METRICS {
                let puzzle = turnstyle::build(size, metric).expect("valid");
                let halved = StateSpace::of(&puzzle).is_halved();
                let length = size - 1;
                for leading in 0..=length - if halved { 6 } else { 5 } {
                    let blocks = (0..leading).map(|i| u64::from(length - i)).product();
                    if size < 9 || leading == 1 {
                        check_puzzle(&puzzle, blocks, 7 + u64::from(size));
                    }
                }
            }
        }
    }

    /// A puzzle of random planes and permutations with their inverses.
    fn random_puzzle(length: usize, planes: u32, keys: &[u64], even: bool) -> Puzzle {
        let shuffled = |key: u64| -> Permutation {
            let mut images: Vec<u8> = (0..low_u8(to_u64(length))).collect();
            // Some move few positions, some all.
            let first = if key.is_multiple_of(3) { length.saturating_sub(3) } else { to_usize(key % 4) };
            images[first..].sort_by_key(|&image| mix::mix64(key ^ u64::from(image) << 32));
            let shuffled = Permutation::new(images).expect("a bijection");
            if even && shuffled.is_odd() {
                let mut swapped = shuffled.images().to_vec();
                swapped.swap(0, 1);
                return Permutation::new(swapped).expect("a bijection");
            }
            shuffled
        };
        let mut generators = Vec::new();
        for (number, &key) in keys.iter().enumerate() {
            // The first generator visits every plane, so that all of them are reached.
            let step = if number == 0 { 1 % planes } else { low_u32(key % 97) % planes };
            let forward: Vec<(u32, Permutation)> =
                (0..planes).map(|plane| ((plane + step) % planes, shuffled(key.wrapping_add(u64::from(plane))))).collect();
            let mut back: Vec<Option<(u32, Permutation)>> = vec![None; forward.len()];
            for (plane, (target, permutation)) in (0..planes).zip(&forward) {
                back[index_u32(*target)] = Some((plane, permutation.inverse()));
            }
            generators.push((format!("A{number}"), forward));
            generators.push((format!("B{number}"), back.into_iter().map(|step| step.expect("a bijection of planes")).collect()));
        }
        let start = State { plane: 0, arrangement: Permutation::identity(length).images().to_vec() };
        Puzzle::new("random", "step", length, generators, vec![start], Layout::Numbered).expect("valid")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn random_puzzles_expand_alike(length in 6_usize..=8, planes in 1_u32..=3, keys in proptest::collection::vec(any::<u64>(), 1..3), even: bool, seed: u64) {
            let puzzle = random_puzzle(length, planes, &keys, even);
            let halved = StateSpace::of(&puzzle).is_halved();
            let blocks = if length > 6 && (seed & 1 == 1 || halved) { to_u64(length) } else { 1 };
            check_puzzle(&puzzle, blocks, seed);
        }
    }
}
