//! Making the closed levels durable, as a new generation: the order of writes that
//! `src/search/README.md` argues.

use super::generations::{generation_folder, generation_name, manifest_path, note_host, remove_unneeded};
use super::identity::SearchIdentity;
use super::manifest::{CheckpointManifest, PackFile};
use crate::base::ids::{low_u32, to_u64};
use crate::base::removal::remove_folder;
use crate::base::{Depth, Error, Result, ShardId, atomic_file, codec, fault_point};
use crate::exchange::{agree, gather};
use crate::search::job::Job;
use crate::search::observer::{Event, Observer};
use crate::search::progress::{Commits, Progress};
use crate::store::pack_entry::{Encoding, SetName};
use crate::store::{PackEntry, PackWriter, RankSet, Shard};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A search pauses at least so many times as long as a commit took before the next one: commits take
/// at most a tenth of its time. Only where every level is wanted they come as fast as they can.
const PAUSE: f64 = 9.0;

/// Envelope of the list of entries that a process reports.
const REPORT_KIND: codec::Kind = codec::Kind { letters: *b"REPO", version: 1 };

/// What of a search is durable.
#[derive(Debug)]
pub struct Checkpoint {
    pub(super) identity: SearchIdentity,
    /// When the search was set up, resumed or last committed; `is_due` counts from here.
    pub(super) last: Instant,
    /// Number of levels that the newest checkpoint holds.
    pub(super) levels_saved: usize,
    /// First process only: where each set of each shard is stored.
    pub(super) table: BTreeMap<(ShardId, SetKey), (PackFile, PackEntry)>,
}

/// `SetName` with an order, as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SetKey(bool);

impl SetKey {
    pub(super) fn of(name: SetName) -> Self {
        Self(name == SetName::Level)
    }
}

impl Checkpoint {
    /// Nothing is durable yet.
    #[must_use]
    pub fn new(identity: SearchIdentity) -> Self {
        Self { identity, last: Instant::now(), levels_saved: 0, table: BTreeMap::new() }
    }

    /// Whether enough time has passed since the last commit, by the clock of the first process: the
    /// seconds of the settings, and [`PAUSE`] times what the longest commit of the session took.
    #[must_use]
    pub fn is_due(&self, job: &Job<'_>, commits: &Commits) -> bool {
        let wanted = job.settings.checkpoint_seconds;
        let pause = Duration::from_secs(wanted).max(Duration::from_secs_f64(PAUSE * commits.longest_seconds));
        let waited = wanted == 0 || self.last.elapsed() >= pause;
        let mut due = [u64::from(job.is_first() && waited)];
        job.exchange.sum(&mut due);
        due[0] > 0
    }

    /// Makes the closed levels durable as a new generation. Does nothing when the newest checkpoint
    /// already holds them.
    ///
    /// # Errors
    /// The same on every process. The generations before are then intact.
    pub fn commit(&mut self, job: &Job<'_>, progress: &mut Progress, observer: &mut dyn Observer) -> Result<()> {
        if self.levels_saved == progress.levels.len() {
            return Ok(());
        }
        let since = Instant::now();
        let depth = progress.depth();
        observer.notice(&Event::Committing { depth });
        let generation = generation_folder(&job.folder.checkpoint(), depth);
        // A host that has just joined has no folder for checkpoints yet.
        let may_be_new = self.levels_saved == 0 || !job.disks.are_one();
        let prepared = if job.disks.leads() { prepare_generation(&generation, may_be_new) } else { Ok(()) };
        agree(job.exchange, prepared)?;
        let written = write_changed_sets(job, &progress.shards, &generation, depth);
        let report = agree(job.exchange, written)?;
        let reports = gather(job.exchange, &report);
        let committed = if job.is_first() { self.commit_manifest(job, progress, &reports) } else { Ok(0) };
        let bytes = agree(job.exchange, committed)?;
        for shard in &mut progress.shards {
            shard.seen.mark_saved();
            shard.frontier.mark_saved();
        }
        // Behind the commit: failing to remove old files loses nothing.
        let noted = note_host(job);
        if let Err(error) = remove_unneeded(job).and(noted) {
            observer.notice(&Event::Warning(format!("old checkpoint files stay: {error}")));
        }
        self.levels_saved = progress.levels.len();
        self.last = Instant::now();
        let seconds = since.elapsed().as_secs_f64();
        let commits = &mut progress.commits;
        commits.number += 1;
        commits.bytes += bytes;
        commits.seconds += seconds;
        commits.longest_seconds = commits.longest_seconds.max(seconds);
        observer.notice(&Event::Committed { depth, bytes, seconds });
        Ok(())
    }

