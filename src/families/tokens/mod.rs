//! The family `tokens`: what cells hold, and moves that depend on it. Sliding tiles, peg solitaire
//! and the like; no group is needed.
//!
//! ```toml
//! family = "tokens"
//! name = "three-in-a-row"
//! cells = 3
//! contents = 2                 # different contents, from 0 (nothing)
//! starts = [[1, 1, 0]]         # what each cell holds in the states of depth 0
//!
//! [[moves]]
//! name = "0-2"
//! cells = [0, 1, 2]            # the cells that the move is about
//! needs = [[1], [1], [0]]      # contents that each of them must hold; [] is any
//! becomes = [0, 0, 1]          # what each of them holds afterwards; or: takes = [1, 0, 2], the cell
//!                              # whose content each of them gets
//! ```
//!
//! The only metric is `step`. Distances are counted from the starts.

use super::named_generators::{DEFAULT_METRIC, generator_name};
use super::names;
use super::{ConfiguredPuzzle, Family, PuzzleSource};
use crate::base::config_text::{ConfigTable, Integers};
use crate::base::ids::{low_u8, to_u64, to_usize};
use crate::base::{Error, Result};
use crate::evidence::certificates::CertifiedPuzzle;
use crate::puzzle::planes::MOST_GENERATORS;
use crate::puzzle::tokens::{MOST_CELLS, MOST_CONTENTS, NewContent, TokenMove, Tokens};
use crate::puzzle::{Layout, Puzzle, Rules, State};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The family's line in the registry.
pub const FAMILY: Family = Family::without_short_names("tokens", |table| TokenPuzzle::read(table).map(PuzzleSource::new));

/// A puzzle of this family.
#[derive(Clone, Debug)]
struct TokenPuzzle {
    name: String,
    starts: Vec<State>,
    rules: Tokens,
}

impl TokenPuzzle {
    /// Takes the family's keys.
    fn read(table: &mut ConfigTable) -> Result<Self> {
        let name = names::puzzle_name(table)?;
        let cells = to_usize(table.required_integer("cells", 1..=to_u64(MOST_CELLS))?);
        let contents = low_u8(table.required_integer("contents", 2..=u64::from(MOST_CONTENTS))?);
        let place = table.place_of("starts");
        let last = u64::from(contents) - 1;
        let starts = table.optional_integer_lists("starts", 0..=last)?.unwrap_or_default();
        if starts.is_empty() {
            return Err(place.refuse("no starts", "at least one list of what each cell holds", "add a line such as starts = [[1, 1, 0]]"));
        }
        let starts = starts.iter().map(|start| Ok(State { plane: 0, arrangement: bytes(&as_long(start, cells, "cell")?) }));
        let starts = starts.collect::<Result<Vec<State>>>()?;
        let place = table.place_of("moves");
        let tables = table.tables("moves")?;
        if tables.is_empty() || tables.len() > MOST_GENERATORS {
            let found = format!("{} moves", tables.len());
            return Err(place.refuse(found, format!("1 to {MOST_GENERATORS}"), "add or delete [[moves]] tables"));
        }
        let mut moves: Vec<TokenMove> = Vec::new();
        let mut names = BTreeSet::new();
        for mut keys in tables {
            let place = keys.place_of("name");
            let step = read_move(&mut keys, cells, last)?;
            keys.finish()?;
            if !names.insert(step.name.clone()) {
                return Err(place.refuse(format!("\"{}\" a second time", step.name), "names that differ", "rename one of the moves"));
            }
            moves.push(step);
        }
        let rules = Tokens::new(cells, contents, moves).map_err(|what| place.refuse(what, "moves of these cells", "correct the list"))?;
        Ok(Self { name, starts, rules })
    }
}

impl ConfiguredPuzzle for TokenPuzzle {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn metrics(&self) -> Vec<String> {
        vec![DEFAULT_METRIC.into()]
    }

