//! From configuration to puzzle.
//!
//! A puzzle file holds `family = "..."` and the family's keys at top level; a run configuration may
//! hold them in a `[puzzle]` table, or name a file or a short name.

use super::registry::FAMILIES;
use super::shipped::{self, ShippedPuzzle};
use super::source::PuzzleSource;
use crate::base::Result;
use crate::base::config_text::{ConfigTable, MOST_FILE_BYTES};
use crate::base::ids::to_u64;
use std::path::Path;

/// Takes a puzzle's keys from `table`, and judges no others: the caller takes its own and then
/// calls [`ConfigTable::finish`].
///
/// # Errors
/// When the keys describe no puzzle, or one of one's own under the name of one that comes with the
/// program.
pub fn puzzle(table: &mut ConfigTable) -> Result<PuzzleSource> {
    let source = puzzle_of_any_name(table)?;
    if let Some(shipped) = shipped::find(&source.name().to_ascii_lowercase())
        && shipped_source(shipped)? != source
    {
        return Err(table.place_of("name").refuse(
            format!("\"{}\" with other generators or metrics than the puzzle of this name that comes with farthest", shipped.name),
            "a name of its own",
            "its results would mix with that one's: choose another name",
        ));
    }
    Ok(source)
}

/// The same for one that may be the shipped puzzle of its name itself.
fn puzzle_of_any_name(table: &mut ConfigTable) -> Result<PuzzleSource> {
    let family = table.required_choice("family", &FAMILIES.map(|family| family.name))?;
    let family = FAMILIES.into_iter().find(|known| known.name == family).expect("one of the names that were offered");
    let source = (family.read)(table)?;
    // Inverses and cycles take more bytes written out; the run folder's copy must be readable, too.
    let bytes = to_u64(source.to_toml().len());
    if bytes > MOST_FILE_BYTES {
        return Err(table.place_of("generators").refuse(
            format!("generators that take {bytes} bytes written out with their inverses"),
            format!("at most {MOST_FILE_BYTES}"),
            "leave some out",
        ));
    }
    Ok(source)
}

/// The puzzle of a file that comes with the program.
///
/// # Errors
/// Never for the files as they are tested.
pub fn shipped_source(puzzle: &ShippedPuzzle) -> Result<PuzzleSource> {
    let mut table = ConfigTable::parse(&format!("configs/puzzles/{}.toml", puzzle.name), puzzle.text)?;
    let source = puzzle_of_any_name(&mut table)?;
    table.finish()?;
    Ok(source)
}

/// The puzzle of a table that holds nothing else.
///
/// # Errors
/// When it describes no puzzle or has unknown keys.
pub fn puzzle_table(mut table: ConfigTable) -> Result<PuzzleSource> {
    let source = puzzle(&mut table)?;
    table.finish()?;
    Ok(source)
}

/// The puzzle of a puzzle file.
///
/// # Errors
/// When the file cannot be read or describes no puzzle.
pub fn puzzle_file(path: &Path) -> Result<PuzzleSource> {
    puzzle_table(ConfigTable::read(path)?)
}

/// The puzzle of a puzzle file's text; messages call it `file_name`.
///
/// # Errors
/// When the text describes no puzzle.
pub fn puzzle_text(file_name: &str, text: impl Into<Vec<u8>>) -> Result<PuzzleSource> {
    puzzle_table(ConfigTable::parse(file_name, text)?)
}

/// The puzzle of a file or short name, whichever exists; relative paths start at `folder` when
/// there is one. A folder that happens to have a puzzle's short name, as in `results/`, is not
/// meant.
///
/// # Errors
/// When there is neither (the nearest short name is given), or the file describes no puzzle.
pub fn resolve(name_or_path: impl AsRef<Path>, folder: Option<&Path>) -> Result<PuzzleSource> {
    resolve_path(name_or_path.as_ref(), folder)
}

