//! A test whose need is missing is reported as skipped and counted, and fails with `CI=true`.
//!
//! The tests named `needs_...` are ordinary ones. The others start this very program again for
//! them, where what they need is missing, and let `scripts/common.sh` sum up what came of it.

mod common;

use common::disturb::scratch;
use common::needs::{Excuse, Missing, Need, OTHER_BUILD, SKIPS, may_skip, part_lacks, test_lacks};
use common::succeed;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn needs_a_compiler() {
    if test_lacks(Need::Compiler) {
        return;
    }
    assert!(!succeed(Command::new("cc").arg("--version")).is_empty());
}

#[test]
fn needs_a_compiler_in_part() {
    for _ in 0..2 {
        if !part_lacks(Need::Compiler) {
            succeed(Command::new("cc").arg("--version"));
        }
    }
}

#[test]
fn needs_mounts() {
    if test_lacks(Need::Mounts) {
        return;
    }
    let told = succeed(Command::new("unshare").args(["--mount", "sh", "-c", "mount -t tmpfs none /tmp && ls -A /tmp"]));
    assert_eq!(told, "", "a file system that was just made is empty");
}

#[test]
fn needs_nothing() {
    assert_eq!(env!("CARGO_CRATE_NAME"), "skips");
}

/// What came of some of these tests: code and output of the harness, what was written to standard
/// error, the lines about skipped tests, and how they are summed up.
struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    skips: String,
    summary: String,
    summary_code: Option<i32>,
}

/// Runs these tests again as `command`, which starts this program.
fn outcome_of(mut command: Command, tests: &[&str], ci: Option<&str>) -> Outcome {
    let folder = scratch();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).expect("our own");
    let (log, skips) = (folder.path().join("log"), folder.path().join("skips"));
    command.arg("--exact").args(tests).env(SKIPS, &skips).env_remove("CI").stdin(Stdio::null());
    command.envs(ci.map(|value| ("CI", value)));
    let output = command.output().expect("started");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    fs::write(&log, &output.stdout).expect("written");
    let skips_text = fs::read_to_string(&skips).unwrap_or_default();
    fs::write(&skips, &skips_text).expect("written");
    let code = output.status.code();
    let (summary, summary_code) = sum_up(&log, &skips, code.expect("not killed"), ci);
    Outcome { code, stdout: text(&output.stdout), stderr: text(&output.stderr), skips: skips_text, summary, summary_code }
}

/// The end of `scripts/test`, and its exit code.
fn sum_up(log: &Path, skips: &Path, code: i32, ci: Option<&str>) -> (String, Option<i32>) {
    let script = "set -euo pipefail; . scripts/common.sh; sum_up_tests \"$@\"";
    let mut command = Command::new("bash");
    command.args(["-c", script, "sum_up"]).args([log, skips]).arg(code.to_string()).env_remove("CI").envs(ci.map(|value| ("CI", value)));
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("started");
    (String::from_utf8(output.stdout).expect("text"), output.status.code())
}

/// This program, where there is no compiler: nothing is on its path but what tries are made with.
fn without_compiler(folder: &Path) -> Command {
    let found = succeed(Command::new("sh").args(["-c", "command -v timeout"]));
    symlink(found.trim(), folder.join("timeout")).expect("linked");
    let mut command = this_program();
    command.env("PATH", folder);
    command
}

