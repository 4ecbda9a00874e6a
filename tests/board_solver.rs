//! Solutions of rotation boards by construction: every solvable board is solved, within the lengths
//! that are promised, and shortest words are shortest.
#![allow(missing_docs)]

mod common;

use common::boards::{board_of, known_boards, shape, shape_of};
use farthest::families::rotation_board::parse_turns;
use farthest::families::rotation_board::solve::ladder::three_cycles;
use farthest::families::rotation_board::solve::lengths;
use farthest::families::rotation_board::{BlockTurn, BoardShape};
use farthest::families::rotation_board::{Board, BoardGroup, Random, Solver, solve_by_spirals, solve_shortest, verdict};
use serde_json::Value;
use std::time::Instant;

/// A random board of the whole group: shuffled, then made solvable by exchanges within colours
/// where that is possible, else by turns.
fn solvable(shape: BoardShape, random: &mut Random) -> Board {
    (0..4).map(|_| Board::shuffled(shape, random)).find(|board| verdict(board).is_ok()).unwrap_or_else(|| {
        let seed = random.below(1 << 40);
        Board::scrambled(shape, seed, 20 * u64::from(shape.cells()))
    })
}

/// Replays a word on the board, with the rules written out once more: a quarter turn
/// counter-clockwise takes row i, column j of a block to row n-1-j, column i.
fn replay(board: &Board, word: &[BlockTurn]) -> Vec<u32> {
    let shape = board.shape();
    let width = usize::try_from(shape.columns()).expect("small");
    let n = usize::try_from(shape.block()).expect("small");
    let mut cells = board.homes().to_vec();
    for turn in word {
        let block = usize::try_from(turn.block).expect("small");
        let (top, left) = (block / (width - n + 1), block % (width - n + 1));
        for _ in 0..turn.quarters {
            let before = cells.clone();
            for i in 0..n {
                for j in 0..n {
                    cells[(top + n - 1 - j) * width + left + i] = before[(top + i) * width + left + j];
                }
            }
        }
    }
    cells
}

fn check(solver: &Solver, board: &Board) -> u64 {
    let solution = solver.solve(board).expect("no fault").expect("solvable");
    assert!(replay(board, &solution.word).into_iter().eq(0..board.shape().cells()), "{} {}", board.shape(), board.text());
    assert_eq!((solution.quarter, solution.half), lengths(&solution.word));
    solution.quarter
}

/// Boards of up to 12x12, all block sizes: a board is solved exactly when the verdict says that it
/// can be.
#[test]
fn solvable_boards_are_solved_and_no_others() {
    let mut random = Random::new(11);
    let mut outcomes = [0, 0];
    for block in 2..=12 {
        let measure = |random: &mut Random| block + u32::try_from(random.below(u64::from(13 - block))).expect("small");
        for _ in 0..4 {
            let shape = shape(measure(&mut random), measure(&mut random), block);
            let solver = Solver::new(shape).expect("small");
            check(&solver, &solvable(shape, &mut random));
            for board in [
                Board::shuffled(shape, &mut random),
                solvable(shape, &mut random).exchanged(0, 1),
                solvable(shape, &mut random).exchanged(0, 2 % shape.columns()),
            ] {
                let verdict = verdict(&board);
                outcomes[usize::from(verdict.is_ok())] += 1;
                match verdict {
                    Ok(()) => drop(check(&solver, &board)),
                    Err(reason) => assert_eq!(solver.solve(&board).expect("no fault"), Err(reason), "{shape}"),
                }
            }
        }
    }
    assert!(outcomes.iter().all(|&count| count > 15), "{outcomes:?}");
}

/// Every shape of up to 7x7 cells, portrait ones too.
#[test]
fn all_small_shapes() {
    let mut random = Random::new(12);
    for rows in 2..=7 {
        for columns in 2..=7 {
            for block in 2..=rows.min(columns) {
                let shape = shape(rows, columns, block);
                let solver = Solver::new(shape).expect("small");
                check(&solver, &Board::scrambled(shape, random.below(1 << 40), 200));
                assert!(check(&solver, &Board::solved(shape)) == 0);
            }
        }
    }
}

