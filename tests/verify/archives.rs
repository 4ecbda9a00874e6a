//! Archived levels taken out of a run folder and put back changed, with the digests made right again.

use farthest::base::ShardId;
use farthest::base::ids::to_u64;
use farthest::families::run_config::{RunConfig, partition_of};
use farthest::ranking::Partition;
use farthest::store::pack_entry::SetName;
use farthest::store::{Contents, PackEntry, PackReader, PackWriter};
use std::fs;
use std::path::Path;

/// Leaves nothing but the certificate and its archive to disagree with.
pub fn only_certificate(run: &Path) {
    for name in ["summary.json", "SHA256SUMS"] {
        fs::remove_file(run.join(name)).expect("removable");
    }
}

/// Ranks of an archived level, ascending, taken out of all its files.
pub fn level(run: &Path, depth: u32) -> Vec<u64> {
    let partition = partition(run);
    let mut ranks = Vec::new();
    for file in 0..2 {
        let reader = PackReader::open(&run.join(format!("levels/{depth:06}/process-{file:04}.pack"))).expect("whole");
        for entry in reader.entries().expect("whole") {
            let range = partition.ranks(entry.shard);
            ranks.extend(match reader.read_set(&entry, range.end - range.start).expect("whole") {
                Contents::Empty => Vec::new(),
                Contents::Full => range.clone().collect(),
                Contents::Sparse(list) => list.iter().map(|offset| range.start + offset).collect(),
                Contents::Words(words) => (range.clone()).filter(|rank| bit(&words, rank - range.start)).collect(),
            });
        }
    }
    ranks.sort_unstable();
    ranks
}

fn bit(words: &[u64], at: u64) -> bool {
    words[usize::try_from(at / 64).expect("small")] >> (at % 64) & 1 == 1
}

fn partition(run: &Path) -> Partition {
    let config = RunConfig::load(&run.join("run.toml")).expect("valid");
    partition_of(&config.puzzle.build(&config.metric).expect("valid"), config.search.leading_positions).expect("fits")
}

/// Writes other ranks as an archived level, all in the first file, in good form.
pub fn set_level(run: &Path, depth: u32, ranks: &[u64]) {
    let partition = partition(run);
    for (file, keep) in [(0, true), (1, false)] {
        let path = run.join(format!("levels/{depth:06}/process-{file:04}.pack"));
        fs::remove_file(&path).expect("removable");
        let mut writer = PackWriter::create(&path).expect("new");
        for shard in (0..partition.shards()).map(ShardId).filter(|_| keep) {
            let range = partition.ranks(shard);
            let list: Vec<u64> = ranks.iter().filter(|rank| range.contains(rank)).map(|rank| rank - range.start).collect();
            if !list.is_empty() {
                let (entry, stored) = PackEntry::encode(shard, SetName::Level, to_u64(list.len()), &Contents::Sparse(list.into()));
                writer.add(entry, &stored).expect("room");
            }
        }
        writer.finish().expect("room");
    }
}
