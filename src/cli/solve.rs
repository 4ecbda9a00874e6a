//! `farthest solve`: a shortest word from one state to another, or why there is none.

pub mod ends;

use super::arguments::{SolveArguments, SolveFamily};
use super::solve_board::solve_board;
use crate::base::ids::to_usize;
use crate::base::shown::{shown_json, shown_line, shown_path};
use crate::base::{Error, Result};
use crate::evidence::unreachable::{self, Unreachable};
use crate::families::PuzzleSource;
use crate::families::run_config::{CountedDistance, RunConfig, partition_of};
use crate::families::run_folder;
use crate::puzzle::{Puzzle, State};
use crate::search::RunFolder;
use crate::search::machine::host;
use crate::search::shortest::{MemoryLimit, Solution, TableLevels, solve, solve_by_table};
use ends::Ends;
use serde_json::json;
use std::path::Path;

/// Memory for the balls when the machine does not say what it has.
const USUAL_MEMORY_BYTES: u64 = 4 << 30;

/// What was asked and what was found.
struct Answer<'a> {
    puzzle: &'a Puzzle,
    ends: &'a Ends,
    solution: Result<Solution, Unreachable>,
}

/// Prints the answer; returns 0, or 1 when there is no word (0 with `--json`, where the object says
/// so).
///
/// # Errors
/// `Usage` for a bad state, `Config` when the balls do not fit, `BadData` when the table is another
/// puzzle's or damaged.
pub fn solve_command(arguments: &SolveArguments) -> Result<i32> {
    let wanted = match (&arguments.family, &arguments.ends) {
        (Some(SolveFamily::RotationBoard(board)), _) => return solve_board(board),
        (None, Some(ends)) => ends,
        (None, None) => return Err(Error::invariant("arguments of solve", "neither a puzzle nor a family", "one of them")),
    };
    let config = RunConfig::load_in(&wanted.puzzle, wanted.metric.as_ref())?;
    let puzzle = config.puzzle.build(&config.metric)?;
    let ends = Ends::read(&puzzle, wanted)?;
    let limit = memory_limit(wanted.memory);
    let most = if arguments.all { to_usize(arguments.most) } else { 1 };
    let solution = match ends.states() {
        Err(reason) => Err(Unreachable::Outside(reason)),
        Ok((from, to)) => find(&puzzle, from, &to, limit, most, arguments.table.as_deref())?,
    };
    let answer = Answer { puzzle: &puzzle, ends: &ends, solution };
    if arguments.json {
        println!("{}", shown_json(&answer.to_json(arguments, &config.puzzle).to_string()));
        return Ok(0);
    }
    answer.print(arguments, &config.puzzle);
    Ok(if answer.solution.is_ok() { 0 } else { 1 })
}

/// What the balls may take: the wish, or half of what is free.
#[must_use]
pub fn memory_limit(wanted: Option<u64>) -> MemoryLimit {
    MemoryLimit { bytes: wanted.unwrap_or_else(|| host::available_memory_bytes().map_or(USUAL_MEMORY_BYTES, |bytes| bytes / 2)) }
}

fn find(
    puzzle: &Puzzle,
    from: &State,
    to: &[State],
    limit: MemoryLimit,
    most: usize,
    table: Option<&Path>,
) -> Result<Result<Solution, Unreachable>> {
    if let Some(reason) = unreachable::why(puzzle, from, to)? {
        return Ok(Err(reason));
    }
    let solution = match table {
        None => solve(puzzle, from, to, limit, most)?,
        Some(_) if to != puzzle.starts() => {
            return Err(Error::Usage(
                "found --table with --from or --to, expected one of them: a table leads to the solved state only".into(),
            ));
        }
        Some(run) => solve_by_table(puzzle, from, &open_table(puzzle, run)?, most)?,
    };
    if solution.is_none() && puzzle.facts().states.is_none() {
        return Ok(Err(Unreachable::Searched));
    }
    // The group says that there is a word.
    solution.map(Ok).ok_or_else(|| Error::invariant("a state that the group reaches", "no word", "a word"))
}