/// The board seen in a mirror or with rows and columns exchanged can be solved exactly when the
/// board can.
#[test]
fn mirrored_and_transposed_boards_agree() {
    let mut random = Random::new(13);
    for (rows, columns, block) in [(2, 3, 2), (3, 4, 3), (3, 5, 3), (4, 5, 4), (7, 8, 7), (5, 5, 5), (6, 7, 3), (3, 4, 2)] {
        let shape = shape(rows, columns, block);
        let transposed = BoardShape::new(columns, rows, block).expect("a board");
        for round in 0..60 {
            let board =
                if round % 2 == 0 { Board::shuffled(shape, &mut random) } else { Board::scrambled(shape, round, 99).exchanged(0, 2) };
            let moved = |image: &dyn Fn(u32, u32) -> u32, target: BoardShape| {
                let mut numbers = vec![0; board.homes().len()];
                for (&home, cell) in board.homes().iter().zip(0..) {
                    let at = |cell: u32| {
                        let (row, column) = shape.place(cell);
                        image(row, column)
                    };
                    numbers[usize::try_from(at(cell)).expect("small")] = u64::from(at(home)) + 1;
                }
                Board::new(target, &numbers).expect("a board")
            };
            let can = verdict(&board).is_ok();
            // Turns of the images are those of the board, the other way round.
            let images = [
                moved(&|row, column| shape.cell(row, columns - 1 - column), shape),
                moved(&|row, column| shape.cell(rows - 1 - row, column), shape),
                moved(&|row, column| transposed.cell(column, row), transposed),
            ];
            for image in images {
                assert_eq!(verdict(&image).is_ok(), can, "{shape} {}", board.text());
            }
            assert_eq!(verdict(&board.inverse()).is_ok(), can);
        }
    }
}

/// Mean lengths in quarter turns that an earlier implementation in another language reached, on
/// boards of this list; none may be longer.
#[test]
fn lengths_are_as_promised() {
    for (rows, columns, block, count, most) in [
        (2, 4, 2, 40, 30),
        (3, 3, 2, 40, 25),
        (3, 4, 2, 40, 34),
        (3, 5, 3, 40, 74),
        (4, 4, 3, 40, 70),
        (5, 5, 3, 20, 86),
        (4, 5, 4, 20, 287),
        (6, 6, 4, 5, 206),
        (5, 6, 5, 10, 468),
        (6, 7, 6, 5, 842),
        (7, 8, 7, 5, 1068),
        (9, 10, 9, 3, 1912),
        (10, 10, 2, 5, 649),
        (10, 12, 3, 5, 516),
        (12, 10, 5, 3, 464),
        (25, 16, 9, 2, 2553),
        (16, 25, 2, 3, 5113),
    ] {
        let shape = shape(rows, columns, block);
        let solver = Solver::new(shape).expect("small");
        let mut random = Random::new(14);
        let total: u64 = (0..count).map(|_| check(&solver, &solvable(shape, &mut random))).sum();
        assert!(total <= most * count, "{shape}: {total} / {count}");
        println!("{shape}: {} of {most}", total / count);
    }
}

/// A hundred random boards of 16x25 cells with blocks of 9: under 3,000 quarter turns on average,
/// in a fraction of a second each.
#[test]
fn the_large_board() {
    let shape = shape(16, 25, 9);
    let started = Instant::now();
    let solver = Solver::new(shape).expect("it fits");
    let mut random = Random::new(15);
    let count = if cfg!(debug_assertions) { 5 } else { 100 };
    let total: u64 = (0..count).map(|_| check(&solver, &solvable(shape, &mut random))).sum();
    println!("{count} boards, table and all: {:.2} s, {} quarter turns on average", started.elapsed().as_secs_f64(), total / count);
    assert!(total < 2_533 * count, "{total}");
}

