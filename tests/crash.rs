//! Whatever kills a run, a resume ends with the bytes of an undisturbed one.
//!
//! The first half injects: the program kills itself, or meets a full or broken disk, before every
//! file operation that has a fault point, one after the other until a run completes. The second
//! half kills for real, with SIGKILL at random instants (`crash/random_kills.rs`): all processes,
//! one of several MPI processes, the launcher. Every folder is then resumed with other numbers of
//! processes and threads.

mod common;

#[path = "crash/random_kills.rs"]
mod random_kills;

use common::disturb::{
    Job, copy_folder, fail_with, fault, file_points, generations, mpirun_beside, names, only_line, scratch, slow_config, wait_until,
};
use common::needs::{Need, test_lacks};
use common::{farthest, outcome, result_bytes, succeed};
use farthest::base::Depth;
use farthest::base::fingerprint::Fingerprint;
use farthest::families::reading;
use farthest::ranking::StateSpace;
use farthest::store::level_archive;
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A run that commits every level, with errors and warnings on standard error and nothing else.
fn run(puzzle: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = farthest();
    command.args(["run", puzzle, "--checkpoint-seconds", "0", "--quiet", "--out"]).arg(folder).args(more);
    command
}

/// An undisturbed run, which all others must equal.
struct Reference {
    puzzle: String,
    flags: &'static [&'static str],
    bytes: BTreeMap<String, Vec<u8>>,
    files: BTreeSet<String>,
}

impl Reference {
    fn new(puzzle: &str, flags: &'static [&'static str]) -> Self {
        let folder = scratch();
        let path = folder.path().join("run");
        succeed(&mut run(puzzle, &path, flags));
        check_levels(puzzle, &path, flags.contains(&"--keep-levels"));
        Self { puzzle: puzzle.to_owned(), flags, bytes: result_bytes(&path), files: names(&path) }
    }

    /// A run of the same search.
    fn run(&self, folder: &Path, more: &[&str]) -> Command {
        let mut command = run(&self.puzzle, folder, self.flags);
        command.args(more);
        command
    }

    /// Checks a folder that should be complete: the same bytes, and nothing left of what only a
    /// running search needs.
    fn check(&self, folder: &Path, context: &str) {
        assert_eq!(result_bytes(folder), self.bytes, "{context}");
        assert_eq!(names(folder), self.files, "{context}: the files of a run folder");
        check_levels(&self.puzzle, folder, self.flags.contains(&"--keep-levels"));
    }

    /// Resumes and checks. The newest generation is whole whatever killed the run, so the search
    /// must go on from it, without a warning. Returns whether there was one, and results to find.
    fn resume_and_check(&self, folder: &Path, more: &[&str], context: &str) -> bool {
        let newest = generations(folder).pop();
        let log = || fs::read_to_string(folder.join("run.log")).unwrap_or_default();
        let before = log().len();
        let stderr = fail_with(0, &mut self.run(folder, more));
        let warnings: Vec<&str> = stderr.lines().filter(|line| !line.contains("threads share")).collect();
        assert!(warnings.is_empty(), "{context}: a resume after a crash is no reason to warn: {warnings:?}");
        let log = log().split_off(before);
        // Nothing is logged when the results were all there.
        let newest = newest.filter(|_| !log.is_empty());
        if let Some(depth) = newest {
            assert!(log.contains(&format!("goes on from the checkpoint of level {depth}:")), "{context}: from level {depth}\n{log}");
        }
        self.check(folder, context);
        newest.is_some()
    }
}

