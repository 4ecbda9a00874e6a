//! A recheck repeats a run in another way: equal levels earn the run a label, any difference is
//! found, named, and never forgotten.

mod common;

use common::disturb::{copy_folder, fail_with, fault, mpirun_beside, names, only_line, scratch};
use common::forge::{alter, claim, exchanged, fingerprint_again, replace, sum_again};
use common::needs::{Need, test_lacks};
use common::{SAME_BYTES, certified, farthest, json, outcome, result_bytes, succeed};
use farthest::base::StateRank;
use farthest::evidence::Evidence;
use farthest::families::run_folder;
use farthest::ranking::StateSpace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn recheck(folder: &Path) -> Command {
    let mut command = farthest();
    command.args(["recheck", "--progress", "none"]).arg(folder);
    command
}

/// A complete run of `puzzle` with these search settings.
fn complete(folder: &Path, puzzle: &str, search: &str, more: &[&str]) -> PathBuf {
    let config = folder.join("config.toml");
    fs::write(&config, format!("puzzle = \"{puzzle}\"\n[search]\n{search}\n")).expect("written");
    let run = folder.join("run");
    succeed(farthest().arg("run").arg(&config).args(["--quiet", "--out"]).arg(&run).args(more));
    run
}

fn label(run: &Path) -> Evidence {
    run_folder::read(run).expect("a whole run folder").evidence
}

#[test]
fn every_way_to_search_is_confirmed_by_another_one() {
    for (settings, more, by) in [
        ("expansion = \"lanes\"", ["--participants", "2"], "states"),
        ("expansion = \"unseen\"\nleading_positions = 2", ["--threads", "2"], "states"),
        ("expansion = \"states\"\nleading_positions = 0", ["--threads", "1"], "lanes"),
    ] {
        let folder = scratch();
        let run = complete(folder.path(), "turnstyle-8", settings, &more);
        let before = result_bytes(&run);
        assert_eq!(label(&run), Evidence::SingleRun);
        let said = succeed(&mut recheck(&run));
        assert!(said.starts_with("turnstyle-8 step: rechecked: all 25 levels and the antipodes are equal"), "{said}");
        assert_eq!(label(&run), Evidence::Rechecked);
        assert_eq!(result_bytes(&run), before);
        assert!(!run.join("recheck").exists() && !run.join("SHA256SUMS.next").exists(), "{:?}", names(&run));
        let manifest = json(&run, "manifest.json");
        let (was, is) = (&manifest, &manifest["rechecks"][0]);
        assert_ne!(was["processes"], is["processes"], "{manifest:#}");
        assert_ne!(was["shards"], is["shards"], "{manifest:#}");
        assert_eq!(is["generators"], serde_json::json!(["F", "L", "R"]));
        assert_eq!(is["expansions"], serde_json::json!([by]));
        assert!(was["levels"].as_array().expect("levels").iter().all(|level| level["expansion"] != by), "{manifest:#}");
        let table = succeed(farthest().args(["table", "--format", "csv"]).arg(&run));
        assert!(table.lines().nth(1).expect("a row").ends_with(",rechecked"), "{table}");
    }
}

/// Other families, directed and halved spaces, several planes; as published.
#[test]
fn published_runs_are_confirmed() {
    let folder = scratch();
    for name in
        ["board-2x3n2/quarter", "board-3x4n3/quarter", "loopover-3x3/step", "pancake-7/step", "turnstyle-9/turn", "turnstyle-9/flip"]
    {
        let run = folder.path().join(name);
        copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("results").join(name), &run);
        let said = succeed(recheck(&run).args(["--participants", "2"]));
        assert!(said.contains(": rechecked: all "), "{said}");
    }
}

#[test]
fn several_mpi_processes_recheck_together() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-8", "", &[]);
    for processes in [2, 3] {
        let said = succeed(mpirun_beside(&run, processes).args(["recheck", "--progress", "none"]).arg(&run));
        assert!(said.contains(&format!("equal ({processes} processes")) && said.lines().count() == 1, "{said}");
    }
    assert_eq!(json(&run, "manifest.json")["rechecks"].as_array().map(Vec::len), Some(2));
}

