//! What all processes together did for one level: the numbers that the guards compare.

use super::sums::Sums;
use super::tally::Tally;
use crate::base::fingerprint::Fingerprint;
use crate::store::{Edges, LevelPart};

/// What all processes together did for one level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelTotals {
    /// Edges of the expanded level. Expansions that pull know only those that lead up; the others
    /// follow (see [`super::guards::completed_edges`]).
    pub edges: Edges,
    /// Edges from seen states to those of the expanded level; only by lanes of directed puzzles.
    pub level_edges: u64,
    /// Moves of the states of the expanded level, counted without making them, where states differ
    /// in that.
    pub moves: u64,
    /// What the expansion went through.
    pub covered: u64,
    /// Fingerprint of the states that were expanded; only by states.
    pub expanded: Fingerprint,
    /// States of the wrong sign met: in the expanded level when it was expanded by states, else in
    /// the one found.
    pub wrong_signs: u64,
    /// Ranks, or bytes of lanes, sent.
    pub sent: Tally,
    /// The same received.
    pub received: Tally,
    /// Answers to the questions of the unseen, as they were given.
    pub answered: Tally,
    /// The same as they arrived.
    pub answers: Tally,
    /// The level found.
    pub found: LevelPart,
    /// Bytes sent to other processes.
    pub bytes_sent: u64,
    /// Bytes received from other processes.
    pub bytes_received: u64,
}

impl Sums for LevelTotals {
    fn numbers(&mut self) -> Vec<&mut u64> {
        // Taken apart by name and without `..`, so that a new field cannot be left out.
        let Self {
            edges,
            level_edges,
            moves,
            covered,
            expanded,
            wrong_signs,
            sent,
            received,
            answered,
            answers,
            found,
            bytes_sent,
            bytes_received,
        } = self;
        let Edges { down, same, up } = edges;
        let tallies = [sent, received, answered, answers].into_iter().flat_map(|Tally { count, mixed }| [count, mixed]);
        [level_edges, moves, covered, wrong_signs, down, same, up, bytes_sent, bytes_received]
            .into_iter()
            .chain(tallies)
            // No lane is in two shards, so the fingerprints of the processes add up.
            .chain(&mut expanded.0)
            .chain(found.numbers())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::local;

    /// Each number once: as many as there are, and every one is summed with itself.
    #[test]
    fn every_number_is_summed_with_its_like() {
        local::run_participants(3, |exchange| {
            let mut totals = LevelTotals::default();
            let numbered = |totals: &mut LevelTotals, times: u64| {
                totals.numbers().into_iter().zip(1..).for_each(|(number, value)| *number = value * times);
            };
            numbered(&mut totals, 1);
            let mut expected = LevelTotals::default();
            numbered(&mut expected, 3);
            assert_eq!(totals.sum_over_processes(exchange), expected);
        })
        .expect("threads");
    }
}
