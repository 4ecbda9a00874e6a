//! Every shortest word between two ends, from sources that say which states lie at which distance.
//!
//! Kept: for each distance from the one end the states on shortest words, ascending, and for each
//! the number of shortest words on from it. So the number of words is exact however many there are,
//! and words are listed in the order of the generators. 24 bytes a state on a shortest word.

use crate::base::Result;
use crate::expand::Moves;

/// Levels of states around an end.
pub trait LevelSource {
    /// Keeps those of the ascending `candidates` that lie at distance `depth` from the source's
    /// end.
    ///
    /// # Errors
    /// When the source is a file and cannot be read.
    fn keep_members(&self, depth: usize, candidates: &mut Vec<u64>) -> Result<()>;
}

/// All shortest words between two ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortestWords {
    /// By distance from the one end, ascending.
    states: Vec<Vec<u64>>,
    /// Shortest words from each of them to the other end; saturates.
    counts: Vec<Vec<u128>>,
}

impl ShortestWords {
    /// The words through `shared`: all states at distance `near_distance` from the one end and
    /// `far_distance` from the other.
    ///
    /// # Errors
    /// What the sources return.
    pub fn through(
        (forward, backward): (&Moves, &Moves),
        shared: &[u64],
        (near, near_distance): (&dyn LevelSource, usize),
        (far, far_distance): (&dyn LevelSource, usize),
    ) -> Result<Self> {
        let mut states = vec![shared.to_vec()];
        for depth in (0..near_distance).rev() {
            let mut before = neighbours(backward, states.last().map_or(&[], Vec::as_slice));
            near.keep_members(depth, &mut before)?;
            states.push(before);
        }
        states.reverse();
        for depth in (0..far_distance).rev() {
            let mut after = neighbours(forward, states.last().map_or(&[], Vec::as_slice));
            far.keep_members(depth, &mut after)?;
            states.push(after);
        }
        let mut counts: Vec<Vec<u128>> = vec![vec![1; states.last().map_or(0, Vec::len)]];
        for pair in states.windows(2).rev() {
            let next_counts = counts.last().map_or(&[][..], Vec::as_slice);
            let count = |&state: &u64| {
                let mut sum = 0_u128;
                forward.for_each(state, |_, neighbour| {
                    if let Ok(index) = pair[1].binary_search(&neighbour) {
                        sum = sum.saturating_add(next_counts[index]);
                    }
                });
                sum
            };
            let before = pair[0].iter().map(count).collect();
            counts.push(before);
        }
        counts.reverse();
        Ok(Self { states, counts })
    }

    /// Length of each word.
    #[must_use]
    pub fn length(&self) -> usize {
        self.states.len() - 1
    }

    /// Number of words; words that differ in a generator are different, even when both generators
    /// do the same there.
    #[must_use]
    pub fn count(&self) -> u128 {
        self.counts[0].iter().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// The first `most` words, as numbers of generators, in lexicographic order.
    #[must_use]
    pub fn list(&self, forward: &Moves, most: usize) -> Vec<Vec<usize>> {
        let mut words = Vec::new();
        for &start in &self.states[0] {
            self.descend(forward, start, &mut Vec::new(), most, &mut words);
        }
        words
    }

    /// Depth of recursion: the words' length.
    fn descend(&self, forward: &Moves, state: u64, word: &mut Vec<usize>, most: usize, words: &mut Vec<Vec<usize>>) {
        if words.len() >= most {
            return;
        }
        let Some(next) = self.states.get(word.len() + 1) else {
            words.push(word.clone());
            return;
        };
        for generator in 0..forward.generators() {
            let Some(neighbour) = forward.by(generator, state) else { continue };
            if next.binary_search(&neighbour).is_ok() {
                word.push(generator);
                self.descend(forward, neighbour, word, most, words);
                word.pop();
            }
        }
    }
}

/// All neighbours, ascending, without repeats.
fn neighbours(moves: &Moves, states: &[u64]) -> Vec<u64> {
    let mut all = Vec::with_capacity(states.len() * moves.generators());
    for &state in states {
        moves.for_each(state, |_, neighbour| all.push(neighbour));
    }
    all.sort_unstable();
    all.dedup();
    all
}
