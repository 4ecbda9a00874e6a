//! The kind `group`.

use super::{Claim, Records, Word};

/// Which group the moves generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupName {
    /// All arrangements.
    Symmetric,
    /// Exactly the even ones.
    Alternating,
}

/// The moves generate this group; the word leads from the solved state to a swap of neighbours
/// or a cycle of three in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Which group.
    pub group: GroupName,
    /// The word.
    pub word: Word,
}

impl Claim for Group {
    fn kind(&self) -> &'static str {
        "group"
    }

    fn write(&self, records: &mut Records) {
        records.record("group", if self.group == GroupName::Symmetric { "symmetric" } else { "alternating" });
        records.word(&self.word);
    }
}
