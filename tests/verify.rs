//! The checker on certificates: what is right is verified, what is wrong refused with the right exit code and place, and no changed byte makes it verify a
//! false claim.
//!
//! `known/certificates` were made by a breadth-first search in another language, or by hand. Each file of `corrupt/` says in its second line how it must be refused:
//! `# expect CODE LINE TEXT`.

#[path = "verify/claimed.rs"]
mod claimed;
mod common;

use claimed::Claimed;
use common::disturb::{Dice, scratch};
use common::{checker, known, outcome, succeed};
use farthest::base::ids::to_u64;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn verify() -> Command {
    checker("64M")
}

fn certificates(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("listed").map(|entry| entry.expect("listed").path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "cert")).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no certificates in {}", folder.display());
    paths
}

fn good() -> Vec<PathBuf> {
    certificates(&known("certificates"))
}

#[test]
fn good_certificates_are_verified_and_the_claim_is_told() {
    let mut searched = 0;
    for (name, claim) in [
        ("word-turnstyle-4", "turnstyle-4 (step): from 1 2 3 4 to 3 2 1 4 by 2 moves"),
        ("word-turnstyle-5-flip", "turnstyle-5 (flip): from 1 2 3 4 5 to 1 5 2 4 3 by 1 move"),
        ("word-turnstyle-5-turn", "turnstyle-5 (turn): from 1 2 3 4 5 to 4 2 1 3 5 by 3 moves"),
        ("word-empty", "by 0 moves"),
        ("word-equal-pieces", "from 1 1 2 2 to 2 1 1 2 by 1 move"),
        ("group-turnstyle-8", "turnstyle-8 (step): the moves reach all arrangements of 8 pieces (symmetric group)"),
        ("group-turnstyle-7", "the moves reach exactly the even arrangements, half of all of 7 pieces (alternating group)"),
        ("invariant-turnstyle-9", "2 1 3 4 5 6 7 8 9 cannot be reached from 1 2 3 4 5 6 7 8 9: every move is even"),
        ("closed-set-turnstyle-4", "2 1 3 4 cannot be reached from 1 2 3 4: no move leaves a set of 8 states"),
        ("closed-set-turnstyle-6-flip", "1 3 2 4 5 6 cannot be reached from 1 2 3 4 5 6: no move leaves a set of 20 states"),
        ("bidirectional-turnstyle-8", "to 1 3 2 4 5 6 7 8 by 17 moves and no fewer: balls of 523 states and 523 states"),
        ("bidirectional-directed", "from 1 2 3 4 to 4 1 3 2 by 6 moves and no fewer"),
        ("bidirectional-turnstyle-30", "by 3 moves and no fewer: balls of 4 states and 4 states"),
        ("word-board-2x3", "rotation-board-2x3n2 (quarter): from 1 2 3 4 5 6 to 2 4 5 1 6 3 by 2 moves"),
        ("word-board-4x3-half", "rotation-board-4x3n2 (half): from "),
        ("word-board-7x7", "rotation-board-7x7n2 (half): from "),
        ("bidirectional-board-2x3", "rotation-board-2x3n2 (quarter): from 1 2 3 4 5 6 to "),
        ("closed-set-board-2x2", "2 1 3 4 cannot be reached from 1 2 3 4: no move leaves a set of 4 states"),
        ("invariant-board-3x3-parity", "every move is even, the two differ by an odd permutation"),
        ("invariant-board-3x3-colours", "no move changes the colour of a piece's cell, and a piece has different ones in the two"),
        ("invariant-board-3x3-colour-signs", "has the same sign on both, the two differ by a permutation with different signs"),
        ("invariant-board-7x7-colour-parity", "is even on each, the two differ by a permutation that is odd on one"),
    ] {
        let path = known("certificates").join(format!("{name}.cert"));
        let told = succeed(verify().arg(&path));
        assert!(told.starts_with("verified    ") && told.contains(claim), "{name}: {told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        // Those whose puzzle is small enough, by a search of another kind.
        if let Some(claimed) = Claimed::read(&fs::read_to_string(&path).expect("text")) {
            assert!(claimed.is_true(), "{name}");
            searched += 1;
        }
    }
    assert!(searched >= 20, "{searched} of the claims were searched for");
    let all = succeed(verify().arg(known("certificates")));
    assert_eq!(all.lines().count(), good().len() + 1, "a folder stands for the certificates in it, which are counted");
}

#[test]
fn broken_certificates_are_refused_with_code_and_place() {
    let broken = certificates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corrupt"));
    assert!(broken.len() > 130, "{}", broken.len());
    for path in broken {
        let text = fs::read_to_string(&path).expect("text");
        let expected: Vec<&str> = text.split('\n').nth(1).expect("a second line").splitn(5, ' ').collect();
        let [_, "expect", code, line, part] = expected[..] else { panic!("{}: {expected:?}", path.display()) };
        let (found, stdout, stderr) = outcome(verify().arg(&path));
        assert_eq!((found.to_string().as_str(), stdout.as_str()), (code, ""), "{}\n{stderr}", path.display());
        let verdict = if code == "1" { "refuted" } else { "unreadable" };
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(
            stderr.starts_with(&format!("{verdict:<12}{}:{line}: found ", path.display())) && stderr.contains(part),
            "{line} {part}\n{stderr}"
        );
    }
}

#[test]
fn a_certificate_cut_anywhere_is_unreadable() {
    let folder = scratch();
    let path = folder.path().join("cut.cert");
    for good in good() {
        let text = fs::read_to_string(&good).expect("text");
        let ends = text.match_indices('\n').flat_map(|(at, _)| [at, at + 1]).filter(|&at| at < text.len());
        for at in [0, 1].into_iter().chain(ends) {
            fs::write(&path, &text[..at]).expect("written");
            let (code, _, stderr) = outcome(verify().arg(&path));
            let line = text[..at].lines().count().max(1);
            let places = [line, line + 1].map(|line| format!("cut.cert:{line}: "));
            // A word without its last lines is too short; what is missing then is said first.
            let is_short_word = stderr.contains(" moves, expected ");
            assert_eq!(code, if is_short_word { 1 } else { 2 }, "{} cut to {at}\n{stderr}", good.display());
            assert!(places.iter().any(|place| stderr.contains(place)), "{} cut to {at}\n{stderr}", good.display());
        }
    }
}

#[test]
fn files_that_are_no_text_or_no_files() {
    let folder = scratch();
    let check = |bytes: &[u8], place: &str, part: &str| {
        let path = folder.path().join("odd.cert");
        fs::write(&path, bytes).expect("written");
        let (code, _, stderr) = outcome(verify().arg(&path));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(&format!("odd.cert{place}: ")) && stderr.contains(part), "{stderr}");
        assert!(stderr.len() < 1_000 && !stderr.contains('\x1b'), "a short line without control characters: {stderr:?}");
    };
    check(b"", ":1", "the end of the file");
    check(b"farthest-certificate 1\nclaim w\xffrd\n", ":2", "no UTF-8");
    check(&[b"farthest-certificate 1\n".as_slice(), &vec![b'x'; 3 << 20]].concat(), ":2", "a line of more than 1048576 bytes");
    check(&[b"farthest-certificate 1\nclaim ".as_slice(), &vec![b'x'; 1 << 19], b"\n"].concat(), ":3", "the record \"puzzle\"");
    check(b"farthest-certificate 1\nclaim \x1b[31m\npuzzle turnstyle 4 step\n", ":2", "\\u{1b}[31m");
    check(&[0; 100], ":1", "the end of the file within a line");
    for (path, part) in
        [("/dev/zero", "no regular file"), ("/nonexistent.cert", "cannot be read"), ("src/bin", "no certificate and no run")]
    {
        let (code, _, stderr) = outcome(verify().arg(path));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
    // A file longer than the memory is not begun.
    let long = folder.path().join("long.cert");
    fs::File::create(&long).expect("created").set_len(1 << 40).expect("sparse");
    let (code, _, stderr) = outcome(verify().arg(&long));
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("1099511627776 bytes of memory") && stderr.contains("--memory"), "{stderr}");
}

