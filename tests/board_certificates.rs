//! Certificates of rotation boards: every verdict leaves with one that the checker accepts, and the
//! published table of the outer automorphism is the known one.
#![allow(missing_docs)]

mod common;

use common::boards::{board_of, known_boards, shape};
use common::{checker, farthest, known, outcome, succeed};
use farthest::claims::outer_automorphism::OuterAutomorphism;
use farthest::claims::outer_automorphism_certificates;
use farthest::families::rotation_board::verdict_certificate;
use farthest::families::rotation_board::{Board, Random, Unsolvable};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn verify(paths: &[&Path]) -> (i32, String, String) {
    outcome(checker("4G").args(paths))
}

/// The boards of `known/boards/solvable_cases.json`, with GAP's verdicts.
fn judged_by_gap() -> Vec<(Board, bool)> {
    let cases = known_boards("solvable_cases.json");
    let judged = |case| (board_of(case), case["solvable"].as_bool().expect("a verdict"));
    cases["cases"].as_array().expect("a list").iter().map(judged).collect()
}

/// Writes the certificates of these boards and lets the checker verify them; what it says, by
/// number.
fn verified(boards: &[Board]) -> BTreeMap<usize, String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, board) in boards.iter().enumerate() {
        let (certificate, _) = verdict_certificate(board).unwrap_or_else(|error| panic!("{} {}: {error}", board.shape(), board.text()));
        certificate.write(&folder.path().join(format!("{number:03}.cert"))).expect("writable");
    }
    let (code, stdout, stderr) = verify(&[folder.path()]);
    assert_eq!(code, 0, "{stderr}");
    // The last line counts the others.
    assert_eq!(stdout.lines().count(), boards.len() + 1);
    stdout.lines().take(boards.len()).map(str::to_owned).enumerate().collect()
}

/// What the checker says of a board: that the solved one is reached, or not.
fn assert_verdict(board: &Board, solvable: bool, claim: &str) {
    assert!(claim.contains(&format!(": rotation-board-{} (quarter): ", board.shape())), "{claim}");
    let shown: Vec<String> = board.text().split(' ').take(24).map(str::to_owned).collect();
    let shown = shown.join(" ");
    let (reached, refused) = (format!("from {shown}"), format!("cannot be reached from {shown}"));
    assert_eq!((claim.contains(&refused), claim.contains(&format!(": {reached}"))), (!solvable, solvable), "{claim}");
}

#[test]
fn verdicts_of_gap_have_certificates_that_are_verified() {
    let judged = judged_by_gap();
    assert_eq!(judged.len(), 108);
    let boards: Vec<Board> = judged.iter().map(|(board, _)| board.clone()).collect();
    for (number, claim) in verified(&boards) {
        assert_verdict(&judged[number].0, judged[number].1, &claim);
    }
}

/// Every reason there is, upright boards and portrait ones, more blocks than letters.
#[test]
fn every_reason_has_its_certificate() {
    let mut random = Random::new(11);
    let mut boards = Vec::new();
    let mut reasons: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (rows, columns, block) in [
        (2, 2, 2),
        (5, 5, 5),
        (2, 3, 2),
        (3, 2, 2),
        (3, 4, 3),
        (4, 3, 3),
        (4, 5, 4),
        (5, 4, 4),
        (3, 5, 3),
        (5, 3, 3),
        (7, 8, 7),
        (8, 7, 7),
        (8, 8, 2),
    ] {
        let shape = shape(rows, columns, block);
        let solved = Board::solved(shape);
        let neighbours = solved.clone().exchanged(0, 1);
        // On one colour, on both, and in between; and whatever comes.
        let one = solved.clone().exchanged(0, if columns > 2 { 2 } else { 3 });
        boards.extend([Board::scrambled(shape, 3, 50), neighbours, one, Board::shuffled(shape, &mut random), solved]);
    }
    let mut found = Vec::new();
    for board in &boards {
        let (certificate, reason) = verdict_certificate(board).expect("small");
        let code = reason.as_ref().map_or("solvable", Unsolvable::code);
        reasons.entry(code).or_default().insert(certificate.claim.kind());
        found.push(reason.is_none());
    }
    let kinds = [
        ("solvable", "word"),
        ("no-rotation", "closed-set"),
        ("not-in-pgl-2-5", "closed-set"),
        ("outer-automorphism-mismatch", "closed-set"),
        ("odd-permutation", "invariant"),
        ("colour-broken", "invariant"),
        ("colour-signs-differ", "invariant"),
        ("colour-odd", "invariant"),
    ];
    assert_eq!(reasons, kinds.map(|(code, kind)| (code, BTreeSet::from([kind]))).into());
    for (number, claim) in verified(&boards) {
        assert_verdict(&boards[number], found[number], &claim);
    }
}

