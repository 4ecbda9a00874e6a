//! One search on several hosts: results with the same bytes whether they share a file system or
//! not, and nothing lost when one of them fails.
//!
//! Two kinds of hosts. *Folders apart*: groups of MPI processes on this machine, each with a
//! working folder of its own, so that the same relative run folder is another one for each group;
//! this needs nothing. *Networks*: namespaces with an address, a name and mounts of their own
//! (`hosts/network.sh`), between which mpirun starts its daemons as it does over ssh; where they
//! cannot be made a test is skipped, and what folders apart show is the next best.

mod common;

use common::disturb::{file_points, names, only_line, scratch};
use common::needs::{Need, own_networks, test_lacks};
use common::{farthest, farthest_under, outcome, result_bytes, succeed};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_farthest");

/// Writes a configuration with a folder for each host.
fn config(folder: &Path, puzzle: &str, search: &str) -> String {
    let path = folder.join("hosts.toml");
    fs::write(&path, format!("puzzle = \"{puzzle}\"\n[search]\nshared_filesystem = false\ncheckpoint_seconds = 0\n{search}"))
        .expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// The bytes of a run of the configuration by one process.
fn reference(folder: &Path, config: &str) -> BTreeMap<String, Vec<u8>> {
    let path = folder.join("reference");
    succeed(farthest().args(["run", config, "--quiet", "--threads", "1", "--out"]).arg(&path));
    result_bytes(&path)
}

/// The program on groups of processes, each in the folder of this name and called with these words.
fn apart(folder: &Path, groups: &[(&str, u32)], words: &[&str]) -> Command {
    let mut line = vec!["mpirun".to_owned()];
    for (number, (name, processes)) in groups.iter().enumerate() {
        fs::create_dir_all(folder.join(name)).expect("created");
        let wdir = folder.join(name).to_str().expect("UTF-8").to_owned();
        line.extend((number > 0).then(|| ":".to_owned()));
        line.extend(["-n".to_owned(), processes.to_string(), "--wdir".to_owned(), wdir]);
        // The last group's program and words follow as those of the command.
        if number + 1 < groups.len() {
            line.push(PROGRAM.to_owned());
            line.extend(words.iter().chain(&["--quiet", "--progress", "none", "--threads", "1"]).map(|&word| word.to_owned()));
        }
    }
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let mut command = farthest_under(&line, Path::new(PROGRAM));
    command.args(words).args(["--quiet", "--progress", "none", "--threads", "1"]);
    // Killed processes leave the memory that Open MPI shares between them: it goes with the folder.
    command.env("TMPDIR", folder).env("OMPI_MCA_btl_vader_backing_directory", folder);
    command
}

/// The lines of the program itself among those of mpirun.
fn own_lines(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.starts_with("farthest: ")).collect()
}

fn only_lock() -> BTreeSet<String> {
    BTreeSet::from(["lock".to_owned()])
}

/// Groups of processes, where each of these sessions is killed: a fault point and the process that
/// passes it.
type Session<'a> = (&'a [(&'a str, u32)], Option<(&'a str, u32)>);

/// The first process on one disk or another, hosts that come and go, a kill at every step of a
/// commit on either side.
const SESSIONS: [Session<'_>; 6] = [
    (&[("a", 2), ("b", 2)], Some(("pack-sync:4", 3))),
    (&[("a", 2), ("b", 2)], Some(("after-commit:3", 0))),
    (&[("b", 1), ("a", 1)], Some(("before-commit:3", 0))),
    (&[("c", 2), ("b", 1), ("a", 1)], Some(("old-removed:4", 2))),
    (&[("b", 3), ("c", 1), ("a", 1)], Some(("after-commit:2", 0))),
    (&[("a", 1), ("c", 2), ("b", 1)], None),
];

