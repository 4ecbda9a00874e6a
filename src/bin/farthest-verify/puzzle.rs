//! The rules of the puzzles. A move is a permutation of places: the piece that comes to place `j`
//! stood at place `from[j]`. Places count from 0 in memory and from 1 in files.
//!
//! Each family has one function: `turnstyle`, `rotation_board` and `permutations` below. A new
//! family needs its own function and a line in [`Puzzle::read`].

use crate::limits::{Checked, Limits, hexadecimal, shown, unreadable, wide};
use crate::records::{Record, Records};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// Most places, and most moves, of a puzzle that is not a board.
const MOST: u64 = 1_000;

/// What decides how the states are numbered for archives (`numbering.rs`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A ring that moves can turn as a whole.
    Ring,
    /// A ring without a fixed first place. Its states are written from piece 1 on.
    Circle,
    /// Places without any further structure.
    Orbits,
    /// Rows of `columns` cells each, numbered row by row.
    Board { columns: u16 },
}

/// A puzzle in one metric. Move number `i` is called `names[i]` and does `moves[i]`.
pub struct Puzzle {
    /// The name of the puzzle in messages.
    pub title: String,
    /// Name and metric of a built-in puzzle. None for a puzzle whose rules its author wrote.
    pub known: Option<(String, String)>,
    pub names: Vec<String>,
    /// The moves that lead away from the solved state. When distances to the solved state are
    /// counted, these are the inverses of the puzzle's moves.
    pub moves: Vec<Vec<u16>>,
    pub solved: Vec<u16>,
    pub shape: Shape,
    /// Whether `moves` are the inverses, so that distances to the solved state are counted. It is
    /// only set where that makes a difference.
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

    /// What a claim calls the puzzle: its built-in name, or its rules with their digest. Nothing is
    /// shortened.
    pub fn named(&self) -> String {
        if self.known.is_some() {
            return self.title.clone();
        }
        let moves: Vec<String> = self.names.iter().zip(self.rules()).map(|(name, from)| format!("{name} = {}", cycles(&from))).collect();
        let in_order = (1..=u16::MAX).zip(&self.solved).all(|(place, label)| place == *label);
        let solved = if in_order { String::new() } else { format!("; solved {}", state_text(&self.solved)) };
        format!("{} (rules of SHA-256 {}: {}{solved})", self.title, self.digest(), moves.join(", "))
    }

    /// SHA-256 of the records that a certificate has for a puzzle whose author wrote the rules.
    pub fn digest(&self) -> String {
        let places = |from: &[u16]| from.iter().map(|place| format!(" {}", place + 1)).collect::<String>();
        let mut text = format!("puzzle permutations {} {}\n", self.solved.len(), self.moves.len());
        for (name, from) in self.names.iter().zip(self.rules()) {
            text += &format!("generator {name}{}\n", places(&from));
        }
        text += &format!("solved {}\n", state_text(&self.solved));
        hexadecimal(&Sha256::digest(text))
    }

    /// The moves as the puzzle has them, whichever way distances are counted.
    fn rules(&self) -> Vec<Vec<u16>> {
        self.moves.iter().map(|from| if self.is_undone { inverse(from) } else { from.clone() }).collect()
    }

    /// The same puzzle with every move undone. A way from the solved state in one of the two is,
    /// read backwards, a way to the solved state in the other.
    pub fn undone(self) -> Self {
        Self { moves: self.moves.iter().map(|from| inverse(from)).collect(), is_undone: !self.is_undone, ..self }
    }

