//! Claims about single boards: swaps and 3-cycles.

use super::{PublishedClaim, claim, cycles, least, shape, shown, word};
use crate::base::Result;
use crate::families::rotation_board::small_group::SmallGroup;
use crate::families::rotation_board::solve::lengths;
use crate::families::rotation_board::{Board, BoardGroup, verdict};
use std::collections::HashSet;

pub(super) fn claims() -> Result<Vec<PublishedClaim>> {
    Ok(vec![pgl(), swap_of_two_rows()?, swap_of_nine()?, five_columns(), commutator_squared(), sixteen()?, twenty()?])
}

/// 2x3: 120 arrangements, none a transposition or a 3-cycle, and each three images occur once.
fn pgl() -> PublishedClaim {
    let six = shape(2, 3, 2);
    let group = SmallGroup::of(six);
    let solved = Board::solved(six);
    let reachable = |board: &Board| verdict(board).is_ok();
    let swaps = (0..6).flat_map(|x| (0..x).map(move |y| (x, y))).filter(|&(x, y)| reachable(&solved.clone().exchanged(x, y))).count();
    let three = (0..6)
        .flat_map(|x| (0..6).flat_map(move |y| (0..6).map(move |z| (x, y, z))))
        .filter(|&(x, y, z)| x != y && y != z && z != x && reachable(&solved.clone().exchanged(x, y).exchanged(x, z)))
        .count();
    let begins: HashSet<Vec<u32>> = group.arrangements().map(|homes| homes[..3].to_vec()).collect();
    claim(
        10,
        "on 2x3n2 only 5! of 6! boards can be solved",
        group.order() == 120 && swaps == 0 && three == 0 && begins.len() == 120,
        format!(
            "{} boards; {swaps} transpositions, {three} 3-cycles; the first three cells determine the rest: {} beginnings",
            group.order(),
            begins.len()
        ),
    )
}

fn swap_of_two_rows() -> Result<PublishedClaim> {
    let board = shape(2, 4, 2);
    let (quarter, half) = (word(board, "YYZ'YXY'ZYX'"), word(board, "X'Y2Z'YXY'ZY"));
    let least = least(board, &quarter)?;
    let found = cycles(board, &quarter);
    Ok(claim(
        11,
        "two rows of four or more columns with n = 2 have a swap (its word is lost; ours)",
        found.len() == 1 && found[0].len() == 2 && cycles(board, &half) == found && least == (lengths(&quarter).0, lengths(&half).1),
        format!(
            "2x4n2: YYZ'YXY'ZYX' and X'Y2Z'YXY'ZY are {}; none is shorter than {} quarter turns, or {} with half turns at 1",
            shown(&found),
            least.0,
            least.1
        ),
    ))
}

fn swap_of_nine() -> Result<PublishedClaim> {
    let board = shape(3, 3, 2);
    // X lower left, Y upper right, Z lower right are C, B and D.
    let (three, swap) = (cycles(board, &word(board, "CB'C'B")), cycles(board, &word(board, "CB'C'BD")));
    let least = least(board, &word(board, "CB'C'BD"))?;
    Ok(claim(
        12,
        "3x3 cells with n = 2 have a swap by X lower left, Y upper right, Z lower right (its word is lost; ours)",
        three.len() == 1 && three[0].len() == 3 && swap.len() == 1 && swap[0].len() == 2 && least == (5, 5),
        format!(
            "XY'X'Y is {}, XY'X'YZ is {}; none is shorter than {} quarter turns, or {} with half turns at 1",
            shown(&three),
            shown(&swap),
            least.0,
            least.1
        ),
    ))
}

fn five_columns() -> PublishedClaim {
    let board = shape(3, 5, 3);
    let (first, second) = (word(board, "YZY'Z'YZ2Y'Z'"), word(board, "XYX'Y'XY2X'Y'"));
    let of_colour = |word: &[_], colour: u32| -> Vec<Vec<(u32, u32)>> {
        cycles(board, word).into_iter().filter(|cycle| (cycle[0].0 + cycle[0].1) % 2 == colour).collect()
    };
    let swaps_first = |word: &[_]| of_colour(word, 0).len() == 1 && of_colour(word, 1).len() == 3;
    let swaps_second = |word: &[_]| of_colour(word, 1).len() == 1 && of_colour(word, 0).len() == 3;
    let corrected = swaps_second(&first) && swaps_first(&second);
    claim(
        16,
        "on 3x5n3 YZY'Z'YZ2Y'Z' swaps two cells of the corner's colour P0, XYX'Y'XY2X'Y' two of the other colour P1",
        swaps_first(&first) && swaps_second(&second),
        format!(
            "the names are exchanged: the first is {} on P1 and {} on P0, the second {} on P0 and {} on P1 ({}); the conclusion holds, {} boards can be solved",
            shown(&of_colour(&first, 1)),
            shown(&of_colour(&first, 0)),
            shown(&of_colour(&second, 0)),
            shown(&of_colour(&second, 1)),
            if corrected { "seen" } else { "not seen" },
            BoardGroup::of(board).order(board)
        ),
    )
}

fn commutator_squared() -> PublishedClaim {
    let board = shape(3, 5, 3);
    let found = cycles(board, &word(board, "XZX'Z'XZX'Z'"));
    claim(17, "on 3x5n3 (XZX'Z')^2 is a 3-cycle", found.len() == 1 && found[0].len() == 3, shown(&found))
}

fn sixteen() -> Result<PublishedClaim> {
    let board = shape(4, 4, 3);
    let (quarter, half) = (word(board, "B'CBACB'C'BA'C'"), word(board, "B2C'B2D2B2C'B2D2"));
    let (first, second) = (cycles(board, &quarter), cycles(board, &half));
    let least = (least(board, &quarter)?.0, least(board, &half)?.1);
    let three = |found: &Vec<Vec<(u32, u32)>>| found.len() == 1 && found[0].len() == 3;
    Ok(claim(
        18,
        "4x4n3 has a short 3-cycle (its word is lost; ours)",
        three(&first) && three(&second) && least == (10, 8),
        format!(
            "B'CBACB'C'BA'C' is {}, not shorter than {} quarter turns; B2C'B2D2B2C'B2D2 is {}, not shorter than {} with half turns at 1; {} boards can be solved",
            shown(&first),
            least.0,
            shown(&second),
            least.1,
            BoardGroup::of(board).order(board)
        ),
    ))
}

fn twenty() -> Result<PublishedClaim> {
    let board = shape(4, 5, 4);
    let text = "XYXY2X'Y'X'YX'Y'X'YX'Y'X'Y2XYXY'XYXY'";
    let found = cycles(board, &word(board, text));
    let least = least(board, &word(board, text))?;
    Ok(claim(
        19,
        "4x5n4 has a 3-cycle, so all even permutations can be solved (called easy; ours)",
        found.len() == 1 && found[0].len() == 3 && least == (26, 24),
        format!("{text} is {}; not shorter than {} quarter turns, or {} with half turns at 1", shown(&found), least.0, least.1),
    ))
}
