//! Lists the frontier, or the unseen ranks, of a process part by part, shard by shard, in rank
//! order.

use crate::base::fault_point;
use crate::store::Shard;

/// Lists the frontier.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrontierReader(ShardReader);

/// Lists the ranks that are in no level; ranks that are never reached are among them.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnseenReader(ShardReader);

/// Where a listing stands.
#[derive(Clone, Copy, Debug, Default)]
struct ShardReader {
    shard: usize,
    cursor: u64,
}

impl FrontierReader {
    /// Replaces `batch` by the next states of the frontier: at least `enough` of them (at most 63
    /// more), or all that are left.
    pub fn next_batch(&mut self, shards: &[Shard], enough: usize, batch: &mut Vec<u64>) {
        self.0.next_batch(shards, enough, batch, |shard, cursor, batch| {
            if cursor == 0 && shard.frontier.count() > 0 && fault_point::damages("skip-shard") {
                return None;
            }
            shard.frontier.list_from(cursor, enough, shard.ranks.start, batch)
        });
        if let Some(state) = batch.last_mut()
            && fault_point::damages("frontier-state")
        {
            // The neighbour in rank.
            *state ^= 1;
        }
    }
}

impl UnseenReader {
    /// Replaces `batch` by the next unseen ranks, as many as [`FrontierReader::next_batch`] would.
    pub fn next_batch(&mut self, shards: &[Shard], enough: usize, batch: &mut Vec<u64>) {
        self.0.next_batch(shards, enough, batch, |shard, cursor, batch| {
            shard.seen.list_absent_from(cursor, enough, shard.ranks.start, batch)
        });
    }
}

impl ShardReader {
    /// Calls `list` with shard and cursor until `batch` has enough entries; it returns the cursor
    /// to go on from in the shard, or `None` at its end.
    fn next_batch(
        &mut self,
        shards: &[Shard],
        enough: usize,
        batch: &mut Vec<u64>,
        list: impl Fn(&Shard, u64, &mut Vec<u64>) -> Option<u64>,
    ) {
        batch.clear();
        while self.shard < shards.len() && batch.len() < enough {
            match list(&shards[self.shard], self.cursor, batch) {
                Some(cursor) => self.cursor = cursor,
                None => *self = Self { shard: self.shard + 1, cursor: 0 },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ShardId;
    use crate::store::Home;

    #[test]
    fn batches_together_are_the_frontier() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut shards: Vec<Shard> = (0..4_u32)
            .map(|id| Shard::new(ShardId(id), u64::from(id) * 1_200..u64::from(id + 1) * 1_200, &Home::File(folder.path().join("bits"))))
            .collect();
        let mut expected: Vec<u64> = Vec::new();
        for (shard, step) in shards.iter_mut().zip([1_usize, 1_300, 70, 3]) {
            let ranks: Vec<u64> = shard.ranks.clone().step_by(step).skip(1).collect();
            expected.extend(&ranks);
            shard.accept(&ranks).expect("room");
            shard.close_level().expect("room");
        }
        for enough in [1, 7, 64, 10_000] {
            let (mut reader, mut batch) = (FrontierReader::default(), Vec::new());
            let mut all: Vec<u64> = Vec::new();
            loop {
                reader.next_batch(&shards, enough, &mut batch);
                if batch.is_empty() {
                    break;
                }
                assert!(batch.len() < enough + 64);
                all.extend(&batch);
            }
            assert_eq!(all, expected);
        }
    }
}
