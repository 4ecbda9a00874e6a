//! Faults of the machine under a running search: a mapped file that is cut, limits of memory and
//! threads, a clock that goes back, a file system without locks or one that vanishes, a log that
//! cannot be written. Each ends in one line with the cure, or is no matter at all; what was
//! committed is never lost.
//!
//! The README of the tests lists all faults and where each is tested.

mod common;

#[path = "faults/locks.rs"]
mod locks;

use common::disturb::{Job, fail_with, fault, generations, mpirun_beside, names, only_line, scratch, slow_config, wait_until};
use common::needs::{Need, part_lacks, test_lacks};
use common::{farthest, farthest_under, json, outcome, result_bytes, succeed};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Adds the arguments of a run that commits every level.
fn arguments<'a>(command: &'a mut Command, config: &str, folder: &Path) -> &'a mut Command {
    command.args(["run", config, "--checkpoint-seconds", "0", "--quiet", "--out"]).arg(folder)
}

fn run(config: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = farthest();
    arguments(&mut command, config, folder).args(more);
    command
}

/// What an undisturbed run gives.
fn undisturbed(config: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = scratch();
    let path = folder.path().join("run");
    succeed(&mut run(config, &path, &["--threads", "1"]));
    result_bytes(&path)
}

/// Goes on without the fault from the newest checkpoint, and checks the result.
fn resume(config: &str, folder: &Path, bytes: &BTreeMap<String, Vec<u8>>) {
    let newest = *generations(folder).last().expect("a checkpoint");
    let stderr = fail_with(0, &mut run(config, folder, &["--threads", "2"]));
    let log = fs::read_to_string(folder.join("run.log")).expect("a log");
    assert!(log.contains(&format!("goes on from the checkpoint of level {newest}:")), "{newest}\n{log}");
    assert!(!stderr.contains("not usable"), "{stderr}");
    assert_eq!(&result_bytes(folder), bytes);
}

/// Alone, and one of three MPI processes, which then all end.
#[test]
fn a_mapped_file_that_is_cut_ends_the_run_in_one_line() {
    let folder = scratch();
    let config = slow_config(folder.path());
    // One process keeps its sets in memory otherwise.
    let text = fs::read_to_string(&config).expect("readable") + "storage = \"files\"\n";
    fs::write(&config, text).expect("written");
    let bytes = undisturbed(&config);
    let alone = |path: &Path| run(&config, path, &["--threads", "1"]);
    let three = |path: &Path| {
        let mut command = mpirun_beside(path, 3);
        arguments(&mut command, &config, path).args(["--threads", "1"]);
        command
    };
    for (name, victim) in [("alone", 0), ("three", 1)] {
        if name == "three" && part_lacks(Need::Mpi) {
            continue;
        }
        let path = folder.path().join(name);
        let mut job = Job::start(&mut if victim == 0 { alone(&path) } else { three(&path) });
        // Sets turn into bits, which are mapped, when they are large.
        let scratch_file = path.join(format!("work/process-{victim:04}.bits"));
        wait_until("sets are mapped", || scratch_file.exists() || !job.is_running());
        let first_mapped = *generations(&path).last().expect("committed");
        job.wait_for_level(&path, first_mapped + 3);
        let members = job.members();
        let program = job.programs().swap_remove(usize::try_from(victim).expect("small"));
        program.freeze();
        let newest = *generations(&path).last().expect("committed");
        OpenOptions::new().write(true).open(&scratch_file).and_then(|file| file.set_len(0)).expect("cut");
        program.thaw();
        let (code, stdout, stderr) = job.finish();
        assert_eq!(code, 74, "{name}: {stdout}\n{stderr}");
        wait_until("no process is left", || members.iter().all(|member| !member.is_alive()));
        // Those who read the same file meet the fault, too.
        let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("SIGBUS")).collect();
        assert!(!lines.is_empty() && (victim > 0 || stderr.lines().count() == 1), "{name}: {stderr}");
        for line in lines {
            assert!(line.starts_with(if victim == 0 { "farthest: " } else { "process " }), "{line}");
            assert!(line.contains("was cut short by another program, or its disk failed"), "{line}");
            assert!(line.ends_with(&format!("what was committed is intact, go on with: farthest resume {}", path.display())), "{line}");
        }
        assert!(generations(&path).last().is_some_and(|&depth| depth >= newest), "{name}: {newest}");
        resume(&config, &path, &bytes);
    }
}

