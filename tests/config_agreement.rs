//! The checker reads `run.toml` by its own parser. It must accept exactly what the search accepts, and understand the same puzzle: else a run could be searched
//! under one reading of a file and verified under another.

mod common;

use common::disturb::{Dice, scratch};
use common::{checker, known, outcome};
use farthest::base::ids::{to_u64, to_usize};
use farthest::families::run_config::RunConfig;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Right configurations in many spellings.
const RIGHT: [&str; 15] = [
    "metric = \"step\"\nfamily = \"turnstyle\"\nsize = 8\n\n[search]\ncheckpoint_seconds = 60\nkeep_levels = true\nmost_antipodes = 0\nround_kib = 16384\nexchange_kib = 65536\nshare_memory = true\nstorage = \"files\"\nexpansion = \"auto\"\n",
    "family = \"turnstyle\"\nsize = 0x14\nmetric = \"flip\"\n",
    "family = \"turnstyle\"\nsize = 4\nmetric = \"turn\"\nsearch = { storage = \"compact\", expansion = \"unseen\" }\n",
    "family = \"rotation-board\"\nrows = 3\ncols = 4\nblock = 2\nmetric = \"half\"\n",
    "[puzzle]\nfamily = \"rotation-board\"\nrows = 2\ncols = 3\nblock = 2\n[search]\nshared_filesystem = false\n",
    "family = \"permutations\"\nname = \"toy\"\npositions = 7\ninverses = true\n[[generators]]\nname = \"A\"\ncycles = \"(5 1 3)(0 6)\"\n[[generators]]\nname = \"B\"\ncycles = \"(1,3)\"\n",
    "family = \"permutations\"\nname = \"toy\"\npositions = 5\n[[generators]]\nname = \"c\"\nimages = [1, 2, 3, 4, 0]\n[[generators]]\nname = \"s\"\ncycles = \"(0 1)\"\n[[generators]]\nname = \"s'\"\ncycles = \"(2 3)\"\n[[metrics]]\nname = \"one\"\ngenerators = [\"c\", \"s\"]\n[[metrics]]\nname = \"two\"\ngenerators = [\"s\", \"c\", \"s'\"]\n",
    "metric = \"two\"\nname = \"x.y_z-1\"\nfamily = \"permutations\"\npositions = 3\ngenerators = [{ name = \"A\", images = [1, 2, 0] }, { name = \"B\", cycles = \"(0 1)\" }]\nmetrics = [{ name = \"two\", generators = [\"B\", \"A\"] }]\n",
    "puzzle.family = \"permutations\"\npuzzle.name = \"dotted\"\npuzzle.positions = 4\npuzzle.inverses = false\npuzzle.generators = [{ name = \"A\", cycles = \"(0 1 2 3)\" }]\n",
    "family = \"permutations\"\nname = \"pancake-7\"\npositions = 7\n[[generators]]\nname = \"F2\"\nimages = [1, 0, 2, 3, 4, 5, 6]\n[[generators]]\nname = \"F3\"\nimages = [2, 1, 0, 3, 4, 5, 6]\n[[generators]]\nname = \"F4\"\nimages = [3, 2, 1, 0, 4, 5, 6]\n[[generators]]\nname = \"F5\"\nimages = [4, 3, 2, 1, 0, 5, 6]\n[[generators]]\nname = \"F6\"\nimages = [5, 4, 3, 2, 1, 0, 6]\n[[generators]]\nname = \"F7\"\nimages = [6, 5, 4, 3, 2, 1, 0]\n",
    "family = \"planes\"\nname = \"frames\"\nplanes = 3\npositions = 4\nstart_plane = 1\ninverses = true\n[[generators]]\nname = \"A\"\nplanes = [1, 2, 0]\n[[generators]]\nname = \"B\"\ncycles = \"(0 1)\"\n",
    "family = \"planes\"\nname = \"frames\"\nplanes = 2\npositions = 3\n[[generators]]\nname = \"A\"\nplanes = [1, 0]\npermutation = [1, 0, 2]\n[[generators]]\nname = \"B\"\npermutations = [[0, 2, 1], [0, 1, 2]]\n",
    "family = \"permutations\"\nname = \"M12\"\npositions = 5\nbase = 1\n[[generators]]\nname = \"(0,1)\"\ncycles = \"(1 2 3)(4 5)\"\n[[generators]]\nname = \"T[0..1,2]\"\nimages = [2, 1, 3, 4, 5]\n",
    "family = \"permutations\"\nname = \"PSL(2,5)\"\npositions = 3\nbase = 0\ninverses = true\n[[generators]]\nname = \"α\"\ncycles = \"(0 1 2)\"\n[[metrics]]\nname = \"A+B\"\ngenerators = [\"α'\", \"α\"]\n",
    "# a comment\r\nfamily = 'permutations'\r\nname = 'crlf'\r\npositions = 3\r\n[[generators]]\r\nname = 'A'\r\ncycles = '''(0 1\n2)'''\r\n",
];

