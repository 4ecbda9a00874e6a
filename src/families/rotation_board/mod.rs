#![doc = include_str!("README.md")]

pub mod board;
pub mod build;
pub mod certificates;
pub mod group;
pub mod shape;
pub mod small_group;
pub mod solve;
mod turn_names;
mod turns;
pub mod unsolvable;
pub mod verdict;

pub use board::{Board, Random};
pub use build::{METRICS, build};
pub use certificates::{MOST_CERTIFIED_CELLS, certified, closed_set, labels, solved_labels, verdict_certificate};
pub use group::BoardGroup;
pub use shape::{BlockTurn, BoardShape};
pub use solve::{BoardSolution, Solver, solve_by_spirals, solve_shortest};
pub use turn_names::parse_turns;
pub use unsolvable::Unsolvable;
pub use verdict::verdict;

use super::{ConfiguredPuzzle, Family, PuzzleSource};
use crate::base::Result;
use crate::base::config_text::ConfigTable;
use crate::base::ids::low_u32;
use crate::evidence::certificates::{CertifiedPuzzle, Labels};
use crate::puzzle::{Layout, Puzzle};

/// The family's line in the registry. Bare measures (`3x4n2`, rows first) and Twiddle's parameters
/// (`twiddle:4x3n2`) are names of boards, too.
pub const FAMILY: Family = Family {
    name: "rotation-board",
    read,
    of_short_name: |name| Ok(BoardShape::from_name(name)?.map(PuzzleSource::new)),
    short_names: "rotation-board-ROWSxCOLUMNSnBLOCK",
    examples: Vec::new,
};

fn read(table: &mut ConfigTable) -> Result<PuzzleSource> {
    let mut measure = |key: &str| table.required_integer(key, 2..=u64::from(u32::MAX)).map(low_u32);
    let (rows, columns, block) = (measure("rows")?, measure("cols")?, measure("block")?);
    BoardShape::new(rows, columns, block).map(PuzzleSource::new).map_err(|error| table.place_of("block").error(error))
}

/// A board of any size, though only small ones can be built.
impl ConfiguredPuzzle for BoardShape {
    fn name(&self) -> String {
        Self::name(*self)
    }

    fn metrics(&self) -> Vec<String> {
        METRICS.map(str::to_owned).to_vec()
    }

    fn build(&self, metric: &str) -> Result<Puzzle> {
        build(*self, metric)
    }

    fn to_toml(&self) -> String {
        format!("family = \"rotation-board\"\nrows = {}\ncols = {}\nblock = {}\n", self.rows(), self.columns(), self.block())
    }

    fn certified(&self, metric: &str) -> Result<CertifiedPuzzle> {
        Ok(certified(*self, metric))
    }

    /// The order of the arranged cells is an optimiser's choice.
    fn arranged(&self, built: &Puzzle) -> Option<Labels> {
        let Layout::Orbits { arranged, .. } = built.layout() else { return None };
        Some(arranged.iter().map(|&position| u16::from(position) + 1).collect())
    }
}
