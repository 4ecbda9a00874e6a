//! `certify distance`, `recheck` and `spot-solve` change `manifest.json` of a complete run. Killed
//! before any of their file operations they leave a folder that is whole: `sha256sum -c` passes,
//! every reader accepts it, the label is the one before or after, and the same command ends what
//! was begun.

mod common;

use common::disturb::{copy_folder, fail_with, fault, names, only_line, scratch, sha256};
use common::forge::{edit_sums, replace, shown_label, stated_label};
use common::{certified, checker, contents, farthest, outcome, result_bytes, succeed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A complete run with archived levels.
fn complete(folder: &Path, puzzle: &str) -> PathBuf {
    let run = folder.join("run");
    succeed(farthest().args(["run", puzzle, "--keep-levels", "--quiet", "--participants", "2", "--out"]).arg(&run));
    run
}

fn command(words: &[&str], run: &Path) -> Command {
    let mut command = farthest();
    command.args(words).arg(run);
    command
}

fn sha256sum(run: &Path, context: &str) {
    let (code, stdout, stderr) = outcome(Command::new("sha256sum").args(["--quiet", "-c", "SHA256SUMS"]).current_dir(run));
    assert_eq!(code, 0, "{context}: sha256sum -c\n{stdout}{stderr}");
}

/// The paths in `SHA256SUMS`.
fn listed(run: &Path) -> Vec<String> {
    let sums = fs::read_to_string(run.join("SHA256SUMS")).expect("text");
    sums.lines().map(|line| line[66..].to_owned()).collect()
}

/// Every reader and the checker accept the folder; returns the label that it shows.
fn accepted(run: &Path, context: &str) -> String {
    // What the checker says of a run depends on the certificate: it must not call the folder
    // unreadable or false.
    let (code, stdout, stderr) = outcome(checker("256M").arg(run));
    assert!(code == 0 || (code == 3 && !run.join("distance.cert").exists()), "{context}: farthest-verify: {code}\n{stdout}{stderr}");
    accepted_by_readers(run, context)
}

/// The readers of this program accept the folder.
fn accepted_by_readers(run: &Path, context: &str) -> String {
    sha256sum(run, context);
    assert!(!run.join("SHA256SUMS.next").exists(), "{context}");
    let missing: Vec<&str> = ["antipodes.tsv", "distribution.tsv", "levels.tsv", "run.toml", "samples.tsv", "summary.json"]
        .into_iter()
        .filter(|name| !listed(run).iter().any(|there| there == name))
        .collect();
    assert!(missing.is_empty(), "{context}: only manifest.json may be missing: {missing:?}");
    succeed(farthest().arg("status").arg(run));
    shown_label(run)
}

/// Kills the command before every file operation, and repeats it.
fn sweep(words: &[&str], base: &Path, before: &str, after: &str) {
    sweep_with(words, base, before, after, true);
}

/// The same where the checker refuses what is there before: it accepts what is there in the end.
fn sweep_from_refused(words: &[&str], base: &Path, before: &str, after: &str) {
    sweep_with(words, base, before, after, false);
}

fn sweep_with(words: &[&str], base: &Path, before: &str, after: &str, is_right: bool) {
    let folder = scratch();
    let results = result_bytes(base);
    let mut seen = [0, 0];
    let mut without_line = 0;
    for pass in 1.. {
        let copy = folder.path().join("copy");
        copy_folder(base, &copy);
        let context = format!("{words:?} FARTHEST_FAULT=*:{pass}:kill");
        let (code, _, stderr) = outcome(fault(&mut command(words, &copy), "*", pass, "kill"));
        let label = if is_right { accepted(&copy, &context) } else { accepted_by_readers(&copy, &context) };
        assert!(label == before || label == after, "{context}: {label}");
        seen[usize::from(label == after)] += 1;
        without_line += usize::from(!listed(&copy).iter().any(|name| name == "manifest.json"));
        succeed(&mut command(words, &copy));
        assert_eq!(accepted(&copy, &context), after, "{context}");
        assert_eq!(stated_label(&copy), after, "{context}");
        assert_eq!(result_bytes(&copy), results, "{context}");
        assert!(listed(&copy).iter().any(|name| name == "manifest.json"), "{context}: the line of the manifest is back");
        let left: Vec<String> = names(&copy).into_iter().filter(|name| name.ends_with(".tmp") || name == "recheck").collect();
        assert!(left.is_empty(), "{context}: {left:?}");
        fs::remove_dir_all(&copy).expect("removable");
        if code == 0 {
            break;
        }
        assert_eq!(code, -1, "{context}: {stderr}");
    }
    eprintln!("{words:?}: {seen:?} kills before and after, {without_line} with no line for manifest.json");
    assert!(seen[0] + seen[1] > 12 && without_line >= 6, "{seen:?} {without_line}: the fault points have moved");
}

#[test]
fn a_killed_certify_distance_leaves_a_whole_run() {
    let folder = scratch();
    sweep(&["certify", "distance"], &complete(folder.path(), "turnstyle-5"), "single run", "certified");
}

/// Again, over an earlier certificate of other bytes, and in a folder of an earlier version, which
/// lists neither the certificate nor the archive.
#[test]
fn a_killed_second_certify_distance_leaves_a_whole_run() {
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-5");
    succeed(&mut command(&["certify", "distance"], &run));
    let old = folder.path().join("old");
    copy_folder(&run, &old);
    edit_sums(&old, |line| (!line.contains("levels/") && !line.ends_with("distance.cert")).then(|| line.to_owned()));
    sweep(&["certify", "distance"], &old, "certified", "certified");
    assert_eq!(listed(&run).iter().filter(|name| name.starts_with("levels/")).count(), 20);
    let remark = |run: &Path, name: &str, text: &str| {
        let copy = folder.path().join(name);
        copy_folder(run, &copy);
        let before = sha256(&copy.join("distance.cert"));
        replace(&copy, "distance.cert", "claim distance\n", text);
        replace(&copy, "manifest.json", &before, &sha256(&copy.join("distance.cert")));
        common::forge::sum_again(&copy);
        copy
    };
    // A recorded certificate with a remark is as good as the one that would be written.
    let remarked = remark(&run, "remarked", "# a remark\nclaim distance\n");
    sweep(&["certify", "distance"], &remarked, "certified", "certified");
    // The record of one that names no file goes first: until the new one is verified, there is
    // none.
    let broken = remark(&run, "broken", "claim word\n");
    assert_eq!(shown_label(&broken), "single run");
    sweep_from_refused(&["certify", "distance"], &broken, "single run", "certified");
}

#[test]
fn a_killed_recheck_leaves_a_whole_run() {
    let folder = scratch();
    sweep(&["recheck", "--quiet"], &complete(folder.path(), "turnstyle-5"), "single run", "rechecked");
}

/// A spot solve that finds nothing wrong changes no label.
#[test]
fn a_killed_spot_solve_leaves_a_whole_run() {
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-5");
    sweep(&["spot-solve"], &run, "single run", "single run");
    succeed(&mut command(&["certify", "distance"], &run));
    sweep(&["spot-solve"], &run, "certified", "certified");
}

/// A full or broken disk ends the command in one line, and leaves what a kill leaves.
#[test]
fn a_full_disk_leaves_a_whole_run() {
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-5");
    for (words, after) in [(&["certify", "distance"][..], "certified"), (&["spot-solve"], "single run")] {
        for pass in 1.. {
            let copy = folder.path().join("copy");
            copy_folder(&run, &copy);
            let (code, _, stderr) = outcome(fault(&mut command(words, &copy), "*", pass, "enospc"));
            let context = format!("{words:?} pass {pass}");
            let label = accepted(&copy, &context);
            assert!(["single run", after].contains(&label.as_str()), "{context}: {label}");
            succeed(&mut command(words, &copy));
            assert_eq!(accepted(&copy, &context), after, "{context}");
            fs::remove_dir_all(&copy).expect("removable");
            if code == 0 {
                break;
            }
            assert!(code == 74 && stderr.lines().last().expect("a line").contains("free space"), "{context}: {code} {stderr}");
        }
    }
}

/// What earlier versions left when they were killed: with `SHA256SUMS.next`, between their renames.
#[test]
fn what_an_earlier_version_left_is_ended() {
    let folder = scratch();
    let run = certified("turnstyle-5", "step", folder.path());
    let before = folder.path().join("before");
    copy_folder(&run, &before);
    succeed(&mut command(&["recheck", "--quiet"], &run));
    let state = |name: &str, manifest: &Path, sums: &Path| {
        let copy = folder.path().join(name);
        copy_folder(&before, &copy);
        fs::copy(run.join("SHA256SUMS"), copy.join("SHA256SUMS.next")).expect("copied");
        fs::copy(manifest.join("manifest.json"), copy.join("manifest.json")).expect("copied");
        fs::copy(sums.join("SHA256SUMS"), copy.join("SHA256SUMS")).expect("copied");
        copy
    };
    // Before the first rename, and after the second, the left-over is passed over, and the next
    // change removes it.
    for copy in [state("none", &before, &before), state("both", &run, &run)] {
        succeed(farthest().arg("table").arg(&copy));
        succeed(farthest().arg("status").arg(&copy));
        succeed(&mut command(&["spot-solve"], &copy));
        accepted(&copy, "after the next change");
    }
    // Between them the error says what to do, and it works.
    let copy = state("between", &run, &before);
    for words in [&["table"][..], &["status"], &["recheck", "--quiet"], &["certify", "distance"], &["spot-solve"]] {
        let stderr = fail_with(65, &mut command(words, &copy));
        let line = only_line(&stderr);
        assert!(
            line.contains("manifest.json: found SHA-256") && line.contains("run mv SHA256SUMS.next SHA256SUMS in the run folder"),
            "{line}"
        );
    }
    succeed(Command::new("mv").args(["SHA256SUMS.next", "SHA256SUMS"]).current_dir(&copy));
    assert_eq!(accepted(&copy, "after the advice"), "certified");
    assert_eq!(contents(&copy)["manifest.json"], contents(&run)["manifest.json"]);
}

/// Two commands do not change one manifest at a time.
#[test]
fn one_change_at_a_time() {
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-5");
    let lock = farthest::search::RunFolder::new(&run).lock(farthest::search::LeftBehind::Refuse).expect("free");
    for words in [&["certify", "distance"][..], &["spot-solve"], &["recheck", "--quiet"]] {
        let stderr = fail_with(73, &mut command(words, &run));
        assert!(only_line(&stderr).contains("another job is using this run folder"), "{stderr}");
    }
    drop(lock);
    succeed(&mut command(&["spot-solve"], &run));
    // A folder that holds no run is not made one.
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).expect("created");
    for words in [&["certify", "distance"][..], &["spot-solve"]] {
        fail_with(74, &mut command(words, &empty));
    }
    assert!(names(&empty).is_empty());
}
