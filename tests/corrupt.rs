//! Damage to what a run has on disk: it is noticed, told with file, found and expected, and never
//! becomes a number.
//!
//! Checkpoints: every kind of damage to manifests and packs lets a resume fall back by one
//! generation, or end with exit code 65 when both are damaged; another search's checkpoint ends it
//! with 78. Results: a flipped byte is refused by every command that reads them. Folders: stray
//! files, odd paths, a disk that is full for real.

mod common;

use common::disturb::{Dice, copy_folder, fail_with, fault, generations, names, only_line, scratch};
use common::needs::{Need, test_lacks};
use common::{farthest, json, outcome, result_bytes, succeed};
use farthest::base::codec::{self, Kind};
use farthest::search::checkpoint::manifest::{CheckpointManifest, MANIFEST_KIND};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const PUZZLE: &str = "turnstyle-7";

fn run_of(puzzle: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = farthest();
    command.args(["run", puzzle, "--checkpoint-seconds", "0", "--quiet", "--out"]).arg(folder).args(more);
    command
}

fn run(folder: &Path, more: &[&str]) -> Command {
    run_of(PUZZLE, folder, more)
}

/// A run that was killed when generations 6 and 7 were committed, by two participants, with copies
/// of it to damage.
struct Killed {
    folder: TempDir,
    bytes: BTreeMap<String, Vec<u8>>,
    copies: u32,
}

const OLDER: u32 = 6;
const NEWER: u32 = 7;

impl Killed {
    fn new() -> Self {
        let folder = scratch();
        let complete = folder.path().join("complete");
        succeed(&mut run(&complete, &["--threads", "1"]));
        let bytes = result_bytes(&complete);
        let killed = folder.path().join("killed");
        fail_with(-1, fault(&mut run(&killed, &["--participants", "2", "--threads", "1"]), "generation-create", 8, "kill"));
        assert_eq!(generations(&killed), [OLDER, NEWER]);
        Self { folder, bytes, copies: 0 }
    }

    /// A fresh copy.
    fn copy(&mut self) -> PathBuf {
        self.copies += 1;
        let copy = self.folder.path().join(format!("copy-{}", self.copies));
        copy_folder(&self.folder.path().join("killed"), &copy);
        copy
    }

    /// Resumes a copy whose `file` is damaged; the run must fall back with a warning that names the
    /// file, and end with the right bytes.
    fn falls_back(&self, copy: &Path, file: &Path, context: &str) {
        let stderr = fail_with(0, &mut run(copy, &["--threads", "1"]));
        let warning = only_line(&stderr);
        assert!(warning.contains(&format!("the checkpoint of level {NEWER} is not usable")), "{context}: {warning}");
        assert!(warning.contains(file.to_str().expect("UTF-8")), "{context}: the damaged file: {warning}");
        check_found_and_expected(warning, context);
        let log = fs::read_to_string(copy.join("run.log")).expect("a log");
        assert!(log.contains(&format!("goes on from the checkpoint of level {OLDER}:")), "{context}: {log}");
        self.complete(copy, context);
    }

    /// Resumes a copy that must end with exit code 65, name one of the files, and leave the
    /// checkpoint as it is.
    fn refused(&self, copy: &Path, files: &[&Path], context: &str) -> String {
        let before = all_files(&copy.join("checkpoint"));
        let stderr = fail_with(65, &mut run(copy, &["--participants", "3", "--threads", "1"]));
        let error = stderr.lines().last().expect("an error").to_owned();
        assert!(error.starts_with("farthest: "), "{context}: {error}");
        assert!(files.iter().any(|file| error.contains(file.to_str().expect("UTF-8"))), "{context}: the damaged file: {error}");
        check_found_and_expected(&error, context);
        assert!(!copy.join("summary.json").exists(), "{context}");
        assert_eq!(all_files(&copy.join("checkpoint")), before, "{context}: the evidence must stay");
        error
    }

    fn complete(&self, copy: &Path, context: &str) {
        assert_eq!(result_bytes(copy), self.bytes, "{context}");
        assert!(!copy.join("checkpoint").exists() && !copy.join("work").exists(), "{context}");
        fs::remove_dir_all(copy).expect("removable");
    }
}

fn all_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for name in names(folder) {
        let path = folder.join(name);
        if path.is_dir() {
            found.extend(all_files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    found
}

/// Errors about data say what was found and what was expected, and the two differ.
fn check_found_and_expected(line: &str, context: &str) {
    let found = line.split(": found ").nth(1).unwrap_or_else(|| panic!("{context}: no \"found\": {line}"));
    let (found, expected) = found.split_once(", expected ").unwrap_or_else(|| panic!("{context}: no \"expected\": {line}"));
    let expected = expected.split("; ").next().unwrap_or_default();
    assert!(!found.is_empty() && found.trim_start_matches("pack ") != expected, "{context}: found what was expected: {line}");
}

fn manifest(run: &Path, depth: u32) -> PathBuf {
    run.join(format!("checkpoint/manifest-{depth:06}"))
}

fn pack(run: &Path, depth: u32, process: u32) -> PathBuf {
    run.join(format!("checkpoint/gen-{depth:06}/process-{process:04}.pack"))
}

fn read_manifest(path: &Path) -> CheckpointManifest {
    CheckpointManifest::decode(&fs::read(path).expect("readable"), path).expect("whole")
}

/// Changes the bytes of a file.
fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).expect("readable");
    change(&mut bytes);
    fs::write(path, bytes).expect("written");
}

