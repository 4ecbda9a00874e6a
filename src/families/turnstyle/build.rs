//! Turnstyle(n): n labelled pieces on a cycle of n positions, a turntable over positions 0..3.
//!
//! `R` shifts every piece one position to the right (clockwise), `L` to the left, `F` turns the
//! table: ABCD -> BADC. Metrics: `step` (R, L and F cost 1 each), `turn` (a shift by any amount
//! costs 1, F costs 1), `flip` (F costs 1, shifts are free: a state is a circular arrangement).
//!
//! Coordinates. Seen from piece 0 the shifts only move the frame: the plane `p` is the turntable's
//! first position relative to piece 0, clockwise, so piece 0 stands at position `-p mod n`;
//! `a_1..a_(n-1)` are the pieces clockwise from piece 0. R: p -> p-1, L: p -> p+1, arrangement
//! untouched. F at 1 <= p <= n-4 swaps two adjacent pairs; where the table covers piece 0 the frame
//! moves with it. For odd n every generator is an even permutation of the pieces, so only n!/2
//! states are reached.

use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::base::{Error, Result};
use crate::puzzle::{Layout, Permutation, Puzzle, State};

/// Smallest size: the turntable holds four pieces.
pub const SMALLEST_SIZE: u32 = 4;

/// Largest size whose arrangements (n-1 pieces) have 64-bit ranks times n planes: 20 * 19! < 2^63.
pub const LARGEST_SIZE: u32 = 20;

/// The metrics of the family.
pub const METRICS: [&str; 3] = ["step", "turn", "flip"];

/// Turnstyle(`size`) in `metric`.
///
/// # Errors
/// `Config` when the size or metric does not exist; for sizes over [`LARGEST_SIZE`] the message
/// says what the search would need.
pub fn build(size: u32, metric: &str) -> Result<Puzzle> {
    if size < SMALLEST_SIZE {
        return Err(Error::config(format!(
            "turnstyle size {size}: the turntable holds four pieces, so the size must be at least {SMALLEST_SIZE}"
        )));
    }
    if size > LARGEST_SIZE {
        return Err(Error::config(format!(
            "turnstyle size {size}: {}; state ranks have 63 bits, so the largest size is {LARGEST_SIZE}",
            needs(size)
        )));
    }
    let shifts = |amounts: &[u32]| -> Vec<(String, Vec<(u32, Permutation)>)> {
        amounts.iter().map(|&amount| (shift_name(size, amount), shift(size, amount))).collect()
    };
    let (generators, layout) = match metric {
        "step" => (with_flip(shifts(&[1, size - 1]), size), Layout::Cycle { size }),
        "turn" => (with_flip(shifts(&(1..size).collect::<Vec<_>>()), size), Layout::Cycle { size }),
        "flip" => (circular_flips(size), Layout::Circle),
        other => {
            return Err(Error::config(format!("turnstyle has no metric \"{other}\"; its metrics are {}", METRICS.join(", "))));
        }
    };
    let length = index_u32(size - 1);
    let solved = State { plane: 0, arrangement: Permutation::identity(length).images().to_vec() };
    Puzzle::of_planes(format!("turnstyle-{size}"), metric, length, generators, vec![solved], layout)
}

/// Turnstyle(`size`) in metric `step` with the pieces ranked by position, `size`! states in one
/// plane: the form in which every relabelling of the pieces is a symmetry, so that one ball serves
/// many targets. [`build`] is smaller where the whole space is stored.
///
/// # Errors
/// `Config` when the size does not exist or is over [`LARGEST_SIZE`].
pub fn build_by_position(size: u32) -> Result<Puzzle> {
    build(size, METRICS[0])?;
    let n = index_u32(size);
    let generators = vec![
        ("R".to_owned(), vec![(0, Permutation::from_fn(n, |i| (i + n - 1) % n))]),
        ("L".to_owned(), vec![(0, Permutation::from_fn(n, |i| (i + 1) % n))]),
        ("F".to_owned(), vec![(0, Permutation::from_fn(n, table_source))]),
    ];
    let all = Permutation::identity(n).images().to_vec();
    let layout = Layout::Orbits { positions: size, arranged: all.clone(), planar: Vec::new(), planes: vec![Vec::new()] };
    Puzzle::of_planes(format!("turnstyle-{size}"), METRICS[0], n, generators, vec![State { plane: 0, arrangement: all }], layout)
}

/// What a search of this size would need, in words.
fn needs(size: u32) -> String {
    let half = if size % 2 == 1 { 2.0 } else { 1.0 };
    let states = (1..=size).map(f64::from).product::<f64>() / half;
    let bytes = states / 8.0;
    format!("about {states:.2e} states, {bytes:.2e} bytes at one bit each")
}

/// Name of the shift by `amount` to the right: R, R2, ..., and L for the last one.
fn shift_name(size: u32, amount: u32) -> String {
    match amount {
        1 => "R".into(),
        _ if amount == size - 1 => "L".into(),
        _ => format!("R{amount}"),
    }
}

/// A shift: the planes move, the arrangement does not.
fn shift(size: u32, amount: u32) -> Vec<(u32, Permutation)> {
    let stay = Permutation::identity(index_u32(size - 1));
    (0..size).map(|plane| ((plane + size - amount) % size, stay.clone())).collect()
}

/// The turntable's permutation of positions: ABCD -> BADC.
fn table_source(position: usize) -> usize {
    if position < 4 { position ^ 1 } else { position }
}

