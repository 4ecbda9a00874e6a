//! Claims about n x (n+1) cells for all n: the belt, phi, spiral and cycle.

use super::{PublishedClaim, Status, claim, cycles, shape, shown, targets, word};
use crate::base::Result;
use crate::base::ids::index_u32;
use crate::families::rotation_board::BoardShape;
use crate::families::rotation_board::solve::lengths;
use crate::families::rotation_board::solve::spiral::SpiralCycle;

/// Largest block for which words are checked.
const LARGEST: u32 = 16;

const CYCLE: &str = "YXYXYXYX";

fn board(n: u32) -> BoardShape {
    shape(n, n + 1, n)
}

/// The belt, counter-clockwise from the corner.
fn belt(shape: BoardShape) -> Vec<u32> {
    let (n, columns) = (shape.rows(), shape.columns());
    let left = (0..n).map(|row| shape.cell(row, 0));
    let bottom = (1..columns).map(|column| shape.cell(n - 1, column));
    let right = (0..n - 1).rev().map(|row| shape.cell(row, columns - 1));
    left.chain(bottom).chain(right).collect()
}

/// By how many cells a word moves the belt counter-clockwise, when it keeps it and moves all its
/// cells alike.
fn belt_steps(shape: BoardShape, text: &str) -> Option<usize> {
    let belt = belt(shape);
    let targets = targets(shape, &word(shape, text));
    let place = |cell: u32| belt.iter().position(|&member| member == cell);
    let steps = place(targets[index_u32(belt[0])])?;
    let alike = belt.iter().enumerate().all(|(at, &cell)| place(targets[index_u32(cell)]) == Some((at + steps) % belt.len()));
    alike.then_some(steps)
}

fn interior(shape: BoardShape) -> Vec<u32> {
    let belt = belt(shape);
    (0..shape.cells()).filter(|cell| !belt.contains(cell)).collect()
}

fn fixes_interior(shape: BoardShape, text: &str) -> bool {
    let targets = targets(shape, &word(shape, text));
    interior(shape).into_iter().all(|cell| targets[index_u32(cell)] == cell)
}

/// phi = C (A C A') C' (A C' A'), with another word for C.
fn phi(cycle: &str) -> String {
    let undone: String = cycle.chars().rev().map(|letter| format!("{letter}'")).collect();
    let (switch, back) = ("XYYXY'X'", "XYX'Y'Y'X'");
    format!("{cycle}{switch}{cycle}{back}{undone}{switch}{undone}{back}")
}

/// Cells that the belt and its image under A share.
fn shared_belt(shape: BoardShape) -> usize {
    let belt = belt(shape);
    let targets = targets(shape, &word(shape, "XYYXY'X'"));
    belt.iter().filter(|&&cell| belt.contains(&targets[index_u32(cell)])).count()
}

fn is_three_cycle(shape: BoardShape, text: &str) -> bool {
    let cycles = cycles(shape, &word(shape, text));
    cycles.len() == 1 && cycles[0].len() == 3
}

fn all(range: std::ops::RangeInclusive<u32>, holds: impl Fn(u32) -> bool) -> bool {
    range.into_iter().all(holds)
}

