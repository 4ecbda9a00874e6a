//! One case for each kind of bad configuration: the message names the file, line, column and field,
//! what was found and the cure, the exit code is 78, and nothing panics, hangs or fills the memory.

use farthest::families::reading::puzzle_file;
use std::fs;
use std::path::{Path, PathBuf};

/// A file with these bytes in a folder of its own.
fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("puzzle.toml");
    fs::write(&path, bytes).expect("written");
    (folder, path)
}

/// The message about the file, without the file's name.
fn message(path: &Path) -> String {
    let error = puzzle_file(path).expect_err("a bad configuration was accepted");
    assert_eq!(error.exit_code(), 78, "{error}");
    let text = error.to_string();
    let name = path.to_str().expect("UTF-8");
    text.strip_prefix(&format!("{name}:")).unwrap_or_else(|| panic!("the file is not named: {text}")).to_owned()
}

/// Whether the file's message starts with `place` (line:column: and the field) and holds all
/// `parts`.
fn check(bytes: impl AsRef<[u8]>, place: &str, parts: &[&str]) {
    let (_folder, path) = file(bytes.as_ref());
    let text = message(&path);
    assert!(text.starts_with(place), "expected {place} ..., found {text}");
    for part in parts {
        assert!(text.contains(part), "expected ... {part} ..., found {text}");
    }
}

/// A puzzle of the explicit family on six positions with this generator line; the line is number 6.
fn with_generator(line: &str) -> String {
    format!("family = \"permutations\"\nname = \"toy\"\npositions = 6\n[[generators]]\nname = \"A\"\n{line}\n")
}

/// A puzzle of the explicit family with two good generators and these lines behind them, from line
/// 10 on.
fn with_lines(lines: &str) -> String {
    with_generator("cycles = \"(0 1 2)\"") + "[[generators]]\nname = \"B\"\ncycles = \"(2 3 4 5)\"\n" + lines
}

#[test]
fn syntax() {
    check("family = \"turnstyle\nsize = 4\n", "1:20: ", &["this is no TOML", "correct the line"]);
    check("family = \"turnstyle\"\nsize == 4\n", "2:7: ", &["this is no TOML"]);
    check("family = \"turnstyle\"\nsize = [4\n", "2:10: ", &["unclosed array"]);
    check("family = turnstyle\nsize = 4\n", "1:10: ", &["this is no TOML"]);
    check("", "1:1: family: ", &["no such key", "add a line such as family = \"turnstyle\""]);
}

#[test]
fn repeated_keys() {
    let cure = "delete or rename one of the two";
    check("family = \"turnstyle\"\nsize = 4\nsize = 5\n", "3:1: ", &["the key `size` a second time", cure]);
}

#[test]
fn unknown_keys() {
    check(
        "family = \"turnstyle\"\nsize = 4\nseize = 5\n",
        "3:1: seize: ",
        &["an unknown key", "one of family, size", "did you mean \"size\"?"],
    );
    check("size = 4\nfamly = \"turnstyle\"\n", "1:1: family: ", &["did you write \"famly\" for \"family\"?"]);
    check("family = \"turnstyle\"\nsize = 4\n[table]\n", "3:2: table: ", &["an unknown key", "delete it"]);
    check(
        with_generator("cycles = \"(0 1)\"\ncycels = \"(0 1)\""),
        "7:1: generators[0].cycels: ",
        &["an unknown key", "did you mean \"cycles\"?"],
    );
}

#[test]
fn wrong_types() {
    check("family = 4\n", "1:10: family: ", &["found 4", "expected a string", "quotation marks"]);
    check("family = \"turnstyle\"\nsize = \"12\"\n", "2:8: size: ", &["remove the quotation marks"]);
    check("family = \"turnstyle\"\nsize = true\n", "2:8: size: ", &["found true", "an integer"]);
    check("family = \"turnstyle\"\nsize = 1979-05-27\n", "2:8: size: ", &["the date or time 1979-05-27"]);
    check(with_generator("images = 5"), "6:10: generators[0].images: ", &["expected a list", "square brackets"]);
    check(with_generator("images = [0, \"1\"]"), "6:14: generators[0].images[1]: ", &["the string \"1\"", "remove the quotation marks"]);
    check(with_lines("[metrics]\nname = \"a\"\n"), "10:1: metrics: ", &["found a table", "[[metrics]]"]);
    check("family = \"permutations\"\nname = \"toy\"\npositions = 3\ngenerators = 4\n", "4:14: generators: ", &["a list"]);
    check(format!("inverses = 1\n{}", with_generator("cycles = \"(0 1)\"")), "1:12: inverses: ", &["found 1", "true or false"]);
}

