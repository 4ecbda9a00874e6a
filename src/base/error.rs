//! Every way a command can fail, as data: what was found, what was expected, and what to do.
//!
//! Each variant maps to one exit code ([`Error::exit_code`]); the table is printed by
//! `farthest --help` and the README.

use super::shown::shown_line;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Result of every fallible step of the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Exit code of a run that stopped on request and can be resumed (`EX_TEMPFAIL`).
pub const EXIT_STOPPED: i32 = 75;

/// Exit code of a broken invariant (`EX_SOFTWARE`).
pub const EXIT_INVARIANT: i32 = 70;

/// Exit code of a folder that cannot be created, or is another job's (`EX_CANTCREAT`).
pub const EXIT_IN_USE: i32 = 73;

/// Exit code of a failed read or write (`EX_IOERR`).
pub const EXIT_IO: i32 = 74;

/// Exit code of a configuration, launcher or machine that does not suit the run (`EX_CONFIG`).
pub const EXIT_CONFIG: i32 = 78;

/// Exit code of a command whose output nobody reads any more: a shell shows the same for a SIGPIPE.
pub const EXIT_PIPE: i32 = 141;

/// Exit code of a panic.
pub const EXIT_PANIC: i32 = 101;

/// Why a command failed. `Display` is one line that ends with the cure; what could break the line,
/// or change a terminal, is escaped in all of it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A check or verification refuted what it checked. Exit 1.
    CheckFailed(String),
    /// The command line is wrong. Exit 2.
    Usage(String),
    /// A file that was read is damaged or of another kind. Exit 65.
    BadData {
        /// The damaged file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What it should hold.
        expected: String,
        /// What the user can do.
        cure: String,
    },
    /// A whole file that another version of the program wrote. Exit 65.
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: String,
        /// The format that this version reads.
        expected: String,
    },
    /// A run-time invariant is broken: no number of this run can be trusted. Exit 70.
    Invariant {
        /// The invariant, in words.
        what: String,
        /// The value found.
        found: String,
        /// The value that must hold.
        expected: String,
    },
    /// A file or folder cannot be created, or belongs to somebody else's job. Exit 73.
    CannotCreate {
        /// The file or folder.
        path: PathBuf,
        /// Why not, and the cure.
        reason: String,
    },
    /// Reading or writing failed. Exit 74, 77 when permission is missing, 78 when memory is.
    Io {
        /// What was tried: a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The configuration, the launcher or the machine does not suit the wanted run. Exit 78.
    Config(String),
    /// Another process of the job failed; its own error says why. The job ends with that process's
    /// exit code.
    Peer {
        /// The first process that failed.
        process: u32,
        /// Its error message.
        message: String,
        /// Its exit code.
        code: i32,
    },
}

