//! `farthest run` and `farthest resume`: from the configuration to the files of a complete run.

use super::arguments::{ResumeArguments, ResumePolicy, RunArguments, SessionArguments};
use super::prepared::{Prepared, check_budget, check_limits, command_line, search, threads_of};
use super::progress_file::Phase;
use super::run_config::RunConfig;
use super::session;
use super::watcher::Watcher;
use crate::base::error::EXIT_STOPPED;
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, Result, atomic_file, last_words};
use crate::evidence::Provenance;
use crate::evidence::dataset::{self, Summary};
use crate::exchange::{Exchange, ROUND_WORDS, agree, broadcast};
use crate::puzzle::Puzzle;
use crate::search::host::{self, Placement};
use crate::search::run_folder::remove_folder;
use crate::search::{Ending, Outcome, RunFolder, RunLock, StopRequest, checkpoint};
use std::path::{Path, PathBuf};

/// What a run is to do, whichever command asked for it.
struct Request<'a> {
    config: PathBuf,
    metric: Option<String>,
    keep_levels: bool,
    out: Option<PathBuf>,
    resume: ResumePolicy,
    force: bool,
    session: &'a SessionArguments,
}

/// `farthest run`.
///
/// # Errors
/// When no transport can be started; all other failures are in the exit code.
pub fn run(arguments: &RunArguments) -> Result<i32> {
    start(&Request {
        config: arguments.target.config.clone(),
        metric: arguments.target.metric.clone(),
        keep_levels: arguments.keep_levels,
        out: arguments.target.out.clone(),
        resume: arguments.resume,
        force: arguments.force,
        session: &arguments.session,
    })
}

/// `farthest resume`.
///
/// # Errors
/// As [`run`].
pub fn resume(arguments: &ResumeArguments) -> Result<i32> {
    start(&Request {
        config: arguments.folder.join("run.toml"),
        metric: None,
        keep_levels: false,
        out: Some(arguments.folder.clone()),
        resume: ResumePolicy::Require,
        force: false,
        session: &arguments.session,
    })
}

fn start(request: &Request<'_>) -> Result<i32> {
    // First of all: a signal that comes before ends the program as if nobody listened.
    let stop = StopRequest::listen(request.session.max_hours)?;
    // A faulty configuration is reported by the job itself, once and by all processes together.
    let exchange_words = load(request).map_or(ROUND_WORDS, |config| to_usize(config.search.exchange_kib * 128));
    session::with_processes(request.session, exchange_words, |exchange| job(request, exchange, &stop))
}

/// The configuration that the request names, with the session's changes.
fn load(request: &Request<'_>) -> Result<RunConfig> {
    // `farthest resume` reads the configuration from the run folder itself.
    let resumed = request.out.as_deref().filter(|folder| request.config == folder.join("run.toml"));
    if let Some(folder) = resumed.filter(|_| !request.config.is_file()) {
        return Err(nothing_to_resume(&RunFolder::new(folder)));
    }
    let mut config = RunConfig::load_in(&request.config, request.metric.as_ref())?;
    config.search.keep_levels |= request.keep_levels;
    if let Some(seconds) = request.session.checkpoint_seconds {
        config.search.checkpoint_seconds = seconds;
    }
    Ok(config)
}

/// What this process works out for itself.
fn prepare(request: &Request<'_>) -> Result<Prepared> {
    let config = load(request)?;
    let root = request.out.clone().unwrap_or_else(|| config.default_folder());
    Prepared::of(config, &root)
}

