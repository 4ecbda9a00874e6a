//! The checker on run folders and archived levels: right ones are verified whole and in intervals, and every damage and every lie is refused.

#[path = "verify/archives.rs"]
mod archives;
mod common;

use archives::{level, only_certificate, set_level};
use common::disturb::{Dice, copy_folder, fail_with, scratch, sum_again};
use common::forge::{certify_again, change_json, edit, seal};
use common::{certified, checker, farthest, outcome, succeed};
use farthest::base::StateRank;
use farthest::base::ids::{to_u64, to_usize};
use farthest::families::run_config::RunConfig;
use farthest::ranking::StateSpace;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn verify() -> Command {
    checker("256M")
}

/// A cycle and a swap; no move undoes the cycle.
const DIRECTED: &str = "family = \"permutations\"\nname = \"directed\"\npositions = 5\n[[generators]]\nname = \"c\"\ncycles = \"(0 1 2 3 4)\"\n\
                        [[generators]]\nname = \"s\"\ncycles = \"(0 1)\"\n";

/// turnstyle-7 in step, with copies of it to damage.
struct Certified {
    folder: TempDir,
    run: PathBuf,
    copies: u32,
}

impl Certified {
    fn new() -> Self {
        let folder = scratch();
        let run = certified("turnstyle-7", "step", folder.path());
        Self { folder, run, copies: 0 }
    }

    fn copy(&mut self) -> PathBuf {
        self.copies += 1;
        let copy = self.folder.path().join(format!("copy-{}", self.copies));
        copy_folder(&self.run, &copy);
        copy
    }

    /// Checks that a changed copy is refused.
    fn refused(&mut self, code: i32, parts: &[&str], change: impl FnOnce(&Path)) {
        let copy = self.copy();
        change(&copy);
        let (found, stdout, stderr) = outcome(verify().arg(&copy));
        assert_eq!(found, code, "{parts:?}\n{stdout}{stderr}");
        let line = stderr.lines().next().unwrap_or_default();
        assert!(parts.iter().all(|part| line.contains(part)), "{parts:?}\n{stderr}");
        fs::remove_dir_all(copy).expect("removable");
    }
}

#[test]
fn runs_are_verified_with_their_distances() {
    let folder = scratch();
    let directed = folder.path().join("directed.toml");
    fs::write(&directed, DIRECTED).expect("written");
    let directed = directed.to_str().expect("UTF-8");
    for (puzzle, metric, claim) in [
        // God's numbers and antipodes of the tables in `known`, and of a second program for turn.
        ("turnstyle-4", "step", "8 states can be reached, God's number is 3, needed by 1 state;"),
        ("turnstyle-4", "flip", "2 states can be reached, God's number is 1, needed by 1 state;"),
        ("turnstyle-7", "step", "2520 states can be reached, God's number is 15, needed by 9 states;"),
        ("turnstyle-7", "turn", "God's number is 11,"),
        ("turnstyle-7", "flip", "360 states can be reached"),
        ("turnstyle-8", "step", "40320 states can be reached, God's number is 24, needed by 1 state;"),
        ("turnstyle-8", "turn", "God's number is 17,"),
        ("turnstyle-8", "flip", "5040 states can be reached"),
        ("pancake-7", "step", "5040 states can be reached, God's number is 8,"),
        // Two orbits, and 720 of 259,200 numbered states.
        ("board-3x4n3", "quarter", "720 states can be reached, God's number is 9,"),
        (directed, "step", "120 states can be reached"),
    ] {
        let run = certified(puzzle, metric, folder.path());
        let told = succeed(verify().arg(&run));
        assert_eq!(told.lines().count(), 2, "{told}");
        assert!(told.starts_with("verified ") && told.contains(claim), "{told}");
        assert!(told.ends_with("1 verified, 0 consistent, 0 refuted, 0 unreadable, 0 skipped\n"), "{told}");
        for parts in [1_u32, 3] {
            let receipts: Vec<PathBuf> = (1..=parts).map(|part| run.join(format!("receipt-{part}-{parts}"))).collect();
            for (part, receipt) in (1..).zip(&receipts) {
                let interval = format!("{part}/{parts}");
                let told = succeed(verify().arg("distance").arg(&run).args(["--interval", &interval, "--receipt"]).arg(receipt));
                assert!(told.contains(&format!("part {part} of {parts}")), "{told}");
            }
            // Without the seal of a key receipts are hearsay.
            let (code, told, _) = outcome(verify().arg("distance").arg(&run).arg("--merge").args(&receipts));
            assert!(code == 3 && told.contains(claim) && told.contains("if 1 receipt are") == (parts == 1), "{told}");
        }
    }
}