impl Error {
    /// A failed read or write: `action` is a verb such as "write".
    #[must_use]
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }

    /// A configuration, launcher or machine that does not suit the run.
    #[must_use]
    pub fn config(message: impl Into<String>) -> Self {
        Self::Config(message.into())
    }

    /// A damaged file.
    #[must_use]
    pub fn bad_data(path: &Path, found: impl ToString, expected: impl ToString, cure: impl Into<String>) -> Self {
        Self::BadData { path: path.to_path_buf(), found: found.to_string(), expected: expected.to_string(), cure: cure.into() }
    }

    /// A broken invariant.
    #[must_use]
    pub fn invariant(what: impl Into<String>, found: impl ToString, expected: impl ToString) -> Self {
        Self::Invariant { what: what.into(), found: found.to_string(), expected: expected.to_string() }
    }

    /// The exit code that scripts rely on.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::CheckFailed(_) => 1,
            Self::Usage(_) => 2,
            Self::BadData { .. } | Self::OtherVersion { .. } => 65,
            Self::Invariant { .. } => EXIT_INVARIANT,
            Self::CannotCreate { .. } => EXIT_IN_USE,
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => 77,
                // As when the memory is found short before the start.
                io::ErrorKind::OutOfMemory => EXIT_CONFIG,
                _ => EXIT_IO,
            },
            Self::Config(_) => EXIT_CONFIG,
            Self::Peer { code, .. } => *code,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match self {
            Self::CheckFailed(message) | Self::Usage(message) | Self::Config(message) => message.clone(),
            Self::BadData { path, found, expected, cure } => format!("{}: found {found}, expected {expected}; {cure}", path.display()),
            Self::OtherVersion { path, found, expected } => format!(
                "{}: found {found}, expected {expected}; it was written by another version of farthest: use that version, or start again with \
                 --resume never --force",
                path.display()
            ),
            Self::Invariant { what, found, expected } => format!(
                "invariant broken: {what}: found {found}, expected {expected}; nothing was published; resume to repeat the work since the last \
                 checkpoint, and if it fails again test this machine's memory and report a bug"
            ),
            Self::CannotCreate { path, reason } => format!("{}: {reason}", path.display()),
            Self::Io { action, path, source } => format!("cannot {action} {}: {source}{}", path.display(), cure_of(source)),
            Self::Peer { process, message, .. } => format!("process {process} failed: {message}"),
        };
        formatter.write_str(&shown_line(&message))
    }
}

/// The sentence after the system's own message.
fn cure_of(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free space on this file system and resume, the last checkpoint is intact"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder you may write with --out, or change its permissions"
        }
        io::ErrorKind::NotFound => "; check the spelling of the path, and that its file system is mounted",
        io::ErrorKind::OutOfMemory => {
            "; raise the limit of memory (ulimit -v, the batch system's), use storage = \"compact\", or more hosts, and resume: the last checkpoint is intact"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        let path = Path::new("x");
        let io = |kind| Error::io("write", path, io::Error::from(kind)).exit_code();
        assert_eq!(io(io::ErrorKind::StorageFull), 74);
        assert_eq!(io(io::ErrorKind::OutOfMemory), 78);
        assert_eq!(io(io::ErrorKind::PermissionDenied), 77);
        assert_eq!(io(io::ErrorKind::ReadOnlyFilesystem), 77);
        assert_eq!(Error::bad_data(path, 1, 2, "resume").exit_code(), 65);
        assert_eq!(Error::invariant("sum", 1, 2).exit_code(), 70);
        assert_eq!(Error::config("x").exit_code(), 78);
        assert_eq!(Error::Peer { process: 1, message: String::new(), code: 74 }.exit_code(), 74);
    }

    #[test]
    fn messages_name_the_file_what_was_found_and_the_cure() {
        let text = Error::bad_data(Path::new("a/b"), "7 bytes", "9 bytes", "resume from the other copy").to_string();
        assert_eq!(text, "a/b: found 7 bytes, expected 9 bytes; resume from the other copy");
    }

    #[test]
    fn whatever_is_in_it_a_message_is_one_line() {
        let forged = Path::new("a\nok: verified\u{1b}[2K\r");
        let shown = "a\\nok: verified\\u{1b}[2K\\r";
        let create = Error::CannotCreate { path: forged.into(), reason: "host a\nb".into() };
        assert_eq!(create.to_string(), format!("{shown}: host a\\nb"));
        assert!(Error::io("read", forged, io::ErrorKind::NotFound.into()).to_string().starts_with(&format!("cannot read {shown}: ")));
        assert_eq!(Error::bad_data(forged, "\n", "\r", "\u{202e}").to_string(), format!("{shown}: found \\n, expected \\r; \\u{{202e}}"));
        for error in [Error::config("a\nb"), Error::Usage("a\nb".into()), Error::CheckFailed("a\nb".into())] {
            assert_eq!(error.to_string(), "a\\nb");
        }
        assert_eq!(Error::Peer { process: 1, message: "a\nb".into(), code: 1 }.to_string(), "process 1 failed: a\\nb");
    }
}
