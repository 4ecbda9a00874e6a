//! Run folders that are not fit: another run's, damaged, foreign, closed to us, in use.

use crate::common;
use crate::common::needs::{Need, part_lacks, test_lacks};
use crate::refusal::{refused, refused_under_mpirun, text};
use rustix::process::{Pid, Signal, geteuid, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A folder with the complete results of `config`.
fn complete(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    common::succeed(common::farthest().args(["run", config, "--quiet", "--out"]).arg(folder.path()));
    folder
}

/// A folder with a checkpoint of `config`.
fn stopped(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = common::farthest();
    let (code, _, stderr) = common::outcome(command.args(["run", config, "--quiet", "--max-hours", "1us", "--out"]).arg(folder.path()));
    assert_eq!(code, 75, "{stderr}");
    assert!(folder.path().join("checkpoint").is_dir());
    folder
}

/// What the folder holds, but for the lock, which names the last job that tried.
fn kept(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = common::contents(folder);
    contents.remove("lock");
    contents
}

/// Demands that `words` with `--out folder` are refused, alone and under mpirun, and that the
/// folder stays as it is.
fn refused_on(folder: &Path, words: &[&str], code: i32, parts: &[&str]) {
    let before = kept(folder);
    let place = format!("farthest: {}", folder.display());
    let parts = [&[place.as_str()], parts].concat();
    refused(common::farthest().args(words).arg("--out").arg(folder), code, &parts);
    assert_eq!(kept(folder), before, "{words:?}");
    if !part_lacks(Need::Mpi) {
        refused_under_mpirun(common::mpirun(2).args(words).arg("--out").arg(folder), code, &parts);
        assert_eq!(kept(folder), before, "{words:?} under mpirun");
    }
}

#[test]
fn results_of_another_run() {
    let folder = complete("turnstyle-5");
    let cure = ["choose another folder with --out", "--resume never --force"];
    for (words, difference) in [
        (&["run", "turnstyle-6"][..], "puzzle = turnstyle-5 there, turnstyle-6 here"),
        (&["run", "turnstyle-5", "--metric", "turn"], "metric = step there, turn here"),
    ] {
        refused_on(folder.path(), words, 78, &["the results of another run", difference, cure[0], cure[1]]);
    }
    let words = ["run", "turnstyle-5", "--resume", "never"];
    refused_on(folder.path(), &words, 78, &["holds the results of an earlier run", "--force", "--out"]);
}

#[test]
fn checkpoint_of_another_run() {
    let folder = stopped("turnstyle-9");
    let cure = ["choose another folder with --out", "--resume never --force"];
    for (words, difference) in [
        (&["run", "turnstyle-6"][..], "puzzle = turnstyle-9 there, turnstyle-6 here"),
        (&["run", "turnstyle-9", "--metric", "flip"], "metric = step there, flip here"),
        (&["run", "turnstyle-9", "--keep-levels"], "keep_levels = false there, true here"),
    ] {
        refused_on(folder.path(), words, 78, &["belongs to another search", difference, cure[0], cure[1]]);
    }
    let words = ["run", "turnstyle-9", "--resume", "never"];
    refused_on(folder.path(), &words, 78, &["holds a checkpoint of an earlier run", "--force", "--out"]);
    // After all these refusals the run goes on.
    common::succeed(common::farthest().arg("resume").arg(folder.path()).arg("--quiet"));
}

#[test]
fn damaged_results_and_checkpoints() {
    let folder = complete("turnstyle-5");
    let path = folder.path().join("distribution.tsv");
    let damaged = fs::read_to_string(&path).expect("readable").replace("9\t1", "9\t2");
    fs::write(&path, damaged).expect("written");
    refused_on(folder.path(), &["run", "turnstyle-5"], 65, &["distribution.tsv: found SHA-256", "in SHA256SUMS", "--resume never --force"]);

    let folder = stopped("turnstyle-5");
    let path = folder.path().join("checkpoint/manifest-000000");
    let bytes = fs::read(&path).expect("readable");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("written");
    let (code, _, stderr) = common::outcome(common::farthest().arg("resume").arg(folder.path()).arg("--quiet"));
    assert_eq!(code, 65, "{stderr}");
    assert_eq!(stderr.lines().filter(|line| line.starts_with("farthest: ")).count(), 1, "{stderr}");
    assert!(stderr.contains(text(&path)) && stderr.contains("expected"), "{stderr}");
    assert_eq!(fs::read(&path).expect("readable").len(), bytes.len() / 2, "what is damaged stays for people to look at");
}

#[test]
fn a_folder_that_is_no_run_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("notes.txt"), "mine").expect("written");
    refused_on(folder.path(), &["run", "turnstyle-5"], 73, &["is no run folder", "notes.txt", "choose an empty or new folder with --out"]);
    let words = ["run", "turnstyle-5", "--resume", "never", "--force"];
    refused_on(folder.path(), &words, 73, &["is no run folder", "notes.txt", "choose an empty or new folder with --out"]);
}

#[test]
fn nothing_to_resume() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("notes.txt"), "mine").expect("written");
    fs::create_dir(folder.path().join("empty")).expect("a folder");
    let before = common::contents(folder.path());
    for name in ["missing", "empty", "notes.txt", "."] {
        let target = folder.path().join(name);
        let expected = [text(&target), "found no checkpoint to resume", "farthest run"];
        refused(common::farthest().arg("resume").arg(&target), 78, &expected);
        assert_eq!(common::contents(folder.path()), before, "{name}");
    }
    let words = ["run", "turnstyle-5", "--resume", "require"];
    refused_on(&folder.path().join("empty"), &words, 78, &["found no checkpoint to resume", "farthest run"]);
}

