//! Lane expansion: which states of a target lane have a neighbour in a set, 120 (or 60) states at a
//! time, without ranking any of them.
//!
//! *Pull.* An unseen state is new at depth d+1 exactly when one of its predecessors is in `seen` as
//! it stood at the start of the level: a predecessor of depth below d would have made it seen
//! already. So a dense level reads `seen` and writes the new states of each target lane once,
//! without atomics. With a generator set closed under inverses the predecessors are the neighbours;
//! for directed puzzles the inverse of each generator is compiled. Each permutation is compiled
//! into a kernel that moves 32 lanes at a time (`lanes/kernel.rs`).
//!
//! Stored unit: 120 bits of the numbering of states, one lane of 120 or two of 60 (halved space),
//! 15 bytes. All planes of a block share the table of prefixes.
//!
//! The new states' edges from `seen` are counted with multiplicity: a predecessor of a new state
//! that is seen lies at depth d, so they are the up-edges of level d, and where moves have inverses
//! the down-edges of level d+1. For directed puzzles the edges from `seen` into level d itself are
//! counted, too: they are the up-edges of level d-1 and the edges within level d.

use super::lane_plan::{LanePlan, MOST_PREFIX, SUFFIX};
use crate::base::fingerprint::{Fingerprint, LANE_STATES};
use crate::base::ids::{approximate, index_u32, to_u64, to_usize};
use crate::puzzle::{Puzzle, SignRule};
use crate::ranking::PlaneSpace;
use crate::ranking::lehmer::{self, FACTORIALS};

mod contributions;
mod crossing;
mod digit_swaps;
mod kernel;
mod pieces;
mod places;
mod prefixes;
mod pull;
mod runs;
mod slices;
mod strip;
#[cfg(test)]
mod tests;
mod units;

pub use prefixes::PrefixTable;

use digit_swaps::DigitSwaps;
use kernel::Kernel;

/// Bytes of a stored unit of 120 bits.
pub const UNIT_BYTES: usize = 15;

/// Nanoseconds of a unit: reading what is seen, counting and fingerprinting what is new.
const UNIT_NANOSECONDS: f64 = 6.0;

/// Nanoseconds of working out the prefix of a lane, once for all planes.
const PREFIX_NANOSECONDS: f64 = 10.0;

/// Bits read after a unit: slices handed in have this many bytes more than their units.
pub const PADDING_BYTES: usize = 8;

/// Where `seen` is: a slice for each plane and block, `plane * blocks + block`, of whole units and
/// [`PADDING_BYTES`] more; empty for a block that is not at hand, whose states count as unseen.
#[derive(Clone, Debug)]
pub struct LaneSource<'a> {
    /// The slices.
    pub blocks: Vec<&'a [u8]>,
}

/// What a slice of work found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneTally {
    /// New states.
    pub states: u64,
    /// Their fingerprint.
    pub fingerprint: Fingerprint,
    /// Edges to them from seen states.
    pub edges: u64,
    /// Edges from seen states to those of [`Target::level`].
    pub level_edges: u64,
    /// Odd ones among them, by the puzzle's sign; not counted where the moves fix no sign, and in
    /// halved spaces, which hold one sign only.
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
            level_edges: self.level_edges + other.level_edges,
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
    /// Prefix positions whose digits make the block's number; those of the others make the lane's.
    leading: usize,
    /// Weight of each prefix position's digit, in blocks or lanes.
    weights: [u32; MOST_PREFIX],
    plans: Vec<LanePlan>,
    /// For each plan what does the same to whole strips, where there is such a thing.
    kernels: Vec<Option<Kernel>>,
    digit_swaps: DigitSwaps,
    /// For each plane and generator: target plane and plan; `None` where the generator is absent.
    moves: Vec<Option<(usize, usize)>>,
    generators: usize,
    odd_planes: Vec<bool>,
    counts_odd: bool,
    is_directed: bool,
    /// Bits of a lane whose suffix is an even, or odd, permutation.
    suffix_signs: [u128; 2],
    /// For each plane and generator whether it moves labels of the leading positions, which select
    /// the block.
    crossing_blocks: Vec<bool>,
}

