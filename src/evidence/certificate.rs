//! Certificates as text: what is claimed of a puzzle, and the evidence that shows it. The grammar
//! is in the README of this layer.
//!
//! This file only writes them. What they say is checked by `farthest-verify`, which shares no code
//! with this crate.

use crate::base::ids::to_u64;
use crate::base::{Result, atomic_file};
use std::fmt::{self, Write as _};
use std::path::Path;

/// Version of the format, in the first line.
pub const VERSION: u32 = 1;

/// Longest line that holds a part of a word, in bytes (one longer name stands alone).
const WORD_LINE_BYTES: usize = 120;

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
        let mut lines = Lines(String::new());
        lines.record("puzzle", format!("permutations {} {}", solved.len(), generators.len()));
        for (name, images) in generators {
            lines.record("generator", format!("{name} {}", joined(images)));
        }
        lines.record("solved", joined(solved));
        Self { records: lines.0 }
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

/// Which group the moves generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupName {
    /// All arrangements.
    Symmetric,
    /// Exactly the even ones.
    Alternating,
}

/// An invariant that tells two states apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvariantName {
    /// Every move is even, and the way from one state to the other is odd.
    Parity,
    /// No move of a board changes the colour of a piece's cell, and a piece has different ones in
    /// the two states.
    Colours,
    /// Moves keep colours and have the same sign on both; the way from one state to the other has
    /// different ones.
    ColourSigns,
    /// Moves keep colours and are even on each; the way from one state to the other is odd on one.
    ColourParity,
}

impl InvariantName {
    /// The word in the certificate.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Parity => "parity",
            Self::Colours => "colours",
            Self::ColourSigns => "colour-signs",
            Self::ColourParity => "colour-parity",
        }
    }
}

/// A file of a level archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFile {
    /// The level it belongs to.
    pub depth: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// Path relative to the run folder: `levels/DDDDDD/NAME`.
    pub path: String,
}

/// What is claimed, with the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The word leads from one state to the other.
    Word {
        /// Where it starts.
        from: Labels,
        /// Where it ends.
        to: Labels,
        /// The word.
        word: Word,
    },
    /// The moves generate this group; the word leads from the solved state to a swap of neighbours
    /// or a cycle of three in a row.
    Group {
        /// Which group.
        group: GroupName,
        /// The word.
        word: Word,
    },
    /// An invariant tells the states apart, so no word leads from one to the other.
    Invariant {
        /// Which invariant.
        invariant: InvariantName,
        /// Where a word would start.
        from: Labels,
        /// Where it would end.
        to: Labels,
    },
    /// No move leaves the set, which holds `from` and not `to`.
    ClosedSet {
        /// Where a word would start.
        from: Labels,
        /// Where it would end.
        to: Labels,
        /// The set, without repeats.
        states: Vec<Labels>,
    },
    /// The word is a shortest one: the balls around its ends do not meet.
    Bidirectional {
        /// Where it starts.
        from: Labels,
        /// Where it ends.
        to: Labels,
        /// The word, of at least one move.
        word: Word,
        /// Radii of the balls, which sum to the word's length less 1.
        radii: [u32; 2],
        /// States in the balls.
        balls: [u64; 2],
    },
    /// The numbers of states at each distance from the solved state, shown by the archived levels
    /// of a run.
    Distance {
        /// The positions of the arrangements in their order, from 1, where the checker cannot know
        /// it: for rotation boards.
        arranged: Option<Labels>,
        /// Numbered states, reachable or not.
        ranks: u64,
        /// Numbered states of a shard.
        shard_length: u64,
        /// States at distance 0, 1, ...
        levels: Vec<u64>,
        /// The archive, by depth, then path.
        archive: Vec<ArchiveFile>,
    },
}

/// A claim about a puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The puzzle.
    pub puzzle: CertifiedPuzzle,
    /// The claim.
    pub claim: Claim,
}

