//! What a command that searches works out before it starts, and the search itself: shared by
//! `farthest run`, `resume` and `recheck`.

use super::arguments::SessionArguments;
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, ProcessId, Result};
use crate::exchange::{Exchange, agree, broadcast};
use crate::expand::LaneExpansion;
use crate::families::run_config::{RunConfig, partition_of};
use crate::puzzle::Puzzle;
use crate::ranking::Partition;
use crate::search::budget::Budget;
use crate::search::expansion_choice::ExpansionChoice;
use crate::search::expansions::lanes;
use crate::search::machine::host::{self, Placement};
use crate::search::{Disks, Ending, Observer, RunFolder, Search, Settings, StopRequest};
use crate::store::Storage;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What every process works out for itself, without touching the run folder.
pub struct Prepared {
    /// How to search.
    pub config: RunConfig,
    /// The puzzle in the configured metric, as it is searched ([`RunConfig::settle`]).
    pub puzzle: Puzzle,
    /// States that the group's order promises, where the moves make a group.
    pub states: Option<u64>,
    /// The cut of the space into shards.
    pub partition: Partition,
    /// Where the search keeps its files.
    pub folder: RunFolder,
    /// What it needs.
    pub budget: Budget,
}

impl Prepared {
    /// Builds the configured puzzle, to be searched in the folder `root`.
    ///
    /// # Errors
    /// `Config` when puzzle or cut are impossible.
    pub fn of(mut config: RunConfig, root: &Path) -> Result<Self> {
        let puzzle = config.settle()?;
        Self::with_puzzle(config, puzzle, root)
    }

    /// The same for a puzzle that is built already.
    ///
    /// # Errors
    /// As [`Prepared::of`].
    pub fn with_puzzle(config: RunConfig, puzzle: Puzzle, root: &Path) -> Result<Self> {
        let partition = partition_of(&puzzle, config.search.leading_positions)?;
        let states = states_of(&puzzle)?;
        let budget = budget_of(&config, &puzzle, &partition, states, config.search.storage.unwrap_or(Storage::Memory));
        Ok(Self { config, puzzle, states, partition, folder: RunFolder::new(root), budget })
    }

    /// Settles the storage where nobody chose it: the first of [`Storage::ALL`] that suits every
    /// process. The configuration keeps `auto`: whoever resumes may have more or less memory.
    /// Collective.
    pub fn settle_storage(&mut self, placement: &Placement, exchange: &dyn Exchange) {
        if self.config.search.storage.is_some() {
            return;
        }
        let suitable = suitable_storage(&self.config, &self.budget, placement, exchange.process(), host::available_memory_bytes());
        let mut choice = [to_u64(Storage::ALL.iter().position(|&storage| storage == suitable).unwrap_or_default())];
        exchange.maximum(&mut choice);
        let storage = Storage::ALL[to_usize(choice[0])];
        self.budget = budget_of(&self.config, &self.puzzle, &self.partition, self.states, storage);
    }

    /// Every process reads the configuration by itself: on hosts that share no file system it may
    /// be another one of the same name. Collective.
    ///
    /// # Errors
    /// `Config`, the same on every process, naming one that differs from the first.
    pub fn check_same_everywhere(&self, exchange: &dyn Exchange) -> Result<()> {
        let own = self.config.to_toml();
        let first = broadcast(exchange, own.as_bytes());
        let same = if first == own.as_bytes() {
            Ok(())
        } else {
            let first = String::from_utf8_lossy(&first).into_owned();
            let (here, there) =
                own.lines().zip(first.lines()).find(|(here, there)| here != there).unwrap_or(("other lines", "lines of its own"));
            Err(Error::config(format!(
                "process {} on host {} reads another configuration than process 0: {here} here, {there} there; give all hosts the same file",
                exchange.process(),
                host::host_name()
            )))
        };
        agree(exchange, same)
    }
}

/// States that the puzzle reaches, by its group's order; `None` where the moves make no group.
///
/// # Errors
/// `Config` when they are too many to count in 63 bits.
pub fn states_of(puzzle: &Puzzle) -> Result<Option<u64>> {
    let counted = |states: u128| {
        let few = u64::try_from(states).ok().filter(|&states| states < 1 << 63);
        few.ok_or_else(|| Error::config(format!("{} has {states} states; choose a smaller puzzle", puzzle.name())))
    };
    puzzle.facts().states.map(counted).transpose()
}

/// The storage that suits a process where nobody chose one: memory, or files where processes of one
/// host share them; compact where all sets would not leave a tenth of the memory. Where nothing
/// fits the refusal tells what the smallest needs.
#[must_use]
pub fn suitable_storage(
    config: &RunConfig,
    uncompressed: &Budget,
    placement: &Placement,
    process: ProcessId,
    available_memory: Option<u64>,
) -> Storage {
    let leaves_some = available_memory.map(|bytes| bytes / 10 * 9);
    if uncompressed.memory_is_short(placement, process, leaves_some) {
        return Storage::Compact;
    }
    let is_shared = config.search.share_memory && placement.on_same_host(process) > 1;
    if is_shared { Storage::File } else { Storage::Memory }
}

