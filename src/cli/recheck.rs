//! `farthest recheck`: repeats a complete run in another way, compares every level with what the
//! run published, and records the outcome in its manifest.
//!
//! What varies: the number of processes (the launcher's or `--participants`; without either, others
//! than the run had), the cut into shards, the order of the generators, the expansion, and whether
//! processes share memory. What must be equal: states, edges and fingerprint of every level, and
//! the antipodes. The second search has a folder of its own in the run folder; it is removed at the
//! end, and kept with its checkpoint when the search is stopped, so that the same command goes on.

use super::arguments::{RecheckArguments, SessionArguments, Transport};
use super::monitor::progress_file::Phase;
use super::monitor::watcher::Watcher;
use super::opening;
use super::prepared::{Prepared, check_budget, check_limits, search, threads_of};
use super::session;
use crate::base::error::EXIT_STOPPED;
use crate::base::ids::{to_u64, to_usize};
use crate::base::readable::counted;
use crate::base::removal::remove_folder;
use crate::base::shown::shown_line;
use crate::base::{Error, Result, atomic_file, last_words};
use crate::evidence::dataset::{self, Dataset};
use crate::evidence::{Recheck, later_checks};
use crate::exchange::launcher::Launcher;
use crate::exchange::{Exchange, ROUND_WORDS, agree, broadcast};
use crate::families::run_config::{RunConfig, partition_of};
use crate::families::run_folder;
use crate::puzzle::Puzzle;
use crate::search::expansion_choice::ExpansionChoice;
use crate::search::expansions::{lanes, states};
use crate::search::machine::host::Placement;
use crate::search::{Ending, LeftBehind, Outcome, RunFolder, RunLock, StopRequest, checkpoint};
use std::path::Path;

/// Most leading positions that a configuration can name.
const MOST_LEADING_POSITIONS: u32 = 15;

/// Repeats the run of a folder.
///
/// # Errors
/// When no transport can be started; all other failures are in the exit code.
pub fn recheck(arguments: &RecheckArguments) -> Result<i32> {
    let stop = StopRequest::listen(arguments.session.time_left(), !session::is_silent_copy())?;
    let words =
        RunConfig::load(&arguments.folder.join("run.toml")).map_or(ROUND_WORDS, |config| to_usize(config.search.exchange_kib * 128));
    let session = with_other_processes(&arguments.session, &arguments.folder);
    session::with_processes(&session, words, |exchange| job(arguments, &session, exchange, &stop))
}

/// The session, with another number of processes than the run had where neither the launcher nor
/// the user says how many.
fn with_other_processes(session: &SessionArguments, folder: &Path) -> SessionArguments {
    let mut session = session.clone();
    let chosen = session.participants.is_some() || session.transport == Transport::Mpi;
    if !chosen && (session.transport == Transport::Local || !Launcher::of_environment().present) {
        let before = run_folder::read(folder).map_or(1, |dataset| dataset.manifest.provenance.processes);
        session.participants = Some(if before == 2 { 3 } else { 2 });
    }
    session
}

/// The whole recheck on one process.
fn job(arguments: &RecheckArguments, session: &SessionArguments, exchange: &dyn Exchange, stop: &StopRequest) -> Result<i32> {
    let run = RunFolder::new(&arguments.folder);
    let first = exchange.process().0 == 0;
    // The lock lives as long as this function.
    let _lock = agree(exchange, if first { lock_complete(&run, session.left_behind()).map(Some) } else { Ok(None) })?;
    // Only the first process's host needs to have the results.
    let config = agree(exchange, if first { other_way(arguments, &run).map(|config| config.to_toml()) } else { Ok(String::new()) })?;
    let config = String::from_utf8_lossy(&broadcast(exchange, config.as_bytes())).into_owned();
    let mut prepared = agree(exchange, prepare(&config, &run))?;
    let placement = Placement::of_job(exchange);
    prepared.settle_storage(&placement, exchange);
    agree(exchange, check_budget(&prepared, &placement, exchange))?;
    let threads = agree(exchange, threads_of(session, &placement, exchange))?;
    agree(exchange, check_limits(&prepared, exchange, threads))?;
    last_words::prepare_cure(format!("farthest recheck {}", session::shell_word(run.root())));
    let shared = prepared.config.search.shared_filesystem;
    let (disks, _own_lock) = opening::lock(&prepared.folder, shared, session.left_behind(), exchange, &placement, || Ok(()))?;
    // On another disk the folder around it is a part of the run from now on, and locked as such.
    let around = || run.create_root().and_then(|()| run.lock_part_of(session.left_behind(), placement.hosts.first().map(String::as_str)));
    let _other_lock = agree(exchange, if disks.leads() && !first { around().map(Some) } else { Ok(None) })?;
    agree(exchange, if disks.leads() { make_ready(&prepared) } else { Ok(()) })?;
    let mut observer = Watcher::new(session, &prepared, exchange, threads);
    observer.greet(&placement, threads);
    match search(&prepared, &disks, exchange, stop, threads, observer.as_observer()) {
        Ok(Ending::Complete(outcome)) => {
            let compared = if first { compare(&run, &prepared, &outcome, exchange, threads) } else { Ok(String::new()) };
            let compared = agree(exchange, compared);
            match &compared {
                Ok(line) => observer.finish(Phase::Complete, line),
                Err(error) => observer.finish(Phase::Failed, &error.to_string()),
            }
            // A second search that found something else is not kept either: its last checkpoint
            // would give the same again.
            let removed = if disks.leads() { remove_folder(prepared.folder.root()) } else { Ok(()) };
            agree(exchange, removed)?;
            let compared = compared?;
            stop.results_are_written();
            if first && !session.quiet {
                session::print_found(&shown_line(&compared))?;
            }
            Ok(0)
        }
        Ok(Ending::Stopped(reason)) => {
            observer.stopped(reason, "recheck", run.root());
            Ok(EXIT_STOPPED)
        }
        Err(error) => {
            observer.finish(Phase::Failed, &error.to_string());
            Err(error)
        }
    }
}

