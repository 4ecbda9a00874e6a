//! Two jobs and left-behind marks on file systems without locks.

use crate::common::disturb::{Job, fail_with, fault, names, only_line, scratch, slow_config, wait_until};
use crate::common::{farthest, result_bytes};
use crate::{run, undisturbed};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The file system says that it has no locks.
fn without_locks(command: &mut Command) -> &mut Command {
    fault(command, "folder-lock", 1, "enolck")
}

const OWNER: &str = "lock.owner";

#[test]
fn two_jobs_on_a_folder_without_locks() {
    let folder = scratch();
    let config = slow_config(folder.path());
    let path = folder.path().join("run");
    let mut job = Job::start(without_locks(&mut run(&config, &path, &["--threads", "1"])));
    job.wait_for_level(&path, 2);
    let owner = format!("process id {}", job.program().pid);
    let before = fs::read_to_string(path.join(OWNER)).expect("a mark");
    assert!(["host ", &owner, "job ", "started 2", "beat "].iter().all(|part| before.contains(part)), "{before}");
    let program = job.program();
    // Held for a moment, so that the search is not over too soon: the second job is refused whether
    // it sees locks or not.
    program.freeze();
    for hidden in [true, false] {
        let mut second = run(&config, &path, &["--threads", "1"]);
        let stderr = fail_with(73, if hidden { without_locks(&mut second) } else { &mut second });
        let line = only_line(&stderr);
        assert!(line.contains("another job is using this run folder") && line.contains(&owner) && line.contains("--break-lock"), "{line}");
    }
    program.thaw();
    let (code, stdout, stderr) = job.finish();
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "", ""));
    assert!(!path.join(OWNER).exists(), "the mark goes with the job");
}

#[test]
fn the_mark_of_a_killed_job_is_taken_over_when_asked_for_and_that_of_a_living_one_never() {
    let folder = scratch();
    let config = slow_config(folder.path());
    let bytes = undisturbed(&config);
    let path = folder.path().join("run");
    // A living job beats every two seconds.
    let long = folder.path().join("long.toml");
    fs::write(&long, "puzzle = \"turnstyle-12\"\n[search]\nexpansion = \"states\"\n").expect("written");
    let lives = folder.path().join("lives");
    let mut job = Job::start(without_locks(&mut run(long.to_str().expect("UTF-8"), &lives, &["--threads", "1"])));
    let killed = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            wait_until("the mark is there", || lives.join(OWNER).exists());
            fail_with(73, without_locks(&mut run(long.to_str().expect("UTF-8"), &lives, &["--break-lock"])))
        });
        // Meanwhile a job is killed, and its mark stays.
        fail_with(-1, fault(&mut run(&config, &path, &["--threads", "1"]), "generation-create", 4, "kill"));
        let killed = format!("host {}\nprocess id 4194999\njob 17\nstarted 2020-01-01T00:00:00Z\nbeat 9\n", host());
        fs::write(path.join(OWNER), &killed).expect("written");
        let line = watcher.join().expect("refused");
        assert!(only_line(&line).contains("is alive, so --break-lock leaves it alone"), "{line}");
        killed
    });
    // It is told when the mark is not its own any more.
    let pid = job.program().pid;
    fs::write(lives.join(OWNER), &killed).expect("written");
    let since = Instant::now();
    wait_until("the job that lost its mark ends", || !job.is_running());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    let (code, _, stderr) = job.finish();
    assert!(code == 73 && only_line(&stderr).contains("another job took the run folder over"), "{pid}: {code} {stderr}");

    let stderr = fail_with(73, without_locks(&mut run(&config, &path, &[])));
    let line = only_line(&stderr);
    assert!(line.contains("was killed: there is no process 4194999 here; take the folder over with --break-lock"), "{line}");
    assert!(line.contains("job 17, started 2020-01-01T00:00:00Z"), "{line}");
    // Of another host nothing is known.
    fs::write(path.join(OWNER), killed.replace(&host(), "elsewhere")).expect("written");
    let stderr = fail_with(73, without_locks(&mut run(&config, &path, &[])));
    assert!(only_line(&stderr).contains("if it was killed take the folder over with --break-lock"), "{stderr}");
    assert_eq!(fail_with(0, without_locks(&mut run(&config, &path, &["--threads", "1", "--break-lock"]))), "");
    assert_eq!(result_bytes(&path), bytes);
    assert!(!path.join(OWNER).exists());
}

fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").expect("readable").trim().to_owned()
}

/// Starts the commands at the same time, and gives their codes, outputs and what they said.
fn at_once(commands: Vec<Command>) -> Vec<(i32, String, String)> {
    let jobs: Vec<Job> = commands.into_iter().map(|mut command| Job::start(&mut command)).collect();
    jobs.into_iter().map(Job::finish).collect()
}

