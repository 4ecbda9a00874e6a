//! The kind `word`.

use super::{Claim, Labels, Records, Word};

/// The word leads from one state to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordClaim {
    /// Where it starts.
    pub from: Labels,
    /// Where it ends.
    pub to: Labels,
    /// The word.
    pub word: Word,
}

impl Claim for WordClaim {
    fn kind(&self) -> &'static str {
        "word"
    }

    fn write(&self, records: &mut Records) {
        records.ends(&self.from, &self.to);
        records.word(&self.word);
    }
}
