//! `farthest solve-board`: the verdict on a number rotation board, and a word that solves it.

use super::session;
use crate::base::ids::to_u64;
use crate::base::regular_file::{self, What};
use crate::base::{Error, Result};
use crate::claims::boards;
use crate::families::rotation_board::{BlockTurn, BoardShape};
use crate::families::rotation_board::{Board, BoardGroup, BoardSolution, Solver, Unsolvable, solve_by_spirals, solve_shortest, verdict};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Bytes of the largest board file that is read.
const MOST_FILE_BYTES: u64 = 16 << 20;

/// Quarter turns that a random board is made of, for each cell.
const TURNS_PER_CELL: u64 = 20;

/// Most tiles that are moved to make a random board: a second or two. Fewer turns for each cell
/// only where blocks are huge, and move many tiles.
const MOST_MOVED_TILES: u64 = 1 << 30;

/// Arguments of `solve-board`.
#[derive(Clone, Debug, Args)]
pub struct SolveBoardArguments {
    /// The size of the board and of its blocks, such as 3x4n2: 3 rows, 4 columns, blocks of 2x2
    /// cells. Only a game of Twiddle does without it
    #[arg(long, value_name = "ROWSxCOLSnBLOCK", required_unless_present_any = ["board", "file"])]
    pub size: Option<String>,
    /// The numbers of the board, row by row, separated by blanks or commas; a / may end each row.
    /// Or a game of Twiddle with its width first, such as 3x3n2:5,1,...
    #[arg(long, value_name = "TEXT", group = "given", allow_hyphen_values = true)]
    pub board: Option<String>,
    /// A file with the board, one row on each line, or with a game of Twiddle; - reads standard
    /// input
    #[arg(long, value_name = "FILE", group = "given")]
    pub file: Option<PathBuf>,
    /// Make a board by random turns. The seed is a whole number; the same seed makes the same board
    #[arg(long, value_name = "SEED", group = "given")]
    pub random: Option<u64>,
    /// How the board is solved
    #[arg(long, value_enum, default_value_t = Method::Ladder)]
    pub method: Method,
    /// What counts as one move; --method optimal finds the fewest of them
    #[arg(long, value_enum, default_value_t = BoardMetric::Quarter)]
    pub metric: BoardMetric,
    /// Only say whether the board can be solved. This works for boards of up to a million cells
    #[arg(long)]
    pub verdict: bool,
    /// Write turns as row,column,turn instead of letters: the turn is 1 counter-clockwise, -1
    /// clockwise, 2 by 180 degrees
    #[arg(long)]
    pub machine: bool,
    /// Print one JSON object. The exit code is then 0 even if there is no solution
    #[arg(long)]
    pub json: bool,
}

/// How a board is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Place the numbers one by one, then finish with short words that move only three of them
    Ladder,
    /// The method of the puzzle's author: longer words, and blocks of any size from 5
    SpiralCycle,
    /// A shortest word; only for small boards
    Optimal,
}

/// What a turn costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BoardMetric {
    /// A turn by 90 degrees is one move, a turn by 180 degrees is two
    Quarter,
    /// Every turn is one move
    Half,
}

impl BoardMetric {
    /// The turns that cost 1, in quarters.
    fn quarters(self) -> &'static [u8] {
        match self {
            Self::Quarter => &[1, 3],
            Self::Half => &[1, 2, 3],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Quarter => "quarter",
            Self::Half => "half",
        }
    }
}

/// Prints verdict and word; returns 0, or 1 when the board cannot be solved (0 with `--json`, where
/// the object says so).
///
/// # Errors
/// `Usage` for a text that is no board, `Config` for a board that is too large for the method.
pub fn solve_board(arguments: &SolveBoardArguments) -> Result<i32> {
    let board = given_board(arguments)?;
    let found = if arguments.verdict {
        verdict(&board).map(|()| None)
    } else {
        match arguments.method {
            Method::Ladder => Solver::new(board.shape())?.solve(&board)?,
            Method::SpiralCycle => solve_by_spirals(&board)?,
            Method::Optimal => solve_shortest(&board, arguments.metric.quarters())?,
        }
        .map(Some)
    };
    if arguments.json {
        println!("{}", object(arguments, &board, &found));
        return Ok(0);
    }
    print(arguments, &board, &found);
    Ok(if found.is_ok() { 0 } else { 1 })
}

/// Prints the claims about these boards, each checked anew, as a document.
///
/// # Errors
/// When a search for a shortest word does not fit.
pub fn board_claims() -> Result<()> {
    print!("{}", boards::document(&boards::claims()?));
    Ok(())
}

/// The board that the arguments describe.
fn given_board(arguments: &SolveBoardArguments) -> Result<Board> {
    let shape = arguments.size.as_deref().map(size).transpose()?;
    let text = match (&arguments.board, &arguments.file) {
        (Some(text), _) => text.clone(),
        (None, Some(file)) => read(file)?,
        (None, None) => {
            let (Some(shape), Some(seed)) = (shape, arguments.random) else {
                return Err(Error::Usage("found no board, expected --board, --file or --random; give one of them".into()));
            };
            return Ok(Board::scrambled(shape, seed, random_turns(shape)));
        }
    };
    board_of(&text, shape)
}

