//! Puzzles given in the form that all families compile to: planes, and arrangements of positions.
//!
//! ```toml
//! family = "planes"
//! name = "my-planes"
//! planes = 4
//! positions = 5
//! start_plane = 0                      # left out: 0; the start's arrangement is the identity
//! inverses = true                      # adds each missing inverse, named A'
//!
//! [[generators]]
//! name = "A"
//! planes = [3, 0, 1, 2]                # plane p leads to planes[p]; left out: every plane to itself
//! cycles = "(0 1)"                     # in every plane; or: permutation = [1, 0, 2, 3, 4]
//!
//! [[generators]]
//! name = "B"
//! permutations = [[1, 0, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]   # one a plane
//! ```
//!
//! `[[metrics]]` is as in the family `permutations`. A generator takes the state `(p, a)` to
//! `(planes[p], a∘permutation)` with the permutation of plane `p` in its passive form:
//! `permutation[i]` is the position whose piece comes to position `i`.

use super::named_generators::{NamedGenerators, Turn};
use super::names;
use super::permutation_text::{self, Positions};
use super::{ConfiguredPuzzle, Family, PuzzleSource};
use crate::base::config_text::{ConfigTable, Integers};
use crate::base::ids::{index_u32, low_u32, to_u64, to_usize};
use crate::base::{Error, Result};
use crate::evidence::certificates::CertifiedPuzzle;
use crate::puzzle::permutation::MOST_RANKED_POSITIONS;
use crate::puzzle::planes::MOST_GENERATORS;
use crate::puzzle::{Layout, Permutation, Puzzle, State};

/// The family's line in the registry.
pub const FAMILY: Family = Family::without_short_names("planes", |table| PlanePuzzle::read(table).map(PuzzleSource::new));

/// Most planes of a puzzle of this family: a file of 1 MiB lists no more in a sensible way.
const MOST_LISTED_PLANES: usize = 1 << 16;

/// Most planes x generators: 64 MB while the file is read.
const MOST_PLANE_MOVES: usize = 1 << 20;

/// What a generator does: for each plane the plane it leads to and the permutation of positions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlaneTurn(Vec<(u32, Permutation)>);

/// A puzzle of this family in all its metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanePuzzle {
    name: String,
    planes: usize,
    positions: usize,
    start_plane: u32,
    generators: NamedGenerators<PlaneTurn>,
}

impl Turn for PlaneTurn {
    fn is_identity(&self) -> bool {
        self.0.iter().zip(0..).all(|((target, permutation), plane)| *target == plane && permutation.is_identity())
    }

    fn inverse(&self) -> Self {
        let mut inverse = self.0.clone();
        for ((target, permutation), plane) in self.0.iter().zip(0..) {
            inverse[index_u32(*target)] = (plane, permutation.inverse());
        }
        Self(inverse)
    }
}

impl PlanePuzzle {
    /// Takes the family's keys.
    pub(in crate::families) fn read(table: &mut ConfigTable) -> Result<Self> {
        let name = names::puzzle_name(table)?;
        let planes = to_usize(table.required_integer("planes", 1..=to_u64(MOST_LISTED_PLANES))?);
        let positions = to_usize(table.required_integer("positions", 1..=to_u64(MOST_RANKED_POSITIONS))?);
        let start_plane = table.optional_integer("start_plane", 0..=to_u64(planes - 1))?.unwrap_or(0);
        let most = MOST_GENERATORS.min(MOST_PLANE_MOVES / planes);
        let generators = NamedGenerators::read(table, most, |generator| read_turn(generator, planes, positions))?;
        Ok(Self { name, planes, positions, start_plane: low_u32(start_plane), generators })
    }
}

impl ConfiguredPuzzle for PlanePuzzle {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn metrics(&self) -> Vec<String> {
        self.generators.metrics()
    }

    fn build(&self, metric: &str) -> Result<Puzzle> {
        let turns = self.generators.of_metric(metric);
        let generators = turns.into_iter().map(|(name, turn)| (name.clone(), turn.0.clone())).collect();
        let solved = State { plane: self.start_plane, arrangement: Permutation::identity(self.positions).images().to_vec() };
        Puzzle::of_planes(&self.name, metric, self.positions, generators, vec![solved], Layout::Numbered)
    }