/// The whole run on one process.
fn job(request: &Request<'_>, exchange: &dyn Exchange, stop: &StopRequest) -> Result<i32> {
    let started = jiff::Timestamp::now();
    let prepared = agree(exchange, prepare(request))?;
    let placement = Placement::of_job(exchange);
    agree(exchange, check_budget(&prepared, &placement, exchange))?;
    let threads = agree(exchange, threads_of(request.session, &placement, exchange))?;
    agree(exchange, check_limits(&prepared, exchange, threads))?;
    let first = exchange.process().0 == 0;
    let opened = if first { open_folder(request, &prepared).map(Some) } else { Ok(None) };
    let opened = agree(exchange, opened)?;
    // The lock lives as long as this function.
    let (_lock, complete) = match opened {
        Some((lock, complete)) => (Some(lock), complete),
        None => (None, None),
    };
    last_words::prepare_cure(format!("farthest resume {}", session::shell_word(prepared.folder.root())));
    if let Some(summary) = shared_summary(exchange, complete.as_ref())? {
        if first {
            print_summary(request.session, &summary, prepared.folder.root(), "already complete: ");
        }
        return Ok(0);
    }
    let mut observer = Watcher::new(request.session, &prepared, exchange, threads);
    observer.greet(&placement, threads);
    let result = search(&prepared, exchange, stop, threads, &mut observer);
    let (code, summary) = match result {
        Ok(Ending::Complete(outcome)) => {
            let provenance = provenance(&prepared, exchange, &placement, threads, started);
            let published = publish(&prepared, exchange, &outcome, &provenance);
            (0, Some(published.inspect_err(|error| observer.finish(Phase::Failed, &error.to_string()))?))
        }
        Ok(Ending::Stopped(reason)) => {
            observer.stopped(reason, "resume", prepared.folder.root());
            (EXIT_STOPPED, None)
        }
        Err(error) => {
            observer.finish(Phase::Failed, &error.to_string());
            return Err(error);
        }
    };
    if let Some(summary) = summary {
        observer.finish(Phase::Complete, &summary_line(&summary, prepared.folder.root()));
        if first {
            print_summary(request.session, &summary, prepared.folder.root(), "");
        }
    }
    Ok(code)
}

/// First process: makes the folder ready and locks it; returns the summary when the run is complete already.
fn open_folder(request: &Request<'_>, prepared: &Prepared) -> Result<(RunLock, Option<Summary>)> {
    let folder = &prepared.folder;
    folder.refuse_foreign()?;
    if request.resume == ResumePolicy::Require && !folder.root().join("run.toml").is_file() {
        return Err(nothing_to_resume(folder));
    }
    folder.create()?;
    let lock = folder.lock(request.session.left_behind())?;
    folder.remove_temporaries()?;
    let has_results = dataset::is_complete(folder.root());
    let has_checkpoint = checkpoint::exists(&folder.checkpoint())?;
    match request.resume {
        ResumePolicy::Never if (has_results || has_checkpoint) && !request.force => {
            return Err(Error::config(format!(
                "{}: holds {} of an earlier run, and --resume never was given; add --force to discard it, or choose another folder with --out",
                folder.root().display(),
                if has_results { "the results" } else { "a checkpoint" }
            )));
        }
        ResumePolicy::Never => folder.discard()?,
        ResumePolicy::Require if !has_results && !has_checkpoint && !checkpoint::was_set_aside(&folder.checkpoint())? => {
            return Err(nothing_to_resume(folder));
        }
        ResumePolicy::Auto | ResumePolicy::Require => {}
    }
    if has_results && request.resume != ResumePolicy::Never {
        let summary = dataset::read(folder.root())?.summary;
        check_same_results(&summary, &prepared.puzzle, folder)?;
        if prepared.config.search.keep_levels && !folder.levels().is_dir() {
            return Err(Error::config(format!(
                "{}: holds the results of a run that archived no levels, and keep_levels is set; run again with --resume never --force, or in \
                 another folder with --out",
                folder.root().display()
            )));
        }
        // A run that was killed right behind its last file has left these.
        remove_folder(&folder.checkpoint())?;
        remove_folder(&folder.work())?;
        return Ok((lock, Some(summary)));
    }
    if request.resume != ResumePolicy::Never {
        checkpoint::refuse_other_search(&folder.checkpoint(), &prepared.puzzle, &prepared.partition, &prepared.config.fixed_settings())?;
    }
    // It may be gone although there was a checkpoint: discarded just now, or removed by hand. Publishing needs it.
    if !has_checkpoint || !folder.file("run.toml").is_file() {
        atomic_file::write(&folder.file("run.toml"), prepared.config.to_toml().as_bytes())?;
    }
    Ok((lock, None))
}

