//! Each layer knows only the layers below it, and a few crates and words are known to one or two
//! files only.
//!
//! Reads every file under `src/` as tokens (comments, strings and character literals are skipped)
//! and follows each path that starts at `crate`, at a chain of `super`, or at the crate's name,
//! through groups in braces, to the layer it ends in. The tables below say what is allowed; every
//! rule is shown to fail on a snippet that breaks it.

#[path = "layering/circles.rs"]
mod circles;
#[path = "layering/houses.rs"]
mod houses;
#[path = "layering/paths.rs"]
mod paths;
#[path = "layering/tokens.rs"]
mod tokens;

use houses::{HOUSES, House};
use paths::{crate_paths, module_of};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tokens::{Token, tokens};

/// The layers in their order, with what each may import beside itself.
const LAYERS: [(&str, &[&str]); 11] = [
    ("base", &[]),
    ("puzzle", &["base"]),
    ("ranking", &["base", "puzzle"]),
    ("store", &["base"]),
    ("expand", &["base", "puzzle", "ranking"]),
    ("exchange", &["base"]),
    ("search", &["base", "puzzle", "ranking", "store", "expand", "exchange"]),
    ("evidence", &["base", "puzzle", "ranking", "store", "search"]),
    ("families", &["base", "puzzle", "ranking", "store", "search", "evidence"]),
    ("claims", &["base", "puzzle", "search", "evidence", "families"]),
    ("cli", &["base", "puzzle", "ranking", "store", "expand", "exchange", "search", "evidence", "families", "claims"]),
];

/// Memory, mapped or in slots, MPI, special instructions, and what is said when memory is refused
/// or a mapped file is cut.
const UNSAFE_FILES: [&str; 5] =
    ["src/base/bit_moves.rs", "src/base/last_words.rs", "src/store/arena.rs", "src/store/mapped.rs", "src/exchange/mpi.rs"];

/// Words that only some files may use, by prefix of their path.
const WORDS: [(&str, &[&str]); 17] = [
    ("bincode", &["src/base/codec.rs"]),
    ("memmap2", &["src/store/arena.rs", "src/store/mapped.rs"]),
    ("unsafe", &UNSAFE_FILES),
    ("unsafe_code", &UNSAFE_FILES),
    ("indicatif", &["src/cli/"]),
    ("comfy_table", &["src/cli/", "src/evidence/tables/"]),
    ("clap", &["src/cli/", "src/main.rs", "src/bin/"]),
    // The panic hook speaks for all layers.
    ("eprintln", &["src/cli/", "src/exchange/launcher.rs"]),
    ("eprint", &["src/cli/"]),
    ("println", &["src/cli/"]),
    ("print", &["src/cli/", "src/main.rs"]),
    ("dbg", &[]),
    // The clock on the wall may jump: it names moments for people (and `status` how long ago they
    // were), and the end of the time that people or a batch system give. What waits or measures uses
    // `Instant`.
    ("SystemTime", &[]),
    ("UNIX_EPOCH", &[]),
    ("modified", &["src/cli/monitor/run_condition.rs"]),
    (
        "Timestamp",
        &[
            "src/search/machine/run_lock.rs",
            "src/cli/arguments.rs",
            "src/cli/monitor/progress.rs",
            "src/cli/run.rs",
            "src/cli/recheck.rs",
            "src/cli/monitor/run_condition.rs",
            "src/cli/monitor/status.rs",
            "src/cli/spot_solve.rs",
            "src/cli/certify/distance.rs",
        ],
    ),
    // Ways around this test: files that are modules under another name.
    ("include", &[]),
];

/// Programs that share no code with the library: the checker.
const BINARIES: &str = "src/bin/";

/// The crate that binds MPI, under all its names; `crate::exchange::mpi` and `super::mpi` are ours.
const MPI_CRATES: [&str; 3] = ["mpi", "mpi_sys", "rsmpi"];

/// The one file that names it.
const MPI_FILE: &str = "src/exchange/mpi.rs";

// ---- Rules.
// -------------------------------------------------------------------------------------------------------------

