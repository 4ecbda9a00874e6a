//! Compiles permutations of positions to planes and arrangements.
//!
//! The positions fall into orbits under the generators. Positions that never move are dropped; the
//! largest orbit (of equals the one with the first position) is the arrangement, numbered as
//! [`PositionNumbers`] says; the contents of all other orbits together are the plane. The planes
//! are the contents reachable from the solved ones, in lexicographic order, so their numbers do not
//! depend on the order of the generators. Building costs planes x generators steps; nothing of it
//! is kept per state.

use super::position_order::position_order;
use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::base::{Error, Result};
use crate::puzzle::permutation::MOST_RANKED_POSITIONS;
use crate::puzzle::planes::MOST_PLANES;
use crate::puzzle::{Layout, Permutation, Puzzle, State};
use std::collections::HashMap;

/// Most planes x generators: 8 generators on the largest number of planes, 0.5 GB while the puzzle
/// is built.
const MOST_PLANE_MOVES: usize = 8 * MOST_PLANES;

/// How the positions of the arrangement are numbered. A published fingerprint depends on it, so a
/// family never changes its choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionNumbers {
    /// Ascending, as they were given.
    AsGiven,
    /// As suits a search by lanes, see [`position_order`].
    FewestCrossings,
}

/// How the moved positions are used: `planar` ascends.
struct Roles {
    arranged: Vec<u8>,
    planar: Vec<u8>,
}

/// The puzzle of these named generators on `positions` positions; a state's text lists all of them
/// in their given order.
///
/// # Errors
/// `Config` when the largest orbit is too large for an arrangement, or the others have too many
/// contents.
pub fn compile(name: &str, metric: &str, positions: usize, turns: &[&(String, Permutation)], numbers: PositionNumbers) -> Result<Puzzle> {
    let refuse = |what: String| Error::config(format!("puzzle {name}, metric {metric}: {what}"));
    let mut roles = roles(positions, turns.iter().map(|(_, turn)| turn));
    if roles.arranged.len() > MOST_RANKED_POSITIONS {
        return Err(refuse(format!(
            "found {} positions that reach one another, expected at most {MOST_RANKED_POSITIONS}; \
             state ranks have 63 bits: choose a smaller puzzle or a metric with fewer generators",
            roles.arranged.len()
        )));
    }
    if numbers == PositionNumbers::FewestCrossings {
        let given: Vec<Permutation> = turns.iter().map(|(_, turn)| restricted(turn, &roles.arranged)).collect();
        roles.arranged = position_order(roles.arranged.len(), &given).into_iter().map(|index| roles.arranged[index]).collect();
    }
    let planar_turns: Vec<Permutation> = turns.iter().map(|(_, turn)| restricted(turn, &roles.planar)).collect();
    let most = MOST_PLANES.min(MOST_PLANE_MOVES / turns.len().max(1));
    let Contents { all: contents, targets } = Contents::reachable(&roles.planar, &planar_turns, most).ok_or_else(|| {
        refuse(format!(
            "found more than {most} arrangements of the {} moved positions outside the largest orbit, expected at most that; \
             choose a smaller puzzle or a metric with fewer generators",
            roles.planar.len()
        ))
    })?;
    let generators = turns.iter().zip(targets).map(|((name, turn), targets)| {
        let arranged = restricted(turn, &roles.arranged);
        (name.clone(), targets.into_iter().map(|target| (target, arranged.clone())).collect())
    });
    let generators = generators.collect();
    let start = contents.binary_search(&roles.planar).expect("the solved contents are reachable");
    let length = roles.arranged.len();
    let solved = State { plane: low_u32(to_u64(start)), arrangement: Permutation::identity(length).images().to_vec() };
    let layout = Layout::Orbits { positions: low_u32(to_u64(positions)), arranged: roles.arranged, planar: roles.planar, planes: contents };
    Puzzle::of_planes(name, metric, length, generators, vec![solved], layout)
}

