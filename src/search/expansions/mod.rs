//! The table of expansions: the ways to find the next level from what is seen. Each works in
//! bounded rounds and leaves the new states of every shard in `next`.
//!
//! To add one, write its file with its row and add one line to the table.

pub mod cheapest;
mod costs;
mod frontier;
pub mod lanes;
pub mod states;
pub mod unseen;

use super::expansion_choice::{AUTO, ExpansionChoice};
use super::expansion_row::Expansion;

/// The expansions. The first one must be possible for every puzzle.
pub const EXPANSIONS: &[Expansion] = &[states::EXPANSION, lanes::EXPANSION, unseen::EXPANSION];

/// The expansion called `name`.
#[must_use]
pub fn with_name(name: &str) -> Option<&'static Expansion> {
    EXPANSIONS.iter().find(|row| row.name == name)
}

impl ExpansionChoice {
    /// The words of the configuration.
    pub const NAMES: [&str; EXPANSIONS.len() + 1] = {
        let mut names = [AUTO; EXPANSIONS.len() + 1];
        let mut row = 0;
        while row < EXPANSIONS.len() {
            names[row + 1] = EXPANSIONS[row].name;
            row += 1;
        }
        names
    };

    /// The choice that a word of [`ExpansionChoice::NAMES`] stands for.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        if name == AUTO { Some(Self::Auto) } else { with_name(name).map(|row| Self::Always(row.name)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        assert_eq!(ExpansionChoice::NAMES, ["auto", "states", "lanes", "unseen"]);
        for name in ExpansionChoice::NAMES {
            assert_eq!(ExpansionChoice::of_name(name).expect("known").to_string(), name);
        }
    }
}