#[test]
fn published_runs_are_verified() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let below = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
    };
    let folders = below(&results).into_iter().flat_map(|puzzle| below(&puzzle));
    let runs: Vec<PathBuf> =
        folders.filter(|folder| folder.join("SHA256SUMS").is_file() && !folder.join("distance.cert").exists()).collect();
    let (code, told, stderr) = outcome(verify().args(&runs));
    assert_eq!(code, 3, "{stderr}");
    assert!(runs.len() >= 20 && told.matches("the files agree in checksums, sums, group order, edges").count() == runs.len(), "{told}");
    assert_eq!(told.matches("not proved: that these are the distances").count(), runs.len(), "what was not proved is said");
    assert!(told.ends_with(&format!("\n0 verified, {} consistent, 0 refuted, 0 unreadable, 0 skipped\n", runs.len())), "{told}");
}

#[test]
fn receipts_must_cover_all_states_of_one_certificate() {
    let mut certified = Certified::new();
    let run = certified.run.clone();
    let other = certified.copy();
    edit(&other.join("distance.cert"), "claim distance\n", "# another\nclaim distance\n");
    let receipt = |run: &Path, interval: &str| {
        let path = certified.folder.path().join(interval.replace('/', "-") + &run.file_name().expect("a name").to_string_lossy());
        succeed(verify().arg("distance").arg(run).args(["--interval", interval, "--receipt"]).arg(&path));
        path
    };
    let quarters: Vec<PathBuf> = ["1/4", "2/4", "3/4", "4/4"].map(|interval| receipt(&run, interval)).into();
    let check = |receipts: &[&PathBuf], code: i32, part: &str| {
        let (found, stdout, stderr) = outcome(verify().arg("distance").arg(&run).arg("--merge").args(receipts));
        assert_eq!(found, code, "{stdout}{stderr}");
        assert!((stdout + &stderr).contains(part), "{part}\n{stderr}");
    };
    let [one, two, three, four] = &quarters[..] else { panic!("four") };
    check(&[three, one, four, two], 3, "if 4 receipts are to be believed");
    check(&[one, &receipt(&run, "2/2"), two], 3, "if 3 receipts are");
    check(&[one, two, four], 1, "found numbers 1890 to 2520, a gap, expected an interval from 1260 on");
    check(&[two, three, four], 1, "found numbers 630 to 1260, a gap, expected an interval from 0 on");
    check(&[one, two, three], 1, "found receipts up to number 1890, expected up to 2520");
    check(&[one, two, three, four, two], 1, "an overlap, expected an interval from 1260 on");
    check(&[one, two, three, &receipt(&other, "4/4")], 1, "found a receipt for certificate");
    check(&[one, two, three, &run.join("summary.json")], 2, "expected the record \"farthest-receipt\"");
    // A receipt with another count.
    let text = fs::read_to_string(four).expect("text");
    let line = text.lines().find(|line| line.starts_with("level 9 ")).expect("a level");
    edit(four, line, "level 9 0");
    check(&[one, two, three, four], 1, "the sum of the receipts");
    // An interval that is wrong leaves no receipt.
    let bad = run.join("levels/000003/process-0000.pack");
    let bytes = fs::read(&bad).expect("readable");
    fs::write(&bad, [bytes.as_slice(), b"x"].concat()).expect("written");
    let none = certified.folder.path().join("none");
    let (code, _, _) = outcome(verify().arg("distance").arg(&run).args(["--interval", "1/2", "--receipt"]).arg(&none));
    assert_eq!((code, none.exists()), (1, false));
}