/// The words that start a program under a limit of address space in KiB.
fn limited(kib: u32) -> [String; 4] {
    ["bash".into(), "-c".into(), format!("ulimit -v {kib}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_farthest").into()]
}

/// From a limit at which the program cannot even be loaded to one that is no matter: refused before
/// the search, or ended in one line wherever memory is refused first.
#[test]
fn too_little_address_space_is_said_in_one_line() {
    let folder = scratch();
    let bytes = undisturbed("turnstyle-7");
    let (mut refused, mut ended, mut threads, mut complete) = (0, 0, 0, 0);
    let ways: [&[&str]; 3] = [&["--threads", "1"], &["--threads", "3"], &["--participants", "3", "--threads", "1"]];
    for more in ways {
        // Below that the library loader speaks for itself, and just above it the language's runtime,
        // before the program's first line. The steps are small where the program starts, and large
        // where it searches.
        for kib in (13_000..30_000).step_by(1_000).chain((40_000..500_000).step_by(23_000)) {
            let path = folder.path().join("run");
            let _ = fs::remove_dir_all(&path);
            let words = limited(kib);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut command = farthest_under(&words[..3], Path::new(words[3]));
            let (code, stdout, stderr) = outcome(arguments(&mut command, "turnstyle-7", &path).args(more));
            let context = format!("ulimit -v {kib} {more:?}: {code} {stdout}\n{stderr}");
            let is_loaded = code != 127 || !stderr.contains("shared librar");
            if !is_loaded || stderr.contains("thread 'main'") && stderr.contains("failed to allocate an alternative stack") {
                continue;
            }
            if code == 0 {
                complete += 1;
                assert_eq!(result_bytes(&path), bytes, "{context}");
                continue;
            }
            assert_eq!(code, 78, "{context}");
            let lines: Vec<&str> = stderr.lines().filter(|line| !line.contains("threads share")).collect();
            let [line] = lines[..] else { panic!("one line expected: {context}") };
            assert!(line.starts_with("farthest: ") && line.contains("ulimit -v"), "{context}");
            refused += u32::from(line.contains("memory is short: a process of this search needs"));
            ended += u32::from(line.contains("out of memory: the system refused"));
            threads += u32::from(line.contains("cannot start"));
        }
    }
    eprintln!("{refused} refused, {ended} ended, {threads} without threads, {complete} complete");
    assert!(refused > 3 && complete > 3 && refused + ended + threads + complete > 40);
}

/// Memory that is refused in the middle of a search: the limit is set on the running program, below
/// what it has already.
#[test]
fn memory_that_is_refused_in_a_search_costs_no_checkpoint() {
    let folder = scratch();
    let config = slow_config(folder.path());
    let bytes = undisturbed(&config);
    let path = folder.path().join("run");
    let mut job = Job::start(&mut run(&config, &path, &["--threads", "1"]));
    job.wait_for_level(&path, 6);
    let program = job.program();
    let pid = i32::try_from(program.pid).ok().and_then(rustix::process::Pid::from_raw).expect("a process number");
    let limit = rustix::process::Rlimit { current: Some(1 << 20), maximum: None };
    rustix::process::prlimit(Some(pid), rustix::process::Resource::As, limit).expect("our own");
    let newest = *generations(&path).last().expect("committed");
    let (code, stdout, stderr) = job.finish();
    assert_eq!(code, 78, "{stdout}\n{stderr}");
    let line = only_line(&stderr);
    assert!(line.contains("out of memory: the system refused") || line.contains("Cannot allocate memory"), "{line}");
    assert!(line.contains("ulimit -v") && line.contains("resume"), "{line}");
    assert!(generations(&path).last().is_some_and(|&depth| depth >= newest));
    resume(&config, &path, &bytes);
}

