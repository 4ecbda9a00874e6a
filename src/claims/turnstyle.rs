//! The published claims about Turnstyle with our values: everything here is computed, but what the
//! source says.

use crate::base::ids::{approximate, low_u8, to_u64};
use crate::base::{Error, Result};
use crate::evidence::certificates::{Certificate, Labels, Word};
use crate::families::turnstyle::ring::check_word;
use crate::families::turnstyle::shortest::{Shortest, shortest_words};
use crate::families::turnstyle::swap::{evidence, shortest_swaps};
use crate::families::turnstyle::{arrangements, build_by_position};
use crate::puzzle::State;
use crate::search::shortest::{MemoryLimit, solve};

/// The size for which the source lists most.
const SIZE: u16 = 12;

/// Pieces passed by the pair in the source's two jumps.
const JUMPS: [u16; 2] = [4, 6];

/// A ring that is so large that the way around the other side is no shorter for a jump.
pub const JUMP_SIZE: u16 = 18;

/// All shortest SWAPs of the middle pair of 12 (there are 18).
const MOST_WORDS: usize = 1_000;

/// Everything that the page of claims tells.
#[derive(Clone, Debug)]
pub struct Values {
    /// For each even size from 8 on the fewest moves of each pair's SWAP.
    pub swaps: Vec<(u16, Vec<usize>)>,
    /// Whether a SWAP exists, for each size from 4 to 11, and the file that shows it.
    pub existence: Vec<(u16, bool)>,
    /// The 24 orders of the final four.
    pub final_four: Vec<([u16; 4], Shortest)>,
    /// The reversal of the ring by rotation.
    pub reversals: Vec<Shortest>,
    /// For each jump: pieces passed, the shortest word wherever the pair starts, and that with the
    /// pair at the turntable's left end.
    pub jumps: Vec<(u16, Shortest, Shortest)>,
    /// Moves of 4321 by two flips and two shortest SWAPs of the middle pair: as they are, and the
    /// fewest after cancelling what undoes itself.
    pub two_flips_two_swaps: [usize; 2],
}

/// Computes them; SWAPs up to `largest` pieces.
///
/// # Errors
/// `Config` when the balls outgrow the limit; `Invariant` when a replayed word does not do what it
/// should.
pub fn values(largest: u16, limit: MemoryLimit) -> Result<Values> {
    let mut swaps = Vec::new();
    for size in (8..=largest).step_by(2) {
        let found = shortest_swaps(size, limit)?;
        swaps.push((size, found.iter().map(Shortest::length).collect()));
    }
    let existence = (4..=11).map(|size| Ok((size, evidence(size, None)?.constructed.is_some()))).collect::<Result<_>>()?;
    let orders = arrangements::orders_of_four();
    let mut targets: Vec<Labels> = orders.iter().map(|&four| arrangements::final_four(SIZE, four)).collect();
    targets.extend((0..SIZE).map(|rotation| arrangements::reversal(SIZE, rotation)));
    let mut found = shortest_words(SIZE, &targets, limit, false)?.into_iter().flatten();
    let final_four = orders.into_iter().zip(found.by_ref()).collect();
    let reversals = found.collect();
    let jumps = JUMPS.into_iter().map(|passed| jump(passed, limit)).collect::<Result<_>>()?;
    let two_flips_two_swaps = two_flips_two_swaps(&middle_swaps(limit)?)?;
    Ok(Values { swaps, existence, final_four, reversals, jumps, two_flips_two_swaps })
}

/// Shortest words for a pair past `passed` pieces: wherever it starts, and from the turntable's
/// left end.
fn jump(passed: u16, limit: MemoryLimit) -> Result<(u16, Shortest, Shortest)> {
    let nearest = |places: std::ops::Range<u16>| -> Result<Shortest> {
        let targets: Vec<Labels> =
            places.flat_map(|place| (0..JUMP_SIZE).map(move |turned| arrangements::jump(JUMP_SIZE, passed, place, turned))).collect();
        let found = shortest_words(JUMP_SIZE, &targets, limit, true)?;
        found.into_iter().flatten().next().ok_or_else(|| Error::invariant("a jump", "no word", "a word"))
    };
    Ok((passed, nearest(0..JUMP_SIZE)?, nearest(0..1)?))
}