#[test]
fn every_flipped_bit_of_an_archive_is_noticed() {
    let mut certified = Certified::new();
    let copy = certified.copy();
    let file = copy.join("levels/000007/process-0001.pack");
    let whole = fs::read(&file).expect("readable");
    for at in (0..whole.len()).step_by(5) {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(&file, &changed).expect("written");
        let (code, _, stderr) = outcome(verify().arg("distance").arg(&copy));
        assert_eq!(code, 1, "byte {at}: {stderr}");
        assert!(stderr.contains("process-0001.pack: found SHA-256"), "byte {at}: {stderr}");
        // With a right digest in the certificate the file's own checksums speak.
        certify_again(&copy);
        let (code, _, stderr) = outcome(verify().arg("distance").arg(&copy));
        assert!([1, 2].contains(&code) && stderr.contains("process-0001.pack: "), "byte {at}: {code} {stderr}");
        fs::write(copy.join("distance.cert"), fs::read(certified.run.join("distance.cert")).expect("there")).expect("written");
    }
    for length in [0, 10, 60, whole.len() - 1] {
        fs::write(&file, &whole[..length]).expect("written");
        certify_again(&copy);
        assert_eq!(outcome(verify().arg("distance").arg(&copy)).0, 2, "cut to {length}");
    }
}

/// Archives in good form, with right checksums, that hold something else than the distances.
#[test]
fn false_labels_are_refuted() {
    let mut certified = Certified::new();
    let run = certified.run.clone();
    let levels: Vec<Vec<u64>> = (0..=15).map(|depth| level(&run, depth)).collect();
    let without = |ranks: &[u64], gone: u64| ranks.iter().copied().filter(|&rank| rank != gone).collect::<Vec<_>>();
    let with = |ranks: &[u64], new: u64| {
        let mut all = ranks.to_vec();
        all.push(new);
        all.sort_unstable();
        all
    };
    let (five, six, nine) = (levels[5][0], levels[6][0], levels[9][3]);
    // Two states change places.
    certified.refused(1, &["distance.cert:"], |copy| {
        set_level(copy, 5, &with(&without(&levels[5], five), nine));
        set_level(copy, 9, &with(&without(&levels[9], nine), five));
        certify_again(copy);
    });
    // A state in two levels, a state in none.
    certified.refused(1, &["process-0000.pack: found state ", "in level 6, expected it only in level 5"], |copy| {
        set_level(copy, 6, &with(&without(&levels[6], six), five));
        certify_again(copy);
    });
    let lines = [format!("level 5 {}\n", levels[5].len()), format!("level 5 {}\n", levels[5].len() - 1)];
    certified.refused(1, &["distance.cert:", "to no level, expected moves that lead at most one level further"], |copy| {
        set_level(copy, 5, &without(&levels[5], five));
        edit(&copy.join("distance.cert"), &lines[0], &lines[1]);
        edit(&copy.join("distance.cert"), "states 2520\n", "states 2519\n");
        only_certificate(copy);
        certify_again(copy);
    });
    // A level deeper than it is: all of the last level as one more.
    let last = levels[15][0];
    certified.refused(1, &["distance.cert:", "to level 16, expected moves that lead at most one level further"], |copy| {
        set_level(copy, 15, &without(&levels[15], last));
        copy_folder(&copy.join("levels/000015"), &copy.join("levels/000016"));
        set_level(copy, 16, &[last]);
        let text = fs::read_to_string(copy.join("distance.cert")).expect("text");
        let files = |depth: u32| format!("archive {depth} 1 {} levels/{depth:06}/process-0000.pack\n", "0".repeat(64));
        let text = text.replace("levels 16\n", "levels 17\n").replace("level 15 9\n", "level 15 8\nlevel 16 1\n");
        let text = text.replace("archives 32\n", "archives 33\n").replace("\nend\n", &format!("\n{}end\n", files(16)));
        fs::write(copy.join("distance.cert"), text).expect("written");
        only_certificate(copy);
        certify_again(copy);
    });
    // The start elsewhere.
    let first = levels[1][0];
    certified.refused(1, &["distance.cert:", "the solved state among them: false, expected the solved state and no other"], |copy| {
        set_level(copy, 0, &[first]);
        set_level(copy, 1, &with(&without(&levels[1], first), 0));
        certify_again(copy);
    });
}