/// A certificate about another board is another claim: with the board exchanged for one of the
/// other verdict it is refused.
#[test]
fn evidence_does_not_fit_a_board_of_the_other_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    for (rows, columns, block) in [(2, 3, 2), (3, 4, 3), (4, 5, 4), (3, 5, 3), (7, 8, 7)] {
        let shape = shape(rows, columns, block);
        let solvable = Board::scrambled(shape, 8, 40);
        let exchanged = Board::scrambled(shape, 8, 40).exchanged(1, 3);
        for (taken, given) in [(&solvable, &exchanged), (&exchanged, &solvable)] {
            let (certificate, _) = verdict_certificate(taken).expect("small");
            let text = certificate.to_text().replace(&format!("from {}\n", taken.text()), &format!("from {}\n", given.text()));
            let path = folder.path().join("other.cert");
            fs::write(&path, text).expect("writable");
            let (code, stdout, stderr) = verify(&[&path]);
            assert!(code == 1 && stderr.starts_with("refuted"), "{shape}: {stdout}{stderr}");
        }
    }
}

#[test]
fn the_command_writes_a_certificate_either_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let certify = |arguments: &[&str], out: &Path| outcome(farthest().args(["certify", "board"]).args(arguments).arg("--out").arg(out));
    for (arguments, name, part) in [
        (&["2x3n2", "--board", "2 5 3 / 1 4 6"][..], "word.cert", "solvable\n"),
        (&["3x2n2", "--board", "2,1,3,4,5,6"], "closed.cert", "not solvable: not in PGL(2,5)"),
        (&["rotation-board-3x5n3", "--board", "2 1 3 4 5 6 7 8 9 10 11 12 13 14 15"], "below/colours.cert", "not solvable: colour broken"),
        (&["--board", "3x2n2:2,5,3,1,4,6"], "twiddle.cert", "solvable\n"),
    ] {
        let (code, stdout, stderr) = certify(arguments, &path(name));
        assert!(code == 0 && stdout.starts_with(part) && stdout.contains("check it with: farthest-verify "), "{stdout}{stderr}");
        let (code, stdout, stderr) = verify(&[&path(name)]);
        assert_eq!(code, 0, "{stdout}{stderr}");
    }
    let text = succeed(farthest().args(["certify", "board", "2x3n2", "--board", "2 5 3 1 4 6"]));
    assert_eq!(text, fs::read_to_string(path("word.cert")).expect("written"));
    for (arguments, code, part) in [
        (&["2x3n2", "--board", "1 2 3 4 5 5"][..], 2, "5 twice"),
        (&["2x3n3", "--board", "1 2 3 4 5 6"], 78, "they must fit the board"),
        (&["two", "--board", "1 2 3 4 5 6"], 2, "expected rows x columns n block"),
        (&["--board", "1 2 3 4 5 6"], 2, "a board without its size"),
        (&["3x3n2", "--board", "3x2n2:2,5,3,1,4,6"], 2, "expected one size"),
    ] {
        let (found, _, stderr) = certify(arguments, &path("never.cert"));
        assert!(found == code && stderr.contains(part), "{found}: {stderr}");
        assert!(!path("never.cert").exists());
    }
}

