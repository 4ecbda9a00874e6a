//! Commits and resumes. The crash cases are argued one by one in the README of this layer.
//!
//! `checkpoint/gen-D/process-P.pack` hold the sets that changed since the generation before, `checkpoint/manifest-D` names every block that makes up
//! generation D (the depth of its last level). The rename of the manifest is the commit. Two generations are kept.

use super::manifest::{LevelRecord, Manifest, PackFile};
use super::observer::{Event, Observer};
use super::{Search, archive};
use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::base::mix::{Fingerprint, LANE_STATES};
use crate::base::partition::Partition;
use crate::base::{Depth, Error, Result, ShardId, atomic_file, codec, fault_point};
use crate::exchange::{agree, broadcast, gather};
use crate::puzzle::Puzzle;
use crate::ranking::StateSpace;
use crate::store::block::{Encoding, SetName};
use crate::store::{BlockEntry, LevelPart, PackReader, PackWriter, RankSet, Shard, Storage};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Extension of a manifest that was set aside.
const SUSPECT: &str = "suspect";

/// Blocks encoded at a time: bounds the memory of a commit to that many shards.
const BLOCKS_AT_ONCE: usize = 128;

/// Envelope of the list of blocks that a process reports.
const REPORT_KIND: codec::Kind = codec::Kind { letters: *b"REPO", version: 1 };

/// The state of the commits of a search.
#[derive(Debug)]
pub struct Commits {
    last: Instant,
    longest_seconds: f64,
    /// Number of levels that the newest checkpoint holds.
    levels_saved: usize,
    /// First process only: where each set of each shard is stored.
    table: BTreeMap<(ShardId, SetKey), (PackFile, BlockEntry)>,
}

/// `SetName` with an order, as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SetKey(bool);

impl SetKey {
    fn of(name: SetName) -> Self {
        Self(name == SetName::Level)
    }
}

impl Commits {
    /// Nothing saved yet.
    #[must_use]
    pub fn new() -> Self {
        Self { last: Instant::now(), longest_seconds: 0.0, levels_saved: 0, table: BTreeMap::new() }
    }

    /// Seconds of the longest commit of this session.
    #[must_use]
    pub fn longest_seconds(&self) -> f64 {
        self.longest_seconds
    }
}

impl Default for Commits {
    fn default() -> Self {
        Self::new()
    }
}

/// Generations kept: the newest and the one before; in compact storage, whose checkpoints fill disks, the newest.
fn generations_kept(search: &Search<'_>) -> usize {
    match search.settings.storage {
        Storage::File => 2,
        Storage::Memory => 1,
    }
}

/// Whether enough time has passed since the last commit, by the clock of the first process.
#[must_use]
pub fn is_due(search: &Search<'_>) -> bool {
    let waited = search.commits.last.elapsed().as_secs() >= search.settings.checkpoint_seconds;
    let mut due = [u64::from(search.is_first() && waited)];
    search.exchange.sum(&mut due);
    due[0] > 0
}

