//! A run that is asked to stop commits what it has and says how to go on; one that panics ends all
//! its processes.
//!
//! Signals to a single process, to a launcher and to one of several MPI processes; the wall-clock
//! budget; a second signal; panics in main and worker threads. Every stopped run is resumed with
//! the command it printed, and ends with the bytes of an undisturbed one.

mod common;

use common::disturb::{
    Dice, Job, Member, fail_with, fault, file_points, generations, is_committing, mpirun_beside, names, only_line, scratch, slow_config,
    wait_until,
};
use common::needs::{Need, test_lacks};
use common::{farthest, outcome, result_bytes, succeed};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The search that all tests disturb, and what it gives undisturbed.
struct Reference {
    config: String,
    bytes: BTreeMap<String, Vec<u8>>,
}

fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| {
        // Nothing drops a static value: its file is in the folder that cargo gives to tests.
        let config = slow_config(Path::new(env!("CARGO_TARGET_TMPDIR")));
        let folder = scratch();
        let path = folder.path().join("run");
        succeed(arguments(&mut farthest(), &config, &path));
        Reference { bytes: result_bytes(&path), config }
    })
}

/// Adds the arguments of a run that commits every level.
fn arguments<'a>(command: &'a mut Command, config: &str, folder: &Path) -> &'a mut Command {
    command.args(["run", config, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(folder)
}

fn run(folder: &Path) -> Command {
    let mut command = farthest();
    arguments(&mut command, &reference().config, folder);
    command
}

fn mpi_run(processes: u32, folder: &Path) -> Command {
    let mut command = mpirun_beside(folder, processes);
    arguments(&mut command, &reference().config, folder);
    command
}

/// Runs the command that a stopped run printed, and checks the result.
fn resume_as_told(stderr: &str, reason: &str, folder: &Path) {
    let line =
        stderr.lines().find(|line| line.contains("farthest: stopped")).unwrap_or_else(|| panic!("no line says that it stopped: {stderr}"));
    assert_eq!(stderr.lines().filter(|line| line.contains("farthest: stopped")).count(), 1, "one process speaks: {stderr}");
    assert!(line.contains(reason), "{line}");
    let told = line.split("go on with: farthest ").nth(1).unwrap_or_else(|| panic!("no command to go on with: {line}"));
    assert!(!folder.join("summary.json").exists());
    assert!(!generations(folder).is_empty(), "a stopped run has a checkpoint");
    let output = farthest().args(told.split(' ')).args(["--threads", "2"]).output().expect("started");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    assert!(!stderr.contains("not usable"), "{stderr}");
    assert_eq!(result_bytes(folder), reference().bytes);
    assert!(!folder.join("checkpoint").exists() && !folder.join("work").exists(), "{:?}", names(folder));
}

const SIGNALS: [(Signal, &str); 5] = [
    (Signal::USR1, "SIGUSR1 received"),
    (Signal::TERM, "SIGTERM received"),
    (Signal::INT, "SIGINT received"),
    (Signal::HUP, "SIGHUP received"),
    (Signal::XCPU, "SIGXCPU received"),
];

#[test]
fn every_signal_stops_a_single_process_with_a_checkpoint() {
    let folder = scratch();
    for (signal, reason) in SIGNALS {
        let path = folder.path().join(reason.split(' ').next().expect("a name"));
        let mut job = Job::start(&mut run(&path));
        job.wait_for_level(&path, 3);
        job.program().signal(signal);
        let (code, stdout, stderr) = job.finish();
        assert_eq!(code, 75, "{reason}: {stdout}\n{stderr}");
        only_line(&stderr);
        resume_as_told(&stderr, reason, &path);
    }
}

/// From the very first file operation on, when the folder is tried and nothing is searched: the
/// signal is never what ends the program.
#[test]
fn a_signal_before_the_search_stops_with_a_checkpoint() {
    let folder = scratch();
    for pass in 1..=12 {
        let path = folder.path().join(pass.to_string());
        let stderr = fail_with(75, fault(&mut run(&path), "*", pass, "signal"));
        only_line(&stderr);
        if pass == 1 {
            assert_eq!(generations(&path), [0]);
            resume_as_told(&stderr, "SIGUSR1 received", &path);
        }
    }
}

#[test]
fn a_signal_to_in_process_participants_stops_all() {
    let folder = scratch();
    let path = folder.path().join("run");
    let mut job = Job::start(run(&path).args(["--participants", "3"]));
    job.wait_for_level(&path, 2);
    job.program().signal(Signal::USR1);
    let (code, stdout, stderr) = job.finish();
    assert_eq!(code, 75, "{stdout}\n{stderr}");
    only_line(&stderr);
    resume_as_told(&stderr, "SIGUSR1 received", &path);
}

/// To the launcher, which passes it on, and to one process only, first, second and last.
#[test]
fn a_signal_to_the_launcher_or_to_one_mpi_process_stops_all() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let cases = [
        (2, "launcher", Signal::USR1, None),
        (3, "first", Signal::USR1, Some(0)),
        (3, "second", Signal::TERM, Some(1)),
        (3, "last", Signal::XCPU, Some(2)),
        (1, "alone", Signal::INT, Some(0)),
    ];
    for (processes, name, signal, program) in cases {
        let path = folder.path().join(name);
        let mut job = Job::start(&mut mpi_run(processes, &path));
        job.wait_for_level(&path, 3);
        let members = job.members();
        program.map_or_else(|| job.launcher(), |number: usize| job.programs().swap_remove(number)).signal(signal);
        let (code, stdout, stderr) = job.finish();
        assert_eq!(code, 75, "{name}: {stdout}\n{stderr}");
        wait_until("no process is left", || members.iter().all(|member| !member.is_alive()));
        resume_as_told(&stderr, " received", &path);
    }
}