/// First process: locks the folder of a complete run whose files belong together.
fn lock_complete(run: &RunFolder, left_behind: LeftBehind) -> Result<RunLock> {
    if !dataset::is_complete(run.root()) {
        let root = run.root();
        let (found, cure) = if !root.is_dir() {
            ("no such folder", "name the folder of a complete run".to_owned())
        } else if run.is_run() {
            ("a run that is not complete", format!("finish it with farthest resume {}", session::shell_word(root)))
        } else {
            ("a folder without a run", "name the folder of a complete run".to_owned())
        };
        return Err(Error::config(format!("{}: found {found}, expected a complete run to recheck; {cure}", root.display())));
    }
    let lock = run.lock(left_behind)?;
    run.remove_temporaries()?;
    run_folder::read(run.root())?;
    Ok(lock)
}

/// The configuration `text` of the second search, made ready on this process.
fn prepare(text: &str, run: &RunFolder) -> Result<Prepared> {
    let mut config = RunConfig::of_run(&run.file("run.toml"), text)?;
    let puzzle = config.settle()?.with_reversed_generators();
    Prepared::with_puzzle(config, puzzle, &run.recheck())
}

/// First process: the configuration of the same search in another way.
fn other_way(arguments: &RecheckArguments, run: &RunFolder) -> Result<RunConfig> {
    let (Dataset { manifest, puzzle, .. }, mut config) = run_folder::read_with_configuration(run.root())?;
    let search = &mut config.search;
    search.leading_positions = other_cut(&puzzle, search.leading_positions)?;
    let pulled = manifest.levels.iter().any(|level| level.expansion != states::NAME);
    let other = ExpansionChoice::Always(if pulled { states::NAME } else { lanes::NAME });
    search.expansion = arguments.expansion.as_deref().and_then(ExpansionChoice::of_name).unwrap_or(other);
    search.share_memory = !search.share_memory;
    search.keep_levels = false;
    if let Some(seconds) = arguments.session.checkpoint_seconds {
        search.checkpoint_seconds = seconds;
    }
    Ok(config)
}

/// Leading positions that cut the space into fewer shards than the run had, or else into more; the
/// same where there is no other cut.
fn other_cut(puzzle: &Puzzle, leading_positions: Option<u32>) -> Result<Option<u32>> {
    let shards = partition_of(puzzle, leading_positions)?.shards();
    let cuts = (0..=MOST_LEADING_POSITIONS).filter_map(|positions| Some((partition_of(puzzle, Some(positions)).ok()?.shards(), positions)));
    let (fewer, more): (Vec<_>, Vec<_>) = cuts.filter(|cut| cut.0 != shards).partition(|cut| cut.0 < shards);
    Ok(fewer.into_iter().max().or(more.into_iter().min()).map_or(leading_positions, |(_, positions)| Some(positions)))
}

/// Makes a folder of the second search ready. What an earlier recheck in yet another way has left
/// there is discarded.
fn make_ready(prepared: &Prepared) -> Result<()> {
    let folder = &prepared.folder;
    let settings = prepared.config.fixed_settings();
    if checkpoint::refuse_other_search(&folder.checkpoint(), &prepared.puzzle, &prepared.partition, &settings).is_err() {
        folder.discard()?;
    }
    atomic_file::write(&folder.file("run.toml"), prepared.config.to_toml().as_bytes())
}

/// First process: compares, records the outcome in the run's manifest, and says what was equal.
fn compare(run: &RunFolder, prepared: &Prepared, outcome: &Outcome, exchange: &dyn Exchange, threads: usize) -> Result<String> {
    let difference = dataset::first_difference(run.root(), &prepared.puzzle, outcome)?;
    let mut expansions: Vec<String> = outcome.levels.iter().map(|level| level.expansion.clone()).collect();
    expansions.sort();
    expansions.dedup();
    let record = Recheck {
        difference: difference.clone(),
        date: jiff::Timestamp::now().to_string(),
        program_version: env!("CARGO_PKG_VERSION").into(),
        transport: exchange.transport(),
        processes: exchange.processes(),
        threads_per_process: to_u64(threads),
        shards: prepared.partition.shards(),
        expansions,
        generators: (0..prepared.puzzle.generators()).map(|generator| prepared.puzzle.generator_name(generator).to_owned()).collect(),
        seconds: outcome.seconds,
    };
    let how = format!(
        "{}, {}, by {}, generators {}",
        counted(record.processes.into(), "process"),
        counted(record.shards.into(), "shard"),
        record.expansions.join(" and "),
        record.generators.join(" ")
    );
    let label = later_checks::record_recheck(run.root(), run_folder::configured, record)?;
    if let Some(difference) = difference {
        return Err(Error::CheckFailed(format!(
            "{}: a second search ({how}) found something else: {difference}; the run is marked as {label}; if its files were not altered test the \
             memory of the machines, then run again with --resume never --force",
            run.root().display()
        )));
    }
    Ok(format!(
        "{} {}: {label}: all {} levels and the antipodes are equal ({how})",
        prepared.puzzle.name(),
        prepared.puzzle.metric(),
        outcome.levels.len()
    ))
}