#[test]
fn numbers_that_are_no_sizes() {
    let size = |text: &str| format!("family = \"turnstyle\"\nsize = {text}\n");
    check(size("nan"), "2:8: size: ", &["the floating-point number nan", "a whole number"]);
    check(size("12.0"), "2:8: size: ", &["write 12 without a decimal point"]);
    check(size("1e9"), "2:8: size: ", &["the floating-point number 1e9"]);
    check(size("-12"), "2:8: size: ", &["found -12", "an integer from 4"]);
    check(size("3"), "2:8: size: ", &["found 3", "an integer from 4"]);
    check(size("21"), "2:8: size: ", &["states", "the largest size is 20"]);
    check(size("4294967295"), "2:8: size: ", &["the largest size is 20"]);
    check(size("99999999999999999999999999999999999999999"), "2:8: size: ", &["128 bits do not hold"]);
}

#[test]
fn empty_lists_of_generators() {
    let head = "family = \"permutations\"\nname = \"toy\"\npositions = 6\n";
    check(head, "1:1: generators: ", &["no generators", "add a [[generators]] table"]);
    check(format!("{head}generators = []\n"), "4:14: generators: ", &["no generators", "at least one"]);
    check(
        with_lines("[[metrics]]\nname = \"a\"\ngenerators = []\n"),
        "12:14: metrics[0].generators: ",
        &["an empty list", "list the generators"],
    );
}

#[test]
fn generators_that_do_nothing_or_the_same() {
    let cure = "delete or correct it";
    check(with_generator("images = [0, 1, 2, 3, 4, 5]"), "5:8: generators[0].name: ", &["moves nothing", cure]);
    check(with_generator("cycles = \"(3)\""), "5:8: generators[0].name: ", &["moves nothing", cure]);
    check(with_generator(""), "4:1: generators[0]: ", &["neither images nor cycles", "add a line such as"]);
    check(
        with_lines("[[generators]]\nname = \"C\"\nimages = [2, 0, 1, 3, 4, 5]\n"),
        "11:8: generators[2].name: ",
        &["\"C\", the same turn as \"A\" of line 5", "delete one of the two"],
    );
    check(
        with_lines("[[generators]]\nname = \"A\"\ncycles = \"(0 1)\"\n"),
        "11:8: generators[2].name: ",
        &["the name \"A\" of line 5 again", "rename one of the two"],
    );
    check(
        format!("inverses = true\n{}", with_lines("[[generators]]\nname = \"A'\"\ncycles = \"(0 1)\"\n")),
        "12:8: generators[2].name: ",
        &["\"A'\", which is not the inverse of \"A\"", "rename it"],
    );
}

#[test]
fn lists_that_are_no_permutations() {
    check(
        with_generator("images = [0, 1, 2, 4, 4, 5]"),
        "6:23: generators[0].images[4]: ",
        &["found 4 a second time", "3 is missing: put it in the place of one 4"],
    );
    check(with_generator("images = [0, 1, 2, 3, 4, 6]"), "6:26: generators[0].images[5]: ", &["found 6", "an integer from 0 to 5"]);
    check(with_generator("images = [0, 1]"), "6:10: generators[0].images: ", &["a list of 2 positions", "6, one"]);
    check(with_generator("images = [1, 0, 2, 3, 4, -1]"), "6:26: generators[0].images[5]: ", &["found -1"]);
    check(with_generator("cycles = \"(0 1)(1 2)\""), "6:17: generators[0].cycles: ", &["1 a second time", "delete"]);
    check(with_generator("cycles = \"(0 6)\""), "6:14: generators[0].cycles: ", &["found 6", "from 0 to 5"]);
    check(with_generator("cycles = \"(0 1\""), "6:15: generators[0].cycles: ", &["close the last cycle"]);
    check(with_generator("cycles = \"A B\""), "6:11: generators[0].cycles: ", &["write cycles such as"]);
}

