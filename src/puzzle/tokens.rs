//! Rules of the kind tokens: contents of cells, and moves that depend on them.
//!
//! A state says what each cell holds: 0 (nothing) or a token; equal tokens have equal numbers. A
//! move needs certain contents at certain cells, and then rewrites some cells: by what another cell
//! held, or by a fixed content. There is no group: states differ in the number of moves, and a move
//! need not have one that undoes it.

use super::State;
use crate::base::ids::{low_u8, to_u64};
use std::collections::BTreeSet;

/// Most cells.
pub const MOST_CELLS: usize = 64;

/// Most different contents, 0 included: a set of contents is a word of bits.
pub const MOST_CONTENTS: u8 = 64;

/// What a cell holds after a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NewContent {
    /// What this cell held before.
    Of(u8),
    /// Always this.
    Always(u8),
}

/// A named move of cost 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TokenMove {
    /// Name in words.
    pub name: String,
    /// Cells that must hold one of these contents (bit c for content c), ascending by cell.
    pub needs: Vec<(u8, u64)>,
    /// Cells that change, ascending.
    pub writes: Vec<(u8, NewContent)>,
}

/// Cells, contents and moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    cells: u8,
    contents: u8,
    moves: Vec<TokenMove>,
}

impl TokenMove {
    /// Whether the move is possible, condition by condition.
    #[must_use]
    pub fn is_possible(&self, cells: &[u8]) -> bool {
        self.needs.iter().all(|&(cell, allowed)| allowed >> cells[usize::from(cell)] & 1 == 1)
    }

    /// Makes the move, which is possible: `before` stays, `after` gets the new contents.
    pub fn make(&self, before: &[u8], after: &mut [u8]) {
        after.copy_from_slice(before);
        for &(cell, content) in &self.writes {
            after[usize::from(cell)] = match content {
                NewContent::Of(other) => before[usize::from(other)],
                NewContent::Always(content) => content,
            };
        }
    }

    /// Whether the move only exchanges contents between cells.
    fn is_rearrangement(&self) -> bool {
        let written: BTreeSet<u8> = self.writes.iter().map(|(cell, _)| *cell).collect();
        let taken: BTreeSet<u8> =
            self.writes.iter().filter_map(|(_, content)| if let NewContent::Of(cell) = content { Some(*cell) } else { None }).collect();
        written == taken
    }

    /// The move that undoes this one wherever it was made and is possible nowhere else; `None` when
    /// contents are lost that the needs do not fix.
    #[must_use]
    pub fn undone(&self) -> Option<Self> {
        let need = |cell: u8| self.needs.iter().find(|(known, _)| *known == cell).map(|(_, allowed)| *allowed);
        let write = |cell: u8| self.writes.iter().find(|(known, _)| *known == cell).map(|(_, content)| *content);
        let cells: BTreeSet<u8> = self.needs.iter().map(|(cell, _)| *cell).chain(self.writes.iter().map(|(cell, _)| *cell)).collect();
        let mut needs = Vec::new();
        let mut writes = Vec::new();
        for cell in cells {
            // What the cell holds after the move.
            let after = match write(cell) {
                None => need(cell),
                Some(NewContent::Of(other)) => need(other),
                Some(NewContent::Always(content)) => Some(1 << content),
            };
            if let Some(allowed) = after {
                needs.push((cell, allowed));
            }
            if write(cell).is_some() {
                // What it held before: where that went, or the only content that it can have been.
                let kept = self.writes.iter().find(|(_, content)| *content == NewContent::Of(cell)).map(|(place, _)| *place);
                let before = match (kept, need(cell)) {
                    (Some(place), _) => NewContent::Of(place),
                    (None, Some(allowed)) if allowed.count_ones() == 1 => NewContent::Always(low_u8(u64::from(allowed.trailing_zeros()))),
                    _ => return None,
                };
                writes.push((cell, before));
            }
        }
        Some(Self { name: format!("{}'", self.name), needs, writes })
    }
}

impl Tokens {
    /// Checks moves.
    ///
    /// # Errors
    /// A message when there are too many cells or contents, no moves, or a move that names another
    /// cell or content, or a cell twice.
    pub fn new(cells: usize, contents: u8, moves: Vec<TokenMove>) -> Result<Self, String> {
        if !(1..=MOST_CELLS).contains(&cells) || !(2..=MOST_CONTENTS).contains(&contents) {
            return Err(format!(
                "{cells} cells with {contents} contents; 1 to {MOST_CELLS} cells with 2 to {MOST_CONTENTS} contents are possible"
            ));
        }
        if moves.is_empty() {
            return Err("no moves; a puzzle needs at least one".into());
        }
        let all = if contents == MOST_CONTENTS { u64::MAX } else { (1 << contents) - 1 };
        for step in &moves {
            let refuse = |what: String| Err(format!("move {}: {what}", step.name));
            let ascend = |list: &mut dyn Iterator<Item = u8>| {
                let list: Vec<u8> = list.collect();
                list.windows(2).all(|pair| pair[0] < pair[1]) && list.iter().all(|&cell| usize::from(cell) < cells)
            };
            if !ascend(&mut step.needs.iter().map(|(cell, _)| *cell)) || !ascend(&mut step.writes.iter().map(|(cell, _)| *cell)) {
                return refuse(format!("its cells are not ascending numbers below {cells}"));
            }
            if step.needs.iter().any(|(_, allowed)| *allowed == 0 || *allowed & !all != 0) {
                return refuse(format!("a cell needs no content, or one that is not below {contents}"));
            }
            let is_known = |content: &NewContent| match content {
                NewContent::Of(cell) => usize::from(*cell) < cells,
                NewContent::Always(content) => *content < contents,
            };
            if !step.writes.iter().all(|(_, content)| is_known(content)) {
                return refuse(format!("it writes from a cell that is not below {cells}, or a content that is not below {contents}"));
            }
        }
        Ok(Self { cells: low_u8(to_u64(cells)), contents, moves })
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells.into()
    }

