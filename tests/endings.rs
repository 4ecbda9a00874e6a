//! How commands end that are told to, or whose readers have gone.
//!
//! A signal ends every command at once, wherever it is: those that search stop with a checkpoint,
//! or, where none is at work yet or any more, within a second. A closed pipe ends a command quietly
//! with the code that a shell gives for SIGPIPE; a search goes on without its readers.

mod common;

use common::disturb::{Job, Member, copy_folder, fault, names, only_line, scratch};
use common::{farthest, result_bytes, succeed};
use rustix::fs::OFlags;
use rustix::process::Signal;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longest time between a signal and the end. The promise is a second; machines under load get
/// more.
const SOON: Duration = Duration::from_secs(10);

/// A complete run with archived levels.
fn complete() -> &'static Path {
    static RUN: OnceLock<PathBuf> = OnceLock::new();
    RUN.get_or_init(|| {
        let run = Path::new(env!("CARGO_TARGET_TMPDIR")).join("endings-run");
        let _ = fs::remove_dir_all(&run);
        succeed(farthest().args(["run", "turnstyle-6", "--keep-levels", "--quiet", "--threads", "1", "--out"]).arg(&run));
        run
    })
}

/// A copy of it that no other test uses.
fn own_copy(folder: &Path) -> String {
    let copy = folder.join("complete");
    copy_folder(complete(), &copy);
    copy.to_str().expect("UTF-8").to_owned()
}

/// Every command that prints, with what it takes; `run` is a complete run.
fn printing(run: &str) -> Vec<Vec<String>> {
    let words = [
        &["table", run][..],
        &["table", run, "--format", "json"],
        &["table", run, "--depths", "--format", "csv"],
        &["status", run],
        &["status", run, "--json"],
        &["watch", run],
        &["plan", "turnstyle-6"],
        &["plan", "turnstyle-6", "--json"],
        &["plan", "turnstyle-6", "--print-dir"],
        &["solve", "turnstyle-6", "--state", "2 1 3 4 5 6"],
        &["solve", "turnstyle-6", "--state", "2 1 3 4 5 6", "--json"],
        &["solve", "rotation-board", "--size", "3x3n2", "--random", "1"],
        &["solve-board", "--size", "3x3n2", "--random", "1", "--json"],
        &["spot-solve", run],
        &["puzzles"],
        &["completions", "bash"],
        &["help"],
        &["--help"],
        &["--version"],
        &["run", "--help"],
        &["run", "turnstyle-6", "--out", run],
        &["run", "turnstyle-6", "--out", run, "--json"],
        &["resume", run],
    ];
    words.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect()
}

fn command(words: &[String]) -> Command {
    let mut command = farthest();
    command.args(words);
    command
}

/// A pipe that nobody reads any more.
fn closed_pipe() -> OwnedFd {
    std::io::pipe().expect("a pipe").1.into()
}

/// A pipe that is full: its reader, and the end to write to, where the next write waits.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
    rustix::fs::fcntl_setfl(&writer, OFlags::NONBLOCK).expect("set");
    let mut filling = File::from(writer.try_clone().expect("cloned"));
    while filling.write(&[b'x'; 4096]).is_ok() {}
    while filling.write(b"x").is_ok() {}
    rustix::fs::fcntl_setfl(&writer, OFlags::empty()).expect("set");
    (reader, writer)
}

#[test]
fn a_closed_pipe_ends_a_command_quietly() {
    let folder = scratch();
    for words in printing(&own_copy(folder.path())) {
        let searches = ["run", "resume"].contains(&words[0].as_str()) && !words.contains(&"--help".to_owned());
        let child = command(&words).stdout(closed_pipe()).stderr(Stdio::piped()).spawn().expect("started");
        let output = child.wait_with_output().expect("ended");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = if searches { 0 } else { 141 };
        assert_eq!((output.status.code(), told.as_str()), (Some(expected), ""), "{words:?}");
        // Nobody hears errors, either.
        let code = command(&words).stdout(closed_pipe()).stderr(closed_pipe()).status().expect("ended").code();
        assert_eq!(code, Some(expected), "{words:?}");
    }
    // What goes wrong keeps its code where the message is lost.
    let none = scratch().path().join("none");
    let code = farthest().arg("resume").arg(&none).stdout(closed_pipe()).stderr(closed_pipe()).status().expect("ended").code();
    assert_eq!(code, Some(78));
}

