//! Two jobs and left-behind marks on file systems without locks.

use crate::common::disturb::{Job, fail_with, fault, only_line, scratch, slow_config, wait_until};
use crate::common::result_bytes;
use crate::{run, undisturbed};
use std::fs;
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
    // Held for a moment, so that the search is not over too soon: the second job is refused whether it sees locks or not.
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