/// Open MPI gives the processes a second or two behind TERM and kills them: they may commit, and
/// the folder is fine in any case.
#[test]
fn a_launcher_that_is_terminated_leaves_a_folder_that_resumes() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let path = folder.path().join(format!("{}", signal.as_raw()));
        let mut job = Job::start(&mut mpi_run(2, &path));
        job.wait_for_level(&path, 3);
        let members = job.members();
        job.launcher().signal(signal);
        let (code, _, stderr) = job.finish();
        assert_ne!(code, 0, "{stderr}");
        wait_until("no process is left", || members.iter().all(|member| !member.is_alive()));
        succeed(&mut mpi_run(3, &path));
        assert_eq!(result_bytes(&path), reference().bytes);
    }
}

#[test]
fn the_budget_stops_a_run_with_a_checkpoint_that_loads() {
    let folder = scratch();
    for (number, participants) in ["1", "2"].iter().enumerate() {
        let path = folder.path().join(format!("run-{number}"));
        let since = Instant::now();
        let stderr = fail_with(75, run(&path).args(["--max-hours", "200ms", "--participants", participants]));
        assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
        only_line(&stderr);
        resume_as_told(&stderr, "its time is nearly used up", &path);
    }
}

/// The moment may be named, by the user or by Slurm; the nearest end counts.
#[test]
fn a_moment_stops_a_run_with_a_checkpoint_that_loads() {
    let folder = scratch();
    let now = jiff::Timestamp::now();
    let soon = (now + Duration::from_millis(300)).to_string();
    let path = folder.path().join("named");
    let stderr = fail_with(75, run(&path).args(["--stop-at", &soon, "--max-hours", "1"]));
    resume_as_told(&stderr, "its time is nearly used up", &path);
    let path = folder.path().join("slurm");
    let stderr = fail_with(75, run(&path).env("SLURM_JOB_END_TIME", now.as_second().to_string()));
    resume_as_told(&stderr, "its time is nearly used up", &path);
    let (code, _, stderr) = outcome(run(&folder.path().join("none")).args(["--stop-at", "tomorrow"]));
    assert!(code == 2 && stderr.contains("--stop-at"), "{stderr}");
}

#[test]
fn the_budget_stops_mpi_processes_with_a_checkpoint_that_loads() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let path = folder.path().join("mpi");
    let stderr = fail_with(75, mpi_run(2, &path).args(["--max-hours", "200ms"]));
    resume_as_told(&stderr, "its time is nearly used up", &path);
}

/// A budget that is used up before anything was found, over and over: level 0 is a checkpoint, too,
/// and each session must get on.
#[test]
fn a_stop_before_the_first_level_closes_has_a_checkpoint() {
    let folder = scratch();
    let path = folder.path().join("run");
    let stderr = fail_with(75, run(&path).args(["--max-hours", "1us"]));
    assert_eq!(generations(&path), [0]);
    let again = fail_with(75, run(&path).args(["--max-hours", "1us"]));
    assert_eq!(generations(&path), [0]);
    assert_eq!(only_line(&again), only_line(&stderr));
    resume_as_told(&stderr, "its time is nearly used up", &path);
}

/// Stops the program in its tracks in the middle of a commit of at least this level.
fn freeze_in_commit(job: &mut Job, folder: &Path, depth: u32, dice: &mut Dice) -> (Member, u32) {
    job.wait_for_level(folder, depth);
    let program = job.program();
    let since = Instant::now();
    loop {
        program.freeze();
        if let Some(level) = is_committing(folder) {
            return (program, level);
        }
        assert!(job.is_running() && since.elapsed() < Duration::from_secs(30), "no commit was met");
        program.thaw();
        dice.sleep(5);
    }
}