#[test]
fn folders_apart_interrupted_and_resumed_on_others() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let ways = [
        ("turnstyle-9", ""),
        ("turnstyle-9", "storage = \"compact\"\nexpansion = \"lanes\"\n"),
        // Blocks are sent in many rounds.
        ("turnstyle-8", "expansion = \"states\"\nround_kib = 1\nleading_positions = 1\n"),
        ("turnstyle-8", "expansion = \"unseen\"\n"),
    ];
    for (puzzle, search) in ways {
        let folder = scratch();
        let config = config(folder.path(), puzzle, search);
        let expected = reference(folder.path(), &config);
        for (number, (groups, kill)) in SESSIONS.into_iter().enumerate() {
            let words = if number == 0 { vec!["run", &config, "--out", "run"] } else { vec!["resume", "run"] };
            let mut command = apart(folder.path(), groups, &words);
            if let Some((point, process)) = kill {
                command.env("FARTHEST_FAULT", format!("{point}:kill")).env("FARTHEST_FAULT_PROCESS", process.to_string());
            }
            let (code, stdout, stderr) = outcome(&mut command);
            let what = format!("{puzzle} {search:?}, session {number}: {code}\n{stdout}\n{stderr}");
            assert!(!stderr.contains("not usable"), "every checkpoint is whole: {what}");
            assert_eq!(code == 0, kill.is_none(), "{what}");
            assert!(![75, 78, 124].contains(&code), "{what}");
            if kill.is_some() {
                assert!(["a", "b", "c"].iter().all(|name| !folder.path().join(name).join("run/SHA256SUMS").exists()), "{what}");
            }
        }
        assert_eq!(result_bytes(&folder.path().join("a/run")), expected, "{puzzle} {search:?}");
        for other in ["b/run", "c/run"] {
            assert_eq!(names(&folder.path().join(other)), only_lock(), "{puzzle} {search:?}");
        }
        // Complete for everybody, wherever the first process is.
        let (code, stdout, stderr) = outcome(&mut apart(folder.path(), &[("b", 1), ("a", 1)], &["resume", "run"]));
        assert_eq!((code, stdout.as_str()), (0, ""), "{stderr}");
        assert_eq!(result_bytes(&folder.path().join("a/run")), expected);
    }
}

/// At every kind of file operation, on the first process's disk and on another: a full disk ends
/// the job with the documented code, a kill with another one, and neither costs a byte.
#[test]
fn folders_apart_and_a_fault_at_every_file_operation() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let config = config(folder.path(), "turnstyle-8", "leading_positions = 1\n");
    let expected = reference(folder.path(), &config);
    let mut faults = 0;
    for (number, point) in file_points().into_iter().enumerate() {
        for process in [0, 2] {
            let action = if (number + process) % 2 == 0 { "kill" } else { "enospc" };
            let what = format!("{point} in process {process}: {action}");
            let run = format!("{point}-{process}");
            let mut command = apart(folder.path(), &[("a", 2), ("b", 1)], &["run", &config, "--out", &run]);
            let (code, _, stderr) =
                outcome(command.env("FARTHEST_FAULT", format!("{point}:2:{action}")).env("FARTHEST_FAULT_PROCESS", process.to_string()));
            assert!(![75, 78, 124].contains(&code) && (action == "kill" || [0, 74].contains(&code)), "{what}: {code}: {stderr}");
            faults += u32::from(code != 0);
            let (code, _, stderr) = outcome(&mut apart(folder.path(), &[("b", 1), ("a", 2)], &["run", &config, "--out", &run]));
            assert!(code == 0 && !stderr.contains("not usable"), "{what}: {code}: {stderr}");
            let complete: Vec<_> =
                ["a", "b"].iter().map(|disk| folder.path().join(disk).join(&run)).filter(|run| run.join("SHA256SUMS").exists()).collect();
            assert_eq!(complete.len(), 1, "{what}");
            assert_eq!(result_bytes(&complete[0]), expected, "{what}");
            let left = ["a", "b"].iter().any(|disk| folder.path().join(disk).join(&run).join("checkpoint").exists());
            assert!(!left, "{what}");
        }
    }
    assert!(faults > 12, "{faults} faults");
}

