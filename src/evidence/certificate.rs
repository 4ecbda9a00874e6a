//! Certificates as text: what is claimed of a puzzle, and the evidence that shows it. The grammar is in the README of this layer.
//!
//! This file only writes them. What they say is checked by `farthest-verify`, which shares no code with this crate.

use crate::base::ids::to_u64;
use crate::base::{Error, Result, atomic_file};
use crate::puzzle::{BoardShape, PuzzleSource};
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

/// The puzzle that a claim is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertifiedPuzzle {
    /// Turnstyle of any size, searchable or not; the checker knows its rules.
    Turnstyle {
        /// Number of pieces, 4 to 1,000.
        size: u32,
        /// `step`, `turn` or `flip`.
        metric: String,
    },
    /// A number rotation board of any size; the checker knows its rules.
    RotationBoard {
        /// Rows, columns and block.
        shape: BoardShape,
        /// `quarter` or `half`.
        metric: String,
    },
    /// Generators given outright.
    Permutations {
        /// Names, and for each place (from 1) the place whose piece comes to it.
        generators: Vec<(String, Vec<u16>)>,
        /// Labels of the solved state, by position.
        solved: Labels,
    },
}

impl CertifiedPuzzle {
    /// The puzzle of a configuration in one metric.
    ///
    /// # Errors
    /// `Config` when the puzzle has no such metric, or is given as planes, for which certificates have no form.
    pub fn of(source: &PuzzleSource, metric: &str) -> Result<Self> {
        source.check_metric(metric)?;
        match source {
            PuzzleSource::Turnstyle { size } => Ok(Self::Turnstyle { size: *size, metric: metric.into() }),
            PuzzleSource::RotationBoard(shape) => Ok(Self::RotationBoard { shape: *shape, metric: metric.into() }),
            PuzzleSource::Permutations(puzzle) => {
                let generators = puzzle.generators().of_metric(metric).into_iter();
                let images = |images: &[u8]| images.iter().map(|&image| u16::from(image) + 1).collect();
                Ok(Self::Permutations {
                    generators: generators.map(|(name, turn)| (name.clone(), images(turn.images()))).collect(),
                    solved: (1..=u16::MAX).take(puzzle.positions()).collect(),
                })
            }
            PuzzleSource::Planes(_) => Err(Error::config(format!(
                "{} is given as planes, for which there are no certificates; give its moves as permutations of positions",
                source.name()
            ))),
        }
    }

    /// The records that say which puzzle it is.
    #[must_use]
    pub fn records(&self) -> String {
        let mut lines = Lines(String::new());
        lines.puzzle(self);
        lines.0
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
    /// No move of a board changes the colour of a piece's cell, and a piece has different ones in the two states.
    Colours,
    /// Moves keep colours and have the same sign on both; the way from one state to the other has different ones.
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
    /// The moves generate this group; the word leads from the solved state to a swap of neighbours or a cycle of three in a row.
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
    /// The numbers of states at each distance from the solved state, shown by the archived levels of a run.
    Distance {
        /// The positions of the arrangements in their order, from 1, where the checker cannot know it: for rotation boards.
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
        lines.puzzle(&self.puzzle);
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
    /// The word behind `claim`.
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

    fn puzzle(&mut self, puzzle: &CertifiedPuzzle) {
        match puzzle {
            CertifiedPuzzle::Turnstyle { size, metric } => self.record("puzzle", format!("turnstyle {size} {metric}")),
            CertifiedPuzzle::RotationBoard { shape, metric } => {
                self.record("puzzle", format!("rotation-board {} {} {} {metric}", shape.rows(), shape.columns(), shape.block()));
            }
            CertifiedPuzzle::Permutations { generators, solved } => {
                self.record("puzzle", format!("permutations {} {}", solved.len(), generators.len()));
                for (name, images) in generators {
                    self.record("generator", format!("{name} {}", joined(images)));
                }
                self.record("solved", joined(solved));
            }
        }
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
        CertifiedPuzzle::Turnstyle { size, metric: "step".into() }
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

    #[test]
    fn explicit_permutations_are_counted_from_1() {
        let source = PuzzleSource::from_short_name("pancake-7").expect("shipped");
        let claim = Claim::Invariant { invariant: InvariantName::Parity, from: vec![1], to: vec![2] };
        let text = Certificate { puzzle: CertifiedPuzzle::of(&source, "step").expect("valid"), claim }.to_text();
        assert!(text.contains("puzzle permutations 7 6\ngenerator ") && text.contains(" 2 1 3 4 5 6 7\n"), "{text}");
        assert!(text.contains("\nsolved 1 2 3 4 5 6 7\ninvariant parity\n"), "{text}");
        let planes = PuzzleSource::from_short_name("pocket-cube").expect("shipped");
        assert!(CertifiedPuzzle::of(&planes, "half").expect_err("planes").to_string().contains("given as planes"));
    }
}