    /// First process: updates the table of entries and renames the new manifest into place. Returns
    /// the bytes written by all.
    fn commit_manifest(&mut self, job: &Job<'_>, progress: &Progress, reports: &[Vec<u8>]) -> Result<u64> {
        let folder = job.folder.checkpoint();
        let mut bytes = 0;
        let mut table = self.table.clone();
        for report in reports {
            let (pack, entries): (PackFile, Vec<PackEntry>) = codec::decode(REPORT_KIND, report, Path::new("a process's report"))?;
            bytes += pack.bytes;
            for entry in entries {
                table.insert((entry.shard, SetKey::of(entry.set)), (pack.clone(), entry));
            }
        }
        table.retain(|_, (_, entry)| entry.encoding != Encoding::Empty);
        // Only packs whose bytes are still needed are named; full sets have none.
        let packs: Vec<PackFile> = table
            .values()
            .filter(|(_, entry)| entry.stored_bytes > 0)
            .map(|(pack, _)| pack.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        // Sets without bytes need no pack: theirs is the first, whichever that is, and is never
        // read for them.
        let number_of = |pack: &PackFile| packs.binary_search(pack).map_or(0, |at| low_u32(to_u64(at)));
        let entries: Vec<(u32, PackEntry)> = table.values().map(|(pack, entry)| (number_of(pack), entry.clone())).collect();
        let manifest = CheckpointManifest {
            program_version: env!("CARGO_PKG_VERSION").into(),
            identity: self.identity.clone(),
            levels: progress.levels.clone(),
            packs,
            entries,
            resumes: progress.resumes,
            seconds: progress.seconds(),
            samples: progress.samples.clone(),
        };
        atomic_file::sync_folder(&folder)?;
        fault_point::pass("before-commit").map_err(|source| Error::io("commit", &folder, source))?;
        atomic_file::write(&manifest_path(&folder, progress.depth()), &manifest.encode()?)?;
        fault_point::pass("after-commit").map_err(|source| Error::io("commit", &folder, source))?;
        self.table = table;
        Ok(bytes)
    }
}

/// Makes an empty folder for the generation. A leftover of a commit that never happened is removed.
/// Behind the first commit the checkpoint's folder must be there: where its file system was
/// unmounted a new one in the place would hold half a checkpoint.
fn prepare_generation(generation: &Path, may_be_new: bool) -> Result<()> {
    remove_folder(generation)?;
    fault_point::pass("generation-create")
        .and_then(|()| if may_be_new { fs::create_dir_all(generation) } else { fs::create_dir(generation) })
        .map_err(|source| Error::io("create folder", generation, source))?;
    // The name of the checkpoint's folder must be as durable as what is in it.
    match generation.parent().and_then(Path::parent) {
        Some(run) if may_be_new => atomic_file::sync_folder(run),
        _ => Ok(()),
    }
}

/// Writes this process's changed sets to its pack file and syncs it; returns the report for the
/// first process.
fn write_changed_sets(job: &Job<'_>, shards: &[Shard], generation: &Path, depth: Depth) -> Result<Vec<u8>> {
    let changed: Vec<(&Shard, SetName)> = shards
        .iter()
        .flat_map(|shard| [(shard, SetName::Seen), (shard, SetName::Level)])
        .filter(|(shard, name)| set_of(shard, *name).changed())
        .collect();
    let name = job.disks.pack_name();
    let mut writer = PackWriter::create(&generation.join(&name))?;
    writer.add_all(&job.pool, &changed, |(shard, name)| {
        let set = set_of(shard, *name);
        // An entry with another count would be refused by every resume, when it is too late.
        let (found, expected) = (set.recount(), set.count());
        if found != expected {
            let what = format!("states held by a set of shard {} and states put into it", shard.id);
            return Err(Error::invariant(what, found, expected));
        }
        Ok(PackEntry::encode(shard.id, *name, expected, &set.contents()))
    })?;
    let (entries, bytes) = writer.finish()?;
    atomic_file::sync_folder(generation)?;
    // On its own disk the first process does this right before the commit.
    if job.disks.leads() && !job.is_first() {
        atomic_file::sync_folder(&job.folder.checkpoint())?;
    }
    let pack = PackFile { path: format!("{}/{name}", generation_name(depth)), bytes };
    codec::encode(REPORT_KIND, &(pack, entries))
}

fn set_of(shard: &Shard, name: SetName) -> &RankSet {
    match name {
        SetName::Seen => &shard.seen,
        SetName::Level => &shard.frontier,
    }
}
