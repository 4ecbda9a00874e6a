//! Which rotation boards can be solved: orders of groups and verdicts from GAP, and both exotic
//! cases.
#![allow(missing_docs)]

mod common;

use common::boards::{board_of, known_boards, shape, shape_of};
use farthest::families::rotation_board::BoardShape;
use farthest::families::rotation_board::small_group::SmallGroup;
use farthest::families::rotation_board::{Board, BoardGroup, Random, Unsolvable, verdict};

fn board(shape: BoardShape, text: &str) -> Board {
    Board::parse(shape, text).expect("a board")
}

#[test]
fn orders_of_groups_are_those_of_gap() {
    let groups = known_boards("groups.json");
    let groups = groups.as_array().expect("a list");
    assert_eq!(groups.len(), 48);
    for group in groups {
        let shape = shape_of(group);
        assert_eq!(BoardGroup::of(shape).order(shape), group["order"].as_str().expect("digits"), "{shape}");
    }
}

#[test]
fn verdicts_are_those_of_gap() {
    let cases = known_boards("solvable_cases.json");
    let cases = cases["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 108);
    let mut refused = 0;
    for case in cases {
        let board = board_of(case);
        let found = verdict(&board);
        assert_eq!(found.is_ok(), case["solvable"].as_bool().expect("a verdict"), "{} {}: {found:?}", board.shape(), board.text());
        refused += usize::from(found.is_err());
    }
    assert!(refused > 20 && refused < 100, "{refused}");
}

#[test]
fn reasons_in_words() {
    for (shape, text, code, part) in [
        (shape(2, 2, 2), "2 1 4 3", "no-rotation", "none of its four rotations"),
        (shape(2, 3, 2), "2 1 3 4 5 6", "not-in-pgl-2-5", "with 2 1 3 there the other three must be "),
        (shape(3, 4, 3), "1 2 5 4 3 6 7 8 9 10 11 12", "colour-broken", "tile 5 is in row 1, column 3, its home is row 2, column 1"),
        (
            shape(3, 4, 3),
            "3 2 1 4 5 6 7 8 9 10 11 12",
            "outer-automorphism-mismatch",
            "with 3 1 6 8 9 11 on the corner's colour the other one must hold ",
        ),
        (shape(4, 5, 4), "2 1 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", "odd-permutation", "is 4 four-cycles"),
        (
            shape(3, 5, 3),
            "3 2 1 4 5 6 7 8 9 10 11 12 13 14 15",
            "colour-signs-differ",
            "on the corner's colour of the checkerboard are an odd",
        ),
        (
            shape(3, 5, 3),
            "1 4 3 2 5 6 7 8 9 10 11 12 13 14 15",
            "colour-signs-differ",
            "on the other colour of the checkerboard are an odd",
        ),
    ] {
        let reason = verdict(&board(shape, text)).expect_err("unsolvable");
        assert_eq!(reason.code(), code);
        assert!(reason.to_string().contains(part), "{reason}");
    }
    // Blocks of 7: both colours odd is no way out, as it is for blocks of 3.
    let seven = shape(7, 8, 7);
    let one = Board::solved(seven).exchanged(0, 2);
    assert_eq!(verdict(&one), Err(Unsolvable::ColourOdd { block: 7, odd: [true, false] }));
    assert_eq!(verdict(&one.exchanged(1, 3)), Err(Unsolvable::ColourOdd { block: 7, odd: [true, true] }));
    assert_eq!(verdict(&Board::solved(shape(3, 5, 3)).exchanged(0, 2).exchanged(1, 3)), Ok(()));
}

/// What turns make can be undone: the verdict never refuses a board that was made by turns, and
/// takes one of the others as often as the group's index says.
#[test]
fn turned_boards_are_solvable_and_others_as_often_as_the_index_says() {
    let mut random = Random::new(5);
    // Of 200: a sixth of all boards, all, half, and next to none.
    for (rows, columns, block, least, most) in [
        (2, 3, 2, 15, 60),
        (3, 2, 2, 15, 60),
        (3, 4, 2, 200, 200),
        (4, 5, 4, 76, 124),
        (5, 4, 4, 76, 124),
        (3, 5, 3, 0, 10),
        (7, 8, 7, 0, 10),
        (4, 4, 4, 0, 10),
        (9, 9, 2, 200, 200),
    ] {
        let shape = shape(rows, columns, block);
        for seed in 0..40 {
            assert_eq!(verdict(&Board::scrambled(shape, seed, 60)), Ok(()), "{shape}");
        }
        let accepted = (0..200).filter(|_| verdict(&Board::shuffled(shape, &mut random)).is_ok()).count();
        assert!((least..=most).contains(&accepted), "{shape}: {accepted}");
    }
}

#[test]
fn small_groups_are_listed_whole() {
    for (shape, order) in [(shape(5, 5, 5), 4), (shape(2, 3, 2), 120), (shape(3, 2, 2), 120), (shape(3, 4, 3), 720), (shape(4, 3, 3), 720)]
    {
        let group = SmallGroup::of(shape);
        assert_eq!(group.order(), order);
        assert!(BoardGroup::of(shape).is_small());
        for seed in 0..20 {
            let board = Board::scrambled(shape, seed, 40);
            let mut turned = board.clone();
            group.word(&board).expect("solvable").into_iter().for_each(|turn| turned.turn(turn));
            assert!(turned.is_solved());
        }
    }
}

/// A million cells take no search.
#[test]
fn large_boards_at_once() {
    let large = shape(1024, 1024, 7);
    assert_eq!(verdict(&Board::scrambled(large, 1, 1_000)), Ok(()));
    assert!(matches!(verdict(&Board::solved(large).exchanged(0, 2)), Err(Unsolvable::ColourOdd { .. })));
    assert!(matches!(verdict(&Board::solved(large).exchanged(0, 1)), Err(Unsolvable::ColourBroken { .. })));
}
