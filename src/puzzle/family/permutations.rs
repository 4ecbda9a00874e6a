//! Puzzles given outright: every generator is a permutation of positions.
//!
//! ```toml
//! family = "permutations"
//! name = "rotations-of-three"
//! positions = 6              # counted from 0
//! inverses = true            # adds each missing inverse, named A'
//!
//! [[generators]]
//! name = "A"
//! cycles = "(0 1 2)"         # the piece at 0 goes to 1; or: images = [2, 0, 1, 3, 4, 5]
//!
//! [[metrics]]                # left out: one metric, "step", of all generators
//! name = "quarter"
//! generators = ["A", "A'"]
//! ```
//!
//! Compiled for a metric: the positions fall into orbits under its generators. Positions that never move are dropped; the largest orbit (of
//! equals the one with the first position) is the arrangement, relabelled 0.. in position order; the contents of all other orbits together
//! are the plane. The planes are the contents reachable from the solved ones, in lexicographic order, so their numbers do not depend
//! on the order of the generators. Building costs planes x generators steps; nothing of it is kept per state.

use crate::base::config_text::ConfigTable;
use crate::base::ids::{low_u32, to_u64, to_usize};
use crate::base::{Error, Result};
use crate::puzzle::definition::{MOST_GENERATORS, MOST_PLANES};
use crate::puzzle::parse::{permutation_text, puzzle_name};
use crate::puzzle::permutation::{MOST_POSITIONS, MOST_RANKED_POSITIONS};
use crate::puzzle::source::NamedGenerators;
use crate::puzzle::{Layout, Permutation, Puzzle, State};
use std::collections::HashSet;

/// Most planes x generators: 8 generators on the largest number of planes, 0.5 GB while the puzzle is built.
const MOST_PLANE_MOVES: usize = 8 * MOST_PLANES;

/// A puzzle of this family in all its metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermutationPuzzle {
    name: String,
    positions: usize,
    generators: NamedGenerators<Permutation>,
}

/// How the moved positions are used: both lists ascend.
struct Roles {
    arranged: Vec<u8>,
    planar: Vec<u8>,
}

impl PermutationPuzzle {
    /// Takes the family's keys.
    pub(in crate::puzzle) fn read(table: &mut ConfigTable) -> Result<Self> {
        let name = puzzle_name(table)?;
        let positions = to_usize(table.required_integer("positions", 2..=to_u64(MOST_POSITIONS))?);
        let generators = NamedGenerators::read(table, MOST_GENERATORS, |generator| {
            let permutation = permutation_text::optional_permutation(generator, "images", positions)?;
            permutation.ok_or_else(|| {
                generator.place().refuse("neither images nor cycles", "one of them", "add a line such as cycles = \"(0 1)\"")
            })
        })?;
        Ok(Self { name, positions, generators })
    }

    /// The puzzle's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of positions, moved or not.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.positions
    }

    /// The generators and metrics.
    #[must_use]
    pub fn generators(&self) -> &NamedGenerators<Permutation> {
        &self.generators
    }

    /// The canonical text.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let generators = self.generators.to_toml(|permutation| format!("images = {:?}\n", permutation.images()));
        format!("family = \"permutations\"\nname = \"{}\"\npositions = {}\n{generators}", self.name, self.positions)
    }

    /// The puzzle in one metric.
    ///
    /// # Errors
    /// When the largest orbit is too large for an arrangement, or the others have too many contents.
    pub fn build(&self, metric: &str) -> Result<Puzzle> {
        let refuse = |what: String| Error::config(format!("puzzle {}, metric {metric}: {what}", self.name));
        let turns = self.generators.of_metric(metric);
        let roles = roles(self.positions, turns.iter().map(|(_, turn)| turn));
        if roles.arranged.len() > MOST_RANKED_POSITIONS {
            return Err(refuse(format!(
                "found {} positions that reach one another, expected at most {MOST_RANKED_POSITIONS}; \
                 state ranks have 63 bits: choose a smaller puzzle or a metric with fewer generators",
                roles.arranged.len()
            )));
        }
        let planar_turns: Vec<Permutation> = turns.iter().map(|(_, turn)| restricted(turn, &roles.planar)).collect();
        let most = MOST_PLANES.min(MOST_PLANE_MOVES / turns.len().max(1));
        let contents = reachable_contents(&roles.planar, &planar_turns, most).ok_or_else(|| {
            refuse(format!(
                "found more than {most} arrangements of the {} moved positions outside the largest orbit, expected at most that; \
                 choose a smaller puzzle or a metric with fewer generators",
                roles.planar.len()
            ))
        })?;
        let number = |contents: &Vec<u8>, all: &[Vec<u8>]| {
            low_u32(to_u64(all.binary_search(contents).expect("reachable contents are closed under generators")))
        };
        let moves = |turn: &Permutation, planar: &Permutation| -> Vec<(u32, Permutation)> {
            let arranged = restricted(turn, &roles.arranged);
            contents.iter().map(|from| (number(&moved(from, planar), &contents), arranged.clone())).collect()
        };
        let generators = turns.iter().zip(&planar_turns).map(|((name, turn), planar)| (name.clone(), moves(turn, planar))).collect();
        let length = roles.arranged.len();
        let solved = State { plane: number(&roles.planar, &contents), arrangement: Permutation::identity(length).images().to_vec() };
        let layout =
            Layout::Orbits { positions: low_u32(to_u64(self.positions)), arranged: roles.arranged, planar: roles.planar, planes: contents };
        Puzzle::new(&self.name, metric, length, generators, vec![solved], layout)
    }
}

