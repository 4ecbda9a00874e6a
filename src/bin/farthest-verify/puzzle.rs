//! The rules of the puzzles. A move is a permutation of places: the piece that comes to place `j`
//! stood at place `from[j]` (from 0 here, from 1 in files).
//!
//! One function a family: `turnstyle`, `rotation_board` and `permutations` below; a further family
//! gets its own function and its line in [`Puzzle::read`].

use crate::limits::{Checked, Limits, hexadecimal, shown, unreadable, wide};
use crate::records::{Record, Records};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Most places, and most moves, of a puzzle that is no board.
const MOST: u64 = 1_000;

/// How the states are numbered for archives (`numbering.rs`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A ring whose turning is a move.
    Ring,
    /// A ring without a fixed first place, written from piece 1 on.
    Circle,
    /// Places and nothing else.
    Orbits,
    /// Rows of so many cells, in book order.
    Board { columns: u16 },
}

/// A puzzle in one metric.
pub struct Puzzle {
    /// What messages call it.
    pub title: String,
    /// Name and metric of a puzzle whose rules everybody knows; none for a puzzle of one's own.
    pub known: Option<(String, String)>,
    pub names: Vec<String>,
    /// Those that lead from the solved state on; where distances to it are meant, the moves undone.
    pub moves: Vec<Vec<u16>>,
    pub solved: Vec<u16>,
    pub shape: Shape,
    /// Whether distances to the solved state are meant, not from it, and it makes a difference.
    pub is_undone: bool,
    by_name: HashMap<String, usize>,
}

impl Puzzle {
    fn new(title: String, moves: Vec<(String, Vec<u16>)>, solved: Vec<u16>, shape: Shape) -> Self {
        let by_name = moves.iter().zip(0..).map(|((name, _), number)| (name.clone(), number)).collect();
        let (names, moves) = moves.into_iter().unzip();
        Self { title, known: None, names, moves, solved, shape, is_undone: false, by_name }
    }

    fn known(name: String, metric: &str, moves: Vec<(String, Vec<u16>)>, solved: Vec<u16>, shape: Shape) -> Self {
        let title = format!("{name} ({metric})");
        Self { known: Some((name, metric.into())), ..Self::new(title, moves, solved, shape) }
    }

    /// What a claim calls it: a name that everybody knows, or the rules with their digest. Nothing
    /// is cut.
    pub fn named(&self) -> String {
        if self.known.is_some() {
            return self.title.clone();
        }
        let moves: Vec<String> = self.names.iter().zip(self.rules()).map(|(name, from)| format!("{name} = {}", cycles(&from))).collect();
        let in_order = (1..=u16::MAX).zip(&self.solved).all(|(place, label)| place == *label);
        let solved = if in_order { String::new() } else { format!("; solved {}", state_text(&self.solved)) };
        format!("{} (rules of SHA-256 {}: {}{solved})", self.title, self.digest(), moves.join(", "))
    }

    /// SHA-256 of the records that a certificate has for a puzzle of one's own.
    pub fn digest(&self) -> String {
        let places = |from: &[u16]| from.iter().map(|place| format!(" {}", place + 1)).collect::<String>();
        let mut text = format!("puzzle permutations {} {}\n", self.solved.len(), self.moves.len());
        for (name, from) in self.names.iter().zip(self.rules()) {
            text += &format!("generator {name}{}\n", places(&from));
        }
        text += &format!("solved {}\n", state_text(&self.solved));
        hexadecimal(&Sha256::digest(text))
    }

    /// The moves as they are made.
    fn rules(&self) -> Vec<Vec<u16>> {
        self.moves.iter().map(|from| if self.is_undone { inverse(from) } else { from.clone() }).collect()
    }

    /// The same puzzle with its moves undone: what leads from the solved state on here leads to it
    /// there.
    pub fn undone(self) -> Self {
        Self { moves: self.moves.iter().map(|from| inverse(from)).collect(), is_undone: !self.is_undone, ..self }
    }

