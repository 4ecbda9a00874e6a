//! Ranks of the contents of cells: among the orders of the same contents where no move changes how
//! often each occurs, else as digits of a number, one a cell.

use super::Partition;
use super::multinomial::Multinomial;
use crate::base::ids::low_u8;
use crate::base::{Error, Result, StateRank};
use crate::puzzle::State;
use crate::puzzle::tokens::Tokens;

/// The numbering of the contents of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSpace {
    cells: usize,
    contents: u8,
    /// The orders of the starts' contents, where all states have them.
    orders: Option<Multinomial>,
}

impl TokenSpace {
    /// The numbering for these rules and starts.
    #[must_use]
    pub fn of(tokens: &Tokens, starts: &[State]) -> Self {
        let orders = Multinomial::of(&starts[0].arrangement, tokens.contents())
            .filter(|orders| tokens.keeps_contents() && starts.iter().all(|start| orders.is_of(&start.arrangement)));
        Self { cells: tokens.cells(), contents: tokens.contents(), orders }
    }

    /// Ranks in all.
    #[must_use]
    pub fn state_count(&self) -> u128 {
        let digits = (0..self.cells).try_fold(1_u128, |count, _| count.checked_mul(u128::from(self.contents)));
        self.orders.as_ref().map_or(digits.unwrap_or(u128::MAX), Multinomial::orders)
    }

    /// Whether a state has as many cells, contents of these, and where they are counted so many of
    /// each.
    #[must_use]
    pub fn has_form(&self, state: &State) -> bool {
        let fits = state.arrangement.len() == self.cells && state.arrangement.iter().all(|content| *content < self.contents);
        fits && self.orders.as_ref().is_none_or(|orders| orders.is_of(&state.arrangement))
    }

    /// Rank of the state with these contents.
    #[must_use]
    pub fn rank(&self, contents: &[u8]) -> StateRank {
        let digits = || contents.iter().fold(0_u64, |rank, &content| rank * u64::from(self.contents) + u64::from(content));
        StateRank(self.orders.as_ref().map_or_else(digits, |orders| orders.rank(contents)))
    }

    /// State of rank `rank`.
    #[must_use]
    pub fn unrank(&self, rank: StateRank) -> State {
        let mut arrangement = vec![0; self.cells];
        self.contents_of(rank, &mut arrangement);
        State { plane: 0, arrangement }
    }

    /// The contents of the state of rank `rank`, one a cell.
    pub fn contents_of(&self, rank: StateRank, contents: &mut [u8]) {
        if let Some(orders) = &self.orders {
            return orders.unrank(rank.0, contents);
        }
        let mut rest = rank.0;
        for content in contents.iter_mut().rev() {
            *content = low_u8(rest % u64::from(self.contents));
            rest /= u64::from(self.contents);
        }
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The cut into shards: ranges of equal length.
    ///
    /// # Errors
    /// `Config` when there are leading positions to cut at, or the space has no 63-bit rank.
    pub fn cut(&self, leading_positions: Option<u32>) -> Result<Partition> {
        if let Some(positions) = leading_positions.filter(|&positions| positions > 0) {
            return Err(Error::config(format!(
                "leading_positions = {positions}: the states of this puzzle have no leading positions; leave the key out"
            )));
        }
        Partition::of_range(self.state_count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::puzzle::tokens::{NewContent, TokenMove};

    #[test]
    fn every_rank_comes_back() {
        let slide = TokenMove { name: "a".into(), needs: vec![(0, 1)], writes: vec![(0, NewContent::Of(1)), (1, NewContent::Of(0))] };
        let lose = TokenMove { name: "b".into(), needs: vec![(0, 2)], writes: vec![(0, NewContent::Always(0))] };
        let start = State { plane: 0, arrangement: vec![0, 1, 1, 2] };
        for (moves, states) in [(vec![slide.clone()], 12), (vec![slide, lose], 81)] {
            let space = TokenSpace::of(&Tokens::new(4, 3, moves).expect("valid"), std::slice::from_ref(&start));
            assert_eq!(space.state_count(), states);
            for rank in (0..u64::try_from(states).expect("small")).map(StateRank) {
                let state = space.unrank(rank);
                assert!(space.has_form(&state));
                assert_eq!(space.rank(&state.arrangement), rank);
            }
            assert_eq!(space.cut(None).expect("small").state_count(), u64::try_from(states).expect("small"));
            assert!(space.cut(Some(1)).is_err());
        }
    }
}
