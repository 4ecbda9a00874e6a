//! The certificates about Turnstyle, checked by the independent checker; the known lengths; the
//! page of claims.
#![allow(missing_docs)]

mod common;

use common::{farthest, known_rows, numbers, outcome, succeed};
use farthest::claims::turnstyle::{self, Values};
use farthest::claims::turnstyle_page;
use farthest::families::turnstyle::shortest::Shortest;
use farthest::families::turnstyle::swap::shortest_swaps;
use farthest::search::shortest::MemoryLimit;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const LIMIT: MemoryLimit = MemoryLimit { bytes: 1 << 30 };

fn verify(paths: &[&Path]) -> (i32, String, String) {
    outcome(Command::new(env!("CARGO_BIN_EXE_farthest-verify")).args(paths))
}

fn certificates_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path()) {
        if entry.is_dir() {
            found.extend(certificates_below(&entry));
        } else if entry.extension().is_some_and(|extension| extension == "cert") {
            found.push(entry);
        }
    }
    found.sort();
    found
}

fn values() -> &'static Values {
    static VALUES: OnceLock<Values> = OnceLock::new();
    VALUES.get_or_init(|| turnstyle::values(12, LIMIT).expect("small"))
}

#[test]
fn every_certificate_of_the_small_sizes_is_verified_and_none_survives_a_change() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = folder.path().to_str().expect("UTF-8");
    succeed(farthest().args(["certify", "swap", "--sizes", "4..13", "--shortest", "10", "--out", out]));
    let written = certificates_below(folder.path());
    // 4: one closed set a pair; 5, 7, ..: parity and group; 8 and 10: group and every pair; 12:
    // group.
    assert_eq!(written.len(), 4 + 6 + 2 * 5 + (1 + 8) + (1 + 10) + 1);
    let (code, stdout, stderr) = verify(&[folder.path()]);
    assert_eq!(code, 0, "{stdout}\n{stderr}");
    // The last line counts the others.
    assert_eq!(stdout.lines().count(), written.len() + 1, "{stdout}");
    // A word one move short, and one with a move changed, are refuted.
    let words = written.iter().filter(|path| path.to_string_lossy().contains("0008"));
    let mut changed = 0;
    for path in words {
        changed += 1;
        let text = fs::read_to_string(path).expect("text");
        let length = text.lines().find_map(|line| line.strip_prefix("length ")).expect("a length").parse::<usize>().expect("a number");
        let short = text.replacen("word R ", "word ", 1).replacen("word F ", "word ", 1);
        let short = if short == text { text.replacen("word L ", "word ", 1) } else { short };
        let short = short.replace(&format!("length {length}\n"), &format!("length {}\n", length - 1));
        assert_ne!(short, text);
        fs::write(path, short).expect("writable");
        let (code, stdout, stderr) = verify(&[path]);
        assert_eq!(code, 1, "{} {stdout} {stderr}", path.display());
    }
    assert_eq!(changed, 9, "the group's word and that of every pair");
}

#[test]
fn large_rings_have_a_word_too() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let out = folder.path().to_str().expect("UTF-8");
    for size in ["99", "100", "1000"] {
        succeed(farthest().args(["certify", "swap", "--size", size, "--out", out]));
    }
    let (code, stdout, _) = verify(&[folder.path()]);
    assert!(code == 0 && stdout.contains("turnstyle-1000") && stdout.contains("symmetric"), "{stdout}");
    let (code, _, stderr) = outcome(farthest().args(["certify", "swap", "--sizes", "9..8", "--out", out]));
    assert!(code == 2 && stderr.contains("ends before it starts"), "{stderr}");
}

#[test]
fn shortest_swaps_are_the_known_ones() {
    for row in known_rows("turnstyle_swap.tsv") {
        let size: u16 = row[0].parse().expect("a size");
        let known = numbers(&row[1]);
        let found = shortest_swaps(size, LIMIT).expect("small");
        let found: Vec<u64> = found.iter().map(|swap| u64::try_from(swap.length()).expect("small")).collect();
        assert_eq!(found.len(), usize::from(size));
        assert_eq!(found[..known.len()], known, "size {size}");
    }
}

/// Published: mean 22.125 over the 24 orders, 4321 in 18. The antipode of 12 is the ring mirrored
/// about the turntable, at depth 45 (twsearch).
#[test]
fn the_final_four_and_the_reversal_are_the_known_ones() {
    let values = values();
    assert_eq!(values.final_four.len(), 24);
    assert!((values.final_four_mean() - 22.125).abs() < 1e-9);
    assert_eq!(values.final_four_of([4, 3, 2, 1]), Some(18));
    assert_eq!(values.final_four_of([1, 2, 3, 4]), Some(0));
    assert_eq!(values.final_four_of([2, 1, 3, 4]), Some(32));
    let reversals: Vec<usize> = values.reversals.iter().map(Shortest::length).collect();
    assert_eq!(reversals.iter().max(), Some(&45));
    assert_eq!(values.reversals.iter().find(|shortest| shortest.length() == 45).map(|shortest| shortest.to[0]), Some(4));
    // The page says it, and every verdict is one.
    let page = turnstyle_page::page(values);
    assert!(page.contains("| 4321 | 18 | 18 | confirmed |"), "{page}");
    assert!(!page.contains("differs"), "{page}");
}

