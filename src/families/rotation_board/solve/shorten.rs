//! Words made shorter without a search: turns of one block that meet, past turns of blocks apart
//! from it, become one turn or none.

use crate::base::ids::to_u64;
use crate::families::rotation_board::{BlockTurn, BoardShape};

/// The word with turns of one block joined. Costs the length times the turns that a turn can pass.
#[must_use]
pub fn shortened(shape: BoardShape, word: &[BlockTurn]) -> Vec<BlockTurn> {
    let mut kept: Vec<BlockTurn> = Vec::with_capacity(word.len());
    for &turn in word {
        // The nearest turn before that this one cannot pass.
        match kept.iter().rposition(|other| meet(shape, other.block, turn.block)) {
            Some(at) if kept[at].block == turn.block => match (kept[at].quarters + turn.quarters) % 4 {
                0 => drop(kept.remove(at)),
                quarters => kept[at].quarters = quarters,
            },
            _ => kept.push(turn),
        }
    }
    kept
}

/// Whether two blocks share a cell.
fn meet(shape: BoardShape, first: u32, second: u32) -> bool {
    let ((row, column), (other_row, other_column)) = (shape.corner(first), shape.corner(second));
    row.abs_diff(other_row) < shape.block() && column.abs_diff(other_column) < shape.block()
}

/// The word that undoes `word`.
#[must_use]
pub fn inverse(word: &[BlockTurn]) -> Vec<BlockTurn> {
    word.iter().rev().map(|turn| turn.inverse()).collect()
}

/// Lengths in quarter turns and with half turns at 1.
#[must_use]
pub fn lengths(word: &[BlockTurn]) -> (u64, u64) {
    (word.iter().map(|turn| turn.quarter_cost()).sum(), to_u64(word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::rotation_board::parse_turns;

    #[test]
    fn turns_pass_blocks_apart() {
        let shape = BoardShape::new(2, 5, 2).expect("valid");
        for (word, short) in [("AA", "A2"), ("ACA'", "C"), ("ABA'", "ABA'"), ("ADCC'D'A'", ""), ("A2CA", "A'C"), ("ADADADAD", "")] {
            let word = parse_turns(shape, word).expect("turns");
            let short = parse_turns(shape, short).expect("turns");
            assert_eq!(shortened(shape, &word), short);
            let mut cells: [[u32; 10]; 2] = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]; 2];
            word.iter().for_each(|&turn| shape.turn(&mut cells[0], turn));
            short.iter().for_each(|&turn| shape.turn(&mut cells[1], turn));
            assert_eq!(cells[0], cells[1]);
        }
        assert_eq!(lengths(&parse_turns(shape, "A2BC'").expect("turns")), (4, 3));
    }
}