#[test]
fn a_damaged_or_missing_part_on_another_disk_costs_one_checkpoint() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let config = config(folder.path(), "turnstyle-9", "expansion = \"states\"\n");
    let expected = reference(folder.path(), &config);
    let both = [("a", 1), ("b", 1)];
    for damage in ["changed", "removed"] {
        let mut command = apart(folder.path(), &both, &["run", &config, "--out", damage]);
        let (code, _, stderr) = outcome(command.env("FARTHEST_FAULT", "after-commit:14:kill").env("FARTHEST_FAULT_PROCESS", "0"));
        assert_ne!(code, 0, "{stderr}");
        let checkpoint = folder.path().join("b").join(damage).join("checkpoint");
        let newest = names(&checkpoint).into_iter().rfind(|name| name.starts_with("gen-")).expect("a generation");
        let pack = checkpoint.join(&newest).join(names(&checkpoint.join(&newest)).pop_first().expect("a pack"));
        if damage == "changed" {
            let mut bytes = fs::read(&pack).expect("readable");
            bytes[40] ^= 1;
            fs::write(&pack, bytes).expect("written");
        } else {
            fs::remove_file(&pack).expect("removed");
        }
        let (code, _, stderr) = outcome(&mut apart(folder.path(), &[("a", 2)], &["resume", damage]));
        assert_eq!(code, 65, "without the other disk there is nothing to go on from: {stderr}");
        let (code, _, stderr) = outcome(&mut apart(folder.path(), &[("b", 1), ("a", 2)], &["resume", damage]));
        assert_eq!(code, 0, "{stderr}");
        let warnings: Vec<&str> = stderr.lines().filter(|line| line.contains("is not usable")).collect();
        assert!(warnings.len() == 1 && warnings[0].contains(&newest), "{stderr}");
        assert_eq!(result_bytes(&folder.path().join("b").join(damage)), expected, "{damage}");
    }
}

#[test]
fn a_false_declaration_is_noticed() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let path = config(folder.path(), "turnstyle-8", "");
    let expected = reference(folder.path(), &path);
    let shared = folder.path().join("shared.toml");
    fs::write(&shared, "puzzle = \"turnstyle-8\"\n").expect("written");
    let shared = shared.to_str().expect("UTF-8");
    // Declared as shared and not shared: refused before anything is searched.
    let (code, _, stderr) = outcome(&mut apart(folder.path(), &[("a", 2), ("b", 1)], &["run", shared, "--out", "run"]));
    let lines = own_lines(&stderr);
    assert!(code == 78 && lines.len() == 1, "{code}: {stderr}");
    assert!(lines[0].contains("process 2 failed: host ") && lines[0].contains("does not see the run folder run of process 0"), "{stderr}");
    assert!(lines[0].contains("or set shared_filesystem = false"), "{stderr}");
    assert!(!folder.path().join("a/run/checkpoint").exists() && names(&folder.path().join("b")).is_empty());
    assert!(names(&folder.path().join("a/run")).iter().all(|name| !name.starts_with('.')), "no token is left");
    // Declared as apart and shared: one folder, led by one process.
    let run = folder.path().join("together");
    let mut command = apart(folder.path(), &[("a", 2), ("b", 2)], &["run", &path, "--out", run.to_str().expect("UTF-8")]);
    succeed(&mut command);
    assert_eq!(result_bytes(&run), expected);
    let run = folder.path().join("participants");
    succeed(farthest().args(["run", &path, "--participants", "3", "--quiet", "--out"]).arg(&run));
    assert_eq!(result_bytes(&run), expected);
    // Another configuration of the same name.
    fs::write(folder.path().join("a/own.toml"), "puzzle = \"turnstyle-8\"\n[search]\nshared_filesystem = false\n").expect("written");
    fs::write(folder.path().join("b/own.toml"), "puzzle = \"turnstyle-9\"\n[search]\nshared_filesystem = false\n").expect("written");
    let (code, _, stderr) = outcome(&mut apart(folder.path(), &[("a", 1), ("b", 1)], &["run", "own.toml", "--out", "other"]));
    let lines = own_lines(&stderr);
    assert!(code == 78 && lines.len() == 1 && lines[0].contains("reads another configuration than process 0"), "{code}: {stderr}");
    assert!(!folder.path().join("a/other").exists());
    // Somebody else's files, on the other disk.
    fs::create_dir(folder.path().join("b/foreign")).expect("created");
    fs::write(folder.path().join("b/foreign/letter.txt"), "Dear all").expect("written");
    let (code, _, stderr) = outcome(&mut apart(folder.path(), &[("a", 1), ("b", 1)], &["run", &path, "--out", "foreign"]));
    assert!(code == 73 && own_lines(&stderr)[0].contains("is no run folder (it holds \"letter.txt\")"), "{code}: {stderr}");
    // Levels are archived in one folder only.
    let stderr = common::disturb::fail_with(78, farthest().args(["run", &path, "--keep-levels", "--out"]).arg(folder.path().join("kept")));
    assert!(only_line(&stderr).contains("found shared_filesystem = false together with keep_levels"), "{stderr}");
}

