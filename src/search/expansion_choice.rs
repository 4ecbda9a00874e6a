//! What the configuration says about expansions.
//!
//! The names are those of the table in `expansions/mod.rs`, which also turns a word into a choice.

use std::fmt;

/// How levels are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpansionChoice {
    /// The cheapest for each level.
    Auto,
    /// Always the one of this name, where the puzzle allows it.
    Always(&'static str),
}

/// The word for [`ExpansionChoice::Auto`].
pub const AUTO: &str = "auto";

impl fmt::Display for ExpansionChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Auto => AUTO,
            Self::Always(name) => name,
        })
    }
}
