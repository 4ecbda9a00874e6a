//! The kind `invariant`.

use super::{Claim, Labels, Records};

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

/// An invariant tells the states apart, so no word leads from one to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// Which invariant.
    pub invariant: InvariantName,
    /// Where a word would start.
    pub from: Labels,
    /// Where it would end.
    pub to: Labels,
}

impl Claim for Invariant {
    fn kind(&self) -> &'static str {
        "invariant"
    }

    fn write(&self, records: &mut Records) {
        records.record("invariant", self.invariant.word());
        records.ends(&self.from, &self.to);
    }
}
