//! The manifest of a checkpoint: everything a resumed search needs to know, and what each of its
//! files must hold.

use super::identity::SearchIdentity;
use crate::base::codec::{self, Kind};
use crate::base::{Depth, Error, Result, StateRank};
use crate::search::level_record::LevelRecord;
use crate::store::PackEntry;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Envelope of a manifest.
pub const MANIFEST_KIND: Kind = Kind { letters: *b"MANI", version: 3 };

/// Most bytes of a manifest.
pub const MOST_MANIFEST_BYTES: u64 = codec::MOST_ENVELOPE_BYTES;

/// What version 2 lacks at its end: no samples.
const NO_SAMPLES: [u8; 1] = [0];

/// Where a pack file is and how long it must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PackFile {
    /// Path relative to the checkpoint folder.
    pub path: String,
    /// Length in bytes.
    pub bytes: u64,
}

/// The manifest of one generation of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointManifest {
    /// Version of the program that wrote it.
    pub program_version: String,
    /// The search that it is a checkpoint of. The format has its fields one after another, here.
    pub identity: SearchIdentity,
    /// The closed levels.
    pub levels: Vec<LevelRecord>,
    /// The pack files that the entries are in.
    pub packs: Vec<PackFile>,
    /// For each set of each shard that is not empty: the number of its pack file, and its entry
    /// there.
    pub entries: Vec<(u32, PackEntry)>,
    /// How often the run was resumed before.
    pub resumes: u32,
    /// Seconds of the whole run so far.
    pub seconds: f64,
    /// Sampled states, by depth. Empty in a checkpoint of version 2, which had none.
    pub samples: Vec<Vec<StateRank>>,
}

impl CheckpointManifest {
    /// Its bytes in an envelope.
    ///
    /// # Errors
    /// When it is larger than the envelope's limit.
    pub fn encode(&self) -> Result<Vec<u8>> {
        codec::encode(MANIFEST_KIND, self)
    }

    /// Reads the bytes of `path`.
    ///
    /// # Errors
    /// `BadData` when they are damaged or contradict themselves.
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Self> {
        let manifest: Self = codec::decode_extended(MANIFEST_KIND, &NO_SAMPLES, bytes, path)?;
        let consistent = !manifest.levels.is_empty()
            && manifest.levels.iter().zip(0..).all(|(level, depth)| level.depth == Depth(depth))
            // What is missing would read as no edges up, and as no samples.
            && manifest.levels[..manifest.levels.len() - 1].iter().all(|level| level.edges.is_some())
            && (manifest.samples.is_empty() || manifest.samples.len() == manifest.levels.len())
            && manifest.entries.iter().all(|(pack, entry)| {
                crate::base::ids::index_u32(*pack) < manifest.packs.len() && entry.shard.0 < manifest.identity.partition.shards()
            });
        if !consistent {
            return Err(Error::bad_data(path, "contradictory contents", "a manifest", "an older checkpoint is needed"));
        }
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ShardId;
    use crate::ranking::Partition;
    use crate::store::Contents;
    use crate::store::pack_entry::SetName;
    use crate::store::{Edges, LevelPart};
    use std::collections::BTreeMap;

    fn sample() -> CheckpointManifest {
        let level = |depth, edges| LevelRecord { edges, ..LevelRecord::new(Depth(depth), LevelPart::default()) };
        let entry = PackEntry::encode(ShardId(0), SetName::Seen, 1, &Contents::Sparse(vec![7].into())).0;
        CheckpointManifest {
            program_version: "1".into(),
            identity: SearchIdentity {
                puzzle_name: "toy".into(),
                metric: "step".into(),
                puzzle_text: String::new(),
                puzzle_digest: String::new(),
                fixed_settings: BTreeMap::new(),
                partition: Partition::new(1, 5, false, None).expect("small"),
            },
            levels: vec![level(0, Some(Edges::default())), level(1, None)],
            packs: vec![PackFile { path: "gen-000001/a.pack".into(), bytes: 100 }],
            entries: vec![(0, entry)],
            resumes: 0,
            seconds: 0.0,
            samples: vec![Vec::new(); 2],
        }
    }

    #[test]
    fn contradictions_are_refused() {
        type Lie = fn(&mut CheckpointManifest);
        let lies: [(&str, Lie); 7] = [
            ("no levels", |manifest| {
                manifest.levels.clear();
                manifest.samples.clear();
            }),
            ("another depth", |manifest| manifest.levels[1].depth = Depth(2)),
            ("a closed level without edges", |manifest| manifest.levels[0].edges = None),
            ("too few samples", |manifest| drop(manifest.samples.pop())),
            ("samples of no level", |manifest| manifest.samples.push(Vec::new())),
            ("a pack that is not there", |manifest| manifest.entries[0].0 = 1),
            ("a shard that is not there", |manifest| manifest.entries[0].1.shard = ShardId(1)),
        ];
        let read = |manifest: &CheckpointManifest| CheckpointManifest::decode(&manifest.encode().expect("small"), Path::new("manifest"));
        assert_eq!(read(&sample()).expect("consistent"), sample());
        for (name, lie) in lies {
            let mut manifest = sample();
            lie(&mut manifest);
            assert!(read(&manifest).is_err(), "{name}");
        }
        // Version 2 had no samples.
        assert!(read(&CheckpointManifest { samples: Vec::new(), ..sample() }).is_ok());
    }
}
