//! The reasons why a board cannot be solved, and what is said of them.

use super::BoardShape;
use std::fmt;

/// Why a board cannot be solved. Numbers are those of the tiles, rows and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsolvable {
    /// The only block is the board, and this is none of its four rotations.
    NoRotation,
    /// A tile stands on a cell of another colour than its home's.
    ColourBroken {
        /// The board.
        shape: BoardShape,
        /// The first such tile.
        tile: u32,
        /// Its cell.
        cell: u32,
    },
    /// The permutation is odd, all turns are even.
    Odd {
        /// The block's size.
        block: u32,
    },
    /// The two colours' permutations have different signs.
    SignsDiffer {
        /// The block's size.
        block: u32,
        /// Whether the colour of the corner is the odd one.
        first_is_odd: bool,
    },
    /// The permutations of the colours are not both even.
    ColourOdd {
        /// The block's size.
        block: u32,
        /// Whether the permutation of the corner's colour is odd, and of the other colour.
        odd: [bool; 2],
    },
    /// A 2x3 board that is not in PGL(2,5).
    NotProjective {
        /// The tiles of the first three cells.
        given: Vec<u32>,
        /// What the other cells hold in the only reachable board that begins so.
        forced: Vec<u32>,
    },
    /// A 3x4 board with 3x3 blocks whose two colours do not fit.
    OuterMismatch {
        /// The tiles that the cells of the corner's colour hold, in book order.
        given: Vec<u32>,
        /// The tiles that the other cells must hold then.
        forced: Vec<u32>,
    },
}

impl fmt::Display for Unsolvable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRotation => formatter.write_str("the only block is the whole board, and this is none of its four rotations"),
            Self::ColourBroken { shape, tile, cell } => {
                let (row, column) = shape.place(*cell);
                let (home_row, home_column) = shape.place(tile - 1);
                write!(
                    formatter,
                    "colour broken: tile {tile} is in row {}, column {}, its home is row {}, column {}; these cells have different colours of a \
                     checkerboard, and a turn of a block of odd size {} never changes a tile's colour",
                    row + 1,
                    column + 1,
                    home_row + 1,
                    home_column + 1,
                    shape.block()
                )
            }
            Self::Odd { block } => write!(
                formatter,
                "odd permutation: a quarter turn of a {block}x{block} block is {}, an even permutation, so only even ones can be undone",
                four_cycles(block * block / 4)
            ),
            Self::SignsDiffer { block, first_is_odd } => {
                let (odd, even) = if *first_is_odd { ("the corner's", "the other") } else { ("the other", "the corner's") };
                write!(
                    formatter,
                    "colour signs differ: the tiles on {odd} colour of the checkerboard are an odd permutation, those on {even} colour an even one; a quarter \
                     turn of a {block}x{block} block is {} on each colour, so it changes both signs",
                    four_cycles((block * block - 1) / 8)
                )
            }
            Self::ColourOdd { block, odd } => {
                let which = match odd {
                    [true, true] => "both colours are odd permutations",
                    [true, false] => "the corner's colour are an odd permutation",
                    _ => "the other colour than the corner's are an odd permutation",
                };
                write!(
                    formatter,
                    "one colour odd: the tiles on {which}; a quarter turn of a {block}x{block} block is {} on each colour of the checkerboard, \
                     an even permutation of each",
                    four_cycles((block * block - 1) / 8)
                )
            }
            Self::NotProjective { given, forced } => write!(
                formatter,
                "not in PGL(2,5): only 120 of the 720 boards can be reached, one for each choice of the first three tiles; with {} there the other \
                 three must be {}",
                listed(given),
                listed(forced)
            ),
            Self::OuterMismatch { given, forced } => write!(
                formatter,
                "outer-automorphism mismatch: each colour of the checkerboard determines the other by the outer automorphism of S6; with {} on the corner's \
                 colour the other one must hold {}",
                listed(given),
                listed(forced)
            ),
        }
    }
}

fn four_cycles(count: u32) -> String {
    format!("{count} four-cycle{}", if count == 1 { "" } else { "s" })
}

fn listed(tiles: &[u32]) -> String {
    tiles.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}