#[test]
fn a_signal_during_a_commit_finishes_it() {
    let folder = scratch();
    let mut dice = Dice::new(10);
    for round in 0..3 {
        let path = folder.path().join(format!("run-{round}"));
        let mut job = Job::start(&mut run(&path));
        let (program, level) = freeze_in_commit(&mut job, &path, 8, &mut dice);
        program.signal(Signal::USR1);
        program.thaw();
        let (code, stdout, stderr) = job.finish();
        assert_eq!(code, 75, "{stdout}\n{stderr}");
        assert_eq!(generations(&path).last(), Some(&level), "the commit that was on its way is the last one");
        resume_as_told(&stderr, "SIGUSR1 received", &path);
    }
}

/// For a search that does not get to its checkpoint, here since the disk does not answer. A signal
/// that comes twice at once is one request (`endings.rs`).
#[test]
fn a_second_signal_ends_the_run_at_once() {
    let folder = scratch();
    for (signal, pass) in [(Signal::USR1, 5), (Signal::TERM, 9), (Signal::INT, 14)] {
        let path = folder.path().join(pass.to_string());
        let mut job = Job::start(fault(&mut run(&path), "pack-sync", pass, "stall"));
        let level = u32::try_from(pass).expect("small");
        wait_until("the commit stands still", || is_committing(&path) == Some(level) || !job.is_running());
        let program = job.program();
        program.signal(signal);
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(job.is_running(), "{signal:?}: it waits for its commit");
        let since = Instant::now();
        program.signal(signal);
        let (code, stdout, stderr) = job.finish();
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (75, "", ""), "it ends at once, and has no time for words");
        assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
        assert_eq!(generations(&path).last().copied(), level.checked_sub(1));
        succeed(&mut run(&path));
        assert_eq!(result_bytes(&path), reference().bytes);
    }
}

/// The fault points that every process passes in its main thread, and those that threads of the
/// pool pass.
const PANICS: [(&str, u64); 4] = [("pack-create", 4), ("pack-sync", 6), ("folder-sync", 9), ("scratch-allocate", 3)];

#[test]
fn a_panic_ends_a_single_process_in_one_line() {
    let folder = scratch();
    let points = file_points();
    for (point, pass) in PANICS {
        assert!(points.contains(point), "the fault point {point} is gone");
        for flags in [["--participants", "1"], ["--participants", "2"]] {
            let path = folder.path().join(format!("{point}-{}", flags[1]));
            let since = Instant::now();
            // One process keeps its sets in memory otherwise, participants in files.
            let storage = if flags[1] == "1" { "files" } else { "auto" };
            let (code, stdout, stderr) = outcome(fault(run(&path).args(flags).args(["--storage", storage]), point, pass, "panic"));
            assert_eq!(code, 101, "{point}: {stdout}\n{stderr}");
            assert!(since.elapsed() < Duration::from_secs(20), "{point}: {:?}", since.elapsed());
            let line = only_line(&stderr);
            assert!(line.contains("internal error") && line.contains(&format!("injected panic at {point}")), "{line}");
            assert!(line.contains("resume with farthest resume"), "{line}");
            assert!(!path.join("summary.json").exists());
        }
    }
    // One of the folders is resumed; the crash tests resume all of them behind kills.
    let path = folder.path().join("scratch-allocate-2");
    succeed(&mut run(&path));
    assert_eq!(result_bytes(&path), reference().bytes);
}

/// The end of the line of the process that panicked: `process 1/3 HOST PID: internal error ...`.
fn panic_lines(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.contains("internal error")).collect()
}

#[test]
fn a_panic_in_one_mpi_process_ends_all() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("readable").trim().to_owned();
    let mut last = PathBuf::new();
    for (point, pass) in PANICS {
        for process in 0..3 {
            let path = folder.path().join(format!("{point}-{process}"));
            let mut command = mpi_run(3, &path);
            command.env("FARTHEST_FAULT_PROCESS", process.to_string());
            // Only the first process syncs more than its own folder of a generation.
            let pass = if point == "folder-sync" && process > 0 { 2 } else { pass };
            let since = Instant::now();
            let mut job = Job::start(fault(&mut command, point, pass, "panic"));
            let mut members = Vec::new();
            wait_until("the job ends", || {
                members.extend(job.members());
                !job.is_running()
            });
            let elapsed = since.elapsed();
            let (code, stdout, stderr) = job.finish();
            assert_eq!(code, 101, "{point} in {process}: {stdout}\n{stderr}");
            assert!(elapsed < Duration::from_secs(20), "{point} in {process}: {elapsed:?}");
            wait_until("no process is left", || members.iter().all(|member| !member.is_alive()));
            let lines = panic_lines(&stderr);
            assert_eq!(lines.len(), 1, "{point} in {process}: one line\n{stderr}");
            assert!(lines[0].starts_with(&format!("process {process}/3 {host} ")), "{}", lines[0]);
            assert!(lines[0].contains(&format!("injected panic at {point}")), "{}", lines[0]);
            assert!(!path.join("summary.json").exists());
            last = path;
        }
    }
    succeed(&mut mpi_run(2, &last));
    assert_eq!(result_bytes(&last), reference().bytes);
}
