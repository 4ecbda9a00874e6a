//! Every bad input is refused by the program in one line that says where, what was found, what was
//! expected and what to do, with the documented exit code, and leaves the folders as they were.
//!
//! Exit codes: 2 usage, 65 bad data, 73 cannot create or in use, 74 input/output, 77 permission, 78
//! configuration, launcher or machine. Under mpirun the line appears once and mpirun passes the
//! code on; those parts are skipped where there is no MPI. `bad_config.rs` has more ways to write a
//! bad configuration, at the level of the library.

mod common;

#[path = "bad_input/folders.rs"]
mod folders;
#[path = "bad_input/refusal.rs"]
mod refusal;

use common::needs::{Need, test_lacks};
use refusal::{refused, refused_under_mpirun, text};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

/// A bad command line, without `--out`, and what must be said about it.
struct Case {
    words: Vec<String>,
    code: i32,
    parts: Vec<String>,
}

fn case(words: &[&str], code: i32, parts: &[&str]) -> Case {
    let owned = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect();
    Case { words: owned(words), code, parts: owned(parts) }
}

/// A configuration file with this text; the message must begin with the file and this place in it.
fn file_case(folder: &Path, name: &str, source: &str, place: &str, parts: &[&str]) -> Case {
    let path = folder.join(name);
    fs::write(&path, source).expect("written");
    let whole_place = format!("farthest: {}:{place}: ", path.display());
    let mut case = case(&["run", text(&path)], 78, parts);
    case.parts.insert(0, whole_place);
    case
}

/// Bad configurations in files in `folder`, which has nothing else. The first of them are also run
/// under mpirun.
fn configurations(folder: &Path) -> Vec<Case> {
    let toy = "family = \"permutations\"\nname = \"toy\"\npositions = 6\n";
    let generator = |line: &str| format!("{toy}[[generators]]\nname = \"A\"\n{line}\n");
    let file = |name: &str, source: &str, place: &str, parts: &[&str]| file_case(folder, name, source, place, parts);
    vec![
        file("family.toml", "family = \"turnstile\"\nsize = 8\n", "1:10", &["family: found \"turnstile\"", "did you mean \"turnstyle\"?"]),
        file("large.toml", "family = \"turnstyle\"\nsize = 25\n", "2:8", &["7.76e24 states", "9.69e23 bytes", "the largest size is 20"]),
        file(
            "image.toml",
            &generator("images = [0, 1, 2, 4, 4, 5]"),
            "6:23",
            &["generators[0].images[4]: found 4 a second time", "3 is missing"],
        ),
        case(&["run", "turnstyle-8", "--metric", "stp"], 78, &["found the metric \"stp\"", "step, turn, flip", "did you mean \"step\"?"]),
        case(&["run", text(&folder.join("none.toml"))], 74, &["none.toml", "No such file", "check the spelling of the path"]),
        case(&["run", text(folder)], 78, &[text(folder), "found a folder, expected a configuration file", "name a file in it"]),
        // The rest is run without mpirun only.
        case(&["run", "turnstyle-3"], 78, &["size 3", "at least 4"]),
        file("small.toml", "family = \"turnstyle\"\nsize = 3\n", "2:8", &["size: found 3", "expected an integer from 4"]),
        case(&["run", "turnstyle-25"], 78, &["size 25", "7.76e24 states", "9.69e23 bytes", "the largest size is 20"]),
        case(&["run", "turnstile-8"], 78, &["\"turnstile-8\"", "did you mean \"turnstyle-8\"?"]),
        file(
            "twice.toml",
            "family = \"turnstyle\"\nsize = 4\nsize = 5\n",
            "3:1",
            &["the key `size` a second time", "delete or rename one"],
        ),
        file(
            "beside.toml",
            "puzzle = \"turnstyle-4\"\nsize = 5\n",
            "2:1",
            &["size: found an unknown key", "expected one of direction, metric, puzzle, search"],
        ),
        file(
            "beside-table.toml",
            "puzzle.family = \"turnstyle\"\npuzzle.size = 4\nfamily = \"turnstyle\"\n",
            "3:1",
            &["family: found an unknown"],
        ),
        file(
            "in-table.toml",
            "[puzzle]\nfamily = \"turnstyle\"\nsize = 4\nmetric = \"flip\"\n",
            "4:1",
            &["puzzle.metric: found an unknown"],
        ),
        file("searches.toml", "puzzle = \"turnstyle-4\"\n[[search]]\nround_kib = 5\n", "2:1", &["search: found a list of 1 items"]),
        file("search-twice.toml", "puzzle = \"turnstyle-4\"\nsearch.round_kib = 5\n[search]\n", "3:2", &["the key `search` a second time"]),
        file(
            "name.toml",
            &generator("cycles = \"(0 1)\"").replace("toy", "turnstyle-12"),
            "2:8",
            &["\"turnstyle-12\"", "choose another name"],
        ),
        file(
            "shipped.toml",
            &generator("cycles = \"(0 1)\"").replace("toy", "pancake-7"),
            "2:8",
            &["comes with farthest", "choose another name"],
        ),
        file("key.toml", "family = \"turnstyle\"\nsize = 4\nsiez = 5\n", "3:1", &["siez: found an unknown key", "did you mean \"size\"?"]),
        file(
            "search.toml",
            "puzzle = \"turnstyle-4\"\n[search]\nkeep_level = true\n",
            "3:1",
            &["search.keep_level: found an unknown key", "did you mean \"keep_levels\"?"],
        ),
        file(
            "archive.toml",
            "puzzle = \"turnstyle-4\"\n[search]\nkeep_levels = true\nshared_filesystem = false\n",
            "4:21",
            &[
                "search.shared_filesystem: found shared_filesystem = false together with keep_levels",
                "archive levels in a folder that all hosts see",
            ],
        ),
        file("shared.toml", "puzzle = \"turnstyle-4\"\n[search]\nshared_filesystem = 0\n", "3:21", &["search.shared_filesystem: found 0"]),
        file("zero.toml", "puzzle = \"turnstyle-4\"\n[search]\nround_kib = 0\n", "3:13", &["search.round_kib: found 0", "from 1"]),
        file("length.toml", &generator("images = [1, 0]"), "6:10", &["a list of 2 positions", "6, one"]),
        file("cycle.toml", &generator("cycles = \"(0 1)(1 2)\""), "6:17", &["1 a second time", "delete"]),
        file(
            "empty-list.toml",
            &format!("{toy}generators = []\n"),
            "4:14",
            &["no generators", "at least one", "add a [[generators]] table"],
        ),
        file("no-list.toml", toy, "1:1", &["no generators", "at least one", "add a [[generators]] table"]),
        file("nothing.toml", "", "1:1", &["family: ", "add a line such as"]),
        file("syntax.toml", "family = \"turnstyle\nsize = 4\n", "1:20", &["this is no TOML", "correct the line"]),
        // What is wrong with a run's configuration has a place in its file, too.
        file(
            "metric.toml",
            "puzzle = \"turnstyle-8\"\nmetric = \"stp\"\n",
            "2:10",
            &["found the metric \"stp\"", "did you mean \"step\"?"],
        ),
        file("puzzle.toml", "puzzle = \"no/such.toml\"\n", "1:10", &["no/such.toml", "check the spelling of the path"]),
        // No machine has this much.
        case(&["run", "turnstyle-20"], 78, &["is short", "the search needs"]),
    ]
}