/// Pieces that look alike are given by equal labels, which lists of images cannot express: the
/// repeated value is named.
#[test]
fn identical_pieces() {
    check(with_generator("images = [0, 0, 1, 1, 2, 2]"), "6:14: generators[0].images[1]: ", &["found 0 a second time"]);
}

#[test]
fn names() {
    let named = |name: &str| format!("family = \"permutations\"\nname = {name}\npositions = 6\n");
    for name in ["\"\"", "\"A b\"", "\"../x\"", "\"-x\"", "\".x\"", "\"a/b\"", "\"a\\u0000b\"", "\"\u{e9}\""] {
        check(named(name), "2:8: name: ", &["the name becomes a folder: choose one such as"]);
    }
    check(named(&format!("\"{}\"", "x".repeat(101))), "2:8: name: ", &["1 to 100 letters from A to Z or a to z"]);
    for name in [
        "turnstyle-9",
        "turnstyle",
        "turnstyle-mine",
        "rotation",
        "rotation-board-9x9n9",
        "rotation-3x4n2",
        "4x3n2",
        "4x3n2-mine",
        "Turnstyle-9",
        "ROTATION",
    ] {
        check(named(&format!("\"{name}\"")), "2:8: name: ", &["reads as the name of a built-in puzzle", "choose another name"]);
    }
    check(
        "family = \"turnstile\"\nsize = 4\n",
        "1:10: family: ",
        &["one of turnstyle, permutations, planes", "did you mean \"turnstyle\"?"],
    );
    for name in ["\"\"", "\"a b\"", "\"a\u{a0}b\"", "\"\u{202e}a\"", "\"\\\"\"", "'\\'"] {
        let text = format!("family = \"permutations\"\nname = \"toy\"\npositions = 6\n[[generators]]\nname = {name}\n");
        check(text, "5:8: generators[0].name: ", &["visible characters", "choose a name"]);
    }
    check(
        with_lines("[[metrics]]\nname = \"m\"\ngenerators = [\"A\", \"b\"]\n"),
        "12:20: metrics[0].generators[1]: ",
        &["found \"b\"", "did you mean \"B\"?"],
    );
    check(
        with_lines("[[metrics]]\nname = \"m\"\ngenerators = [\"A\", \"A\"]\n"),
        "12:20: metrics[0].generators[1]: ",
        &["\"A\" a second time", "delete one of the two"],
    );
    let metric = "[[metrics]]\nname = \"m\"\ngenerators = [\"A\"]\n";
    check(with_lines(&metric.repeat(2)), "14:8: metrics[1].name: ", &["the metric \"m\" again", "rename"]);
}

/// A name that comes with the program stands for the rules that come with it, however they are
/// written, and for no others.
#[test]
fn names_of_shipped_puzzles() {
    let pancakes = |name: &str, last: &str| {
        let turns = ["(0 1)", "(0 2)", "(0 3)(1 2)", "(0 4)(1 3)", "(0 5)(1 4)(2 3)", last];
        let mut text = format!("family = \"permutations\"\nname = \"{name}\"\npositions = 7\n");
        for (index, turn) in turns.iter().enumerate() {
            text += &format!("[[generators]]\nname = \"F{}\"\ncycles = \"{turn}\"\n", index + 2);
        }
        text
    };
    let whole = "(0 6)(1 5)(2 4)";
    for text in [pancakes("pancake-7", whole), format!("inverses = true\n{}", pancakes("pancake-7", "(6 0)(4 2) (5,1)"))] {
        let (_folder, path) = file(text.as_bytes());
        assert_eq!(puzzle_file(&path).expect("the shipped rules").name(), "pancake-7");
    }
    let parts = ["\"pancake-7\" with other generators or metrics", "its results would mix with that one's: choose another name"];
    check(pancakes("pancake-7", "(0 6)"), "2:8: name: ", &parts);
    check(pancakes("pancake-7", whole).replace("\"F3\"", "\"G3\""), "2:8: name: ", &parts);
    check(pancakes("pancake-7", whole).replace("positions = 7", "positions = 8"), "2:8: name: ", &parts);
    check(pancakes("pancake-7", whole) + "[[metrics]]\nname = \"step\"\ngenerators = [\"F2\"]\n", "2:8: name: ", &parts);
    for name in ["pocket-cube", "loopover-3x3", "board-2x3n2", "board-3x4n3"] {
        check(pancakes(name, whole), "2:8: name: ", &["that comes with farthest", "choose another name"]);
    }
    let planes = "family = \"planes\"\nname = \"pancake-7\"\nplanes = 1\npositions = 2\n[[generators]]\nname = \"A\"\ncycles = \"(0 1)\"\n";
    check(planes, "2:8: name: ", &parts);
}

