//! `farthest table`: its formats, columns, order and choice of runs.

mod common;

use common::disturb::{fail_with, only_line};
use common::{farthest, succeed};
use std::path::Path;

fn run(puzzle: &str, metric: &str, out: &Path) {
    succeed(farthest().args(["run", puzzle, "--metric", metric, "--quiet", "--threads", "1", "--out"]).arg(out));
}

fn table(folder: &Path, more: &[&str]) -> String {
    succeed(farthest().arg("table").arg(folder).args(more))
}

/// The first cells of the rows of a CSV table.
fn first_cells(folder: &Path, more: &[&str]) -> Vec<String> {
    let text = table(folder, &[&["--format", "csv"], more].concat());
    text.lines().skip(1).map(|line| line.split(',').take(2).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn rows_are_sorted_and_chosen() {
    let folder = common::folder_in_memory();
    let root = folder.path();
    for (puzzle, metric) in [("turnstyle-10", "flip"), ("turnstyle-6", "step"), ("turnstyle-9", "flip"), ("turnstyle-6", "flip")] {
        run(puzzle, metric, &root.join(format!("{puzzle}-{metric}")));
    }
    let rows = |more: &[&str]| first_cells(root, more);
    assert_eq!(rows(&[]), ["turnstyle-6 flip", "turnstyle-6 step", "turnstyle-9 flip", "turnstyle-10 flip"]);
    assert_eq!(rows(&["--sort", "metric"]), ["turnstyle-6 flip", "turnstyle-9 flip", "turnstyle-10 flip", "turnstyle-6 step"]);
    // 20, 120, 20,160 and 362,880 states; 3, 10, 9 and 11 moves.
    assert_eq!(rows(&["--sort", "gods-number"]), ["turnstyle-6 flip", "turnstyle-9 flip", "turnstyle-6 step", "turnstyle-10 flip"]);
    assert_eq!(rows(&["--puzzle", "turnstyle-6"]), ["turnstyle-6 flip", "turnstyle-6 step"]);
    assert_eq!(rows(&["--puzzle", "turnstyle-6", "--metric", "step"]), ["turnstyle-6 step"]);
    let stderr = fail_with(78, farthest().arg("table").arg(root).args(["--puzzle", "turnstyle-7"]));
    assert!(only_line(&stderr).contains("--puzzle turnstyle-7: found no such run"), "{stderr}");
    let terminal = table(root, &[]);
    assert!(terminal.contains(" 362,880 ") && !terminal.contains("folder"), "{terminal}");
    assert!(table(root, &["--format", "markdown"]).contains(" 362880 |"));
    // Two runs of one puzzle are told apart by their folders.
    run("turnstyle-6", "step", &root.join("again"));
    let text = table(root, &["--format", "csv"]);
    let folders: Vec<&str> =
        text.lines().filter(|line| line.starts_with("turnstyle-6,step")).map(|line| line.rsplit('/').next().expect("a path")).collect();
    assert_eq!(folders, ["again", "turnstyle-6-step"]);
}

#[test]
fn every_format_holds_the_numbers() {
    let folder = common::folder_in_memory();
    let root = folder.path();
    run("turnstyle-5", "step", &root.join("five"));
    run("turnstyle-6", "flip", &root.join("six"));
    let csv = table(root, &["--format", "csv"]);
    // twsearch's table for 5, as in tests/known/turnstyle_step.tsv; by hand for 6 in flip.
    assert_eq!(
        csv,
        "puzzle,metric,states,gods_number,antipodes,mean_depth,evidence\nturnstyle-5,step,60,9,1,4.633333,single run\nturnstyle-6,flip,20,3,1,1.650000,single run\n"
    );
    let distribution = common::distribution(&root.join("six"));
    let tidy = table(root, &["--format", "tidy", "--puzzle", "turnstyle-6"]);
    let rows: String = distribution.iter().enumerate().map(|(depth, states)| format!("turnstyle-6,flip,,{depth},{states}\n")).collect();
    assert_eq!(tidy, format!("puzzle,metric,direction,depth,states\n{rows}"));
    let stderr = fail_with(78, farthest().arg("table").arg(root).args(["--format", "bfile"]));
    assert!(only_line(&stderr).contains("found 2 runs, expected one for a b-file"), "{stderr}");
    let lines: String = distribution.iter().enumerate().map(|(depth, states)| format!("{depth} {states}\n")).collect();
    assert_eq!(table(&root.join("six"), &["--format", "bfile"]), format!("# turnstyle-6 flip: states at distance n\n{lines}"));
    let latex = table(root, &["--format", "latex"]);
    assert!(latex.starts_with("\\begin{tabular}{llrrrrl}\n\\hline\npuzzle & metric & states & God's number & "), "{latex}");
    assert!(latex.contains("turnstyle-5 & step & 60 & 9 & 1 & 4.633333 & single run \\\\\n"), "{latex}");
    let json: serde_json::Value = serde_json::from_str(&table(root, &["--format", "json"])).expect("JSON");
    assert_eq!(json["count"], 2);
    let stderr = fail_with(2, farthest().arg("table").arg(root).args(["--format", "xml"]));
    assert!(stderr.contains("terminal, markdown, csv, json, latex, bfile, tidy"), "{stderr}");
}

/// Files for shells and manuals are there for every command.
#[test]
fn completions_and_manual_pages() {
    let folder = common::folder_in_memory();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = succeed(farthest().args(["completions", shell]));
        assert!(text.contains("spot-solve") && text.contains("storage"), "{shell}: {text}");
    }
    let pages = folder.path().join("man/man1");
    succeed(farthest().arg("man").arg(&pages));
    let help = succeed(farthest().arg("help"));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' '))) {
        let name = command.split(' ').next().expect("a name");
        let page = pages.join(format!("farthest-{name}.1"));
        assert!(name == "help" || std::fs::read_to_string(&page).is_ok_and(|text| text.starts_with(".ie")), "{}", page.display());
    }
    assert!(pages.join("farthest.1").is_file());
}
