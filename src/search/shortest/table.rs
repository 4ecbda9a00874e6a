//! The archived levels of a run (`keep_levels`) as a stored distance table: membership in a level,
//! reading only the blocks that are asked for.

use super::words::LevelSource;
use crate::base::ids::to_usize;
use crate::base::{Depth, Result};
use crate::ranking::Partition;
use crate::store::Contents;
use crate::store::level_archive::for_each_set;
use std::path::{Path, PathBuf};

/// The archived levels of one run.
#[derive(Clone, Debug)]
pub struct TableLevels {
    levels: PathBuf,
    partition: Partition,
    depths: usize,
}

impl TableLevels {
    /// The levels 0 to `depths` - 1 below the folder `levels`, archived in the cut `partition`.
    #[must_use]
    pub fn new(levels: &Path, partition: Partition, depths: usize) -> Self {
        Self { levels: levels.to_path_buf(), partition, depths }
    }

    /// The distance of `rank` from the run's starts; none when no level holds it.
    ///
    /// # Errors
    /// `Io` or `BadData` when a level is missing or damaged.
    pub fn depth_of(&self, rank: u64) -> Result<Option<usize>> {
        for depth in 0..self.depths {
            let mut candidates = vec![rank];
            self.keep_members(depth, &mut candidates)?;
            if !candidates.is_empty() {
                return Ok(Some(depth));
            }
        }
        Ok(None)
    }
}

impl LevelSource for TableLevels {
    fn keep_members(&self, depth: usize, candidates: &mut Vec<u64>) -> Result<()> {
        let mut members = Vec::new();
        let depth = Depth(u32::try_from(depth).unwrap_or(u32::MAX));
        for_each_set(&self.levels, depth, &|shard| self.partition.ranks_if_any(shard), |set| {
            let begin = candidates.partition_point(|&rank| rank < set.ranks.start);
            let end = begin + candidates[begin..].partition_point(|&rank| rank < set.ranks.end);
            if begin < end {
                let contents = set.contents()?;
                members.extend(candidates[begin..end].iter().filter(|&&rank| holds(&contents, rank - set.ranks.start)));
            }
            Ok(())
        })?;
        members.sort_unstable();
        *candidates = members;
        Ok(())
    }
}

/// Whether the set holds the offset.
fn holds(contents: &Contents<'_>, offset: u64) -> bool {
    match contents {
        Contents::Empty => false,
        Contents::Full => true,
        Contents::Sparse(list) => list.binary_search(&offset).is_ok(),
        Contents::Words(words) => words.get(to_usize(offset / 64)).is_some_and(|word| word >> (offset % 64) & 1 == 1),
    }
}