/// The shape of blocks that are whole units of lanes.
struct Shape {
    prefix_length: usize,
    lanes_per_block: u64,
    leading: usize,
    weights: [u32; MOST_PREFIX],
}

impl Shape {
    /// `None` where [`LaneExpansion::new`] returns none.
    fn of(puzzle: &Puzzle, blocks_per_plane: u64) -> Option<Self> {
        let planes = puzzle.as_planes()?;
        let space = PlaneSpace::of(planes, puzzle.starts());
        let length = index_u32(planes.arrangement_length());
        let block_states = space.arrangements() / blocks_per_plane;
        if length <= SUFFIX || !block_states.is_multiple_of(LANE_STATES) {
            return None;
        }
        let prefix_length = length - SUFFIX;
        let lanes_per_plane = FACTORIALS[length] / FACTORIALS[SUFFIX];
        let lanes_per_block = lanes_per_plane / blocks_per_plane;
        let mut weights = [0; MOST_PREFIX];
        let mut leading = 0;
        for (position, weight) in weights.iter_mut().enumerate().take(prefix_length) {
            let lanes = FACTORIALS[length - 1 - position] / FACTORIALS[SUFFIX];
            leading += usize::from(lanes >= lanes_per_block);
            *weight = u32::try_from(if lanes >= lanes_per_block { lanes / lanes_per_block } else { lanes }).ok()?;
        }
        // Both sums of weighted digits must fit, too.
        u32::try_from(lanes_per_block.max(blocks_per_plane)).ok()?;
        Some(Self { prefix_length, lanes_per_block, leading, weights })
    }
}

/// A part of a block in one plane: where new states go, and what is known of it.
pub struct Target<'a> {
    /// The plane.
    pub plane: usize,
    /// Seen states of the part.
    pub seen: &'a [u8],
    /// The states of the last level, whose edges from seen states are counted, too; only for
    /// directed puzzles.
    pub level: Option<&'a [u8]>,
    /// Receives the new states; as many units as the part has, no padding.
    pub next: &'a mut [u8],
    /// Number of the part's first unit in the whole space, for the fingerprint.
    pub first_unit: u64,
    /// For each generator the pulled states that other processes contributed; may be left empty
    /// when there are none.
    pub contributed: Vec<Option<&'a [u8]>>,
}

impl LaneExpansion {
    /// Whether [`LaneExpansion::new`] returns one; nothing is compiled.
    #[must_use]
    pub fn suits(puzzle: &Puzzle, blocks_per_plane: u64) -> bool {
        Shape::of(puzzle, blocks_per_plane).is_some()
    }