    /// Turnstyle: `size` pieces on a ring, the table over places 0 to 3 takes ABCD to BADC, shifts
    /// turn the whole ring. None when there is no such puzzle.
    pub fn turnstyle(size: u64, metric: &str) -> Option<Self> {
        let n = u16::try_from(size).ok().filter(|_| (4..=MOST).contains(&size))?;
        let table = |place: u16| if place < 4 { place ^ 1 } else { place };
        let shift = |amount: u16| {
            let name = if amount == 1 { "R".into() } else { format!("R{amount}") };
            let name = if amount == n - 1 { "L".into() } else { name };
            (name, (0..n).map(|place| (place + n - amount) % n).collect::<Vec<u16>>())
        };
        let flip = ("F".to_owned(), (0..n).map(table).collect());
        let (moves, shape) = match metric {
            "step" => (vec![shift(1), shift(n - 1), flip], Shape::Ring),
            "turn" => ((1..n).map(shift).chain([flip]).collect(), Shape::Ring),
            // F with the table's first place `first` places clockwise from piece 1. The ring is
            // written from piece 1 on, before (piece 1 at place 0) and after.
            "flip" => {
                let mut known = HashSet::new();
                let turned = (0..n).map(|first| {
                    let from: Vec<u16> = (0..n).map(|place| (first + table((place + n - first) % n)) % n).collect();
                    let home = (0..n).find(|&place| from[usize::from(place)] == 0).expect("a permutation");
                    (format!("F{first}"), (0..n).map(|place| from[usize::from((place + home) % n)]).collect::<Vec<u16>>())
                });
                // For 4 pieces all flips are one.
                (turned.filter(|(_, from)| known.insert(from.clone())).collect(), Shape::Circle)
            }
            _ => return None,
        };
        Some(Self::known(format!("turnstyle-{n}"), metric, moves, (1..=n).collect(), shape))
    }

    /// A number rotation board: `[rows, columns, block]`, cells in book order. Every square of
    /// block x block cells turns counter-clockwise (its letter), clockwise (`'`) and, in `half`, by
    /// 180 degrees (`2`): counter-clockwise, what is in row i and column j of the block goes to row
    /// block + 1 - j, column i.
    pub fn rotation_board(measures: [u64; 3], metric: &str, place: &str, limits: &Limits) -> Checked<Self> {
        let [rows, columns, block] = measures;
        let turns: &[(usize, &str, &str)] = match metric {
            "quarter" => &[(1, "", "1"), (3, "'", "-1")],
            "half" => &[(1, "", "1"), (2, "2", "2"), (3, "'", "-1")],
            _ => return Err(unreadable(place, shown(metric), "the metric quarter or half")),
        };
        if block < 2 || block > rows.min(columns) {
            let found = format!("blocks of {block}x{block} cells on a board of {rows}x{columns}");
            return Err(unreadable(place, found, "blocks of at least 2x2 cells that fit the board"));
        }
        let found = format!("a board of {rows}x{columns} cells");
        let cells = u128::from(rows) * u128::from(columns);
        let (Ok(size), Ok(width)) = (u16::try_from(cells), u16::try_from(columns)) else {
            return Err(unreadable(place, found, format!("at most {} cells", u16::MAX)));
        };
        let (below, beside) = (rows - block + 1, columns - block + 1);
        let blocks = below * beside;
        // Every move as a list of places, perhaps with its inverse beside it; names are there
        // twice.
        let moves = u128::from(blocks) * u128::from(wide(turns.len()));
        limits.memory(place, moves * (4 * cells + 256))?;
        limits.steps(place, moves * 4 * cells)?;
        let first_letter = if blocks == 2 || blocks == 3 { b'X' } else { b'A' };
        let mut named = Vec::new();
        for (number, (top, left)) in (0..below).flat_map(|top| (0..beside).map(move |left| (top, left))).enumerate() {
            let cell = |i: u64, j: u64| usize::try_from((top + i - 1) * columns + left + j - 1).expect("a cell of the board");
            let mut quarter: Vec<u16> = (0..size).collect();
            for (i, j) in (1..=block).flat_map(|i| (1..=block).map(move |j| (i, j))) {
                quarter[cell(block + 1 - j, i)] = u16::try_from(cell(i, j)).expect("a cell of the board");
            }
            for &(quarters, sign, turn) in turns {
                let from = (1..quarters).fold(quarter.clone(), |from, _| moved(&from, &quarter));
                let letter = u8::try_from(number).ok().filter(|_| blocks <= 26).map(|number| char::from(first_letter + number));
                let name = letter.map_or_else(|| format!("{},{},{turn}", top + 1, left + 1), |letter| format!("{letter}{sign}"));
                named.push((name, from));
            }
        }
        let name = format!("rotation-board-{rows}x{columns}n{block}");
        Ok(Self::known(name, metric, named, (1..=size).collect(), Shape::Board { columns: width }))
    }

