//! The kind `distance`.

use super::records::joined;
use super::{Claim, Labels, Records};
use crate::base::ids::to_u64;

/// A file of a level archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFile {
    /// The level it belongs to.
    pub depth: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
    /// Path relative to the run folder: `levels/DDDDDD/NAME`.
    pub path: String,
}

/// The numbers of states at each distance from the solved state, shown by the archived levels of a
/// run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distance {
    /// The positions of the arrangements in their order, from 1, where the checker cannot know it:
    /// for rotation boards.
    pub arranged: Option<Labels>,
    /// Numbered states, reachable or not.
    pub ranks: u64,
    /// Numbered states of a shard.
    pub shard_length: u64,
    /// States at distance 0, 1, ...
    pub levels: Vec<u64>,
    /// The archive, by depth, then path.
    pub archive: Vec<ArchiveFile>,
}

impl Claim for Distance {
    fn kind(&self) -> &'static str {
        "distance"
    }

    fn write(&self, records: &mut Records) {
        let Self { arranged, ranks, shard_length, levels, archive } = self;
        if let Some(arranged) = arranged {
            records.record("arranged", joined(arranged));
        }
        records.record("ranks", joined(&[ranks, shard_length]));
        records.record("states", levels.iter().sum::<u64>());
        records.record("levels", levels.len());
        for (depth, states) in levels.iter().enumerate() {
            records.record("level", joined(&[to_u64(depth), *states]));
        }
        records.record("archives", archive.len());
        for file in archive {
            records.record("archive", format!("{} {} {} {}", file.depth, file.bytes, file.sha256, file.path));
        }
    }
}