/// Lines that may be put anywhere.
const LINES: [&str; 26] = [
    "inverses = true",
    "inverses = 1",
    "size = 9",
    "name = \"toy\"",
    "name = \"turnstyle-12\"",
    "name = \"pancake-7\"",
    "puzzle = 3",
    "family = \"planes\"",
    "family = \"magic\"",
    "cycles = \"(0 1 2)\"",
    "images = [1, 0, 2]",
    "positions = 4",
    "planes = [0, 1]",
    "start_plane = 1",
    "metric = \"step\"",
    "metrics = []",
    "[search]",
    "[puzzle]",
    "[[generators]]",
    "[[metrics]]",
    "generators = [\"A\"]",
    "most_antipodes = 5",
    "base = 1",
    "base = 2",
    "name = \"Turnstyle-12\"",
    "name = \"Pancake-7\"",
];

/// Texts that stand for others.
const TEXTS: [(&str, &str); 30] = [
    ("(0 1)", "(0 1)(1 0)"),
    ("(0 1)", "(0 1"),
    ("(0 1)", "()"),
    ("(0 1)", ""),
    ("(0 1)", "(00 01)"),
    ("(0 1)", "(0 +1)"),
    ("(0 1)", "(0 1),(2)"),
    ("(0 1)", "(0 1 2)"),
    ("true", "false"),
    ("true", "\"true\""),
    ("\"toy\"", "\"Toy\""),
    ("\"toy\"", "\"-toy\""),
    ("\"toy\"", "\"3x4n2-toy\""),
    ("\"toy\"", "\"3x4toy\""),
    ("\"toy\"", "\"rotation\""),
    ("\"toy\"", "\"turnstyles\""),
    ("\"toy\"", "\"loopover-3x3\""),
    ("\"A\"", "\"B\""),
    ("\"A\"", "\"A b\""),
    ("\"A\"", "\"A,b\""),
    ("\"A\"", "\"\""),
    ("\"A\"", "\"B'\""),
    ("\"A\"", "\"abcdefghijklmnopqrstuvwxyz012345\""),
    ("\"c\"", "\"s\""),
    ("F2", "F22"),
    ("\"auto\"", "\"fast\""),
    ("\"step\"", "\"Step\""),
    ("\"one\"", "\"two\""),
    ("[1, 2, 0]", "[1, 2, 0, 3]"),
    ("[1, 2, 0]", "[0, 1, 2]"),
];

/// A changed configuration.
fn changed(text: &str, dice: &mut Dice) -> String {
    let mut below = |limit: usize| to_usize(dice.below(to_u64(limit)));
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    match below(7) {
        0 => drop(lines.remove(below(lines.len()))),
        1 => {
            let line = lines[below(lines.len())].clone();
            lines.insert(below(lines.len() + 1), line);
        }
        2 => {
            let (one, other) = (below(lines.len()), below(lines.len()));
            lines.swap(one, other);
        }
        3 => lines.insert(below(lines.len() + 1), format!("{}\n", LINES[below(LINES.len())])),
        4 | 5 => {
            let fitting: Vec<&(&str, &str)> = TEXTS.iter().filter(|(from, _)| text.contains(from)).collect();
            if !fitting.is_empty() {
                let (from, to) = fitting[below(fitting.len())];
                let places: Vec<usize> = text.match_indices(from).map(|(place, _)| place).collect();
                let place = places[below(places.len())];
                return format!("{}{to}{}", &text[..place], &text[place + from.len()..]);
            }
        }
        _ => {
            // A digit becomes another one.
            let digits: Vec<usize> = text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()).map(|(place, _)| place).collect();
            if !digits.is_empty() {
                let place = digits[below(digits.len())];
                let digit = below(10);
                return format!("{}{digit}{}", &text[..place], &text[place + 1..]);
            }
        }
    }
    lines.concat()
}

