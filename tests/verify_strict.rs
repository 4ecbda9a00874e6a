//! The checker where only one of its checks can tell: receipts by hand, records behind the last one, names and rules of `--puzzle`, folders that are hardly a
//! run. Written after mutants of the checker that no other test noticed.

mod common;

use common::disturb::{copy_folder, scratch};
use common::truth::{Truth, text, verify};
use common::{farthest, known, outcome, succeed};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

fn six() -> Truth {
    Truth::certified("turnstyle-6", "step", "true-turnstyle-6-certified")
}

/// Runs to the end; demands this exit code, and this part on either stream.
fn answers(command: &mut Command, code: i32, part: &str) {
    let (found, stdout, stderr) = outcome(command);
    assert!(found == code && (stdout.clone() + &stderr).contains(part), "{found}, expected {code}: {part}\n{stdout}{stderr}");
}

/// Receipts that fit together, but for one line.
#[test]
fn every_line_of_a_receipt_is_read() {
    let six = six();
    let paths: Vec<PathBuf> = (1..=2).map(|part| six.folder.path().join(format!("part-{part}"))).collect();
    for (part, path) in (1..).zip(&paths) {
        succeed(verify().arg("distance").arg(&six.run).args(["--interval", &format!("{part}/2"), "--receipt"]).arg(path));
    }
    let merge =
        |paths: &[&Path], code: i32, part: &str| answers(verify().arg("distance").arg(&six.run).arg("--merge").args(paths), code, part);
    merge(&[&paths[0], &paths[1]], 3, "if 2 receipts are to be believed");
    let good = text(&paths[1]);
    let line = |name: &str| good.lines().find(|line| line.starts_with(name)).expect("a line");
    let (archive, first, second) = (line("archive "), line("level 4 "), line("level 5 "));
    let ranks = line("interval ").rsplit(' ').next().expect("an end");
    let changed = six.folder.path().join("changed");
    for (from, to, code, part) in [
        ("farthest-receipt 2", "farthest-receipt 1", 2, "changed:1: found \"farthest-receipt 1\", expected version 2"),
        (archive, &format!("archive {}", "0".repeat(64)), 1, "changed:3: found a receipt for archive \"000"),
        ("levels 11", "levels 12", 2, "changed:5: found \"levels 12\", expected 11 levels"),
        (&format!("{first}\n{second}"), &format!("{second}\n{first}"), 2, ", expected level 4"),
        ("end\n", "end\nmore\n", 2, "found \"more\", expected nothing behind \"end\""),
        ("end\n", "level 11 0\nend\n", 2, "found \"level\", expected the record \"end\""),
    ] {
        assert!(good.contains(from), "{from}\n{good}");
        fs::write(&changed, good.replacen(from, to, 1)).expect("written");
        merge(&[&paths[0], &changed], code, part);
    }
    // An interval that goes back is none, whatever it seems to cover.
    fs::write(&changed, good.replacen(line("interval "), &format!("interval {ranks} 0"), 1)).expect("written");
    merge(&[&paths[0], &paths[1], &changed], 1, &format!("found numbers {ranks} to 0, an overlap"));
}

/// What no check uses may say anything, and so must not be there.
#[test]
fn nothing_stands_behind_the_last_record() {
    let folder = scratch();
    let path = folder.path().join("longer.cert");
    let mut tried = 0;
    for entry in fs::read_dir(known("certificates")).expect("listed") {
        let good = text(&entry.expect("listed").path());
        let (before, _) = good.rsplit_once("end\n").expect("an end");
        for (end, part) in [
            ("extra 1\nend\n", "found \"extra\", expected the record \"end\""),
            ("end\nend\n", "found \"end\", expected nothing behind \"end\""),
            ("end 1\n", "found \"end 1\", expected \"end\""),
        ] {
            fs::write(&path, format!("{before}{end}")).expect("written");
            answers(verify().arg(&path), 2, part);
            tried += 1;
        }
        fs::write(&path, format!("# a comment\n{good}")).expect("written");
        answers(verify().arg(&path), 2, "longer.cert:1: found \"#\", expected the record \"farthest-certificate\"");
    }
    assert!(tried >= 60);
}

