//! The sets of a checkpoint, from pack files into the shards of this process.
//!
//! What lies in a folder that this process sees it reads itself. A pack on another host's disk is
//! read by the process that leads that disk, which sends the entries, as they are stored, to the
//! owners of their shards: in rounds, so that no process holds more than about one round of
//! `round_successors` at a time. Everybody knows the manifest, so everybody knows which entries go
//! from where to where in which round, and none has a name on its way.

use super::manifest::{CheckpointManifest, PackFile};
use crate::base::bytes::{bytes_of, words_of};
use crate::base::ids::{index_u32, low_u32, to_u64, to_usize};
use crate::base::{Depth, Error, ProcessId, Result, ShardId, fault_point};
use crate::exchange::agree;
use crate::ranking::Partition;
use crate::search::job::Job;
use crate::search::machine::Disks;
use crate::store::pack_entry::SetName;
use crate::store::{Contents, LevelFile, PackEntry, PackReader, Shard, Storage};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An entry on its way between disks.
struct Shipment<'a> {
    sender: ProcessId,
    receiver: ProcessId,
    pack: usize,
    entry: &'a PackEntry,
}

/// A file of a checkpoint that is missing or cannot be read is damage, from which an older
/// generation may help; a missing permission is not.
pub(super) fn damage(error: Error) -> Error {
    match error {
        Error::Io { path, source, .. } if source.kind() != std::io::ErrorKind::PermissionDenied => Error::bad_data(
            &path,
            format!("no readable file ({source})"),
            "a file of the checkpoint",
            "an older checkpoint or another copy is needed",
        ),
        other => other,
    }
}

/// Loads the own sets from the pack files: lengths first, then every entry with its checksum and
/// count. Collective.
///
/// # Errors
/// The same on every process.
pub(super) fn load_sets(
    job: &Job<'_>,
    partition: &Partition,
    shards: &mut [Shard],
    manifest: &CheckpointManifest,
    folder: &Path,
) -> Result<()> {
    let opened = open_packs(job, manifest, folder);
    let readers = agree(job.exchange, opened)?;
    let holders = find_holders(job, manifest, folder, &readers)?;
    let level = manifest.levels.last().map_or(Depth::ZERO, |level| level.depth);
    let created = if job.settings.storage == Storage::Compact { job.level_file(level).map(Some) } else { Ok(None) };
    let file = agree(job.exchange, created)?;
    let loaded = load_own(job, shards, manifest, folder, &readers, file.as_ref());
    agree(job.exchange, loaded)?;
    if !job.disks.are_one() {
        let shipments = shipments(&job.disks, &partition.owners(job.exchange.processes()), manifest, &holders);
        ship(job, partition, shards, &shipments, manifest, &readers, file.as_ref())?;
    }
    for shard in shards {
        shard.seen.mark_saved();
        shard.frontier.mark_saved();
    }
    Ok(())
}

/// The pack files in the folder that this process sees; all of them where that is the only one.
fn open_packs(job: &Job<'_>, manifest: &CheckpointManifest, folder: &Path) -> Result<Vec<Option<PackReader>>> {
    let open = |pack: &PackFile| -> Result<Option<PackReader>> {
        let path = pack_path(folder, pack)?;
        let found = match fs::metadata(&path) {
            Ok(facts) => facts.len(),
            Err(source) if source.kind() == std::io::ErrorKind::NotFound && job.disks.may_be_more() => return Ok(None),
            Err(source) => return Err(damage(Error::io("read", &path, source))),
        };
        if found != pack.bytes {
            return Err(Error::bad_data(
                &path,
                format!("{found} bytes"),
                format!("{} bytes", pack.bytes),
                "the file is damaged or truncated",
            ));
        }
        PackReader::open(&path).map(Some).map_err(damage)
    };
    manifest.packs.iter().map(open).collect()
}

/// For each pack the process that leads the lowest disk with it. Collective.
fn find_holders(job: &Job<'_>, manifest: &CheckpointManifest, folder: &Path, readers: &[Option<PackReader>]) -> Result<Vec<ProcessId>> {
    let own: Vec<u64> = readers.iter().zip(0..).filter(|(reader, _)| reader.is_some()).map(|(_, number)| number).collect();
    let lists = job.exchange.all_to_all(vec![own; index_u32(job.exchange.processes())]);
    let mut holders: Vec<Option<ProcessId>> = vec![None; readers.len()];
    for (list, process) in lists.iter().zip(0..) {
        for &number in list {
            holders[to_usize(number)].get_or_insert(ProcessId(process));
        }
    }
    let known = |(holder, pack): (Option<ProcessId>, &PackFile)| holder.ok_or_else(|| job.disks.missing_pack(&folder.join(&pack.path)));
    let found = holders.into_iter().zip(&manifest.packs).map(known).collect();
    agree(job.exchange, found)
}