/// What a recheck says of a changed folder, and the change.
type Change<'a> = (&'a str, &'a dyn Fn(&Path));

/// The counts of an independent program: 464 states of depth 12, 9 of depth 15, the last, and so on
/// (`tests/known/turnstyle_step.tsv`). What is altered contradicts nothing that can be told without
/// searching: only a second search finds it.
#[test]
fn altered_results_are_found_named_and_never_called_rechecked() {
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-7", "keep_levels = true", &[]);
    let puzzle = run_folder::read(&run).expect("whole").puzzle;
    let changes: [Change; 4] = [
        ("distribution.tsv: level 12 holds", &|run| {
            assert_eq!(exchanged(run, 12)[13], 464, "of depth 12");
            claim(run, &exchanged(run, 12), 3);
        }),
        ("levels.tsv: level 9 holds", &|run| {
            let text = fs::read_to_string(run.join("levels.tsv")).expect("readable");
            let row = text.lines().nth(10).expect("level 9");
            let other = if row.ends_with('0') { "1" } else { "0" };
            replace(run, "levels.tsv", row, &format!("{}{other}", &row[..row.len() - 1]));
            fingerprint_again(run);
        }),
        // Edges that stay on two levels are said to lead from one to the other.
        ("levels.tsv: level 9 holds", &|run| {
            let text = fs::read_to_string(run.join("levels.tsv")).expect("readable");
            let mut rows: Vec<Vec<String>> = text.lines().map(|row| row.split('\t').map(str::to_owned).collect()).collect();
            let mut change = |row: usize, cell: usize, by: i64| {
                rows[row][cell] = (rows[row][cell].parse::<i64>().expect("a number") + by).to_string();
            };
            for (row, cell, by) in [(10, 3, 1), (10, 4, -1), (11, 2, -1), (11, 3, 1)] {
                change(row, cell, by);
            }
            let rows: Vec<String> = rows.iter().map(|row| row.join("\t") + "\n").collect();
            fs::write(run.join("levels.tsv"), rows.concat()).expect("written");
            sum_again(run);
        }),
        ("antipodes.tsv: line 2 holds", &|run| {
            let first = fs::read_to_string(run.join("antipodes.tsv")).expect("readable").lines().nth(1).expect("an antipode").to_owned();
            let rank: u64 = first.split('\t').next().expect("cells").parse().expect("a rank");
            let other = format!("{}\t{}", rank - 1, puzzle.text(&StateSpace::of(&puzzle).unrank(StateRank(rank - 1))));
            // No sample gives it away.
            let samples = fs::read_to_string(run.join("samples.tsv")).expect("readable");
            let kept: String = samples.lines().filter(|row| !row.starts_with("15\t")).map(|row| format!("{row}\n")).collect();
            fs::write(run.join("samples.tsv"), kept).expect("written");
            alter(run, "antipodes.tsv", &first, &other);
        }),
    ];
    for (number, (place, change)) in changes.into_iter().enumerate() {
        let copy = folder.path().join(number.to_string());
        copy_folder(&run, &copy);
        succeed(&mut recheck(&copy));
        change(&copy);
        assert_eq!(label(&copy), Evidence::Rechecked, "{place}: the altered folder looks whole");
        let before = result_bytes(&copy);
        let stderr = fail_with(1, recheck(&copy).arg("--quiet"));
        let line = only_line(&stderr);
        assert!(line.contains(place) && line.contains("disputed"), "{line}");
        assert_eq!(label(&copy), Evidence::Disputed);
        assert_eq!(result_bytes(&copy), before);
        // Neither an equal recheck nor a certificate decides who is right.
        for name in SAME_BYTES {
            fs::copy(run.join(name), copy.join(name)).expect("copied");
        }
        sum_again(&copy);
        succeed(&mut recheck(&copy));
        assert_eq!(label(&copy), Evidence::Disputed);
        let told = succeed(farthest().args(["certify", "distance"]).arg(&copy));
        assert!(told.contains("verified; the run is now \"disputed\""), "{told}");
        assert_eq!(label(&copy), Evidence::Disputed);
    }
}