#[test]
fn out_at_or_below_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "mine").expect("written");
    for name in ["file", "file/run", "file/a/run"] {
        let out = folder.path().join(name);
        refused(common::farthest().args(["run", "turnstyle-5", "--out"]).arg(&out), 73, &[text(&out), "--out"]);
    }
    assert_eq!(fs::read(&file).expect("readable"), b"mine");
}

/// The program as a user who owns nothing here.
fn as_nobody(folder: &Path) -> Command {
    if !geteuid().is_root() {
        return common::farthest();
    }
    let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    // The build folder may be closed to others.
    let copy = folder.join("farthest");
    fs::copy(env!("CARGO_BIN_EXE_farthest"), &copy).expect("copied");
    common::farthest_under(&words, &copy)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our own");
}

#[test]
fn a_folder_without_permission_to_write() {
    if test_lacks(Need::Nobody) {
        return;
    }
    let tools = tempfile::tempdir().expect("a folder");
    set_mode(tools.path(), 0o755);
    let whole = complete("turnstyle-5");
    let empty = tempfile::tempdir().expect("a folder");
    for folder in [whole.path(), empty.path()] {
        set_mode(folder, 0o555);
    }
    let cure = "choose a folder you may write with --out";
    let before = common::contents(whole.path());
    for out in [empty.path().to_path_buf(), empty.path().join("new/run"), whole.path().to_path_buf()] {
        let mut command = as_nobody(tools.path());
        let line = refused(command.args(["run", "turnstyle-5", "--out"]).arg(&out), 77, &["Permission denied", cure]);
        assert!(line.contains(text(&out)), "{line}");
    }
    let mut command = as_nobody(tools.path());
    refused(command.arg("resume").arg(whole.path()), 77, &["Permission denied", text(whole.path()), cure]);
    assert_eq!(common::contents(whole.path()), before);
    assert!(common::contents(empty.path()).is_empty());
    set_mode(whole.path(), 0o755);
}

#[test]
fn a_file_system_that_is_mounted_read_only() {
    if test_lacks(Need::Mounts) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"";
    let words = ["unshare", "--mount", "sh", "-c", script, "sh", text(folder.path())];
    let cure = "choose a folder you may write with --out";
    let mut command = common::farthest_under(&words, Path::new(env!("CARGO_BIN_EXE_farthest")));
    refused(command.args(["run", "turnstyle-5", "--out"]).arg(folder.path()), 77, &["Read-only file system", text(folder.path()), cure]);
    assert!(common::contents(folder.path()).is_empty());
}

/// A job that searches for minutes, held still by SIGSTOP so that its folder does not change.
struct HeldJob {
    child: std::process::Child,
    process: Pid,
}

impl HeldJob {
    fn start(config: &Path, out: &Path) -> Self {
        let mut command = common::farthest();
        command.arg("run").arg(config).arg("--out").arg(out).args(["--threads", "1", "--quiet"]).stderr(Stdio::null());
        let child = command.spawn().expect("started");
        let since = Instant::now();
        let process = loop {
            assert!(since.elapsed() < Duration::from_secs(60), "the first job does not start");
            std::thread::sleep(Duration::from_millis(20));
            // Written once the folder is locked and the search runs.
            if out.join("progress.json").exists() {
                break common::json(out, "progress.json")["process_id"].to_string();
            }
        };
        let process = Pid::from_raw(process.parse().expect("a number")).expect("a process");
        kill_process(process, Signal::STOP).expect("our own");
        while !fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).expect("there").contains(") T ") {
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { child, process }
    }

    /// Lets it go on and asks it to stop; returns its exit code.
    fn stop(&mut self) -> Option<i32> {
        kill_process(self.process, Signal::TERM).expect("our own");
        kill_process(self.process, Signal::CONT).expect("our own");
        self.child.wait().expect("waited for").code()
    }
}

#[test]
fn two_jobs_on_one_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let (config, out) = (folder.path().join("slow.toml"), folder.path().join("run"));
    fs::write(&config, "puzzle = \"turnstyle-12\"\n[search]\nexpansion = \"states\"\n").expect("written");
    let mut first = HeldJob::start(&config, &out);
    let lock = fs::read_to_string(out.join("lock")).expect("readable");
    let expected = ["another job is using this run folder", "wait for it, or choose another folder with --out"];
    let owner = format!("process id {}", first.process.as_raw_nonzero());
    let parts = [expected[0], expected[1], &owner];
    refused_on(&out, &["run", text(&config)], 73, &parts);
    // Not even another puzzle, or force, gets past the lock.
    refused_on(&out, &["run", "turnstyle-6"], 73, &parts);
    refused_on(&out, &["run", text(&config), "--resume", "never", "--force"], 73, &parts);
    refused(common::farthest().arg("resume").arg(&out), 73, &parts);
    assert_eq!(fs::read_to_string(out.join("lock")).expect("readable"), lock);
    assert_eq!(first.stop(), Some(75), "the first job goes on, undisturbed, and stops when asked");
    let (code, _, stderr) = common::outcome(common::farthest().arg("resume").arg(&out).args(["--quiet", "--max-hours", "1us"]));
    assert_eq!(code, 75, "the folder is free again: {stderr}");
}
