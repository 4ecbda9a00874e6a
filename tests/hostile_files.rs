//! Run folders and files that come from anywhere: pipes that nobody writes to, devices without end,
//! files of a size that no memory holds, and names that would print lines of their own. Every
//! command ends soon, in a moderate memory, with one of the documented codes; nothing of theirs
//! reaches a terminal as it is.

mod common;

use common::disturb::{copy_folder, fault, names, scratch};
use common::{certified, farthest, outcome, succeed};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Longest time that a command may take over a file that is none. `watch` alone waits, for ten
/// seconds, for a run to write its progress.
const LIMIT: Duration = Duration::from_secs(30);

/// The codes that the help lists, without a panic's.
const CODES: [i32; 10] = [0, 1, 2, 65, 70, 73, 74, 75, 77, 78];

/// What takes the place of a file.
#[derive(Clone, Copy, Debug)]
enum Trap {
    Pipe,
    /// A link to a device that has no end.
    Endless,
    /// A file without contents and of a terabyte.
    Huge,
    Folder,
}

impl Trap {
    fn set(self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        if path.is_dir() {
            fs::remove_dir_all(path).expect("removed")
        } else {
            drop(fs::remove_file(path))
        }
        match self {
            Self::Pipe => mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe"),
            Self::Endless => symlink("/dev/zero", path).expect("a link"),
            Self::Huge => File::create(path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file"),
            Self::Folder => fs::create_dir(path).expect("created"),
        }
    }
}

/// The program in two gigabytes: enough for what these tests do, and not for a file of a terabyte.
fn bounded() -> Command {
    common::farthest_under(&["prlimit", "--as=2147483648"], Path::new(env!("CARGO_BIN_EXE_farthest")))
}

/// Runs the command to its end, which must come soon, and in order.
fn ends(command: &mut Command) -> (i32, String, String) {
    let since = Instant::now();
    let (code, stdout, stderr) = outcome(command);
    assert!(since.elapsed() < LIMIT, "{command:?} took {:?}", since.elapsed());
    assert!(CODES.contains(&code), "{command:?} ends with {code}\n{stdout}\n{stderr}");
    for sign in ["panicked", "internal error", "backtrace", "out of memory"] {
        assert!(!stderr.contains(sign), "{command:?}\n{stderr}");
    }
    (code, stdout, stderr)
}

/// A complete run with all that a run can have, one that stopped with a checkpoint, and its
/// configuration.
struct Runs {
    _folder: tempfile::TempDir,
    complete: PathBuf,
    stopped: PathBuf,
    /// Of the complete run, and of the one that stopped.
    config: PathBuf,
    longer: PathBuf,
}

fn runs() -> Runs {
    let folder = scratch();
    let config = folder.path().join("config.toml");
    fs::write(&config, "puzzle = \"turnstyle-6\"\n[search]\ncheckpoint_seconds = 0\nkeep_levels = true\n").expect("written");
    let complete = certified(config.to_str().expect("UTF-8"), "step", folder.path());
    let stopped = folder.path().join("stopped");
    // So many levels that the signal comes long before the end.
    let longer = folder.path().join("longer.toml");
    fs::write(&longer, "puzzle = \"turnstyle-8\"\n[search]\ncheckpoint_seconds = 0\n").expect("written");
    let mut first = run(&longer, &stopped);
    assert_eq!(outcome(fault(&mut first, "generation-create", 6, "signal")).0, 75);
    Runs { _folder: folder, complete, stopped, config, longer }
}

fn run(config: &Path, out: &Path) -> Command {
    let mut command = bounded();
    command.arg("run").arg(config).args(["--quiet", "--threads", "1", "--out"]).arg(out);
    command
}

/// The commands that take a run folder, by name; `run` and `resume` and all that looks.
fn commands(config: &Path, folder: &Path) -> Vec<(&'static str, Command)> {
    let on = |words: &[&str]| {
        let mut command = bounded();
        command.args(words).arg(folder);
        command
    };
    let mut solve = bounded();
    solve.args(["solve", "turnstyle-6", "--state", "2 1 4 3 5 6", "--table"]).arg(folder);
    let mut export = bounded();
    export.args(["export", "gap"]).arg(folder).arg("--out").arg(folder.with_file_name("export.g"));
    vec![
        ("status", on(&["status"])),
        ("table", on(&["table", "--depths"])),
        ("solve", solve),
        ("export", export),
        ("spot-solve", on(&["spot-solve"])),
        ("certify", on(&["certify", "distance"])),
        ("recheck", on(&["recheck", "--quiet", "--threads", "1"])),
        ("resume", on(&["resume", "--quiet", "--threads", "1"])),
        ("run", run(config, folder)),
    ]
}

/// Every file below the folder, by its name in it.
fn files(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = common::contents(folder).into_keys().filter(|name| !name.ends_with('/')).collect();
    found.extend(
        ["lock.owner", "SHA256SUMS.next", "run.toml.tmp", "progress.json.tmp", "manifest.json.tmp", "checkpoint", "work", "levels"]
            .map(str::to_owned),
    );
    found
}

/// All commands with a trap in the place of each file of the folder.
fn meet_traps(of: &Path, config: &Path, traps: &[Trap], only: &[&str]) {
    let folder = scratch();
    let path = folder.path().join("run");
    for name in files(of) {
        for &trap in traps {
            for number in 0..commands(config, &path).len() {
                let (command_name, mut command) = commands(config, &path).swap_remove(number);
                if !only.is_empty() && !only.contains(&command_name) {
                    continue;
                }
                let _ = fs::remove_dir_all(&path);
                copy_folder(of, &path);
                trap.set(&path.join(&name));
                let (code, stdout, stderr) = ends(&mut command);
                assert!(stderr.lines().count() <= 4, "{command_name} with {trap:?} as {name}: {code}\n{stdout}\n{stderr}");
            }
        }
    }
}

#[test]
fn pipes_in_the_place_of_each_file_of_a_complete_run() {
    let runs = runs();
    meet_traps(&runs.complete, &runs.config, &[Trap::Pipe], &[]);
}

#[test]
fn pipes_in_the_place_of_each_file_of_a_stopped_run() {
    let runs = runs();
    meet_traps(&runs.stopped, &runs.longer, &[Trap::Pipe], &["status", "table", "recheck", "resume", "run"]);
}

#[test]
fn devices_files_without_end_and_folders_in_the_place_of_each_file() {
    let runs = runs();
    let traps = [Trap::Endless, Trap::Huge, Trap::Folder];
    meet_traps(&runs.complete, &runs.config, &traps, &["status", "table", "resume"]);
    meet_traps(&runs.stopped, &runs.longer, &traps, &["status", "resume"]);
}

/// What is said of them: the file, what it is, what it should be.
#[test]
fn a_trap_is_named() {
    let runs = runs();
    let folder = scratch();
    let path = folder.path().join("run");
    let kinds = [(Trap::Pipe, "a pipe, socket or device"), (Trap::Endless, "a pipe, socket or device"), (Trap::Folder, "a folder")];
    for (trap, kind) in kinds {
        for (name, code) in [("lock", 65), ("lock.owner", 65), ("run.toml", 78)] {
            let _ = fs::remove_dir_all(&path);
            copy_folder(&runs.stopped, &path);
            trap.set(&path.join(name));
            let (found, _, stderr) = ends(bounded().args(["resume", "--quiet"]).arg(&path));
            let line = common::disturb::only_line(&stderr);
            // A folder is no mark of a job, but none of the program's files either.
            assert_eq!(found, code, "{trap:?} as {name}: {stderr}");
            assert!(line.contains(&format!("{}: found {kind}, expected a", path.join(name).display())), "{line}");
        }
        // Of a checkpoint the newest generation is lost, and said to be; the one before serves.
        let newest =
            |folder: &str| names(&runs.stopped.join(folder)).into_iter().filter(|name| !name.starts_with("newest")).max().expect("some");
        let generation = names(&runs.stopped.join("checkpoint")).into_iter().filter(|name| name.starts_with("gen-")).max().expect("some");
        let pack = format!("checkpoint/{generation}/{}", newest(&format!("checkpoint/{generation}")));
        for name in [format!("checkpoint/{}", newest("checkpoint")), pack] {
            let _ = fs::remove_dir_all(&path);
            copy_folder(&runs.stopped, &path);
            trap.set(&path.join(&name));
            let (found, _, stderr) = ends(bounded().args(["resume", "--threads", "1"]).arg(&path));
            assert!(stderr.contains("is not usable"), "{trap:?} as {name}: {stderr}");
            if matches!(trap, Trap::Folder) && name.contains("/manifest-") {
                // A folder is somebody's, and not removed.
                assert!(found == 74 && path.join(&name).is_dir() && stderr.contains("cannot remove"), "{stderr}");
                continue;
            }
            assert_eq!(found, 0, "{trap:?} as {name}: {stderr}");
            assert!(stderr.contains("goes on from the checkpoint"), "{trap:?} as {name}: {stderr}");
        }
        // The progress informs only, and a log that is none is done without.
        let _ = fs::remove_dir_all(&path);
        copy_folder(&runs.stopped, &path);
        trap.set(&path.join("progress.json"));
        let (found, stdout, _) = ends(bounded().arg("status").arg(&path));
        assert_eq!(found, 75);
        assert!(stdout.contains("remark") && stdout.contains(&format!("progress.json: found {kind}")), "{stdout}");
        trap.set(&path.join("run.log"));
        let (found, _, stderr) = ends(bounded().args(["resume", "--quiet"]).arg(&path));
        assert_eq!(found, 0);
        assert!(stderr.contains("this session has no log") && stderr.contains(kind), "{stderr}");
    }
}

#[test]
fn files_that_are_too_long_are_not_read() {
    let runs = runs();
    let folder = scratch();
    let path = folder.path().join("run");
    copy_folder(&runs.stopped, &path);
    Trap::Huge.set(&path.join("progress.json"));
    let (_, stdout, _) = ends(bounded().arg("status").arg(&path));
    assert!(stdout.contains("progress.json: found more than 1048576 bytes"), "{stdout}");
    Trap::Huge.set(&path.join("run.toml"));
    let (code, _, stderr) = ends(bounded().arg("resume").arg(&path));
    assert!(code == 78 && stderr.contains("run.toml: found 1099511627776 bytes, expected at most 1048576"), "{stderr}");
    copy_folder(&runs.stopped, &path);
    Trap::Huge.set(&path.join("lock.owner"));
    let (code, _, stderr) = ends(bounded().arg("resume").arg(&path));
    assert!(code == 65 && stderr.contains("lock.owner: found more than 65536 bytes"), "{stderr}");
}

/// Files that the command line names.
#[test]
fn traps_on_the_command_line() {
    let folder = scratch();
    for (trap, kind) in [(Trap::Pipe, "a pipe"), (Trap::Endless, "a pipe"), (Trap::Folder, "a folder"), (Trap::Huge, " bytes")] {
        let path = folder.path().join("file.toml");
        trap.set(&path);
        for words in [&["run"][..], &["plan"], &["solve", "--state", "1 2 3 4"], &["export", "gap", "--out", "/dev/null"]] {
            let (code, _, stderr) = ends(bounded().args(words).arg(&path));
            assert!([65, 74, 78].contains(&code) && stderr.contains(kind), "{words:?} {trap:?}: {code} {stderr}");
        }
        let config = folder.path().join("config.toml");
        fs::write(&config, "puzzle = \"file.toml\"\n").expect("written");
        let (code, _, stderr) = ends(bounded().arg("plan").arg(&config));
        assert!(code == 78 && stderr.contains(kind), "{trap:?}: {code} {stderr}");
        let (code, _, stderr) = ends(bounded().args(["solve-board", "--size", "3x3n2", "--file"]).arg(&path));
        assert!(code == 65 && stderr.contains(kind), "{trap:?}: {code} {stderr}");
        for words in [&["status"][..], &["table"], &["resume"], &["recheck"], &["certify", "distance"], &["spot-solve"]] {
            let (code, _, stderr) = ends(bounded().args(words).arg(&path));
            assert!([1, 65, 74, 78].contains(&code), "{words:?} {trap:?}: {code} {stderr}");
        }
    }
}

/// Would print a line of its own, clear the one before, and turn the writing direction.
const FORGED: &str = "x\nfarthest: verified\r\u{1b}[2K\u{9b}31m\u{202e}";

/// No control character but line ends, and no line that only the forgery could have begun.
fn is_clean(told: &str) {
    assert!(told.chars().all(|letter| letter == '\n' || farthest::base::shown::is_plain(letter)), "{told:?}");
    assert!(!told.lines().any(|line| line.starts_with("farthest: verified")), "{told:?}");
}

fn replace_in(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).expect("text");
    assert!(text.contains(from), "{text}");
    fs::write(path, text.replace(from, to)).expect("written");
}