/// Bad command lines, refused before anything is read.
fn usages() -> Vec<Case> {
    vec![
        case(&["run", "turnstyle-4", "--threads", "5000"], 2, &["--threads", "5000", "1..=4096"]),
        case(&["run", "turnstyle-4", "--threads", "0"], 2, &["--threads", "0 is not in 1..=4096"]),
        case(&["run", "turnstyle-4", "--threads=-1"], 2, &["--threads", "-1"]),
        case(&["run", "turnstyle-4", "--threads", "99999999999999999999"], 2, &["--threads", "99999999999999999999"]),
        case(&["run", "turnstyle-4", "--threads", "many"], 2, &["--threads", "many"]),
        case(&["run", "turnstyle-4", "--participants", "0"], 2, &["--participants", "1..=256"]),
        case(&["run", "turnstyle-4", "--max-hours", "soon"], 2, &["--max-hours", "soon", "23h30m"]),
        case(&["run", "turnstyle-4", "--checkpoint-seconds=-1"], 2, &["--checkpoint-seconds", "-1"]),
        case(&["run", "turnstyle-4", "--thread", "2"], 2, &["--thread", "--threads"]),
        case(&["run", "turnstyle-4", "--resume", "maybe"], 2, &["--resume", "maybe", "auto, never, require"]),
        case(&["run"], 2, &["CONFIG"]),
        case(&["serch", "turnstyle-4"], 2, &["serch"]),
    ]
}

/// The command with the case's words and, for `run`, an `--out` that must not come to be.
fn with_words<'a>(command: &'a mut Command, case: &Case, out: &Path) -> &'a mut Command {
    command.args(&case.words);
    if case.words[0] == "run" {
        command.arg("--out").arg(out);
    }
    command
}

fn parts(case: &Case) -> Vec<&str> {
    case.parts.iter().map(String::as_str).collect()
}

#[test]
fn bad_configurations() {
    let (folder, out) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let cases = configurations(folder.path());
    let before = common::contents(folder.path());
    for case in cases {
        refused(with_words(&mut common::farthest(), &case, &out.path().join("run")), case.code, &parts(&case));
        assert!(common::contents(out.path()).is_empty(), "{:?} leaves something", case.words);
        assert_eq!(common::contents(folder.path()), before, "{:?}", case.words);
    }
}

#[test]
fn bad_usage() {
    let out = tempfile::tempdir().expect("a folder");
    for case in usages() {
        refused(with_words(&mut common::farthest(), &case, &out.path().join("run")), case.code, &parts(&case));
        assert!(common::contents(out.path()).is_empty(), "{:?} leaves something", case.words);
    }
}