/// Runs of boards without a certificate: the rules give the edges, and that the numbers of states
/// are not known is said.
#[test]
fn run_folders_of_boards_are_checked_but_for_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = folder.path().join("run");
    succeed(farthest().args(["run", "rotation-board-2x3n2", "--keep-levels", "--quiet", "--out"]).arg(&run));
    let (code, stdout, stderr) = verify(&[&run]);
    let part = "rotation-board-2x3n2 (quarter): 120 states, God's number 7, 1 antipode: the files agree in checksums, sums, group order, edges, signs, levels 0 to 7 found anew, listed states (their numbers only with";
    assert!(code == 3 && stdout.contains(part), "{stdout}{stderr}");
    // A certificate of the right distances that does not say how boards are numbered.
    let levels =
        [1, 4, 10, 22, 42, 33, 7, 1].iter().enumerate().map(|(depth, count)| format!("level {depth} {count}\n")).collect::<String>();
    let head = "farthest-certificate 1\nclaim distance\npuzzle rotation-board 2 3 2 quarter\nranks 720 720\nstates 120\nlevels 8\n";
    let archive = format!("archives 1\narchive 0 100 {} levels/000000/process-0000.pack\nend\n", "0".repeat(64));
    fs::write(run.join("distance.cert"), format!("{head}{levels}{archive}")).expect("written");
    let (code, stdout, stderr) = verify(&[&run]);
    assert!(code == 2 && stdout.lines().count() == 1, "{stdout}{stderr}");
    assert!(stderr.contains("distance.cert:4: found \"ranks\", expected the record \"arranged\""), "{stderr}");
}

/// `outer_automorphism.txt` was found by another program, in another language.
#[test]
fn the_outer_automorphism_is_the_known_one() {
    let text = fs::read_to_string(known("boards/outer_automorphism.txt")).expect("readable");
    let mut expected = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (pair, pairing) = line.split_once(": ").expect("a pair and its pairing");
        expected.insert(pair.replace(' ', "-"), pairing.split(' ').map(str::to_owned).collect::<Vec<_>>());
    }
    assert_eq!(expected.len(), 15);
    let published = fs::read_to_string("results/nrp/outer-automorphism.tsv").expect("published");
    let found: BTreeMap<String, Vec<String>> = published
        .lines()
        .skip(1)
        .map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>())
        .map(|row| (row[0].clone(), row[1..].to_vec()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_published_outer_automorphism_is_what_the_program_writes_and_is_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    succeed(farthest().args(["certify", "outer-automorphism", "--out"]).arg(folder.path()));
    let found = OuterAutomorphism::derive().expect("it exists");
    let names: Vec<String> =
        outer_automorphism_certificates::certificates(&found).expect("solvable").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 16);
    let files = names.iter().map(|name| format!("outer-automorphism/{name}"));
    for file in files.chain(["outer-automorphism.md", "outer-automorphism.tsv"].map(str::to_owned)) {
        let written = fs::read_to_string(folder.path().join(&file)).expect("written");
        let published = fs::read_to_string(Path::new("results/nrp").join(&file)).expect("published");
        assert_eq!(written, published, "{file}");
    }
    for folder in [folder.path(), Path::new("results/nrp/outer-automorphism")] {
        let (code, stdout, stderr) = verify(&[folder]);
        assert_eq!((code, stdout.lines().count()), (0, 17), "16 certificates and the line that counts them: {stderr}");
    }
}

/// The closed set as the file has it: no two boards agree on the corner's colour, and a swap there
/// goes with the table's three.
#[test]
fn the_closed_set_shows_the_table() {
    let text = fs::read_to_string("results/nrp/outer-automorphism/closed-set.cert").expect("published");
    let states: Vec<Vec<usize>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("state "))
        .map(|line| line.split(' ').map(|label| label.parse().expect("a number")).collect())
        .collect();
    assert_eq!(states.len(), 720);
    let is_corners = |cell: &usize| (cell / 4 + cell % 4).is_multiple_of(2);
    let corners: BTreeSet<Vec<usize>> =
        states.iter().map(|state| (0..12).filter(|cell| is_corners(cell)).map(|cell| state[cell]).collect()).collect();
    assert_eq!(corners.len(), 720);
    let name = |cell: usize| format!("{}{}", cell / 4 + 1, cell % 4 + 1);
    let mut rows = BTreeSet::new();
    for state in &states {
        let moved: Vec<usize> = (0..12).filter(|&cell| state[cell] != cell + 1).collect();
        if moved.iter().filter(|cell| is_corners(cell)).count() == 2 {
            let pairs = |corner: bool| {
                let first = moved.iter().filter(move |cell| is_corners(cell) == corner && state[**cell] > **cell + 1);
                first.map(|&cell| format!("{}-{}", name(cell), name(state[cell] - 1))).collect::<Vec<_>>()
            };
            rows.insert([pairs(true), pairs(false)].concat().join("\t"));
        }
    }
    let published = fs::read_to_string("results/nrp/outer-automorphism.tsv").expect("published");
    assert_eq!(rows, published.lines().skip(1).map(str::to_owned).collect());
}
