//! Who watches the search of a job on each process: a reporter on the first one, nobody elsewhere.

use super::progress::{Reporter, log_to, wants_bar};
use super::progress_file::{Phase, Progress};
use crate::base::ids::to_u64;
use crate::base::readable::counted;
use crate::base::regular_file;
use crate::base::say::say;
use crate::cli::arguments::SessionArguments;
use crate::cli::prepared::Prepared;
use crate::cli::session;
use crate::exchange::Exchange;
use crate::search::machine::host::{self, Placement};
use crate::search::{Observer, Silent, StopReason};
use std::path::Path;

/// The first process's reporter, or nobody.
pub enum Watcher {
    /// The first process's.
    First(Box<Reporter>),
    /// Another process's, which says nothing.
    Other(Silent),
}

impl Watcher {
    /// Who watches a search of `prepared` on this process.
    #[must_use]
    pub fn new(arguments: &SessionArguments, prepared: &Prepared, exchange: &dyn Exchange, threads: usize) -> Self {
        if exchange.process().0 != 0 {
            return Self::Other(Silent);
        }
        let log = regular_file::open_to_append(&prepared.folder.file("run.log"));
        let warning = log.as_ref().err().map(ToString::to_string);
        let subscriber = log_to(log.ok(), arguments, wants_bar(arguments));
        // Tests run several jobs in one program; the first one's log stays.
        let _ = tracing::subscriber::set_global_default(subscriber);
        if let Some(warning) = warning {
            tracing::warn!("this session has no log: {warning}");
        }
        let progress = Progress {
            phase: Phase::Running,
            puzzle: prepared.puzzle.name().into(),
            metric: prepared.puzzle.metric().into(),
            depth: 0,
            frontier: 0,
            expanded: 0,
            found: 0,
            expected: prepared.states,
            seconds: 0.0,
            rate: 0.0,
            checkpoint_depth: None,
            processes: exchange.processes(),
            threads: to_u64(threads),
            host: host::host_name(),
            process_id: std::process::id(),
            updated: String::new(),
            message: String::new(),
        };
        Self::First(Box::new(Reporter::new(&prepared.folder, progress, arguments)))
    }

    /// As the search knows it.
    pub fn as_observer(&mut self) -> &mut dyn Observer {
        match self {
            Self::First(reporter) => reporter.as_mut(),
            Self::Other(silent) => silent,
        }
    }

    /// Says who works, and warns when threads and processors do not fit.
    pub fn greet(&self, placement: &Placement, threads: usize) {
        let Self::First(_) = self else { return };
        let usable = placement.processors[0];
        tracing::info!(
            "{} x {}; the first process may use {}",
            counted(to_u64(placement.processes()), "process"),
            counted(to_u64(threads), "thread"),
            counted(usable, "processor")
        );
        if to_u64(threads) > usable {
            tracing::warn!(
                "{threads} threads share {}: bind processes to more (mpirun --bind-to none) or use --threads",
                counted(usable, "processor")
            );
        }
    }

    /// Warns of what is likely a slip in the configuration.
    pub fn remark(&self, remark: &str) {
        if let Self::First(_) = self {
            tracing::warn!("{remark}");
        }
    }

    /// Says that the search stopped, and that `farthest COMMAND ROOT` goes on.
    pub fn stopped(&mut self, reason: StopReason, command: &str, root: &Path) {
        let message = format!("stopped ({reason}); go on with: farthest {command} {}", session::shell_word(root));
        // The bar is gone before the line is printed.
        self.finish(Phase::Stopped, &message);
        if let Self::First(_) = self {
            say(&format!("farthest: {message}"));
        }
    }

    /// Notes the end of the search and what came of it.
    pub fn finish(&mut self, phase: Phase, message: &str) {
        if let Self::First(reporter) = self {
            reporter.finish(phase, message);
        }
    }
}
