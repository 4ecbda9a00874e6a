//! Places where a test may make the program fail: a kill or an I/O error at the n-th pass of a
//! named point.
//!
//! `FARTHEST_FAULT=NAME:N:ACTION` acts when the point `NAME` is passed for the `N`-th time (from 1)
//! in this process; `*` as the name counts every point. Actions: `kill` (SIGKILL to itself, as a
//! crash), `enospc` and `eio` (the error a full or broken disk gives), `enolck` (no locks on this
//! file system), `panic`, `signal` (USR1 to itself, then it goes on), `stall` (waits for ten
//! minutes, as for a disk that does not answer), and for the points that guard data `damage` (the
//! caller spoils what it holds). `FARTHEST_FAULT_PROCESS` limits the fault to one MPI process.
//! Without the variable a point costs one load. The crash and guard tests are the only users.

use super::ids::ProcessId;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

struct Fault {
    name: String,
    at: u64,
    action: String,
    process: Option<u32>,
}

static FAULT: OnceLock<Option<Fault>> = OnceLock::new();
static PASSED: AtomicU64 = AtomicU64::new(0);
static THIS_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Tells the points which process of the job this is.
pub fn set_process(process: ProcessId) {
    THIS_PROCESS.store(process.0, Ordering::Relaxed);
}

fn wanted() -> Option<&'static Fault> {
    FAULT
        .get_or_init(|| {
            let text = std::env::var("FARTHEST_FAULT").ok()?;
            let mut parts = text.split(':');
            let (name, at, action) = (parts.next()?, parts.next()?, parts.next()?);
            let process = std::env::var("FARTHEST_FAULT_PROCESS").ok().and_then(|p| p.parse().ok());
            Some(Fault { name: name.to_owned(), at: at.parse().ok()?, action: action.to_owned(), process })
        })
        .as_ref()
}

/// The action due at this pass of the point, if any. Points before operations and points that guard
/// data are counted apart.
fn due(name: &str, guards_data: bool) -> Option<&'static str> {
    let fault = wanted()?;
    if (fault.action == "damage") != guards_data {
        return None;
    }
    let here = THIS_PROCESS.load(Ordering::Relaxed);
    if (fault.name != "*" && fault.name != name) || fault.process.is_some_and(|process| process != here) {
        return None;
    }
    (PASSED.fetch_add(1, Ordering::Relaxed) + 1 == fault.at).then_some(fault.action.as_str())
}

/// Passes a point before an operation on files.
///
/// # Errors
/// The injected I/O error, when a test asked for one here.
pub fn pass(name: &str) -> io::Result<()> {
    match due(name, false) {
        None => Ok(()),
        Some("kill") => {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            loop {
                std::thread::park();
            }
        }
        Some("enospc") => Err(io::Error::from_raw_os_error(28)),
        Some("enolck") => Err(io::Error::from_raw_os_error(37)),
        Some("signal") => {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::USR1);
            Ok(())
        }
        Some("stall") => {
            std::thread::sleep(Duration::from_secs(600));
            Ok(())
        }
        Some("panic") => panic!("injected panic at {name}"),
        Some(_) => Err(io::Error::from_raw_os_error(5)),
    }
}

/// Passes a point that guards data: true when a test asked the caller to damage it.
#[must_use]
pub fn damages(name: &str) -> bool {
    due(name, true).is_some()
}