#[test]
fn a_search_goes_on_without_its_readers() {
    let folder = scratch();
    let path = folder.path().join("run");
    for words in [&["run", "turnstyle-7", "-v"][..], &["run", "turnstyle-7", "--json", "-v", "--participants", "2", "--progress", "bar"]] {
        let _ = fs::remove_dir_all(&path);
        let mut command = farthest();
        command.args(words).arg("--out").arg(&path).args(["--threads", "1"]);
        let status = command.stdout(closed_pipe()).stderr(closed_pipe()).status().expect("ended");
        assert_eq!(status.code(), Some(0), "{words:?}");
        let log = fs::read_to_string(path.join("run.log")).expect("a log");
        assert!(log.contains("level 15") && path.join("summary.json").is_file(), "{log}");
    }
    let status = farthest().arg("recheck").arg(&path).stdout(closed_pipe()).stderr(closed_pipe()).status().expect("ended");
    assert_eq!(status.code(), Some(0));
    assert!(fs::read_to_string(path.join("manifest.json")).expect("text").contains("\"rechecks\""));
}

/// A full disk behind standard output is no fault of the program, and not passed over.
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = scratch();
    for words in printing(&own_copy(folder.path())) {
        let full = File::options().write(true).open("/dev/full").expect("the device");
        let child = command(&words).stdout(full).stderr(Stdio::piped()).spawn().expect("started");
        let output = child.wait_with_output().expect("ended");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(74), "{words:?}: {told}");
        let line = only_line(&told);
        assert!(line.starts_with("farthest: cannot write to standard output: No space left"), "{line}");
    }
}

/// A verdict that nobody can read is none.
#[test]
fn the_checker_does_not_end_well_unread() {
    let check = |path: &Path| {
        let mut checker = common::checker("1G");
        checker.arg(path);
        checker
    };
    for path in [complete(), Path::new("results/claims")] {
        let full = File::options().write(true).open("/dev/full").expect("the device");
        let output = check(path).stdout(full).output().expect("ended");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(74) && only_line(&told).contains("No space left"), "{told}");
        let output = check(path).stdout(closed_pipe()).output().expect("ended");
        assert_eq!((output.status.code(), output.stderr.len()), (Some(141), 0));
    }
}

/// Waits until the program sleeps in the kernel for good: its processor time stands still.
fn wait_until_blocked(program: &Member) {
    let time = || {
        let text = fs::read_to_string(format!("/proc/{}/stat", program.pid)).unwrap_or_default();
        text.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().skip(11).take(2).map(str::to_owned).collect::<Vec<_>>())
    };
    let (mut before, since) = (time(), Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(400));
        let now = time();
        if now == before {
            return;
        }
        before = now;
        assert!(since.elapsed() < Duration::from_secs(60), "{program:?} does not come to rest");
    }
}

