//! The rest of a solution: 3-cycles, each the cheapest that leaves a permutation of one 3-cycle
//! less.
//!
//! Any triple that does so is as good as another for the number of 3-cycles (`Cycles::gains`), so
//! the cheapest of thousands is taken: while many tiles are displaced the table's cheapest triples
//! are tried at every place of the window; when few are, all triples of displaced cells. So the
//! cost of most 3-cycles is near that of the bare ladder word.

use super::setup::{Setups, Way};
use super::triple_table::Triple;
use super::work::{Cycles, Work};
use crate::base::ids::index_u32;
use crate::base::{Error, Result};
use std::collections::HashMap;

/// Displaced cells of which all triples are tried.
const FEW: usize = 48;

/// Triples that are tried at one place or another before all of few cells, or the next best, are
/// taken.
const MOST_TRIED: u64 = 250_000;

/// Triples without a window around them that get a search of their own.
const MOST_SEARCHED: usize = 3;

/// Brings all tiles home.
///
/// # Errors
/// `Invariant` when no triple gains, which the verdict excludes.
pub fn finish(work: &mut Work, setups: &Setups, variant: u64) -> Result<()> {
    let mut ways: HashMap<Triple, Option<Way>> = HashMap::new();
    loop {
        let cycles = Cycles::of(work.homes());
        if cycles.three_cycles == 0 {
            return Ok(());
        }
        let way = next_way(work, setups, &cycles, &mut ways, variant)
            .ok_or_else(|| Error::invariant(format!("3-cycles of the board {}", work.shape()), "none that gains", "one"))?;
        for turn in setups.word(&way) {
            work.turn(turn);
        }
    }
}

fn next_way(work: &Work, setups: &Setups, cycles: &Cycles, ways: &mut HashMap<Triple, Option<Way>>, variant: u64) -> Option<Way> {
    let many = cycles.displaced.len() > FEW;
    if many && let Some(triple) = cheap_triple(setups, cycles, variant) {
        return setups.table_way(triple);
    }
    // By table where that is possible; the others by how far apart their cells are.
    let mut best: Option<((u64, u64), Triple)> = None;
    let mut apart: Vec<((u32, u32), Triple)> = Vec::new();
    // Blocks of odd size keep colours, and two cycles of a gaining triple may have different ones.
    let possible = |triple: &Triple| {
        let shape = work.shape();
        shape.block().is_multiple_of(2) || triple.iter().all(|&cell| shape.colour(cell) == shape.colour(triple[0]))
    };
    for triple in gaining(work, cycles).into_iter().filter(possible) {
        match setups.by_table(triple) {
            Some((cost, _)) => {
                let rank = (cost, work.tie(variant, triple[0] ^ triple[1].rotate_left(11) ^ triple[2].rotate_left(22)));
                if best.is_none_or(|best| rank < best.0) {
                    best = Some((rank, triple));
                }
            }
            None => apart.push((setups.spread(triple), triple)),
        }
    }
    if let Some((_, triple)) = best {
        return setups.table_way(triple);
    }
    apart.sort_unstable();
    apart.truncate(MOST_SEARCHED);
    let found = apart.into_iter().filter_map(|(_, triple)| ways.entry(triple).or_insert_with(|| setups.way(triple)).clone());
    found.min_by_key(|way| way.cost)
}

/// A gaining triple among the table's cheapest, anywhere on the board.
fn cheap_triple(setups: &Setups, cycles: &Cycles, variant: u64) -> Option<Triple> {
    let (rows, columns) = setups.windows();
    let places = u64::from(rows) * u64::from(columns);
    let mut tried = 0;
    // Another variant starts elsewhere on the board.
    let shift = u32::try_from(variant % places).unwrap_or(0);
    for &(_, triple) in setups.table().cheapest() {
        for place in 0..rows * columns {
            let place = (place + shift) % (rows * columns);
            let on_board = setups.on_board(triple, (place / columns, place % columns));
            if cycles.gains(on_board) {
                return Some(on_board);
            }
        }
        tried += places;
        if tried > MOST_TRIED {
            return None;
        }
    }
    None
}

/// Gaining triples: all of few displaced cells; of many, neighbours in their cycle, and pairs of
/// even cycles.
fn gaining(work: &Work, cycles: &Cycles) -> Vec<Triple> {
    let homes = work.homes();
    let follow = |cell: u32| homes[index_u32(cell)];
    let displaced = &cycles.displaced;
    if displaced.len() <= FEW {
        let mut found = Vec::new();
        for (index, &x) in displaced.iter().enumerate() {
            for &y in &displaced[index + 1..] {
                for &z in &displaced[index + 1..] {
                    if y != z && cycles.gains([x, y, z]) {
                        found.push([x, y, z]);
                    }
                }
            }
        }
        return found;
    }
    let mut found: Vec<Triple> =
        displaced.iter().map(|&x| [x, follow(x), follow(follow(x))]).filter(|&triple| cycles.gains(triple)).collect();
    if found.is_empty() {
        for &x in displaced {
            found.extend(displaced.iter().map(|&z| [x, follow(x), z]).filter(|&triple| triple[1] != triple[2] && cycles.gains(triple)));
        }
    }
    found
}
