//! The family `turnstyle`: `size = N`, in the metrics `step`, `turn` and `flip`.
//!
//! - [`build`]: the rules;
//! - [`ring`]: plays words on a ring of any size;
//! - [`arrangements`]: SWAPs, reversals, jumps;
//! - [`construction`]: a word for a SWAP of every even size from 8 on, and for a cycle of three in
//!   every size from 7 on;
//! - [`shortest`]: shortest words to many arrangements with one ball;
//! - [`swap`]: the certificates that settle SWAP for a size.

pub mod arrangements;
mod build;
pub mod construction;
pub mod ring;
pub mod shortest;
pub mod swap;

pub use build::{LARGEST_SIZE, METRICS, SMALLEST_SIZE, build, build_by_position};
pub use ring::Ring;

use super::{ConfiguredPuzzle, Family, PuzzleSource};
use crate::base::config_text::ConfigTable;
use crate::base::ids::low_u32;
use crate::base::{Error, Result};
use crate::evidence::certificates::CertifiedPuzzle;
use crate::puzzle::{Layout, Puzzle, State};

/// Positions on the table.
const TABLE_POSITIONS: usize = 4;

/// The family's line in the registry.
pub const FAMILY: Family = Family {
    name: "turnstyle",
    read,
    of_short_name: |name| size_in(name).map(source).transpose(),
    short_names: "turnstyle-4 to turnstyle-20",
    examples: || (SMALLEST_SIZE..=LARGEST_SIZE).map(|size| format!("turnstyle-{size}")).collect(),
};

/// Turnstyle(size) as configured.
#[derive(Clone, Copy, Debug)]
struct Turnstyle {
    size: u32,
}

/// Turnstyle(`size`).
///
/// # Errors
/// When the size does not exist, or its states have no 63-bit rank.
pub fn source(size: u32) -> Result<PuzzleSource> {
    // The message of `build` estimates the states, which is no use for absurd sizes.
    const LARGEST_ESTIMATED: u32 = 100;
    if size > LARGEST_ESTIMATED {
        return Err(Error::config(format!("turnstyle size {size}: state ranks have 63 bits, so the largest size is {LARGEST_SIZE}")));
    }
    build(size, METRICS[0])?;
    Ok(PuzzleSource::new(Turnstyle { size }))
}

/// Turnstyle of any size, searchable or not, as certificates name it.
#[must_use]
pub fn certified(size: u32, metric: &str) -> CertifiedPuzzle {
    CertifiedPuzzle::named(&format!("turnstyle {size} {metric}"))
}

fn read(table: &mut ConfigTable) -> Result<PuzzleSource> {
    let size = table.required_integer("size", u64::from(SMALLEST_SIZE)..=u64::from(u32::MAX))?;
    source(low_u32(size)).map_err(|error| table.place_of("size").error(error))
}

/// The size in `turnstyle-12`.
fn size_in(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("turnstyle-")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

impl ConfiguredPuzzle for Turnstyle {
    fn name(&self) -> String {
        format!("turnstyle-{}", self.size)
    }

    fn metrics(&self) -> Vec<String> {
        METRICS.map(str::to_owned).to_vec()
    }

    fn build(&self, metric: &str) -> Result<Puzzle> {
        build(self.size, metric)
    }

    fn to_toml(&self) -> String {
        format!("family = \"turnstyle\"\nsize = {}\n", self.size)
    }

    fn certified(&self, metric: &str) -> Result<CertifiedPuzzle> {
        Ok(certified(self.size, metric))
    }

    /// The ring, unrolled, with the turntable in brackets.
    fn picture(&self, built: &Puzzle, state: &State) -> String {
        let text = built.text(state);
        if !matches!(built.layout(), Layout::Cycle { .. }) {
            return text;
        }
        let labels: Vec<String> = text.split(' ').map(|label| format!("{label:>2}")).collect();
        let (table, ring) = labels.split_at(TABLE_POSITIONS.min(labels.len()));
        format!("[{} ] {}", table.join(" "), ring.join(" ")).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_brackets() {
        let source = source(10).expect("a puzzle");
        let picture = |metric: &str| {
            let puzzle = source.build(metric).expect("valid");
            source.picture(&puzzle, &puzzle.starts()[0])
        };
        assert_eq!(picture("step"), "[ 1  2  3  4 ]  5  6  7  8  9 10");
        assert_eq!(picture("flip"), "1 2 3 4 5 6 7 8 9 10");
    }

    #[test]
    fn the_sizes_are_those_of_the_family_line() {
        assert_eq!(FAMILY.short_names, format!("turnstyle-{SMALLEST_SIZE} to turnstyle-{LARGEST_SIZE}"));
    }
}
