//! What some tests need beside the program, and what becomes of a test where it is missing: it is
//! skipped, says so, and is counted as skipped; with `CI=true` it fails.
//!
//! A test that needs something begins with
//!
//! ```text
//! if test_lacks(Need::Gap) {
//!     return;
//! }
//! ```
//!
//! and a part of a test that needs it is guarded by `part_lacks`. Both write a line to standard
//! error, past the harness, which hides what a passing test prints, and to the file that
//! FARTHEST_TEST_SKIPS names. The harness knows no skip at run time and calls such a test ok:
//! `scripts/test` takes it out of those that passed. (`#[ignore]` set by a build script would make
//! the harness say it, but a build is older than what was installed since.)
//!
//! Set-up installs what is missing with `CI=true`. What it cannot install is in [`Excuse`], and
//! nowhere else: the only reasons to skip a test there.

use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::panic::Location;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// What a test may need.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// Several MPI processes of the program.
    Mpi,
    /// The launcher `mpirun`, for a build without MPI.
    Launcher,
    /// GAP, without its optional packages.
    Gap,
    /// A C compiler, for libraries that are loaded before the system's.
    Compiler,
    /// Python 3, for the checker that is written in it.
    Python,
    /// The program `zstd`, with which that checker reads archives.
    Zstd,
    /// To mount file systems, in a name space of one's own.
    Mounts,
    /// Networks between name spaces, which stand for hosts.
    Networks,
    /// To run the program as a user who owns nothing, with few rights. Whoever is not root is one.
    Nobody,
    /// To become a user who has no other processes.
    NewUser,
}

/// Reasons to skip a test even with `CI=true`: no set-up can do anything about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excuse {
    /// Tests of MPI processes, in the build without MPI. `scripts/test` runs them in the other one,
    /// and counts them there only.
    OtherBuild,
    /// Only root may mount file systems and become another user.
    NotRoot,
    /// The kernel or the container lets nobody make name spaces, networks or mounts here.
    Forbidden,
}

/// A need that is not met.
#[derive(Debug)]
pub struct Missing {
    /// What is missing, in words.
    pub reason: String,
    /// Why that is no failure with `CI=true`; without an excuse it is one.
    pub excuse: Option<Excuse>,
}

/// The words for the build without MPI, by which `scripts/common.sh` knows them.
pub const OTHER_BUILD: &str = "this build has no MPI";

/// Names the file to which skipped tests are added, a line each.
pub const SKIPS: &str = "FARTHEST_TEST_SKIPS";

/// Whether the test that calls this must be skipped for want of something. Says so, or fails.
#[track_caller]
pub fn test_lacks(need: Need) -> bool {
    lacks("skipped", need)
}

/// The same for a part of a test: what was tested otherwise counts as passed, the part as skipped.
#[track_caller]
pub fn part_lacks(need: Need) -> bool {
    lacks("skipped in part", need)
}

#[track_caller]
fn lacks(what: &str, need: Need) -> bool {
    let Some(missing) = need.missing() else { return false };
    let test = test_name(Location::caller());
    let is_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(may_skip(&missing, is_ci), "{test} cannot run, and with CI=true nothing is skipped: {}", missing.reason);
    report(&format!("{what}: {test}: {}", missing.reason));
    true
}

/// Whether a test may be skipped for this.
pub fn may_skip(missing: &Missing, is_ci: bool) -> bool {
    !is_ci || missing.excuse.is_some()
}

/// `program::module::test`: the harness names the thread of a test after it. On the main thread
/// (`--test-threads=1`) the place in the source has to do.
fn test_name(place: &Location<'_>) -> String {
    let program = env!("CARGO_CRATE_NAME");
    match std::thread::current().name() {
        Some(name) if name != "main" => format!("{program}::{name}"),
        _ => format!("{program} ({}:{})", place.file(), place.line()),
    }
}