/// A user who may have no more processes cannot start threads either.
#[test]
fn threads_that_cannot_be_started_are_said_in_one_line() {
    if test_lacks(Need::NewUser) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("our own");
    let program = folder.path().join("farthest");
    fs::copy(env!("CARGO_BIN_EXE_farthest"), &program).expect("copied");
    for (limit, more, expected) in [
        ("1", &["--threads", "1"][..], "cannot start a thread: "),
        ("2", &["--threads", "1"], "cannot start a thread for each of 1 participants"),
        ("3", &["--threads", "4"], "cannot start 4 threads"),
        ("3", &["--participants", "5"], "cannot start a thread for each of 5 participants"),
    ] {
        let words = ["setpriv", "--reuid=64873", "--regid=64873", "--clear-groups", "prlimit", &format!("--nproc={limit}")];
        let path = folder.path().join("run");
        let (code, stdout, stderr) = outcome(arguments(&mut farthest_under(&words, &program), "turnstyle-6", &path).args(more));
        assert_eq!(code, 78, "{more:?}: {stdout}\n{stderr}");
        let lines: Vec<&str> = stderr.lines().filter(|line| !line.contains("threads share")).collect();
        let line = only_line(lines.first().expect("a line"));
        assert!(lines.len() == 1 && line.contains(expected) && line.contains("ulimit -u"), "{stderr}");
    }
}

// ---- Clock, log, file system.
// ---------------------------------------------------------------------------------------------

/// A library that is loaded before the system's: the clock on the wall goes back by an hour with
/// every look at it. The linker that builds Rust programs builds it, too.
fn clock_that_goes_back(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    let text = r"
        #define _GNU_SOURCE
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        static long looks;
        int clock_gettime(clockid_t clock, struct timespec *now) {
            int code = syscall(SYS_clock_gettime, clock, now);
            if (clock == CLOCK_REALTIME) now->tv_sec -= 3600 * __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
            return code;
        }
    ";
    fs::write(&source, text).expect("written");
    succeed(Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]));
    library
}

#[test]
fn a_clock_that_is_set_back_changes_nothing() {
    if test_lacks(Need::Compiler) {
        return;
    }
    let folder = scratch();
    let library = clock_that_goes_back(folder.path());
    let config = slow_config(folder.path());
    let bytes = undisturbed(&config);
    let path = folder.path().join("run");
    let preloaded = |more: [&str; 2]| {
        let mut command = farthest();
        command
            .args(["run", &config, "--threads", "1", "--quiet", "--checkpoint-seconds", "0", "--out"])
            .arg(&path)
            .args(more)
            .env("LD_PRELOAD", &library);
        command
    };
    // The budget is kept, by a clock that only goes on.
    let since = Instant::now();
    fail_with(75, &mut preloaded(["--max-hours", "300ms"]));
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert!(!generations(&path).is_empty());
    fail_with(0, &mut preloaded(["--max-hours", "10m"]));
    assert_eq!(result_bytes(&path), bytes);
    let provenance = json(&path, "manifest.json");
    let moment = |key: &str| provenance[key].as_str().unwrap_or_else(|| panic!("{key}: {provenance}")).to_owned();
    assert!(moment("finished") < moment("started"), "the clock went back: {provenance}");
    succeed(farthest().arg("table").arg(&path));
}

/// A checkpoint from the future, as it looks when the clock was set back between two sessions.
#[test]
fn a_checkpoint_from_the_future_is_as_good_as_any() {
    let folder = scratch();
    let bytes = undisturbed("turnstyle-7");
    let path = folder.path().join("run");
    fail_with(-1, fault(&mut run("turnstyle-7", &path, &["--threads", "1"]), "generation-create", 8, "kill"));
    let future = std::time::SystemTime::now() + Duration::from_secs(3_000_000_000);
    for name in common::contents(&path).into_keys() {
        fs::File::open(path.join(name)).and_then(|file| file.set_modified(future)).expect("our own");
    }
    resume("turnstyle-7", &path, &bytes);
}

