//! Scratch files of the other processes on this host, mapped for reading: co-located processes
//! share the page cache and send each other no lanes.
//!
//! Who shares is found out by trial, not by name: processes of one running kernel (its boot id)
//! write a token to the scratch folder and look for the tokens of the others. Two containers may
//! have one host name and different disks; two hosts may see one folder over a network, whose page
//! caches are apart. The answer is agreed on, so that a sender and a receiver never differ about a
//! message.
//!
//! Order of reads and writes: `seen` changes only when a level is closed; a process closes it after
//! the sum over all processes that follows the last round, and reads again after the agreement that
//! follows the closing. So nobody reads a shard that its owner writes.
//!
//! A shard without a view would count as unseen. So every process tells those that share with it
//! the form and the count of each of its shards, and a list that is not as long as its sender's
//! shards, or a form that contradicts its count, is an error on all processes.

use crate::base::ids::{index_u32, low_u32};
use crate::base::{Error, ProcessId, Result, ShardId, fault_point, regular_file};
use crate::exchange::agree;
use crate::search::job::Job;
use crate::search::machine::disks::MOST_TOKEN_BYTES;
use crate::search::machine::host::running_kernel;
use crate::search::space::Space;
use crate::store::{Lanes, MappedView, Shard, Storage, scratch_path};
use std::collections::BTreeMap;
use std::path::Path;

/// What a shard of another process holds.
#[derive(Debug)]
enum View {
    Empty,
    Full,
    Bits(MappedView),
}

/// Which processes share scratch files, and the shards of those that share with this one.
#[derive(Debug)]
pub struct SharedViews {
    /// `processes x processes`, symmetric; a process does not share with itself.
    share: Vec<bool>,
    processes: usize,
    views: BTreeMap<ShardId, View>,
}

const EMPTY: u64 = 0;
const FULL: u64 = 1;
const BITS: u64 = 2;

impl SharedViews {
    /// No process shares with another.
    #[must_use]
    pub fn none(processes: u32) -> Self {
        let processes = index_u32(processes);
        Self { share: vec![false; processes * processes], processes, views: BTreeMap::new() }
    }

    /// Whether two processes read each other's scratch files.
    #[must_use]
    pub fn share(&self, first: usize, second: usize) -> bool {
        self.share[first * self.processes + second]
    }

    /// The shards of the processes that share with this one.
    pub fn others(&self) -> impl Iterator<Item = (ShardId, Lanes<'_>)> {
        self.views.iter().map(|(&id, view)| {
            let lanes = match view {
                View::Empty => Lanes::Empty,
                View::Full => Lanes::Full,
                View::Bits(view) => Lanes::Bits(view.padded_bytes()),
            };
            (id, lanes)
        })
    }

    /// Processes that do not share with the first one: how many must be sent what it owns.
    #[must_use]
    pub fn processes_apart(&self) -> u32 {
        low_u32(crate::base::ids::to_u64((1..self.processes).filter(|&other| !self.share(0, other)).count()))
    }

    /// Finds out who shares. Collective.
    fn detect(job: &Job<'_>) -> Result<Self> {
        let processes = index_u32(job.exchange.processes());
        let me = job.exchange.process();
        let work = job.folder.work();
        let token = u64::from(std::process::id()) << 32 | u64::from(me.0) << 16 | 0x5eed;
        // What is in memory only cannot be read by others.
        let wants = job.settings.share_memory && job.settings.storage == Storage::File;
        let written = if wants {
            let path = token_path(&work, me);
            std::fs::write(&path, token.to_le_bytes()).map_err(|source| Error::io("write", &path, source))
        } else {
            Ok(())
        };
        // Behind the agreement all tokens are written.
        agree(job.exchange, written)?;
        let kernel = running_kernel();
        let tokens = job.exchange.all_to_all(vec![vec![token, kernel]; processes]);
        agree(job.exchange, check_lengths("words of a token", &tokens, |_| 2))?;
        let mine: Vec<u64> = (0..job.exchange.processes())
            .map(|other| {
                let (expected, their_kernel) = (tokens[index_u32(other)][0], tokens[index_u32(other)][1]);
                // Who cannot read the file does not share.
                let found = regular_file::read(&token_path(&work, ProcessId(other)), MOST_TOKEN_BYTES).unwrap_or_default();
                let shares = wants && other != me.0 && kernel != 0 && kernel == their_kernel;
                u64::from(shares && found == expected.to_le_bytes())
            })
            .collect();
        let rows = job.exchange.all_to_all(vec![mine; processes]);
        agree(job.exchange, check_lengths("answers about shared memory", &rows, |_| processes))?;
        let sees = |a: usize, b: usize| rows[a][b] == 1;
        let share = (0..processes * processes)
            .map(|pair| sees(pair / processes, pair % processes) && sees(pair % processes, pair / processes))
            .collect();
        Ok(Self { share, processes, views: BTreeMap::new() })
    }
}

