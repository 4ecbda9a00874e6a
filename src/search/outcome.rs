//! What a complete search found: the levels and the antipodes.

use super::manifest::LevelRecord;
use super::{Search, archive};
use crate::base::ids::to_u64;
use crate::base::{Depth, Result, StateRank};
use crate::exchange::{broadcast, gather};

/// The result of a complete search; the same for any number of processes, threads and resumes, but for the costs in the levels.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All levels, by depth.
    pub levels: Vec<LevelRecord>,
    /// States in all.
    pub states: u64,
    /// Greatest depth.
    pub gods_number: Depth,
    /// States of that depth.
    pub antipodes: u64,
    /// The antipodes of lowest rank, ascending: all of them when they are at most the setting's number.
    pub listed_antipodes: Vec<StateRank>,
    /// Sampled states, by depth.
    pub samples: Vec<Vec<StateRank>>,
    /// How often the search went on from a checkpoint; sessions that committed nothing leave no trace.
    pub resumes: u32,
    /// Seconds of all sessions.
    pub seconds: f64,
    /// Bytes sent between processes.
    pub bytes_exchanged: u64,
}

/// Gathers the outcome; the frontier is still the last level.
///
/// # Errors
/// When archived levels, which are read back here, are not what was found.
pub fn collect(search: &Search<'_>) -> Result<Outcome> {
    if search.settings.keep_levels {
        archive::check_all(search)?;
    }
    let last = search.last_level().clone();
    Ok(Outcome {
        states: search.total_states(),
        gods_number: last.depth,
        antipodes: last.states,
        listed_antipodes: lowest_antipodes(search),
        samples: search.samples.clone(),
        resumes: search.resumes,
        seconds: search.seconds(),
        bytes_exchanged: search.levels.iter().map(|level| level.bytes_exchanged).sum(),
        levels: search.levels.clone(),
    })
}

/// The states of the last level with the lowest ranks, on every process.
fn lowest_antipodes(search: &Search<'_>) -> Vec<StateRank> {
    let most = search.settings.most_antipodes;
    let mut own = Vec::new();
    for shard in &search.shards {
        // Shards ascend, so the first `most` ranks met are the process's lowest.
        let mut cursor = Some(0);
        while let Some(from) = cursor.filter(|_| own.len() < most) {
            cursor = shard.frontier.list_from(from, most, shard.ranks.start, &mut own);
        }
    }
    let bytes = |ranks: &[u64]| -> Vec<u8> { ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect() };
    let ranks =
        |bytes: &[u8]| -> Vec<u64> { bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(std::array::from_fn(|i| chunk[i]))).collect() };
    let mut all: Vec<u64> = gather(search.exchange, &bytes(&own)).iter().flat_map(|report| ranks(report)).collect();
    all.sort_unstable();
    all.truncate(most);
    ranks(&broadcast(search.exchange, &bytes(&all))).into_iter().map(StateRank).collect()
}

impl Outcome {
    /// Mean depth of all states.
    #[must_use]
    pub fn mean_depth(&self) -> f64 {
        let sum: u128 = self.levels.iter().map(|level| u128::from(level.depth.0) * u128::from(level.states)).sum();
        crate::base::ids::approximate_u128(sum) / crate::base::ids::approximate(self.states)
    }

    /// Identifies the whole result: blake3 of a line `depth states fingerprint` for each level, as hexadecimal text.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let lines: String = self.levels.iter().map(|level| format!("{} {} {}\n", level.depth, level.states, level.fingerprint)).collect();
        blake3::hash(lines.as_bytes()).to_hex().to_string()
    }

    /// Whether every antipode is listed.
    #[must_use]
    pub fn lists_all_antipodes(&self) -> bool {
        to_u64(self.listed_antipodes.len()) == self.antipodes
    }
}