/// Checks the archived levels, when they are kept, against `levels.tsv`.
fn check_levels(puzzle: &str, folder: &Path, kept: bool) {
    let levels = folder.join("levels");
    assert_eq!(levels.exists(), kept, "{}", levels.display());
    if !kept {
        return;
    }
    let source = reading::resolve(puzzle, None).expect("shipped");
    let built = source.build(&source.default_metric()).expect("valid");
    let partition = StateSpace::of(&built).cut(None).expect("small");
    let text = fs::read_to_string(folder.join("levels.tsv")).expect("readable");
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    assert_eq!(names(&levels).len(), rows.len(), "one folder a level");
    for row in rows {
        let depth: u32 = row[0].parse().expect("a depth");
        let found = level_archive::read_level(&levels, Depth(depth), &|shard| partition.ranks_if_any(shard)).expect("a whole archive");
        assert_eq!(found.states.to_string(), row[1], "level {depth}");
        let fingerprint: Fingerprint = found.fingerprint;
        assert_eq!(Some(fingerprint.to_string().as_str()), row.last().copied(), "level {depth}");
    }
}

/// How a sweep starts runs and resumes them.
struct Sweep<'a> {
    /// Flags of the run that is disturbed.
    before: &'a [&'a str],
    /// Flags of the resumes, taken in turns.
    after: &'a [&'a [&'a str]],
    /// Every how many passes of a point.
    stride: u64,
}

impl Sweep<'_> {
    /// Kills runs before every file operation: pass 1, 1 + stride, ... of every fault point, until
    /// a run completes.
    fn kill(&self, reference: &Reference) {
        let (mut kills, mut went_on) = (0, 0);
        for point in file_points() {
            for pass in (1..).step_by(usize::try_from(self.stride).expect("small")) {
                let folder = scratch();
                let path = folder.path().join("run");
                let context =
                    format!("{} {} {:?} FARTHEST_FAULT={point}:{pass}:kill", reference.puzzle, reference.flags.join(" "), self.before);
                let (code, stdout, stderr) = outcome(fault(&mut reference.run(&path, self.before), &point, pass, "kill"));
                if code == 0 {
                    reference.check(&path, &context);
                    break;
                }
                assert_eq!((code, stderr.as_str()), (-1, ""), "{context}: the run ends by SIGKILL\n{stdout}");
                kills += 1;
                went_on += u32::from(reference.resume_and_check(&path, self.after[kills % self.after.len()], &context));
            }
        }
        eprintln!("{} {:?}: {kills} kills, {went_on} with a checkpoint to go on from", reference.puzzle, self.before);
        assert!(kills > 20 && went_on > 10, "{kills} kills, {went_on} with a checkpoint to go on from");
    }

    /// Lets file operations fail, as [`Sweep::kill`] kills. Each failure is one line that names a
    /// path in the run folder, and exit code 74; only the removal of old files behind a commit may
    /// fail without ending the run.
    fn fail(&self, reference: &Reference, action: &str) {
        let (mut failures, mut went_on, mut told) = (0, 0, 0);
        for point in file_points() {
            for pass in (1..).step_by(usize::try_from(self.stride).expect("small")) {
                let folder = scratch();
                let path = folder.path().join("run");
                let context = format!("{} {:?} FARTHEST_FAULT={point}:{pass}:{action}", reference.puzzle, self.before);
                let (code, stdout, stderr) = outcome(fault(&mut reference.run(&path, self.before), &point, pass, action));
                if code == 0 && stderr.is_empty() {
                    reference.check(&path, &context);
                    break;
                }
                failures += 1;
                let line = only_line(&stderr);
                assert!(line.contains(path.to_str().expect("UTF-8")), "{context}: a path in the run folder: {line}");
                if code == 0 {
                    assert!(point == "old-removed" && line.contains("old checkpoint files stay"), "{context}: {line}");
                    reference.check(&path, &context);
                } else {
                    assert_eq!(code, 74, "{context}\n{stdout}\n{stderr}");
                    assert!(line.starts_with("farthest: "), "{context}: {line}");
                    let reason = if action == "enospc" { "free space on this file system and resume" } else { "Input/output error" };
                    assert!(line.contains(reason), "{context}: {line}");
                    // Those who watch are told, too, once there is a progress file.
                    if let Ok(progress) = fs::read_to_string(path.join("progress.json")) {
                        assert!(progress.contains("\"failed\""), "{context}: {progress}");
                        told += 1;
                    }
                    went_on += u32::from(reference.resume_and_check(&path, self.after[failures % self.after.len()], &context));
                }
            }
        }
        let counts = format!("{failures} failures of {action}, {told} told to those who watch, {went_on} with a checkpoint to go on from");
        eprintln!("{} {:?}: {counts}", reference.puzzle, self.before);
        assert!(failures > 20 && told > 10 && went_on > 10, "{counts}");
    }
}