/// The orbits of the positions, sorted into arrangement and plane.
fn roles<'a>(positions: usize, turns: impl Iterator<Item = &'a Permutation> + Clone) -> Roles {
    let mut orbit_of: Vec<Option<usize>> = vec![None; positions];
    let mut orbits: Vec<Vec<usize>> = Vec::new();
    for start in 0..positions {
        if orbit_of[start].is_some() {
            continue;
        }
        // Generators are bijections of a finite set: following images forward reaches the whole orbit.
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
        positions.binary_search(&source).expect("an orbit is closed under generators")
    })
}

fn moved(contents: &[u8], turn: &Permutation) -> Vec<u8> {
    turn.images().iter().map(|&source| contents[usize::from(source)]).collect()
}

/// All contents that the turns make of the solved ones, ascending; none when there are more than `most`.
fn reachable_contents(solved: &[u8], turns: &[Permutation], most: usize) -> Option<Vec<Vec<u8>>> {
    let mut known: HashSet<Vec<u8>> = HashSet::from([solved.to_vec()]);
    let mut open = vec![solved.to_vec()];
    while let Some(contents) = open.pop() {
        for turn in turns {
            let next = moved(&contents, turn);
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
        if known.len() > most {
            return None;
        }
    }
    let mut all: Vec<Vec<u8>> = known.into_iter().collect();
    all.sort_unstable();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::PuzzleSource;
    use crate::puzzle::parse::puzzle_text;
    use proptest::prelude::*;

    fn source(text: &str) -> PuzzleSource {
        let head = "family = \"permutations\"\nname = \"toy\"\n";
        puzzle_text("x.toml", format!("{head}{text}")).expect("valid")
    }

    /// Two turns of disjoint orbits {1, 3, 5} and {0, 6}, position 2 and 4 stay.
    const TWO_ORBITS: &str = "positions = 7\ninverses = true\n[[generators]]\nname = \"A\"\ncycles = \"(5 1 3)(0 6)\"\n[[generators]]\nname = \"B\"\ncycles = \"(1 3)\"\n";

    #[test]
    fn the_largest_orbit_is_the_arrangement_and_the_rest_the_plane() {
        let puzzle = source(TWO_ORBITS).build("step").expect("valid");
        assert_eq!((puzzle.planes(), puzzle.arrangement_length()), (2, 3));
        let names: Vec<&str> = puzzle.generators().iter().map(|generator| generator.name.as_str()).collect();
        assert_eq!(names, ["A", "B", "A'"]);
        let start = &puzzle.starts()[0];
        assert_eq!(puzzle.text(start), "1 2 3 4 5 6 7");
        // A takes the piece at 5 to 1, 1 to 3, 3 to 5 and swaps 0 and 6 (people count from 1).
        assert_eq!(puzzle.text(&puzzle.apply(0, start)), "7 6 3 2 5 4 1");
        assert_eq!(puzzle.text(&puzzle.apply(1, start)), "1 4 3 2 5 6 7");
        assert!(puzzle.is_inverse_closed());
    }

    #[test]
    fn of_equal_orbits_the_first_is_the_arrangement() {
        let text = "positions = 6\n[[generators]]\nname = \"A\"\ncycles = \"(1 4)(0 5)(2 3)\"\n";
        let puzzle = source(text).build("step").expect("valid");
        let Layout::Orbits { arranged, planar, planes, .. } = layout(&puzzle) else { panic!("orbits") };
        assert_eq!((arranged, planar), (vec![0, 5], vec![1, 2, 3, 4]));
        assert_eq!(planes, [[1, 2, 3, 4], [4, 3, 2, 1]]);
    }

    fn layout(puzzle: &Puzzle) -> Layout {
        let value = serde_json::to_value(puzzle).expect("plain data");
        serde_json::from_value(value["layout"].clone()).expect("a layout")
    }

    #[test]
    fn metrics_choose_generators_and_may_leave_positions_out() {
        let text = format!(
            "{TWO_ORBITS}[[metrics]]\nname = \"swap\"\ngenerators = [\"B\"]\n[[metrics]]\nname = \"both\"\ngenerators = [\"A'\", \"B\"]\n"
        );
        let source = source(&text);
        assert_eq!(source.metrics(), ["swap", "both"]);
        assert_eq!(source.default_metric(), "swap");
        let swap = source.build("swap").expect("valid");
        assert_eq!((swap.planes(), swap.arrangement_length(), swap.generators().len()), (1, 2, 1));
        assert_eq!(swap.text(&swap.apply(0, &swap.starts()[0])), "1 4 3 2 5 6 7");
        assert_eq!(source.build("both").expect("valid").generators()[0].name, "A'");
        assert!(source.build("step").expect_err("not listed").to_string().contains("swap, both"));
    }

    #[test]
    fn what_has_no_representation_is_refused_with_the_reason() {
        let cycle = |first: usize, last: usize| {
            let members: Vec<String> = (first..=last).map(|position| position.to_string()).collect();
            format!("({})", members.join(" "))
        };
        let text = format!("positions = 21\n[[generators]]\nname = \"A\"\ncycles = \"{}\"\n", cycle(0, 20));
        let message = source(&text).build("step").expect_err("large").to_string();
        assert!(message.contains("found 21 positions that reach one another, expected at most 20"), "{message}");
        let text = format!(
            "positions = 30\n[[generators]]\nname = \"A\"\ncycles = \"{0}{1}\"\n[[generators]]\nname = \"B\"\ncycles = \"{0}(15 16)\"\n",
            cycle(0, 14),
            cycle(15, 29)
        );
        let message = source(&text).build("step").expect_err("many planes").to_string();
        assert!(message.contains("more than 1048576 arrangements of the 15 moved positions"), "{message}");
    }

    #[test]
    fn plane_numbers_do_not_depend_on_the_order_of_generators() {
        let a = "[[generators]]\nname = \"A\"\ncycles = \"(0 1 2 3)(4 5 6)\"\n";
        let b = "[[generators]]\nname = \"B\"\ncycles = \"(0 1)(5 6)\"\n";
        let one = source(&format!("positions = 7\n{a}{b}")).build("step").expect("valid");
        let other = source(&format!("positions = 7\n{b}{a}")).build("step").expect("valid");
        assert_eq!(layout(&one), layout(&other));
        assert_eq!(one.planes(), 6);
    }

    proptest! {
        /// Words act on the compiled puzzle as their permutations act on the labels, and the text reads back as the same source.
        #[test]
        fn the_compiled_puzzle_acts_as_the_permutations(
            turns in (2_usize..8).prop_flat_map(|positions| proptest::collection::vec(
                Just((0..positions).collect::<Vec<_>>()).prop_shuffle(), 1..4)),
            word in proptest::collection::vec(0_usize..8, 0..20),
        ) {
            let mut text = format!("family = \"permutations\"\nname = \"toy\"\npositions = {}\ninverses = true\n", turns[0].len());
            for (index, turn) in turns.iter().enumerate() {
                text += &format!("[[generators]]\nname = \"{index}\"\nimages = {turn:?}\n");
            }
            let Ok(source) = puzzle_text("x.toml", text) else { return Ok(()) };
            prop_assert_eq!(&puzzle_text("y.toml", source.to_toml()).expect("canonical"), &source);
            let puzzle = source.build("step").expect("small");
            let PuzzleSource::Permutations(given) = &source else { panic!("this family") };
            let given = given.generators().all();
            let mut state = puzzle.starts()[0].clone();
            let mut whole = Permutation::identity(turns[0].len());
            for letter in word {
                let letter = letter % given.len();
                state = puzzle.apply(letter, &state);
                whole = whole.then(&given[letter].1);
            }
            let labels: Vec<String> = whole.images().iter().map(|label| (label + 1).to_string()).collect();
            prop_assert_eq!(puzzle.text(&state), labels.join(" "));
            prop_assert!(puzzle.is_inverse_closed());
        }
    }
}