/// JUMP4 in 10 and JUMP6 in 16 are published; both are reached, JUMP4 with a move less when the
/// turntable may start anywhere.
#[test]
fn jumps() {
    assert_eq!(values().jumps.iter().map(|(passed, ..)| *passed).collect::<Vec<_>>(), [4, 6]);
    for (passed, anywhere, left) in &values().jumps {
        let published = if *passed == 4 { 10 } else { 16 };
        assert!(anywhere.length() <= published && anywhere.length() <= left.length());
    }
}

#[test]
fn the_claims_certificates_are_verified() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut checked = Vec::new();
    // The deep reversals take the checker long; they are checked with the results.
    for (name, certificate) in values().certificates().into_iter().filter(|(name, _)| !name.starts_with("reversal")) {
        let path = folder.path().join(name);
        certificate.write(&path).expect("writable");
        checked.push(path);
    }
    assert_eq!(checked.len(), 23 + 4);
    let (code, stdout, stderr) = verify(&[folder.path()]);
    assert_eq!(code, 0, "{stdout}\n{stderr}");
}

/// Those that the checker finishes in seconds: all but the shortest words of 14 pieces and more,
/// and the reversals of 12.
#[test]
fn published_certificates_are_verified() {
    let mut published = certificates_below(Path::new("results/swap"));
    published.extend(certificates_below(Path::new("results/claims")));
    let sizes: Vec<u16> = (4..=64).collect();
    for size in &sizes {
        let folder = format!("turnstyle-{size:04}");
        assert!(published.iter().any(|path| path.to_string_lossy().contains(&folder)), "{folder}");
    }
    let is_quick = |path: &&PathBuf| {
        let text = path.to_string_lossy();
        let is_large = ["0014", "0016", "0018"].iter().any(|size| text.contains(size)) && text.contains("shortest");
        !is_large && !text.contains("reversal")
    };
    let quick: Vec<&Path> = published.iter().filter(is_quick).map(PathBuf::as_path).collect();
    assert!(quick.len() > 120);
    let (code, stdout, stderr) = verify(&quick);
    assert_eq!((code, stdout.lines().count()), (0, quick.len() + 1), "{stdout}\n{stderr}");
}

/// The page and the certificates are what the program writes today; values up to 12 pieces.
#[test]
fn the_published_claims_are_the_computed_ones() {
    let page = fs::read_to_string("results/turnstyle-claims.md").expect("published");
    let computed = turnstyle_page::page(values());
    // Rows about sizes beyond 12 are not computed in this test.
    let rows: Vec<&str> = computed.lines().filter(|line| !line.contains("not computed") && !line.contains("| SWAP of 14")).collect();
    assert!(rows.iter().filter(|row| row.contains("| confirmed |")).count() > 10, "{computed}");
    for row in rows {
        assert!(page.contains(row), "{row}");
    }
    for (name, certificate) in values().certificates() {
        let published = fs::read_to_string(Path::new("results/claims").join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(published, certificate.to_text(), "{name}");
    }
}

/// Certificates about states of any puzzle, and refusals of untrue ones.
#[test]
fn certificates_of_single_states() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |kind: &str, puzzle: &str, more: &[&str], name: &str| {
        outcome(farthest().args(["certify", kind, puzzle]).args(more).arg("--out").arg(folder.path().join(name)))
    };
    for (kind, puzzle, more, name) in [
        ("word", "turnstyle-9", &["--state", "231456789"][..], "word.cert"),
        ("bidirectional", "turnstyle-8", &["--state", "21345678", "--metric", "turn"], "turn.cert"),
        ("bidirectional", "turnstyle-8", &["--state", "21345678", "--metric", "flip"], "flip.cert"),
        ("bidirectional", "pancake-7", &["--state", "2 1 3 4 5 6 7", "--to", "1 2 3 4 5 7 6"], "pancake.cert"),
        ("unreachable", "turnstyle-9", &["--state", "213456789"], "parity.cert"),
        ("unreachable", "turnstyle-6", &["--state", "213456", "--metric", "turn"], "closed.cert"),
        ("unreachable", "loopover-3x3", &["--state", "213456789"], "loopover.cert"),
    ] {
        let (code, stdout, stderr) = write(kind, puzzle, more, name);
        assert_eq!(code, 0, "{kind} {puzzle} {stdout} {stderr}");
    }
    let (code, stdout, stderr) = verify(&[folder.path()]);
    assert_eq!((code, stdout.lines().count()), (0, 7 + 1), "the certificates and the line that counts them: {stdout}\n{stderr}");
    for (kind, puzzle, state, part) in [
        ("word", "turnstyle-9", "213456789", "parity"),
        ("unreachable", "turnstyle-8", "21345678", "can be reached"),
        ("bidirectional", "turnstyle-8", "12345678", "equal states"),
    ] {
        let (code, _, stderr) = write(kind, puzzle, &["--state", state], "never");
        assert!(code == 1 && stderr.contains(part), "{stderr}");
        assert!(!folder.path().join("never").exists());
    }
}