    fn build(&self, metric: &str) -> Result<Puzzle> {
        Puzzle::new(&self.name, metric, Rules::Tokens(self.rules.clone()), self.starts.clone(), Layout::Cells)
    }

    fn starts_solved(&self) -> bool {
        false
    }

    fn to_toml(&self) -> String {
        let starts: Vec<&[u8]> = self.starts.iter().map(|start| start.arrangement.as_slice()).collect();
        let mut text = format!(
            "family = \"tokens\"\nname = \"{}\"\ncells = {}\ncontents = {}\nstarts = {starts:?}\n",
            self.name,
            self.rules.cells(),
            self.rules.contents()
        );
        for step in self.rules.moves() {
            write_move(&mut text, step, self.rules.contents());
        }
        text
    }

    fn certified(&self, _metric: &str) -> Result<CertifiedPuzzle> {
        Err(Error::config(format!("{} is given as tokens on cells, for which there are no certificates", self.name)))
    }
}

/// The values of a list of this length.
fn as_long(list: &Integers, length: usize, what: &str) -> Result<Vec<u64>> {
    if list.values().len() == length {
        return Ok(list.values().to_vec());
    }
    let found = format!("a list of {}", list.values().len());
    Err(list.place().refuse(found, format!("{length}, one for each {what}"), "add or delete some"))
}

fn bytes(values: &[u64]) -> Vec<u8> {
    values.iter().map(|&value| low_u8(value)).collect()
}

fn read_move(table: &mut ConfigTable, cells: usize, last_content: u64) -> Result<TokenMove> {
    let name = generator_name(table)?;
    let last_cell = to_u64(cells) - 1;
    let place = table.place_of("cells");
    let about = table.optional_integers("cells", 0..=last_cell)?;
    let about = about.ok_or_else(|| place.refuse("no cells", "the cells that the move is about", "add a line such as cells = [0, 1]"))?;
    let own: Vec<u64> = about.values().to_vec();
    if own.iter().collect::<BTreeSet<_>>().len() != own.len() {
        return Err(place.refuse("a cell a second time", "each cell once", "delete one of them"));
    }
    let place = table.place_of("needs");
    let lists = table.optional_integer_lists("needs", 0..=last_content)?.unwrap_or_default();
    if lists.len() != own.len() {
        let expected = format!("{}, one for each cell of the move", own.len());
        return Err(place.refuse(format!("{} lists of contents", lists.len()), expected, "write [] for a cell that may hold anything"));
    }
    let mut needs: Vec<(u8, u64)> = Vec::new();
    for (&cell, list) in own.iter().zip(&lists) {
        let allowed = list.values().iter().fold(0, |allowed, &content| allowed | 1 << content);
        if allowed != 0 {
            needs.push((low_u8(cell), allowed));
        }
    }
    let takes = table.optional_integers("takes", 0..=last_cell)?;
    let becomes = table.optional_integers("becomes", 0..=last_content)?;
    let new: Vec<NewContent> = match (&takes, &becomes) {
        (Some(cells), None) => {
            as_long(cells, own.len(), "cell of the move")?.into_iter().map(|cell| NewContent::Of(low_u8(cell))).collect()
        }
        (None, Some(contents)) => {
            as_long(contents, own.len(), "cell of the move")?.into_iter().map(|content| NewContent::Always(low_u8(content))).collect()
        }
        _ => {
            let found = if takes.is_some() { "both takes and becomes" } else { "neither takes nor becomes" };
            return Err(table.place().refuse(found, "one of them", "say what the cells hold after the move"));
        }
    };
    let mut writes: Vec<(u8, NewContent)> = own.iter().map(|&cell| low_u8(cell)).zip(new).collect();
    // A cell that keeps what it holds is not written.
    writes.retain(|(cell, content)| *content != NewContent::Of(*cell));
    needs.sort_unstable();
    writes.sort_unstable();
    Ok(TokenMove { name, needs, writes })
}