/// Rules of somebody's own, in a certificate.
fn own(generators: &str, solved: &str) -> String {
    let places = solved.split(' ').count();
    let count = generators.lines().count();
    format!(
        "farthest-certificate 1\nclaim word\npuzzle permutations {places} {count}\n{generators}solved {solved}\nfrom {solved}\nto {solved}\n\
         length 0\nword\nend\n"
    )
}

/// `--puzzle` asks for rules: moves, the solved state, and how states are written.
#[test]
fn certificates_are_about_the_rules_that_were_asked_for() {
    let folder = scratch();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let rules = write(
        "own.toml",
        "family = \"permutations\"\nname = \"own\"\npositions = 3\ngenerators = [{ name = \"A\", images = [1, 2, 0] }]\n",
    );
    let cycle = "generator A 2 3 1\n";
    for (name, certificate, code, part) in [
        ("same.cert", own(cycle, "1 2 3"), 0, "from 1 2 3 to 1 2 3 by 0 moves"),
        ("solved.cert", own(cycle, "2 1 3"), 1, "A = (1 3 2); solved 2 1 3), expected one about own (step)"),
        ("moves.cert", own("generator A 3 1 2\n", "1 2 3"), 1, "expected one about own (step)"),
        ("quote.cert", own("generator A\"B 2 3 1\n", "1 2 3"), 2, "expected a name that no other move has, of plain letters"),
        ("name-32.cert", own(&format!("generator {} 2 3 1\n", "x".repeat(32)), "1 2 3"), 1, "expected one about own (step)"),
        ("name-33.cert", own(&format!("generator {} 2 3 1\n", "x".repeat(33)), "1 2 3"), 2, "expected a name that no other move has"),
        ("quote.cert", own("generator \" 2 3 1\n", "1 2 3"), 2, "expected a name that no other move has, of plain letters"),
    ] {
        answers(verify().arg("--puzzle").arg(&rules).arg(write(name, &certificate)), code, part);
    }
    // The moves of turnstyle-4 under their names, on places that are no ring.
    let ring = write("ring.cert", &own("generator R 4 1 2 3\ngenerator L 2 3 4 1\ngenerator F 2 1 4 3\n", "1 2 3 4"));
    answers(verify().arg(&ring), 0, "a puzzle of 4 places and 3 moves");
    answers(verify().args(["--puzzle", "turnstyle-4/step"]).arg(&ring), 1, "expected one about turnstyle-4 (step)");
}

#[test]
fn planes_are_asked_for_by_name_and_by_rules() {
    let text = "family = \"planes\"\nname = \"planes\"\nplanes = 2\npositions = 3\n[[generators]]\nname = \"A\"\nplanes = [1, 0]\n\
                permutation = [1, 2, 0]\n[[generators]]\nname = \"B\"\ncycles = \"(0 1)\"\n";
    let planes = Truth::plain(text, "true-two-planes");
    let other = planes.folder.path().join("other.toml");
    fs::write(&other, text.replace("(0 1)", "(0 2)")).expect("written");
    let same = planes.folder.path().join("directed.toml");
    let file = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    for (puzzle, code) in [
        ("planes".into(), 3),
        ("planes/step".into(), 3),
        ("planes/turn".into(), 1),
        ("plane".into(), 1),
        ("turnstyle-4/step".into(), 1),
        (file(&same), 3),
        (file(&other), 1),
    ] {
        let part = if code == 3 { "12 states, God's number " } else { "expected one about the puzzle of --puzzle" };
        answers(verify().args(["--puzzle", &puzzle]).arg(&planes.run), code, part);
    }
}

/// Each way around the planes undoes what it did, so that a plane has one state: three in all. From
/// plane 0 both moves lead to plane 1, and plane 2 takes two; back to plane 0, B leads from plane 1
/// and A from plane 2.
#[test]
fn ways_around_the_planes_are_undone() {
    let text = "family = \"planes\"\nname = \"around\"\nplanes = 3\npositions = 3\n[[generators]]\nname = \"A\"\nplanes = [1, 2, 0]\n\
                permutations = [[1, 2, 0], [0, 1, 2], [2, 0, 1]]\n[[generators]]\nname = \"B\"\nplanes = [1, 0, 2]\n\
                permutations = [[1, 2, 0], [2, 0, 1], [0, 1, 2]]\n";
    let to = Truth::plain(text, "true-around");
    answers(verify().arg(&to.run), 3, "3 states, God's number 1 (moves to the solved state), 2 antipodes");
    let puzzle = to.folder.path().join("around.toml");
    let from = to.folder.path().join("from");
    fs::write(&puzzle, text).expect("written");
    succeed(farthest().args(["run", "--quiet", "--direction", "from"]).arg(&puzzle).arg("--out").arg(&from));
    answers(verify().arg(&from), 3, "3 states, God's number 2, 1 antipode");
}

