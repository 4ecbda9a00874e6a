//! What the integration tests share: starting the program (alone or under mpirun) with a time limit, and reading what it left.
#![allow(dead_code, missing_docs)]

pub mod boards;
pub mod disturb;
pub mod forge;
pub mod needs;
pub mod truth;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Files that must be the same bytes for any processes, threads, interruptions.
pub const SAME_BYTES: [&str; 6] = ["distribution.tsv", "levels.tsv", "antipodes.tsv", "samples.tsv", "summary.json", "run.toml"];

/// Seconds after which a started program counts as hung.
const LIMIT_SECONDS: &str = "120";

/// The program under a time limit, in the repository's folder, without any variable of a launcher around the tests.
pub fn farthest() -> Command {
    limited(&[env!("CARGO_BIN_EXE_farthest")])
}

/// The program, for the few runs that may take longer than the usual limit.
pub fn farthest_within(seconds: u32) -> Command {
    limited_to(&seconds.to_string(), &[env!("CARGO_BIN_EXE_farthest")])
}

/// The program started by the words of another one, such as `setpriv --reuid=65534`.
pub fn farthest_under(words: &[&str], program: &Path) -> Command {
    let program = program.to_str().expect("UTF-8");
    limited(&[words, &[program]].concat())
}

/// The checker under a time limit, with at most so much memory.
pub fn checker(memory: &str) -> Command {
    limited(&[env!("CARGO_BIN_EXE_farthest-verify"), "--memory", memory])
}

/// The program under `mpirun` with `processes` processes.
pub fn mpirun(processes: u32) -> Command {
    limited(&["mpirun", "-n", &processes.to_string(), env!("CARGO_BIN_EXE_farthest")])
}

fn limited(words: &[&str]) -> Command {
    limited_to(LIMIT_SECONDS, words)
}

fn limited_to(seconds: &str, words: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", seconds]).args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in
        std::env::vars().filter(|(name, _)| ["OMPI_COMM_WORLD", "PMI", "SLURM", "FARTHEST_"].iter().any(|prefix| name.starts_with(prefix)))
    {
        command.env_remove(name);
    }
    // As root, with more processes than cores, and without a core lost to each process that waits.
    for name in
        ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"]
    {
        command.env(name, "1");
    }
    command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
    command
}

/// Runs to the end; returns exit code, standard output and standard error.
pub fn outcome(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the program can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code().unwrap_or(-1), text(stdout), text(stderr))
}

/// Runs to the end and demands exit code 0.
pub fn succeed(command: &mut Command) -> String {
    let (code, stdout, stderr) = outcome(command);
    assert_eq!(code, 0, "{command:?}\n{stdout}\n{stderr}");
    stdout
}

/// A run with archived levels and its certificate.
pub fn certified(puzzle: &str, metric: &str, folder: &Path) -> PathBuf {
    let run = folder.join(format!("{}-{metric}", Path::new(puzzle).file_stem().expect("a name").to_string_lossy()));
    succeed(farthest().args(["run", puzzle, "--metric", metric, "--keep-levels", "--quiet", "--participants", "2", "--out"]).arg(&run));
    let told = succeed(farthest().args(["certify", "distance"]).arg(&run));
    assert!(told.contains("verified") && told.contains("now \"certified\""), "{told}");
    run
}

/// The files of a complete run that must not depend on how it was run.
pub fn result_bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    SAME_BYTES
        .iter()
        .map(|name| {
            let bytes = fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{}: {error}", folder.join(name).display()));
            ((*name).to_owned(), bytes)
        })
        .collect()
}

/// The counts of a `distribution.tsv`.
pub fn distribution(folder: &Path) -> Vec<u64> {
    let text = fs::read_to_string(folder.join("distribution.tsv")).expect("readable");
    text.lines().skip(1).map(|line| line.split('\t').nth(1).expect("two columns").parse().expect("a count")).collect()
}

/// A file of `tests/known`.
pub fn known(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known").join(name)
}

/// The rows of a table in `tests/known`, without comments and heading.
pub fn known_rows(name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(known(name)).expect("readable");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<Vec<String>> = lines.skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    assert!(!rows.is_empty(), "{name} has no rows");
    rows
}

/// Numbers separated by blanks.
pub fn numbers(text: &str) -> Vec<u64> {
    let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert!(!numbers.is_empty(), "no numbers in {text:?}");
    numbers
}

/// A JSON file of a run folder.
pub fn json(folder: &Path, name: &str) -> serde_json::Value {
    let text = fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The states of `antipodes.tsv` as they are written, without their ranks.
pub fn antipodes(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("antipodes.tsv")).expect("readable");
    text.lines().skip(1).map(|line| line.split_once('\t').expect("two columns").1.to_owned()).collect()
}

/// Every file below `folder` with its bytes, and every folder (with a slash) without.
pub fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let path = entry.expect("listed").path();
            let name = path.strip_prefix(folder).expect("below").to_string_lossy().into_owned();
            if path.is_dir() {
                found.insert(name + "/", Vec::new());
                open.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())));
            }
        }
    }
    found
}

/// A temporary folder in memory where the system has one: searches of small puzzles make many small files, which takes a busy disk seconds.
pub fn folder_in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}