/// Everything that `source`, the text of `file`, does against the tables.
fn violations(file: &str, source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let (paths, mut found) = crate_paths(file, &tokens);
    let layer = module_of(file).first().cloned().unwrap_or_default();
    for path in paths {
        let target = path.words[0].as_str();
        let shown = path.words.join("::");
        let mut refuse = |why: &str| found.push(format!("{file}:{}: crate::{shown}: {why}", path.line));
        if let Some(why) = houses::refusal(file, &path) {
            refuse(&why);
        }
        let whole_program = ["src/lib.rs", "src/main.rs"].contains(&file);
        match LAYERS.iter().find(|(name, _)| *name == layer) {
            _ if !LAYERS.iter().any(|(name, _)| *name == target) => refuse("is no layer"),
            // Tests of all layers may take a puzzle from a family; the program reaches them through
            // what it is given.
            Some(_) if target == "families" && path.in_test => {}
            Some((_, below)) if target != layer && !below.contains(&target) => refuse(&format!("{layer} may not know {target}")),
            None if file.starts_with(BINARIES) => refuse("the checker shares no code with the program"),
            None if !whole_program => refuse("this file belongs to no layer"),
            _ => {}
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        for (word, files) in WORDS {
            if token.text == word && !files.iter().any(|prefix| file.starts_with(prefix)) && is_use_of(word, &tokens, at) {
                found.push(format!("{file}:{}: `{word}` belongs in {files:?}", token.line));
            }
        }
        if token.text == "farthest" && file.starts_with(BINARIES) {
            found.push(format!("{file}:{}: the checker shares no code with the program", token.line));
        }
        let starts_path = at == 0 || text(at - 1) != "::" || at == 1 || !is_word(text(at - 2));
        let names_crate = text(at + 1) == "::" || ["use", "crate"].contains(&text(at.wrapping_sub(1)));
        if MPI_CRATES.contains(&token.text.as_str()) && starts_path && names_crate && file != MPI_FILE {
            found.push(format!("{file}:{}: the MPI crate belongs in {MPI_FILE}", token.line));
        }
    }
    found
}

fn is_word(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
}

/// Macros are meant only where they are called: a method may be called `print`.
fn is_use_of(word: &str, tokens: &[Token], at: usize) -> bool {
    let is_macro = ["eprintln", "eprint", "println", "print", "dbg", "include"].contains(&word);
    !is_macro || tokens.get(at + 1).is_some_and(|next| next.text == "!")
}

/// All source files but `tests.rs` of a module, which is compiled for tests only like a `mod tests`
/// in place.
fn source_files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = BTreeMap::new();
    let mut open: Vec<PathBuf> = vec![root.join("src")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).expect("listed").map(|entry| entry.expect("listed").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            let name = path.strip_prefix(root).expect("below").to_str().expect("UTF-8").to_owned();
            files.insert(name, fs::read_to_string(&path).expect("readable"));
        }
    }
    files
}