/// The board of a text and its size, or of a game of Twiddle, which has its own.
///
/// # Errors
/// `Usage` when the text is no board, or there is no size, or two.
pub(super) fn board_of(text: &str, shape: Option<BoardShape>) -> Result<Board> {
    match (Board::from_twiddle(text)?, shape) {
        (Some(board), Some(shape)) if board.shape() != shape => Err(Error::Usage(format!(
            "found the size {shape} and a game of Twiddle on the board {} (rows x columns), expected one size; leave the size out",
            board.shape()
        ))),
        (Some(board), _) => Ok(board),
        (None, Some(shape)) => Board::parse(shape, text),
        (None, None) => Err(Error::Usage(
            "found a board without its size, expected ROWSxCOLSnBLOCK, such as 3x4n2, with it; give it, too (solve-board: --size 3x4n2)"
                .into(),
        )),
    }
}

/// The board of `3x4n2` or of a full name; rows come first.
///
/// # Errors
/// `Usage` when it is no size.
pub(super) fn size(text: &str) -> Result<BoardShape> {
    let name = if text.starts_with("rotation-") { text.to_owned() } else { format!("rotation-{text}") };
    BoardShape::from_name(&name)?.ok_or_else(|| {
        let shown = crate::base::config_text::shown_text(text);
        Error::Usage(format!("found the size \"{shown}\", expected rows x columns n block, such as 3x4n2"))
    })
}

fn read(file: &Path) -> Result<String> {
    let bytes = if file == Path::new("-") {
        session::read_input("the board", MOST_FILE_BYTES)?
    } else {
        match regular_file::look(file).map_err(|source| Error::io("read", file, source))? {
            (What::File, open) => regular_file::read_open(open, file, MOST_FILE_BYTES)?,
            (What::Folder, _) => return Err(Error::bad_data(file, "a folder", "a file with a board", "name a file in it")),
            (What::Other, _) => {
                let cure = "send the board to standard input and write --file -";
                return Err(Error::bad_data(file, "a pipe, socket or device", "a file with a board", cure));
            }
        }
    };
    if to_u64(bytes.len()) >= MOST_FILE_BYTES {
        return Err(Error::bad_data(file, format!("{MOST_FILE_BYTES} bytes or more"), "a board", "name the file of a board"));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| Error::bad_data(file, "bytes that are no text", "numbers", "name the file of a board"))?;
    // Some editors begin a file with a byte order mark.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Quarter turns that make a random board.
fn random_turns(shape: BoardShape) -> u64 {
    let tiles_a_turn = u64::from(shape.block()) * u64::from(shape.block());
    (TURNS_PER_CELL * u64::from(shape.cells())).min(MOST_MOVED_TILES / tiles_a_turn)
}

fn name(arguments: &SolveBoardArguments, shape: BoardShape, turn: BlockTurn) -> String {
    if arguments.machine { shape.machine_name(turn) } else { shape.turn_name(turn) }
}

fn word(arguments: &SolveBoardArguments, shape: BoardShape, solution: &BoardSolution) -> String {
    solution.word.iter().map(|&turn| name(arguments, shape, turn)).collect::<Vec<_>>().join(" ")
}

fn length(metric: BoardMetric, solution: &BoardSolution) -> u64 {
    match metric {
        BoardMetric::Quarter => solution.quarter,
        BoardMetric::Half => solution.half,
    }
}

/// Whether the length in the metric that was asked for is known to be the least.
fn is_optimal(arguments: &SolveBoardArguments, solution: &BoardSolution) -> bool {
    solution.shortest && (arguments.method == Method::Optimal || arguments.metric == BoardMetric::Quarter || solution.word.is_empty())
}

fn print(arguments: &SolveBoardArguments, board: &Board, found: &Result<Option<BoardSolution>, Unsolvable>) {
    let shape = board.shape();
    let group = BoardGroup::of(shape);
    println!("board {shape}: {} rows, {} columns, blocks of {2}x{2}", shape.rows(), shape.columns(), shape.block());
    println!("solvable boards: {}", group.description());
    if arguments.random.is_some() {
        println!("board: {}", board.text());
    }
    match found {
        Err(reason) => println!("not solvable: {reason}"),
        Ok(None) => println!("solvable"),
        Ok(Some(solution)) => {
            let least = if is_optimal(arguments, solution) { ", and none is shorter" } else { "" };
            println!(
                "solvable in {} turns ({} quarter turns, {} with half turns at 1){least}:",
                length(arguments.metric, solution),
                solution.quarter,
                solution.half
            );
            println!("{}", if solution.word.is_empty() { "(no turn)".to_owned() } else { word(arguments, shape, solution) });
        }
    }
}

fn object(arguments: &SolveBoardArguments, board: &Board, found: &Result<Option<BoardSolution>, Unsolvable>) -> serde_json::Value {
    let shape = board.shape();
    let solution = found.as_ref().ok().and_then(Option::as_ref);
    let reason = found.as_ref().err();
    json!({
        "puzzle": shape.name(),
        "metric": arguments.metric.name(),
        "board": board.text(),
        "solvable": found.is_ok(),
        "reason": reason.map(ToString::to_string),
        "reason_code": reason.map(Unsolvable::code),
        "solvable_boards": BoardGroup::of(shape).description(),
        "length": solution.map(|solution| length(arguments.metric, solution)),
        "quarter": solution.map(|solution| solution.quarter),
        "half": solution.map(|solution| solution.half),
        "word": solution.map(|solution| word(arguments, shape, solution)),
        "optimal": solution.is_some_and(|solution| is_optimal(arguments, solution)),
        "method": arguments.method.to_possible_value().map(|value| value.get_name().to_owned()),
    })
}