#[test]
fn a_recheck_with_folders_apart() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let config = config(folder.path(), "turnstyle-9", "");
    let both = [("a", 2), ("b", 1)];
    succeed(&mut apart(folder.path(), &both, &["run", &config, "--out", "run"]));
    let (code, _, stderr) = outcome(&mut apart(folder.path(), &both, &["recheck", "run", "--max-hours", "1us"]));
    assert_eq!(code, 75, "{stderr}");
    let (code, _, stderr) = outcome(&mut apart(folder.path(), &[("a", 1), ("b", 2)], &["recheck", "run"]));
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(common::json(&folder.path().join("a/run"), "manifest.json")["evidence"], "rechecked");
    assert_eq!(names(&folder.path().join("b/run")), only_lock());
}

/// Runs a script after `hosts/network.sh`, in namespaces that end with it.
fn with_network(script: &str, folder: &Path) {
    let network = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hosts/network.sh");
    let script = format!(". {}\n{script}", network.display());
    let mut command = farthest_under(&[&own_networks()[..], &["bash", "-c", &script]].concat(), Path::new(PROGRAM));
    let (code, stdout, stderr) = outcome(command.env("FOLDER", folder).env("PROGRAM", PROGRAM));
    assert_eq!(code, 0, "{stdout}\n{stderr}");
}

#[test]
fn hosts_with_a_disk_each_give_the_same_bytes() {
    if test_lacks(Need::Mpi) || test_lacks(Need::Networks) {
        return;
    }
    let folder = scratch();
    let config = config(folder.path(), "turnstyle-9", "");
    let script = r#"
        make_host alpha; make_host beta; make_host gamma
        job alpha:2,beta:2 4 run "$FOLDER/hosts.toml" --out "$FOLDER/disk/two"
        job gamma:1,alpha:2,beta:1 4 run "$FOLDER/hosts.toml" --out "$FOLDER/disk/three"
        # They share this folder, and nothing says so.
        job alpha:1,beta:1 2 run "$FOLDER/hosts.toml" --out "$FOLDER/together"
        sed 's/^shared_filesystem.*//' "$FOLDER/hosts.toml" > "$FOLDER/shared.toml"
        job alpha:1,beta:1 2 run "$FOLDER/shared.toml" --out "$FOLDER/shared"
        job alpha:2,beta:2 4 run "$FOLDER/shared.toml" --out "$FOLDER/disk/refused" 2> "$FOLDER/refused" || echo $? > "$FOLDER/code"
    "#;
    with_network(script, folder.path());
    let expected = reference(folder.path(), &config);
    for run in ["disk-alpha/two", "disk-gamma/three", "together"] {
        assert_eq!(result_bytes(&folder.path().join(run)), expected, "{run}");
    }
    for part in ["disk-beta/two", "disk-alpha/three", "disk-beta/three"] {
        assert_eq!(names(&folder.path().join(part)), only_lock(), "{part}");
    }
    let manifest = common::json(&folder.path().join("disk-alpha/two"), "manifest.json");
    assert_eq!(manifest["hosts"], serde_json::json!(["alpha", "alpha", "beta", "beta"]));
    assert!(manifest["bytes_exchanged"].as_u64().expect("a number") > 0, "{manifest}");
    assert_eq!(fs::read_to_string(folder.path().join("code")).expect("refused"), "78\n");
    let refused = fs::read_to_string(folder.path().join("refused")).expect("readable");
    let lines = own_lines(&refused);
    assert!(
        lines.len() == 1 && lines[0].contains("host beta does not see the run folder") && lines[0].contains("of process 0 on host alpha"),
        "{refused}"
    );
}

