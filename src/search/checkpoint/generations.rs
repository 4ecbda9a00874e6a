//! What is in a checkpoint folder, by name: manifests, generations, and what can be removed.

use crate::base::partition::Partition;
use crate::base::{Depth, Error, Result, fault_point};
use crate::puzzle::Puzzle;
use crate::search::Search;
use crate::search::manifest::Manifest;
use crate::store::Storage;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Extension of a manifest that was set aside.
pub(super) const SUSPECT: &str = "suspect";

/// Generations kept: the newest and the one before; in compact storage, whose checkpoints fill disks, the newest.
pub(super) fn generations_kept(search: &Search<'_>) -> usize {
    match search.settings.storage {
        Storage::File => 2,
        Storage::Memory => 1,
    }
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
        .filter(|(name, depth)| manifest_path(folder, *depth) == folder.join(name) && folder.join(name).is_file())
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

/// Refuses the checkpoint of another search, before anything in its folder is touched. Damaged manifests are left to the resume.
///
/// # Errors
/// `Config` listing every key that differs, by the newest manifest that is whole.
pub fn refuse_other_search(folder: &Path, puzzle: &Puzzle, partition: &Partition, fixed_settings: &BTreeMap<String, String>) -> Result<()> {
    newest_whole(folder)?.map_or(Ok(()), |(manifest, path)| manifest.check_same_search(puzzle, partition, fixed_settings, &path))
}

/// The newest manifest in the checkpoint folder that is whole, and its file. Its packs are not looked at.
///
/// # Errors
/// `Io` when the folder cannot be listed.
pub fn newest_whole(folder: &Path) -> Result<Option<(Manifest, PathBuf)>> {
    Ok(manifests(folder)?.into_iter().find_map(|depth| {
        let path = manifest_path(folder, depth);
        let manifest = Manifest::decode(&fs::read(&path).ok()?, &path).ok()?;
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

/// Removes all manifests but the newest `kept`, then every pack file that none of those names, then empty folders.
pub(super) fn remove_unneeded(folder: &Path, kept: usize) -> Result<()> {
    let depths = manifests(folder)?;
    let remove = |path: &Path| match if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) } {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path, source)),
        _ => fault_point::pass("old-removed").map_err(|source| Error::io("remove", path, source)),
    };
    for depth in depths.iter().skip(kept) {
        remove(&manifest_path(folder, *depth))?;
    }
    let mut needed = BTreeSet::new();
    for depth in depths.iter().take(kept) {
        let path = manifest_path(folder, *depth);
        let bytes = fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
        match Manifest::decode(&bytes, &path) {
            Ok(manifest) => needed.extend(manifest.packs.into_iter().map(|pack| pack.path)),
            // A damaged manifest protects what it may name.
            Err(_) => return Ok(()),
        }
    }
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
