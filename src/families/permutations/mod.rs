//! Puzzles given outright: every generator is a permutation of positions.
//!
//! ```toml
//! family = "permutations"
//! name = "rotations-of-three"
//! positions = 6
//! base = 0                   # the number of the first position; 1 for cycles as GAP writes them
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
//! `orbits.rs` says how it is compiled.

use super::named_generators::NamedGenerators;
use super::names;
use super::permutation_text::{self, Positions};
use super::{ConfiguredPuzzle, Family, PuzzleSource};
use crate::base::Result;
use crate::base::config_text::ConfigTable;
use crate::base::ids::{to_u64, to_usize};
use crate::evidence::certificates::CertifiedPuzzle;
use crate::puzzle::compile::orbits::{self, PositionNumbers};
use crate::puzzle::permutation::MOST_POSITIONS;
use crate::puzzle::planes::MOST_GENERATORS;
use crate::puzzle::{Permutation, Puzzle};

/// The family's line in the registry.
pub const FAMILY: Family = Family::without_short_names("permutations", |table| PermutationPuzzle::read(table).map(PuzzleSource::new));

/// A puzzle of this family in all its metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermutationPuzzle {
    name: String,
    positions: usize,
    /// Whether the configuration says which number the first position has.
    states_base: bool,
    generators: NamedGenerators<Permutation>,
}

impl PermutationPuzzle {
    /// Takes the family's keys.
    pub(in crate::families) fn read(table: &mut ConfigTable) -> Result<Self> {
        let name = names::puzzle_name(table)?;
        let positions = to_usize(table.required_integer("positions", 2..=to_u64(MOST_POSITIONS))?);
        let states_base = table.contains("base");
        let numbered = Positions::read(table, positions)?;
        let generators = NamedGenerators::read(table, MOST_GENERATORS, |generator| {
            let permutation = permutation_text::optional_permutation(generator, "images", numbered)?;
            permutation.ok_or_else(|| {
                generator.place().refuse("neither images nor cycles", "one of them", "add a line such as cycles = \"(0 1)\"")
            })
        })?;
        Ok(Self { name, positions, states_base, generators })
    }
}

impl ConfiguredPuzzle for PermutationPuzzle {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn metrics(&self) -> Vec<String> {
        self.generators.metrics()
    }

    /// # Errors
    /// When the largest orbit is too large for an arrangement, or the others have too many
    /// contents.
    fn build(&self, metric: &str) -> Result<Puzzle> {
        orbits::compile(&self.name, metric, self.positions, &self.generators.of_metric(metric), PositionNumbers::AsGiven)
    }

    fn remark(&self) -> Option<String> {
        let moves_first = |(_, turn): &(String, Permutation)| turn.images()[0] != 0;
        (!self.states_base && !self.generators.all().iter().any(moves_first))
            .then(|| "no generator moves position 0; if the positions count from 1, say base = 1".into())
    }

    fn to_toml(&self) -> String {
        let generators = self.generators.to_toml(|permutation| format!("images = {:?}\n", permutation.images()));
        format!("family = \"permutations\"\nname = \"{}\"\npositions = {}\n{generators}", self.name, self.positions)
    }

    fn certified(&self, metric: &str) -> Result<CertifiedPuzzle> {
        let images = |images: &[u8]| images.iter().map(|&image| u16::from(image) + 1).collect();
        let generators = self.generators.of_metric(metric).into_iter();
        let generators: Vec<(String, Vec<u16>)> = generators.map(|(name, turn)| (name.clone(), images(turn.images()))).collect();
        let solved: Vec<u16> = (1..=u16::MAX).take(self.positions).collect();
        Ok(CertifiedPuzzle::of_permutations(&generators, &solved))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::reading::puzzle_text;
    use crate::puzzle::Layout;
    use proptest::prelude::*;

    fn source(text: &str) -> PuzzleSource {
        let head = "family = \"permutations\"\nname = \"toy\"\n";
        puzzle_text("x.toml", format!("{head}{text}")).expect("valid")
    }

    /// Planes, and positions of the arrangement.
    fn shape(puzzle: &Puzzle) -> (u32, u32) {
        let planes = puzzle.as_planes().expect("planes");
        (planes.planes(), planes.arrangement_length())
    }

    /// Two turns of disjoint orbits {1, 3, 5} and {0, 6}, position 2 and 4 stay.
    const TWO_ORBITS: &str = "positions = 7\ninverses = true\n[[generators]]\nname = \"A\"\ncycles = \"(5 1 3)(0 6)\"\n[[generators]]\nname = \"B\"\ncycles = \"(1 3)\"\n";

    #[test]
    fn the_largest_orbit_is_the_arrangement_and_the_rest_the_plane() {
        let puzzle = source(TWO_ORBITS).build("step").expect("valid");
        assert_eq!(shape(&puzzle), (2, 3));
        let names: Vec<&str> = (0..puzzle.generators()).map(|generator| puzzle.generator_name(generator)).collect();
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
        let Layout::Orbits { arranged, planar, planes, .. } = puzzle.layout().clone() else { panic!("orbits") };
        assert_eq!((arranged, planar), (vec![0, 5], vec![1, 2, 3, 4]));
        assert_eq!(planes, [[1, 2, 3, 4], [4, 3, 2, 1]]);
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
        assert_eq!((shape(&swap), swap.generators()), ((1, 2), 1));
        assert_eq!(swap.text(&swap.apply(0, &swap.starts()[0])), "1 4 3 2 5 6 7");
        assert_eq!(source.build("both").expect("valid").generator_name(0), "A'");
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
        assert_eq!(one.layout(), other.layout());
        assert_eq!(shape(&one).0, 6);
    }

    proptest! {
        /// Words act on the compiled puzzle as their permutations act on the labels, and the text
        /// reads back as the same source.
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
            let given = PermutationPuzzle::read(&mut ConfigTable::parse("x.toml", source.to_toml()).expect("TOML")).expect("valid");
            let given = given.generators.all();
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