    fn to_toml(&self) -> String {
        let start = if self.start_plane == 0 { String::new() } else { format!("start_plane = {}\n", self.start_plane) };
        format!(
            "family = \"planes\"\nname = \"{}\"\nplanes = {}\npositions = {}\n{start}{}",
            self.name,
            self.planes,
            self.positions,
            self.generators.to_toml(write_turn)
        )
    }

    fn certified(&self, _metric: &str) -> Result<CertifiedPuzzle> {
        Err(Error::config(format!(
            "{} is given as planes, for which there are no certificates; give its moves as permutations of positions",
            self.name
        )))
    }
}

fn read_turn(table: &mut ConfigTable, planes: usize, positions: usize) -> Result<PlaneTurn> {
    let last_plane = to_u64(planes - 1);
    let targets = match table.optional_integers("planes", 0..=last_plane)? {
        Some(list) => bijection(&list, planes)?,
        None => (0..=low_u32(last_plane)).collect(),
    };
    let each = table.optional_integer_lists("permutations", 0..=to_u64(positions - 1))?;
    let same = permutation_text::optional_permutation(table, "permutation", Positions::from_0(positions))?;
    let permutations = match (each, same) {
        (Some(_), Some(_)) => {
            return Err(table.place_of("permutations").refuse(
                "permutations and one for all planes",
                "one of them",
                "delete the other one",
            ));
        }
        (Some(lists), None) if lists.len() != planes => {
            return Err(table.place_of("permutations").refuse(
                format!("{} permutations", lists.len()),
                format!("{planes}, one for each plane"),
                "add or delete some, or write permutation = [...] for all planes",
            ));
        }
        (Some(lists), None) => {
            lists.iter().map(|list| permutation_text::from_images(list, Positions::from_0(positions))).collect::<Result<_>>()?
        }
        (None, Some(permutation)) => vec![permutation; planes],
        (None, None) => vec![Permutation::identity(positions); planes],
    };
    Ok(PlaneTurn(targets.into_iter().zip(permutations).collect()))
}

/// The map of planes, which must reach each once.
fn bijection(list: &Integers, planes: usize) -> Result<Vec<u32>> {
    if list.values().len() != planes {
        return Err(list.place().refuse(
            format!("a list of {} planes", list.values().len()),
            format!("{planes}, one for each plane"),
            "add or delete some",
        ));
    }
    let mut reached = vec![false; planes];
    for (index, &plane) in list.values().iter().enumerate() {
        if std::mem::replace(&mut reached[to_usize(plane)], true) {
            return Err(list.place_of(index).refuse(
                format!("plane {plane} a second time"),
                format!("each of 0 to {} once", planes - 1),
                "a generator must be undoable: correct the list",
            ));
        }
    }
    Ok(list.values().iter().map(|&plane| low_u32(plane)).collect())
}