/// `distance` reads the certificate of the folder, of the puzzle that was asked for, and writes where nothing is.
#[test]
fn distances_are_checked_where_they_are_asked_for() {
    let mut six = six();
    let distance = |run: &Path| {
        let mut command = verify();
        command.arg("distance").arg(run);
        command
    };
    answers(distance(&six.run).args(["--puzzle", "turnstyle-6/step"]), 0, "120 states can be reached");
    answers(distance(&six.run).args(["--puzzle", "turnstyle-6/turn"]), 1, "expected one about turnstyle-6 (turn)");
    let linked = six.copy();
    fs::rename(linked.join("distance.cert"), linked.join("other.cert")).expect("moved");
    symlink("other.cert", linked.join("distance.cert")).expect("linked");
    answers(&mut distance(&linked), 2, "distance.cert: found a symbolic link");
    // Without the sums of a run: each file of the archive lies in the folder and has its length.
    for name in ["levels", "levels/000003", "levels/000003/process-0000.pack"] {
        let linked = six.copy();
        fs::rename(linked.join(name), linked.join("moved")).expect("moved");
        symlink(linked.join("moved"), linked.join(name)).expect("linked");
        answers(&mut distance(&linked), 2, &format!("{name}: found a symbolic link"));
    }
    let (longer, shorter) = (six.copy(), six.copy());
    let pack = fs::read(six.run.join("levels/000003/process-0000.pack")).expect("readable");
    fs::write(longer.join("levels/000003/process-0000.pack"), [&pack[..], b"x"].concat()).expect("written");
    answers(&mut distance(&longer), 1, &format!("process-0000.pack: found a longer file, expected {} bytes, as in ", pack.len()));
    fs::write(shorter.join("levels/000003/process-0000.pack"), &pack[1..]).expect("written");
    answers(&mut distance(&shorter), 1, &format!("process-0000.pack: found {} bytes, expected {} bytes", pack.len() - 1, pack.len()));
    // Said before any work is done.
    let there = six.folder.path().join("there");
    fs::write(&there, "").expect("written");
    answers(
        distance(&six.run).args(["--interval", "1/1", "--receipt"]).arg(&there),
        2,
        "there: found a file that is there, expected a new one",
    );
    for interval in ["0/4", "5/4", "1/0"] {
        answers(distance(&six.run).args(["--interval", interval, "--receipt"]).arg(&there), 2, "expected a part of parts, such as 1/4");
    }
}

/// A run folder that lost a file is a run still, and not what its certificate alone is.
#[test]
fn half_a_run_is_no_certificate() {
    let mut six = six();
    for name in ["SHA256SUMS", "summary.json"] {
        let copy = six.copy();
        fs::remove_file(copy.join(name)).expect("removable");
        answers(verify().arg(&copy), 2, &format!("{name}: cannot be read"));
    }
}

/// Of the certificates in a run folder one belongs to the run.
#[test]
fn other_certificates_in_a_run_folder_are_checked() {
    let mut six = six();
    let copy = six.copy();
    fs::copy(known("certificates/word-turnstyle-4.cert"), copy.join("word.cert")).expect("copied");
    answers(verify().arg(&copy), 0, "\n2 verified, 0 consistent, 0 refuted, 0 unreadable, 0 skipped\n");
    fs::copy("tests/corrupt/word-one-move-short.cert", copy.join("word.cert")).expect("copied");
    answers(verify().arg(&copy), 1, "word.cert:");
}

