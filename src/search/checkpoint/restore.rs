//! Going on from a checkpoint, or starting where there is none.

use super::SetKey;
use super::generations::{SUSPECT, generations_kept, manifest_path, manifests, remove_unneeded};
use crate::base::ids::index_u32;
use crate::base::mix::{Fingerprint, LANE_STATES};
use crate::base::{Depth, Error, Result, ShardId, atomic_file};
use crate::exchange::{agree, broadcast};
use crate::ranking::StateSpace;
use crate::search::manifest::{LevelRecord, Manifest, PackFile};
use crate::search::observer::{Event, Observer};
use crate::search::{Search, archive, samples};
use crate::store::block::SetName;
use crate::store::{BlockEntry, LevelPart, PackReader, Storage};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

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

/// Puts the start states into their shards: level 0.
fn start(search: &mut Search<'_>) -> Result<()> {
    let found = agree(search.exchange, put_starts(search))?;
    let mut sums = [found.states, found.fingerprint.0[0], found.fingerprint.0[1]];
    search.exchange.sum(&mut sums);
    let found = LevelPart { states: sums[0], fingerprint: Fingerprint([sums[1], sums[2]]) };
    search.levels = vec![LevelRecord::new(Depth::ZERO, found)];
    samples::draw(search);
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
    search.samples = manifest.samples;
    search.samples.resize(search.levels.len(), Vec::new());
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
