//! `farthest status` says in one look what a run is doing, whatever became of it, and how to go on;
//! and it changes nothing.

mod common;

use common::disturb::{Job, copy_folder, fail_with, fault, generations, only_line, scratch, slow_config, wait_until};
use common::{contents, farthest, outcome, result_bytes, succeed};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

fn run(folder: &Path, config: &str) -> Command {
    let mut command = farthest();
    command.args(["run", config, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(folder);
    command
}

/// The answer for programs, and the exit code.
fn status(folder: &Path) -> (i32, Value) {
    let (code, stdout, stderr) = outcome(farthest().args(["status", "--json"]).arg(folder));
    assert_eq!(stderr, "", "{stdout}");
    (code, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}")))
}

/// The lines for people.
fn told(folder: &Path, code: i32) -> String {
    let (found, stdout, stderr) = outcome(farthest().arg("status").arg(folder));
    assert_eq!((found, stderr.as_str()), (code, ""), "{stdout}");
    stdout
}

/// Demands the values of these keys.
fn check(status: &Value, expected: &[(&str, Value)]) {
    for (key, value) in expected {
        assert_eq!(&status[*key], value, "{key} in {status:#}");
    }
}

/// Runs the command that the status names, and demands the results of `reference`.
fn go_on(status: &Value, folder: &Path, reference: &Path) {
    let command = status["go_on_with"].as_str().expect("a command");
    let words = command.strip_prefix("farthest ").expect("a command of this program");
    succeed(farthest().args(words.split(' ')).arg("--quiet"));
    assert_eq!(result_bytes(folder), result_bytes(reference));
    let (code, status) = self::status(folder);
    assert_eq!(code, 0);
    check(&status, &[("phase", "complete".into()), ("go_on_with", Value::Null)]);
}

#[test]
fn a_complete_a_stopped_and_a_failed_run() {
    let folder = scratch();
    let reference = folder.path().join("reference");
    succeed(&mut run(&reference, "turnstyle-8"));
    let (code, complete) = status(&reference);
    assert_eq!(code, 0);
    check(
        &complete,
        &[
            ("puzzle", "turnstyle-8".into()),
            ("metric", "step".into()),
            ("phase", "complete".into()),
            ("alive", false.into()),
            ("level", 24.into()),
            ("found", 40_320.into()),
            ("expected", 40_320.into()),
            ("percent", 100.0.into()),
            ("processes", 1.into()),
            ("threads", 1.into()),
            ("checkpoint", Value::Null),
            ("go_on_with", Value::Null),
        ],
    );
    assert!(told(&reference, 0).contains("complete: God's number 24, 1 antipode"));
    // Results need no progress file.
    fs::remove_file(reference.join("progress.json")).expect("it was there");
    assert_eq!(status(&reference).1["phase"], "complete");

    let stopped = folder.path().join("stopped");
    fail_with(75, run(&stopped, "turnstyle-8").args(["--max-hours", "1us"]));
    let (code, state) = status(&stopped);
    assert_eq!(code, 75);
    check(&state, &[("phase", "stopped".into()), ("alive", false.into()), ("found", 1.into()), ("expected", 40_320.into())]);
    assert_eq!(state["checkpoint"]["level"], 0);
    let lines = told(&stopped, 75);
    assert!(lines.contains("stopped (its time is nearly used up)"), "{lines}");
    assert!(lines.lines().any(|line| line.starts_with("go on with") && line.contains("farthest resume")), "{lines}");
    go_on(&state, &stopped, &reference);

    let failed = folder.path().join("failed");
    fail_with(74, fault(&mut run(&failed, "turnstyle-8"), "pack-write", 30, "enospc"));
    let (code, state) = status(&failed);
    assert_eq!(code, 1);
    check(&state, &[("phase", "failed".into()), ("alive", false.into())]);
    assert!(state["message"].as_str().expect("text").contains("free space on this file system"), "{state}");
    go_on(&state, &failed, &reference);
}

/// `--wait` looks when nothing is at work any more.
#[test]
fn waiting_for_the_end_of_a_run() {
    let folder = scratch();
    let config = slow_config(folder.path());
    let path = folder.path().join("run");
    let mut job = run(&path, &config).args(["--max-hours", "2s"]).spawn().expect("started");
    wait_until("it searches", || path.join("progress.json").exists());
    let since = std::time::Instant::now();
    let (code, _, stderr) = outcome(farthest().arg("status").arg(&path).arg("--wait"));
    assert_eq!(code, 75, "{stderr}");
    let waited = since.elapsed();
    assert_eq!(job.wait().expect("ended").code(), Some(75), "{waited:?}");
}

#[test]
fn a_running_and_a_killed_run() {
    let folder = scratch();
    let config = slow_config(folder.path());
    let (reference, path) = (folder.path().join("reference"), folder.path().join("run"));
    succeed(&mut run(&reference, &config));
    let mut job = Job::start(&mut run(&path, &config));
    wait_until("it searches", || generations(&path).last().is_some_and(|&newest| newest >= 5) && path.join("progress.json").exists());
    let program = job.program();
    program.freeze();
    let (code, state) = status(&path);
    assert_eq!(code, 0, "{state:#}");
    check(
        &state,
        &[
            ("alive", true.into()),
            ("expected", 3_628_800.into()),
            ("process_id", program.pid.into()),
            ("processes", 1.into()),
            ("go_on_with", Value::Null),
        ],
    );
    assert!(["searching", "committing"].contains(&state["phase"].as_str().expect("text")), "{state:#}");
    assert!(state["checkpoint"]["level"].as_u64().is_some_and(|level| level >= 5), "{state:#}");
    assert!(state["age_seconds"].as_u64().is_some_and(|age| age < 60), "{state:#}");
    let lines = told(&path, 0);
    assert!(lines.contains("turnstyle-10 step") && lines.contains(" of 3628800 states (") && lines.contains("states/s"), "{lines}");

    // What is alive without a readable progress file is starting.
    let progress = fs::read(path.join("progress.json")).expect("readable");
    fs::write(path.join("progress.json"), "{\"phase\": \"runn").expect("written");
    let (code, state) = status(&path);
    assert_eq!(code, 0);
    check(&state, &[("alive", true.into()), ("phase", "starting".into()), ("puzzle", "turnstyle-10".into())]);
    fs::write(path.join("progress.json"), progress).expect("written");

    program.signal(Signal::KILL);
    job.kill_all();
    let (code, state) = status(&path);
    assert_eq!(code, 1);
    check(&state, &[("phase", "killed".into()), ("alive", false.into()), ("rate", Value::Null)]);
    assert_eq!(state["found"], state["checkpoint"]["states"], "what a resume keeps");
    assert!(state["message"].as_str().expect("text").contains("no process holds the folder's lock"), "{state:#}");
    // `watch` says the same, with the same code.
    let (code, _, stderr) = outcome(farthest().arg("watch").arg(&path));
    assert_eq!(code, 1);
    assert!(only_line(&stderr).contains(state["message"].as_str().expect("text")), "{stderr}");

    // Without the progress file the checkpoint says it; how the run ended is not known then.
    for damage in ["missing", "damaged"] {
        let copy = folder.path().join(damage);
        copy_folder(&path, &copy);
        match damage {
            "missing" => fs::remove_file(copy.join("progress.json")).expect("it was there"),
            _ => fs::write(copy.join("progress.json"), "[]").expect("written"),
        }
        let (code, state) = status(&copy);
        assert_eq!(code, 75, "{damage}: {state:#}");
        check(&state, &[("phase", "stopped".into()), ("puzzle", "turnstyle-10".into()), ("expected", 3_628_800.into())]);
        assert!(state["remarks"][0].as_str().expect("a remark").contains("progress.json"), "{state:#}");
        go_on(&state, &copy, &reference);
    }
    go_on(&state, &path, &reference);
}

#[test]
fn a_commit_is_seen() {
    let folder = scratch();
    let config = slow_config(folder.path());
    let path = folder.path().join("run");
    let mut job = Job::start(&mut run(&path, &config));
    let program = job.program();
    let mut seen = false;
    for _ in 0..2_000 {
        program.freeze();
        seen = fs::read_to_string(path.join("progress.json")).is_ok_and(|text| text.contains("\"committing\""));
        if seen || !job.is_running() {
            break;
        }
        program.thaw();
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(seen, "no commit was met");
    let (code, state) = status(&path);
    assert_eq!((code, state["phase"].as_str()), (0, Some("committing")), "{state:#}");
    assert!(told(&path, 0).contains("writing the checkpoint of level "));
    job.kill_all();
}

#[test]
fn killed_before_anything_was_saved() {
    let folder = scratch();
    let (reference, path) = (folder.path().join("reference"), folder.path().join("run"));
    succeed(&mut run(&reference, "turnstyle-8"));
    let (code, _, _) = outcome(fault(&mut run(&path, "turnstyle-8"), "generation-create", 1, "kill"));
    assert_ne!(code, 0);
    // Those who watch are told what works: there is nothing to resume.
    let (code, _, stderr) = outcome(farthest().arg("watch").arg(&path));
    let advice = format!("go on with: farthest run {0}/run.toml --out {0}", path.display());
    assert!(code == 1 && stderr.contains(&advice), "{stderr}");
    for missing in [false, true] {
        if missing {
            let _ = fs::remove_file(path.join("progress.json"));
        }
        let (code, state) = status(&path);
        assert_eq!(code, 1, "{state:#}");
        check(&state, &[("phase", "killed".into()), ("checkpoint", Value::Null), ("found", 0.into()), ("puzzle", "turnstyle-8".into())]);
        if missing {
            go_on(&state, &path, &reference);
        }
    }
}

/// Without a run there is one line and nothing else, and a folder is left as it was; also inside a
/// job, where no MPI is started.
#[test]
fn no_run() {
    let folder = scratch();
    let (empty, foreign) = (folder.path().join("empty"), folder.path().join("foreign"));
    fs::create_dir(&empty).expect("created");
    fs::create_dir(&foreign).expect("created");
    fs::write(foreign.join("letter.txt"), "Dear all").expect("written");
    for (path, code, part) in [
        (empty.clone(), 78, "found no run, expected a folder with run.toml or summary.json"),
        (foreign.clone(), 78, "found no run"),
        (folder.path().join("none"), 74, "check the spelling of the path"),
        (foreign.join("letter.txt"), 74, "letter.txt"),
    ] {
        let stderr = fail_with(code, farthest().arg("status").arg(&path).env("OMPI_COMM_WORLD_SIZE", "4").env("OMPI_COMM_WORLD_RANK", "0"));
        assert!(only_line(&stderr).contains(part), "{stderr}");
    }
    assert!(contents(&empty).is_empty());
    assert_eq!(contents(&foreign).keys().collect::<Vec<_>>(), ["letter.txt"]);
}