/// States that cannot be reached, labelled as if they were: one of them, or all that reach one another.
#[test]
fn an_island_of_unreachable_states_is_refuted() {
    let folder = scratch();
    let run = certified("board-3x4n3", "quarter", folder.path());
    let reached: HashSet<u64> = (0..10).flat_map(|depth| level(&run, depth)).collect();
    let last = level(&run, 9);
    let stranger = (0..).find(|rank| !reached.contains(rank)).expect("one");
    let config = RunConfig::load(&run.join("run.toml")).expect("valid");
    let puzzle = config.puzzle.build(&config.metric).expect("valid");
    let space = StateSpace::of(&puzzle);
    let mut island = vec![stranger];
    let mut next = 0;
    while let Some(&rank) = island.get(next) {
        let state = space.unrank(StateRank(rank));
        for generator in 0..puzzle.generators().len() {
            let rank = space.rank(&puzzle.apply(generator, &state)).0;
            if !island.contains(&rank) {
                island.push(rank);
            }
        }
        next += 1;
    }
    assert!(island.len() > 1 && island.iter().all(|rank| !reached.contains(rank)));
    for (more, part) in [(&island[..1], "to no level"), (&island[..], "of level 9, expected a move to it from the level before")] {
        let copy = folder.path().join(format!("copy-{}", more.len()));
        copy_folder(&run, &copy);
        let mut all = [last.as_slice(), more].concat();
        all.sort_unstable();
        set_level(&copy, 9, &all);
        edit(&copy.join("distance.cert"), "states 720\n", &format!("states {}\n", 720 + more.len()));
        edit(&copy.join("distance.cert"), "level 9 10\n", &format!("level 9 {}\n", 10 + more.len()));
        certify_again(&copy);
        let (code, _, stderr) = outcome(verify().arg("distance").arg(&copy));
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains(part), "{stderr}");
    }
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let mut certified = Certified::new();
    let outside = certified.folder.path().join("outside");
    copy_folder(&certified.run, &outside);
    for name in
        ["levels", "levels/000004", "levels/000004/process-0000.pack", "distance.cert", "summary.json", "SHA256SUMS", "antipodes.tsv"]
    {
        certified.refused(2, &[name, "found a symbolic link"], |copy| {
            let path = copy.join(name);
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.expect("removable");
            symlink(outside.join(name), &path).expect("linked");
        });
    }
    for name in ["../outside/summary.json", "/etc/hostname", ".hidden", "a/b", ".."] {
        certified.refused(2, &["SHA256SUMS:", "the name of a file of a run"], |copy| {
            let path = copy.join("SHA256SUMS");
            let text = fs::read_to_string(&path).expect("text");
            fs::write(path, format!("{text}{}  {name}\n", "0".repeat(64))).expect("written");
        });
    }
}