/// What one process keeps in memory, when nobody asks for anything else, is in files.
const FILES: &[&str] = &["--storage", "files"];

const RESUMES: &[&[&str]] = &[&["--participants", "2", "--threads", "1"], &["--threads", "3"], &["--participants", "3"]];

#[test]
fn a_kill_before_any_file_operation_loses_nothing() {
    for flags in [&[], FILES] {
        let reference = Reference::new("turnstyle-6", flags);
        Sweep { before: &["--threads", "1"], after: RESUMES, stride: 1 }.kill(&reference);
    }
}

#[test]
fn a_kill_of_several_participants_loses_nothing() {
    let reference = Reference::new("turnstyle-7", &[]);
    Sweep { before: &["--participants", "3", "--threads", "2"], after: &[&["--threads", "2"], &["--participants", "2"]], stride: 7 }
        .kill(&reference);
}

#[test]
fn a_kill_while_levels_are_archived_loses_nothing() {
    let smallest = Reference::new("turnstyle-5", &["--keep-levels"]);
    Sweep { before: &["--threads", "1"], after: RESUMES, stride: 1 }.kill(&smallest);
    let larger = Reference::new("turnstyle-7", &["--keep-levels"]);
    Sweep { before: &["--participants", "2"], after: RESUMES, stride: 11 }.kill(&larger);
}

#[test]
fn a_full_disk_ends_the_run_in_one_line_and_loses_nothing() {
    Sweep { before: &["--threads", "1"], after: RESUMES, stride: 1 }.fail(&Reference::new("turnstyle-6", FILES), "enospc");
    Sweep { before: &["--participants", "3"], after: RESUMES, stride: 9 }
        .fail(&Reference::new("turnstyle-7", &["--keep-levels"]), "enospc");
}

#[test]
fn a_broken_disk_ends_the_run_in_one_line_and_loses_nothing() {
    Sweep { before: &["--threads", "1"], after: RESUMES, stride: 1 }
        .fail(&Reference::new("turnstyle-5", &["--keep-levels", "--storage", "files"]), "eio");
    Sweep { before: &["--participants", "2"], after: RESUMES, stride: 9 }.fail(&Reference::new("turnstyle-7", &[]), "eio");
}

/// Pulling allocates and shares scratch files where the other expansions do not.
#[test]
fn a_kill_or_a_full_disk_while_lanes_are_pulled_loses_nothing() {
    let folder = scratch();
    let config = folder.path().join("lanes.toml");
    for (storage, stride) in [("files", 9), ("compact", 25)] {
        let text = format!("puzzle = \"turnstyle-7\"\n[search]\nexpansion = \"lanes\"\nstorage = \"{storage}\"\n");
        fs::write(&config, text).expect("written");
        let reference = Reference::new(config.to_str().expect("UTF-8"), &[]);
        let sweep = Sweep { before: &["--participants", "3", "--threads", "1"], after: RESUMES, stride };
        sweep.kill(&reference);
        sweep.fail(&reference, "enospc");
    }
}

/// A run of `reference` that was killed when two generations were committed and a third one had
/// begun.
fn killed_with_two_generations(reference: &Reference, folder: &Path) -> PathBuf {
    let path = folder.join("killed");
    fail_with(-1, fault(&mut reference.run(&path, &["--threads", "1"]), "before-commit", 8, "kill"));
    assert_eq!(generations(&path), [6, 7]);
    path
}

