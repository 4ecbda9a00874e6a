//! Shortest words from the solved ring to many arrangements, with one ball: the balls around the
//! arrangements are the relabelled ball around the solved ring.

use super::ring::check_word;
use super::{arrangements, build_by_position, certified};
use crate::base::ids::{low_u8, low_u32, to_u64};
use crate::base::{Error, Result};
use crate::evidence::certificates::{Bidirectional, Certificate, CertifiedPuzzle, Labels, Word};
use crate::search::shortest::{Ball, BothWays, MemoryLimit, RelabelledBall, ShortestWords, distances_by_relabelling};

/// Largest size whose arrangements have 64-bit ranks.
pub const LARGEST_SIZE: u16 = 20;

/// A shortest word and why none is shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// The arrangement that it leads to.
    pub to: Labels,
    /// The first such word in the order R, L, F.
    pub word: Word,
    /// How many shortest words there are.
    pub count: u128,
    /// Radii of two balls that do not meet; their sum is the length less 1.
    pub radii: [u32; 2],
    /// States in the balls.
    pub balls: [u64; 2],
}

impl Shortest {
    /// Number of moves.
    #[must_use]
    pub fn length(&self) -> usize {
        self.word.len()
    }

    /// The certificate; none for the solved ring itself.
    #[must_use]
    pub fn certificate(&self) -> Option<Certificate> {
        let size = u16::try_from(self.to.len()).unwrap_or(u16::MAX);
        let from = arrangements::solved(size);
        let puzzle = turnstyle_step(size);
        let Self { to, word, radii, balls, .. } = self.clone();
        (!word.is_empty()).then_some(Certificate::new(puzzle, Bidirectional { from, to, word, radii, balls }))
    }
}

/// Turnstyle in metric `step`, as certificates name it.
#[must_use]
pub fn turnstyle_step(size: u16) -> CertifiedPuzzle {
    certified(size.into(), "step")
}

/// A shortest word to each of `targets`, all of which must be reached (the caller knows that from
/// the group). With `only_nearest`, the search ends with the first targets that are found, and the
/// others have no entry.
///
/// # Errors
/// `Config` when the size has no 64-bit ranks or the ball outgrows the limit; `Invariant` when a
/// word does not lead to its target, or a target is not reached.
pub fn shortest_words(size: u16, targets: &[Labels], limit: MemoryLimit, only_nearest: bool) -> Result<Vec<Option<Shortest>>> {
    let puzzle = build_by_position(u32::from(size))?;
    let moves = BothWays::of(&puzzle)?;
    let start = moves.forward.rank(&puzzle.starts()[0]).ok_or_else(|| Error::invariant("rank of the solved ring", "none", "one"))?;
    let names: Vec<Vec<u8>> = targets.iter().map(|target| target.iter().map(|&label| low_u8(u64::from(label - 1))).collect()).collect();
    let mut ball = Ball::around(&moves.forward, vec![start], moves.inverse_closed);
    let mut found: Vec<Option<Shortest>> = vec![None; targets.len()];
    distances_by_relabelling(&mut ball, &names, limit, only_nearest, |index, ball, meeting| {
        let far = RelabelledBall::new(ball, &names[index]);
        let ways = (&moves.forward, &moves.backward);
        let words = ShortestWords::through(ways, &meeting.shared, (ball, meeting.near), (&far, meeting.far))?;
        let first = words.list(&moves.forward, 1);
        let word = first.first().map(Vec::as_slice).unwrap_or_default();
        let word = puzzle.word_names(word);
        check_word(&arrangements::solved(size), &targets[index], &word)?;
        let radii = meeting.disjoint_radii();
        let balls = radii.map(|radius| ball.states_within(radius));
        let radii = radii.map(|radius| low_u32(to_u64(radius)));
        found[index] = Some(Shortest { to: targets[index].clone(), word, count: words.count(), radii, balls });
        Ok(())
    })?;
    if !only_nearest && found.iter().any(Option::is_none) {
        return Err(Error::invariant("arrangements of a ring that all moves together reach", "some not found", "all found"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pair by pair: two independent programs (issue text; N <= 12 twice computed).
    #[test]
    fn known_shortest_swaps() {
        let known: [(u16, &[usize]); 2] = [(8, &[18, 17, 18, 18, 20, 20, 20, 18]), (10, &[25, 25, 25, 24, 24, 24, 24, 24, 24, 24])];
        for (size, lengths) in known {
            let targets: Vec<Labels> = (0..size).map(|pair| arrangements::swap(size, pair)).collect();
            let words = shortest_words(size, &targets, MemoryLimit { bytes: 1 << 28 }, false).expect("small");
            let found: Vec<usize> = words.iter().flatten().map(Shortest::length).collect();
            assert_eq!(found, lengths);
            let nearest = shortest_words(size, &targets, MemoryLimit { bytes: 1 << 28 }, true).expect("small");
            let found: Vec<usize> = nearest.iter().flatten().map(Shortest::length).collect();
            let least = lengths.iter().min().expect("some");
            assert!(!found.is_empty() && found.iter().all(|length| length == least));
        }
    }
}