/// A move in the words of the file: all cells that it needs or writes, ascending.
fn write_move(text: &mut String, step: &TokenMove, contents: u8) {
    let cells: BTreeSet<u8> = step.needs.iter().map(|(cell, _)| *cell).chain(step.writes.iter().map(|(cell, _)| *cell)).collect();
    let cells: Vec<u8> = cells.into_iter().collect();
    let need = |cell: u8| step.needs.iter().find(|(known, _)| *known == cell).map_or(0, |(_, allowed)| *allowed);
    let needs: Vec<Vec<u8>> = cells.iter().map(|&cell| (0..contents).filter(|content| need(cell) >> content & 1 == 1).collect()).collect();
    let write = |cell: u8| step.writes.iter().find(|(known, _)| *known == cell).map(|(_, content)| *content);
    let takes_all = step.writes.iter().all(|(_, content)| matches!(content, NewContent::Of(_)));
    let new: Vec<u8> = cells
        .iter()
        .map(|&cell| match write(cell) {
            None => cell,
            Some(NewContent::Of(number) | NewContent::Always(number)) => number,
        })
        .collect();
    let _ = writeln!(text, "[[moves]]\nname = \"{}\"\ncells = {cells:?}\nneeds = {needs:?}", step.name);
    let _ = writeln!(text, "{} = {new:?}", if takes_all { "takes" } else { "becomes" });
}

#[cfg(test)]
mod tests {
    use crate::families::reading::puzzle_text;

    const HEAD: &str = "family = \"tokens\"\nname = \"toy\"\ncells = 3\ncontents = 3\nstarts = [[1, 2, 0]]\n";
    const SLIDE: &str = "[[moves]]\nname = \"a\"\ncells = [2, 1]\nneeds = [[0], [1, 2]]\ntakes = [1, 2]\n";

    #[test]
    fn the_canonical_text_reads_back() {
        let jump = "[[moves]]\nname = \"b\"\ncells = [0, 1, 2]\nneeds = [[1], [], [0]]\nbecomes = [0, 0, 1]\n";
        let source = puzzle_text("x.toml", format!("{HEAD}{SLIDE}{jump}")).expect("valid");
        let again = puzzle_text("y.toml", source.to_toml()).expect("canonical");
        assert_eq!(again, source);
        let puzzle = source.build("step").expect("valid");
        assert_eq!(again.build("step").expect("valid"), puzzle);
        assert_eq!(puzzle.text(&puzzle.apply(0, &puzzle.starts()[0])), "1 0 2");
        assert_eq!(puzzle.text(&puzzle.apply(1, &puzzle.starts()[0])), "0 0 1");
        assert_eq!(puzzle.facts().states, None);
        assert!(source.certified("step").is_err());
    }

    #[test]
    fn faults_have_a_place_and_a_cure() {
        for (from, to, part) in [
            ("starts = [[1, 2, 0]]\n", "", "no starts"),
            ("[1, 2, 0]", "[1, 2]", "x.toml:5:11: starts[0]: found a list of 2, expected 3"),
            ("[1, 2, 0]", "[1, 3, 0]", "expected an integer from 0 to 2"),
            ("cells = [2, 1]", "cells = [2, 2]", "a cell a second time"),
            ("needs = [[0], [1, 2]]", "needs = [[0]]", "1 lists of contents"),
            ("takes = [1, 2]", "takes = [1, 2]\nbecomes = [1, 2]", "both takes and becomes"),
            ("takes = [1, 2]\n", "", "neither takes nor becomes"),
            (SLIDE, "", "0 moves"),
            ("takes = [1, 2]\n", "takes = [1, 2]\n[[moves]]\nname = \"a\"\ncells = [0]\nneeds = [[]]\nbecomes = [1]\n", "a second time"),
            ("takes = [1, 2]\n", "takes = [1, 2]\nspeed = 3\n", "speed"),
        ] {
            let text = format!("{HEAD}{SLIDE}").replacen(from, to, 1);
            let error = puzzle_text("x.toml", text).expect_err(to).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
