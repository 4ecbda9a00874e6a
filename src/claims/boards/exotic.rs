//! Claims about 3x4 cells with 3x3 blocks, where one colour determines the other by an outer
//! automorphism of S6.

use super::{PublishedClaim, claim, cycles, shape, shown, word};
use crate::base::Result;
use crate::base::ids::index_u32;
use crate::claims::outer_automorphism::{OuterAutomorphism, Pair, Pairing};
use crate::families::rotation_board::BoardShape;
use crate::families::rotation_board::small_group::SmallGroup;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn claims() -> Result<Vec<PublishedClaim>> {
    let board = shape(3, 4, 3);
    let group = SmallGroup::of(board);
    let colours: [Vec<u32>; 2] = [false, true].map(|colour| (0..12).filter(|&cell| board.colour(cell) == colour).collect());
    let on = |homes: &[u32], colour: usize| -> Vec<u32> { colours[colour].iter().map(|&cell| homes[index_u32(cell)]).collect() };
    let distinct: [usize; 2] = [0, 1].map(|colour| group.arrangements().map(|homes| on(homes, colour)).collect::<BTreeSet<_>>().len());
    // Cycle lengths of both colours, as they occur together.
    let mut types: BTreeMap<Vec<usize>, BTreeSet<Vec<usize>>> = BTreeMap::new();
    for homes in group.arrangements() {
        types.entry(cycle_type(homes, &colours[0])).or_default().insert(cycle_type(homes, &colours[1]));
    }
    let together = |first: &[usize], second: &[usize]| types[&first.to_vec()] == BTreeSet::from([second.to_vec()]);
    let outer = together(&[2], &[2, 2, 2]) && together(&[3], &[3, 3]) && together(&[6], &[3, 2]);
    let swap = cycles(board, &word(board, "XYX'Y'XY'XYXYX"));
    let of_colour = |colour: u32| swap.iter().filter(|cycle| (cycle[0].0 + cycle[0].1) % 2 == colour).cloned().collect::<Vec<_>>();
    // An error when there is not exactly one.
    let table = OuterAutomorphism::derive()?.pairings;
    Ok(vec![
        claim(
            13,
            "on 3x4n3 6! of 12! boards can be solved: one colour determines the other",
            group.order() == 720 && distinct == [720, 720] && outer,
            format!(
                "{} boards, {} arrangements of the corner's colour, {} of the other; a transposition of the one goes with three of the other, a 3-cycle with two, \
                 a 6-cycle with a 3-cycle and a transposition: an outer automorphism of S6",
                group.order(),
                distinct[0],
                distinct[1]
            ),
        ),
        claim(
            14,
            "on 3x4n3 XYX'Y'XY'XYXYX swaps (2,4) and (3,3) in the corner's colour",
            of_colour(0) == [vec![(2, 4), (3, 3)]],
            format!("{}; on the other colour {}", shown(&of_colour(0)), shown(&of_colour(1))),
        ),
        claim(
            15,
            "there is a bijection from pairs of one colour to pairings of the other that the turns respect (the lemma is lost; ours)",
            table.len() == 15,
            format!("one of the 15 that a first choice leaves: {}", table_text(board, &table)),
        ),
    ])
}

/// Lengths of the cycles on these cells, without the fixed ones, descending.
fn cycle_type(homes: &[u32], cells: &[u32]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let mut lengths = Vec::new();
    for &start in cells {
        let (mut cell, mut length) = (start, 0);
        while seen.insert(cell) {
            cell = homes[index_u32(cell)];
            length += 1;
        }
        if length > 1 {
            lengths.push(length);
        }
    }
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    lengths
}

fn table_text(board: BoardShape, table: &BTreeMap<Pair, Pairing>) -> String {
    let cell = |cell: u32| {
        let (row, column) = board.place(cell);
        format!("{}{}", row + 1, column + 1)
    };
    let row = |(pair, pairing): (&Pair, &Pairing)| {
        let members: Vec<String> = pairing.iter().map(|&[a, b]| format!("{}-{}", cell(a), cell(b))).collect();
        format!("{} {}: {}", cell(pair[0]), cell(pair[1]), members.join(" "))
    };
    table.iter().map(row).collect::<Vec<_>>().join("; ")
}