#[test]
fn once_under_mpirun() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let (folder, out) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut cases = configurations(folder.path());
    cases.truncate(6);
    cases.push(usages().swap_remove(0));
    for case in cases {
        refused_under_mpirun(with_words(&mut common::mpirun(2), &case, &out.path().join("run")), case.code, &parts(&case));
        assert!(common::contents(out.path()).is_empty(), "{:?} leaves something", case.words);
    }
}

#[test]
fn what_is_no_regular_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (pipe, out) = (folder.path().join("pipe"), folder.path().join("run"));
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).expect("a pipe");
    let expected = ["found a pipe, socket or device", "expected a configuration file", "save the text in a regular file"];
    for config in [pipe.as_path(), Path::new("/dev/zero")] {
        let line = refused(common::farthest().arg("run").arg(config).arg("--out").arg(&out), 78, &expected);
        assert!(line.contains(text(config)), "{line}");
    }
    let strange = OsStr::from_bytes(b"no-\xff-text.toml");
    refused(common::farthest().arg("run").arg(strange).arg("--out").arg(&out), 74, &["-text.toml", "check the spelling"]);
    assert!(!out.exists());
}

/// More threads than processors is unwise and no error; thousands are one.
#[test]
fn more_threads_than_processors_is_only_a_warning() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    refused(common::farthest().args(["run", "turnstyle-5", "--threads", "4096", "--out"]).arg(&out), 2, &["--threads 4096", "use at most"]);
    let processors = std::thread::available_parallelism().expect("known").get();
    let threads = (processors + 1).to_string();
    let (code, _, stderr) =
        common::outcome(common::farthest().args(["run", "turnstyle-5", "--threads", &threads, "--quiet", "--out"]).arg(&out));
    assert!(code == 0 && stderr.contains(&format!("{threads} threads share {processors} processor")), "{code} {stderr}");
    assert_eq!(common::distribution(&out), [1, 3, 6, 8, 10, 10, 10, 8, 3, 1]);
}

#[test]
fn the_wrong_launcher() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let expected = |name: &str| [format!("wrong launcher: {name} promises 4 processes"), "found only itself".into(), "mpirun".into()];
    for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"] {
        let expected = expected(name);
        let parts: Vec<&str> = expected.iter().map(String::as_str).collect();
        refused(common::farthest().env(name, "4").args(["run", "turnstyle-5", "--out"]).arg(&out), 78, &parts);
        let mut local = common::farthest();
        refused(local.env(name, "4").args(["run", "turnstyle-5", "--transport", "local", "--out"]).arg(&out), 78, &parts);
    }
    // Each of the four copies is refused, and one of them says so.
    let mut messages = Vec::new();
    for number in 0..4 {
        let mut command = common::farthest();
        command.env("OMPI_COMM_WORLD_SIZE", "4").env("OMPI_COMM_WORLD_RANK", number.to_string());
        let (code, _, stderr) = common::outcome(command.args(["run", "turnstyle-5", "--out"]).arg(&out));
        assert_eq!(code, 78, "{stderr}");
        messages.extend(stderr.lines().map(str::to_owned));
    }
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert!(!out.exists());
}

/// The build without MPI under a real mpirun.
#[cfg(not(feature = "mpi"))]
#[test]
fn mpirun_and_a_build_without_mpi() {
    if test_lacks(Need::Launcher) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let expected = ["wrong launcher", "promises 2 processes", "a build with the cargo feature \"mpi\""];
    refused_under_mpirun(common::mpirun(2).args(["run", "turnstyle-5", "--out"]).arg(&out), 78, &expected);
    assert!(!out.exists());
}

#[test]
fn a_transport_that_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    if !cfg!(feature = "mpi") {
        let expected = ["this build has no MPI", "the cargo feature \"mpi\"", "--transport local"];
        refused(common::farthest().args(["run", "turnstyle-5", "--transport", "mpi", "--out"]).arg(&out), 78, &expected);
    }
    // Participants are for runs without MPI; neither may be ignored in silence.
    let mut command = common::farthest();
    refused(
        command.args(["run", "turnstyle-5", "--transport", "mpi", "--participants", "3", "--out"]).arg(&out),
        2,
        &["--participants", "--transport"],
    );
    assert!(!out.exists());
}

/// The demands above can fail: a run that is right, and lines that are not one, are noticed.
#[test]
fn refusals_are_told_from_other_endings() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let fails = |demand: &(dyn Fn() + std::panic::RefUnwindSafe)| std::panic::catch_unwind(demand).is_err();
    let good = out.clone();
    assert!(fails(&move || drop(refused(common::farthest().args(["run", "turnstyle-4", "--quiet", "--out"]).arg(&good), 78, &[]))));
    assert!(fails(&|| drop(refused(common::farthest().args(["run", "turnstyle-3"]), 2, &[]))));
    assert!(fails(&|| drop(refused(common::farthest().args(["run", "turnstyle-3"]), 78, &["turnstyle-4"]))));
    assert!(!fails(&|| drop(refused(common::farthest().args(["run", "turnstyle-3"]), 78, &["at least 4"]))));
}
