//! What a complete search found: the levels and the antipodes.

use super::archive;
use super::job::Job;
use super::level_record::LevelRecord;
use super::progress::{Commits, Progress};
use super::samples;
use super::space::Space;
use crate::base::ids::to_u64;
use crate::base::{Depth, Error, ProcessId, Result, StateRank, fault_point};
use crate::exchange::{Exchange, broadcast, gather};

/// The result of a complete search; the same for any number of processes, threads and resumes, but
/// for the costs in the levels.
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
    /// The antipodes of lowest rank, ascending: all of them when they are at most the setting's
    /// number.
    pub listed_antipodes: Vec<StateRank>,
    /// Sampled states, by depth.
    pub samples: Vec<Vec<StateRank>>,
    /// How often the search went on from a checkpoint; sessions that committed nothing leave no
    /// trace.
    pub resumes: u32,
    /// Seconds of all sessions.
    pub seconds: f64,
    /// The commits of the last session.
    pub commits: Commits,
    /// Bytes sent between processes.
    pub bytes_exchanged: u64,
}

/// Gathers the outcome; the frontier is still the last level.
///
/// # Errors
/// When archived levels, which are read back here, are not what was found.
pub fn collect(job: &Job<'_>, space: &Space<'_>, progress: &Progress) -> Result<Outcome> {
    if job.settings.keep_levels {
        archive::check_all(job, &space.partition, &progress.levels)?;
    }
    let last = progress.last_level().clone();
    let listed_antipodes = lowest_antipodes(job.exchange, job.settings.most_antipodes, space, progress)?;
    Ok(Outcome {
        states: progress.total_states(),
        gods_number: last.depth,
        antipodes: last.states,
        listed_antipodes,
        samples: progress.samples.clone(),
        resumes: progress.resumes,
        seconds: progress.seconds(),
        commits: progress.commits,
        bytes_exchanged: progress.levels.iter().map(|level| level.bytes_exchanged).sum(),
        levels: progress.levels.clone(),
    })
}

/// The states of the last level with the lowest ranks, at most `most`, on every process.
///
/// # Errors
/// `Invariant`, the same on every process: a list that is too short, does not ascend, or has a
/// state of another level.
fn lowest_antipodes(exchange: &dyn Exchange, most: usize, space: &Space<'_>, progress: &Progress) -> Result<Vec<StateRank>> {
    let mut own = Vec::new();
    for shard in &progress.shards {
        // Shards ascend, so the first `most` ranks met are the process's lowest.
        let mut cursor = Some(0);
        while let Some(from) = cursor.filter(|_| own.len() < most) {
            cursor = shard.frontier.list_from(from, most, shard.ranks.start, &mut own);
        }
    }
    let bytes = |ranks: &[u64]| -> Vec<u8> { ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect() };
    let ranks =
        |bytes: &[u8]| -> Vec<u64> { bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(std::array::from_fn(|i| chunk[i]))).collect() };
    let mut all: Vec<u64> = gather(exchange, &bytes(&own)).iter().flat_map(|report| ranks(report)).collect();
    all.sort_unstable();
    all.truncate(most);
    if exchange.process() == ProcessId::FIRST {
        damage(&mut all);
    }
    let all: Vec<StateRank> = ranks(&broadcast(exchange, &bytes(&all))).into_iter().map(StateRank).collect();
    check_listed(&all, most, progress.last_level().states)?;
    samples::check_members(exchange, space, progress, "listed antipodes", &all)?;
    Ok(all)
}

/// Spoils the list where a test asks for it.
fn damage(all: &mut Vec<u64>) {
    if fault_point::damages("drop-antipode") {
        all.pop();
    }
    if fault_point::damages("repeat-antipode") && all.len() > 1 {
        all[1] = all[0];
    }
    if fault_point::damages("shift-antipode")
        && let Some(rank) = all.last_mut()
    {
        *rank += 1;
    }
}

/// Checks that the list has as many of the last level's `states` as it should, `most` at the most,
/// and that their ranks ascend: a repeated one would stand in the place of one that is missing.
fn check_listed(listed: &[StateRank], most: usize, states: u64) -> Result<()> {
    let expected = to_u64(most).min(states);
    if to_u64(listed.len()) != expected {
        return Err(Error::invariant("listed antipodes", listed.len(), expected));
    }
    match listed.windows(2).find(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::invariant("rank of a listed antipode", pair[1], format!("above {}, the one before", pair[0]))),
    }
}

impl Outcome {
    /// Mean depth of all states.
    #[must_use]
    pub fn mean_depth(&self) -> f64 {
        let sum: u128 = self.levels.iter().map(|level| u128::from(level.depth.0) * u128::from(level.states)).sum();
        crate::base::ids::approximate_u128(sum) / crate::base::ids::approximate(self.states)
    }

    /// Identifies the whole result: blake3 of a line `depth states fingerprint` for each level, as
    /// hexadecimal text.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_complete_and_ascends() {
        let check =
            |ranks: &[u64], most, states| check_listed(&ranks.iter().map(|&rank| StateRank(rank)).collect::<Vec<_>>(), most, states);
        assert!(check(&[2, 5, 9], 10, 3).is_ok());
        assert!(check(&[2, 5, 9], 3, 8).is_ok(), "the lowest of more");
        assert!(check(&[], 0, 8).is_ok());
        for (name, ranks, most, states) in [
            ("one is missing", &[2, 5][..], 10, 3),
            ("one too many", &[2, 5, 9], 2, 3),
            ("repeated", &[2, 2, 9], 10, 3),
            ("descending", &[5, 2, 9], 10, 3),
        ] {
            assert!(check(ranks, most, states).is_err(), "{name}");
        }
    }
}