/// Makes the closed levels durable as a new generation. Does nothing when the newest checkpoint already holds them.
///
/// # Errors
/// The same on every process. The generations before are then intact.
pub fn commit(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<()> {
    if search.commits.levels_saved == search.levels.len() {
        return Ok(());
    }
    let since = Instant::now();
    let depth = search.depth();
    let generation = generation_folder(&search.folder.checkpoint(), depth);
    let prepared = if search.is_first() { prepare_generation(&generation) } else { Ok(()) };
    agree(search.exchange, prepared)?;
    let written = write_changed_sets(search, &generation, depth);
    let report = agree(search.exchange, written)?;
    let reports = gather(search.exchange, &report);
    let committed = if search.is_first() { commit_manifest(search, depth, &reports) } else { Ok(0) };
    let bytes = agree(search.exchange, committed)?;
    for shard in &mut search.shards {
        shard.seen.mark_saved();
        shard.frontier.mark_saved();
    }
    // Behind the commit: failing to remove old files loses nothing.
    if search.is_first()
        && let Err(error) = remove_unneeded(&search.folder.checkpoint(), generations_kept(search))
    {
        observer.notice(&Event::Warning(format!("old checkpoint files stay: {error}")));
    }
    search.commits.levels_saved = search.levels.len();
    search.commits.last = Instant::now();
    let seconds = since.elapsed().as_secs_f64();
    search.commits.longest_seconds = search.commits.longest_seconds.max(seconds);
    observer.notice(&Event::Committed { depth, bytes, seconds });
    Ok(())
}

/// Goes on from the newest whole checkpoint, or starts at depth 0 when there is none.
///
/// # Errors
/// `Config` when the checkpoint is another search's, `BadData` when there are checkpoints and none is whole.
pub fn restore_or_start(search: &mut Search<'_>, observer: &mut dyn Observer) -> Result<()> {
    let folder = search.folder.checkpoint();
    let listed = if search.is_first() { manifests(&folder) } else { Ok(Vec::new()) };
    let depths = agree(search.exchange, listed)?;
    let text = depths.iter().map(|depth| depth.0.to_string()).collect::<Vec<_>>().join(" ");
    let text = String::from_utf8_lossy(&broadcast(search.exchange, text.as_bytes())).into_owned();
    let depths: Vec<Depth> = text.split_whitespace().filter_map(|word| word.parse().ok()).map(Depth).collect();
    let renewed = if search.is_first() { search.folder.renew_work() } else { Ok(()) };
    agree(search.exchange, renewed)?;
    let mut last_error = None;
    for &depth in &depths {
        match restore(search, depth) {
            Ok(()) => {
                discard_newer(search, &depths, depth)?;
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
            discard_newer(search, &[], Depth::ZERO)?;
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
    let older = agree(search.exchange, if search.is_first() { rename() } else { Ok(None) })?;
    let next = older.map_or_else(|| "starts anew".to_owned(), |depth| format!("goes on from level {depth}"));
    let message = format!("the checkpoint of level {} may hold the fault and is set aside; the next resume {next}", restored - 1);
    observer.notice(&Event::Warning(message));
    Ok(())
}

/// Whether the folder of a run holds a checkpoint that was set aside.
///
/// # Errors
/// `Io` when it cannot be listed.
pub fn was_set_aside(folder: &Path) -> Result<bool> {
    Ok(names(folder)?.iter().any(|name| name.starts_with("manifest-") && name.ends_with(SUSPECT)))
}

/// Puts the start states into their shards: level 0.
fn start(search: &mut Search<'_>) -> Result<()> {
    let found = agree(search.exchange, put_starts(search))?;
    let mut sums = [found.states, found.fingerprint.0[0], found.fingerprint.0[1]];
    search.exchange.sum(&mut sums);
    let found = LevelPart { states: sums[0], fingerprint: Fingerprint([sums[1], sums[2]]) };
    search.levels = vec![LevelRecord::new(Depth::ZERO, found)];
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
        if let Some(own) = search.own_shard(search.partition.shard_of(rank)) {
            search.shards[own].accept(&[rank.0])?;
        }
    }
    search.shards.iter_mut().try_fold(LevelPart::default(), |sum, shard| {
        let part = shard.measure_next(true)?;
        shard.close_level()?;
        Ok(sum.plus(part))
    })
}

/// The manifests in the checkpoint folder, newest first.
fn manifests(folder: &Path) -> Result<Vec<Depth>> {
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
    let whole = manifests(folder)?.into_iter().find_map(|depth| {
        let path = manifest_path(folder, depth);
        let manifest = Manifest::decode(&fs::read(&path).ok()?, &path).ok()?;
        Some((manifest, path))
    });
    whole.map_or(Ok(()), |(manifest, path)| manifest.check_same_search(puzzle, partition, fixed_settings, &path))
}

fn generation_name(depth: Depth) -> String {
    format!("gen-{:06}", depth.0)
}

fn generation_folder(checkpoint: &Path, depth: Depth) -> PathBuf {
    checkpoint.join(generation_name(depth))
}

fn manifest_path(checkpoint: &Path, depth: Depth) -> PathBuf {
    checkpoint.join(format!("manifest-{:06}", depth.0))
}

/// Makes an empty folder for the generation. A leftover of a commit that never happened is removed.
fn prepare_generation(generation: &Path) -> Result<()> {
    super::run_folder::remove_folder(generation)?;
    fault_point::pass("generation-create")
        .and_then(|()| fs::create_dir_all(generation))
        .map_err(|source| Error::io("create folder", generation, source))
}

/// Writes this process's changed sets to its pack file and syncs it; returns the report for the first process.
fn write_changed_sets(search: &Search<'_>, generation: &Path, depth: Depth) -> Result<Vec<u8>> {
    let changed: Vec<(&Shard, SetName)> = search
        .shards
        .iter()
        .flat_map(|shard| [(shard, SetName::Seen), (shard, SetName::Level)])
        .filter(|(shard, name)| set_of(shard, *name).changed())
        .collect();
    let name = format!("process-{:04}.pack", search.exchange.process().0);
    let mut writer = PackWriter::create(&generation.join(&name))?;
    for part in changed.chunks(BLOCKS_AT_ONCE) {
        let encoded: Vec<(BlockEntry, Vec<u8>)> = search.pool.install(|| {
            part.par_iter()
                .map(|(shard, name)| {
                    let set = set_of(shard, *name);
                    // A block with another count would be refused by every resume, when it is too late.
                    let (found, expected) = (set.recount(), set.count());
                    if found != expected {
                        let what = format!("states held by a set of shard {} and states put into it", shard.id);
                        return Err(Error::invariant(what, found, expected));
                    }
                    Ok(BlockEntry::encode(shard.id, *name, expected, &set.contents()))
                })
                .collect::<Result<_>>()
        })?;
        for (entry, stored) in encoded {
            writer.add(entry, &stored)?;
        }
    }
    let (entries, bytes) = writer.finish()?;
    atomic_file::sync_folder(generation)?;
    let pack = PackFile { path: format!("{}/{name}", generation_name(depth)), bytes };
    codec::encode(REPORT_KIND, &(pack, entries))
}

fn set_of(shard: &Shard, name: SetName) -> &RankSet {
    match name {
        SetName::Seen => &shard.seen,
        SetName::Level => &shard.frontier,
    }
}

/// First process: updates the table of blocks and renames the new manifest into place. Returns the bytes written by all.
fn commit_manifest(search: &mut Search<'_>, depth: Depth, reports: &[Vec<u8>]) -> Result<u64> {
    let folder = search.folder.checkpoint();
    let mut bytes = 0;
    let mut table = search.commits.table.clone();
    for report in reports {
        let (pack, entries): (PackFile, Vec<BlockEntry>) = codec::decode(REPORT_KIND, report, Path::new("a process's report"))?;
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
    let number_of = |pack: &PackFile| packs.binary_search(pack).map_or(0, |at| low_u32(to_u64(at)));
    let blocks: Vec<(u32, BlockEntry)> = table.values().map(|(pack, entry)| (number_of(pack), entry.clone())).collect();
    let manifest = Manifest {
        program_version: env!("CARGO_PKG_VERSION").into(),
        puzzle_name: search.puzzle.name().into(),
        metric: search.puzzle.metric().into(),
        puzzle_text: search.settings.puzzle_text.clone(),
        puzzle_digest: search.puzzle.digest(),
        fixed_settings: search.settings.fixed_settings.clone(),
        partition: search.partition,
        levels: search.levels.clone(),
        packs,
        blocks,
        resumes: search.resumes,
        seconds: search.seconds(),
    };
    atomic_file::sync_folder(&folder)?;
    fault_point::pass("before-commit").map_err(|source| Error::io("commit", &folder, source))?;
    atomic_file::write(&manifest_path(&folder, depth), &manifest.encode()?)?;
    fault_point::pass("after-commit").map_err(|source| Error::io("commit", &folder, source))?;
    search.commits.table = table;
    Ok(bytes)
}

/// Reads generation `depth` into the shards of this process.
fn restore(search: &mut Search<'_>, depth: Depth) -> Result<()> {
    let folder = search.folder.checkpoint();
    let path = manifest_path(&folder, depth);
    let read = || fs::read(&path).map_err(|source| damage(Error::io("read", &path, source)));
    let bytes = agree(search.exchange, if search.is_first() { read() } else { Ok(Vec::new()) })?;
    let bytes = broadcast(search.exchange, &bytes);
    // The same bytes everywhere, so the same result. Another version's manifest is no damage: it ends the run, and nothing is removed.
    let manifest = Manifest::decode(&bytes, &path)?;
    let same = manifest.check_same_search(search.puzzle, &search.partition, &search.settings.fixed_settings, &path);
    agree(search.exchange, same)?;
    let loaded = load_sets(search, &manifest, &folder);
    agree(search.exchange, loaded)?;
    check_restored(search, &manifest, &path)?;
    if search.is_first() {
        search.commits.table = manifest
            .blocks
            .iter()
            .map(|(pack, entry)| {
                let pack = manifest.packs.get(index_u32(*pack)).cloned().unwrap_or(PackFile { path: String::new(), bytes: 0 });
                ((entry.shard, SetKey::of(entry.set)), (pack, entry.clone()))
            })
            .collect();
    }
    search.levels = manifest.levels;
    search.resumes = manifest.resumes + 1;
    search.earlier_seconds = manifest.seconds;
    search.commits.levels_saved = search.levels.len();
    search.commits.last = Instant::now();
    Ok(())
}

/// A file of a checkpoint that is missing or cannot be read is damage, from which an older generation may help; a missing permission is not.
fn damage(error: Error) -> Error {
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

/// Loads the own sets from the pack files: lengths first, then every block with its checksum and count.
fn load_sets(search: &mut Search<'_>, manifest: &Manifest, folder: &Path) -> Result<()> {
    let readers: Vec<PackReader> = manifest
        .packs
        .iter()
        .map(|pack| {
            let path = pack_path(folder, pack)?;
            let found = fs::metadata(&path).map_err(|source| damage(Error::io("read", &path, source)))?.len();
            if found != pack.bytes {
                return Err(Error::bad_data(
                    &path,
                    format!("{found} bytes"),
                    format!("{} bytes", pack.bytes),
                    "the file is damaged or truncated",
                ));
            }
            PackReader::open(&path).map_err(damage)
        })
        .collect::<Result<_>>()?;
    let mut wanted: BTreeMap<ShardId, Vec<(usize, &BlockEntry)>> = BTreeMap::new();
    for (pack, entry) in &manifest.blocks {
        wanted.entry(entry.shard).or_default().push((index_u32(*pack), entry));
    }
    let level = manifest.levels.last().map_or(Depth::ZERO, |level| level.depth);
    let file = if search.settings.storage == Storage::Memory { Some(search.level_file(level)?) } else { None };
    let shards = &mut search.shards;
    search.pool.install(|| {
        shards.par_iter_mut().try_for_each(|shard| {
            shard.abandon_level();
            shard.seen.clear(false);
            shard.frontier.clear(false);
            let length = shard.length();
            for (pack, entry) in wanted.get(&shard.id).into_iter().flatten() {
                let contents = match readers.get(*pack) {
                    Some(reader) if entry.stored_bytes > 0 => reader.block(entry, length).map_err(damage)?,
                    _ => entry.decode(Vec::new(), length, folder)?,
                };
                match entry.set {
                    SetName::Seen => shard.seen.load(&contents, None)?,
                    SetName::Level => shard.frontier.load(&contents, file.as_ref())?,
                }
            }
            shard.seen.mark_saved();
            shard.frontier.mark_saved();
            Ok(())
        })
    })
}

/// A pack's path; the manifest's text is not trusted to stay in the folder.
fn pack_path(folder: &Path, pack: &PackFile) -> Result<PathBuf> {
    let safe = pack.path.split('/').all(|part| !part.is_empty() && part != ".." && !part.starts_with('.'));
    if safe {
        Ok(folder.join(&pack.path))
    } else {
        Err(Error::bad_data(folder, format!("the pack path {:?}", pack.path), "a path inside", "the manifest is damaged"))
    }
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

/// First process: removes generations newer than `kept`, files that no manifest names, and levels archived behind it.
fn discard_newer(search: &Search<'_>, depths: &[Depth], kept: Depth) -> Result<()> {
    let folder = search.folder.checkpoint();
    let discard = || -> Result<()> {
        for depth in depths.iter().filter(|&&depth| depth > kept) {
            let path = manifest_path(&folder, *depth);
            fs::remove_file(&path).map_err(|source| Error::io("remove", &path, source))?;
        }
        remove_unneeded(&folder, generations_kept(search))?;
        archive::remove_behind(&search.folder.levels(), (!depths.is_empty()).then_some(kept))
    };
    agree(search.exchange, if search.is_first() { discard() } else { Ok(()) })
}

/// Removes all manifests but the newest `kept`, then every pack file that none of those names, then empty folders.
fn remove_unneeded(folder: &Path, kept: usize) -> Result<()> {
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