#[test]
fn files_of_a_run_that_disagree_are_refuted() {
    let mut certified = Certified::new();
    let edits: [(&str, &str, &str, i32, &str); 16] = [
        // Two counts swapped: levels 4 and 5.
        (
            "distribution.tsv",
            "4\t22\n5\t40\n",
            "4\t40\n5\t22\n",
            1,
            "levels.tsv:6: found depth \"4\" with \"22\" states, expected 4 with 40",
        ),
        ("levels.tsv", "4\t22\t", "4\t23\t", 1, "levels.tsv:6: found depth \"4\" with \"23\" states, expected 4 with 22"),
        ("distribution.tsv", "4\t22\n", "5\t22\n", 1, "distribution.tsv:6: found \"5\", expected depth 4"),
        (
            "distribution.tsv",
            "4\t22\n",
            "4\t23\n",
            1,
            "found 2521 states in all, expected 2520, the order of the group of turnstyle-7 (step)",
        ),
        ("distribution.tsv", "depth", "Depth", 2, "distribution.tsv:1: "),
        ("levels.tsv", "\t0\t3\t", "\t1\t2\t", 1, "levels.tsv:3: found 3 edges down, expected 2, those up from the level before"),
        ("levels.tsv", "\t0\t0\t3\t", "\t0\t0\t4\t", 1, "levels.tsv:2: found 4 edges, expected 3: every move of every state"),
        ("summary.json", "\"gods_number\": 15", "\"gods_number\": 14", 1, "found gods_number 14, expected 15"),
        ("summary.json", "\"antipodes\": 9", "\"antipodes\": 8", 1, "found antipodes 8, expected 9"),
        ("summary.json", "\"mean_depth\": 10.3", "\"mean_depth\": 10.4", 1, "expected the mean of distribution.tsv"),
        ("summary.json", "\"fingerprint\": \"", "\"fingerprint\": \"0", 1, "that of levels.tsv"),
        ("summary.json", "\"puzzle\": \"turnstyle-7\"", "\"puzzle\": \"turnstyle-9\"", 1, "expected turnstyle-7, as in run.toml"),
        ("summary.json", "{", "[", 2, "summary.json: found "),
        ("run.toml", "size = 7", "size = 3", 2, "run.toml: size: found 3, expected a whole number from 4 to 20"),
        ("antipodes.tsv", "state\n", "state\n7\t1 2 3 4 5 6 7\n", 1, "found 10 listed antipodes, expected 9"),
        ("distance.cert", "claim distance", "claim word", 2, "distance.cert:2: found \"word\", expected distance"),
    ];
    for (file, from, to, code, part) in edits {
        certified.refused(code, &[part], |copy| {
            edit(&copy.join(file), from, to);
            sum_again(copy);
            if file == "distance.cert" {
                certify_again(copy);
            }
        });
        if file != "distance.cert" {
            certified.refused(1, &[file, "found SHA-256 ", "SHA256SUMS:"], |copy| edit(&copy.join(file), from, to));
        }
    }
    // A state that is not the one of its rank.
    let path = certified.run.join("antipodes.tsv");
    let line = fs::read_to_string(&path).expect("text").lines().nth(1).expect("an antipode").to_owned();
    let (rank, state) = line.split_once('\t').expect("two cells");
    let mut labels: Vec<&str> = state.split(' ').collect();
    labels.rotate_left(1);
    let moved = format!("{rank}\t{}", labels.join(" "));
    certified.refused(1, &["antipodes.tsv:2: found a state with number ", &format!("expected number {rank}")], |copy| {
        edit(&copy.join("antipodes.tsv"), &line, &moved);
        sum_again(copy);
    });
    // Files that are not there, or not listed.
    certified.refused(2, &["levels.tsv: cannot be read"], |copy| fs::remove_file(copy.join("levels.tsv")).expect("removable"));
    certified.refused(2, &["levels/000004: cannot be read"], |copy| fs::remove_dir_all(copy.join("levels/000004")).expect("removable"));
    certified.refused(1, &["SHA256SUMS: found no line for antipodes.tsv"], |copy| {
        let text = fs::read_to_string(copy.join("SHA256SUMS")).expect("text");
        fs::write(copy.join("SHA256SUMS"), text.split_once('\n').expect("lines").1).expect("written");
    });
    // A certificate with two counts swapped, one of another puzzle, and one of another run.
    certified.refused(1, &["distance.cert:", "found other numbers of states, expected those of distribution.tsv"], |copy| {
        edit(&copy.join("distance.cert"), "level 4 22\nlevel 5 40\n", "level 4 40\nlevel 5 22\n");
        certify_again(copy);
    });
    certified.refused(1, &["found a certificate for turnstyle-7 (turn), expected one for turnstyle-7 (step)"], |copy| {
        edit(&copy.join("distance.cert"), "turnstyle 7 step", "turnstyle 7 turn");
        certify_again(copy);
    });
    let eight = self::certified("turnstyle-8", "step", certified.folder.path());
    certified.refused(1, &["found a certificate for turnstyle-8 (step)"], |copy| {
        fs::copy(eight.join("distance.cert"), copy.join("distance.cert")).expect("copied");
        change_json(&copy.join("manifest.json"), |manifest| drop(manifest.as_object_mut().and_then(|keys| keys.remove("certificates"))));
        change_json(&copy.join("manifest.json"), |manifest| manifest["evidence"] = "single run".into());
        seal(copy);
    });
}