#[test]
fn a_certificate_ranks_above_a_recheck() {
    let folder = scratch();
    let run = certified("turnstyle-5", "step", folder.path());
    assert_eq!(label(&run), Evidence::Certified);
    let told = succeed(&mut recheck(&run));
    assert!(told.starts_with("turnstyle-5 step: certified: all 10 levels"), "{told}");
    assert_eq!(label(&run), Evidence::Certified);
    succeed(farthest().args(["certify", "distance"]).arg(&run));
    assert_eq!(json(&run, "manifest.json")["certificates"].as_array().map(Vec::len), Some(1), "recorded once");
    // Without the certificate the recheck is what is left.
    fs::remove_file(run.join("distance.cert")).expect("there");
    common::forge::edit_sums(&run, |line| (!line.ends_with("distance.cert")).then(|| line.to_owned()));
    assert_eq!(label(&run), Evidence::Rechecked);
    let told = succeed(&mut recheck(&run));
    assert!(told.starts_with("turnstyle-5 step: rechecked: all 10 levels"), "{told}");
}

/// Killed at every file operation: the run folder is whole at every moment, and the same command
/// goes on.
#[test]
fn a_killed_recheck_leaves_a_whole_run_and_can_be_repeated() {
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-5", "", &[]);
    let before = result_bytes(&run);
    let mut pass = 0;
    loop {
        pass += 1;
        let copy = folder.path().join("copy");
        copy_folder(&run, &copy);
        let (code, _, stderr) = outcome(fault(&mut recheck(&copy), "*", pass, "kill"));
        let after_kill = label(&copy);
        assert!([Evidence::SingleRun, Evidence::Rechecked].contains(&after_kill));
        succeed(farthest().arg("table").arg(&copy));
        succeed(&mut recheck(&copy));
        assert_eq!(label(&copy), Evidence::Rechecked, "pass {pass}");
        assert_eq!(result_bytes(&copy), before, "pass {pass}");
        let foreign =
            |name: &&String| !SAME_BYTES.contains(&name.as_str()) && !["SHA256SUMS", "manifest.json", "lock"].contains(&name.as_str());
        let left: Vec<String> = names(&copy).iter().filter(foreign).cloned().collect();
        assert_eq!(left, ["progress.json", "run.log"], "pass {pass}");
        fs::remove_dir_all(&copy).expect("removable");
        if code == 0 {
            break;
        }
        assert_eq!(code, -1, "{stderr}");
    }
    assert!(pass > 15, "only {} kills", pass - 1);
}

#[test]
fn a_stopped_recheck_goes_on() {
    let folder = scratch();
    let run = complete(folder.path(), "turnstyle-8", "", &[]);
    let words = ["--checkpoint-seconds", "0", "--quiet"];
    let stderr = fail_with(75, fault(recheck(&run).args(words), "generation-create", 9, "signal"));
    assert!(only_line(&stderr).contains("go on with: farthest recheck "), "{stderr}");
    assert!(run.join("recheck/checkpoint").is_dir());
    assert_eq!(label(&run), Evidence::SingleRun);
    succeed(recheck(&run).args(["--participants", "4"]));
    assert_eq!(label(&run), Evidence::Rechecked);
}

#[test]
fn only_complete_runs_are_rechecked() {
    let folder = scratch();
    let stderr = fail_with(78, &mut recheck(folder.path()));
    assert!(only_line(&stderr).contains("found a folder without a run, expected a complete run to recheck"), "{stderr}");
    let none = folder.path().join("none");
    let stderr = fail_with(78, &mut recheck(&none));
    assert!(only_line(&stderr).contains("found no such folder") && !none.exists(), "{stderr}");
    let run = complete(folder.path(), "turnstyle-5", "", &[]);
    let text = fs::read_to_string(run.join("levels.tsv")).expect("readable");
    fs::write(run.join("levels.tsv"), text.replace("\t60\t", "\t61\t") + "x").expect("written");
    let stderr = fail_with(65, &mut recheck(&run));
    assert!(only_line(&stderr).contains("levels.tsv"), "{stderr}");
}
