//! The kind `closed-set`.

use super::records::joined;
use super::{Claim, Labels, Records};

/// No move leaves the set, which holds `from` and not `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedSet {
    /// Where a word would start.
    pub from: Labels,
    /// Where it would end.
    pub to: Labels,
    /// The set, without repeats.
    pub states: Vec<Labels>,
}

impl Claim for ClosedSet {
    fn kind(&self) -> &'static str {
        "closed-set"
    }

    fn write(&self, records: &mut Records) {
        records.ends(&self.from, &self.to);
        records.record("states", self.states.len());
        for state in &self.states {
            records.record("state", joined(state));
        }
    }
}