#[test]
fn a_log_that_cannot_be_written_stops_nothing() {
    let bytes = undisturbed("turnstyle-7");
    let full: fn(&Path) = |path| symlink("/dev/full", path).expect("linked");
    let folder_in_the_way: fn(&Path) = |path| fs::create_dir(path).expect("created");
    for (name, damage) in [("run.log", full), ("run.log", folder_in_the_way), ("progress.json", folder_in_the_way)] {
        let folder = scratch();
        let path = folder.path().join("run");
        fs::create_dir(&path).expect("created");
        fs::write(path.join("lock"), "").expect("written");
        damage(&path.join(name));
        let stderr = fail_with(0, &mut run("turnstyle-7", &path, &["--threads", "1"]));
        // That there will be no log is said; the progress is only for those who look.
        if name == "run.log" {
            assert!(only_line(&stderr).contains("this session has no log") && stderr.contains("run.log: found a"), "{stderr}");
        } else {
            assert_eq!(stderr, "", "{name}");
        }
        assert_eq!(result_bytes(&path), bytes, "{name}");
    }
}

/// The file system of the run folder is unmounted under a running search, and comes back for the
/// next session.
#[test]
fn a_file_system_that_vanishes_ends_the_run_and_loses_nothing() {
    if test_lacks(Need::Mounts) {
        return;
    }
    let folder = scratch();
    let config = slow_config(folder.path());
    let script = r#"
        mkdir "$FOLDER/disk" "$FOLDER/place" && mount --bind "$FOLDER/disk" "$FOLDER/place" || exit 9
        go() { "$PROGRAM" run "$CONFIG" --checkpoint-seconds 0 --quiet --threads 1 --out "$FOLDER/place/run"; }
        go 2> "$FOLDER/stderr" & program=$!
        while kill -0 $program 2> /dev/null && ! compgen -G "$FOLDER/place/run/checkpoint/manifest-00001?" > /dev/null; do sleep 0.01; done
        umount -l "$FOLDER/place"
        wait $program; echo $? > "$FOLDER/code"
        find "$FOLDER/place" -mindepth 1 > "$FOLDER/left"
        mount --bind "$FOLDER/disk" "$FOLDER/place"
        go 2> "$FOLDER/stderr-2"; echo $? > "$FOLDER/code-2"
    "#;
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "100", "unshare", "-m", "bash", "-c", script]).env("CONFIG", &config);
    command.env("FOLDER", folder.path()).env("PROGRAM", env!("CARGO_BIN_EXE_farthest")).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("started");
    assert!(output.status.success(), "{output:?}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("readable");
    assert_eq!(read("code"), "74\n", "{}", read("stderr"));
    let stderr = read("stderr");
    let line = only_line(&stderr);
    assert!(line.contains("place/run") && line.contains("that its file system is mounted"), "{line}");
    assert_eq!(read("left"), "", "nothing is written in the place of what vanished");
    assert_eq!((read("code-2").as_str(), read("stderr-2").as_str()), ("0\n", ""));
    assert_eq!(result_bytes(&folder.path().join("disk/run")), undisturbed(&config));
    assert!(!names(&folder.path().join("disk/run")).contains("checkpoint"));
}

// ---- The table.
// -------------------------------------------------------------------------------------------------------------

/// Every test that `tests/README.md` names is a test of the file that it names.
#[test]
fn every_test_of_the_table_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("tests/README.md")).expect("readable");
    let source = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let mut checked = 0;
    for word in table.split('`').skip(1).step_by(2).filter(|word| word.contains("::") && !word.ends_with("::NAME")) {
        let (file, name) = word.split_once("::").expect("just seen");
        let text = if file.starts_with("src/") {
            source(root.join(file))
        } else {
            let parts = root.join("tests").join(file);
            names(&parts).iter().fold(source(parts.with_extension("rs")), |text, part| text + &source(parts.join(part)))
        };
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let place = lines.iter().position(|line| line.starts_with(&format!("fn {name}()")));
        let place = place.unwrap_or_else(|| panic!("tests/README.md names {word}, which is not there"));
        assert!(lines[..place].iter().rev().take(3).any(|line| *line == "#[test]"), "{word} is no test");
        checked += 1;
    }
    assert!(checked > 80, "{checked} tests in the table");
}
