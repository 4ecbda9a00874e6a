//! All families, a line each.

use super::{PuzzleSource, permutations, planes, rotation_board, tokens, turnstyle};
use crate::base::Result;
use crate::base::config_text::ConfigTable;

/// What the readers of configurations and names must know of a family.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The word in `family = "..."`.
    pub name: &'static str,
    /// Takes the family's keys from a table, and judges no others.
    pub read: fn(&mut ConfigTable) -> Result<PuzzleSource>,
    /// The puzzle of a short name; `None` when the name has not the family's form. An error when it
    /// has, and there is no such puzzle.
    pub of_short_name: fn(&str) -> Result<Option<PuzzleSource>>,
    /// The short names in words, such as `turnstyle-4 to turnstyle-20`; empty when it has none.
    pub short_names: &'static str,
    /// Some of them, to find the one that a misspelt name is nearest to.
    pub examples: fn() -> Vec<String>,
}

impl Family {
    /// A family whose puzzles have names of their own only.
    #[must_use]
    pub const fn without_short_names(name: &'static str, read: fn(&mut ConfigTable) -> Result<PuzzleSource>) -> Self {
        Self { name, read, of_short_name: |_| Ok(None), short_names: "", examples: Vec::new }
    }
}

/// The families, in the order in which messages list them.
pub const FAMILIES: [Family; 5] = [turnstyle::FAMILY, permutations::FAMILY, planes::FAMILY, rotation_board::FAMILY, tokens::FAMILY];