#[test]
fn every_file_keeps_to_its_layer() {
    let found: Vec<String> = source_files().iter().flat_map(|(file, source)| violations(file, source)).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn the_layers_are_those_of_the_tree() {
    let files = source_files();
    let folders: BTreeSet<&str> =
        files.keys().filter_map(|file| file.strip_prefix("src/")?.split_once('/').map(|(first, _)| first)).collect();
    let mut expected: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    expected.extend(folders.contains("bin").then_some("bin"));
    assert_eq!(folders, expected);
    let root = tokens(&files["src/lib.rs"]);
    let declared: Vec<&str> = root.windows(2).filter(|pair| pair[0].text == "mod").map(|pair| pair[1].text.as_str()).collect();
    assert_eq!(declared, LAYERS.map(|(name, _)| name), "src/lib.rs shows the layers in their order");
    // Each layer but the lowest is seen to import something: the reading of paths is not blind.
    for (layer, below) in LAYERS {
        let imported: BTreeSet<String> = files
            .iter()
            .filter(|(file, _)| file.starts_with(&format!("src/{layer}/")))
            .flat_map(|(file, source)| crate_paths(file, &tokens(source)).0)
            .map(|path| path.words[0].clone())
            .filter(|target| target != layer)
            .collect();
        assert_eq!(imported.is_empty(), below.is_empty(), "{layer} imports {imported:?}");
    }
}

/// Files outside a family's folder that name it, but for tests. Subcommands and pages that are
/// about one family are its own, too.
#[test]
fn a_family_is_a_folder_and_a_line_of_the_registry() {
    let files = source_files();
    let prefix = "src/families/";
    let families: BTreeSet<&str> =
        files.keys().filter_map(|file| file.strip_prefix(prefix)?.split_once('/').map(|(name, _)| name)).collect();
    assert!(families.contains("turnstyle") && families.contains("planes"), "{families:?}");
    for family in families {
        let names_it = |file: &str, source: &str| {
            let (paths, _) = crate_paths(file, &tokens(source));
            paths.iter().any(|path| !path.in_test && path.words[0] == "families" && path.words.get(1).is_some_and(|word| word == family))
        };
        let own = ["src/cli/", "src/claims/"];
        let found: Vec<&str> = files
            .iter()
            .filter(|(file, source)| !file.starts_with(&format!("{prefix}{family}/")) && names_it(file, source))
            .map(|(file, _)| file.as_str())
            .filter(|file| !own.iter().any(|folder| file.starts_with(folder)))
            .collect();
        assert_eq!(found, ["src/families/registry.rs"], "{family}");
    }
}

/// A line with a path to each layer, put into a real file of each layer, in several ways of writing
/// it.
#[test]
fn every_forbidden_import_is_noticed() {
    let forms: [fn(&str) -> String; 9] = [
        |target| format!("use crate::{target}::x;"),
        |target| format!("use crate::{{{target}::x}};"),
        |target| format!("use crate::{{base::Error, {target}::{{self, y as z}}}};"),
        |target| format!("fn f() {{ let _ = crate::{target}::x(1); }}"),
        |target| format!("pub use crate::{target};"),
        |target| format!("use super::super::{target}::x;"),
        |target| format!("mod inner {{ use super::super::super::{{base::Error, {target}}}; }}"),
        |target| format!("fn f(x: &'static farthest::{target}::X) -> char {{ '\"' }}"),
        |target| format!("macro_rules! m {{ () => {{ $crate::{target}::x!() }} }}"),
    ];
    let files = source_files();
    for (layer, below) in LAYERS {
        let folder = format!("src/{layer}/");
        let in_folder = |file: &str| file.strip_prefix(&folder).is_some_and(|rest| !rest.contains('/') && rest != "mod.rs");
        let (file, source) = files.iter().find(|(file, _)| in_folder(file)).expect("a file");
        for (target, _) in LAYERS {
            for form in forms {
                let line = form(target);
                let found = violations(file, &format!("{source}\n{line}\n"));
                let allowed = target == layer || below.contains(&target);
                assert_eq!(found.is_empty(), allowed, "{file} with {line}: {found:?}");
            }
        }
    }
}

/// A line with a path to each module of the search and to each layer, put into a real file of each
/// house.
#[test]
fn every_import_that_a_house_forbids_is_noticed() {
    let files = source_files();
    let modules: BTreeSet<String> = files
        .keys()
        .map(|file| module_of(file))
        .filter(|words| words.len() > 1 && words[0] == "search")
        .map(|words| words[1].clone())
        .collect();
    for House { name, beside, layers } in HOUSES {
        let folder = format!("src/search/{name}/");
        assert!(modules.contains(name), "{name} is no folder");
        let (file, source) = files.iter().find(|(file, _)| file.starts_with(&folder) && !file.ends_with("mod.rs")).expect("a file");
        let refused = |line: &str| !violations(file, &format!("{source}\n{line}\n")).is_empty();
        for target in &modules {
            let allowed = target == name || beside.contains(&target.as_str());
            for line in [
                format!("use crate::search::{target}::x;"),
                format!("use super::super::{target}::x;"),
                format!("fn f() {{ super::super::{target}::x(1) }}"),
            ] {
                assert_eq!(refused(&line), !allowed, "{file} with {line}");
            }
        }
        for (layer, _) in LAYERS.iter().filter(|(layer, _)| *layer != "search") {
            let line = format!("use crate::{layer}::x;");
            assert_eq!(refused(&line), !layers.contains(layer), "{file} with {line}");
        }
    }
}

#[test]
fn no_files_of_the_search_import_each_other() {
    let imports = circles::imports(&source_files(), "search");
    assert_eq!(circles::circle(&imports), None);
    // The reading of paths is not blind.
    for (module, target) in [
        ("search::level_loop", "search::level"),
        ("search::level", "search::round"),
        ("search::expansions", "search::expansions::states"),
        ("search::expansions::lanes::rounds", "search::expansions::lanes::tasks"),
        ("search::machine::disks", "search::machine::run_lock"),
        ("search::level", "search::archive"),
        ("search", "search::parts"),
    ] {
        assert!(imports[module].contains(target), "{module} imports {:?}", imports[module]);
    }
}

/// What takes a search whole can read and change everything: only what runs it as a whole may.
#[test]
fn a_search_is_whole_for_its_loop_only() {
    let imports = circles::imports(&source_files(), "search");
    let whole: Vec<&str> =
        imports.iter().filter(|(_, targets)| targets.contains("search::parts")).map(|(module, _)| module.as_str()).collect();
    assert_eq!(whole, ["search", "search::level", "search::level_loop"]);
}

#[test]
fn every_form_of_a_circle_is_noticed() {
    for (file, line) in [
        ("src/search/round.rs", "use super::level::Advance;"),
        ("src/search/round.rs", "use super::{level::Advance, tally};"),
        ("src/search/guards.rs", "use crate::search::Search;"),
        ("src/search/job.rs", "fn f(search: &super::parts::Search<'_>) {}"),
        ("src/search/expansions/lanes/messages.rs", "use super::tasks::Opened;"),
        ("src/search/expansions/states.rs", "use super::EXPANSIONS;"),
        ("src/search/machine/host.rs", "use super::disks::Disks;"),
        ("src/search/machine/mod.rs", "use run_folder::RunFolder; use super::job::Job;"),
    ] {
        let mut files = source_files();
        let source = files.get_mut(file).expect("a file of the search");
        source.push_str(line);
        assert!(circles::circle(&circles::imports(&files, "search")).is_some(), "{file} with {line}");
    }
}

#[test]
fn other_forbidden_things_are_noticed() {
    for (file, source) in [
        ("src/search/level.rs", "use crate::families::turnstyle;"),
        ("src/evidence/new.rs", "use crate::{puzzle::Puzzle, families::turnstyle};"),
        ("src/evidence/new.rs", "#[cfg(test)] fn f() {} mod m { use crate::families::turnstyle; }"),
        ("src/search/level.rs", "use crate::*;"),
        ("src/search/level.rs", "use crate as root;"),
        ("src/search/level.rs", "use crate::tools::x;"),
        ("src/tools/x.rs", "use crate::base::Error;"),
        ("src/search/level.rs", "#[path = \"../cli/run.rs\"] mod run;"),
        ("src/search/level.rs", "include!(\"../cli/run.rs\");"),
        ("src/bin/farthest-verify.rs", "use farthest::base::Error;"),
        ("src/bin/farthest-verify.rs", "fn f() { farthest::cli::dispatch() }"),
        ("src/bin/farthest-verify/run.rs", "use farthest::base::Error;"),
        ("src/bin/farthest-verify/run.rs", "use farthest as program;"),
        ("src/bin/farthest-verify/run.rs", "extern crate farthest;"),
        ("src/bin/farthest-verify/run.rs", "#[path = \"../../base/ids.rs\"] mod ids;"),
        ("src/bin/farthest-verify/run.rs", "include!(\"../../base/ids.rs\");"),
        ("src/bin/farthest-verify/run.rs", "fn f() { unsafe { g() } }"),
        ("src/bin/farthest-verify/run.rs", "fn f() { bincode::config::standard(); }"),
        ("src/search/level.rs", "use mpi::topology::Communicator;"),
        ("src/search/level.rs", "use mpi;"),
        ("src/search/level.rs", "extern crate mpi;"),
        ("src/exchange/launcher.rs", "fn f() { ::mpi::initialize(); }"),
        ("src/exchange/launcher.rs", "fn f() { unsafe_free(mpi_sys::MPI_COMM_WORLD) }"),
        ("src/base/ids.rs", "use bincode::config;"),
        ("src/store/shard.rs", "use memmap2::MmapMut;"),
        ("src/search/level.rs", "use indicatif::ProgressBar;"),
        ("src/store/shard.rs", "fn f() { unsafe { g() } }"),
        ("src/store/shard.rs", "#![allow(unsafe_code)]"),
        ("src/evidence/dataset.rs", "fn f() { println!(\"x\"); }"),
        ("src/evidence/dataset.rs", "fn f<'a>(c: &'a str) { if c == 'x' { eprintln!(\"{c}\") } }"),
        ("src/cli/run.rs", "fn f() { dbg!(1); }"),
        // Behind each kind of literal and comment the reader must find its way back.
        ("src/store/shard.rs", "const A: char = '\\''; const B: char = '\"'; use crate::cli::run;"),
        ("src/store/shard.rs", "const A: &str = \"\\\\\"; use crate::cli::run; // \""),
        ("src/store/shard.rs", "const A: &[u8] = br#\"\" \"#; use crate::cli::run;"),
        ("src/store/shard.rs", "/* /* \" */ ' */ use crate::cli::run;"),
        ("src/store/shard.rs", "impl<'a> X<'a> { fn f(&'a self) { crate::cli::run::run() } }"),
    ] {
        assert!(!violations(file, source).is_empty(), "{file}: {source}");
    }
}

#[test]
fn what_is_allowed_is_left_alone() {
    for (file, source) in [
        ("src/store/shard.rs", "// use crate::cli::run;\n/* crate::cli */ const A: &str = \"crate::cli::run\";"),
        ("src/store/shard.rs", "const A: &str = r#\"use \"crate::cli\"; mpi::x unsafe\"#; const B: &[u8] = b\"crate::cli\";"),
        ("src/store/shard.rs", "use super::format; mod tests { use super::*; use super::super::bitset; }"),
        ("src/store/shard.rs", "pub(crate) fn f() {} pub(in crate::store) fn g() {} pub(super) fn h() {}"),
        ("src/base/config_text/table.rs", "use super::super::error::Error; use super::value::X;"),
        ("src/expand/states.rs", "#[cfg(test)]\nmod tests { use super::*; use crate::families::turnstyle; }"),
        ("src/cli/session.rs", "fn f() { crate::exchange::mpi::MpiExchange::start(1); println!(\"x\"); }"),
        ("src/exchange/launcher.rs", "fn f() { super::mpi::abort(1); eprintln!(\"x\"); }"),
        ("src/exchange/mod.rs", "pub mod mpi; pub mod local;"),
        ("src/exchange/mpi.rs", "#![allow(unsafe_code)] use mpi::raw::AsRaw; fn f() { unsafe { mpi::ffi::MPI_Abort(w, 1); } }"),
        ("src/store/mapped.rs", "use memmap2::MmapMut; fn f() { unsafe { g() } }"),
        ("src/base/codec.rs", "fn f() { bincode::config::standard(); }"),
        ("src/main.rs", "use clap::Parser; use farthest::cli; use farthest::exchange::launcher; fn f() { error.print(); }"),
        ("src/bin/farthest-verify.rs", "//! farthest::base is not imported.\nfn main() { std::process::exit(0) }"),
        (
            "src/bin/farthest-verify/run.rs",
            "use crate::limits::Limits; use clap::Parser; const A: &str = \"farthest::base\"; mod x { use super::y; }",
        ),
        ("src/families/shipped.rs", "const A: &str = include_str!(\"x.toml\");"),
    ] {
        assert_eq!(violations(file, source), [""; 0], "{file}: {source}");
    }
}