#[test]
fn names_in_the_files_of_a_run_print_no_lines_of_their_own() {
    let runs = runs();
    let forged = serde_json::to_string(FORGED).expect("text");
    let told = |words: &[&str], path: &Path, clean: bool| {
        let (code, stdout, stderr) = ends(farthest().args(words).arg(path));
        if clean {
            is_clean(&stdout);
        }
        is_clean(&stderr);
        (code, stdout + &stderr)
    };
    // All that the progress says.
    let progress = runs.stopped.join("progress.json");
    for key in ["puzzle", "metric", "host", "message", "updated"] {
        let before = fs::read_to_string(&progress).expect("text");
        let mut json: serde_json::Value = serde_json::from_str(&before).expect("JSON");
        json[key] = FORGED.into();
        fs::write(&progress, json.to_string()).expect("written");
        told(&["status"], &runs.stopped, true);
        told(&["status", "--json"], &runs.stopped, true);
        let (code, text) = told(&["watch"], &runs.stopped, true);
        assert!(key != "message" || text.contains("x\\nfarthest: verified\\r\\u{1b}[2K"), "{code}: {text}");
        fs::write(&progress, before).expect("written");
    }
    // Who holds the folder, by the lock or by the mark of a job.
    let lock = runs.stopped.join("lock");
    let card = format!("host {FORGED}\nprocess id 7\njob {FORGED}\nstarted {FORGED}\n");
    fs::write(&lock, &card).expect("written");
    told(&["status"], &runs.stopped, true);
    let held = File::open(&lock).expect("there");
    held.lock().expect("free");
    let (code, text) = told(&["resume"], &runs.stopped, true);
    assert!(code == 73 && text.contains("\\u{1b}[2K"), "{text}");
    drop(held);
    fs::write(&lock, format!("part of the run on host {}\n", FORGED.replace('\n', " "))).expect("written");
    assert_eq!(told(&["status"], &runs.stopped, true).0, 78);
    fs::write(&lock, "").expect("written");
    fs::write(runs.stopped.join("lock.owner"), &card).expect("written");
    assert_eq!(told(&["resume"], &runs.stopped, true).0, 73);
    told(&["status"], &runs.stopped, true);
    fs::remove_file(runs.stopped.join("lock.owner")).expect("removed");
    // A configuration with names of any kind is refused, and the refusal is one line.
    let config = runs.stopped.join("run.toml");
    replace_in(&config, "metric = \"step\"", &format!("metric = {}", toml::Value::String(FORGED.into())));
    assert_eq!(told(&["resume"], &runs.stopped, true).0, 78);
    fs::write(&config, format!("family = {forged}\n").replace("\\u001b", "\\u001B")).expect("written");
    assert_eq!(told(&["resume"], &runs.stopped, true).0, 78);
    told(&["status"], &runs.stopped, true);
    // A checkpoint that names a pack elsewhere, or results with names of any kind: tests/forged.rs
    // has more of those.
    replace_in(&runs.complete.join("summary.json"), "\"turnstyle-6\"", &forged);
    for words in [&["status"][..], &["table"], &["resume"], &["recheck"], &["export", "gap"], &["spot-solve"]] {
        assert_ne!(told(words, &runs.complete, true).0, 0, "{words:?}");
    }
}