fn token_path(work: &Path, process: ProcessId) -> std::path::PathBuf {
    work.join(format!("process-{:04}.token", process.0))
}

/// Brings the views of the other processes' shards, as far as they are `known`, up to date, before
/// a level by lanes. Collective.
///
/// # Errors
/// The same on every process, when a scratch file cannot be read.
pub fn update(job: &Job<'_>, space: &Space<'_>, shards: &[Shard], known: Option<SharedViews>) -> Result<SharedViews> {
    let mut shared = match known {
        Some(shared) => shared,
        None => SharedViews::detect(job)?,
    };
    let me = job.exchange.process().index();
    let forms: Vec<u64> = shards.iter().flat_map(|shard| [form(shard), shard.seen.count()]).collect();
    let outgoing = (0..shared.processes).map(|other| if shared.share(me, other) { forms.clone() } else { Vec::new() }).collect();
    let mut incoming = job.exchange.all_to_all(outgoing);
    damage(&mut incoming);
    let mut take_over = || -> Result<()> {
        let shards_of = |process: usize| -> Vec<ShardId> {
            let owns = |id: &ShardId| shared.share[me * shared.processes + process] && space.owners[id.index()].index() == process;
            (0..space.partition.shards()).map(ShardId).filter(owns).collect()
        };
        check_lengths("words about shards in shared memory", &incoming, |process| 2 * shards_of(process).len())?;
        for (sender, words) in incoming.iter().enumerate() {
            for (id, word) in shards_of(sender).into_iter().zip(words.chunks(2)) {
                let (form, count) = (word[0], word[1]);
                let ranks = space.partition.ranks(id);
                let length = ranks.end - ranks.start;
                let view = match form {
                    EMPTY if count == 0 => View::Empty,
                    FULL if count == length => View::Full,
                    BITS if matches!(shared.views.get(&id), Some(View::Bits(_))) => continue,
                    BITS => {
                        let scratch = scratch_path(space.owners[id.index()], &job.folder.work());
                        View::Bits(MappedView::open(&Shard::seen_region(id, length, scratch))?)
                    }
                    _ => {
                        let what = format!("form of what is seen of shard {id} in the memory of process {sender}");
                        return Err(Error::invariant(what, format!("{form} with {count} states of {length}"), "one that fits its count"));
                    }
                };
                shared.views.insert(id, view);
            }
        }
        Ok(())
    };
    let taken = take_over();
    agree(job.exchange, taken)?;
    Ok(shared)
}

/// Spoils what another process says of its shards where a test asks for it.
fn damage(incoming: &mut [Vec<u64>]) {
    let Some(words) = incoming.iter_mut().rev().find(|words| words.len() >= 2) else { return };
    if fault_point::damages("drop-view") {
        words.truncate(words.len() - 2);
    }
    if fault_point::damages("flip-view") {
        words[0] ^= 1;
    }
    if let Some(filled) = words.chunks_mut(2).find(|word| word[0] == BITS)
        && fault_point::damages("blank-view")
    {
        filled[0] = EMPTY;
    }
}

/// Checks that each process sent as many words as it had to.
fn check_lengths(what: &str, messages: &[Vec<u64>], expected: impl Fn(usize) -> usize) -> Result<()> {
    match messages.iter().enumerate().find(|(sender, words)| words.len() != expected(*sender)) {
        None => Ok(()),
        Some((sender, words)) => Err(Error::invariant(format!("{what} from process {sender}"), words.len(), expected(sender))),
    }
}

fn form(shard: &Shard) -> u64 {
    match shard.seen.lanes() {
        Lanes::Empty => EMPTY,
        Lanes::Full => FULL,
        Lanes::Bits(_) => BITS,
    }
}
