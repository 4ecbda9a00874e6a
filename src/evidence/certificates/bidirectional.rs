//! The kind `bidirectional`.

use super::records::joined;
use super::{Claim, Labels, Records, Word};

/// The word is a shortest one: the balls around its ends do not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bidirectional {
    /// Where it starts.
    pub from: Labels,
    /// Where it ends.
    pub to: Labels,
    /// The word, of at least one move.
    pub word: Word,
    /// Radii of the balls, which sum to the word's length less 1.
    pub radii: [u32; 2],
    /// States in the balls.
    pub balls: [u64; 2],
}

impl Claim for Bidirectional {
    fn kind(&self) -> &'static str {
        "bidirectional"
    }

    fn write(&self, records: &mut Records) {
        records.ends(&self.from, &self.to);
        records.word(&self.word);
        records.record("radii", joined(&self.radii));
        records.record("balls", joined(&self.balls));
    }
}