/// The archived levels of the complete run in `run`, which must be a run of `puzzle`.
fn open_table(puzzle: &Puzzle, run: &Path) -> Result<TableLevels> {
    let (dataset, config) = run_folder::read_with_configuration(run)?;
    if config.puzzle.build(&config.metric)?.digest() != puzzle.digest() {
        return Err(Error::bad_data(
            run,
            format!("a run of {} in metric {}", dataset.summary.puzzle, dataset.summary.metric),
            format!("a run of {} in metric {}", puzzle.name(), puzzle.metric()),
            "name the run of this puzzle, or leave --table out",
        ));
    }
    if config.direction == Some(CountedDistance::FromSolved) {
        return Err(Error::config(format!(
            "{}: its moves have no inverses, and the table of {} holds the distances from the solved state; search again with --direction to, or \
             leave --table out",
            puzzle.name(),
            shown_path(run)
        )));
    }
    let levels = RunFolder::new(run).levels();
    if !levels.is_dir() {
        return Err(Error::bad_data(run, "no archived levels", "a run with --keep-levels", "search again with it, or leave --table out"));
    }
    let partition = partition_of(&dataset.puzzle, config.search.leading_positions)?;
    Ok(TableLevels::new(&levels, partition, dataset.distribution.len()))
}

impl Answer<'_> {
    fn names(&self, word: &[usize]) -> String {
        self.puzzle.word_names(word).join(" ")
    }

    fn print(&self, arguments: &SolveArguments, source: &PuzzleSource) {
        println!("{}, metric {}", self.puzzle.name(), self.puzzle.metric());
        println!("from  {}", shown_line(self.ends.from_text()));
        println!("to    {}", shown_line(self.ends.to_text()));
        let solution = match &self.solution {
            Err(reason) => {
                println!("no word leads there: {}", shown_line(&reason.to_string()));
                return;
            }
            Ok(solution) => solution,
        };
        let how = match (solution.balls, solution.length) {
            (_, 0) => "they are the same".to_owned(),
            (None, _) => "by the table of a whole search".to_owned(),
            (Some(balls), _) => format!(
                "the balls of radius {} and {} around the ends, {} and {} states, do not meet",
                balls.radii[0], balls.radii[1], balls.states[0], balls.states[1]
            ),
        };
        println!("length {}, and none is shorter: {how}", solution.length);
        if arguments.all {
            println!("{}", self.cut_note(solution));
        }
        for word in &solution.words {
            println!("{}", if word.is_empty() { "(no move)".to_owned() } else { self.names(word) });
            if arguments.steps {
                self.steps(word, source).iter().for_each(|(name, picture)| println!("  {name:>4}  {picture}"));
            }
        }
    }

    fn cut_note(&self, solution: &Solution) -> String {
        let listed = u128::try_from(solution.words.len()).unwrap_or(u128::MAX);
        let count = if solution.count == u128::MAX { "at least 2^128 - 1".to_owned() } else { solution.count.to_string() };
        if listed == solution.count {
            format!("shortest words: {count}")
        } else {
            format!("shortest words: {count}; the first {listed} are listed, --most M lists more")
        }
    }

    /// The arrangements on the way, each with the move that leads to it.
    fn steps(&self, word: &[usize], source: &PuzzleSource) -> Vec<(String, String)> {
        let Ok((from, _)) = self.ends.states() else { return Vec::new() };
        let mut state = from.clone();
        let mut steps = vec![(String::new(), source.picture(self.puzzle, &state))];
        for &generator in word {
            state = self.puzzle.apply(generator, &state);
            steps.push((self.puzzle.generator_name(generator).to_owned(), source.picture(self.puzzle, &state)));
        }
        steps
    }

    fn to_json(&self, arguments: &SolveArguments, source: &PuzzleSource) -> serde_json::Value {
        let mut object = json!({
            "puzzle": self.puzzle.name(),
            "metric": self.puzzle.metric(),
            "from": self.ends.from_text(),
            "to": self.ends.to_text(),
            "solvable": self.solution.is_ok(),
            "reason": self.solution.as_ref().err().map(ToString::to_string),
            "length": self.solution.as_ref().ok().map(|solution| solution.length),
            "word": self.solution.as_ref().ok().map(|solution| self.names(&solution.words[0])),
            "optimal": self.solution.is_ok(),
        });
        if let Ok(solution) = &self.solution {
            if let Some(balls) = solution.balls {
                object["radii"] = json!(balls.radii);
                object["balls"] = json!(balls.states);
            }
            if arguments.all {
                // A count beyond 64 bits is no JSON number that readers keep exact.
                object["count"] = u64::try_from(solution.count).map_or_else(|_| json!(solution.count.to_string()), |count| json!(count));
                object["words"] = solution.words.iter().map(|word| self.names(word)).collect();
            }
            if arguments.steps {
                object["steps"] = self.steps(&solution.words[0], source).into_iter().map(|(_, picture)| picture).collect();
            }
        }
        object
    }
}
