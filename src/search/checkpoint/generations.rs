//! What is in a checkpoint folder, by name: manifests, generations, and what can be removed.

use super::identity::SearchIdentity;
use super::manifest::{CheckpointManifest, MOST_MANIFEST_BYTES};
use crate::base::ids::{index_u32, low_u32};
use crate::base::regular_file::{self, MOST_NOTE_BYTES};
use crate::base::removal::{remove_file, remove_folder};
use crate::base::{Depth, Error, ProcessId, Result, atomic_file, fault_point};
use crate::exchange::{agree, share};
use crate::puzzle::Puzzle;
use crate::ranking::Partition;
use crate::search::job::Job;
use crate::search::machine::Disks;
use crate::store::Storage;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Extension of a manifest that was set aside.
pub(super) const SUSPECT: &str = "suspect";

/// Generations kept: the newest and the one before; in compact storage, whose checkpoints fill
/// disks, the newest.
pub(super) fn generations_kept(storage: Storage) -> usize {
    match storage {
        Storage::Memory | Storage::File => 2,
        Storage::Compact => 1,
    }
}

/// Where every host has a disk of its own: the file that names the host with the newest manifest,
/// on all of them.
const NEWEST_ON: &str = "newest-on";

/// Notes after a commit on which host its manifest is. Losing the note loses nothing but the
/// warning of [`refuse_absent_host`].
pub(super) fn note_host(job: &Job<'_>) -> Result<()> {
    let path = job.folder.checkpoint().join(NEWEST_ON);
    match job.disks.first_host().filter(|_| job.disks.leads()) {
        Some(host) if regular_file::read(&path, MOST_NOTE_BYTES).ok().is_none_or(|noted| noted != host.as_bytes()) => {
            atomic_file::replace_unsynced(&path, host.as_bytes())
        }
        _ => Ok(()),
    }
}

/// Refuses to go on without the host whose disk has the newest manifest: the search would go on
/// from an older one, or start anew, and remove what belongs to it.
///
/// # Errors
/// `Config` naming the host.
pub fn refuse_absent_host(folder: &Path, disks: &Disks) -> Result<()> {
    let read = || regular_file::read_text(&folder.join(NEWEST_ON), MOST_NOTE_BYTES).unwrap_or_default();
    let noted = if disks.may_be_more() { read() } else { String::new() };
    if noted.is_empty() || disks.include(&noted) {
        return Ok(());
    }
    Err(Error::config(format!(
        "{}: the newest checkpoint's manifest is on host {noted}, which is not in this job; start on that host, too, or start again with --resume never --force",
        folder.display()
    )))
}

/// Whether the folder of a run holds a checkpoint that was set aside.
///
/// # Errors
/// `Io` when it cannot be listed.
pub fn was_set_aside(folder: &Path) -> Result<bool> {
    Ok(names(folder)?.iter().any(|name| name.starts_with("manifest-") && name.ends_with(SUSPECT)))
}

/// The manifests in the checkpoint folder, newest first.
pub(super) fn manifests(folder: &Path) -> Result<Vec<Depth>> {
    let mut depths: Vec<Depth> = names(folder)?
        .iter()
        .filter_map(|name| Some((name, Depth(name.strip_prefix("manifest-")?.parse().ok()?))))
        // What is under such a name and no file is damage, to be named when it is read.
        .filter(|(name, depth)| manifest_path(folder, *depth) == folder.join(name))
        .map(|(_, depth)| depth)
        .collect();
    depths.sort_unstable_by(|a, b| b.cmp(a));
    Ok(depths)
}

/// Names in `folder`; none when it does not exist.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::io("list", folder, source)),
    };
    entries
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<std::io::Result<_>>()
        .map_err(|source| Error::io("list", folder, source))
}

/// Whether the folder of a run holds a checkpoint.
///
/// # Errors
/// `Io` when it cannot be listed.
pub fn exists(folder: &Path) -> Result<bool> {
    Ok(!manifests(folder)?.is_empty())
}

/// Refuses the checkpoint of another search, before anything in its folder is touched. Damaged
/// manifests are left to the resume.
///
/// # Errors
/// `Config` listing every key that differs, by the newest manifest that is whole.
pub fn refuse_other_search(folder: &Path, puzzle: &Puzzle, partition: &Partition, fixed_settings: &BTreeMap<String, String>) -> Result<()> {
    let identity = SearchIdentity::of(puzzle, partition, "", fixed_settings);
    newest_whole(folder)?.map_or(Ok(()), |(manifest, path)| identity.check_same_search(&manifest.identity, &path))
}

/// The newest manifest in the checkpoint folder that is whole, and its file. Its packs are not
/// looked at.
///
/// # Errors
/// `Io` when the folder cannot be listed.
pub fn newest_whole(folder: &Path) -> Result<Option<(CheckpointManifest, PathBuf)>> {
    Ok(manifests(folder)?.into_iter().find_map(|depth| {
        let path = manifest_path(folder, depth);
        let manifest = CheckpointManifest::decode(&regular_file::read(&path, MOST_MANIFEST_BYTES).ok()?, &path).ok()?;
        Some((manifest, path))
    }))
}

pub(super) fn generation_name(depth: Depth) -> String {
    format!("gen-{:06}", depth.0)
}

pub(super) fn generation_folder(checkpoint: &Path, depth: Depth) -> PathBuf {
    checkpoint.join(generation_name(depth))
}