/// How long the command takes to end after the signal. `timeout` passes its end on as its own code:
/// 128 and the signal's number when it was killed by it.
fn ends_soon(mut child: Child, signal: Signal, words: &[String]) -> i32 {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status.code().unwrap_or(-1);
        }
        if since.elapsed() > SOON {
            let _ = child.kill();
            panic!("{words:?} has not ended {SOON:?} after {signal:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

const SIGNALS: [Signal; 6] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::USR1, Signal::USR2, Signal::XCPU];

/// In the midst of whatever it does, here of a line that cannot be written since nobody empties the
/// pipe.
#[test]
fn every_signal_ends_every_command() {
    let folder = scratch();
    let words = printing(&own_copy(folder.path()))
        .into_iter()
        .filter(|words| !words[0].starts_with('-') && words[0] != "help" && !words.contains(&"--help".to_owned()));
    for (number, words) in words.enumerate() {
        // Each command gets some of the signals, and each signal meets many commands.
        for signal in [SIGNALS[number % 6], SIGNALS[(number + 1 + number / 6) % 6]] {
            let (_reader, writer) = full_pipe();
            // Tests that run in the background of a shell inherit that Ctrl-C is ignored.
            let child = Command::new("env")
                .args(["--default-signal=INT,HUP", env!("CARGO_BIN_EXE_farthest")])
                .args(&words)
                .stdin(Stdio::null())
                .stdout(writer)
                .stderr(Stdio::null())
                .spawn()
                .expect("started");
            let program = Member::of(child.id());
            wait_until_blocked(&program);
            program.signal(signal);
            let code = ends_soon(child, signal, &words);
            assert!(code == -1 || code == 75, "{words:?} after {signal:?}: {code}");
        }
    }
}

/// A disk that does not answer while the folder is opened, the lock taken, the first file written:
/// nothing is searched yet.
#[test]
fn a_signal_ends_a_search_that_is_not_at_work() {
    let folder = scratch();
    let points = ["folder-lock", "file-create", "file-sync", "folder-sync"];
    for (number, signal) in SIGNALS.into_iter().enumerate() {
        for (round, point) in points.into_iter().enumerate() {
            if (number + round) % 2 == 1 && point != "folder-lock" {
                continue;
            }
            let path = folder.path().join(format!("{point}-{number}"));
            let mut stalled = farthest();
            stalled.args(["run", "turnstyle-6", "--quiet", "--threads", "1", "--out"]).arg(&path);
            let job = Job::start(fault(&mut stalled, point, 1, "stall"));
            let program = job.program();
            wait_until_blocked(&program);
            let since = Instant::now();
            program.signal(signal);
            let (code, stdout, stderr) = job.finish();
            assert!(since.elapsed() < SOON, "{point} {signal:?}: {:?}", since.elapsed());
            assert_eq!(stdout, "");
            // What nobody listens to ends the program as it does others.
            if signal == Signal::USR2 {
                assert_ne!(code, 0, "{point}");
            } else {
                assert_eq!(code, 75, "{point} {signal:?}: {stderr}");
                let line = only_line(&stderr);
                assert!(line.contains(" received) before the search was at work; nothing is lost, give the same command again"), "{line}");
            }
            succeed(farthest().args(["run", "turnstyle-6", "--quiet", "--threads", "1", "--out"]).arg(&path));
            let mut bytes = result_bytes(&path);
            bytes.remove("run.toml");
            let mut expected = result_bytes(complete());
            expected.remove("run.toml");
            assert_eq!(bytes, expected, "{point} {signal:?}");
        }
    }
}

#[test]
fn a_signal_ends_a_resume_and_a_recheck_that_are_not_at_work() {
    let folder = scratch();
    let (stopped, done) = (folder.path().join("stopped"), folder.path().join("done"));
    let mut first = farthest();
    // So many levels that the signal comes long before the end.
    first.args(["run", "turnstyle-8", "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(&stopped);
    assert_eq!(fault(&mut first, "generation-create", 4, "signal").status().expect("ended").code(), Some(75));
    succeed(farthest().args(["run", "turnstyle-6", "--quiet", "--out"]).arg(&done));
    for (words, path) in [("resume", &stopped), ("recheck", &done)] {
        let mut stalled = farthest();
        stalled.args([words, "--quiet"]).arg(path);
        let job = Job::start(fault(&mut stalled, "folder-lock", 1, "stall"));
        let program = job.program();
        wait_until_blocked(&program);
        let since = Instant::now();
        program.signal(Signal::TERM);
        let (code, _, stderr) = job.finish();
        assert!(since.elapsed() < SOON, "{words}: {:?}", since.elapsed());
        assert_eq!(code, 75, "{words}: {stderr}");
        assert!(only_line(&stderr).contains("before the search was at work"), "{stderr}");
        succeed(farthest().args([words, "--quiet"]).arg(path));
        assert!(!names(path).contains("lock.owner"));
    }
}

/// `timeout`, and launchers, send a signal to a process and to its group: twice at the same moment.
/// That is one request, and gets its checkpoint.
#[test]
fn a_signal_that_is_sent_twice_is_one_request() {
    let folder = scratch();
    let config = common::disturb::slow_config(folder.path());
    for round in 0..4 {
        let path = folder.path().join(format!("run-{round}"));
        let mut job =
            Job::start(farthest().args(["run", &config, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(&path));
        job.wait_for_level(&path, 2);
        let program = job.program();
        program.signal(Signal::TERM);
        std::thread::sleep(Duration::from_millis(round * 2));
        program.signal(Signal::TERM);
        let (code, _, stderr) = job.finish();
        assert_eq!(code, 75, "{stderr}");
        assert!(only_line(&stderr).contains("stopped (SIGTERM received); go on with"), "{stderr}");
    }
}