    /// The colours of a board's cells, like a checkerboard's: row plus column is odd, or even. None
    /// for other puzzles.
    pub fn colours(&self) -> Option<Vec<bool>> {
        let Shape::Board { columns } = self.shape else { return None };
        let width = usize::from(columns);
        Some((0..self.solved.len()).map(|cell| (cell / width + cell % width) % 2 == 1).collect())
    }

    /// The record `puzzle`, and those that belong to it.
    pub fn read(records: &mut Records, limits: &Limits) -> Checked<Self> {
        let record = records.expect("puzzle")?;
        match record.rest().next() {
            Some("turnstyle") => {
                let [_, size, metric] = record.fields("puzzle turnstyle N METRIC")?;
                let expected = format!("turnstyle of 4 to {MOST} pieces in step, turn or flip");
                Self::turnstyle(record.number(size)?, metric).ok_or_else(|| record.unreadable(shown(record.text()), expected))
            }
            Some("rotation-board") => {
                let [_, rows, columns, block, metric] = record.fields("puzzle rotation-board ROWS COLS BLOCK METRIC")?;
                let measures = [record.number(rows)?, record.number(columns)?, record.number(block)?];
                Self::rotation_board(measures, metric, &record.place(), limits)
            }
            Some("permutations") => Self::permutations(&record, records),
            _ => Err(record.unreadable(shown(record.text()), "a family that this checker knows: turnstyle, rotation-board, permutations")),
        }
    }

    fn permutations(record: &Record, records: &mut Records) -> Checked<Self> {
        let grammar = "puzzle permutations POSITIONS COUNT";
        let [_, places, count] = record.fields(grammar)?;
        let (places, count) = (record.number(places)?, record.number(count)?);
        let size = usize::try_from(places).ok().filter(|_| (1..=MOST).contains(&places) && (1..=MOST).contains(&count));
        let size = size.ok_or_else(|| record.unreadable(shown(record.text()), format!("1 to {MOST} positions and moves")))?;
        let mut moves: Vec<(String, Vec<u16>)> = Vec::new();
        let mut names = HashSet::new();
        for _ in 0..count {
            let record = records.expect("generator")?;
            let mut fields = record.rest();
            let name = fields.next().filter(|name| is_generator_name(name) && names.insert((*name).to_owned()));
            let name = name.ok_or_else(|| record.unreadable(shown(record.text()), "a name that no other move has, of plain letters"))?;
            moves.push((name.to_owned(), permutation(&record, fields, size)?));
        }
        let record = records.expect("solved")?;
        let solved = record.labels(record.rest(), size, u16::MAX)?;
        Ok(Self::new(format!("a puzzle of {places} places and {count} moves"), moves, solved, Shape::Orbits))
    }

    /// A puzzle of one's own: its generators, each a permutation.
    pub fn own(title: String, moves: Vec<(String, Vec<u16>)>, solved: Vec<u16>) -> Self {
        Self::new(title, moves, solved, Shape::Orbits)
    }

    /// A state in a record of this name: a rearrangement of the solved one.
    pub fn state(&self, record: &Record) -> Checked<Vec<u16>> {
        let labels = record.labels(record.rest(), self.solved.len(), u16::MAX)?;
        if !self.is_rearranged(&labels) {
            return Err(record.unreadable("other labels, or one too often", "a rearrangement of the solved state"));
        }
        if self.shape == Shape::Circle && labels[0] != 1 {
            return Err(record.unreadable(format!("a ring written from piece {} on", labels[0]), "piece 1 first, as shifts are free"));
        }
        Ok(labels)
    }