impl Certificate {
    /// The text, from the first line to `end`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut lines = Lines(format!("farthest-certificate {VERSION}\n"));
        lines.record("claim", self.claim.kind());
        lines.0.push_str(self.puzzle.records());
        lines.claim(&self.claim);
        lines.0.push_str("end\n");
        lines.0
    }

    /// Writes the certificate, durably and in one step, over what was there.
    ///
    /// # Errors
    /// `Io` when the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        atomic_file::write(path, self.to_text().as_bytes())
    }
}

impl Claim {
    /// The word after `claim`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Word { .. } => "word",
            Self::Group { .. } => "group",
            Self::Invariant { .. } => "invariant",
            Self::ClosedSet { .. } => "closed-set",
            Self::Bidirectional { .. } => "bidirectional",
            Self::Distance { .. } => "distance",
        }
    }
}

/// Records, one a line.
struct Lines(String);

impl Lines {
    fn record(&mut self, name: &str, content: impl fmt::Display) {
        writeln!(self.0, "{name} {content}").expect("writing to a string");
    }

    fn claim(&mut self, claim: &Claim) {
        match claim {
            Claim::Word { from, to, word } => {
                self.ends(from, to);
                self.word(word);
            }
            Claim::Group { group, word } => {
                self.record("group", if *group == GroupName::Symmetric { "symmetric" } else { "alternating" });
                self.word(word);
            }
            Claim::Invariant { invariant, from, to } => {
                self.record("invariant", invariant.word());
                self.ends(from, to);
            }
            Claim::ClosedSet { from, to, states } => {
                self.ends(from, to);
                self.record("states", states.len());
                for state in states {
                    self.record("state", joined(state));
                }
            }
            Claim::Bidirectional { from, to, word, radii, balls } => {
                self.ends(from, to);
                self.word(word);
                self.record("radii", joined(radii));
                self.record("balls", joined(balls));
            }
            Claim::Distance { arranged, ranks, shard_length, levels, archive } => {
                if let Some(arranged) = arranged {
                    self.record("arranged", joined(arranged));
                }
                self.record("ranks", joined(&[ranks, shard_length]));
                self.record("states", levels.iter().sum::<u64>());
                self.record("levels", levels.len());
                for (depth, states) in levels.iter().enumerate() {
                    self.record("level", joined(&[to_u64(depth), *states]));
                }
                self.record("archives", archive.len());
                for file in archive {
                    self.record("archive", format!("{} {} {} {}", file.depth, file.bytes, file.sha256, file.path));
                }
            }
        }
    }

    fn ends(&mut self, from: &Labels, to: &Labels) {
        self.record("from", joined(from));
        self.record("to", joined(to));
    }

    /// The length, and the word in lines of [`WORD_LINE_BYTES`].
    fn word(&mut self, word: &Word) {
        self.record("length", word.len());
        let mut line = String::from("word");
        for name in word {
            if line.len() > 4 && line.len() + 1 + name.len() > WORD_LINE_BYTES {
                self.0.push_str(&line);
                self.0.push('\n');
                line = "word".into();
            }
            line.push(' ');
            line.push_str(name);
        }
        self.0.push_str(&line);
        self.0.push('\n');
    }
}

fn joined(values: &[impl fmt::Display]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
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
        let claim = Claim::Word { from: vec![1, 2, 3, 4], to: vec![3, 2, 1, 4], word };
        assert_eq!(
            Certificate { puzzle: turnstyle(4), claim }.to_text(),
            "farthest-certificate 1\nclaim word\npuzzle turnstyle 4 step\nfrom 1 2 3 4\nto 3 2 1 4\nlength 2\nword F R\nend\n"
        );
    }

    #[test]
    fn the_empty_word_is_one_record_and_a_long_one_several() {
        let text = |moves: usize| {
            let claim = Claim::Group { group: GroupName::Symmetric, word: vec!["R".into(); moves] };
            Certificate { puzzle: turnstyle(8), claim }.to_text()
        };
        assert!(text(0).contains("length 0\nword\nend\n"));
        let long = text(100);
        assert_eq!(long.lines().filter(|line| line.starts_with("word ")).count(), 2);
        assert_eq!(long.matches(" R").count(), 100);
        assert!(long.lines().all(|line| line.len() <= WORD_LINE_BYTES));
    }
}