fn nothing_to_resume(folder: &RunFolder) -> Error {
    Error::config(format!("{}: found no checkpoint to resume; start the run with farthest run CONFIG --out {0}", folder.root().display()))
}

/// Refuses a folder with the results of another run.
fn check_same_results(summary: &Summary, puzzle: &Puzzle, folder: &RunFolder) -> Result<()> {
    let differences: Vec<String> = [
        ("puzzle", summary.puzzle.as_str(), puzzle.name()),
        ("metric", summary.metric.as_str(), puzzle.metric()),
        ("puzzle digest", summary.puzzle_digest.as_str(), puzzle.digest().as_str()),
    ]
    .iter()
    .filter(|(_, theirs, ours)| theirs != ours)
    .map(|(key, theirs, ours)| format!("{key} = {theirs} there, {ours} here"))
    .collect();
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::config(format!(
        "{}: holds the results of another run: {}; choose another folder with --out, or discard them with --resume never --force",
        folder.root().display(),
        differences.join("; ")
    )))
}

/// The first process's summary on every process, if it has one.
fn shared_summary(exchange: &dyn Exchange, own: Option<&Summary>) -> Result<Option<Summary>> {
    let text = own.map(|summary| serde_json::to_vec(summary).expect("plain data with text keys")).unwrap_or_default();
    let text = broadcast(exchange, &text);
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&text).map(Some).map_err(|error| Error::invariant("a summary passed between processes", error, "itself"))
}

/// Writes the results, then removes what only a running search needs.
fn publish(prepared: &Prepared, exchange: &dyn Exchange, outcome: &Outcome, provenance: &Provenance) -> Result<Summary> {
    let write = || -> Result<Summary> {
        let summary = dataset::write(prepared.folder.root(), &prepared.puzzle, outcome, prepared.states, provenance)?;
        remove_folder(&prepared.folder.checkpoint())?;
        remove_folder(&prepared.folder.work())?;
        Ok(summary)
    };
    let written = if exchange.process().0 == 0 { write().map(Some) } else { Ok(None) };
    let summary = agree(exchange, written)?;
    shared_summary(exchange, summary.as_ref())?.ok_or_else(|| Error::invariant("summaries of a complete run", 0, 1))
}

/// How this run was made.
fn provenance(prepared: &Prepared, exchange: &dyn Exchange, placement: &Placement, threads: usize, started: jiff::Timestamp) -> Provenance {
    let mut settings = prepared.config.fixed_settings();
    settings.insert("checkpoint_seconds".into(), prepared.config.search.checkpoint_seconds.to_string());
    settings.insert("round_kib".into(), prepared.config.search.round_kib.to_string());
    settings.insert("exchange_kib".into(), prepared.config.search.exchange_kib.to_string());
    Provenance {
        command: command_line(),
        // Of the file, not of this session's settings: a resume may commit at another pace.
        config_digest: blake3::hash(&std::fs::read(prepared.folder.file("run.toml")).unwrap_or_default()).to_hex().to_string(),
        program_version: env!("CARGO_PKG_VERSION").into(),
        build: format!("{}, mpi {}", std::env::consts::ARCH, if cfg!(feature = "mpi") { "yes" } else { "no" }),
        transport: exchange.transport(),
        processes: exchange.processes(),
        threads_per_process: to_u64(threads),
        hosts: placement.hosts.clone(),
        processor: host::processor_model(),
        started: started.to_string(),
        finished: jiff::Timestamp::now().to_string(),
        settings,
        shards: prepared.partition.shards(),
    }
}

fn summary_line(summary: &Summary, root: &Path) -> String {
    format!(
        "{} {}: God's number {}, {} states, {} antipodes, mean depth {:.6}; results in {}",
        summary.puzzle,
        summary.metric,
        summary.gods_number,
        summary.states,
        summary.antipodes,
        summary.mean_depth,
        root.display()
    )
}

fn print_summary(arguments: &SessionArguments, summary: &Summary, root: &Path, prefix: &str) {
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(summary).expect("plain data with text keys"));
    } else if !arguments.quiet {
        println!("{prefix}{}", summary_line(summary, root));
    }
}
