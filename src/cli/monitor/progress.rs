//! Shows a search to people: a bar on a terminal, lines otherwise, a log file and `progress.json`
//! always. An observer; only the first process has one.

use super::progress_file::{Phase, Progress};
use crate::base::ids::approximate;
use crate::base::readable::readable_bytes;
use crate::base::readable::{percent, span};
use crate::cli::arguments::{ProgressMode, SessionArguments};
use crate::search::{Event, Observer, RunFolder};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fs::File;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tracing::level_filters::LevelFilter;
use tracing::{debug, info, warn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry, fmt};

/// Least time between two versions of the progress file.
const FILE_INTERVAL: Duration = Duration::from_millis(500);

/// A subscriber for the `tracing` events of this session: standard error for people, the log file
/// for the record. A log that cannot be opened, or a line that nobody reads, is no reason to stop a
/// search.
#[must_use]
pub fn log_to(log: Option<File>, arguments: &SessionArguments, bar: bool) -> Box<dyn tracing::Subscriber + Send + Sync> {
    let shown = match (arguments.quiet, arguments.verbose) {
        (true, _) => LevelFilter::WARN,
        (_, 0) if arguments.progress == ProgressMode::None => LevelFilter::WARN,
        // The bar shows what the lines would.
        (_, 0) if bar => LevelFilter::WARN,
        (_, 0) => LevelFilter::INFO,
        (_, 1) => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    // The layer's own complaint about a line that it could not write would panic where standard
    // error is closed.
    let people = fmt::layer().with_ansi(false).with_target(false).log_internal_errors(false);
    let people = people.with_writer(std::io::stderr).without_time().with_filter(shown);
    let record = fmt::layer().with_ansi(false).with_target(false).log_internal_errors(false);
    let record = log.map(|file| record.with_writer(Mutex::new(file)).with_filter(LevelFilter::DEBUG));
    Box::new(Registry::default().with(people).with(record))
}

/// Whether a bar is shown.
#[must_use]
pub fn wants_bar(arguments: &SessionArguments) -> bool {
    match arguments.progress {
        ProgressMode::Bar => !arguments.quiet,
        ProgressMode::Auto => !arguments.quiet && std::io::stderr().is_terminal(),
        ProgressMode::Plain | ProgressMode::None => false,
    }
}

/// A bar over all states, in the style shared with `farthest watch`; only their number where it is
/// not known how many they are. indicatif hides it when standard error is no terminal.
#[must_use]
pub fn bar(expected: Option<u64>) -> ProgressBar {
    let template = match expected {
        Some(_) => "{prefix} {wide_bar} {percent:>3} %  {msg}  {elapsed}",
        None => "{prefix} {human_pos} states  {msg}  {elapsed}",
    };
    let style = ProgressStyle::with_template(template).expect("the templates are constant and valid");
    ProgressBar::with_draw_target(expected, ProgressDrawTarget::stderr()).with_style(style)
}

/// What the bar says after the percentage.
#[must_use]
pub fn bar_message(progress: &Progress) -> String {
    format!("level {} {}/s {}", progress.depth, readable_count(progress.rate), remaining(progress))
}

/// Time to the end at the present rate, in words.
#[must_use]
pub fn remaining(progress: &Progress) -> String {
    let left = progress.expected.and_then(|expected| seconds_left(progress.found, expected, progress.rate));
    left.map_or_else(|| "left: -".into(), |seconds| format!("left: {}", span(seconds)))
}

/// Seconds until all `expected` states are found at `rate` a second; `None` when there is no rate
/// to speak of, or nothing left.
#[must_use]
pub fn seconds_left(found: u64, expected: u64, rate: f64) -> Option<f64> {
    let left = expected.saturating_sub(found);
    (rate >= 1.0 && left > 0).then(|| (approximate(left) / rate).min(1e9))
}

/// A count with a decimal prefix.
#[must_use]
pub fn readable_count(count: f64) -> String {
    readable_bytes(crate::base::ids::rounded_down(count)).trim_end_matches('B').trim_end().to_owned()
}

/// The observer of the first process.
#[derive(Debug)]
pub struct Reporter {
    folder: RunFolder,
    progress: Progress,
    bar: Option<ProgressBar>,
    lines: bool,
    started: Instant,
    written: Option<Instant>,
    /// Moment and states found of the last rate measurement.
    measured: (Instant, u64),
    level_started: Instant,
}

impl Reporter {
    /// An observer that starts from `progress` (phase `Running`).
    #[must_use]
    pub fn new(folder: &RunFolder, progress: Progress, arguments: &SessionArguments) -> Self {
        let bar = wants_bar(arguments).then(|| {
            let bar = bar(progress.expected);
            bar.set_prefix(format!("{} {}", progress.puzzle, progress.metric));
            bar
        });
        let now = Instant::now();
        Self {
            folder: folder.clone(),
            lines: arguments.progress != ProgressMode::None,
            progress,
            bar,
            started: now,
            written: None,
            measured: (now, 0),
            level_started: now,
        }
    }

    /// Ends the show: the last version of the progress file, the bar gone.
    pub fn finish(&mut self, phase: Phase, message: &str) {
        self.progress.phase = phase;
        message.clone_into(&mut self.progress.message);
        self.write_file(true);
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn write_file(&mut self, now: bool) {
        if now || self.written.is_none_or(|at| at.elapsed() >= FILE_INTERVAL) {
            self.progress.seconds = self.started.elapsed().as_secs_f64();
            self.progress.updated = jiff::Timestamp::now().to_string();
            // Losing the file loses nothing.
            let _ = self.progress.write(self.folder.root());
            self.written = Some(Instant::now());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.progress.found);
            bar.set_message(bar_message(&self.progress));
        }
    }

    /// Prints something above the bar, if there is one.
    fn above_bar(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn measure(&mut self, found: u64) {
        let (since, before) = self.measured;
        let seconds = since.elapsed().as_secs_f64();
        if seconds >= 0.5 {
            self.progress.rate = approximate(found.saturating_sub(before)) / seconds;
            self.measured = (Instant::now(), found);
        }
        self.progress.found = found;
    }
}

impl Observer for Reporter {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::Started => {
                info!("search of {} in metric {} starts", self.progress.puzzle, self.progress.metric);
            }
            Event::Resumed { depth, states } => {
                self.measured = (Instant::now(), *states);
                self.progress.checkpoint_depth = Some(depth.0);
                info!("goes on from the checkpoint of level {depth}: {states} states are known");
            }
            Event::LevelStarts { depth, expansion, estimate } => {
                debug!("level {depth} is expanded by {expansion} (estimates for one thread: {estimate})");
            }
            Event::Round { depth, frontier, expanded, closed, found } => {
                self.progress.depth = depth.0;
                self.progress.frontier = *frontier;
                self.progress.expanded = *expanded;
                self.measure(closed + found);
                self.write_file(false);
            }
            Event::LevelExpanded(level) => debug!(
                "level {}: all processes sent {} and received {}, the first one waited {:.3} s",
                level.depth,
                readable_bytes(level.bytes_exchanged),
                readable_bytes(level.bytes_received),
                level.waited_seconds
            ),
            Event::LevelClosed { level, states } => {
                let seconds = self.level_started.elapsed().as_secs_f64();
                self.level_started = Instant::now();
                let percent = self.progress.expected.map(|expected| percent(*states, expected));
                let percent = percent.map_or_else(String::new, |percent| format!(" ({percent:.2} %)"));
                let line = format!("level {:>3}: {:>15} states, {states:>15} in all{percent}, {seconds:.2} s", level.depth, level.states);
                if self.lines {
                    info!("{line}");
                } else {
                    debug!("{line}");
                }
            }
            Event::Committing { depth } => {
                self.progress.phase = Phase::Committing;
                self.progress.depth = depth.0;
                self.write_file(true);
            }
            Event::Committed { depth, bytes, seconds } => {
                self.progress.phase = Phase::Running;
                self.progress.checkpoint_depth = Some(depth.0);
                debug!("checkpoint of level {depth}: {} in {seconds:.2} s", readable_bytes(*bytes));
                self.write_file(true);
            }
            Event::Warning(text) => self.above_bar(|| warn!("{text}")),
            Event::Stopping(reason) => self.above_bar(|| info!("stopping: {reason}")),
        }
    }
}
