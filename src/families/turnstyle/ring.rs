//! A ring of pieces of any size and its three moves, played on the labels. Each move takes constant
//! time.

use crate::base::{Error, Result};
use crate::evidence::certificates::{Labels, Word};
use std::collections::VecDeque;

/// An arrangement of Turnstyle: labels by position, the turntable over the first four.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring(VecDeque<u16>);

impl Ring {
    /// The solved ring of `size` pieces, labels from 1.
    #[must_use]
    pub fn solved(size: u16) -> Self {
        Self((1..=size).collect())
    }

    /// A ring with these labels.
    #[must_use]
    pub fn of(labels: &[u16]) -> Self {
        Self(labels.iter().copied().collect())
    }

    /// Labels by position.
    #[must_use]
    pub fn labels(&self) -> Labels {
        self.0.iter().copied().collect()
    }

    /// Makes one move: `R`, `L` or `F`.
    ///
    /// # Errors
    /// `Invariant` for any other name: words are made by this program.
    pub fn play(&mut self, name: &str) -> Result<()> {
        match name {
            "R" => self.0.rotate_right(1),
            "L" => self.0.rotate_left(1),
            "F" => {
                self.0.swap(0, 1);
                self.0.swap(2, 3);
            }
            _ => return Err(Error::invariant("a move of Turnstyle", name, "R, L or F")),
        }
        Ok(())
    }

    /// Makes the moves of a word, left to right.
    ///
    /// # Errors
    /// `Invariant` for a name that is no move.
    pub fn play_word(&mut self, word: &Word) -> Result<()> {
        word.iter().try_for_each(|name| self.play(name))
    }
}

/// The word whose moves are these letters.
#[must_use]
pub fn letters(text: &str) -> Word {
    text.chars().map(String::from).collect()
}

/// The word seen in a mirror: R and L exchanged. The mirror takes position `i` to `3 - i`, so it
/// leaves F as it is.
#[must_use]
pub fn mirrored(word: &Word) -> Word {
    word.iter()
        .map(|name| match name.as_str() {
            "R" => "L".into(),
            "L" => "R".into(),
            _ => name.clone(),
        })
        .collect()
}

/// Demands that `word` leads from `from` to `to`.
///
/// # Errors
/// `Invariant` when it does not: nothing may be written then.
pub fn check_word(from: &Labels, to: &Labels, word: &Word) -> Result<()> {
    let mut ring = Ring::of(from);
    ring.play_word(word)?;
    if ring.labels() == *to { Ok(()) } else { Err(Error::invariant("a word, replayed", format!("{:?}", ring.labels()), format!("{to:?}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families::turnstyle;

    #[test]
    fn the_ring_moves_as_the_puzzle_does() {
        let puzzle = turnstyle::build(9, "step").expect("valid");
        let (mut state, mut ring) = (puzzle.starts()[0].clone(), Ring::solved(9));
        for step in 0..300_usize {
            let generator = (step * step + step / 3) % 3;
            state = puzzle.apply(generator, &state);
            ring.play(puzzle.generator_name(generator)).expect("a move");
            let text: Vec<String> = ring.labels().iter().map(ToString::to_string).collect();
            assert_eq!(puzzle.text(&state), text.join(" "));
        }
        assert!(ring.play("R2").is_err());
    }

    #[test]
    fn a_word_that_leads_elsewhere_is_refused() {
        assert!(check_word(&vec![1, 2, 3, 4, 5], &vec![2, 1, 4, 3, 5], &letters("F")).is_ok());
        assert_eq!(check_word(&vec![1, 2, 3, 4, 5], &vec![2, 1, 4, 3, 5], &letters("R")).expect_err("wrong").exit_code(), 70);
    }
}