    /// Number of different contents, 0 included.
    #[must_use]
    pub fn contents(&self) -> u8 {
        self.contents
    }

    /// The moves.
    #[must_use]
    pub fn moves(&self) -> &[TokenMove] {
        &self.moves
    }

    /// Whether a state gives each cell one of the contents.
    #[must_use]
    pub fn holds(&self, state: &State) -> bool {
        state.plane == 0 && state.arrangement.len() == self.cells() && state.arrangement.iter().all(|content| *content < self.contents)
    }

    /// The state that a move leads to, where it is possible.
    #[must_use]
    pub fn successor(&self, number: usize, state: &State) -> Option<State> {
        let step = &self.moves[number];
        step.is_possible(&state.arrangement).then(|| {
            let mut after = state.arrangement.clone();
            step.make(&state.arrangement, &mut after);
            State { plane: 0, arrangement: after }
        })
    }

    /// Whether no move changes how often each content occurs.
    #[must_use]
    pub fn keeps_contents(&self) -> bool {
        self.moves.iter().all(TokenMove::is_rearrangement)
    }

    /// Whether every move is undone by one of the moves, as often as it occurs.
    #[must_use]
    pub fn is_inverse_closed(&self) -> bool {
        let rules = |step: &TokenMove| (step.needs.clone(), step.writes.clone());
        let mut forward: Vec<_> = self.moves.iter().map(rules).collect();
        let Some(mut backward) = self.moves.iter().map(|step| step.undone().map(|step| rules(&step))).collect::<Option<Vec<_>>>() else {
            return false;
        };
        forward.sort();
        backward.sort();
        forward == backward
    }

    /// Every move undone. Names stay.
    ///
    /// # Errors
    /// The name of a move that loses what a cell held, so that nothing leads back.
    pub fn inverted(&self) -> Result<Self, String> {
        let undone = |step: &TokenMove| {
            let undone = step.undone().ok_or_else(|| step.name.clone())?;
            Ok(TokenMove { name: step.name.clone(), ..undone })
        };
        Ok(Self { moves: self.moves.iter().map(undone).collect::<Result<_, String>>()?, ..*self })
    }

    /// The same with the moves in reverse order.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.moves.reverse();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every undone move leads back, and only there.
    #[test]
    fn what_is_undone_leads_back() {
        let slide = TokenMove {
            name: "a".into(),
            needs: vec![(0, 0b0001), (1, 0b1110)],
            writes: vec![(0, NewContent::Of(1)), (1, NewContent::Of(0))],
        };
        let jump = TokenMove {
            name: "b".into(),
            needs: vec![(0, 2), (1, 2), (2, 1)],
            writes: vec![(0, NewContent::Always(0)), (1, NewContent::Always(0)), (2, NewContent::Always(1))],
        };
        for step in [slide, jump] {
            let back = step.undone().expect("no content is lost");
            let mut possible = 0;
            for number in 0..64_u8 {
                let before = [number / 16, number / 4 % 4, number % 4];
                let mut after = [0; 3];
                if step.is_possible(&before) {
                    step.make(&before, &mut after);
                    assert!(back.is_possible(&after));
                    let mut again = [0; 3];
                    back.make(&after, &mut again);
                    assert_eq!(again, before);
                    possible += 1;
                }
                possible -= i32::from(back.is_possible(&before));
            }
            assert_eq!(possible, 0, "as many states have the one as the other");
        }
        let lost = TokenMove { name: "c".into(), needs: vec![(0, 3)], writes: vec![(0, NewContent::Always(0))] };
        assert_eq!(lost.undone(), None);
    }

    #[test]
    fn slides_are_inverse_closed_and_jumps_are_not() {
        let slide = |from: u8, to: u8| {
            let (low, high) = (from.min(to), from.max(to));
            let need = |cell: u8| (cell, if cell == to { 1 } else { 2 });
            TokenMove {
                name: format!("{from}{to}"),
                needs: vec![need(low), need(high)],
                writes: vec![(low, NewContent::Of(high)), (high, NewContent::Of(low))],
            }
        };
        let both = Tokens::new(2, 2, vec![slide(0, 1), slide(1, 0)]).expect("valid");
        assert!(both.is_inverse_closed() && both.keeps_contents());
        assert!(!Tokens::new(2, 2, vec![slide(0, 1)]).expect("valid").is_inverse_closed());
        for (cells, moves, part) in [
            (65, vec![slide(0, 1)], "65 cells"),
            (2, vec![], "no moves"),
            (1, vec![slide(0, 1)], "ascending numbers below 1"),
            (2, vec![TokenMove { needs: vec![(0, 4)], ..slide(0, 1) }], "not below 2"),
            (2, vec![TokenMove { writes: vec![(0, NewContent::Always(2))], ..slide(0, 1) }], "not below 2"),
        ] {
            let error = Tokens::new(cells, 2, moves).expect_err("faulty");
            assert!(error.contains(part), "{error}");
        }
    }
}