    /// Compiles `puzzle` for a cut of each plane into `blocks_per_plane` blocks. `None` when its
    /// states are no planes and arrangements, when it has too few positions for lanes, or its
    /// blocks are no whole units or have more than 2^32 lanes.
    #[must_use]
    pub fn new(puzzle: &Puzzle, blocks_per_plane: u64) -> Option<Self> {
        let Shape { prefix_length, lanes_per_block, leading, weights } = Shape::of(puzzle, blocks_per_plane)?;
        let planes = puzzle.as_planes()?;
        let space = PlaneSpace::of(planes, puzzle.starts());
        let (sign_rule, odd_planes) = planes.signs(puzzle.starts());
        // The moves that lead from a state to its predecessors.
        let is_directed = !puzzle.is_inverse_closed();
        let rules = &if is_directed { planes.inverted() } else { planes.clone() };
        let plans = rules.permutations().iter().map(|permutation| LanePlan::new(permutation, space.is_halved())).collect();
        let compiled = |permutation| Kernel::new(permutation, to_usize(lanes_per_block), space.is_halved());
        let kernels = rules.permutations().iter().map(compiled).collect();
        let moves: Vec<Option<(usize, usize)>> = (0..index_u32(rules.planes()))
            .flat_map(|plane| rules.generators().iter().map(move |generator| generator.moves[plane]))
            .map(|step| step.map(|step| (index_u32(step.target), index_u32(step.permutation))))
            .collect();
        let crosses = |plan: usize| {
            let images = rules.permutations()[plan].images();
            images[..leading].iter().enumerate().any(|(position, &image)| usize::from(image) != position)
        };
        let crossing_blocks = moves.iter().map(|step| step.is_some_and(|(_, plan)| crosses(plan))).collect();
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
            leading,
            weights,
            plans,
            kernels,
            digit_swaps: DigitSwaps::new(space.is_halved()),
            moves,
            generators: rules.generators().len(),
            odd_planes,
            counts_odd: sign_rule != SignRule::Free && !space.is_halved(),
            is_directed,
            suffix_signs,
            crossing_blocks,
        })
    }

    /// Whether a move has none that undoes it, so that [`Target::level`] is wanted.
    #[must_use]
    pub fn is_directed(&self) -> bool {
        self.is_directed
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

    /// Bytes of so many lanes, which are whole units.
    fn lane_bytes(&self, lanes: usize) -> usize {
        lanes / self.lanes_per_unit() * UNIT_BYTES
    }

    /// Whether `generator` takes states of `plane` to other blocks.
    #[must_use]
    pub fn crosses_blocks(&self, plane: usize, generator: usize) -> bool {
        self.crossing_blocks[plane * self.generators + generator]
    }

    /// The plane that `generator`, or what undoes it in directed puzzles, takes states of `plane`
    /// to; `None` where it is absent.
    #[must_use]
    pub fn target_plane(&self, plane: usize, generator: usize) -> Option<usize> {
        self.moves[plane * self.generators + generator].map(|(target, _)| target)
    }

    /// Estimated nanoseconds to pull one unit that is not full, by all generators, averaged over
    /// planes. Measured on one machine (`cargo bench --bench lanes`); only the choice between
    /// expansions depends on it.
    #[must_use]
    pub fn unit_cost(&self) -> f64 {
        let moves: f64 = self.moves.iter().flatten().map(|&(_, plan)| self.plan_cost(plan)).sum();
        let lanes = approximate(to_u64(self.lanes_per_unit()));
        let planes = approximate(to_u64(self.planes()));
        UNIT_NANOSECONDS + lanes * (PREFIX_NANOSECONDS + moves) / planes
    }

    /// Estimated nanoseconds that a unit costs beside [`LaneExpansion::unit_cost`] when another
    /// process owns its sources: contributing (which pulls) and receiving.
    #[must_use]
    pub fn crossing_unit_cost(&self) -> f64 {
        let crossing = self.moves.iter().zip(&self.crossing_blocks).filter(|(_, crosses)| **crosses);
        let moves: f64 = crossing.filter_map(|(step, _)| *step).map(|(_, plan)| 2.5 * self.plan_cost(plan)).sum();
        approximate(to_u64(self.lanes_per_unit())) * moves / approximate(to_u64(self.planes()))
    }

    /// Nanoseconds of a lane.
    fn plan_cost(&self, plan: usize) -> f64 {
        if let Some(kernel) = &self.kernels[plan] {
            return kernel.nanoseconds();
        }
        let plan = &self.plans[plan];
        match (plan.is_identity, plan.crossings) {
            (true, _) => 1.5,
            (false, 0) if plan.inner.is_empty() => 8.0,
            (false, 0) => 16.0,
            (false, 1) => 30.0,
            (false, 2) => 100.0,
            (false, 3) => 310.0,
            _ => 3_500.0,
        }
    }

    /// The entries of a table by plane and block that belong to `plane`.
    #[inline(always)]
    fn plane_of<'a, T>(&self, table: &'a [T], plane: usize) -> &'a [T] {
        &table[plane * self.blocks_per_plane..(plane + 1) * self.blocks_per_plane]
    }
}