#[test]
fn paths_and_arguments_print_no_lines_of_their_own() {
    let folder = scratch();
    let path = folder.path().join(FORGED);
    let (code, stdout, stderr) = ends(farthest().args(["run", "turnstyle-5", "--threads", "1", "--out"]).arg(&path));
    assert_eq!(code, 0, "{stderr}");
    is_clean(&stdout);
    is_clean(&stderr);
    assert!(stdout.contains("results in ") && stdout.contains("\\u{1b}[2K"), "{stdout}");
    let puzzle = path.join("none.toml");
    let mut commands: Vec<Command> = [
        &["status"][..],
        &["watch"],
        &["table"],
        &["resume"],
        &["recheck"],
        &["spot-solve"],
        &["certify", "distance"],
        &["run", "turnstyle-6", "--out"],
        &["plan", "turnstyle-6", "--out"],
        &["export", "gap"],
        &["run"],
        &["solve", "turnstyle-6", "--state"],
        &["solve", "turnstyle-6", "--table", "none", "--state"],
        &["solve-board", "--size", "3x3n2", "--board"],
        &["solve-board", "--size"],
        &["solve-board", "--size", "3x3n2", "--file"],
        &["run", "turnstyle-6", "--metric"],
        &["run", "turnstyle-6", "--threads"],
    ]
    .iter()
    .map(|words| {
        let mut command = farthest();
        command.args(*words).arg(&path);
        command
    })
    .collect();
    for words in ["run", "plan", "solve"] {
        let mut command = farthest();
        command.arg(words).arg(&puzzle);
        commands.push(command);
    }
    commands.push({
        let mut command = farthest();
        command.arg(FORGED);
        command
    });
    for mut command in commands {
        let (_, stdout, stderr) = ends(&mut command);
        is_clean(&stdout);
        is_clean(&stderr);
    }
    is_clean(&fs::read_to_string(path.join("run.log")).expect("a log"));
    succeed(farthest().args(["resume", "--quiet"]).arg(&path));
}
