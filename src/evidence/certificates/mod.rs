//! Certificates as text: what is claimed of a puzzle, and the evidence that shows it. The grammar
//! is in the README of this layer.
//!
//! A file of this folder for each kind, behind the trait [`Claim`]; `records.rs` has what they
//! share. To add a kind: its file here, its grammar in the README, and its check in the checker.
//!
//! These files only write. What certificates say is checked by `farthest-verify`, which shares no
//! code with this crate; `distance_record.rs` reads as much of one kind as a label needs.

mod bidirectional;
mod closed_set;
mod distance;
pub mod distance_record;
mod group;
mod invariant;
mod records;
mod word;

pub use bidirectional::Bidirectional;
pub use closed_set::ClosedSet;
pub use distance::{ArchiveFile, Distance};
pub use group::{Group, GroupName};
pub use invariant::{Invariant, InvariantName};
pub use records::Records;
pub use word::WordClaim;

use crate::base::{Result, atomic_file};
use records::joined;
use std::fmt;
use std::path::Path;

/// Version of the format, in the first line.
pub const VERSION: u32 = 1;

/// Labels by position, from 1, as `antipodes.tsv` shows them.
pub type Labels = Vec<u16>;

/// A word: names of moves, read from left to right.
pub type Word = Vec<String>;

/// The puzzle that a claim is about: the records that name it, a line each. Families write them;
/// the grammar is in the README of this layer, and the checker knows the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedPuzzle {
    records: String,
}

impl CertifiedPuzzle {
    /// A puzzle of a family that the checker knows by name: `turnstyle 12 step`.
    #[must_use]
    pub fn named(words: &str) -> Self {
        Self { records: format!("puzzle {words}\n") }
    }

    /// Generators given outright: names, and for each place (from 1) the place whose piece comes to
    /// it; and the labels of the solved state, by place.
    #[must_use]
    pub fn of_permutations(generators: &[(String, Vec<u16>)], solved: &[u16]) -> Self {
        let mut lines = Records::default();
        lines.record("puzzle", format!("permutations {} {}", solved.len(), generators.len()));
        for (name, images) in generators {
            lines.record("generator", format!("{name} {}", joined(images)));
        }
        lines.record("solved", joined(solved));
        Self { records: lines.into_text() }
    }

    /// The same, for distances to the solved state: only where a move has none that undoes it, and
    /// only for the claim `distance`.
    #[must_use]
    pub fn to_solved(self) -> Self {
        Self { records: self.records + "direction to\n" }
    }

    /// The records that say which puzzle it is.
    #[must_use]
    pub fn records(&self) -> &str {
        &self.records
    }
}

/// What is claimed, with the evidence.
pub trait Claim: fmt::Debug {
    /// The word after `claim`.
    fn kind(&self) -> &'static str;

    /// Writes the records after those that name the puzzle.
    fn write(&self, records: &mut Records);
}

/// A claim about a puzzle.
#[derive(Debug)]
pub struct Certificate {
    /// The puzzle.
    pub puzzle: CertifiedPuzzle,
    /// The claim.
    pub claim: Box<dyn Claim>,
}

impl Certificate {
    /// A certificate of `claim` about `puzzle`.
    #[must_use]
    pub fn new(puzzle: CertifiedPuzzle, claim: impl Claim + 'static) -> Self {
        Self { puzzle, claim: Box::new(claim) }
    }

    /// The text, from the first line to `end`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut claim = Records::default();
        self.claim.write(&mut claim);
        format!("farthest-certificate {VERSION}\nclaim {}\n{}{}end\n", self.claim.kind(), self.puzzle.records(), claim.into_text())
    }

    /// Writes the certificate, durably and in one step, over what was there.
    ///
    /// # Errors
    /// `Io` when the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        atomic_file::write(path, self.to_text().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turnstyle(size: u32) -> CertifiedPuzzle {
        CertifiedPuzzle::named(&format!("turnstyle {size} step"))
    }

    #[test]
    fn a_word() {
        let word = ["F", "R"].map(str::to_owned).to_vec();
        let claim = WordClaim { from: vec![1, 2, 3, 4], to: vec![3, 2, 1, 4], word };
        assert_eq!(
            Certificate::new(turnstyle(4), claim).to_text(),
            "farthest-certificate 1\nclaim word\npuzzle turnstyle 4 step\nfrom 1 2 3 4\nto 3 2 1 4\nlength 2\nword F R\nend\n"
        );
    }

    #[test]
    fn the_empty_word_is_one_record_and_a_long_one_several() {
        let text = |moves: usize| {
            let claim = Group { group: GroupName::Symmetric, word: vec!["R".into(); moves] };
            Certificate::new(turnstyle(8), claim).to_text()
        };
        assert!(text(0).contains("length 0\nword\nend\n"));
        let long = text(100);
        assert_eq!(long.lines().filter(|line| line.starts_with("word ")).count(), 2);
        assert_eq!(long.matches(" R").count(), 100);
        assert!(long.lines().all(|line| line.len() <= records::WORD_LINE_BYTES));
    }
}