fn resolve_path(name_or_path: &Path, folder: Option<&Path>) -> Result<PuzzleSource> {
    let path = folder.unwrap_or(Path::new("")).join(name_or_path);
    let names_a_file = |name: &str| name.contains('/') || name.ends_with(".toml");
    match (name_or_path.to_str().filter(|name| !names_a_file(name)), path.metadata()) {
        (Some(name), Ok(found)) if found.is_dir() => PuzzleSource::from_short_name(name).or_else(|_| puzzle_file(&path)),
        (Some(name), Err(_)) => PuzzleSource::from_short_name(name),
        _ => puzzle_file(&path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::config_text::StringOrTable;
    use proptest::prelude::*;

    #[test]
    fn a_bare_puzzle_file_is_a_run_configuration_too() {
        let text = "family = \"turnstyle\"\nsize = 6\nmetric = \"turn\"\n[search]\nkeep_levels = true\n";
        let mut root = ConfigTable::parse("run.toml", text).expect("TOML");
        assert!(root.optional_value("puzzle").is_none());
        assert_eq!(puzzle(&mut root).expect("valid"), PuzzleSource::from_short_name("turnstyle-6").expect("a puzzle"));
        assert_eq!(root.optional_string("metric").expect("a string").as_deref(), Some("turn"));
        let mut search = root.optional_table("search").expect("a table").expect("there");
        assert_eq!(search.optional_bool("keep_levels").expect("a bool"), Some(true));
        search.finish().expect("nothing left");
        root.finish().expect("nothing left");
        assert!(puzzle_text("run.toml", text).expect_err("no puzzle file").to_string().starts_with("run.toml:3:1: metric: "));
    }

    #[test]
    fn a_run_configuration_may_hold_the_puzzle() {
        let text =
            "[puzzle]\nfamily = \"permutations\"\nname = \"toy\"\npositions = 3\n[[puzzle.generators]]\nname = \"A\"\nimages = [1, 0, 3]\n";
        let mut root = ConfigTable::parse("run.toml", text).expect("TOML");
        let Some(StringOrTable::Table(table)) = root.optional_string_or_table("puzzle").expect("a table") else {
            panic!("a table");
        };
        let message = puzzle_table(table).expect_err("3 is out of range").to_string();
        assert!(message.starts_with("run.toml:7:17: puzzle.generators[0].images[2]: found 3, "), "{message}");
    }

    #[test]
    fn what_is_written_around_the_canonical_text_is_read_around_it() {
        let source = PuzzleSource::from_short_name("board-2x3n2").expect("shipped");
        let text = format!("metric = \"half\"\n{}\n[search]\n", source.to_toml());
        let mut root = ConfigTable::parse("run.toml", text).expect("TOML");
        assert_eq!(puzzle(&mut root).expect("valid"), source);
        assert!(root.contains("metric") && root.contains("search"));
    }

    #[test]
    fn files_come_before_short_names_and_folders_do_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, size: u32| {
            let text = format!("family = \"turnstyle\"\nsize = {size}\n");
            std::fs::write(folder.path().join(name), text).expect("written");
        };
        write("turnstyle-9", 5);
        write("mine.toml", 6);
        std::fs::create_dir(folder.path().join("turnstyle-8")).expect("a folder");
        std::fs::create_dir(folder.path().join("mine")).expect("a folder");
        let resolved = |name: &str| resolve(name, Some(folder.path())).map(|source| source.name());
        let message = |name: &str| resolved(name).expect_err("no puzzle").to_string();
        assert_eq!(resolved("turnstyle-9").expect("a file"), "turnstyle-5");
        assert_eq!(resolved("mine.toml").expect("a file"), "turnstyle-6");
        assert_eq!(resolved("./mine.toml").expect("a file"), "turnstyle-6");
        assert_eq!(resolved("turnstyle-8").expect("a short name"), "turnstyle-8");
        assert_eq!(resolved("pancake-7").expect("a short name"), "pancake-7");
        assert_eq!(resolve(folder.path().join("mine.toml"), None).expect("a file").name(), "turnstyle-6");
        assert!(message("mine").contains("found a folder"));
        assert!(message("pancakes-7").ends_with("did you mean \"pancake-7\"?"));
        assert!(message("yours.toml").contains("check the spelling of the path"));
        assert!(message("no/turnstyle-12").contains("check the spelling of the path"));
    }

    const VALID: [&str; 3] = [
        "family = \"turnstyle\"\nsize = 12\n",
        "family = \"permutations\"\nname = \"toy\"\npositions = 6\ninverses = true\n[[generators]]\nname = \"A\"\nimages = [1, 2, 0, 3, 5, 4]\n[[generators]]\nname = \"B\"\ncycles = \"(2 3)(0 1)\"\n[[metrics]]\nname = \"a\"\ngenerators = [\"A\", \"A'\"]\n",
        "family = \"planes\"\nname = \"toy\"\nplanes = 2\npositions = 3\nstart_plane = 1\n[[generators]]\nname = \"A\"\nplanes = [1, 0]\npermutations = [[1, 2, 0], [0, 1, 2]]\n",
    ];

    proptest! {
        /// Whatever a damaged file holds, the answer is a puzzle that reads back the same, or an
        /// error.
        #[test]
        fn damaged_files_never_panic(
            file in 0..VALID.len(),
            damage in proptest::collection::vec((any::<u16>(), 0_usize..4, any::<u8>()), 1..4),
        ) {
            let mut bytes = VALID[file].as_bytes().to_vec();
            for (at, kind, byte) in damage {
                let at = usize::from(at) % bytes.len().max(1);
                let digit = b'0' + byte % 10;
                match kind {
                    0 if at < bytes.len() => bytes[at] = byte,
                    1 if at < bytes.len() => bytes[at] = digit,
                    2 if at < bytes.len() => drop(bytes.remove(at)),
                    _ => bytes.insert(at, digit),
                }
            }
            match puzzle_text("x.toml", bytes) {
                Ok(source) => {
                    prop_assert_eq!(&puzzle_text("y.toml", source.to_toml()).expect("canonical"), &source);
                    for metric in source.metrics() {
                        let _ = source.build(&metric);
                    }
                }
                Err(error) => {
                    prop_assert_eq!(error.exit_code(), 78);
                    prop_assert!(error.to_string().starts_with("x.toml:"), "{}", error);
                }
            }
        }
    }
}
