//! The puzzle files that come with the program: those of `configs/puzzles/`, embedded so that their
//! names work everywhere. Two of them show how the built-in families are written; their other
//! puzzles have short names and need no file.
//!
//! To add one, write its file (the first comment line is its description) and its line below.

/// A shipped puzzle file.
#[derive(Clone, Copy, Debug)]
pub struct ShippedPuzzle {
    /// The short name, and the file's name without `.toml`.
    pub name: &'static str,
    /// The file's text.
    pub text: &'static str,
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedPuzzle {
            name: $name,
            text: include_str!(concat!("../../configs/puzzles/", $name, ".toml")),
        }),*]
    };
}

/// All of them, in the order of listings.
pub const SHIPPED: &[ShippedPuzzle] =
    shipped!["turnstyle-12", "rotation-board-3x4n2", "board-2x3n2", "board-3x4n3", "loopover-3x3", "pancake-7", "pocket-cube",];

impl ShippedPuzzle {
    /// What it is, in one line.
    #[must_use]
    pub fn description(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// The shipped puzzle of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static ShippedPuzzle> {
    SHIPPED.iter().find(|puzzle| puzzle.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::config_text::ConfigTable;
    use crate::families::{PuzzleSource, reading};
    use crate::puzzle::Puzzle;
    use std::collections::HashSet;

    /// States per depth up to `most_depth`: a breadth-first search over a set of states.
    fn counts(puzzle: &Puzzle, most_depth: usize) -> Vec<usize> {
        let mut seen: HashSet<_> = puzzle.starts().iter().cloned().collect();
        let mut frontier: Vec<_> = puzzle.starts().to_vec();
        let mut counts = Vec::new();
        while !frontier.is_empty() && counts.len() <= most_depth {
            counts.push(frontier.len());
            let mut next = Vec::new();
            for state in &frontier {
                for generator in 0..puzzle.generators() {
                    let successor = puzzle.apply(generator, state);
                    if seen.insert(successor.clone()) {
                        next.push(successor);
                    }
                }
            }
            frontier = next;
        }
        counts
    }

    fn built(name: &str, metric: &str) -> Puzzle {
        PuzzleSource::from_short_name(name).and_then(|source| source.build(metric)).expect("a puzzle")
    }

    #[test]
    fn every_file_is_valid_and_describes_itself() {
        for puzzle in SHIPPED {
            let source = reading::shipped_source(puzzle).expect("valid");
            assert_eq!(source.name(), puzzle.name);
            assert!(puzzle.text.starts_with("# ") && puzzle.description().ends_with(" states."), "{}", puzzle.name);
            assert_eq!(reading::puzzle_text("copy.toml", source.to_toml()).expect("canonical"), source);
            assert_eq!(reading::puzzle_text("copy.toml", puzzle.text).expect("under its own name"), source);
            for metric in source.metrics() {
                assert!(source.build(&metric).expect("valid").is_inverse_closed(), "{} {metric}", puzzle.name);
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_shipped() {
        let files = std::fs::read_dir("configs/puzzles")
            .expect("the folder")
            .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8").replace(".toml", ""));
        let shipped: HashSet<String> = SHIPPED.iter().map(|puzzle| puzzle.name.to_owned()).collect();
        assert_eq!(files.collect::<HashSet<_>>(), shipped);
    }

    /// The numbers of states that a comment at the head of a file speaks of.
    fn stated(text: &str) -> Vec<u128> {
        let comment: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#')).collect();
        let comment = comment.join(" ");
        let words: Vec<&str> = comment.split_whitespace().collect();
        words
            .windows(2)
            .filter(|pair| pair[1].trim_end_matches(['.', ',', ':', ';', ')']) == "states")
            .filter_map(|pair| pair[0].replace(',', "").parse().ok())
            .collect()
    }

    /// Every number of states in a description is that of the group's order, in one of the
    /// puzzle's metrics.
    #[test]
    fn descriptions_have_the_right_numbers() {
        let orders = |source: &PuzzleSource| -> HashSet<u128> {
            let order = |metric: &String| source.build(metric).expect("valid").facts().states.expect("a group");
            source.metrics().iter().map(order).collect()
        };
        for puzzle in SHIPPED {
            let (stated, orders) = (stated(puzzle.text), orders(&reading::shipped_source(puzzle).expect("valid")));
            assert!(!stated.is_empty() && stated.iter().all(|states| orders.contains(states)), "{}: {stated:?}, {orders:?}", puzzle.name);
        }
        for entry in std::fs::read_dir("configs/runs").expect("the folder") {
            let path = entry.expect("readable").path();
            let source = crate::families::run_config::RunConfig::load(&path).expect("valid").puzzle;
            let (stated, orders) = (stated(&std::fs::read_to_string(&path).expect("text")), orders(&source));
            assert!(
                !stated.is_empty() && stated.iter().all(|states| orders.contains(states)),
                "{}: {stated:?}, {orders:?}",
                path.display()
            );
        }
    }

    #[test]
    fn run_configurations_name_puzzles_and_metrics_that_exist() {
        for entry in std::fs::read_dir("configs/runs").expect("the folder") {
            let path = entry.expect("readable").path();
            let mut root = ConfigTable::read(&path).expect("TOML");
            let puzzle = root.required_string("puzzle").expect("a file");
            let source = reading::resolve(puzzle, path.parent()).expect("valid");
            source.check_metric(&root.required_string("metric").expect("a name")).expect("known");
        }
    }

    /// Sources of the counts: turnstyle by twsearch; the boards by twsearch and a program of ours;
    /// loopover by twsearch (its sample `lo33`, all powers); pancakes by OEIS A092113; the pocket
    /// cube by OEIS A079761 (half) and A079762 (quarter).
    #[test]
    fn counts_are_the_known_ones() {
        let all = usize::MAX;
        for (name, metric, known) in [
            ("turnstyle-7", "step", &[1, 3, 6, 12, 22, 40, 69, 118, 195, 320, 424, 479, 464, 285, 73, 9][..]),
            ("board-2x3n2", "quarter", &[1, 4, 10, 22, 42, 33, 7, 1]),
            ("board-2x3n2", "half", &[1, 6, 18, 45, 40, 9, 1]),
            ("board-3x4n3", "quarter", &[1, 4, 10, 24, 54, 116, 230, 206, 65, 10]),
            ("board-3x4n3", "half", &[1, 6, 18, 54, 149, 286, 206]),
            ("loopover-3x3", "step", &[1, 12, 96, 736, 5208, 28674, 89497, 54741, 2475]),
            ("pancake-7", "step", &[1, 6, 30, 149, 543, 1357, 1903, 1016, 35]),
        ] {
            assert_eq!(counts(&built(name, metric), all), known, "{name} {metric}");
        }
        assert_eq!(counts(&built("pocket-cube", "half"), 5), [1, 9, 54, 321, 1847, 9992]);
        assert_eq!(counts(&built("pocket-cube", "quarter"), 7), [1, 6, 27, 120, 534, 2256, 8969, 33058]);
    }
}