fn flip(path: &Path, at: usize) {
    change(path, |bytes| bytes[at] ^= 0x10);
}

/// A way to damage a file, by name.
type Damage = (&'static str, fn(&Path));

/// What is done to a file or folder.
type On<'a> = &'a dyn Fn(&Path);

/// A file of a run folder at a depth.
type FileOf = fn(&Path, u32) -> PathBuf;

const FILES: [(&str, FileOf); 3] =
    [("manifest", manifest), ("first pack", |run, depth| pack(run, depth, 0)), ("second pack", |run, depth| pack(run, depth, 1))];

const DAMAGES: [Damage; 9] = [
    ("deleted", |path| fs::remove_file(path).expect("removable")),
    ("emptied", |path| change(path, Vec::clear)),
    ("cut in half", |path| change(path, |bytes| bytes.truncate(bytes.len() / 2))),
    ("cut by a byte", |path| change(path, |bytes| bytes.truncate(bytes.len() - 1))),
    ("longer by a byte", |path| change(path, |bytes| bytes.push(0))),
    ("flipped in the header", |path| flip(path, 9)),
    ("flipped behind the header", |path| flip(path, 40)),
    ("flipped at the end", |path| change(path, |bytes| *bytes.last_mut().expect("not empty") ^= 1)),
    ("replaced by text", |path| fs::write(path, "this is no file of a checkpoint\n".repeat(9)).expect("written")),
];

#[test]
fn any_damage_to_the_newest_generation_falls_back_to_the_one_before() {
    let mut killed = Killed::new();
    for (name, damage) in DAMAGES {
        for (kind, file) in FILES {
            let copy = killed.copy();
            let file = file(&copy, NEWER);
            let context = format!("{kind} {name}");
            damage(&file);
            if (name, kind) == ("deleted", "manifest") {
                // Nothing tells that there was one.
                succeed(&mut run(&copy, &["--threads", "1"]));
                killed.complete(&copy, &context);
            } else {
                killed.falls_back(&copy, &file, &context);
            }
        }
    }
}

#[test]
fn every_flipped_byte_is_noticed_or_harmless() {
    let mut killed = Killed::new();
    let template = killed.copy();
    let read = |path: &Path| fs::read(path).expect("readable");
    for (file, step) in [(manifest(&template, NEWER), 11), (pack(&template, NEWER, 0), 7)] {
        let whole = read(&file);
        // The index of a pack is not needed when a manifest has all its entries; what stands before
        // it and behind it is.
        let index = whole.windows(12).position(|part| part == b"FARTHESTINDX").unwrap_or(whole.len());
        let relative = file.strip_prefix(&template).expect("below").to_path_buf();
        for at in (0..whole.len()).step_by(step) {
            let copy = killed.copy();
            let file = copy.join(&relative);
            let context = format!("byte {at} of {}", relative.display());
            flip(&file, at);
            if (index..whole.len() - 24).contains(&at) {
                succeed(&mut run(&copy, &["--threads", "1"]));
                killed.complete(&copy, &context);
            } else {
                killed.falls_back(&copy, &file, &context);
            }
        }
    }
}

#[test]
fn damage_to_both_generations_ends_the_resume_and_says_what_is_wrong() {
    let mut killed = Killed::new();
    for (name, damage) in DAMAGES {
        for (kind, file) in FILES {
            if (name, kind) == ("deleted", "manifest") {
                continue;
            }
            let copy = killed.copy();
            let (older, newer) = (file(&copy, OLDER), file(&copy, NEWER));
            let backup = [fs::read(&older).expect("readable"), fs::read(&newer).expect("readable")];
            damage(&older);
            damage(&newer);
            let context = format!("both generations: {kind} {name}");
            killed.refused(&copy, &[&older, &newer], &context);
            // With one of them back, all is well.
            fs::write(&older, &backup[0]).expect("written");
            if name == "deleted" {
                fs::write(&newer, &backup[1]).expect("written");
            }
            succeed(&mut run(&copy, &["--threads", "1"]));
            killed.complete(&copy, &context);
        }
    }
}

/// A pack of an older generation that both need: sets that do not change any more stay where they
/// are.
#[test]
fn damage_to_a_pack_that_both_generations_need_ends_the_resume() {
    let folder = scratch();
    // The first shards of this puzzle are full long before the search ends.
    let path = folder.path().join("run");
    fail_with(-1, fault(&mut run_of("turnstyle-8", &path, &["--threads", "1"]), "generation-create", 23, "kill"));
    let depths = generations(&path);
    assert_eq!(depths.len(), 2);
    let packs = |depth: u32| read_manifest(&manifest(&path, depth)).packs.into_iter().map(|pack| pack.path).collect::<Vec<_>>();
    let newer = packs(depths[1]);
    let shared: Vec<String> = packs(depths[0]).into_iter().filter(|pack| newer.contains(pack)).collect();
    let shared = path.join("checkpoint").join(shared.first().expect("a pack that both name"));
    for damage in [0, 3, 8] {
        let (name, damage) = DAMAGES[damage];
        let copy = folder.path().join("copy");
        let _ = fs::remove_dir_all(&copy);
        copy_folder(&path, &copy);
        let file = copy.join(shared.strip_prefix(&path).expect("below"));
        damage(&file);
        let stderr = fail_with(65, &mut run_of("turnstyle-8", &copy, &["--threads", "1"]));
        let error = stderr.lines().last().expect("an error");
        assert!(error.contains(file.to_str().expect("UTF-8")), "{name}: {error}");
        check_found_and_expected(error, name);
    }
}

#[test]
fn exchanged_files_are_noticed() {
    let mut killed = Killed::new();
    let exchange = |first: &Path, second: &Path| {
        let bytes = fs::read(first).expect("readable");
        fs::copy(second, first).expect("copied");
        fs::write(second, bytes).expect("written");
    };
    // The packs of two processes.
    let copy = killed.copy();
    let (first, second) = (pack(&copy, NEWER, 0), pack(&copy, NEWER, 1));
    exchange(&first, &second);
    killed.falls_back(&copy, &copy.join("checkpoint").join(format!("gen-{NEWER:06}")), "two packs exchanged");
    // The packs of two generations: both are damaged.
    let copy = killed.copy();
    let (first, second) = (pack(&copy, OLDER, 0), pack(&copy, NEWER, 0));
    exchange(&first, &second);
    killed.refused(&copy, &[&first, &second], "packs of two generations exchanged");
    // The same pack twice.
    let copy = killed.copy();
    let (first, second) = (pack(&copy, NEWER, 0), pack(&copy, NEWER, 1));
    fs::copy(&first, &second).expect("copied");
    killed.falls_back(&copy, &second, "one pack twice");
    // Two manifests: whatever is made of it, the bytes are right.
    let copy = killed.copy();
    exchange(&manifest(&copy, OLDER), &manifest(&copy, NEWER));
    succeed(&mut run(&copy, &["--threads", "1"]));
    killed.complete(&copy, "two manifests exchanged");
}

#[test]
fn a_pack_of_another_puzzle_is_noticed() {
    let mut killed = Killed::new();
    let other = scratch();
    let other = other.path().join("other");
    fail_with(-1, fault(&mut run_of("turnstyle-8", &other, &["--participants", "2", "--threads", "1"]), "generation-create", 8, "kill"));
    assert_eq!(generations(&other).last(), Some(&NEWER));
    let copy = killed.copy();
    let file = pack(&copy, NEWER, 1);
    fs::copy(pack(&other, NEWER, 1), &file).expect("copied");
    killed.falls_back(&copy, &file, "a pack of another puzzle");
    // Of the same length, too.
    let copy = killed.copy();
    let file = pack(&copy, NEWER, 1);
    let length = fs::read(&file).expect("readable").len();
    let mut bytes = fs::read(pack(&other, NEWER, 1)).expect("readable");
    bytes.resize(length, 0);
    fs::write(&file, bytes).expect("written");
    killed.falls_back(&copy, &file, "a pack of another puzzle, cut to length");
}

/// A format version that this program does not write.
const OTHER_VERSION: u16 = MANIFEST_KIND.version + 1;

/// The manifest as another version of the program would write it: whole, but not ours to read.
fn write_as_version(path: &Path, version: u16) {
    let kind = Kind { version, ..MANIFEST_KIND };
    let bytes = codec::encode(kind, &read_manifest(path)).expect("small");
    fs::write(path, bytes).expect("written");
}

#[test]
fn a_manifest_of_another_format_version_is_refused() {
    let mut killed = Killed::new();
    let copy = killed.copy();
    let (older, newer) = (manifest(&copy, OLDER), manifest(&copy, NEWER));
    write_as_version(&older, OTHER_VERSION);
    write_as_version(&newer, OTHER_VERSION);
    let error = killed.refused(&copy, &[&older, &newer], "both of another version");
    assert!(error.contains(&format!("format version {OTHER_VERSION}")) && error.contains("another version of farthest"), "{error}");
    // Only the newest: it is no damage, and what a newer program found must not be thrown away.
    let copy = killed.copy();
    let newer = manifest(&copy, NEWER);
    write_as_version(&newer, OTHER_VERSION);
    let error = killed.refused(&copy, &[&newer], "the newest of another version");
    assert!(error.contains(&format!("format version {OTHER_VERSION}")) && error.contains("another version of farthest"), "{error}");
}

#[test]
fn a_manifest_of_the_version_before_is_continued() {
    let mut killed = Killed::new();
    let copy = killed.copy();
    for depth in [OLDER, NEWER] {
        let path = manifest(&copy, depth);
        let m = read_manifest(&path);
        // Version 2 has all fields but the last one, the samples.
        let fields = (
            m.program_version,
            m.identity.puzzle_name,
            m.identity.metric,
            m.identity.puzzle_text,
            m.identity.puzzle_digest,
            m.identity.fixed_settings,
            m.identity.partition,
            m.levels,
            m.packs,
            m.entries,
            m.resumes,
            m.seconds,
        );
        let bytes = codec::encode(Kind { version: 2, ..MANIFEST_KIND }, &fields).expect("small");
        fs::write(&path, bytes).expect("written");
    }
    succeed(&mut run(&copy, &[]));
    let samples = |folder: &Path| fs::read_to_string(folder.join("samples.tsv")).expect("there");
    // Samples of the levels behind the checkpoint only; everything else as ever.
    let complete = killed.folder.path().join("complete");
    let (found, all) = (samples(&copy), samples(&complete));
    let later = |line: &&str| line.split('\t').next().and_then(|depth| depth.parse::<u32>().ok()).is_none_or(|depth| depth > NEWER);
    assert_eq!(found.lines().collect::<Vec<_>>(), all.lines().filter(later).collect::<Vec<_>>());
    assert_eq!(common::distribution(&copy), common::distribution(&complete));
}

/// A manifest whose checksum is right and whose contents are not.
#[test]
fn a_manifest_that_lies_is_noticed() {
    type Lie = fn(&mut CheckpointManifest);
    let lies: [(&str, Lie); 8] = [
        ("no levels", |manifest| manifest.levels.clear()),
        ("a level left out", |manifest| {
            manifest.levels.remove(2);
        }),
        ("more states in a level", |manifest| manifest.levels[3].states += 1),
        ("another fingerprint", |manifest| manifest.levels.last_mut().expect("levels").fingerprint.0[0] ^= 1),
        ("a pack outside", |manifest| manifest.packs[0].path = "../../run.toml".into()),
        ("an entry beyond the pack", |manifest| manifest.entries[0].1.offset = 1 << 60),
        ("an entry left out", |manifest| {
            manifest.entries.pop();
        }),
        ("a block of terabytes", |manifest| {
            let entry = &mut manifest.entries[0].1;
            (entry.count, entry.raw_bytes) = (1 << 40, 1 << 43);
        }),
    ];
    let mut killed = Killed::new();
    for (name, lie) in lies {
        let copy = killed.copy();
        for depth in [OLDER, NEWER] {
            let path = manifest(&copy, depth);
            let mut contents = read_manifest(&path);
            lie(&mut contents);
            fs::write(&path, contents.encode().expect("small")).expect("written");
        }
        killed.refused(&copy, &[&copy.join("checkpoint")], name);
    }
}

#[test]
fn a_checkpoint_of_another_search_is_refused_with_the_keys_that_differ() {
    let mut killed = Killed::new();
    let copy = killed.copy();
    let before = all_files(&copy.join("checkpoint"));
    let check = |command: &mut Command, keys: &[&str]| {
        let stderr = fail_with(78, command);
        let line = only_line(&stderr);
        assert!(line.contains("belongs to another search"), "{line}");
        for key in keys {
            assert!(line.contains(key), "{key}: {line}");
        }
        assert!(line.contains("--out") && line.contains("--resume never --force"), "the cure: {line}");
        assert_eq!(all_files(&copy.join("checkpoint")), before, "the other search's checkpoint must stay");
    };
    check(&mut run(&copy, &["--metric", "flip"]), &["metric = step there, flip here"]);
    check(&mut run_of("turnstyle-8", &copy, &[]), &["puzzle = turnstyle-7 there, turnstyle-8 here"]);
    check(
        &mut run_of("turnstyle-8", &copy, &["--metric", "turn", "--participants", "2"]),
        &["puzzle = turnstyle-7 there, turnstyle-8 here", "metric = step there, turn here"],
    );
    check(&mut run(&copy, &["--keep-levels"]), &["keep_levels = false there, true here"]);
    succeed(&mut run(&copy, &["--threads", "1"]));
    killed.complete(&copy, "resumed by its own search");
}

/// The cut into shards is fixed when a run starts.
#[test]
fn a_checkpoint_of_another_cut_is_refused() {
    let folder = scratch();
    let path = folder.path().join("run");
    let cut = |positions: u32| {
        let config = folder.path().join(format!("{positions}.toml"));
        fs::write(&config, format!("puzzle = \"turnstyle-8\"\n[search]\nleading_positions = {positions}\n")).expect("written");
        run_of(config.to_str().expect("UTF-8"), &path, &["--threads", "1"])
    };
    fail_with(-1, fault(&mut cut(1), "generation-create", 4, "kill"));
    let stderr = fail_with(78, &mut cut(2));
    assert!(only_line(&stderr).contains("shards = 56 there, 336 here"), "{stderr}");
    succeed(&mut cut(1));
}

/// So is what the results list: `run.toml` tells it, and stays as it was.
#[test]
fn a_checkpoint_with_another_number_of_antipodes_is_refused() {
    let mut killed = Killed::new();
    let copy = killed.copy();
    let config = copy.with_file_name("few.toml");
    fs::write(&config, format!("puzzle = \"{PUZZLE}\"\n[search]\nmost_antipodes = 2\n")).expect("written");
    let stderr = fail_with(78, &mut run_of(config.to_str().expect("UTF-8"), &copy, &["--threads", "1"]));
    assert!(only_line(&stderr).contains("most_antipodes = 1000 there, 2 here"), "{stderr}");
    succeed(&mut run(&copy, &["--threads", "1"]));
    killed.complete(&copy, "resumed with its own number");
}

/// Two puzzles of one name.
#[test]
fn a_checkpoint_of_another_puzzle_of_the_same_name_is_refused() {
    let folder = scratch();
    let config = folder.path().join("toy.toml");
    let text = |cycles: &str| {
        format!(
            "family = \"permutations\"\nname = \"toy\"\npositions = 6\ninverses = true\n[[generators]]\nname = \"A\"\ncycles = \"(0 1 2 3 4 5)\"\n[[generators]]\nname = \"B\"\ncycles = \"{cycles}\"\n"
        )
    };
    let path = folder.path().join("run");
    let toy = || run_of(config.to_str().expect("UTF-8"), &path, &["--threads", "1"]);
    fs::write(&config, text("(0 1)")).expect("written");
    fail_with(-1, fault(&mut toy(), "generation-create", 4, "kill"));
    fs::write(&config, text("(0 1 2)")).expect("written");
    let stderr = fail_with(78, &mut toy());
    assert!(only_line(&stderr).contains("puzzle digest = "), "{stderr}");
    fs::write(&config, text("(0 1)")).expect("written");
    succeed(&mut toy());
}

#[test]
fn damaged_results_are_refused_by_every_command_that_reads_them() {
    let folder = scratch();
    let whole = folder.path().join("whole");
    succeed(&mut run(&whole, &["--threads", "1"]));
    let files = ["distribution.tsv", "levels.tsv", "antipodes.tsv", "summary.json", "manifest.json", "run.toml", "SHA256SUMS"];
    for name in files {
        let length = fs::read(whole.join(name)).expect("readable").len();
        let damages: [(&str, On<'_>); 5] = [
            ("flipped at the start", &|path| flip(path, 0)),
            ("flipped in the middle", &|path| change(path, |bytes| bytes[length / 2] ^= 1)),
            ("no text", &|path| change(path, |bytes| bytes[length / 2] = 0xff)),
            ("cut by two bytes", &|path| change(path, |bytes| bytes.truncate(length - 2))),
            ("emptied", &|path| change(path, Vec::clear)),
        ];
        for (how, damage) in damages {
            let copy = folder.path().join("copy");
            let _ = fs::remove_dir_all(&copy);
            copy_folder(&whole, &copy);
            damage(&copy.join(name));
            let context = format!("{name} {how}");
            let mut table = farthest();
            table.arg("table").arg(&copy);
            for command in [&mut table, &mut run(&copy, &[])] {
                let (code, stdout, stderr) = outcome(command);
                assert_eq!((code, stdout.as_str()), (65, ""), "{context}: {stderr}");
                let line = only_line(&stderr);
                // When the list itself is damaged any file of it may be named.
                assert!(line.contains(name) || name == "SHA256SUMS" && line.contains(copy.to_str().expect("UTF-8")), "{context}: {line}");
                check_found_and_expected(line, &context);
            }
            // `resume` reads run.toml before all else.
            let (code, _, stderr) = outcome(farthest().arg("resume").arg(&copy));
            assert!(code == 65 || code == 78 && name == "run.toml", "{context}: {code} {stderr}");
            only_line(&stderr);
        }
    }
    // A file is missing.
    for name in &files[..6] {
        let copy = folder.path().join("copy");
        let _ = fs::remove_dir_all(&copy);
        copy_folder(&whole, &copy);
        fs::remove_file(copy.join(name)).expect("removable");
        let (code, _, stderr) = outcome(farthest().arg("table").arg(&copy));
        assert!(code == 65 || code == 74, "{name} is missing: {code} {stderr}");
        assert!(only_line(&stderr).contains(if *name == "summary.json" { "complete run" } else { name }), "{name}: {stderr}");
    }
}

/// `run.toml` is needed to publish: a run must not find out at its end that it is gone.
#[test]
fn a_run_whose_configuration_was_removed_or_discarded_completes() {
    let mut killed = Killed::new();
    let copy = killed.copy();
    fs::remove_file(copy.join("run.toml")).expect("removable");
    succeed(&mut run(&copy, &["--threads", "1"]));
    killed.complete(&copy, "run.toml was removed");
    let copy = killed.copy();
    succeed(&mut run(&copy, &["--threads", "1", "--resume", "never", "--force"]));
    killed.complete(&copy, "a checkpoint was discarded");
    let copy = killed.copy();
    succeed(&mut run(&copy, &["--threads", "1"]));
    succeed(&mut run(&copy, &["--threads", "1", "--resume", "never", "--force"]));
    killed.complete(&copy, "results were discarded");
}

/// The digest of the configuration in `manifest.json` is that of the `run.toml` beside it, also
/// when a resume committed at another pace.
#[test]
fn the_manifest_describes_the_configuration_that_is_published() {
    let mut killed = Killed::new();
    let copy = killed.copy();
    succeed(farthest().arg("resume").arg(&copy).args(["--quiet", "--checkpoint-seconds", "7"]));
    let manifest = json(&copy, "manifest.json");
    let digest = blake3::hash(&fs::read(copy.join("run.toml")).expect("readable")).to_hex().to_string();
    assert_eq!(manifest["config_digest"], digest.as_str());
    killed.complete(&copy, "resumed at another pace");
}

/// Permission is no damage: an older generation would not help, and all participants must end.
#[test]
fn a_checkpoint_that_may_not_be_read_ends_the_run() {
    if test_lacks(Need::Nobody) {
        return;
    }
    let folder = scratch();
    // Root may read everything: there the program runs as nobody, from a place that nobody can
    // reach.
    let is_root = rustix::process::geteuid().is_root();
    let program = folder.path().join("program");
    fs::copy(env!("CARGO_BIN_EXE_farthest"), &program).expect("copied");
    let mut words = vec!["--kill-after=1", "20"];
    if is_root {
        std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).expect("allowed");
        words.extend(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    let path = folder.path().join("run");
    let start = || {
        let mut command = Command::new("timeout");
        command.args(&words).arg(&program).args(["run", PUZZLE, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]);
        command.arg(&path).args(["--participants", "2"]).current_dir("/");
        command
    };
    fail_with(-1, fault(&mut start(), "generation-create", 8, "kill"));
    for file in [pack(&path, NEWER, 0), pack(&path, NEWER, 1), manifest(&path, NEWER)] {
        let allow = |mode: u32| fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("allowed");
        allow(0);
        let stderr = fail_with(77, &mut start());
        let line = stderr.lines().last().expect("an error");
        assert!(line.contains(file.to_str().expect("UTF-8")) && line.contains("Permission denied"), "{line}");
        allow(0o644);
        assert_eq!(generations(&path), [OLDER, NEWER]);
    }
    succeed(&mut start());
}

#[test]
fn stray_files_in_the_checkpoint_do_not_stop_a_resume() {
    let write = |path: PathBuf| {
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, "not ours\n").expect("written");
    };
    let strays: [(&str, On<'_>); 11] = [
        ("a note", &|checkpoint| write(checkpoint.join("notes.txt"))),
        ("a copy of a manifest", &|checkpoint| drop(fs::copy(checkpoint.join("manifest-000007"), checkpoint.join("manifest-000007.bak")))),
        ("half a manifest", &|checkpoint| write(checkpoint.join("manifest-000008.tmp"))),
        ("an orphaned generation", &|checkpoint| write(checkpoint.join("gen-000099/process-0000.pack"))),
        ("an empty generation", &|checkpoint| fs::create_dir(checkpoint.join("gen-000008")).expect("created")),
        ("a file in a generation", &|checkpoint| write(checkpoint.join("gen-000007/notes.txt"))),
        ("a folder in a generation", &|checkpoint| write(checkpoint.join("gen-000007/folder/notes.txt"))),
        ("a file named as a generation", &|checkpoint| write(checkpoint.join("gen-notes"))),
        ("a manifest of a short name", &|checkpoint| drop(fs::copy(checkpoint.join("manifest-000007"), checkpoint.join("manifest-9")))),
        ("a manifest of another name", &|checkpoint| {
            drop(fs::copy(checkpoint.join("manifest-000007"), checkpoint.join("manifest-000009")))
        }),
        ("a name that is no text", &|checkpoint| write(checkpoint.join(OsStr::from_bytes(b"manifest-\xff")))),
    ];
    let mut killed = Killed::new();
    let mut failed = Vec::new();
    for (name, stray) in strays {
        let copy = killed.copy();
        stray(&copy.join("checkpoint"));
        let (code, _, stderr) = outcome(&mut run(&copy, &["--threads", "1"]));
        if code == 0 {
            killed.complete(&copy, name);
        } else {
            failed.push(format!("{name}: {code} {stderr}"));
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// A folder where a manifest has to be stops the run, which names it; it is not removed, and the
/// checkpoint stays good.
#[test]
fn a_folder_in_the_place_of_a_manifest_is_named() {
    let mut killed = Killed::new();
    let copy = killed.copy();
    let folder = manifest(&copy, 9);
    fs::create_dir(&folder).expect("created");
    let stderr = fail_with(74, &mut run(&copy, &["--threads", "1"]));
    assert!(stderr.lines().last().expect("an error").contains(folder.to_str().expect("UTF-8")), "{stderr}");
    assert!(!copy.join("summary.json").exists());
    fs::remove_dir(&folder).expect("still there, and empty");
    succeed(&mut run(&copy, &["--threads", "1"]));
    killed.complete(&copy, "the folder was removed");
}

/// Runs a script in a mount name space of its own, with a disk of 8 MB.
fn with_small_disk(script: &str, folder: &Path) {
    fs::create_dir_all(folder.join("disk")).expect("created");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "150", "unshare", "-m", "bash", "-c"]);
    command.arg(format!("set -u\nmount -t tmpfs -o size=8m none \"$FOLDER/disk\" || exit 9\n{script}"));
    command.env("FOLDER", folder).env("PROGRAM", env!("CARGO_BIN_EXE_farthest")).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("started");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_disk_that_is_too_small_is_refused_before_the_search() {
    if test_lacks(Need::Mounts) {
        return;
    }
    let folder = scratch();
    let script = r#"
        "$PROGRAM" run turnstyle-12 --quiet --out "$FOLDER/disk/run" 2> "$FOLDER/stderr"; echo $? > "$FOLDER/code"
        ls "$FOLDER/disk" > "$FOLDER/left"
    "#;
    with_small_disk(script, folder.path());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("readable");
    assert_eq!(read("code"), "78\n", "{}", read("stderr"));
    assert!(only_line(&read("stderr")).contains("disk is short: the search needs up to "), "{}", read("stderr"));
    assert_eq!(read("left"), "", "nothing is written");
}

/// What the check of the budget lets through has room: a search whose files would not fit is
/// refused, not broken off.
#[test]
fn what_the_budget_accepts_fits() {
    if test_lacks(Need::Mounts) {
        return;
    }
    let (mut fitted, mut refused) = (0, 0);
    for puzzle in ["turnstyle-9", "turnstyle-10", "turnstyle-11"] {
        let folder = scratch();
        let script = r#"
            "$PROGRAM" run PUZZLE --checkpoint-seconds 0 --quiet --out "$FOLDER/disk/run" 2> "$FOLDER/stderr"; echo $? > "$FOLDER/code"
        "#;
        with_small_disk(&script.replace("PUZZLE", puzzle), folder.path());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("readable");
        match read("code").as_str() {
            "0\n" => fitted += 1,
            "78\n" if read("stderr").contains("disk is short") => refused += 1,
            code => panic!("{puzzle}: {code}{}", read("stderr")),
        }
    }
    eprintln!("{fitted} fitted, {refused} refused");
    assert!(fitted > 0 && refused > 0, "{fitted} fitted, {refused} refused");
}

/// The disk is filled while the search runs; then a part of the room is given back, and the search
/// goes on.
#[test]
fn a_disk_that_fills_up_costs_nothing_but_time() {
    if test_lacks(Need::Mounts) {
        return;
    }
    let reference = scratch();
    // Few shards, as each of their files takes whole blocks; state by state, to have the time.
    let config = reference.path().join("few.toml");
    let text = "puzzle = \"turnstyle-10\"\n[search]\nleading_positions = 1\nexpansion = \"states\"\nround_kib = 16\n";
    fs::write(&config, text).expect("written");
    let config = config.to_str().expect("UTF-8");
    let reference = reference.path().join("run");
    succeed(&mut run_of(config, &reference, &["--threads", "2"]));
    let mut dice = Dice::new(20);
    let mut full = 0;
    for round in 0..4 {
        let folder = scratch();
        // How far the run gets before, and how many KiB it is left.
        let (depth, left) = (2 + 5 * round, dice.below(300));
        let script = r#"
            go() { "$PROGRAM" run CONFIG --checkpoint-seconds 0 --quiet --threads 1 --out "$FOLDER/disk/run"; }
            newest() { ls "$FOLDER/disk/run/checkpoint" 2> /dev/null | sed -n 's/^manifest-0*\([0-9][0-9]*\)$/\1/p' | sort -n | tail -1; }
            go 2> "$FOLDER/stderr" & program=$!
            while kill -0 $program 2> /dev/null && [ "$(newest || true)" = "" -o "0$(newest)" -lt DEPTH ]; do :; done
            cat /dev/zero > "$FOLDER/disk/filler" 2> /dev/null
            truncate -s -LEFTK "$FOLDER/disk/filler" 2> /dev/null
            wait $program; echo $? > "$FOLDER/code"
            newest > "$FOLDER/newest"
            rm "$FOLDER/disk/filler"
            go 2> "$FOLDER/stderr-2"; echo $? > "$FOLDER/code-2"
            cp -r "$FOLDER/disk/run" "$FOLDER/run"
        "#;
        let script = script.replace("DEPTH", &depth.to_string()).replace("LEFT", &left.to_string()).replace("CONFIG", config);
        with_small_disk(&script, folder.path());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("readable");
        let context = format!("full behind level {depth} but for {left} KiB: {}", read("stderr"));
        // With that much left the run may be able to finish.
        if read("code") != "0\n" {
            full += 1;
            assert_eq!(read("code"), "74\n", "{context}");
            let stderr = read("stderr");
            let line = only_line(&stderr);
            assert!(line.contains("No space left on device") && line.contains("disk/run"), "{line}");
            assert!(line.contains("free space on this file system and resume"), "{line}");
            let log = fs::read_to_string(folder.path().join("run/run.log")).expect("a log");
            let newest = read("newest").trim().to_owned();
            assert!(log.contains(&format!("goes on from the checkpoint of level {newest}:")), "{context}\n{newest}\n{log}");
        } else {
            assert!(round > 0 || left > 0, "the disk was not full");
        }
        eprintln!("{context}");
        assert_eq!(read("code-2"), "0\n", "{}", read("stderr-2"));
        assert_eq!(read("stderr-2"), "", "no warning");
        assert_eq!(result_bytes(&folder.path().join("run")), result_bytes(&reference), "{context}");
    }
    eprintln!("full in {full} of 4 rounds");
    assert!(full >= 2, "full in {full} of 4 rounds");
}

/// Stops a run in an odd folder, goes on with the command that it printed, and checks the result.
fn check_path(folder: &Path, bytes: &BTreeMap<String, Vec<u8>>) {
    let stopped = fail_with(75, &mut run(folder, &["--max-hours", "1us"]));
    let line = only_line(&stopped);
    let told = line.split("go on with: farthest ").nth(1).unwrap_or_else(|| panic!("no command: {line}"));
    // As a user would paste it.
    let mut shell = Command::new("timeout");
    shell.args(["60", "bash", "-c"]).arg(format!("\"$PROGRAM\" {told} --quiet")).env("PROGRAM", env!("CARGO_BIN_EXE_farthest"));
    let output = shell.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("started");
    assert!(output.status.success(), "pasted: farthest {told}\n{output:?}");
    assert_eq!(&result_bytes(folder), bytes);
    // Found complete, listed, and locked by others: one line each.
    succeed(&mut run(folder, &[]));
    succeed(farthest().arg("table").arg(folder));
    let text = fs::read_to_string(folder.join("manifest.json")).expect("readable");
    serde_json::from_str::<serde_json::Value>(&text).expect("JSON");
}

#[test]
fn odd_paths() {
    let folder = scratch();
    let plain = folder.path().join("plain");
    succeed(&mut run(&plain, &[]));
    let bytes = result_bytes(&plain);
    let mut failed = Vec::new();
    let odd: [&[u8]; 9] = [
        b"with two  blanks",
        "schlüssel-钥匙".as_bytes(),
        b"it's \"quoted\" $HOME `id` \\ ; & | * ?",
        b"-x",
        b"--out",
        b"new\nline",
        b"no text \xff\xfe",
        b"tab\tand \x1b[31mcolour",
        b"deep/er/and/deep/er",
    ];
    for name in odd {
        let path = folder.path().join(OsStr::from_bytes(name));
        if std::panic::catch_unwind(|| check_path(&path, &bytes)).is_err() {
            failed.push(path);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    // A relative one that looks like an option.
    let mut stop = Command::new("timeout");
    stop.args(["60", env!("CARGO_BIN_EXE_farthest"), "run", PUZZLE, "--quiet", "--max-hours", "1us", "--out=-y"]);
    let stopped = fail_with(75, stop.current_dir(folder.path()));
    let told = only_line(&stopped).split("go on with: farthest ").nth(1).expect("a command");
    let mut again = Command::new("timeout");
    succeed(again.args(["60", env!("CARGO_BIN_EXE_farthest")]).args(told.split(' ')).current_dir(folder.path()));
}

#[test]
fn errors_are_one_line_whatever_the_path() {
    let folder = scratch();
    for name in [b"new\nline".as_slice(), b"no text \xff", b"\x1b[31mred"] {
        let path = folder.path().join(OsStr::from_bytes(name));
        let stderr = fail_with(74, fault(&mut run(&path, &["--threads", "1"]), "pack-sync", 2, "eio"));
        let line = only_line(&stderr);
        assert!(!line.contains('\x1b'), "control characters are escaped: {line:?}");
    }
}

#[test]
fn a_run_folder_behind_symbolic_links() {
    let folder = scratch();
    let plain = folder.path().join("plain");
    succeed(&mut run(&plain, &[]));
    let bytes = result_bytes(&plain);
    // The run folder is a link.
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    fs::create_dir(&real).expect("created");
    symlink(&real, &link).expect("linked");
    fail_with(-1, fault(&mut run(&link, &["--threads", "1"]), "generation-create", 4, "kill"));
    let other_name = fail_with(75, &mut run(&real, &["--max-hours", "1us"]));
    assert!(other_name.contains("farthest resume"), "{other_name}");
    succeed(&mut run(&link, &["--threads", "2"]));
    assert_eq!(result_bytes(&real), bytes);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    // A link in the run folder: what it points to is not ours to empty.
    let (treasure, path) = (folder.path().join("treasure"), folder.path().join("run"));
    for name in ["work", "checkpoint", "levels"] {
        fs::create_dir_all(&treasure).expect("created");
        fs::write(treasure.join("kept.txt"), "kept").expect("written");
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("created");
        fs::write(path.join("lock"), "").expect("written");
        symlink(&treasure, path.join(name)).expect("linked");
        let (code, _, stderr) = outcome(&mut run(&path, &["--threads", "1", "--keep-levels"]));
        assert_ne!(code, 101, "{name}: {stderr}");
        assert_eq!(fs::read_to_string(treasure.join("kept.txt")).expect("kept"), "kept", "{name}");
    }
}
