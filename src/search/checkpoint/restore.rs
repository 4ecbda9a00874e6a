//! Going on from a checkpoint, or starting where there is none.

use super::commit::SetKey;
use super::generations::{SUSPECT, manifest_path, manifests, manifests_of_all, remove_unneeded};
use super::load::{damage, load_sets};
use super::manifest::{MOST_MANIFEST_BYTES, Manifest};
use crate::base::ids::{index_u32, to_u64};
use crate::base::mix::{Fingerprint, LANE_STATES};
use crate::base::{Depth, Error, ProcessId, Result, StateRank, atomic_file, fault_point, regular_file};
use crate::exchange::{agree, broadcast_from};
use crate::ranking::StateSpace;
use crate::search::LevelRecord;
use crate::search::observer::{Event, Observer};
use crate::search::{Search, archive, samples};
use crate::store::LevelPart;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Goes on from the newest whole checkpoint, or starts at depth 0 when there is none.
///
/// # Errors
/// `Config` when the checkpoint is another search's, `BadData` when there are checkpoints and none is whole.
pub fn restore_or_start(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<()> {
    // The first process may have been on another host, whose disk has the manifests then.
    let all = manifests_of_all(search)?;
    let renewed = if search.disks.leads() { search.folder.renew_work() } else { Ok(()) };
    agree(search.exchange, renewed)?;
    let mut last_error = None;
    for &(depth, holder) in &all {
        match restore(search, depth, holder) {
            Ok(()) => {
                discard_newer(search, Some(depth))?;
                observer.notice(&Event::Resumed { depth, states: search.total_states() });
                return Ok(());
            }
            // Only damage: a disk without room for the sets, or a missing permission, says nothing against the checkpoint. All processes must
            // decide alike, so the codes of their own errors and of their peers' are the same.
            Err(error @ Error::BadData { .. } | error @ Error::Peer { code: 65, .. }) => {
                observer.notice(&Event::Warning(format!("the checkpoint of level {depth} is not usable: {error}")));
                last_error = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    match last_error {
        Some(error) => Err(error),
        None => {
            discard_newer(search, None)?;
            start(search)?;
            observer.notice(&Event::Started);
            Ok(())
        }
    }
}

/// Gives up the generation of `restored` levels that a resumed search started from, and newer ones: an invariant broke right behind it, so it may hold
/// the fault though its bytes are whole. Their manifests get another name, under which no resume finds them: the next one takes the generation
/// before, or starts anew. Does nothing when the search was not resumed. Collective.
///
/// # Errors
/// The same on every process, when a manifest cannot be renamed.
pub fn set_aside(search: &Search<'_>, restored: usize, observer: &mut dyn Observer) -> Result<()> {
    if search.resumes == 0 {
        return Ok(());
    }
    let folder = search.folder.checkpoint();
    let rename = || -> Result<Option<Depth>> {
        let (suspect, older): (Vec<Depth>, Vec<Depth>) =
            manifests(&folder)?.into_iter().partition(|depth| index_u32(depth.0) + 1 >= restored);
        for depth in suspect {
            let path = manifest_path(&folder, depth);
            fs::rename(&path, path.with_extension(SUSPECT)).map_err(|source| Error::io("rename", &path, source))?;
        }
        atomic_file::sync_folder(&folder)?;
        Ok(older.first().copied())
    };
    let older = agree(search.exchange, if search.disks.leads() { rename() } else { Ok(None) })?;
    let mut levels = [older.map_or(0, |depth| u64::from(depth.0) + 1)];
    search.exchange.maximum(&mut levels);
    let next = if levels[0] == 0 { "starts anew".to_owned() } else { format!("goes on from level {}", levels[0] - 1) };
    let message = format!("the checkpoint of level {} may hold the fault and is set aside; the next resume {next}", restored - 1);
    observer.notice(&Event::Warning(message));
    Ok(())
}

/// Puts the start states into their shards: level 0.
fn start(search: &mut Search<'_>) -> Result<()> {
    let found = agree(search.exchange, put_starts(search))?;
    let mut sums = [found.states, found.fingerprint.0[0], found.fingerprint.0[1]];
    search.exchange.sum(&mut sums);
    let found = LevelPart { states: sums[0], fingerprint: Fingerprint([sums[1], sums[2]]) };
    // A start that no process owned would be missing from all that follows.
    let starts: BTreeSet<StateRank> = search.puzzle.starts().iter().map(|start| StateSpace::of(search.puzzle).rank(start)).collect();
    if found.states != to_u64(starts.len()) {
        return Err(Error::invariant("start states in the shards of all processes", found.states, starts.len()));
    }
    search.levels = vec![LevelRecord::new(Depth::ZERO, found)];
    samples::draw(search)?;
    if search.settings.keep_levels {
        archive::write(search, Depth::ZERO)?;
    }
    Ok(())
}

/// Puts the start states that this process owns into their shards, and closes level 0 in them.
fn put_starts(search: &mut Search<'_>) -> Result<LevelPart> {
    let space = StateSpace::of(search.puzzle);
    for start in search.puzzle.starts() {
        let rank = space.rank(start);
        // The others are other processes' to put; `start` counts whether all of them were.
        if let Some(own) = search.own_shard(search.partition.shard_of(rank))
            && !fault_point::damages("drop-start")
        {
            search.shards[own].accept(&[rank.0])?;
        }
    }
    search.shards.iter_mut().try_fold(LevelPart::default(), |sum, shard| {
        let part = shard.measure_next(true)?;
        shard.close_level()?;
        Ok(sum.plus(part))
    })
}

/// Reads generation `depth`, whose manifest `holder` has, into the shards of this process.
fn restore(search: &mut Search<'_>, depth: Depth, holder: ProcessId) -> Result<()> {
    let folder = search.folder.checkpoint();
    let path = manifest_path(&folder, depth);
    let read = || regular_file::read(&path, MOST_MANIFEST_BYTES).map_err(damage);
    let bytes = agree(search.exchange, if search.exchange.process() == holder { read() } else { Ok(Vec::new()) })?;
    let bytes = broadcast_from(search.exchange, holder, &bytes);
    // The same bytes everywhere, so the same result. Another version's manifest is no damage: it ends the run, and nothing is removed.
    let manifest = Manifest::decode(&bytes, &path)?;
    let same = manifest.check_same_search(search.puzzle, &search.partition, &search.settings.fixed_settings, &path);
    agree(search.exchange, same)?;
    load_sets(search, &manifest, &folder)?;
    check_restored(search, &manifest, &path)?;
    if search.is_first() {
        search.commits.table = manifest
            .blocks
            .iter()
            .map(|(pack, entry)| {
                // There is such a pack, or `decode` had refused the manifest.
                let pack = manifest.packs[index_u32(*pack)].clone();
                ((entry.shard, SetKey::of(entry.set)), (pack, entry.clone()))
            })
            .collect();
    }
    search.levels = manifest.levels;
    search.samples = manifest.samples;
    search.samples.resize(search.levels.len(), Vec::new());
    search.resumes = manifest.resumes + 1;
    search.earlier_seconds = manifest.seconds;
    search.commits.levels_saved = search.levels.len();
    search.commits.last = Instant::now();
    Ok(())
}

/// What was loaded, summed over all processes, must be what the closed levels say.
fn check_restored(search: &Search<'_>, manifest: &Manifest, path: &Path) -> Result<()> {
    let mut sums = [0_u64; 4];
    let shards = &search.shards;
    let frontier = search.pool.install(|| {
        shards
            .par_iter()
            .map(|shard| shard.frontier.fingerprint(shard.ranks.start / LANE_STATES))
            .reduce(Fingerprint::default, Fingerprint::plus)
    });
    sums[0] = search.shards.iter().map(|shard| shard.seen.count()).sum();
    sums[1] = search.own_frontier();
    sums[2..].copy_from_slice(&frontier.0);
    search.exchange.sum(&mut sums);
    let last = manifest.levels.last().expect("decode refuses a manifest without levels");
    let total: u64 = manifest.levels.iter().map(|level| level.states).sum();
    let expected = [total, last.states, last.fingerprint.0[0], last.fingerprint.0[1]];
    if sums == expected {
        return Ok(());
    }
    Err(Error::bad_data(
        path,
        format!("sets of {} states, {} in the last level", sums[0], sums[1]),
        format!("{total} states, {} in the last level, with its fingerprint", last.states),
        "the checkpoint is inconsistent; an older one is needed",
    ))
}

/// Removes generations newer than `kept`, files that no manifest names, and levels archived behind it. Collective.
fn discard_newer(search: &Search<'_>, kept: Option<Depth>) -> Result<()> {
    let folder = search.folder.checkpoint();
    let discard = || -> Result<()> {
        let Some(kept) = kept else { return Ok(()) };
        for depth in manifests(&folder)?.into_iter().filter(|&depth| depth > kept) {
            let path = manifest_path(&folder, depth);
            // A folder of this name is none of ours: it stays, and is named.
            fs::remove_file(&path).map_err(|source| Error::io("remove", &path, source))?;
        }
        Ok(())
    };
    agree(search.exchange, if search.disks.leads() { discard() } else { Ok(()) })?;
    let removed = remove_unneeded(search);
    agree(search.exchange, removed)?;
    let archive = if search.is_first() { archive::remove_behind(&search.folder.levels(), kept) } else { Ok(()) };
    agree(search.exchange, archive)
}