/// F in the coordinates relative to piece 0. Where the piece at position `h` is piece 0, the table
/// takes it to `table(h)`, and the arrangement is read clockwise from there:
/// `a'_i = a_(table(h' + i) - h)`.
fn flip(size: u32) -> Vec<(u32, Permutation)> {
    let n = index_u32(size);
    (0..n)
        .map(|plane| {
            let home = (n - plane) % n;
            let new_home = table_source(home); // the table is an involution
            let permutation = Permutation::from_fn(n - 1, |i| {
                let source = table_source((new_home + i + 1) % n);
                (source + n - home) % n - 1
            });
            (low_u32(to_u64((n - new_home) % n)), permutation)
        })
        .collect()
}

fn with_flip(mut generators: Vec<(String, Vec<(u32, Permutation)>)>, size: u32) -> Vec<(String, Vec<(u32, Permutation)>)> {
    generators.push(("F".into(), flip(size)));
    generators
}

/// The flips of a circular arrangement: one generator for each place of the table relative to piece
/// 0; for n = 4 opposite places give the same generator, which is kept once.
fn circular_flips(size: u32) -> Vec<(String, Vec<(u32, Permutation)>)> {
    let mut generators: Vec<(String, Vec<(u32, Permutation)>)> = Vec::new();
    for (place, (_, permutation)) in flip(size).into_iter().enumerate() {
        let moves = vec![(0, permutation)];
        if !generators.iter().any(|(_, known)| *known == moves) {
            generators.push((format!("F{place}"), moves));
        }
    }
    generators
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rules as the puzzle is described, on the word of pieces.
    fn play(word: &mut [u8], name: &str) {
        match name {
            "R" => word.rotate_right(1),
            "L" => word.rotate_left(1),
            "F" => {
                word.swap(0, 1);
                word.swap(2, 3);
            }
            _ => word.rotate_right(name[1..].parse().expect("R and a number")),
        }
    }

    fn pieces(text: &str) -> Vec<u8> {
        text.split(' ').map(|label| label.parse().expect("a number")).collect()
    }

    #[test]
    fn generators_act_as_the_puzzle_is_described() {
        for size in 4..=11 {
            for metric in ["step", "turn"] {
                let puzzle = build(size, metric).expect("valid");
                let mut state = puzzle.starts()[0].clone();
                let mut word: Vec<u8> = pieces(&puzzle.text(&state));
                for step in 0..400_usize {
                    let generator = (step * step + step / 3) % puzzle.generators();
                    state = puzzle.apply(generator, &state);
                    play(&mut word, puzzle.generator_name(generator));
                    assert_eq!(pieces(&puzzle.text(&state)), word, "size {size} {metric} step {step}");
                }
            }
        }
    }

    #[test]
    fn both_forms_move_the_same_pieces() {
        for size in 4..=9 {
            let (by_piece, by_position) = (build(size, "step").expect("valid"), build_by_position(size).expect("valid"));
            let (mut one, mut other) = (by_piece.starts()[0].clone(), by_position.starts()[0].clone());
            for step in 0..200_usize {
                let generator = (step * step + step / 3) % 3;
                one = by_piece.apply(generator, &one);
                other = by_position.apply(generator, &other);
                assert_eq!(by_piece.text(&one), by_position.text(&other));
                assert_eq!(by_piece.generator_name(generator), by_position.generator_name(generator));
            }
        }
    }

    #[test]
    fn circular_flips_are_the_flips_up_to_rotation() {
        for size in 4..=9 {
            let puzzle = build(size, "flip").expect("valid");
            let mut state = puzzle.starts()[0].clone();
            let mut word: Vec<u8> = pieces(&puzzle.text(&state));
            for step in 0..300_usize {
                let generator = (step * step + step / 3) % puzzle.generators();
                let place: usize = puzzle.generator_name(generator)[1..].parse().expect("F and a number");
                state = puzzle.apply(generator, &state);
                // Turn the word until the table's first position is `place` clockwise from piece 1,
                // flip, and read it from piece 1 again.
                let home = word.iter().position(|&piece| piece == 1).expect("there");
                word.rotate_left(home);
                word.rotate_left(place);
                play(&mut word, "F");
                let home = word.iter().position(|&piece| piece == 1).expect("there");
                word.rotate_left(home);
                assert_eq!(pieces(&puzzle.text(&state)), word, "size {size} step {step}");
            }
        }
    }

    #[test]
    fn all_metrics_are_closed_under_inverses() {
        for size in 4..=12 {
            for metric in METRICS {
                assert!(build(size, metric).expect("valid").is_inverse_closed(), "size {size} {metric}");
            }
        }
    }

    #[test]
    fn frame_moves_are_those_of_the_design() {
        // DESIGN section 2, for n = 8, m = 7 (labels from 1 there).
        let moves = flip(8);
        let images = |p: usize| moves[p].1.images().iter().map(|&i| i + 1).collect::<Vec<_>>();
        assert_eq!((moves[0].0, images(0)), (7, vec![3, 2, 4, 5, 6, 7, 1]));
        assert_eq!((moves[7].0, images(7)), (0, vec![7, 2, 1, 3, 4, 5, 6]));
        assert_eq!((moves[6].0, images(6)), (5, vec![2, 3, 4, 5, 7, 6, 1]));
        assert_eq!((moves[5].0, images(5)), (6, vec![7, 1, 2, 3, 4, 6, 5]));
    }

    #[test]
    fn impossible_sizes_and_metrics_say_why() {
        assert!(build(3, "step").expect_err("small").to_string().contains("at least 4"));
        let large = build(25, "step").expect_err("large").to_string();
        assert!(large.contains("7.76e24 states") && large.contains("largest size is 20"), "{large}");
        assert!(build(8, "stp").expect_err("unknown").to_string().contains("step, turn, flip"));
    }
}