/// Empties the own shards and loads what this process can read itself.
fn load_own(
    job: &Job<'_>,
    shards: &mut [Shard],
    manifest: &CheckpointManifest,
    folder: &Path,
    readers: &[Option<PackReader>],
    file: Option<&Arc<LevelFile>>,
) -> Result<()> {
    let mut wanted: BTreeMap<ShardId, Vec<(usize, &PackEntry)>> = BTreeMap::new();
    for (pack, entry) in &manifest.entries {
        wanted.entry(entry.shard).or_default().push((index_u32(*pack), entry));
    }
    job.pool.install(|| {
        shards.par_iter_mut().try_for_each(|shard| {
            shard.abandon_level();
            shard.seen.clear(false);
            shard.frontier.clear(false);
            for (pack, entry) in wanted.get(&shard.id).into_iter().flatten() {
                let contents = match readers.get(*pack) {
                    _ if entry.stored_bytes == 0 => entry.decode(Vec::new(), shard.length(), folder)?,
                    Some(Some(reader)) => reader.read_set(entry, shard.length()).map_err(damage)?,
                    // On another disk: it is sent here afterwards. What is not read in either way
                    // is missing from the counts that `check_restored` compares.
                    _ => continue,
                };
                take(shard, entry.set, &contents, file)?;
            }
            Ok(())
        })
    })
}

/// Puts the contents of an entry into its set.
fn take(shard: &mut Shard, set: SetName, contents: &Contents<'_>, file: Option<&Arc<LevelFile>>) -> Result<()> {
    match set {
        SetName::Seen => shard.seen.load(contents, None),
        SetName::Level => shard.frontier.load(contents, file),
    }
}

/// Sends the entries that their owners cannot read. Collective.
fn ship(
    job: &Job<'_>,
    partition: &Partition,
    shards: &mut [Shard],
    shipments: &[Shipment<'_>],
    manifest: &CheckpointManifest,
    readers: &[Option<PackReader>],
    file: Option<&Arc<LevelFile>>,
) -> Result<()> {
    let folder = &job.folder.checkpoint();
    let most_bytes = to_u64(job.settings.round_successors).saturating_mul(8);
    let me = job.exchange.process();
    for round in rounds(shipments, most_bytes) {
        let mut outgoing = vec![Vec::new(); index_u32(job.exchange.processes())];
        let mut read = || -> Result<()> {
            for shipment in round.iter().filter(|shipment| shipment.sender == me) {
                let reader = readers[shipment.pack].as_ref().ok_or_else(|| job.disks.missing_pack(folder))?;
                let ranks = partition.ranks(shipment.entry.shard);
                let stored = reader.stored(shipment.entry, ranks.end - ranks.start).map_err(damage)?;
                outgoing[shipment.receiver.index()].extend(words_of(&stored));
            }
            Ok(())
        };
        let read = read();
        agree(job.exchange, read)?;
        let mut incoming = job.exchange.all_to_all(outgoing);
        if fault_point::damages("drop-entry") {
            incoming.iter_mut().rev().find_map(Vec::pop);
        }
        let mut rest: Vec<&[u64]> = incoming.iter().map(Vec::as_slice).collect();
        let short = |sender: ProcessId, found: &str| {
            Error::invariant(format!("words of pack entries from process {}", sender.0), found, "as many as the manifest says")
        };
        let mut unpack = || -> Result<()> {
            for shipment in round.iter().filter(|shipment| shipment.receiver == me) {
                let Shipment { sender, pack, entry, .. } = *shipment;
                let words = to_usize(entry.stored_bytes.div_ceil(8));
                let (stored, behind) = rest[sender.index()].split_at_checked(words).ok_or_else(|| short(sender, "too few"))?;
                rest[sender.index()] = behind;
                let own = shards
                    .binary_search_by_key(&entry.shard, |shard| shard.id)
                    .ok()
                    .ok_or_else(|| Error::invariant("owner of a pack entry sent here", me, "another process"))?;
                let shard = &mut shards[own];
                let path = folder.join(&manifest.packs[pack].path);
                let contents = entry.decode(bytes_of(stored, to_usize(entry.stored_bytes)), shard.length(), &path)?;
                take(shard, entry.set, &contents, file)?;
            }
            match rest.iter().position(|words| !words.is_empty()) {
                None => Ok(()),
                Some(sender) => Err(short(ProcessId(low_u32(to_u64(sender))), "too many")),
            }
        };
        let unpacked = unpack();
        agree(job.exchange, unpacked)?;
    }
    Ok(())
}

/// All entries that go from one disk to another, the same list on every process.
fn shipments<'a>(disks: &Disks, owners: &[ProcessId], manifest: &'a CheckpointManifest, holders: &[ProcessId]) -> Vec<Shipment<'a>> {
    let way = |(pack, entry): &'a (u32, PackEntry)| {
        let (pack, receiver) = (index_u32(*pack), owners[entry.shard.index()]);
        Shipment { sender: holders[pack], receiver, pack, entry }
    };
    let crosses =
        |shipment: &Shipment<'_>| shipment.entry.stored_bytes > 0 && disks.leader(shipment.receiver) != disks.leader(shipment.sender);
    manifest.entries.iter().map(way).filter(crosses).collect()
}