/// What a reader made of a configuration: the puzzle, told apart by its rules; none when it was refused.
type Reading = Option<String>;

/// The search's reading, and why it refused.
fn by_the_search(text: &str) -> (Reading, String) {
    let config = match RunConfig::of_text(Path::new("x.toml"), text) {
        Ok(config) => config,
        Err(error) => return (None, error.to_string()),
    };
    let metric = &config.metric;
    let title = format!("{} ({metric})", config.puzzle.name());
    // What the checker knows by name it tells by name; rules that are written out, by their digest.
    match config.puzzle.certified(metric).map(|puzzle| puzzle.records().to_owned()) {
        Ok(records) if records.starts_with("puzzle permutations ") => {
            let digest: String = Sha256::digest(records).iter().map(|byte| format!("{byte:02x}")).collect();
            (Some(format!("{title} (rules of SHA-256 {digest}")), String::new())
        }
        Ok(_) => match config.puzzle.build(metric) {
            Ok(_) => (Some(title), String::new()),
            Err(error) => (None, error.to_string()),
        },
        // Read by the checker alone: told by name and by the rules written out.
        Err(_) => (Some(format!("{title} (rules given as planes")), String::new()),
    }
}

/// The checker's reading: it is asked for a claim about the puzzle of the file and finds one about another puzzle.
fn by_the_checker(path: &Path) -> (Reading, String) {
    let certificate = known("certificates/bidirectional-turnstyle-30.cert");
    let (code, stdout, stderr) = outcome(checker("256M").arg("--puzzle").arg(path).arg(certificate));
    assert!([1, 2].contains(&code) && stdout.is_empty() && !stderr.contains("panicked"), "{code} {stdout}{stderr}");
    match stderr.trim_end().split_once("expected one about ") {
        Some((_, about)) if code == 1 => (Some(about.into()), stderr),
        _ => (None, stderr),
    }
}

#[test]
fn the_checker_and_the_search_read_configurations_alike() {
    let folder = scratch();
    let mut dice = Dice::new(11);
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for number in 0..700 {
        let mut text = RIGHT[number % RIGHT.len()].to_owned();
        // The right ones first, then more and more wrong.
        for _ in 0..(number / RIGHT.len()).div_ceil(18) {
            text = changed(&text, &mut dice);
        }
        let path = folder.path().join(format!("{number}.toml"));
        fs::write(&path, &text).expect("written");
        let (expected, why) = by_the_search(&text);
        let (found, says) = by_the_checker(&path);
        match (&expected, &found) {
            (None, None) => *counts.entry("refused by both").or_default() += 1,
            (Some(expected), Some(found)) => {
                assert!(found.starts_with(expected.as_str()), "{text}\nthe search: {expected}\nthe checker: {found}");
                // What the run folder keeps is the same puzzle, too.
                let echo = RunConfig::of_text(Path::new("x.toml"), &text).expect("accepted").to_toml();
                fs::write(&path, &echo).expect("written");
                let (again, says) = by_the_checker(&path);
                assert_eq!(again.as_ref(), Some(found), "{text}\n{echo}\n{says}");
                *counts.entry("accepted by both").or_default() += 1;
            }
            (Some(_), None) => panic!("the checker refuses what the search accepts:\n{text}\n{says}"),
            // What is read alike and only too large to be numbered has no runs.
            (None, Some(_)) if why.contains("state ranks have 63 bits") => *counts.entry("too large").or_default() += 1,
            (None, Some(found)) => panic!("the checker accepts what the search refuses:\n{text}\n{why}\n{found}"),
        }
    }
    assert!(counts["accepted by both"] > 100 && counts["refused by both"] > 300, "{counts:?}: the test is blind");
}