pub(super) fn claims() -> Result<Vec<PublishedClaim>> {
    let moved = |n: u32, steps: u32| {
        let length = 3 * n - 1;
        Some(index_u32((steps % length + length) % length))
    };
    let cycle_moves = all(3..=LARGEST, |n| belt_steps(board(n), CYCLE) == moved(n, n - 3) && fixes_interior(board(n), CYCLE));
    let half_turn = |n: u32| {
        let shape = board(n);
        let targets = targets(shape, &word(shape, "YX"));
        interior(shape).into_iter().all(|cell| {
            let (row, column) = shape.place(cell);
            targets[index_u32(cell)] == shape.cell(n - 2 - row, n - column)
        })
    };
    let quarter_turn = |n: u32| {
        let shape = board(n);
        let targets = targets(shape, &word(shape, "YX"));
        interior(shape).into_iter().all(|cell| {
            let (row, column) = shape.place(cell);
            targets[index_u32(cell)] == shape.cell(n - 1 - column, 1 + row)
        })
    };
    let twice =
        all(3..=LARGEST, |n| half_turn(n) && fixes_interior(board(n), "YXYX") && belt_steps(board(n), "YXYX") == moved(n, 2 * n - 2));
    let long = all(5..=LARGEST, |n| is_three_cycle(board(n), &phi(CYCLE)));
    let short = all(5..=LARGEST, |n| is_three_cycle(board(n), &phi("YXYX")));
    let (quarter, _) = lengths(&word(board(5), &phi(CYCLE)));
    let (short_quarter, _) = lengths(&word(board(5), &phi("YXYX")));
    let four = cycles(board(4), &word(board(4), &phi(CYCLE)));
    let hidden = |n: u32, times: usize| {
        let shape = board(n);
        let undone = "X'Y'X'Y'X'Y'X'Y'".repeat(times);
        shape.place(targets(shape, &word(shape, &undone))[0]).1 == n
    };
    let hides_twice: Vec<u32> = (5..=LARGEST).filter(|&n| hidden(n, 2)).collect();
    let clears = |n: u32| {
        let shape = board(n);
        let (clear, place) = (targets(shape, &word(shape, "XYX'")), targets(shape, &word(shape, "XY'X'")));
        (1..n).all(|row| {
            let image = clear[index_u32(shape.cell(row, 0))];
            shape.place(image).1 == n && place[index_u32(image)] == shape.cell(row, 0)
        }) && clear[0] == 0
    };
    let (spirals, triples) = (spirals()?, triples()?);
    Ok(vec![
        claim(1, "C moves only the belt, by n-3 cells counter-clockwise", cycle_moves, format!("n = 3 to {LARGEST}, belt of 3n-1 cells")),
        claim(
            2,
            "the interior turns by 90 degrees with each YX",
            all(4..=LARGEST, quarter_turn),
            format!(
                "it turns by 180 degrees, so (YX)^2 fixes the interior already and moves the belt by 2n-2: {} for n = 3 to {LARGEST}",
                if twice { "seen" } else { "not seen" }
            ),
        ),
        claim(
            3,
            "a commutator of belts cycles three cells (ours: phi = C (A C A') C' (A C' A'))",
            long,
            format!("n = 5 to {LARGEST}, {quarter} quarter turns; with (YX)^2 for C {short_quarter}, a 3-cycle as well: {short}"),
        ),
        claim(
            4,
            "the belt and its image under A meet in one cell for n >= 4 (n >= 5 in another place)",
            all(4..=LARGEST, |n| shared_belt(board(n)) == 1),
            format!(
                "n = 4: {} cells, where phi is {}; one cell for n = 5 to {LARGEST}: {}",
                shared_belt(board(4)),
                shown(&four),
                all(5..=LARGEST, |n| shared_belt(board(n)) == 1)
            ),
        ),
        PublishedClaim {
            number: 5,
            text: "the displayed image of the belt under A",
            status: Status::Open,
            witness: "the formula is lost".into(),
        },
        claim(6, "the spiral ends for every start (ours: `solve/spiral.rs`)", spirals > 0, format!("{spirals} starts, n = 5 to 20")),
        claim(
            7,
            "spiral-cycle brings any three cells of a colour to three intermediate cells (ours: `solve/spiral.rs`)",
            triples > 0,
            format!("{triples} triples: all of n = 5 and samples of n = 6 to {LARGEST}, each word replayed"),
        ),
        claim(
            8,
            "where C hides the corner in the last column, its square does so for every n >= 5",
            all(5..=LARGEST, |n| hidden(n, 2)),
            format!("C' hides it for n = 4 to {LARGEST}: {}; its square for n = {hides_twice:?} only", all(4..=LARGEST, |n| hidden(n, 1))),
        ),
        claim(
            9,
            "XYX' clears the second cell from the left column and XY'X' places it",
            all(4..=LARGEST, clears),
            format!("n = 4 to {LARGEST}: from the left column below the corner to the last column and back; the corner stays"),
        ),
        PublishedClaim {
            number: 20,
            text: "the spiral comes nearer by the law of cosines",
            status: Status::Open,
            witness: "an argument; claim 6 is its consequence".into(),
        },
    ])
}

/// Starts from which the spiral ends.
fn spirals() -> Result<u64> {
    let mut count = 0;
    for n in 5..=20 {
        let method = SpiralCycle::of(board(n))?;
        for cell in (0..board(n).cells()).filter(|&cell| n % 2 == 0 || !board(n).colour(cell)) {
            method.spiral(cell)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Triples whose 3-cycle was made and replayed.
fn triples() -> Result<u64> {
    let mut count = 0;
    for n in 5..=LARGEST {
        let shape = board(n);
        let method = SpiralCycle::of(shape)?;
        // All of n = 5; then every so many.
        let (step, mut number) = (if n == 5 { 1 } else { shape.cells().pow(3) / 150 }, 0);
        for x in 0..shape.cells() {
            for y in 0..shape.cells() {
                for z in 0..shape.cells() {
                    number += 1;
                    let other = n % 2 == 1 && (shape.colour(x) != shape.colour(y) || shape.colour(y) != shape.colour(z));
                    if x == y || y == z || z == x || other || number % step != 0 {
                        continue;
                    }
                    let targets = targets(shape, &method.three_cycle([x, y, z])?);
                    let made = [x, y, z].map(|cell| targets[index_u32(cell)]) == [y, z, x];
                    let kept = targets.iter().zip(0..).filter(|&(&target, cell)| target != cell).count() == 3;
                    if !(made && kept) {
                        return Ok(0);
                    }
                    count += 1;
                }
            }
        }
    }
    Ok(count)
}