/// Cuts the list into rounds of at most `most_bytes`, but at least one entry, for each sender and
/// receiver.
fn rounds<'a, 'b>(shipments: &'a [Shipment<'b>], most_bytes: u64) -> Vec<&'a [Shipment<'b>]> {
    let mut rounds = Vec::new();
    let mut first = 0;
    let mut bytes: BTreeMap<(bool, ProcessId), u64> = BTreeMap::new();
    for (shipment, at) in shipments.iter().zip(0..) {
        let ends = [(true, shipment.sender), (false, shipment.receiver)];
        if ends.iter().any(|end| bytes.get(end).is_some_and(|sum| sum + shipment.entry.stored_bytes > most_bytes)) {
            rounds.push(&shipments[first..at]);
            (first, bytes) = (at, BTreeMap::new());
        }
        for end in ends {
            *bytes.entry(end).or_default() += shipment.entry.stored_bytes;
        }
    }
    if first < shipments.len() {
        rounds.push(&shipments[first..]);
    }
    rounds
}

/// A pack's path; the manifest's text is not trusted to stay in the folder.
fn pack_path(folder: &Path, pack: &PackFile) -> Result<PathBuf> {
    let safe = pack.path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    if safe {
        Ok(folder.join(&pack.path))
    } else {
        Err(Error::bad_data(folder, format!("the pack path {:?}", pack.path), "a path inside", "the manifest is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_stay_in_their_folder() {
        let path = |path: &str| pack_path(Path::new("checkpoint"), &PackFile { path: path.into(), bytes: 0 });
        assert_eq!(path("gen-000001/a.pack").expect("inside"), Path::new("checkpoint/gen-000001/a.pack"));
        for outside in ["../a.pack", "gen-000001/../../a.pack", "/etc/passwd", "gen-000001//a.pack", "./a.pack", ""] {
            assert!(path(outside).is_err(), "{outside}");
        }
    }

    #[test]
    fn rounds_are_bounded_and_lose_nothing() {
        let entries: Vec<PackEntry> = [5_usize, 400, 30, 30, 1, 90, 99, 2]
            .iter()
            .map(|&bytes| PackEntry { stored_bytes: to_u64(bytes), ..PackEntry::encode(ShardId(0), SetName::Seen, 0, &Contents::Empty).0 })
            .collect();
        let shipments: Vec<Shipment<'_>> = entries
            .iter()
            .zip(0..)
            .map(|(entry, number)| Shipment { sender: ProcessId(number % 2), receiver: ProcessId(2 + number % 3), pack: 0, entry })
            .collect();
        for most in [1, 60, 100, 10_000] {
            let cut = rounds(&shipments, most);
            assert_eq!(cut.iter().map(|round| round.len()).sum::<usize>(), shipments.len());
            for round in cut {
                for sender in 0..2 {
                    let sent: Vec<u64> = round.iter().filter(|one| one.sender.0 == sender).map(|one| one.entry.stored_bytes).collect();
                    assert!(sent.len() <= 1 || sent.iter().sum::<u64>() <= most, "{most}: {sent:?}");
                }
            }
        }
        assert!(rounds(&[], 5).is_empty());
    }
}