/// Keys that contradict each other, or that the family does not have, are never left aside.
#[test]
fn keys_that_say_something_twice_or_to_nobody() {
    check(
        with_generator("cycles = \"(0 1)\"\nimages = [0, 1, 2, 3, 5, 4]"),
        "6:10: generators[0].cycles: ",
        &["both images and cycles", "delete the other one"],
    );
    check(with_generator("cycles = \"(0 1)\"\ninverses = true"), "7:1: generators[0].inverses: ", &["an unknown key"]);
    check(with_generator("cycles = \"(0 1)\"") + "[metric]\n", "7:2: metric: ", &["an unknown key"]);
    check("family = \"turnstyle\"\nsize = 6\ninverses = true\n", "3:1: inverses: ", &["an unknown key", "delete it"]);
    check("family = \"turnstyle\"\nsize = 6\nname = \"turnstyle-6\"\n", "3:1: name: ", &["an unknown key"]);
    check("family = \"rotation-board\"\nrows = 3\ncols = 3\nblock = 2\nsize = 6\n", "5:1: size: ", &["an unknown key"]);
    check(with_lines("[[metrics]]\nname = \"m\"\ngenerators = [\"A\"]\ncost = 2\n"), "13:1: metrics[0].cost: ", &["an unknown key"]);
    check(
        "family = \"magic\"\nsize = 6\n",
        "1:10: family: ",
        &["found \"magic\"", "one of turnstyle, permutations, planes, rotation-board"],
    );
    // The same key in each of the ways to write it.
    let cure = "delete or rename one of the two";
    check("family = \"turnstyle\"\nsize = 4\n\"si\\u007ae\" = 4\n", "3:1: ", &["a second time", cure]);
    check(format!("inverses = true\n{}", with_generator("cycles = \"(0 1)\"").replacen('\n', "\ninverses = true\n", 1)), "3:1: ", &[cure]);
    check(with_lines("[[generators]]\nname = \"C\"\nname = \"D\"\n"), "12:1: ", &["the key `name` a second time", cure]);
    let inline = "family = \"permutations\"\nname = \"toy\"\npositions = 3\ngenerators = [{ name = \"A\", images = [1, 0, 2] }]\n";
    check(format!("{inline}[[generators]]\nname = \"B\"\nimages = [0, 2, 1]\n"), "5:3: ", &["a second time", cure]);
    check(inline.replace("images", "name = \"B\", images"), "4:29: ", &["the key `name` a second time", cure]);
    check(inline.replace("] }", "], turns = 1 }"), "4:49: generators[0].turns: ", &["an unknown key"]);
    let (_folder, path) = file(inline.as_bytes());
    assert_eq!(puzzle_file(&path).expect("tables may be written inline").name(), "toy");
}

