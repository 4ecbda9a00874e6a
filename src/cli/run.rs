//! `farthest run` and `farthest resume`: from the configuration to the files of a complete run.

use super::arguments::{ResumeArguments, ResumePolicy, RunArguments, SearchArguments, SessionArguments};
use super::monitor::progress_file::Phase;
use super::monitor::watcher::Watcher;
use super::opening::{self, OpenFolder};
use super::prepared::{Prepared, check_budget, check_limits, command_line, search, threads_of};
use super::session;
use crate::base::config_text::MOST_FILE_BYTES;
use crate::base::error::EXIT_STOPPED;
use crate::base::ids::{to_u64, to_usize};
use crate::base::readable::{counted, readable_bytes, span};
use crate::base::removal::remove_folder;
use crate::base::shown::{shown_json, shown_line};
use crate::base::{Error, ProcessId, Result, last_words, regular_file};
use crate::evidence::Provenance;
use crate::evidence::dataset::{self, Summary};
use crate::exchange::{Exchange, ROUND_WORDS, agree, first_of};
use crate::families::run_config::{CountedDistance, RunConfig};
use crate::families::run_folder;
use crate::search::machine::host::{self, Placement};
use crate::search::{Disks, Ending, Outcome, RunFolder, StopRequest};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What a run is to do, whichever command asked for it.
struct Request<'a> {
    config: PathBuf,
    metric: Option<String>,
    direction: Option<CountedDistance>,
    keep_levels: bool,
    out: Option<PathBuf>,
    resume: ResumePolicy,
    force: bool,
    search: &'a SearchArguments,
    session: &'a SessionArguments,
}

impl Request<'_> {
    /// The run folder whose own configuration is used, as `farthest resume` does.
    fn resumed(&self) -> Option<&Path> {
        self.out.as_deref().filter(|folder| self.config == folder.join("run.toml"))
    }
}

/// `farthest run`.
///
/// # Errors
/// When no transport can be started; all other failures are in the exit code.
pub fn run(arguments: &RunArguments) -> Result<i32> {
    start(&Request {
        config: arguments.target.config.clone(),
        metric: arguments.target.metric.clone(),
        direction: arguments.target.direction(),
        keep_levels: arguments.keep_levels,
        out: arguments.target.out.clone(),
        resume: arguments.resume,
        force: arguments.force,
        search: &arguments.search,
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
        direction: None,
        keep_levels: false,
        out: Some(arguments.folder.clone()),
        resume: ResumePolicy::Require,
        force: false,
        search: &arguments.search,
        session: &arguments.session,
    })
}

fn start(request: &Request<'_>) -> Result<i32> {
    // First of all: a signal that comes before ends the program as if nobody listened.
    let stop = StopRequest::listen(request.session.time_left(), !session::is_silent_copy())?;
    // A faulty configuration is reported by the job itself, once and by all processes together.
    let exchange_words = load(request, None).map_or(ROUND_WORDS, |config| to_usize(config.search.exchange_kib * 128));
    session::with_processes(request.session, exchange_words, |exchange| job(request, exchange, &stop))
}

/// The configuration that the request names, with the session's changes.
fn load(request: &Request<'_>, shared: Option<&str>) -> Result<RunConfig> {
    let mut config = match (request.resumed(), shared) {
        (None, _) => RunConfig::load_in(&request.config, request.metric.as_ref())?,
        (Some(folder), _) if request.config.exists() => run_folder::configuration(folder)?,
        (Some(_), Some(text)) => RunConfig::of_run(&request.config, text)?,
        (Some(folder), None) => return Err(opening::nothing_to_resume(&RunFolder::new(folder))),
    };
    if request.direction.is_some() {
        config.direction = request.direction;
    }
    config.search.keep_levels |= request.keep_levels;
    request.search.put_into(&mut config.search);
    config.search.check_archive().map_err(Error::Config)?;
    if let Some(seconds) = request.session.checkpoint_seconds {
        config.search.checkpoint_seconds = seconds;
    }
    Ok(config)
}

