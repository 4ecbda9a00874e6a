//! The number rotation board: numbers in `rows x cols` cells, every block of `block x block` cells
//! turns.
//!
//! ```toml
//! family = "rotation-board"
//! rows = 3
//! cols = 4
//! block = 2
//! ```
//!
//! Metrics: `quarter` (90 degrees cost 1 either way) and `half` (180 degrees cost 1, too). Blocks
//! of odd size keep the colours of a checkerboard, so the cells fall into two orbits: the larger
//! one is the arrangement, the other one the plane. The positions are numbered as suits a search by
//! lanes (`puzzle/compile/position_order.rs`), per metric; the text of a state is the board in book
//! order all the same.

use super::{BlockTurn, BoardShape};
use crate::base::ids::index_u32;
use crate::base::{Error, Result};
use crate::puzzle::compile::orbits::{self, PositionNumbers};
use crate::puzzle::permutation::MOST_POSITIONS;
use crate::puzzle::{Permutation, Puzzle};

/// The metrics of the family.
pub const METRICS: [&str; 2] = ["quarter", "half"];

/// The board in one metric. Generators: block by block, counter-clockwise, half a turn (in `half`),
/// clockwise; those that do the same on the only block of a tiny board are still different turns.
///
/// # Errors
/// `Config` when the board is too large for states to be ranked, or the metric does not exist.
pub fn build(shape: BoardShape, metric: &str) -> Result<Puzzle> {
    let name = shape.name();
    let quarters: &[u8] = match metric {
        "quarter" => &[1, 3],
        "half" => &[1, 2, 3],
        other => return Err(Error::config(format!("{name} has no metric \"{other}\"; its metrics are {}", METRICS.join(", ")))),
    };
    let positions = index_u32(shape.cells());
    if positions > MOST_POSITIONS {
        return Err(Error::config(format!(
            "puzzle {name}, metric {metric}: found {positions} cells, expected at most {MOST_POSITIONS}; its states cannot be ranked, \
             so they cannot be searched: choose a smaller board, or a solver that needs no search"
        )));
    }
    let turns: Vec<(String, Permutation)> = (0..shape.blocks())
        .flat_map(|block| quarters.iter().map(move |&quarters| BlockTurn { block, quarters }))
        .map(|turn| (shape.turn_name(turn), permutation(shape, turn)))
        .collect();
    orbits::compile(&name, metric, positions, &turns.iter().collect::<Vec<_>>(), PositionNumbers::FewestCrossings)
}

/// The turn in passive form: for each cell the cell whose content comes to it.
fn permutation(shape: BoardShape, turn: BlockTurn) -> Permutation {
    let undo = turn.inverse();
    let source = |cell: u32| shape.target(undo, cell);
    let sources: Vec<usize> = (0..shape.cells()).map(|cell| index_u32(source(cell))).collect();
    Permutation::from_fn(sources.len(), |cell| sources[cell])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::PuzzleSource;
    use crate::families::reading::puzzle_text;
    use crate::puzzle::SignRule;

    /// Planes, and positions of the arrangement.
    fn shape(puzzle: &Puzzle) -> (u32, u32) {
        let planes = puzzle.as_planes().expect("planes");
        (planes.planes(), planes.arrangement_length())
    }

    fn built(rows: u32, columns: u32, block: u32, metric: &str) -> Puzzle {
        build(BoardShape::new(rows, columns, block).expect("valid"), metric).expect("small")
    }

    #[test]
    fn generators_act_on_the_text_as_turns_on_the_board() {
        for (rows, columns, block) in [(2, 3, 2), (3, 2, 2), (3, 4, 2), (3, 4, 3), (4, 3, 3), (3, 5, 3), (4, 5, 4), (3, 3, 3)] {
            let shape = BoardShape::new(rows, columns, block).expect("valid");
            for metric in METRICS {
                let puzzle = built(rows, columns, block, metric);
                assert!(puzzle.is_inverse_closed());
                let mut board: Vec<u32> = (1..=shape.cells()).collect();
                let mut state = puzzle.starts()[0].clone();
                for step in 0..200_usize {
                    let generator = (step * step + step / 3) % puzzle.generators();
                    state = puzzle.apply(generator, &state);
                    let turns = crate::families::rotation_board::parse_turns(shape, puzzle.generator_name(generator)).expect("a turn");
                    shape.turn(&mut board, turns[0]);
                    let text: Vec<String> = board.iter().map(u32::to_string).collect();
                    assert_eq!(puzzle.text(&state), text.join(" "), "{shape} {metric} step {step}");
                }
            }
        }
    }

    #[test]
    fn odd_blocks_have_planes() {
        assert_eq!(shape(&built(3, 4, 2, "half")), (1, 12));
        assert_eq!(shape(&built(3, 4, 3, "half")), (720, 6));
        assert_eq!(shape(&built(3, 5, 3, "quarter")), (5_040, 8));
        assert_eq!(built(3, 5, 3, "quarter").sign_rule(), SignRule::Constant);
        assert_eq!(built(3, 4, 2, "quarter").sign_rule(), SignRule::Alternating);
        assert_eq!(built(4, 4, 4, "quarter").sign_rule(), SignRule::Constant);
    }

    #[test]
    fn configurations_are_read_and_checked() {
        let read = |text: &str| puzzle_text("x.toml", format!("family = \"rotation-board\"\n{text}"));
        let source = read("rows = 3\ncols = 4\nblock = 2\n").expect("valid");
        assert_eq!(source.name(), "rotation-board-3x4n2");
        assert_eq!(source.metrics(), METRICS);
        assert_eq!(puzzle_text("y.toml", source.to_toml()).expect("canonical"), source);
        assert_eq!(PuzzleSource::from_short_name("twiddle:4x3n2").expect("Twiddle's"), source);
        for (text, part) in [
            ("rows = 3\ncols = 4\nblock = 4\n", "x.toml:4:9: block: rotation board 3x4n4: found blocks of 4x4 cells, expected at most 3x3"),
            ("rows = 3\ncols = 4\nblock = 1\n", "x.toml:4:9: block: found 1, expected an integer from 2"),
            ("rows = 3\ncols = 4\n", "block"),
            ("rows = 3\ncolumns = 4\nblock = 2\n", "cols"),
        ] {
            let text = read(text).expect_err("refused").to_string();
            assert!(text.contains(part), "{text}");
        }
        for (name, part) in [
            ("16x16n2", "found 256 cells"),
            ("5x6n2", "found 30 positions"),
            ("9x5n3", "found 23 positions"),
            ("5x8n3", "arrangements of the 20 moved positions"),
        ] {
            let text = PuzzleSource::from_short_name(name).expect("a board").build("half").expect_err("large").to_string();
            assert!(text.contains(part), "{text}");
        }
        let text = build(BoardShape::new(3, 4, 2).expect("valid"), "step").expect_err("no metric").to_string();
        assert!(text.contains("quarter, half"), "{text}");
    }
}
