//! True runs, and copies of them to forge.

use super::disturb::{copy_folder, scratch};
use super::forge::{change_json, edit, seal, set_config};
use super::{certified, checker, farthest, outcome, succeed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A cycle of seven and a swap. No move undoes the cycle: 5,040 states, God's number 25; with the inverse 21.
pub const DIRECTED: &str = "family = \"permutations\"\nname = \"directed\"\npositions = 7\n[[generators]]\nname = \"A\"\ncycles = \"(0 1 2 3 4 5 6)\"\n\
                        [[generators]]\nname = \"B\"\ncycles = \"(0 1)\"\n";

pub fn verify() -> Command {
    checker("256M")
}

/// A true run, and copies of it to forge.
pub struct Truth {
    pub folder: TempDir,
    pub run: PathBuf,
    copies: u32,
    /// The folder in `corrupt/folders` that holds the same truth.
    kept: &'static str,
}

impl Truth {
    /// With archived levels and a certificate.
    pub fn certified(puzzle: &str, metric: &str, kept: &'static str) -> Self {
        let folder = scratch();
        let puzzle = puzzle_file(folder.path(), puzzle);
        let run = certified(&puzzle, metric, folder.path());
        without_traces(&run);
        let told = succeed(verify().arg(&run));
        assert!(told.starts_with("verified "), "{told}");
        Self { folder, run, copies: 0, kept }
    }

    /// Without.
    pub fn plain(puzzle: &str, kept: &'static str) -> Self {
        let folder = scratch();
        let puzzle = puzzle_file(folder.path(), puzzle);
        let run = folder.path().join("run");
        succeed(farthest().args(["run", &puzzle, "--quiet", "--out"]).arg(&run));
        without_traces(&run);
        let (code, told, stderr) = outcome(verify().arg(&run));
        assert!(code == 3 && told.starts_with("consistent "), "{told}{stderr}");
        Self { folder, run, copies: 0, kept }
    }

    pub fn copy(&mut self) -> PathBuf {
        self.copies += 1;
        let copy = self.folder.path().join(format!("copy-{}", self.copies));
        copy_folder(&self.run, &copy);
        copy
    }

    /// Checks that a forged copy gets this exit code and these words, and never the word verified.
    pub fn forged(&mut self, code: i32, part: &str, forge: impl FnOnce(&Path)) {
        let copy = self.copy();
        forge(&copy);
        keep(&self.run, &copy, self.kept, code, part);
        let (found, stdout, stderr) = outcome(verify().arg(&copy));
        assert_eq!(found, code, "{part}\n{stdout}{stderr}");
        assert!((stdout.clone() + &stderr).contains(part), "{part}\n{stdout}{stderr}");
        assert!(!stdout.lines().any(|line| line.starts_with("verified")), "{stdout}");
        fs::remove_dir_all(copy).expect("removable");
    }
}

/// Takes from the manifest where and when the run was made, so that fixtures tell nothing of a machine.
fn without_traces(run: &Path) {
    change_json(&run.join("manifest.json"), |manifest| {
        manifest["command"] = serde_json::json!(["farthest", "run"]);
        manifest["hosts"] = serde_json::json!(["host"]);
        manifest["processor"] = "processor".into();
        let moment = "2026-12-01T00:00:00Z";
        for key in ["started", "finished"] {
            manifest[key] = moment.into();
        }
        manifest["seconds"] = 1.into();
        for level in manifest["levels"].as_array_mut().expect("a list") {
            for key in ["seconds", "waited_seconds", "bytes_exchanged", "bytes_received"] {
                level[key] = 0.into();
            }
        }
        manifest["bytes_exchanged"] = 0.into();
        for certificate in manifest.get_mut("certificates").and_then(serde_json::Value::as_array_mut).into_iter().flatten() {
            certificate["date"] = moment.into();
        }
    });
    for name in ["run.log", "progress.json", "lock", "lock.owner"] {
        let _ = fs::remove_file(run.join(name));
    }
    seal(run);
}

/// Keeps a forgery as a fixture when `KEEP_FORGERIES` names a folder: the true run once, and of a false one the files that differ, with what is expected.
fn keep(truth: &Path, forged: &Path, kept: &str, code: i32, part: &str) {
    let Some(root) = std::env::var_os("KEEP_FORGERIES").map(PathBuf::from) else { return };
    let [true_files, false_files] = [truth, forged].map(files);
    // Pipes and links are made anew each time.
    if true_files.iter().any(|name| forged.join(name).symlink_metadata().is_ok_and(|facts| !facts.is_file())) {
        return;
    }
    let base = root.join(kept);
    if !base.exists() {
        copy_folder(truth, &base);
    }
    let letters: String =
        part.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }).collect();
    let words: Vec<&str> = letters.split('-').filter(|word| !word.is_empty()).take(7).collect();
    let name = format!("{}-{}", kept.trim_start_matches("true-"), words.join("-"));
    let folder =
        (0..).map(|number| root.join(if number == 0 { name.clone() } else { format!("{name}-{number}") })).find(|folder| !folder.exists());
    let folder = folder.expect("a free name");
    fs::create_dir_all(&folder).expect("made");
    let mut expect = format!("base {kept}\ncode {code}\ntext {}\n", part.escape_debug());
    for name in false_files.iter().filter(|name| fs::read(truth.join(name)).ok() != fs::read(forged.join(name)).ok()) {
        fs::create_dir_all(folder.join(name).parent().expect("a folder")).expect("made");
        fs::copy(forged.join(name), folder.join(name)).expect("copied");
    }
    for name in true_files.iter().filter(|name| !false_files.contains(name)) {
        expect += &format!("without {}\n", name.display());
    }
    fs::write(folder.join("expect"), expect).expect("written");
}

/// The regular files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(folder.join(&below)).expect("listed") {
            let entry = entry.expect("listed");
            let name = below.join(entry.file_name());
            match entry.file_type().expect("known") {
                kind if kind.is_dir() => open.push(name),
                kind if kind.is_file() => found.push(name),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The puzzle as an argument: a name, or a file with its text.
pub fn puzzle_file(folder: &Path, puzzle: &str) -> String {
    if !puzzle.contains('\n') {
        return puzzle.into();
    }
    let path = folder.join("directed.toml");
    fs::write(&path, puzzle).expect("written");
    path.to_str().expect("UTF-8").into()
}

pub fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("text")
}

/// Changes a text of the configuration.
pub fn edit_config(run: &Path, from: &str, to: &str) {
    let before = text(&run.join("run.toml"));
    assert!(before.contains(from), "{from:?} is not in {before}");
    set_config(run, &before.replacen(from, to, 1));
}

/// Changes a text of a file, and seals the folder.
pub fn edit_and_seal(run: &Path, file: &str, from: &str, to: &str) {
    edit(&run.join(file), from, to);
    seal(run);
}