/// The author's method on wide, narrow and larger boards, and where a board's blocks are too large
/// for a table.
#[test]
fn spirals() {
    let mut random = Random::new(16);
    for (rows, columns, block) in
        [(5, 6, 5), (6, 5, 5), (6, 7, 6), (7, 8, 7), (9, 9, 8), (12, 11, 5), (13, 13, 6), (12, 13, 12), (16, 25, 9)]
    {
        let shape = shape(rows, columns, block);
        let board = solvable(shape, &mut random);
        let solution = solve_by_spirals(&board).expect("no fault").expect("solvable");
        assert!(replay(&board, &solution.word).into_iter().eq(0..shape.cells()), "{shape}");
        let mut broken = Board::solved(shape).exchanged(0, 1);
        if verdict(&broken).is_ok() {
            broken = Board::solved(BoardShape::new(8, 9, 8).expect("a board")).exchanged(0, 1);
        }
        assert!(solve_by_spirals(&broken).expect("no fault").is_err());
    }
    let large = shape(31, 30, 30);
    let solver = Solver::new(large).expect("no table is needed");
    check(&solver, &Board::scrambled(large, 1, 5_000));
}

/// Exact lengths from whole tables of a program in C++.
#[test]
fn shortest_words_have_the_known_lengths() {
    let cases = known_boards("optimal_cases.json");
    let cases = cases["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 175);
    let mut checked = 0;
    for case in cases {
        let board = board_of(case);
        let shape = board.shape();
        for (metric, quarters) in [("quarter", &[1, 3][..]), ("half", &[1, 2, 3][..])] {
            let Some(length) = case[metric].as_u64() else { continue };
            // Balls of larger radius take seconds each.
            if shape.cells() > 9 && length > 10 {
                continue;
            }
            let solution = solve_shortest(&board, quarters).expect("near").expect("solvable");
            assert!(replay(&board, &solution.word).into_iter().eq(0..shape.cells()));
            let (quarter, half) = lengths(&solution.word);
            assert_eq!(if metric == "quarter" { quarter } else { half }, length, "{shape} {metric} {}", board.text());
            assert!(solution.shortest);
            checked += 1;
        }
    }
    assert!(checked > 150, "{checked}");
}

/// The words of the list of short words do what they say, in the letters of this program.
#[test]
fn short_words_of_the_list() {
    let words = known_boards("short_words.json");
    let words = words["words"].as_array().expect("a list");
    let mut checked = 0;
    for entry in words {
        let (Some(letters), Some(cycles)) = (entry["word"].as_str(), entry["cycles"].as_array()) else { continue };
        let shape = shape_of(entry);
        let word = parse_turns(shape, letters).expect("turns");
        let (quarter, half) = lengths(&word);
        let length = entry["length"].as_u64().expect("a length");
        assert!(length == if entry["metric"] == "quarter" { quarter } else { half }, "{shape} {letters}");
        let moved = replay(&Board::solved(shape), &word);
        let displaced = moved.iter().zip(0..).filter(|&(&home, cell)| home != cell).count();
        let listed: usize = cycles.iter().map(|cycle| cycle.as_array().expect("a cycle").len()).sum();
        assert_eq!(displaced, listed, "{shape} {letters}");
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
    assert!(!three_cycles(shape(4, 5, 4)).is_empty() && BoardGroup::of(shape(4, 5, 4)) == BoardGroup::Even);
}

/// The command: forms of boards, the answer as an object, refusals of one line with their exit
/// codes.
#[test]
fn the_command() {
    let run = |arguments: &[&str]| common::outcome(common::farthest().arg("solve-board").args(arguments));
    let answer = |arguments: &[&str]| -> Value {
        let (code, output, message) = run(&[arguments, &["--json"]].concat());
        assert_eq!(code, 0, "{message}");
        serde_json::from_str(&output).expect("an object")
    };
    for arguments in [
        &["--size", "2x3n2", "--board", "2 5 3 / 1 4 6"][..],
        &["--board", "3x2n2:2,5,3,1,4,6"],
        &["--size", "rotation-board-2x3n2", "--board", "2,5,3,1,4,6"],
    ] {
        let object = answer(arguments);
        assert_eq!(
            (&object["solvable"], &object["word"], &object["length"], &object["optimal"]),
            (&true.into(), &"X'".into(), &1.into(), &true.into())
        );
    }
    let object = answer(&["--size", "16x25n9", "--random", "3", "--machine"]);
    assert!(object["quarter"].as_u64().is_some_and(|length| length > 500 && length < 3_000), "{object}");
    let object = answer(&["--size", "6x5n5", "--random", "3", "--method", "spiral-cycle"]);
    assert!(object["solvable"] == true && object["method"] == "spiral-cycle", "{object}");
    let object = answer(&["--size", "3x4n2", "--board", "2 1 3 4 5 6 7 8 9 10 11 12", "--method", "optimal", "--metric", "half"]);
    assert!(object["length"].as_u64().is_some_and(|length| (5..=8).contains(&length)) && object["optimal"] == true, "{object}");
    let object = answer(&["--size", "4x5n4", "--board", "2 1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"]);
    assert_eq!((&object["solvable"], &object["reason_code"]), (&false.into(), &"odd-permutation".into()));
    let (code, output, _) = run(&["--size", "3x4n3", "--board", "3 2 1 4 5 6 7 8 9 10 11 12"]);
    assert!(code == 1 && output.contains("not solvable: outer-automorphism mismatch"), "{output}");
    assert_eq!(run(&["--size", "300x300n7", "--random", "1", "--verdict"]).0, 0);
    for (arguments, expected, part) in [
        (&["--size", "2x3n2", "--board", "1 2 3 4 5 5"][..], 2, "found 5 twice"),
        (&["--size", "2x3n2", "--board", "1 2 3 4 5"], 2, "found 5 numbers"),
        (
            &["--size", "2x3n2", "--board", "-1 2 3 4 5 6"],
            2,
            "found \"-1\" in a board, expected whole numbers from 1 to the number of cells",
        ),
        (&["--size", "2x3n2", "--board", "1 2 3 4 5 +6"], 2, "found \"+6\" in a board"),
        (&["--size", "2x3n2", "--board", "1 2 3 4 5 60000000000000000000000"], 2, "found \"60000000000000000000000\" in a board"),
        (&["--size", "2x3n2", "--board", ""], 2, "found 0 numbers"),
        (&["--size", "1x1n1", "--board", "1"], 78, "found blocks of 1x1 cells, expected at least 2x2"),
        (&["--board", "3x2n2o:1u,2u,3u,4u,5u,6u"], 78, "whose tiles have an orientation"),
        (&["--size", "2x3n2", "--board", "1 2 3 / 4 5 / 6"], 2, "found 2 numbers in row 2, expected 3 in every row"),
        (&["--size", "2x3n3", "--board", "1 2 3 4 5 6"], 78, "expected at most 2x2: they must fit the board"),
        (&["--size", "three", "--board", "1"], 2, "found the size \"three\""),
        (
            &["--board", "1 2 3"],
            2,
            "a board without its size, expected ROWSxCOLSnBLOCK, such as 3x4n2, with it; give it, too (solve-board: --size 3x4n2)",
        ),
        (&["--size", "2x3n2"], 2, "found no board"),
        (&["--size", "2x2n2", "--board", "3x2n2:1,2,3,4,5,6"], 2, "leave the size out"),
        (&["--size", "2x3n2", "--file", "no-such-file"], 74, "no-such-file"),
        (&["--size", "300x300n150", "--random", "1"], 78, "found 90000 cells"),
        (&["--size", "300x300n2", "--random", "1"], 78, "found 90000 cells, expected at most 2500 for a solution"),
        (&["--size", "4x5n4", "--random", "1", "--method", "spiral-cycle"], 78, "expected at least 5x5 for the method spiral-cycle"),
        (&["--size", "16x16n2", "--random", "1", "--method", "optimal"], 78, "use --method ladder"),
    ] {
        let (code, output, message) = run(arguments);
        assert_eq!(code, expected, "{arguments:?}: {message}");
        // The family's name after solve is the same command.
        let spelled = common::outcome(common::farthest().args(["solve", "rotation-board"]).args(arguments));
        assert_eq!(spelled, (code, output, message.clone()), "{arguments:?}");
        assert!(message.contains(part) && message.trim_end().lines().count() == 1, "{message}");
    }
}
