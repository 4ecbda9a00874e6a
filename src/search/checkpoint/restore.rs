//! Going on from a checkpoint, or starting where there is none.

use super::commit::{Checkpoint, SetKey};
use super::generations::{SUSPECT, manifest_path, manifests, manifests_of_all, remove_unneeded};
use super::load::{damage, load_sets};
use super::manifest::{CheckpointManifest, MOST_MANIFEST_BYTES};
use crate::base::fingerprint::{Fingerprint, LANE_STATES};
use crate::base::ids::index_u32;
use crate::base::{Depth, Error, ProcessId, Result, atomic_file, regular_file};
use crate::exchange::{agree, broadcast_from};
use crate::search::job::Job;
use crate::search::observer::{Event, Observer};
use crate::search::progress::Progress;
use crate::store::Shard;
use crate::store::level_archive;
use rayon::prelude::*;
use std::fs;
use std::path::Path;
use std::time::Instant;

impl Checkpoint {
    /// Goes on from the newest whole checkpoint; `false` when there is none. Collective.
    ///
    /// # Errors
    /// `Config` when the checkpoint is another search's, `BadData` when there are checkpoints and
    /// none is whole.
    pub fn restore(&mut self, job: &Job<'_>, progress: &mut Progress, observer: &mut dyn Observer) -> Result<bool> {
        // The first process may have been on another host, whose disk has the manifests then.
        let all = manifests_of_all(job)?;
        let renewed = if job.disks.leads() { job.folder.renew_work() } else { Ok(()) };
        agree(job.exchange, renewed)?;
        let mut last_error = None;
        for &(depth, holder) in &all {
            match self.restore_generation(job, progress, depth, holder) {
                Ok(()) => {
                    discard_newer(job, Some(depth))?;
                    observer.notice(&Event::Resumed { depth, states: progress.total_states() });
                    return Ok(true);
                }
                // Only damage: a disk without room for the sets, or a missing permission, says
                // nothing against the checkpoint. All processes must decide alike, so the codes of
                // their own errors and of their peers' are the same.
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
                discard_newer(job, None)?;
                Ok(false)
            }
        }
    }

    /// Reads generation `depth`, whose manifest `holder` has, into the shards of this process.
    fn restore_generation(&mut self, job: &Job<'_>, progress: &mut Progress, depth: Depth, holder: ProcessId) -> Result<()> {
        let folder = job.folder.checkpoint();
        let path = manifest_path(&folder, depth);
        let read = || regular_file::read(&path, MOST_MANIFEST_BYTES).map_err(damage);
        let bytes = agree(job.exchange, if job.exchange.process() == holder { read() } else { Ok(Vec::new()) })?;
        let bytes = broadcast_from(job.exchange, holder, &bytes);
        // The same bytes everywhere, so the same result. Another version's manifest is no damage:
        // it ends the run, and nothing is removed.
        let manifest = CheckpointManifest::decode(&bytes, &path)?;
        let same = self.identity.check_same_search(&manifest.identity, &path);
        agree(job.exchange, same)?;
        load_sets(job, &self.identity.partition, &mut progress.shards, &manifest, &folder)?;
        check_restored(job, &progress.shards, &manifest, &path)?;
        if job.is_first() {
            self.table = manifest
                .entries
                .iter()
                .map(|(pack, entry)| {
                    // There is such a pack, or `decode` had refused the manifest.
                    let pack = manifest.packs[index_u32(*pack)].clone();
                    ((entry.shard, SetKey::of(entry.set)), (pack, entry.clone()))
                })
                .collect();
        }
        progress.levels = manifest.levels;
        progress.samples = manifest.samples;
        progress.samples.resize(progress.levels.len(), Vec::new());
        progress.resumes = manifest.resumes + 1;
        progress.earlier_seconds = manifest.seconds;
        self.levels_saved = progress.levels.len();
        self.last = Instant::now();
        Ok(())
    }
}

/// Gives up the generation of `restored` levels that a resumed search started from, and newer ones:
/// an invariant broke right after it, so it may hold the fault though its bytes are whole. Their
/// manifests get another name, under which no resume finds them: the next one takes the generation
/// before, or starts anew. Does nothing when the search was not resumed. Collective.
///
/// # Errors
/// The same on every process, when a manifest cannot be renamed.
pub fn set_aside(job: &Job<'_>, progress: &Progress, restored: usize, observer: &mut dyn Observer) -> Result<()> {
    if progress.resumes == 0 {
        return Ok(());
    }
    let folder = job.folder.checkpoint();
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
    let older = agree(job.exchange, if job.disks.leads() { rename() } else { Ok(None) })?;
    let mut levels = [older.map_or(0, |depth| u64::from(depth.0) + 1)];
    job.exchange.maximum(&mut levels);
    let next = if levels[0] == 0 { "starts anew".to_owned() } else { format!("goes on from level {}", levels[0] - 1) };
    let message = format!("the checkpoint of level {} may hold the fault and is set aside; the next resume {next}", restored - 1);
    observer.notice(&Event::Warning(message));
    Ok(())
}

/// What was loaded, summed over all processes, must be what the closed levels say.
fn check_restored(job: &Job<'_>, shards: &[Shard], manifest: &CheckpointManifest, path: &Path) -> Result<()> {
    let mut sums = [0_u64; 4];
    let frontier = job.pool.install(|| {
        shards
            .par_iter()
            .map(|shard| shard.frontier.fingerprint(shard.ranks.start / LANE_STATES))
            .reduce(Fingerprint::default, Fingerprint::plus)
    });
    sums[0] = shards.iter().map(|shard| shard.seen.count()).sum();
    sums[1] = shards.iter().map(|shard| shard.frontier.count()).sum();
    sums[2..].copy_from_slice(&frontier.0);
    job.exchange.sum(&mut sums);
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

/// Removes generations newer than `kept`, files that no manifest names, and levels archived after
/// it. Collective.
fn discard_newer(job: &Job<'_>, kept: Option<Depth>) -> Result<()> {
    let folder = job.folder.checkpoint();
    let discard = || -> Result<()> {
        let Some(kept) = kept else { return Ok(()) };
        for depth in manifests(&folder)?.into_iter().filter(|&depth| depth > kept) {
            let path = manifest_path(&folder, depth);
            // A folder of this name is none of ours: it stays, and is named.
            fs::remove_file(&path).map_err(|source| Error::io("remove", &path, source))?;
        }
        Ok(())
    };
    agree(job.exchange, if job.disks.leads() { discard() } else { Ok(()) })?;
    let removed = remove_unneeded(job);
    agree(job.exchange, removed)?;
    let archive = if job.is_first() { level_archive::remove_after(&job.folder.levels(), kept) } else { Ok(()) };
    agree(job.exchange, archive)
}
