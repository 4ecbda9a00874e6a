//! One line, and an exit code, for the two endings in which nothing can be done any more: memory
//! that the system refuses, and a mapped file whose bytes are gone (SIGBUS). One of the few files
//! with `unsafe`.
//!
//! Neither may allocate, lock or unwind: the line is put together in a buffer of fixed size from
//! words that were prepared before, goes out in one `write`, and the process ends by `_exit`.
//! Nothing committed is touched. The launcher sees an exit code other than 0 and ends the other
//! processes. Without this file Rust would abort (a signal and, for memory, half a sentence), and
//! SIGBUS would say "Bus error".
#![allow(unsafe_code)]

use super::error::{EXIT_CONFIG, EXIT_IO};
use super::{Error, Result};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::{self, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest line that is said.
const LONGEST: usize = 4_096;

/// Who speaks: `process 1/4 host 812`.
static NAME: OnceLock<String> = OnceLock::new();

/// How to go on: the command with the run folder.
static CURE: OnceLock<String> = OnceLock::new();

/// One thread speaks, whatever happens to the others meanwhile.
static SPEAKING: AtomicBool = AtomicBool::new(false);

/// Names this process in last words and in reports of panics, such as `process 1/4 host 812`.
pub fn name_process(name: String) {
    let _ = NAME.set(name);
}

/// The name of this process; the program's own where it has none.
#[must_use]
pub fn process_name() -> &'static str {
    NAME.get().map_or("farthest", String::as_str)
}

/// Prepares the end of all last words: the command that goes on from the last checkpoint, with the
/// run folder.
pub fn prepare_cure(command: String) {
    let _ = CURE.set(command);
}

/// Text in a buffer that is there already. What does not fit is cut.
struct Line {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last byte is for the end of the line.
        let room = LONGEST - 1 - self.length;
        let part = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.length..self.length + part.len()].copy_from_slice(part);
        self.length += part.len();
        Ok(())
    }
}

/// Says a line and ends the process.
fn end(code: i32, what: fmt::Arguments<'_>) -> ! {
    if SPEAKING.swap(true, Ordering::Relaxed) {
        loop {
            let second = rustix::thread::Timespec { tv_sec: 1, tv_nsec: 0 };
            let _ = rustix::thread::nanosleep(&second);
        }
    }
    let mut line = Line { bytes: [0; LONGEST], length: 0 };
    let _ = write!(line, "{}: {what}", process_name());
    if let Some(command) = CURE.get() {
        let _ = write!(line, "; what was committed is intact, go on with: {command}");
    }
    line.bytes[line.length] = b'\n';
    let _ = rustix::io::write(std::io::stderr().as_fd(), &line.bytes[..=line.length]);
    signal_hook::low_level::exit(code)
}

/// The system's allocator; when it has no memory the process ends with one line and exit code 78,
/// where Rust's own answer would be to abort.
pub struct Allocator;

/// Passes on what the system gave, if it gave something.
fn granted(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        end(
            EXIT_CONFIG,
            format_args!(
                "out of memory: the system refused {bytes} bytes; raise the limit (ulimit -v, the batch system's), use fewer threads or processes on this host, \
                 storage = \"compact\", or more hosts"
            ),
        );
    }
    block
}

// SAFETY: every call is handed to the system's allocator as it is, with the caller's own promises;
// what it returns is returned, and never null.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        granted(unsafe { System.realloc(block, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Makes SIGBUS end the process with one line and exit code 74: a file that is mapped was cut short
/// by somebody else, or its disk failed. Call it once, in `main`.
///
/// # Errors
/// When the system refuses to register the handler.
pub fn listen_for_bus_errors() -> Result<()> {
    let speak = || {
        end(
            EXIT_IO,
            format_args!(
                "a mapped scratch file lost its bytes (SIGBUS): a file in the folder work of the run was cut short by another program, or its disk failed; leave the run folder \
                 alone while it is in use, and check the disk"
            ),
        );
    };
    // SAFETY: the action only reads values that were set before and atomics, formats into a buffer
    // on the stack, and calls write, nanosleep and _exit: all of that is allowed in a signal
    // handler.
    unsafe { signal_hook::low_level::register(rustix::process::Signal::BUS.as_raw(), speak) }
        .map(|_| ())
        .map_err(|error| Error::config(format!("cannot listen to SIGBUS: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut() {
        let mut line = Line { bytes: [0; LONGEST], length: 0 };
        for _ in 0..1_000 {
            write!(line, "{} bytes; ", 12_345).expect("never fails");
        }
        assert_eq!(line.length, LONGEST - 1);
        assert!(line.bytes.starts_with(b"12345 bytes; 12345"));
    }
}