/// The inverse's name is written to the run folder, where it must be readable.
#[test]
fn names_that_leave_no_room_for_the_inverse() {
    let text = |length: usize| {
        let name = "R".repeat(length);
        format!(
            "family = \"permutations\"\nname = \"toy\"\npositions = 3\ninverses = true\n[[generators]]\nname = \"{name}\"\ncycles = \"(0 1 2)\"\n"
        )
    };
    check(text(32), "6:8: generators[0].name: ", &["no room for the name of its inverse", "at most 31 characters"]);
    let (_folder, path) = file(text(31).as_bytes());
    let source = puzzle_file(&path).expect("31 characters");
    let (_folder, copy) = file(source.to_toml().as_bytes());
    assert_eq!(puzzle_file(&copy).expect("the copy is readable"), source);
}

#[test]
fn deep_nesting() {
    check(format!("family = {}", "[".repeat(1_000_000)), "1:74: ", &["at most 64 levels", "delete the surplus"]);
    check(format!("family = {}", "{a=".repeat(300_000)), "", &["at most 64 levels"]);
    check(format!("{}a = 1", "a.".repeat(500_000)), "1:130: ", &["at most 64 levels"]);
    check(format!("[{}a]\n", "a.".repeat(500_000)), "", &["at most 64 levels"]);
    // The parser alone would build 79 x 79 tables in one another here.
    let keys = format!("{}a", "a.".repeat(78));
    let inline = format!("{{{keys} = ").repeat(78);
    check(format!("family = {inline}1{}", "}".repeat(78)), "", &["at most 64 levels"]);
}

#[test]
fn large_files_and_strings() {
    let (_folder, path) = file(b"");
    fs::File::options().write(true).open(&path).expect("opened").set_len(1 << 30).expect("sparse");
    assert!(message(&path).contains("found 1073741824 bytes, expected at most 1048576; check that it is the right"));
    let long = "x".repeat(70_000);
    check(format!("family = \"{long}\"\n"), "1:10: ", &["a string of 70000 bytes", "shorten it"]);
    check(format!("{long} = 1\n"), "1:1: ", &["a string of 70000 bytes", "shorten it"]);
    let many: String = (0..1025).map(|i| format!("[[generators]]\nname = \"{i}\"\n")).collect();
    let head = "family = \"permutations\"\nname = \"toy\"\npositions = 6\n";
    check(format!("{head}{many}"), "4:1: generators: ", &["1025 generators", "at most 1024", "leave some out"]);
}

#[test]
fn bytes_that_are_no_text() {
    let cure = "save the file as plain UTF-8 text";
    check(b"family = \"turn\0style\"\nsize = 4\n", "1:15: ", &["a NUL byte", cure]);
    check(b"family = \"turnstyle\"\nsize = \xff4\n", "2:8: ", &["the byte 0xff", cure]);
    check(b"\xff\xfef\0a\0m\0i\0l\0y\0", "1:1: ", &["the byte 0xff", cure]);
    check(b"family = \"turnstyle\x07\"\n", "1:20: ", &["this is no TOML"]);
}

#[test]
fn marks_and_line_ends_of_other_systems_are_accepted() {
    let (_folder, path) = file(b"\xef\xbb\xbffamily = \"turnstyle\"\r\nsize = 4\r\n");
    assert_eq!(puzzle_file(&path).expect("valid").name(), "turnstyle-4");
    check(b"\xef\xbb\xbffamily = \"turnstyle\"\r\nsize = 3\r\n", "2:8: size: ", &["found 3"]);
    check(b"\xef\xbb\xbf\xef\xbb\xbffamily = \"turnstyle\"\nsize = 4\n", "1:1: ", &["a second byte-order mark"]);
    check(b"family = \"turnstyle\"\rsize = 4\r", "1:22: ", &["this is no TOML"]);
}

#[test]
fn what_is_no_regular_file() {
    let (folder, _) = file(b"");
    assert!(message(folder.path()).contains("found a folder, expected a configuration file; name a file in it"));
    let fifo = folder.path().join("fifo");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, rustix::fs::Mode::RUSR, 0).expect("a pipe");
    assert!(message(&fifo).contains("found a pipe, socket or device"));
    assert!(message(Path::new("/dev/null")).contains("found a pipe, socket or device"));
    let missing = puzzle_file(&folder.path().join("missing.toml")).expect_err("missing");
    assert!(missing.to_string().contains("check the spelling of the path"), "{missing}");
}