pub(super) fn manifest_path(checkpoint: &Path, depth: Depth) -> PathBuf {
    checkpoint.join(format!("manifest-{:06}", depth.0))
}

/// Removes all manifests but those of the newest generations that are kept, then every pack file
/// that none of those names, then empty folders. On a disk that all share the first process does it
/// and alone has a result; on several it is collective, for a pack on one may be named on another.
pub(super) fn remove_unneeded(job: &Job<'_>) -> Result<()> {
    let folder = job.folder.checkpoint();
    let kept = generations_kept(job.settings.storage);
    if job.disks.are_one() {
        if !job.is_first() {
            return Ok(());
        }
        let depths = manifests(&folder)?;
        remove_manifests(&folder, depths.iter().skip(kept))?;
        return match needed_packs(&folder, depths.iter().take(kept))? {
            Some(needed) => remove_packs(&folder, &needed),
            None => Ok(()),
        };
    }
    let all = manifests_of_all(job)?;
    let mut newest: Vec<Depth> = all.iter().map(|(depth, _)| *depth).collect();
    newest.dedup();
    newest.truncate(kept);
    let own = |keep: bool| {
        all.iter().filter(move |(_, holder)| *holder == job.exchange.process()).map(|(depth, _)| depth).filter({
            let newest = &newest;
            move |depth| newest.contains(depth) == keep
        })
    };
    agree(job.exchange, remove_manifests(&folder, own(false)))?;
    let named = agree(job.exchange, needed_packs(&folder, own(true)))?;
    let text = named.map_or_else(|| UNREADABLE.to_owned(), |paths| paths.into_iter().collect::<Vec<_>>().join("\n"));
    let lists = share(job.exchange, text.as_bytes());
    if lists.iter().any(|list| list == UNREADABLE.as_bytes()) {
        return Ok(());
    }
    let needed = lists.iter().flat_map(|list| String::from_utf8_lossy(list).lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    agree(job.exchange, if job.disks.leads() { remove_packs(&folder, &needed) } else { Ok(()) })
}

/// In place of a list of paths: one of the manifests is damaged.
const UNREADABLE: &str = "\0";

/// The manifests on all disks, newest first, each with the process that leads its disk. Collective.
pub(super) fn manifests_of_all(job: &Job<'_>) -> Result<Vec<(Depth, ProcessId)>> {
    let listed = if job.disks.leads() { manifests(&job.folder.checkpoint()) } else { Ok(Vec::new()) };
    let own: Vec<u64> = agree(job.exchange, listed)?.iter().map(|depth| depth.0.into()).collect();
    let lists = job.exchange.all_to_all(vec![own; index_u32(job.exchange.processes())]);
    let mut all: Vec<(Depth, ProcessId)> = lists
        .iter()
        .zip(0..)
        .flat_map(|(depths, holder)| depths.iter().map(move |&depth| (Depth(low_u32(depth)), ProcessId(holder))))
        .collect();
    all.sort_by_key(|&(depth, holder)| (std::cmp::Reverse(depth), holder));
    Ok(all)
}

fn remove(path: &Path) -> Result<()> {
    if path.is_dir() {
        remove_folder(path)?
    } else {
        remove_file(path)?
    }
    fault_point::pass("old-removed").map_err(|source| Error::io("remove", path, source))
}

fn remove_manifests<'a>(folder: &Path, mut depths: impl Iterator<Item = &'a Depth>) -> Result<()> {
    depths.try_for_each(|depth| remove(&manifest_path(folder, *depth)))
}

/// Paths of the packs that the manifests of `depths` name; `None` when one is damaged: it protects
/// what it may name.
fn needed_packs<'a>(folder: &Path, depths: impl Iterator<Item = &'a Depth>) -> Result<Option<BTreeSet<String>>> {
    let mut needed = BTreeSet::new();
    for depth in depths {
        let path = manifest_path(folder, *depth);
        let bytes = match regular_file::read(&path, MOST_MANIFEST_BYTES) {
            Err(Error::BadData { .. }) => return Ok(None),
            other => other?,
        };
        match CheckpointManifest::decode(&bytes, &path) {
            Ok(manifest) => needed.extend(manifest.packs.into_iter().map(|pack| pack.path)),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(needed))
}

/// Removes the pack files that are not `needed`, and empty folders.
fn remove_packs(folder: &Path, needed: &BTreeSet<String>) -> Result<()> {
    for generation in names(folder)?.into_iter().filter(|name| name.starts_with("gen-")) {
        let path = folder.join(&generation);
        if !path.is_dir() {
            continue;
        }
        for name in names(&path)? {
            if !needed.contains(&format!("{generation}/{name}")) {
                remove(&path.join(name))?;
            }
        }
        // Fails, as it should, while a needed file is left.
        let _ = fs::remove_dir(&path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It may be of another version, and name packs that are whole.
    #[test]
    fn a_manifest_that_cannot_be_read_protects_all_packs() {
        let folder = tempfile::tempdir().expect("temporary folder");
        assert_eq!(needed_packs(folder.path(), [].iter()).expect("none"), Some(BTreeSet::new()));
        fs::write(manifest_path(folder.path(), Depth(1)), "of another version").expect("room");
        assert_eq!(needed_packs(folder.path(), [Depth(1)].iter()).expect("readable"), None);
        assert!(needed_packs(folder.path(), [Depth(2)].iter()).is_err(), "a manifest that is gone");
    }
}