/// The configuration that the run folder holds, for those that go on with the run on a host with a
/// disk of its own and were not there before. Collective.
fn shared_config(request: &Request<'_>, exchange: &dyn Exchange) -> Option<String> {
    request.resumed()?;
    let own = regular_file::read(&request.config, MOST_FILE_BYTES).ok();
    let (_, text) = first_of(exchange, own.as_deref())?;
    String::from_utf8(text).ok()
}

/// What this process works out for itself.
fn prepare(request: &Request<'_>, shared: Option<&str>) -> Result<Prepared> {
    let config = load(request, shared)?;
    let root = request.out.clone().unwrap_or_else(|| config.default_folder());
    Prepared::of(config, &root)
}

/// The whole run on one process.
fn job(request: &Request<'_>, exchange: &dyn Exchange, stop: &StopRequest) -> Result<i32> {
    let (started, since) = (jiff::Timestamp::now(), Instant::now());
    let shared = shared_config(request, exchange);
    let mut prepared = agree(exchange, prepare(request, shared.as_deref()))?;
    prepared.check_same_everywhere(exchange)?;
    let placement = Placement::of_job(exchange);
    prepared.settle_storage(&placement, exchange);
    agree(exchange, check_budget(&prepared, &placement, exchange))?;
    let threads = agree(exchange, threads_of(request.session, &placement, exchange))?;
    agree(exchange, check_limits(&prepared, exchange, threads))?;
    let first = exchange.process().0 == 0;
    // The lock lives as long as this function.
    last_words::prepare_cure(format!("farthest resume {}", session::shell_word(prepared.folder.root())));
    let OpenFolder { disks, lock: _lock, complete } =
        opening::open(request.resume, request.force, request.session.left_behind(), &prepared, exchange, &placement)?;
    if let Some((summary, holder)) = complete {
        stop.results_are_written();
        if first {
            let place = if disks.leader(holder) == ProcessId::FIRST {
                String::new()
            } else {
                format!(" on host {}", placement.hosts[holder.index()])
            };
            print_summary(request.session, &summary, prepared.folder.root(), &format!("already complete{place}: "))?;
        }
        return Ok(0);
    }
    let mut observer = Watcher::new(request.session, &prepared, exchange, threads);
    observer.greet(&placement, threads);
    // The copy in a run folder is the program's own.
    if let Some(remark) = prepared.config.puzzle.remark().filter(|_| request.resumed().is_none()) {
        observer.remark(&remark);
    }
    let result = search(&prepared, &disks, exchange, stop, threads, observer.as_observer());
    let (code, summary) = match result {
        Ok(Ending::Complete(outcome)) => {
            let provenance = provenance(&prepared, exchange, &placement, threads, started);
            let published = publish(&prepared, &disks, exchange, &outcome, &provenance);
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
        stop.results_are_written();
        observer.finish(Phase::Complete, &summary_line(&summary, prepared.folder.root()));
        if first {
            print_summary(request.session, &summary, prepared.folder.root(), "")?;
            if !request.session.json && !request.session.quiet {
                session::print_found(&shown_block(&details(&prepared, &placement, threads, since.elapsed())))?;
            }
        }
    }
    Ok(code)
}

/// Writes the results, then removes what only a running search needs.
fn publish(prepared: &Prepared, disks: &Disks, exchange: &dyn Exchange, outcome: &Outcome, provenance: &Provenance) -> Result<Summary> {
    let write = || -> Result<Summary> {
        let summary =
            dataset::write(prepared.folder.root(), &prepared.puzzle, outcome, prepared.states, provenance, run_folder::configured)?;
        remove_folder(&prepared.folder.checkpoint())?;
        remove_folder(&prepared.folder.work())?;
        Ok(summary)
    };
    let written = if exchange.process().0 == 0 { write().map(Some) } else { Ok(None) };
    let summary = agree(exchange, written)?;
    opening::clear_other_disks(disks, &prepared.folder, exchange)?;
    let shared = opening::first_summary(exchange, summary.as_ref())?;
    shared.map(|(summary, _)| summary).ok_or_else(|| Error::invariant("summaries of a complete run", 0, 1))
}

/// How this run was made.
fn provenance(prepared: &Prepared, exchange: &dyn Exchange, placement: &Placement, threads: usize, started: jiff::Timestamp) -> Provenance {
    let mut settings = prepared.config.fixed_settings();
    settings.insert("checkpoint_seconds".into(), prepared.config.search.checkpoint_seconds.to_string());
    settings.insert("round_kib".into(), prepared.config.search.round_kib.to_string());
    settings.insert("exchange_kib".into(), prepared.config.search.exchange_kib.to_string());
    settings.insert("storage".into(), prepared.budget.storage.to_string());
    Provenance {
        command: command_line(),
        // Of the file, not of this session's settings: a resume may commit at another pace.
        config_digest: blake3::hash(&regular_file::read(&prepared.folder.file("run.toml"), MOST_FILE_BYTES).unwrap_or_default())
            .to_hex()
            .to_string(),
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
    let direction = summary.direction.as_deref().and_then(CountedDistance::of_name);
    format!(
        "{} {}: God's number {}{}, {}, {}, mean depth {:.6}; results in {}",
        summary.puzzle,
        summary.metric,
        summary.gods_number,
        direction.map_or_else(String::new, |direction| format!(" ({})", direction.explained())),
        counted(summary.states, "state"),
        counted(summary.antipodes, "antipode"),
        summary.mean_depth,
        root.display()
    )
}

/// What people want to know next: what it took, and what to do with it.
fn details(prepared: &Prepared, placement: &Placement, threads: usize, took: Duration) -> [(&'static str, String); 4] {
    let root = session::shell_word(prepared.folder.root());
    let memory = host::peak_memory_bytes().map_or_else(String::new, |bytes| format!(", {} of memory", readable_bytes(bytes)));
    let each = if placement.processes() > 1 { " each" } else { "" };
    let certify = if prepared.config.search.keep_levels {
        format!("farthest certify distance {root}   a certificate of all levels, which farthest-verify checks")
    } else {
        format!("farthest spot-solve {root}   shortest words for sampled states, found in another way")
    };
    [
        (
            "took",
            format!(
                "{} in this session: {} with {}{each}{memory} at most{each}, storage {}",
                if took.as_secs() < 60 { format!("{:.1} s", took.as_secs_f64()) } else { span(took.as_secs_f64()) },
                counted(to_u64(placement.processes()), "process"),
                counted(to_u64(threads), "thread"),
                prepared.budget.storage
            ),
        ),
        ("files", "levels.tsv and distribution.tsv (states by depth), antipodes.tsv, samples.tsv, summary.json, manifest.json".into()),
        ("check", format!("farthest recheck {root}   the same search in another way\n{certify}")),
        ("show", format!("farthest table {root}")),
    ]
}

/// The block as lines: names, and texts beside them.
fn shown_block(block: &[(&str, String)]) -> String {
    let mut lines = Vec::new();
    for (name, text) in block {
        let names = std::iter::once(*name).chain(std::iter::repeat(""));
        lines.extend(text.lines().zip(names).map(|(line, name)| shown_line(&format!("  {name:<6} {line}"))));
    }
    lines.join("\n")
}

fn print_summary(arguments: &SessionArguments, summary: &Summary, root: &Path, prefix: &str) -> Result<()> {
    if arguments.json {
        session::print_found(&shown_json(&serde_json::to_string_pretty(summary).expect("plain data with text keys")))
    } else if !arguments.quiet {
        session::print_found(&shown_line(&format!("{prefix}{}", summary_line(summary, root))))
    } else {
        Ok(())
    }
}
