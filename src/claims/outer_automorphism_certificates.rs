//! The outer automorphism of S6 on 3x4 cells with 3x3 blocks: its table, its page, and its
//! certificates.

use crate::base::{Error, Result};
use crate::claims::outer_automorphism::{OuterAutomorphism, Pair, shape};
use crate::evidence::certificates::{Certificate, ClosedSet, WordClaim};
use crate::families::rotation_board::Board;
use crate::families::rotation_board::certificates::{certified, closed_set, labels, quarter_word, solved_labels};
use crate::families::rotation_board::small_group::SmallGroup;
use std::fmt::Write as _;

/// The name of the closed set's file.
pub const CLOSED_SET: &str = "closed-set.cert";

/// A cell as its row and column.
fn cell(cell: u32) -> String {
    let (row, column) = shape().place(cell);
    format!("{}{}", row + 1, column + 1)
}

fn pair_text(pair: Pair) -> String {
    pair.map(cell).join("-")
}

/// A row a pair: the pair, then the three pairs of its pairing; cells as row and column.
#[must_use]
pub fn table(found: &OuterAutomorphism) -> String {
    let mut text = String::from("pair\tfirst\tsecond\tthird\n");
    for (&pair, pairing) in &found.pairings {
        writeln!(text, "{}\t{}", pair_text(pair), pairing.map(pair_text).join("\t")).expect("writing to a string");
    }
    text
}

/// File names and certificates: for each pair a word that swaps it and its pairing back, and the
/// closed set of all 720 boards, in which no pair is swapped alone.
///
/// # Errors
/// `Invariant` when a board cannot be solved: a fault of this program.
pub fn certificates(found: &OuterAutomorphism) -> Result<Vec<(String, Certificate)>> {
    let group = SmallGroup::of(shape());
    let puzzle = certified(shape(), "quarter");
    let solved = Board::solved(shape());
    let alone = found.pairings.keys().next().map_or_else(|| solved.clone(), |&[first, second]| solved.clone().exchanged(first, second));
    let states = closed_set(&group, &solved)?;
    let set = ClosedSet { from: labels(solved.homes())?, to: labels(alone.homes())?, states };
    let mut all = vec![(CLOSED_SET.to_owned(), Certificate::new(puzzle.clone(), set))];
    for &pair in found.pairings.keys() {
        let board = found.swapped(pair);
        let word =
            group.word(&board).ok_or_else(|| Error::invariant("a pair swapped with its pairing", board.text(), "a solvable board"))?;
        let word = quarter_word(shape(), &word);
        let claim = WordClaim { from: labels(board.homes())?, to: solved_labels(shape())?, word };
        all.push((format!("pair-{}.cert", pair_text(pair)), Certificate::new(puzzle.clone(), claim)));
    }
    Ok(all)
}

/// The result as a document.
#[must_use]
pub fn page(found: &OuterAutomorphism) -> String {
    let mut text = String::from(
        "# An outer automorphism of S6, on a board of 3x4 cells with 3x3 blocks

Written by `farthest certify outer-automorphism --out results/nrp`. Cells are written row, column: 13 is the third cell of the first row. Colours are those of a checkerboard.

A turn of a 3x3 block never changes the colour of a tile's cell. There are six cells of the corner's colour (11 13 22 24 31 33) and six of the other (12 14 21 23 32 34); turns permute the
15 *pairs* of the one, and the 15 *pairings* of the other (its six cells in three pairs). **There is exactly one bijection from pairs to pairings that all turns respect:**

| pair of the corner's colour | pairing of the other colour |
| --- | --- |
",
    );
    for (&pair, pairing) in &found.pairings {
        writeln!(text, "| {} | {} |", pair_text(pair), pairing.map(pair_text).join(", ")).expect("writing to a string");
    }
    text.push_str(
        "
How it was found: the image of the first pair can be any of the 15 pairings; the turns then carry it to all pairs, and contradict themselves for all images but one.

What it means: a board on which only a pair of the corner's colour is swapped cannot be solved; with its three pairs of the other colour swapped as well, it can. What the corner's colour
shows determines the other colour: of 12! boards 720 = 6! can be solved, and what turns do to one colour is an automorphism of S6 of what they do to the other. Automorphisms by conjugation
take a swap to a swap; this one takes it to three, so it is an outer one. S6 is the only symmetric group that has such automorphisms.

Evidence, to be checked by `farthest-verify results/nrp`:

- `outer-automorphism/pair-*.cert`: for each row of the table a word that solves the board with the pair and its pairing swapped.
- `outer-automorphism/closed-set.cert`: the 720 boards that can be reached; no turn leaves them, and the one with the first pair swapped alone is not among them. No two of them agree on the
  corner's colour, so the words of the other certificates leave no other pairing possible.
- `outer-automorphism.tsv`: the table for programs.
",
    );
    text
}
