//! One session of a job on one process: from the transport to the exit code.
//!
//! Everything that can fail ends in an agreement of all processes, so that they leave together;
//! only the first process prints. MPI is finalized after the last agreement, never on the way out
//! of an error of one process alone.

use super::arguments::{SessionArguments, Transport};
use crate::base::error::EXIT_PIPE;
use crate::base::say::say;
use crate::base::shown::is_plain;
use crate::base::{Error, ProcessId, Result};
use crate::exchange::launcher::Launcher;
use crate::exchange::{Exchange, local};
use signal_hook::consts::SIGPIPE;
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs `job` on every process of the job and returns the exit code, the same on all of them. The
/// job gets the exchange; its error is printed once, by the first process.
///
/// # Errors
/// When no transport can be started.
pub fn with_processes(
    arguments: &SessionArguments,
    exchange_words: usize,
    job: impl Fn(&dyn Exchange) -> Result<i32> + Sync,
) -> Result<i32> {
    let launcher = Launcher::of_environment();
    let participants = arguments.participants.unwrap_or(1);
    if let (Transport::Mpi, Some(participants)) = (arguments.transport, arguments.participants) {
        return Err(Error::Usage(format!(
            "found --participants {participants} with --transport mpi, expected one of the two; the launcher says how many MPI processes there are"
        )));
    }
    let wants_mpi = match arguments.transport {
        Transport::Mpi => true,
        Transport::Local => false,
        Transport::Auto => launcher.present && arguments.participants.is_none(),
    };
    if wants_mpi {
        return with_mpi(&launcher, exchange_words, &job);
    }
    launcher.check(1, "built or started without MPI")?;
    let codes = local::run_participants(participants, |exchange| finish(exchange, job(exchange)))?;
    Ok(codes.into_iter().max().unwrap_or(0))
}

#[cfg(feature = "mpi")]
fn with_mpi(launcher: &Launcher, exchange_words: usize, job: &dyn Fn(&dyn Exchange) -> Result<i32>) -> Result<i32> {
    use crate::base::{fault_point, last_words};
    let exchange = crate::exchange::mpi::MpiExchange::start(exchange_words)?;
    let (process, processes) = (exchange.process(), exchange.processes());
    last_words::name_process(format!("process {process}/{processes} {} {}", crate::search::machine::host::host_name(), std::process::id()));
    fault_point::set_process(process);
    let checked = launcher.check(processes, &exchange.transport());
    let code = finish(&exchange, checked.and_then(|()| job(&exchange)));
    exchange.barrier();
    exchange.finish();
    Ok(code)
}

#[cfg(not(feature = "mpi"))]
fn with_mpi(launcher: &Launcher, _exchange_words: usize, _job: &dyn Fn(&dyn Exchange) -> Result<i32>) -> Result<i32> {
    launcher.check(1, "this build has no MPI")?;
    Err(Error::config("this build has no MPI: build it with the cargo feature \"mpi\", or use --transport local"))
}

/// The exit code of what the job returned. All processes have agreed on it; the first one prints
/// the error.
fn finish(exchange: &dyn Exchange, result: Result<i32>) -> i32 {
    match result {
        Ok(code) => code,
        Err(error) => {
            // Under the wrong launcher every copy is the first process of its own job.
            if exchange.process() == ProcessId::FIRST && !is_silent_copy() {
                print_error(&error);
            }
            error.exit_code()
        }
    }
}

/// Prints what is wrong with the command line, in one line; help and version as they are. Returns
/// the exit code.
pub fn print_usage_error(error: &clap::Error) -> i32 {
    use clap::error::ErrorKind;
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return match error.print() {
            Err(source) if source.kind() == std::io::ErrorKind::BrokenPipe => EXIT_PIPE,
            Err(source) => {
                let failed = Error::io("write to", Path::new("standard output"), source);
                print_error(&failed);
                failed.exit_code()
            }
            Ok(()) => error.exit_code(),
        };
    }
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let line = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ").replace(":; ", ": ");
    // The usage that clap prints names the subcommand, whose own help says more.
    let usage = text.lines().find_map(|line| line.trim().strip_prefix("Usage: ")).unwrap_or("farthest");
    let is_command = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_lowercase());
    let command: Vec<&str> = usage.split_whitespace().take_while(is_command).collect();
    say(&format!("farthest: {}; see {} --help", line.trim_start_matches("error: "), command.join(" ")));
    error.exit_code()
}

/// Prints an error in one line.
pub fn print_error(error: &Error) {
    say(&format!("farthest: {error}"));
}

/// Ends the program quietly, with the code of a SIGPIPE, when somebody who reads its output has
/// gone, as `head` does. Not for commands that search: those go on, what they find is in the
/// folder.
///
/// # Errors
/// When the system refuses to register a handler.
pub fn end_with_the_reader() -> Result<()> {
    signal_hook::flag::register_conditional_shutdown(SIGPIPE, EXIT_PIPE, Arc::new(AtomicBool::new(true)))
        .map(|_| ())
        .map_err(|error| Error::config(format!("cannot listen to SIGPIPE: {error}")))
}

/// Prints what a command that searches found. That nobody reads it is no failure.
///
/// # Errors
/// `Io` for all else that keeps it from being written.
pub fn print_found(text: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::io("write to", Path::new("standard output"), error)),
        _ => Ok(()),
    }
}

/// Prints the whole output of a command that only looks.
///
/// # Errors
/// `Io` when it cannot be written; where the reader has gone the command has ended quietly before
/// ([`end_with_the_reader`]).
pub fn print_whole(text: &str) -> Result<()> {
    let mut output = std::io::stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Error::io("write to", Path::new("standard output"), error))
}

/// Reads at most `most` bytes of standard input; says so on a terminal, where it waits.
///
/// # Errors
/// `Io` when it cannot be read.
pub fn read_input(what: &str, most: u64) -> Result<Vec<u8>> {
    let input = std::io::stdin();
    if input.is_terminal() {
        say(&format!("reading {what} from the terminal; end with Ctrl-D"));
    }
    let mut bytes = Vec::new();
    let read = input.lock().take(most).read_to_end(&mut bytes);
    read.map_err(|source| Error::io("read", Path::new("standard input"), source))?;
    Ok(bytes)
}

/// A path as a word that a shell reads as this path.
#[must_use]
pub fn shell_word(path: &Path) -> String {
    // A name that looks like an option.
    let path = if path.as_os_str().as_bytes().starts_with(b"-") { Path::new(".").join(path) } else { path.to_path_buf() };
    let bytes = path.as_os_str().as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+=:,@%".contains(byte) || *byte >= 0x80;
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.chars().all(is_plain));
    match text {
        Some(text) if !bytes.is_empty() && bytes.iter().all(plain) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', "'\\''")),
        // Not writable as it is: the form $'...', which bash, zsh and ksh know.
        None => format!("$'{}'", bytes.escape_ascii().to_string().replace("\\\"", "\"")),
    }
}

/// Whether a launcher's environment says that this process is not the first one: it then leaves
/// printing to the first.
#[must_use]
pub fn is_silent_copy() -> bool {
    ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"]
        .iter()
        .find_map(|name| std::env::var(name).ok())
        .is_some_and(|number| number.trim() != "0")
}