#[test]
fn work_and_memory_are_bounded() {
    let file = |name: &str| known("certificates").join(name);
    for (limit, name, line, part) in [
        (["--steps", "50"], "closed-set-turnstyle-4.cert", 7, "steps of work, expected at most 50 (--steps)"),
        (["--steps", "5000"], "bidirectional-turnstyle-8.cert", 9, "steps of work"),
        (["--steps", "900"], "word-empty.cert", 3, ""),
        (["--memory", "1K"], "closed-set-turnstyle-4.cert", 7, "bytes of memory, expected at most 1024 (--memory)"),
        (["--memory", "10K"], "bidirectional-turnstyle-8.cert", 9, "bytes of memory"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_farthest-verify"));
        let (code, _, stderr) = outcome(command.args(limit).arg(file(name)));
        if part.is_empty() {
            assert_eq!(code, 0, "no move is no work: {stderr}");
        } else {
            assert_eq!(code, 2, "{stderr}");
            assert!(stderr.contains(&format!("{name}:{line}: ")) && stderr.contains(part), "{stderr}");
        }
    }
}

/// A word that leads on and on, in many lines, is stopped where it exceeds its length.
#[test]
fn long_words_are_read_no_further_than_their_length() {
    let folder = scratch();
    let path = folder.path().join("long.cert");
    let head = "farthest-certificate 1\nclaim word\npuzzle turnstyle 4 step\nfrom 1 2 3 4\nto 1 2 3 4\n";
    let text = format!("{head}length 400\n{}end\n", "word R R R R\n".repeat(100));
    fs::write(&path, text).expect("written");
    succeed(verify().arg(&path));
    fs::write(&path, format!("{head}length 8\n{}end\n", "word R R R R\n".repeat(100))).expect("written");
    let (code, _, stderr) = outcome(verify().arg(&path));
    assert_eq!(code, 1);
    assert!(stderr.contains("long.cert:9: found 12 moves, expected 8"), "{stderr}");
}

#[test]
fn no_changed_byte_makes_a_false_claim_verified() {
    let folder = scratch();
    let mut dice = Dice::new(4);
    let (mut verified, mut refused) = (0, [0, 0]);
    let mut known_truths: HashMap<String, bool> = HashMap::new();
    // Large states only slow this down.
    let small = good().into_iter().filter(|path| !["word-empty", "turnstyle-30"].iter().any(|name| path.to_string_lossy().contains(name)));
    for good in small {
        let bytes = fs::read(&good).expect("readable");
        // Many at a time: starting the checker is most of the work.
        let mut texts = Vec::new();
        for number in 0..200 {
            let mut changed = bytes.clone();
            let at = usize::try_from(dice.below(bytes.len().try_into().expect("small"))).expect("small");
            // Mostly a digit for a digit and a move for a move, which leaves a certificate.
            let letters: &[u8] = match bytes[at] {
                b'0'..=b'9' if number % 4 != 0 => b"0123456789",
                b'R' | b'L' | b'F' if number % 4 != 0 => b"RLF",
                b'X' | b'Y' if number % 4 != 0 => b"XY'2",
                _ => b"0123456789 RLFcs\n#-x\xff",
            };
            let letter = letters[usize::try_from(dice.below(letters.len().try_into().expect("small"))).expect("small")];
            match dice.below(6) {
                0..=3 => changed[at] = letter,
                4 => changed.insert(at, letter),
                _ => drop(changed.remove(at)),
            }
            // Or two fields of a line change places: another state, another word.
            if number % 3 == 0 {
                changed = swapped(&bytes, &mut dice);
            }
            let path = folder.path().join(format!("changed-{number:03}.cert"));
            fs::write(&path, &changed).expect("written");
            texts.push((path, changed));
        }
        let (code, stdout, stderr) = outcome(verify().arg(folder.path()));
        assert!((0..=2).contains(&code), "{code}: {stderr}");
        assert_eq!(
            stdout.lines().count() + stderr.lines().count(),
            texts.len() + 1,
            "one line a certificate, and one that counts\n{stderr}"
        );
        refused[0] += stderr.lines().filter(|line| line.starts_with("refuted")).count();
        refused[1] += stderr.lines().filter(|line| line.starts_with("unreadable")).count();
        for (path, changed) in texts {
            if stdout.contains(&*path.to_string_lossy()) {
                verified += 1;
                let text = String::from_utf8(changed).expect("verified, so it is text");
                let claimed = Claimed::read(&text).unwrap_or_else(|| panic!("{}: verified, and not understood:\n{text}", good.display()));
                let is_true = *known_truths.entry(claimed.key()).or_insert_with(|| claimed.is_true());
                assert!(is_true, "{}: a false claim is verified:\n{text}", good.display());
            }
        }
    }
    assert!(verified > 0 && refused.iter().all(|&count| count > 100), "{verified} verified, {refused:?} refused: the test is blind");
}

/// The text with two fields of a line exchanged.
fn swapped(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    let mut lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    let mut below = |limit: usize| usize::try_from(dice.below(to_u64(limit))).expect("small");
    let line = below(lines.len());
    let fields = lines[line].len() - 1;
    if fields > 0 {
        let (one, other) = (1 + below(fields), 1 + below(fields));
        lines[line].swap(one, other);
    }
    lines.iter().map(|fields| fields.join(" ") + "\n").collect::<String>().into_bytes()
}

#[test]
fn the_command_line() {
    let version = succeed(verify().arg("--version"));
    assert_eq!(version, format!("farthest-verify {}\n", env!("CARGO_PKG_VERSION")));
    let help = succeed(verify().arg("--help"));
    assert!(
        help.contains("Exit codes, the worst of all claims first:")
            && help.contains("1  refuted")
            && help.contains("--memory")
            && help.contains("distance"),
        "{help}"
    );
    for arguments in [
        vec![],
        vec!["--memory", "many", "x"],
        vec!["distance"],
        vec!["distance", "x", "--interval", "0/4", "--receipt", "y"],
        vec!["x", "distance", "y"],
    ] {
        assert_eq!(outcome(verify().args(arguments)).0, 2);
    }
    let path = known("certificates/word-turnstyle-4.cert");
    succeed(verify().args(["--puzzle", "turnstyle-4/step"]).arg(&path));
    let (code, _, stderr) = outcome(verify().args(["--puzzle", "turnstyle-5/step"]).arg(&path));
    assert_eq!(code, 1);
    assert!(stderr.contains("found a claim about turnstyle-4 (step), expected one about turnstyle-5 (step)"), "{stderr}");
    // The worst of several decides: refuted before unreadable before verified.
    let broken = |name: &str| Path::new("tests/corrupt").join(name);
    assert_eq!(outcome(verify().arg(&path).arg(broken("version-2.cert"))).0, 2);
    assert_eq!(outcome(verify().arg(broken("word-one-move-short.cert")).arg(broken("version-2.cert"))).0, 1);
    assert_eq!(outcome(verify().arg(broken("version-2.cert")).arg(broken("word-one-move-short.cert"))).0, 1);
}