/// What the configured search of a puzzle of `states` states, or of all ranks, needs in a storage.
#[must_use]
pub fn budget_of(config: &RunConfig, puzzle: &Puzzle, partition: &Partition, states: Option<u64>, storage: Storage) -> Budget {
    let by_lanes = finds_by_lanes(config, puzzle, partition);
    let states = states.unwrap_or(partition.state_count());
    let mut budget = Budget::new(partition, states, round_successors(config), config.search.keep_levels, storage, by_lanes);
    // Lanes of directed puzzles read the frontier as bits, which compact storage has packed.
    if by_lanes && storage == Storage::Compact && !puzzle.is_inverse_closed() {
        budget.set_bytes += partition.state_count() / 8;
    }
    budget
}

/// Whether dense levels are found by lanes: where the puzzle and the configuration allow them.
#[must_use]
pub fn finds_by_lanes(config: &RunConfig, puzzle: &Puzzle, partition: &Partition) -> bool {
    let forbidden = matches!(config.search.expansion, ExpansionChoice::Always(name) if name != lanes::NAME);
    !forbidden && LaneExpansion::suits(puzzle, partition.blocks_per_plane())
}

/// Successors that a process holds between two exchanges.
#[must_use]
pub fn round_successors(config: &RunConfig) -> usize {
    to_usize(config.search.round_kib * 128)
}

/// Threads of this process: as asked for, or its share of the processors.
///
/// # Errors
/// `Usage` when they are absurdly many.
pub fn threads_of(arguments: &SessionArguments, placement: &Placement, exchange: &dyn Exchange) -> Result<usize> {
    let most = (4 * host::all_processors()).max(16);
    match arguments.threads.map(usize::from) {
        Some(wanted) if wanted > most => Err(Error::Usage(format!(
            "--threads {wanted}: this host has {} processors; use at most {most} threads a process, or leave --threads out",
            host::all_processors()
        ))),
        Some(wanted) => Ok(wanted),
        None => Ok(placement.threads(exchange.process())),
    }
}

/// Refuses what does not fit this host.
///
/// # Errors
/// `Config` naming what is short.
pub fn check_budget(prepared: &Prepared, placement: &Placement, exchange: &dyn Exchange) -> Result<()> {
    // What the run has on disk already is part of what it needs.
    let reused = folder_bytes(prepared.folder.root());
    let free = host::free_disk_bytes(prepared.folder.root())?.saturating_add(reused);
    prepared.budget.check(placement, exchange.process(), host::available_memory_bytes(), free, prepared.config.search.shared_filesystem)
}

/// Refuses what does not fit the limits of this process.
///
/// # Errors
/// `Config` naming what is short.
pub fn check_limits(prepared: &Prepared, exchange: &dyn Exchange, threads: usize) -> Result<()> {
    let (processes, here) = (u64::from(exchange.processes()), u64::from(exchange.participants_here()));
    prepared.budget.check_address_space(processes, here, to_u64(threads), host::address_space_left())
}

/// Bytes of all files below `folder`; 0 when there is none.
fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => folder_bytes(&entry.path()),
            // The space that it takes: scratch files are sparse.
            Ok(facts) => facts.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

/// Sets up and runs the search. Collective.
///
/// # Errors
/// As [`crate::search::run`].
pub fn search(
    prepared: &Prepared,
    disks: &Disks,
    exchange: &dyn Exchange,
    stop: &StopRequest,
    threads: usize,
    observer: &mut dyn Observer,
) -> Result<Ending> {
    let settings = Settings {
        threads,
        checkpoint_seconds: prepared.config.search.checkpoint_seconds,
        keep_levels: prepared.config.search.keep_levels,
        share_memory: prepared.config.search.share_memory,
        storage: prepared.budget.storage,
        most_antipodes: prepared.config.search.most_antipodes,
        expansion: prepared.config.search.expansion,
        round_successors: round_successors(&prepared.config),
        puzzle_text: prepared.config.puzzle.to_toml(),
        fixed_settings: prepared.config.fixed_settings(),
    };
    let set_up = Search::new(exchange, &prepared.puzzle, &prepared.folder, stop, prepared.partition, settings);
    let mut search = agree(exchange, set_up)?.on_disks(disks.clone());
    crate::search::run(&mut search, observer)
}

/// The words of the command line; of the program only the name, as its place says nothing to
/// others.
#[must_use]
pub fn command_line() -> Vec<String> {
    let mut words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        let name = Path::new(program.as_str()).file_name().map(|name| name.to_string_lossy().into_owned());
        *program = name.unwrap_or_default();
    }
    words
}