#[test]
fn a_host_that_fails_ends_the_job_and_costs_little() {
    if test_lacks(Need::Mpi) || test_lacks(Need::Networks) {
        return;
    }
    let folder = scratch();
    let config = config(folder.path(), "turnstyle-10", "expansion = \"states\"\nround_kib = 4\n");
    let script = r#"
        make_host alpha; make_host beta; make_host gamma
        for how in program daemon link; do
            rm -rf "$FOLDER"/disk-*/run
            job alpha:2,beta:2 4 run "$FOLDER/hosts.toml" --out "$FOLDER/disk/run" 2> "$FOLDER/$how-stderr" & job=$!
            wait_for_level alpha 6
            case $how in
                program) kill_on beta farthest ;;
                daemon) kill_on beta ;;
                link) cut_link beta ;;
            esac
            since=$(date +%s)
            code=0; wait $job || code=$?
            echo "$code $(($(date +%s) - since))" > "$FOLDER/$how-end"
            # What is left behind a broken link notices it, too: then the locks are free.
            while [ -n "$(processes_of alpha)$(processes_of beta)" ]; do sleep 0.1; done
            join_link beta
            code=0; on alpha "$PROGRAM" status --json "$FOLDER/disk/run" > "$FOLDER/$how-status" || code=$?
            echo "$code" > "$FOLDER/$how-code"
            on beta "$PROGRAM" status "$FOLDER/disk/run" 2> "$FOLDER/$how-part" || true
            # Neither half goes on alone.
            for host in alpha beta; do
                code=0; on $host "$PROGRAM" run "$FOLDER/hosts.toml" --quiet --out "$FOLDER/disk/run" 2> "$FOLDER/$how-$host" || code=$?
                echo "$code" >> "$FOLDER/$how-$host"
            done
            job gamma,beta,alpha 3 resume "$FOLDER/disk/run"
            cp -r "$FOLDER/disk-gamma/run" "$FOLDER/$how"
        done
    "#;
    with_network(script, folder.path());
    let expected = reference(folder.path(), &config);
    let read = |name: String| fs::read_to_string(folder.path().join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    for (how, said) in [("program", "on node beta exited on signal 9"), ("daemon", "on node beta"), ("link", "on node beta")] {
        let end = read(format!("{how}-end"));
        let (code, seconds) = end.trim().split_once(' ').expect("two numbers");
        let (code, seconds): (i32, u32) = (code.parse().expect("a code"), seconds.parse().expect("seconds"));
        assert!(![0, 75, 124].contains(&code) && seconds < 30, "{how}: {end}");
        assert!(read(format!("{how}-stderr")).contains(said), "{how}: {}", read(format!("{how}-stderr")));
        let status: serde_json::Value = serde_json::from_str(&read(format!("{how}-status"))).expect("JSON");
        assert!(status["phase"] == "killed" && status["host"] == "alpha" && read(format!("{how}-code")) == "1\n", "{status:#}");
        assert!(read(format!("{how}-part")).contains("found a part of a run whose first process is on host alpha"), "{how}");
        let alpha = read(format!("{how}-alpha"));
        assert!(alpha.ends_with("78\n") && alpha.contains("expected on beta, which wrote it; start on that host, too"), "{how}: {alpha}");
        let beta = read(format!("{how}-beta"));
        assert!(beta.ends_with("78\n") && beta.contains("manifest is on host alpha, which is not in this job"), "{how}: {beta}");
        assert_eq!(result_bytes(&folder.path().join(how)), expected, "{how}");
    }
}