/// What is passed over is named; a folder where all is passed over holds no claim.
#[test]
fn what_is_passed_over_is_named() {
    let folder = scratch();
    let certificate = known("certificates/word-turnstyle-4.cert");
    for (name, word) in [("linked", "linked.cert: a symbolic link; name what it points to"), ("hidden", ".hidden.cert: a hidden name")] {
        let below = folder.path().join(name);
        fs::create_dir(&below).expect("made");
        if name == "linked" {
            symlink(&certificate, below.join("linked.cert")).expect("linked");
        } else {
            fs::copy(&certificate, below.join(".hidden.cert")).expect("copied");
        }
        let (code, stdout, stderr) = outcome(verify().arg(&below));
        assert!(code == 2 && stderr.contains("found no certificate and no run"), "{code} {stdout}{stderr}");
        assert!(stdout.starts_with("skipped ") && stdout.contains(word), "{stdout}");
        assert!(stdout.ends_with("\n0 verified, 0 consistent, 0 refuted, 1 unreadable, 1 skipped\n"), "{stdout}");
    }
    // Deeper than a path can be long: the system refuses, also a reader who may read everything.
    let deep = folder.path().join("deep");
    let long = "x".repeat(200);
    let make = "cd \"$0\" && for level in $(seq 25); do mkdir \"$1\" && cd \"$1\" || exit 1; done";
    fs::create_dir(&deep).expect("made");
    assert!(Command::new("bash").args(["-c", make]).arg(&deep).arg(&long).status().expect("bash can be started").success());
    fs::copy(&certificate, deep.join("word.cert")).expect("copied");
    let (code, stdout, stderr) = outcome(verify().arg(&deep));
    let remove = "cd \"$0\" && rm -r \"$1\"";
    assert!(Command::new("bash").args(["-c", remove]).arg(&deep).arg(&long).status().expect("bash can be started").success());
    assert!(code == 2 && stderr.starts_with("unreadable ") && stderr.contains(": cannot be read: "), "{code} {stdout}{stderr}");
    assert!(stdout.ends_with("\n1 verified, 0 consistent, 0 refuted, 1 unreadable, 0 skipped\n"), "{stdout}");
}

/// Each file may take the work that one may take, and several are counted.
#[test]
fn work_is_counted_for_each_file() {
    let file = known("certificates/closed-set-turnstyle-4.cert");
    let with = |steps: u64, files: &[&Path]| outcome(verify().args(["--steps", &steps.to_string()]).args(files));
    let (mut few, mut enough) = (0, 1 << 20);
    while few + 1 < enough {
        let middle = u64::midpoint(few, enough);
        *(if with(middle, &[&file]).0 == 0 { &mut enough } else { &mut few }) = middle;
    }
    assert!(few > 50 && with(few, &[&file]).0 == 2);
    let (code, stdout, stderr) = with(enough, &[&file, &file]);
    assert!(code == 0 && stdout.ends_with("\n2 verified, 0 consistent, 0 refuted, 0 unreadable, 0 skipped\n"), "{stdout}{stderr}");
    // In one folder, too.
    let folder = scratch();
    for name in ["one.cert", "two.cert"] {
        fs::copy(&file, folder.path().join(name)).expect("copied");
    }
    assert_eq!(with(enough, &[folder.path()]).0, 0);
}

/// Distances by moves and their inverses, said to be those of the moves alone: no state is farther from the one before, but some are not led to from it.
#[test]
fn moves_that_lead_back_do_not_lead_to_a_state() {
    let directed = common::truth::DIRECTED;
    let both = directed.replace("positions = 7\n", "positions = 7\ninverses = true\n");
    let both = Truth::certified(&both, "step", "true-both-ways-certified");
    let alone = both.folder.path().join("alone");
    fs::create_dir(&alone).expect("made");
    copy_folder(&both.run.join("levels"), &alone.join("levels"));
    let certificate = text(&both.run.join("distance.cert"));
    let gone = certificate.lines().find(|line| line.starts_with("generator A' ")).expect("the inverse");
    assert!(certificate.contains("\nlevels 22\n"), "God's number 21");
    let certificate = certificate.replace(&format!("{gone}\n"), "").replace("puzzle permutations 7 3\n", "puzzle permutations 7 2\n");
    fs::write(alone.join("distance.cert"), certificate).expect("written");
    answers(verify().arg(alone.join("distance.cert")), 1, "expected a move to it from the level before");
}