/// The orbits of the positions, sorted into arrangement and plane.
fn roles<'a>(positions: usize, turns: impl Iterator<Item = &'a Permutation> + Clone) -> Roles {
    let mut orbit_of: Vec<Option<usize>> = vec![None; positions];
    let mut orbits: Vec<Vec<usize>> = Vec::new();
    for start in 0..positions {
        if orbit_of[start].is_some() {
            continue;
        }
        // Generators are bijections of a finite set: following images forward reaches the whole
        // orbit.
        orbit_of[start] = Some(orbits.len());
        let mut orbit = vec![start];
        let mut next = 0;
        while let Some(&position) = orbit.get(next) {
            for turn in turns.clone() {
                let image = usize::from(turn.images()[position]);
                if orbit_of[image].replace(orbits.len()).is_none() {
                    orbit.push(image);
                }
            }
            next += 1;
        }
        orbits.push(orbit);
    }
    let largest = orbits.iter().map(Vec::len).max().unwrap_or(0);
    let chosen = orbits.iter().position(|orbit| orbit.len() == largest);
    let mut roles = Roles { arranged: Vec::new(), planar: Vec::new() };
    for (position, orbit) in orbit_of.into_iter().enumerate() {
        let position = u8::try_from(position).expect("positions are below 256");
        if orbit == chosen {
            roles.arranged.push(position);
        } else if orbit.is_some_and(|orbit| orbits[orbit].len() > 1) {
            roles.planar.push(position);
        }
    }
    roles
}

/// What the turn does to `positions`, which it maps to themselves, numbered from 0.
fn restricted(turn: &Permutation, positions: &[u8]) -> Permutation {
    Permutation::from_fn(positions.len(), |index| {
        let source = turn.images()[usize::from(positions[index])];
        positions.iter().position(|&position| position == source).expect("an orbit is closed under generators")
    })
}

fn moved(contents: &[u8], turn: &Permutation) -> Vec<u8> {
    turn.images().iter().map(|&source| contents[usize::from(source)]).collect()
}

/// All contents that the turns make of the solved ones, and where the turns lead.
struct Contents {
    /// Ascending.
    all: Vec<Vec<u8>>,
    /// For each turn, and each of `all`, the number of what the turn makes of it.
    targets: Vec<Vec<u32>>,
}

impl Contents {
    /// None when there are more than `most`.
    fn reachable(solved: &[u8], turns: &[Permutation], most: usize) -> Option<Self> {
        let mut known: HashMap<Vec<u8>, u32> = HashMap::from([(solved.to_vec(), 0)]);
        let mut found = vec![solved.to_vec()];
        // In the order in which they are found, turn by turn.
        let mut links: Vec<u32> = Vec::new();
        let mut next = 0;
        while next < found.len() {
            for turn in turns {
                let contents = moved(&found[next], turn);
                let number = *known.entry(contents).or_insert_with_key(|contents| {
                    found.push(contents.clone());
                    low_u32(to_u64(found.len() - 1))
                });
                links.push(number);
            }
            next += 1;
            if found.len() > most {
                return None;
            }
        }
        drop(known);
        let mut order: Vec<u32> = (0..low_u32(to_u64(found.len()))).collect();
        order.sort_unstable_by(|&one, &other| found[index_u32(one)].cmp(&found[index_u32(other)]));
        let mut numbers = vec![0; found.len()];
        order.iter().zip(0_u32..).for_each(|(&at, number)| numbers[index_u32(at)] = number);
        let target = |at: u32, turn: usize| numbers[index_u32(links[index_u32(at) * turns.len() + turn])];
        let targets = (0..turns.len()).map(|turn| order.iter().map(|&at| target(at, turn)).collect()).collect();
        let all = order.iter().map(|&at| std::mem::take(&mut found[index_u32(at)])).collect();
        Some(Self { all, targets })
    }
}