    /// Turnstyle: `size` pieces on a ring. The table covers places 0 to 3 and takes ABCD to BADC.
    /// Shifts turn the whole ring. None when there is no puzzle of this size or metric.
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
            // Move F`first` is F with the table's first place `first` places clockwise from piece
            // 1. The ring is written from piece 1 on, both before the move (piece 1 is then at
            // place 0) and after it.
            "flip" => {
                let mut known = HashSet::new();
                let turned = (0..n).map(|first| {
                    let from: Vec<u16> = (0..n).map(|place| (first + table((place + n - first) % n)) % n).collect();
                    let home = (0..n).find(|&place| from[usize::from(place)] == 0).expect("a permutation");
                    (format!("F{first}"), (0..n).map(|place| from[usize::from((place + home) % n)]).collect::<Vec<u16>>())
                });
                // With 4 pieces all flips are the same.
                (turned.filter(|(_, from)| known.insert(from.clone())).collect(), Shape::Circle)
            }
            _ => return None,
        };
        Some(Self::known(format!("turnstyle-{n}"), metric, moves, (1..=n).collect(), shape))
    }

    /// A number rotation board. `measures` are rows, columns and block; cells are numbered row by
    /// row. Every square of block x block cells can be turned: counter-clockwise (named by its
    /// letter), clockwise (`'`) and, in the metric `half`, by 180 degrees (`2`). Counter-clockwise,
    /// row i and column j of the block go to row block + 1 - j and column i.
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
        // Every move is a list of places, perhaps with its inverse beside it. Names are held twice.
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

    /// The colours of a board's cells, as on a checkerboard: true where row plus column is odd.
    /// None for other puzzles.
    pub fn colours(&self) -> Option<Vec<bool>> {
        let Shape::Board { columns } = self.shape else { return None };
        let width = usize::from(columns);
        Some((0..self.solved.len()).map(|cell| (cell / width + cell % width) % 2 == 1).collect())
    }

    /// Reads the record `puzzle` and the records that belong to it.
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

    /// A puzzle whose author wrote the rules. Each move is a permutation of places.
    pub fn own(title: String, moves: Vec<(String, Vec<u16>)>, solved: Vec<u16>) -> Self {
        Self::new(title, moves, solved, Shape::Orbits)
    }

    /// Reads a state from a record. It must be a rearrangement of the solved state.
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

    /// Whether these are the labels of the solved state, in any order.
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

    /// Whether all pieces are different, so that a state is a permutation.
    pub fn is_distinct(&self) -> bool {
        self.solved.iter().collect::<HashSet<_>>().len() == self.solved.len()
    }

    /// The name of the first move that is an odd permutation of places; none when all are even.
    pub fn odd_move(&self) -> Option<&str> {
        self.moves.iter().position(|from| is_odd(from)).map(|number| self.names[number].as_str())
    }

    /// Whether the inverse of each move is a move.
    pub fn is_inverse_closed(&self) -> bool {
        let known: HashSet<&Vec<u16>> = self.moves.iter().collect();
        self.moves.iter().all(|from| known.contains(&inverse(from)))
    }

    /// Whether both puzzles have the same moves by name, in any order, and the same solved state.
    pub fn has_rules_of(&self, other: &Self) -> bool {
        fn moves(puzzle: &Puzzle) -> HashMap<&String, Vec<u16>> {
            puzzle.names.iter().zip(puzzle.rules()).collect()
        }
        moves(self) == moves(other) && self.solved == other.solved && self.shape == other.shape
    }

    /// How many elementary steps it takes to apply every move once.
    pub fn steps_a_state(&self) -> u128 {
        u128::from(wide(self.moves.len())) * u128::from(wide(self.solved.len()))
    }
}

/// Whether a generator in a file may have this name: 1 to 32 characters that show themselves,
/// without blanks, quotation marks and backslashes. Nothing is seen of control characters, and of
/// marks without width, of direction, or that separate lines.
pub fn is_generator_name(name: &str) -> bool {
    let is_unseen = |letter: char| {
        letter.is_control()
            || letter.is_whitespace()
            || matches!(letter, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
            || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    (1..=32).contains(&name.chars().count()) && !name.chars().any(|letter| is_unseen(letter) || matches!(letter, '"' | '\\'))
}

/// Writes a move as cycles of places from 1: `(1 2 3)` takes the piece at 1 to 2, the one at 2 to
/// 3, and the one at 3 to 1.
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

/// A state as it is printed: all labels, separated by blanks.
pub fn state_text(labels: &[u16]) -> String {
    labels.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
}

/// The state that a move makes of `state`.
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

/// Whether a permutation of `0..n` is a product of an odd number of swaps. It is when the number of
/// places minus the number of cycles is odd.
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

/// Reads the places 1 to `size`, each once. In memory they count from 0.
fn permutation<'a>(record: &Record, fields: impl Iterator<Item = &'a str>, size: usize) -> Checked<Vec<u16>> {
    let largest = u16::try_from(size).expect("at most MOST");
    let from: Vec<u16> = record.labels(fields, size, largest)?.into_iter().map(|place| place - 1).collect();
    if from.iter().collect::<HashSet<_>>().len() == size {
        return Ok(from);
    }
    Err(record.unreadable("a place twice", format!("each place from 1 to {size} once")))
}