/// The permutation of seven places with this number in the factorial system.
fn permutation(mut number: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..7).collect();
    (1..=7)
        .rev()
        .map(|rest| {
            let place = left.remove(number % rest);
            number /= rest;
            place
        })
        .collect()
}

/// What chance does not find: lists one longer than they may be, entries twice, keys in every table that nobody reads, bytes that are no text.
#[test]
fn both_refuse_what_is_one_too_many() {
    let folder = scratch();
    let toy = "family = \"permutations\"\nname = \"toy\"\npositions = 7\n";
    let generators = |count: usize| -> String {
        let table = |number: usize| format!("[[generators]]\nname = \"g{number}\"\nimages = {:?}\n", permutation(number));
        (1..=count).map(table).collect()
    };
    let metrics = |count: usize| -> String {
        (0..count).map(|number| format!("[[metrics]]\nname = \"m{number}\"\ngenerators = [\"g1\"]\n")).collect()
    };
    let own = |more: &str| format!("{toy}{}{more}", generators(2));
    let planes = |list: &str| {
        format!("family = \"planes\"\nname = \"toy\"\nplanes = 3\npositions = 3\n[[generators]]\nname = \"A\"\nplanes = {list}\n")
    };
    for (right, wrong, part) in [
        (format!("{toy}{}", generators(1_024)), format!("{toy}{}", generators(1_025)), "expected at most 1024, with inverses"),
        (
            own(""),
            own("[[generators]]\nname = \"again\"\nimages = [0, 1, 2, 3, 4, 6, 5]\n[[generators]]\nname = \"same\"\ncycles = \"(5 6)\"\n"),
            "found same, a name or a turn that was there before",
        ),
        (
            own("[[generators]]\nname = \"cycles\"\ncycles = \"(0 1)(2 3)\"\n"),
            own("[[generators]]\nname = \"cycles\"\ncycles = \"(0 1)()(2 3)\"\n"),
            "found an empty cycle",
        ),
        (own(&metrics(64)), own(&metrics(65)), "found 65 metrics, expected at most 64"),
        (
            own("[[metrics]]\nname = \"m\"\ngenerators = [\"g1\", \"g2\"]\n"),
            own("[[metrics]]\nname = \"m\"\ngenerators = [\"g1\", \"g1\"]\n"),
            "expected names of generators, each once",
        ),
        (own(&metrics(1)), own(&format!("{}weight = 1\n", metrics(1))), "found the key \"weight\""),
        (own(""), own("weight = 1\n"), "found the key \"weight\""),
        (own("[search]\n"), own("[search]\nweight = 1\n"), "found the key \"weight\""),
        (own(""), format!("weight = 1\n{}", own("")), "found the key \"weight\""),
        (
            "[puzzle]\nfamily = \"turnstyle\"\nsize = 7\n".into(),
            "[puzzle]\nfamily = \"turnstyle\"\nsize = 7\nweight = 1\n".into(),
            "found the key \"weight\"",
        ),
        (planes("[1, 2, 0]"), planes("[1, 1, 0]"), "expected each of 0 to 2 once"),
        (
            own("[search]\nkeep_levels = true\nshared_filesystem = true\n"),
            own("[search]\nkeep_levels = true\nshared_filesystem = false\n"),
            "found false together with keep_levels",
        ),
        (
            own("[search]\nstorage = \"compact\"\n"),
            own("[search]\nstorage = \"tape\"\n"),
            "found \"tape\", expected auto, memory, files, compact",
        ),
        (format!("\u{feff}{}", own("")), format!("\u{feff}\u{feff}{}", own("")), "found a NUL byte, or a second byte-order mark"),
        (format!("# comment\n{}", own("")), format!("# com\0ment\n{}", own("")), "found a NUL byte, or a second byte-order mark"),
    ] {
        let path = folder.path().join("x.toml");
        for (text, is_right) in [(right, true), (wrong, false)] {
            fs::write(&path, &text).expect("written");
            let (expected, why) = by_the_search(&text);
            let (found, says) = by_the_checker(&path);
            assert_eq!((expected.is_some(), found.is_some()), (is_right, is_right), "{part}: {text}\n{why}\n{says}");
            assert!(is_right || says.contains(part), "{part}: {says}");
        }
    }
}