#[test]
fn a_lying_certificate_is_refuted_without_the_other_files() {
    let folder = scratch();
    let run = certified("turnstyle-7", "step", folder.path());
    let check = |from: &str, to: &str, code: i32, part: &str| {
        let path = run.join("distance.cert");
        let text = fs::read_to_string(&path).expect("text");
        edit(&path, from, to);
        let (found, _, stderr) = outcome(verify().arg(&path));
        fs::write(&path, text).expect("written");
        assert_eq!(found, code, "{stderr}");
        assert!(stderr.contains(part), "{part}\n{stderr}");
    };
    check("level 4 22\nlevel 5 40\n", "level 4 40\nlevel 5 22\n", 1, "distance.cert:11: found 40 states, expected 22, as the archive has");
    check("turnstyle 7 step", "turnstyle 7 turn", 1, "found a move from ");
    check("turnstyle 7 step", "turnstyle 7 flip", 1, "found 2520 numbered states, expected 360 for turnstyle-7 (flip)");
    check("ranks 2520 ", "ranks 5040 ", 1, "found 5040 numbered states, expected 2520");
    let text = fs::read_to_string(run.join("distance.cert")).expect("text");
    let line = text.lines().find(|line| line.starts_with("archive 7 ")).expect("a file").to_owned() + "\n";
    check(&line, "", 2, "found \"end\", expected the record \"archive\"");
    check("archives 32\n", "archives 31\n", 2, "found \"archive\", expected the record \"end\"");
    let (ranks, _) = text.split_once("ranks 2520 ").map(|(_, rest)| rest.split_once('\n').expect("a line")).expect("ranks");
    let half: u64 = ranks.parse::<u64>().expect("a number") / 2;
    check(&format!("ranks 2520 {ranks}\n"), &format!("ranks 2520 {half}\n"), 2, "process-0000.pack: the block of shard ");
    // Limits are asked for before anything is read.
    for limit in [["--memory", "1K"], ["--steps", "3000"]] {
        let (code, _, stderr) = outcome(Command::new(env!("CARGO_BIN_EXE_farthest-verify")).args(limit).arg("distance").arg(&run));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(limit[0]), "{stderr}");
    }
}

/// A certificate with a changed byte is verified only when it claims the same numbers of the same puzzle.
#[test]
fn no_changed_byte_of_the_certificate_verifies_other_distances() {
    let folder = scratch();
    let run = certified("turnstyle-4", "step", folder.path());
    let path = run.join("distance.cert");
    let good = fs::read(&path).expect("readable");
    let claim = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let kept = |line: &&str| ["claim", "puzzle", "states", "level"].iter().any(|name| line.split(' ').next() == Some(name));
        text.lines().filter(kept).map(str::to_owned).collect()
    };
    let mut dice = Dice::new(5);
    let mut codes = [0; 3];
    for number in 0..300 {
        let mut changed = good.clone();
        let at = to_usize(dice.below(to_u64(good.len())));
        let letters: &[u8] = if good[at].is_ascii_digit() { b"0123456789" } else { b"0a #\n./-\xff" };
        let letter = letters[to_usize(dice.below(to_u64(letters.len())))];
        match number % 4 {
            0 => changed.insert(at, letter),
            1 => drop(changed.remove(at)),
            _ => changed[at] = letter,
        }
        fs::write(&path, &changed).expect("written");
        let (code, stdout, stderr) = outcome(verify().arg(&path));
        assert!((0..=2).contains(&code), "{code}: {stderr}");
        codes[usize::try_from(code).expect("0 to 2")] += 1;
        let line = if code == 0 { stdout } else { stderr };
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(code != 0 || claim(&changed) == claim(&good), "{line}\n{}", String::from_utf8_lossy(&changed));
    }
    assert!(codes.iter().all(|&count| count > 5), "{codes:?}: the test is blind");
}

