//! Rotation boards of `tests/known/boards`.

use farthest::families::rotation_board::Board;
use farthest::families::rotation_board::BoardShape;
use serde_json::Value;

/// A file of `tests/known/boards`.
pub fn known_boards(name: &str) -> Value {
    super::json(&super::known("boards"), name)
}

/// A board that exists.
pub fn shape(rows: u32, columns: u32, block: u32) -> BoardShape {
    BoardShape::new(rows, columns, block).expect("a board")
}

/// The board that an entry names.
pub fn shape_of(entry: &Value) -> BoardShape {
    let number = |key: &str| u32::try_from(entry[key].as_u64().expect("a number")).expect("small");
    shape(number("rows"), number("cols"), number("block"))
}

/// The tiles of an entry on its board.
pub fn board_of(entry: &Value) -> Board {
    let numbers: Vec<u64> = entry["board"].as_array().expect("a list").iter().map(|tile| tile.as_u64().expect("a tile")).collect();
    Board::new(shape_of(entry), &numbers).expect("a board")
}