/// The lines of a generator; what is the identity is left out.
fn write_turn(PlaneTurn(moves): &PlaneTurn) -> String {
    let mut text = String::new();
    if moves.iter().zip(0..).any(|((target, _), plane)| *target != plane) {
        let targets: Vec<u32> = moves.iter().map(|(target, _)| *target).collect();
        text += &format!("planes = {targets:?}\n");
    }
    let first = &moves[0].1;
    if moves.iter().any(|(_, permutation)| permutation != first) {
        let lists: Vec<&[u8]> = moves.iter().map(|(_, permutation)| permutation.images()).collect();
        text += &format!("permutations = {lists:?}\n");
    } else if !first.is_identity() {
        text += &format!("permutation = {:?}\n", first.images());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::reading::puzzle_text;
    use crate::families::turnstyle;

    fn read(text: &str) -> Result<PuzzleSource> {
        puzzle_text("x.toml", format!("family = \"planes\"\nname = \"toy\"\n{text}"))
    }

    /// A built-in puzzle written out in this family's form.
    fn written_out(puzzle: &Puzzle) -> String {
        let planes = puzzle.as_planes().expect("planes");
        let mut text = format!("planes = {}\npositions = {}\n", planes.planes(), planes.arrangement_length());
        for generator in planes.generators() {
            let steps = generator.moves.iter().flatten();
            let moves = steps.map(|step| (step.target, planes.permutations()[index_u32(step.permutation)].clone()));
            text += &format!("[[generators]]\nname = \"{}\"\n", generator.name);
            text += &write_turn(&PlaneTurn(moves.collect()));
        }
        text
    }

    #[test]
    fn a_built_in_puzzle_written_out_is_the_same_puzzle() {
        for size in 4..=7 {
            let puzzle = turnstyle::build(size, "step").expect("valid");
            let source = read(&written_out(&puzzle)).expect("valid");
            let copy = source.build("step").expect("valid");
            assert_eq!(copy.rules(), puzzle.rules());
            assert_eq!(copy.starts(), puzzle.starts());
            assert_eq!(puzzle_text("y.toml", source.to_toml()).expect("canonical"), source);
        }
    }

    #[test]
    fn inverses_are_added_when_they_are_missing() {
        let text = "planes = 3\npositions = 3\nstart_plane = 2\ninverses = true\n[[generators]]\nname = \"A\"\nplanes = [1, 2, 0]\npermutations = [[1, 2, 0], [0, 1, 2], [1, 0, 2]]\n[[generators]]\nname = \"B\"\ncycles = \"(0 1)\"\n";
        let source = read(text).expect("valid");
        let puzzle = source.build("step").expect("valid");
        let names: Vec<&str> = (0..puzzle.generators()).map(|generator| puzzle.generator_name(generator)).collect();
        assert_eq!(names, ["A", "B", "A'"]);
        assert!(puzzle.is_inverse_closed());
        let start = &puzzle.starts()[0];
        assert_eq!(puzzle.text(start), "2: 0 1 2");
        assert_eq!(puzzle.text(&puzzle.apply(0, start)), "0: 1 0 2");
        assert_eq!(puzzle.apply(2, &puzzle.apply(0, start)), *start);
        assert_eq!(puzzle_text("y.toml", source.to_toml()).expect("canonical"), source);
    }

    #[test]
    fn faults_have_a_place_and_a_cure() {
        let head = "planes = 3\npositions = 3\n[[generators]]\nname = \"A\"\n";
        for (line, part) in [
            ("planes = [0, 1]", "x.toml:7:10: generators[0].planes: found a list of 2 planes, expected 3, "),
            ("planes = [0, 1, 1]", "x.toml:7:17: generators[0].planes[2]: found plane 1 a second time, "),
            ("planes = [0, 1, 3]", "x.toml:7:17: generators[0].planes[2]: found 3, expected an integer from 0 to 2; "),
            ("permutations = [[0, 1, 2]]", "x.toml:7:16: generators[0].permutations: found 1 permutations, expected 3, "),
            ("permutations = [[0, 1, 2], [0, 1, 2], [0, 2, 2]]", "x.toml:7:46: generators[0].permutations[2][2]: found 2 a second time, "),
            ("permutation = [0, 1]", "x.toml:7:15: generators[0].permutation: found a list of 2 positions, "),
            ("permutation = [0, 1, 2]", "x.toml:6:8: generators[0].name: found generator \"A\", which moves nothing"),
            ("", "x.toml:6:8: generators[0].name: found generator \"A\", which moves nothing"),
            (
                "permutation = [1, 0, 2]\npermutations = []",
                "x.toml:8:16: generators[0].permutations: found permutations and one for all planes, ",
            ),
            ("planse = [0, 2, 1]", "x.toml:7:1: generators[0].planse: found an unknown key, "),
        ] {
            let text = read(&format!("{head}{line}\n")).expect_err("refused").to_string();
            assert!(text.starts_with(part), "{text}");
        }
        let many: String = (0..17).map(|i| format!("[[generators]]\nname = \"{i}\"\ncycles = \"(0 {})\"\n", i + 1)).collect();
        let text = read(&format!("planes = 65536\npositions = 20\n{many}")).expect_err("refused").to_string();
        assert!(text.contains("found 17 generators, expected at most 16 for this puzzle"), "{text}");
    }
}