/// Deep nesting and odd types in files that other crates parse.
#[test]
fn hostile_toml_and_json_are_unreadable() {
    let mut certified = Certified::new();
    for (file, text) in [
        ("run.toml", format!("a = {}", "[".repeat(500_000))),
        ("run.toml", "a.".repeat(200_000) + "b = 1"),
        ("run.toml", "family = \"turnstyle\"\nmetric = \"step\"\nsize = -4\n".into()),
        ("run.toml", "family = 4\nmetric = \"step\"\n".into()),
        ("run.toml", "family = \"permutations\"\nname = \"x\"\nmetric = \"step\"\npositions = 1000000000000\n".into()),
        ("run.toml", "x".repeat(2 << 20)),
        ("summary.json", "[".repeat(500_000)),
        ("summary.json", "{\"puzzle\": \"turnstyle-7\", \"metric\": \"step\", \"format\": 1e400}".into()),
        ("summary.json", "{\"puzzle\": \"turnstyle-7\", \"metric\": \"step\", \"format\": -1}".into()),
    ] {
        certified.refused(2, &[file, ": found "], |copy| {
            fs::write(copy.join(file), text).expect("written");
            sum_again(copy);
        });
    }
}

/// The label is the checker's to give.
#[test]
fn only_a_verified_run_is_certified() {
    let folder = scratch();
    let run = folder.path().join("run");
    succeed(farthest().args(["run", "turnstyle-6", "--keep-levels", "--quiet", "--out"]).arg(&run));
    let manifest = || common::json(&run, "manifest.json");
    succeed(farthest().args(["certify", "distance", "--write-only"]).arg(&run));
    assert_eq!(manifest()["evidence"], "single run");
    let certify = |checker: &str| {
        let mut command = farthest();
        command.args(["certify", "distance", "--checker", checker]).arg(&run);
        command
    };
    assert!(fail_with(1, &mut certify("false")).contains("did not verify the folder"));
    assert!(fail_with(78, &mut certify("/no/such/checker")).contains("cannot be started"));
    assert_eq!(manifest()["evidence"], "single run");
    succeed(&mut certify(env!("CARGO_BIN_EXE_farthest-verify")));
    assert_eq!(manifest()["evidence"], "certified");
    assert_eq!(manifest()["certificates"][0]["file"], "distance.cert");
    succeed(verify().arg(&run));
}

#[test]
fn certify_distance_says_what_is_missing() {
    let folder = scratch();
    let plain = folder.path().join("plain");
    succeed(farthest().args(["run", "turnstyle-6", "--quiet", "--out"]).arg(&plain));
    let stderr = fail_with(78, farthest().args(["certify", "distance"]).arg(&plain));
    assert!(stderr.contains("the run archived no levels") && stderr.contains("--keep-levels"), "{stderr}");
    let stderr = fail_with(74, farthest().args(["certify", "distance"]).arg(folder.path().join("none")));
    assert!(stderr.contains("SHA256SUMS"), "{stderr}");
    let planes = folder.path().join("planes.toml");
    let text =
        "family = \"planes\"\nname = \"p\"\nplanes = 2\npositions = 3\n[[generators]]\nname = \"A\"\nplanes = [1, 0]\ncycles = \"(0 1)\"\n";
    fs::write(&planes, text).expect("written");
    let run = folder.path().join("run");
    succeed(farthest().arg("run").arg(&planes).args(["--keep-levels", "--quiet", "--out"]).arg(&run));
    let stderr = fail_with(78, farthest().args(["certify", "distance"]).arg(&run));
    assert!(stderr.contains("is given as planes"), "{stderr}");
    let (code, told, stderr) = outcome(verify().arg(&run));
    assert!(
        code == 3 && told.contains("2 states") && told.contains("no listed states: how its states are written is not known here"),
        "{told}{stderr}"
    );
    // The largest rank that a file can name is no more than a wrong one.
    let antipodes = fs::read_to_string(run.join("antipodes.tsv")).expect("text");
    let (rank, _) = antipodes.lines().last().and_then(|line| line.split_once('\t')).expect("an antipode");
    edit(&run.join("antipodes.tsv"), &format!("\n{rank}\t"), "\n18446744073709551615\t");
    sum_again(&run);
    let (code, told, stderr) = outcome(verify().arg(&run));
    assert!((1..=3).contains(&code) && !stderr.contains("panicked"), "{code} {told}{stderr}");
    // An archive that lost a file is no archive.
    let run = certified("turnstyle-7", "step", folder.path());
    fs::remove_file(run.join("levels/000005/process-0001.pack")).expect("removable");
    let stderr = fail_with(74, farthest().args(["certify", "distance"]).arg(&run));
    assert!(stderr.contains("levels/000005/process-0001.pack"), "{stderr}");
}