    /// Whether the labels are those of the solved state, in any order.
    pub fn is_rearranged(&self, labels: &[u16]) -> bool {
        let [labels, solved] = [labels, &self.solved].map(|labels| {
            let mut sorted = labels.to_vec();
            sorted.sort_unstable();
            sorted
        });
        labels == solved
    }

    /// The number of the move with this name.
    pub fn move_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Whether no two pieces are the same, so that a state is a permutation.
    pub fn is_distinct(&self) -> bool {
        self.solved.iter().collect::<HashSet<_>>().len() == self.solved.len()
    }

    /// The name of a move that is an odd permutation of places.
    pub fn odd_move(&self) -> Option<&str> {
        self.moves.iter().position(|from| is_odd(from)).map(|number| self.names[number].as_str())
    }

    /// Whether the inverse of each move is a move.
    pub fn is_inverse_closed(&self) -> bool {
        let known: HashSet<&Vec<u16>> = self.moves.iter().collect();
        self.moves.iter().all(|from| known.contains(&inverse(from)))
    }

    /// Whether both have the same moves by name, in any order, and the same solved state.
    pub fn has_rules_of(&self, other: &Self) -> bool {
        fn moves(puzzle: &Puzzle) -> HashMap<&String, Vec<u16>> {
            puzzle.names.iter().zip(puzzle.rules()).collect()
        }
        moves(self) == moves(other) && self.solved == other.solved && self.shape == other.shape
    }

    /// Elementary steps of one application of every move.
    pub fn steps_a_state(&self) -> u128 {
        u128::from(wide(self.moves.len())) * u128::from(wide(self.solved.len()))
    }
}

/// Whether this may be the name of a generator that a file lists.
pub fn is_generator_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b',' | b'"' | b'\\');
    (1..=32).contains(&name.len()) && name.bytes().all(fits)
}

/// A move as cycles of places from 1: `(1 2 3)` takes the piece at 1 to 2, that at 2 to 3, that at
/// 3 to 1.
fn cycles(from: &[u16]) -> String {
    let to = inverse(from);
    let mut seen = vec![false; to.len()];
    let mut text = String::new();
    for start in 0..to.len() {
        let mut cycle = Vec::new();
        let mut place = start;
        while !std::mem::replace(&mut seen[place], true) {
            cycle.push((place + 1).to_string());
            place = usize::from(to[place]);
        }
        if cycle.len() > 1 {
            text += &format!("({})", cycle.join(" "));
        }
    }
    if text.is_empty() { "()".into() } else { text }
}

/// A state as it is printed, whole.
pub fn state_text(labels: &[u16]) -> String {
    labels.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
}

/// What a move makes of a state.
pub fn moved(state: &[u16], from: &[u16]) -> Vec<u16> {
    from.iter().map(|&place| state[usize::from(place)]).collect()
}

pub fn inverse(from: &[u16]) -> Vec<u16> {
    let mut inverse = vec![0; from.len()];
    for (place, &source) in (0..).zip(from) {
        inverse[usize::from(source)] = place;
    }
    inverse
}

/// Whether a permutation of `0..n` is a product of an odd number of swaps: the number of places
/// less the number of cycles is odd.
pub fn is_odd(from: &[u16]) -> bool {
    let mut seen = vec![false; from.len()];
    let mut cycles = 0;
    for start in 0..from.len() {
        let mut place = start;
        cycles += usize::from(!seen[place]);
        while !std::mem::replace(&mut seen[place], true) {
            place = usize::from(from[place]);
        }
    }
    (from.len() - cycles) % 2 == 1
}

/// `size` places from 1 on, each once; from 0 in memory.
fn permutation<'a>(record: &Record, fields: impl Iterator<Item = &'a str>, size: usize) -> Checked<Vec<u16>> {
    let largest = u16::try_from(size).expect("at most MOST");
    let from: Vec<u16> = record.labels(fields, size, largest)?.into_iter().map(|place| place - 1).collect();
    if from.iter().collect::<HashSet<_>>().len() == size {
        return Ok(from);
    }
    Err(record.unreadable("a place twice", format!("each place from 1 to {size} once")))
}