/// Of fifty that start at the same time one gets the folder; the others are told who has it,
/// whatever the moment they come at. Half of the winners hold it to the end of all others, half are
/// done before, and the rest finds a complete run.
#[test]
fn of_fifty_simultaneous_starts_one_wins() {
    let folder = scratch();
    let quick = folder.path().join("quick.toml");
    fs::write(&quick, "puzzle = \"turnstyle-6\"\n[search]\ncheckpoint_seconds = 0\n").expect("written");
    let apart = folder.path().join("apart.toml");
    fs::write(&apart, "puzzle = \"turnstyle-6\"\n[search]\nshared_filesystem = false\n").expect("written");
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let quick_bytes = {
        let path = folder.path().join("alone");
        fail_with(0, &mut run(&text(&quick), &path, &["--threads", "1"]));
        result_bytes(&path)
    };
    for round in 0..6 {
        let path = folder.path().join(format!("run-{round}"));
        // The folder is new, or there and empty, or that of a stopped run.
        match round % 3 {
            1 => fs::create_dir(&path).expect("created"),
            2 => drop(fail_with(75, fault(&mut run(&text(&quick), &path, &["--threads", "1"]), "generation-create", 3, "signal"))),
            _ => {}
        }
        let stalls = round < 3;
        let start = |number: u32| {
            let config = if round == 4 { &apart } else { &quick };
            let mut command = run(&text(config), &path, &["--threads", "1", "--participants", if round == 5 { "2" } else { "1" }]);
            if round % 3 == 2 && number % 2 == 1 {
                command = farthest();
                command.args(["resume", "--quiet", "--threads", "1"]).arg(&path);
            }
            if stalls {
                // Whoever gets so far holds the lock.
                fault(&mut command, "generation-create", 1, "stall");
            }
            command
        };
        let mut jobs: Vec<Job> = (0..50).map(|number| Job::start(&mut start(number))).collect();
        if stalls {
            wait_until("one is left", || jobs.iter_mut().filter_map(|job| job.is_running().then_some(())).count() == 1);
            let winner = jobs.iter().position(|job| !job.programs().is_empty()).expect("the winner");
            let winner = jobs.swap_remove(winner);
            let losers: Vec<_> = jobs.into_iter().map(Job::finish).collect();
            check_losers(&losers, &winner.program().pid.to_string());
            drop(winner);
            fail_with(0, &mut run(&text(&quick), &path, &["--threads", "1"]));
        } else {
            let ends: Vec<_> = jobs.into_iter().map(Job::finish).collect();
            let (winners, losers): (Vec<_>, Vec<_>) = ends.into_iter().partition(|(code, ..)| *code == 0);
            assert!(!winners.is_empty(), "{losers:?}");
            assert!(winners.iter().all(|(_, stdout, stderr)| stdout.is_empty() && stderr.is_empty()), "{winners:?}");
            check_losers(&losers, "");
        }
        let mut bytes = result_bytes(&path);
        let mut expected = quick_bytes.clone();
        if round == 4 {
            bytes.remove("run.toml");
            expected.remove("run.toml");
        }
        assert_eq!(bytes, expected, "round {round}");
        assert!(!names(&path).iter().any(|name| name.starts_with(".probe") || name.ends_with(".tmp")), "{:?}", names(&path));
    }
}

fn check_losers(losers: &[(i32, String, String)], owner: &str) {
    for (code, stdout, stderr) in losers {
        assert_eq!((*code, stdout.as_str()), (73, ""), "{stderr}");
        let line = only_line(stderr);
        assert!(line.contains("another job is using this run folder") && line.contains(owner), "{line}");
    }
}

#[test]
fn of_fifty_simultaneous_rechecks_one_wins() {
    let folder = scratch();
    let path = folder.path().join("run");
    fail_with(0, farthest().args(["run", "turnstyle-6", "--quiet", "--threads", "1", "--out"]).arg(&path));
    let recheck = || {
        let mut command = farthest();
        command.args(["recheck", "--quiet", "--threads", "1", "--checkpoint-seconds", "0"]).arg(&path);
        command
    };
    let mut jobs: Vec<Job> = (0..50).map(|_| Job::start(fault(&mut recheck(), "generation-create", 1, "stall"))).collect();
    wait_until("one is left", || jobs.iter_mut().filter_map(|job| job.is_running().then_some(())).count() == 1);
    let winner = jobs.iter().position(|job| !job.programs().is_empty()).expect("the winner");
    let winner = jobs.swap_remove(winner);
    let losers: Vec<_> = jobs.into_iter().map(Job::finish).collect();
    check_losers(&losers, &winner.program().pid.to_string());
    drop(winner);
    let ends = at_once((0..50).map(|_| recheck()).collect());
    let (winners, losers): (Vec<_>, Vec<_>) = ends.into_iter().partition(|(code, ..)| *code == 0);
    assert!(!winners.is_empty(), "{losers:?}");
    check_losers(&losers, "");
    assert!(!path.join("recheck").exists());
}
