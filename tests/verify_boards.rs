//! The checker on the distances of number rotation boards, whose numbering the certificate states: right ones are verified whole and in intervals, and another
//! order of cells, false labels and other boards are refused.

#[path = "verify/archives.rs"]
mod archives;
mod common;

use archives::{level, only_certificate, set_level};
use common::disturb::{copy_folder, scratch};
use common::forge::{certify_again, change_json, edit, seal};
use common::{checker, outcome, succeed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn verify() -> Command {
    checker("256M")
}

/// A run of a board with archived levels and its certificate.
fn certified(board: &str, metric: &str, folder: &Path) -> PathBuf {
    common::certified(&format!("rotation-board-{board}"), metric, folder)
}

/// A copy of a certified run, to damage.
struct Copy {
    run: PathBuf,
    certificate: PathBuf,
    _folder: TempDir,
}

impl Copy {
    fn of(run: &Path) -> Self {
        let folder = scratch();
        let copy = folder.path().join("copy");
        copy_folder(run, &copy);
        Self { certificate: copy.join("distance.cert"), run: copy, _folder: folder }
    }

    /// The record `arranged`.
    fn arranged(&self) -> String {
        let text = fs::read_to_string(&self.certificate).expect("text");
        text.lines().find(|line| line.starts_with("arranged ")).expect("the order of the cells").to_owned()
    }

    /// What disagrees is the certificate and the other files, not the sums.
    fn refused(&self, code: i32, part: &str) {
        certify_again(&self.run);
        let (found, stdout, stderr) = outcome(verify().arg(&self.run));
        assert_eq!(found, code, "{part}\n{stdout}{stderr}");
        assert!(stderr.contains(part), "{part}\n{stderr}");
    }
}

#[test]
fn boards_are_verified_with_their_distances() {
    let folder = scratch();
    for (board, metric, claim) in [
        // Of a program in C++ (`known/boards`); boards of one block have four states by what they are.
        ("2x3n2", "quarter", "120 states can be reached, God's number is 7, needed by 1 state;"),
        ("2x3n2", "half", "120 states can be reached, God's number is 6, needed by 1 state;"),
        ("2x4n2", "quarter", "40320 states can be reached, God's number is 12, needed by 25 states;"),
        ("2x4n2", "half", "40320 states can be reached, God's number is 10, needed by 82 states;"),
        ("3x3n2", "quarter", "362880 states can be reached, God's number is 11, needed by 20 states;"),
        ("3x3n2", "half", "362880 states can be reached, God's number is 8, needed by 223 states;"),
        // Two orbits, 720 of 6! 6! numbered states.
        ("3x4n3", "quarter", "720 states can be reached, God's number is 9, needed by 10 states;"),
        ("3x4n3", "half", "720 states can be reached, God's number is 6, needed by 206 states;"),
        ("4x3n3", "half", "720 states can be reached, God's number is 6, needed by 206 states;"),
        // Two orbits and a cell that stays; four orbits. Halved: every turn is even on orbits taken together.
        ("3x3n3", "quarter", "4 states can be reached, God's number is 2, needed by 1 state;"),
        ("4x4n4", "half", "4 states can be reached, God's number is 1, needed by 3 states;"),
    ] {
        let run = certified(board, metric, folder.path());
        let told = succeed(verify().arg(&run));
        assert_eq!(told.lines().count(), 2, "{told}");
        assert!(told.starts_with("verified ") && told.contains(claim), "{told}");
        let receipts: Vec<PathBuf> = (1..=3).map(|part| folder.path().join(format!("receipt-{part}"))).collect();
        for (part, receipt) in (1..).zip(&receipts) {
            let interval = format!("{part}/3");
            let told = succeed(verify().arg("distance").arg(&run).args(["--interval", &interval, "--receipt"]).arg(receipt));
            assert!(told.contains(&format!("part {part} of 3")), "{told}");
        }
        let (code, told, _) = outcome(verify().arg("distance").arg(&run).arg("--merge").args(&receipts));
        assert!(code == 3 && told.contains(claim) && told.contains("if 3 receipts are"), "{told}");
        receipts.iter().for_each(|receipt| fs::remove_file(receipt).expect("removable"));
        fs::remove_dir_all(run).expect("removable");
    }
}

/// The order of the cells is the certificate's to state, and the checker's to doubt: another one gives the labels to other boards.
#[test]
fn another_order_of_cells_is_refused() {
    let folder = scratch();
    for (board, metric) in [("2x4n2", "quarter"), ("3x4n3", "half")] {
        let copy = Copy::of(&certified(board, metric, folder.path()));
        let good = fs::read_to_string(&copy.certificate).expect("text");
        let arranged = copy.arranged();
        let cells: Vec<&str> = arranged.split(' ').skip(1).collect();
        for at in 1..cells.len() {
            let mut swapped = cells.clone();
            swapped.swap(at - 1, at);
            fs::write(&copy.certificate, good.replace(&arranged, &format!("arranged {}", swapped.join(" ")))).expect("written");
            copy.refused(1, "distance.cert:5: found a move from state ");
        }
        fs::write(&copy.certificate, good.replace(&arranged, &format!("arranged {}", cells[1..].join(" ")))).expect("written");
        copy.refused(1, &format!(" but not cell {}, from which ", cells[0]));
        fs::write(&copy.certificate, good.replace(&format!("{arranged}\n"), "")).expect("written");
        copy.refused(2, "distance.cert:4: found \"ranks\", expected the record \"arranged\"");
    }
}

/// A set of cells that is closed, but not the one that the search arranged: the other colour. Its numbers are one to one, so the labels are those of
/// other boards.
#[test]
fn the_other_colour_as_the_arrangement_is_refused() {
    let folder = scratch();
    let copy = Copy::of(&certified("3x4n3", "quarter", folder.path()));
    let arranged = copy.arranged();
    let cells: Vec<u32> = arranged.split(' ').skip(1).map(|cell| cell.parse().expect("a cell")).collect();
    let others: Vec<String> = (1..=12).filter(|cell| !cells.contains(cell)).map(|cell: u32| cell.to_string()).collect();
    assert_eq!(others.len(), 6);
    edit(&copy.certificate, &arranged, &format!("arranged {}", others.join(" ")));
    copy.refused(1, "distance.cert:5: found ");
}

#[test]
fn false_labels_of_boards_are_refuted() {
    let folder = scratch();
    let run = certified("2x4n2", "quarter", folder.path());
    let (two, nine) = (level(&run, 2), level(&run, 9));
    let exchanged = |ranks: &[u64], gone: u64, new: u64| {
        let mut all: Vec<u64> = ranks.iter().copied().filter(|&rank| rank != gone).chain([new]).collect();
        all.sort_unstable();
        all
    };
    let copy = Copy::of(&run);
    set_level(&copy.run, 2, &exchanged(&two, two[7], nine[5]));
    set_level(&copy.run, 9, &exchanged(&nine, nine[5], two[7]));
    certify_again(&copy.run);
    copy.refused(1, "distance.cert:5: found a move from state ");
    // Half turns are no moves in quarter turns, and the other way round: the distances are others.
    let copy = Copy::of(&run);
    edit(&copy.certificate, "rotation-board 2 4 2 quarter", "rotation-board 2 4 2 half");
    copy.refused(1, "found a certificate for rotation-board-2x4n2 (half), expected one for rotation-board-2x4n2 (quarter)");
    only_certificate(&copy.run);
    copy.refused(1, "found a move from state ");
    // The same cells upright: the numbers are as many, the turns others.
    let copy = Copy::of(&run);
    edit(&copy.certificate, "rotation-board 2 4 2 quarter", "rotation-board 4 2 2 quarter");
    only_certificate(&copy.run);
    copy.refused(1, "found a move from state ");
}

/// What the lists say of the farthest boards is held against the certificate.
#[test]
fn antipodes_of_boards_are_checked() {
    let folder = scratch();
    let run = certified("2x4n2", "quarter", folder.path());
    let antipodes = fs::read_to_string(run.join("antipodes.tsv")).expect("text");
    let rows: Vec<(&str, &str)> = antipodes.lines().skip(1).map(|line| line.split_once('\t').expect("two cells")).collect();
    let change = |from: String, to: String, part: &str| {
        let copy = Copy::of(&run);
        edit(&copy.run.join("antipodes.tsv"), &from, &to);
        copy.refused(1, part);
    };
    let row = |at: usize| format!("{}\t{}\n", rows[at].0, rows[at].1);
    change(row(3), format!("{}\t{}\n", rows[3].0, rows[4].1), &format!("antipodes.tsv:5: found a state with number {}", rows[4].0));
    change(
        row(3),
        format!("{}\t1 2 3 4 5 6 7 7\n", rows[3].0),
        "antipodes.tsv:5: found \"1 2 3 4 5 6 7 7\", expected a state of rotation-board",
    );
    change(row(0), "0\t1 2 3 4 5 6 7 8\n".into(), "antipodes.tsv:2: found number 0, expected ");
    // Without a certificate the numbers are not checked, and that is said.
    let copy = Copy::of(&run);
    fs::remove_file(&copy.certificate).expect("removable");
    change_json(&copy.run.join("manifest.json"), |manifest| manifest["evidence"] = "single run".into());
    change_json(&copy.run.join("manifest.json"), |manifest| drop(manifest.as_object_mut().and_then(|keys| keys.remove("certificates"))));
    seal(&copy.run);
    let (code, told, stderr) = outcome(verify().arg(&copy.run));
    assert_eq!(code, 3, "{told}{stderr}");
    assert!(
        told.contains("their numbers only with a distance.cert, which says how boards are numbered") && told.contains("not proved"),
        "{told}"
    );
}