fn this_program() -> Command {
    Command::new(std::env::current_exe().expect("a program"))
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

const THREE: [&str; 3] = ["needs_a_compiler", "needs_a_compiler_in_part", "needs_nothing"];

#[test]
fn what_is_missing_is_told_and_counted() {
    let folder = scratch();
    let found = outcome_of(without_compiler(folder.path()), &THREE, None);
    assert_eq!(found.code, Some(0), "{}", found.stdout);
    let mut lines: Vec<&str> = found.skips.lines().collect();
    lines.sort_unstable();
    let reason = "a C compiler (cc): cc is not here, or does not work";
    assert_eq!(
        lines,
        [format!("skipped in part: skips::needs_a_compiler_in_part: {reason}"), format!("skipped: skips::needs_a_compiler: {reason}")]
    );
    for line in lines {
        assert_eq!(found.stderr.matches(line).count(), 1, "the harness hides it: {}", found.stderr);
        assert_eq!(found.summary.matches(line).count(), 1, "{}", found.summary);
    }
    // The harness says that three passed.
    assert!(found.stdout.contains("test result: ok. 3 passed; 0 failed"), "{}", found.stdout);
    assert_eq!((last_line(&found.summary), found.summary_code), ("2 passed, 0 failed, 2 skipped", Some(0)), "{}", found.summary);
    fs::remove_file(folder.path().join("timeout")).expect("there");
    // One after the other the tests have no names of their own, and are told all the same.
    let mut command = without_compiler(folder.path());
    command.arg("--test-threads=1");
    let found = outcome_of(command, &THREE, Some("false"));
    assert_eq!((found.skips.lines().count(), last_line(&found.summary)), (2, "2 passed, 0 failed, 2 skipped"), "{}", found.skips);
    assert!(found.skips.lines().all(|line| line.contains(": skips")), "{}", found.skips);
}

#[test]
fn what_is_missing_is_a_failure_with_ci() {
    let folder = scratch();
    let found = outcome_of(without_compiler(folder.path()), &THREE, Some("true"));
    assert_eq!(found.code, Some(101), "{}", found.stdout);
    for test in &THREE[..2] {
        let line = format!("skips::{test} cannot run, and with CI=true nothing is skipped: a C compiler (cc)");
        assert!(found.stdout.contains(&line), "{line}: {}", found.stdout);
    }
    assert_eq!((found.skips.as_str(), found.stderr.as_str()), ("", ""));
    assert_eq!((last_line(&found.summary), found.summary_code), ("1 passed, 2 failed, 0 skipped", Some(101)), "{}", found.summary);
}

#[test]
fn what_is_there_is_tested() {
    if test_lacks(Need::Compiler) {
        return;
    }
    for ci in [None, Some("true")] {
        let found = outcome_of(this_program(), &THREE, ci);
        assert_eq!((found.code, found.skips.as_str()), (Some(0), ""), "{}", found.stdout);
        assert_eq!((found.summary.as_str(), found.summary_code), ("3 passed, 0 failed, 0 skipped\n", Some(0)));
    }
}

/// Who is not root may mount nothing: no set-up can change that. It is counted, and no failure.
#[test]
fn what_no_setup_can_bring_is_skipped_with_ci_too() {
    if test_lacks(Need::Nobody) {
        return;
    }
    let folder = scratch();
    let mut command = this_program();
    if rustix::process::geteuid().is_root() {
        // The build folder may be closed to others.
        fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("our own");
        let copy: PathBuf = folder.path().join("skips");
        fs::copy(std::env::current_exe().expect("a program"), &copy).expect("copied");
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(copy).current_dir("/");
    }
    let found = outcome_of(command, &["needs_mounts", "needs_nothing"], Some("true"));
    let line = "skipped: skips::needs_mounts: only root may mount file systems\n";
    assert_eq!((found.code, found.skips.as_str()), (Some(0), line), "{}{}", found.stdout, found.stderr);
    let summary = format!("Skipped with CI=true, for reasons that no set-up can mend:\n{line}1 passed, 0 failed, 1 skipped\n");
    assert_eq!((found.summary, found.summary_code), (summary, Some(0)));
}

#[test]
fn only_excuses_excuse() {
    let missing = |excuse| Missing { reason: "x".into(), excuse };
    assert!(may_skip(&missing(None), false) && !may_skip(&missing(None), true));
    for excuse in [Excuse::OtherBuild, Excuse::NotRoot, Excuse::Forbidden] {
        assert!(may_skip(&missing(Some(excuse)), false) && may_skip(&missing(Some(excuse)), true), "{excuse:?}");
    }
    // What can be installed is never excused, however it is missing.
    for need in [Need::Launcher, Need::Gap, Need::Compiler, Need::Python, Need::Zstd] {
        assert!(need.missing().is_none_or(|missing| missing.excuse.is_none()), "{need:?}");
    }
}

/// Sums of made-up logs: of several programs, of the build without MPI, of failures of other kinds.
#[test]
fn sums_are_right() {
    let folder = scratch();
    let (log, skips) = (folder.path().join("log"), folder.path().join("skips"));
    let result = |passed: u32, failed: u32, ignored: u32| {
        format!("test result: ok. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out; finished in 0.01s\n")
    };
    let elsewhere = format!("skipped: bad_input::once_under_mpirun: {OTHER_BUILD}\nskipped in part: bad_input::no: {OTHER_BUILD}\n");
    for (log_text, skips_text, code, last, expected) in [
        (result(12, 0, 0) + &result(30, 0, 0), String::new(), 0, "42 passed, 0 failed, 0 skipped", 0),
        (result(12, 0, 2) + &result(30, 0, 1), String::new(), 0, "42 passed, 0 failed, 3 skipped", 0),
        (result(12, 1, 0), "skipped: a::b: c\n".into(), 101, "11 passed, 1 failed, 1 skipped", 101),
        // Once in each build: two tests.
        (result(5, 0, 0) + &result(4, 0, 0), "skipped: a::b: c\nskipped: a::b: c\n".into(), 0, "7 passed, 0 failed, 2 skipped", 0),
        (result(5, 0, 0), "skipped in part: a::b: c\n".into(), 0, "5 passed, 0 failed, 1 skipped", 0),
        // What the other build tests is neither passed nor skipped here.
        (result(5, 0, 0), elsewhere, 0, "4 passed, 0 failed, 0 skipped", 0),
        (result(5, 0, 0), String::new(), 124, "5 passed, 1 failed, 0 skipped", 124),
        (result(5, 1, 0), String::new(), 0, "5 passed, 1 failed, 0 skipped", 1),
        (result(1, 0, 0), "skipped: a::b: c\n".into(), 0, "0 passed, 0 failed, 1 skipped", 1),
        (String::new(), String::new(), 0, "0 passed, 0 failed, 0 skipped", 1),
    ] {
        fs::write(&log, &log_text).expect("written");
        fs::write(&skips, &skips_text).expect("written");
        let (summary, found) = sum_up(&log, &skips, code, None);
        assert_eq!((last_line(&summary), found), (last, Some(expected)), "{log_text}{skips_text}{summary}");
    }
}

/// No test leaves early in another way: each `return` of one follows a need.
#[test]
fn no_test_returns_in_silence() {
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    let (mut needs, mut silent) = (0, Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("listed").map(|entry| entry.expect("listed").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("readable");
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            // Tests are functions without parameters that give nothing back.
            let is_test = |at: usize| lines[..at].iter().rfind(|line| line.contains("fn ")).is_some_and(|line| line.ends_with("() {"));
            for at in (1..lines.len()).filter(|&at| lines[at].contains("return") && lines[at].ends_with(';') && is_test(at)) {
                let is_need = lines[at - 1].contains("_lacks(");
                needs += u32::from(is_need);
                if !is_need {
                    silent.push(format!("{}:{}: {}", path.display(), at + 1, lines[at]));
                }
            }
            silent
                .extend(lines.iter().filter(|line| line.starts_with("eprintln!(\"skip")).map(|line| format!("{}: {line}", path.display())));
        }
    }
    assert!(needs >= 25, "{needs} tests with needs: the reading is blind");
    assert!(silent.is_empty(), "{silent:#?}");
}