#[test]
fn a_kill_of_a_resume_that_has_to_fall_back_loses_nothing() {
    let reference = Reference::new("turnstyle-7", &["--keep-levels"]);
    let folder = scratch();
    let base = killed_with_two_generations(&reference, folder.path());
    let manifest = base.join("checkpoint/manifest-000007");
    let mut bytes = fs::read(&manifest).expect("readable");
    bytes[60] ^= 4;
    fs::write(&manifest, &bytes).expect("written");
    let mut kills = 0;
    for point in file_points() {
        // The passes of the resume itself and of the first commits behind it.
        for pass in 1..=12 {
            let path = folder.path().join("run");
            let _ = fs::remove_dir_all(&path);
            copy_folder(&base, &path);
            let context = format!("resume with FARTHEST_FAULT={point}:{pass}:kill");
            let (code, _, stderr) = outcome(fault(&mut reference.run(&path, &["--threads", "1"]), &point, pass, "kill"));
            assert!(code == -1 || code == 0, "{context}: {stderr}");
            if code == 0 {
                reference.check(&path, &context);
                break;
            }
            kills += 1;
            succeed(&mut reference.run(&path, &["--participants", "2"]));
            reference.check(&path, &context);
        }
    }
    eprintln!("{kills} kills");
    assert!(kills > 20, "{kills} kills");
}

/// A kill between the write and the rename of a file leaves its temporary.
#[test]
fn temporaries_of_a_killed_run_are_removed() {
    let reference = Reference::new("turnstyle-6", &[]);
    let folder = scratch();
    let path = killed_with_two_generations(&reference, folder.path());
    for name in ["progress.json.tmp", "summary.json.tmp", "run.toml.tmp"] {
        fs::write(path.join(name), b"half").expect("written");
    }
    succeed(&mut reference.run(&path, &[]));
    reference.check(&path, "temporaries");
}

#[test]
fn a_disk_that_is_full_while_resuming_costs_no_generation() {
    let reference = Reference::new("turnstyle-7", FILES);
    let folder = scratch();
    let base = killed_with_two_generations(&reference, folder.path());
    for point in ["scratch-create", "scratch-allocate"] {
        let path = folder.path().join(point);
        copy_folder(&base, &path);
        let (code, _, stderr) = outcome(fault(&mut reference.run(&path, &["--threads", "1"]), point, 1, "enospc"));
        assert_eq!(code, 74, "{point}: {stderr}");
        assert_eq!(generations(&path), [6, 7], "{point}: a checkpoint that is whole must survive a full disk");
        reference.resume_and_check(&path, &["--participants", "2"], point);
    }
}

/// A run under mpirun that commits every level.
fn mpi_run(processes: u32, puzzle: &str, folder: &Path) -> Command {
    let mut command = mpirun_beside(folder, processes);
    command.args(["run", puzzle, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(folder);
    command
}

/// When one of three MPI processes, or the launcher, is killed, all end within seconds, and the run
/// goes on with another number of processes.
#[test]
fn a_kill_of_one_process_or_of_the_launcher_ends_all_and_loses_nothing() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let reference = Reference::new(&slow_config(folder.path()), &["--threads", "1"]);
    for victim in [Some(0_usize), Some(1), Some(2), None] {
        let path = folder.path().join(format!("{victim:?}"));
        let mut job = Job::start(&mut mpi_run(3, &reference.puzzle, &path));
        wait_until("some levels are committed", || generations(&path).last().is_some_and(|&depth| depth >= 5));
        let members = job.members();
        let programs = job.programs();
        assert_eq!(programs.len(), 3, "{members:?}");
        let since = Instant::now();
        match victim {
            Some(number) => programs[number].signal(Signal::KILL),
            None => job.launcher().signal(Signal::KILL),
        }
        wait_until("all others have ended", || members.iter().all(|member| !member.is_alive()) && !job.is_running());
        assert!(since.elapsed() < Duration::from_secs(20), "{victim:?}: {:?}", since.elapsed());
        let (code, _, stderr) = job.finish();
        assert!(code != 0 && code != 75, "{victim:?}: {code} {stderr}");
        assert!(!path.join("summary.json").exists(), "{victim:?}: killed too late");
        succeed(&mut mpi_run(2, &reference.puzzle, &path));
        reference.check(&path, &format!("killed {victim:?}"));
    }
}