/// Every shortest SWAP of the turntable's middle pair.
fn middle_swaps(limit: MemoryLimit) -> Result<Vec<Word>> {
    let puzzle = build_by_position(u32::from(SIZE))?;
    let target = State { plane: 0, arrangement: arrangements::swap(SIZE, 1).iter().map(|&label| low_u8(u64::from(label - 1))).collect() };
    let solution = solve(&puzzle, &puzzle.starts()[0], &[target], limit, MOST_WORDS)?;
    let words = solution.map(|solution| solution.words).unwrap_or_default();
    Ok(words.iter().map(|word| word.iter().map(|&generator| puzzle.generator_name(generator).to_owned()).collect()).collect())
}

/// 4321 as F SWAP F SWAP (1234, 2143, 2413, 4231, 4321) or SWAP F SWAP F (1324, 3142, 3412, 4321),
/// for all pairs of words.
fn two_flips_two_swaps(words: &[Word]) -> Result<[usize; 2]> {
    let flip = vec!["F".to_owned()];
    let mut fewest = [usize::MAX; 2];
    for one in words {
        for other in words {
            for parts in [[&flip, one, &flip, other], [one, &flip, other, &flip]] {
                let word: Word = parts.into_iter().flatten().cloned().collect();
                let reduced = cancelled(&word);
                for (fewest, word) in fewest.iter_mut().zip([word, reduced]) {
                    check_word(&arrangements::solved(SIZE), &arrangements::final_four(SIZE, [4, 3, 2, 1]), &word)?;
                    *fewest = word.len().min(*fewest);
                }
            }
        }
    }
    Ok(fewest)
}

/// The word without neighbours that undo each other.
fn cancelled(word: &Word) -> Word {
    let mut rest: Word = Vec::new();
    for name in word {
        let undone = match name.as_str() {
            "R" => "L",
            "L" => "R",
            other => other,
        };
        if rest.last().is_some_and(|last| last == undone) {
            rest.pop();
        } else {
            rest.push(name.clone());
        }
    }
    rest
}

impl Values {
    /// The certificates beside those of `certify swap`, with their file names.
    #[must_use]
    pub fn certificates(&self) -> Vec<(String, Certificate)> {
        let four = self.final_four.iter().map(|(four, shortest)| (format!("final-four-{}", digits(*four)), shortest));
        let reversals = (0..).zip(&self.reversals).map(|(rotation, shortest)| (format!("reversal-12-rotation-{rotation:02}"), shortest));
        let jumps = self
            .jumps
            .iter()
            .flat_map(|(passed, anywhere, left)| [(format!("jump{passed}"), anywhere), (format!("jump{passed}-from-the-left-end"), left)]);
        four.chain(reversals)
            .chain(jumps)
            .filter_map(|(name, shortest)| shortest.certificate().map(|certificate| (format!("{name}.cert"), certificate)))
            .collect()
    }

    /// Fewest moves of a SWAP of any pair.
    #[must_use]
    pub fn least_swap(&self, size: u16) -> Option<usize> {
        self.swaps_of(size).iter().min().copied()
    }

    /// Fewest moves of the SWAP of each pair; empty for a size that was not searched.
    #[must_use]
    pub fn swaps_of(&self, size: u16) -> &[usize] {
        self.swaps.iter().find(|(known, _)| *known == size).map_or(&[], |(_, lengths)| lengths)
    }

    /// Moves of the 24 orders, together.
    #[must_use]
    pub fn final_four_sum(&self) -> usize {
        self.final_four.iter().map(|(_, shortest)| shortest.length()).sum()
    }

    /// Mean of the 24 orders.
    #[must_use]
    pub fn final_four_mean(&self) -> f64 {
        approximate(to_u64(self.final_four_sum())) / approximate(to_u64(self.final_four.len()))
    }

    /// Fewest moves of one order of the final four.
    #[must_use]
    pub fn final_four_of(&self, wanted: [u16; 4]) -> Option<usize> {
        self.final_four.iter().find(|(four, _)| *four == wanted).map(|(_, shortest)| shortest.length())
    }

    /// Fewest moves of a reversal, over the rotations.
    #[must_use]
    pub fn least_reversal(&self) -> Option<usize> {
        self.reversals.iter().map(Shortest::length).min()
    }
}

/// `4321`.
#[must_use]
pub fn digits(four: [u16; 4]) -> String {
    four.iter().map(ToString::to_string).collect()
}
