//! What a refusal is: an exit code and one line, and how it looks under mpirun.

use crate::common;
use std::path::Path;
use std::process::Command;

/// What no message of a refusal may hold.
const SIGNS_OF_PANIC: [&str; 4] = ["panicked", "internal error", "RUST_BACKTRACE", ".rs:"];

/// Runs to the end and demands a refusal: exit code, one line on standard error, nothing on
/// standard output. Returns the line.
pub fn refused(command: &mut Command, code: i32, parts: &[&str]) -> String {
    let (found, stdout, stderr) = common::outcome(command);
    let lines: Vec<&str> = stderr.lines().collect();
    let [line] = lines[..] else { panic!("one line expected, exit code {found}, of {command:?}\n{stderr}") };
    check_line(command, line, found, code, parts);
    assert_eq!(stdout, "", "{command:?}");
    line.to_owned()
}

/// The same under mpirun, which has lines of its own to say.
pub fn refused_under_mpirun(command: &mut Command, code: i32, parts: &[&str]) {
    let (found, stdout, stderr) = common::outcome(command);
    let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with("farthest: ")).collect();
    let [line] = lines[..] else { panic!("once expected, exit code {found}, of {command:?}\n{stderr}") };
    check_line(command, line, found, code, parts);
    let rest = stderr.replacen(line, "", 1);
    for sign in SIGNS_OF_PANIC {
        assert!(!rest.contains(sign), "{command:?}\n{stderr}");
    }
    assert_eq!(stdout, "", "{command:?}");
}

fn check_line(command: &Command, line: &str, found: i32, code: i32, parts: &[&str]) {
    assert_eq!(found, code, "exit code of {command:?}\n{line}");
    assert!(line.starts_with("farthest: "), "{command:?}\n{line}");
    for sign in SIGNS_OF_PANIC {
        assert!(!line.contains(sign), "{command:?}\n{line}");
    }
    for part in parts {
        assert!(line.contains(part), "{command:?}\nexpected ... {part} ..., found\n{line}");
    }
}

/// A path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