/// Tells a line once, on standard error and in the file. Others append to that file at the same
/// time, so the line is written in one piece.
fn report(line: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if !TOLD.lock().expect("no test failed in here").insert(line.to_owned()) {
        return;
    }
    let line = format!("{}\n", line.replace('\n', " "));
    let _ = io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os(SKIPS) {
        let file = File::options().append(true).create(true).open(&path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).unwrap_or_else(|error| panic!("{SKIPS}={}: {error}", path.display()));
    }
}

impl Need {
    /// Tries the thing itself; none when it is there.
    pub fn missing(self) -> Option<Missing> {
        let is_root = geteuid().is_root();
        match self {
            Self::Mpi if !cfg!(feature = "mpi") => excused(OTHER_BUILD, Excuse::OtherBuild),
            Self::Mpi | Self::Launcher => tools(&[&["mpirun", "--version"]], "Open MPI's launcher mpirun"),
            Self::Gap => tools(&[&["gap", "-A", "-q"]], "GAP (Debian: gap-core)"),
            Self::Compiler => tools(&[&["cc", "--version"]], "a C compiler (cc)"),
            Self::Python => {
                tools(&[&["python3", "-c", "import sys; sys.exit(sys.version_info < (3, 8))"]], "Python 3.8 or newer (python3)")
            }
            Self::Zstd => tools(&[&["zstd", "--version"]], "zstd"),
            Self::Mounts if !is_root => excused("only root may mount file systems", Excuse::NotRoot),
            Self::Mounts => tools(&[&["unshare", "--version"], &["mount", "--version"]], "unshare and mount")
                .or_else(|| forbidden("mounts in a name space", &["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/tmp"])),
            Self::Networks => networks(),
            Self::Nobody if !is_root => None,
            Self::Nobody => tools(&[&["setpriv", "--version"]], "setpriv")
                .or_else(|| forbidden("another user", &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "true"])),
            Self::NewUser if !is_root => excused("only root may become a user who has no other processes", Excuse::NotRoot),
            Self::NewUser => tools(&[&["prlimit", "--version"]], "prlimit").or_else(|| Self::Nobody.missing()),
        }
    }
}

/// What makes name spaces as `tests/hosts.rs` needs them.
pub fn own_networks() -> Vec<&'static str> {
    let mut words = vec!["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
    if !geteuid().is_root() {
        words.extend(["--user", "--map-root-user"]);
    }
    words
}

fn networks() -> Option<Missing> {
    let used: [&[&str]; 5] =
        [&["unshare", "--version"], &["nsenter", "--version"], &["mount", "--version"], &["ip", "-V"], &["hostname", "--version"]];
    let probe = "ip link add name probe type bridge && ip link add probe-1 type veth peer name probe-2 \
                 && unshare --net --uts --mount nsenter --version";
    tools(&used, "unshare, nsenter, mount, ip and hostname")
        .or_else(|| forbidden("networks between name spaces", &[own_networks(), vec!["sh", "-c", probe]].concat()))
}

/// Programs, each of which must run and end well.
fn tools(commands: &[&[&str]], names: &str) -> Option<Missing> {
    let missing = commands.iter().find(|words| tried(words).is_err())?;
    Some(Missing { reason: format!("{names}: {} is not here, or does not work", missing[0]), excuse: None })
}

/// Something that the system may refuse, tried by programs that are there.
fn forbidden(what: &str, words: &[&str]) -> Option<Missing> {
    let error = tried(words).err()?;
    excused(&format!("the kernel or the container allows no {what} ({error})"), Excuse::Forbidden)
}

fn excused(reason: &str, excuse: Excuse) -> Option<Missing> {
    Some(Missing { reason: reason.to_owned(), excuse: Some(excuse) })
}

/// Runs a command that ends at once; how it ended and what it complained of when it failed. One
/// that hangs is no reason to skip anything.
fn tried(words: &[&str]) -> Result<(), String> {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "60"]).args(words).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("timeout: {error}"))?;
    assert_ne!(output.status.code(), Some(124), "{words:?} hangs");
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
}
