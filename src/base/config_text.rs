//! Configuration files: TOML tables that know where every value stands.
//!
//! A reader takes the keys it knows from a [`ConfigTable`] and calls [`ConfigTable::finish`], which
//! refuses the keys that nobody asked for. Every message has the form
//! `file:line:column: field: found ..., expected ...; what to do`, and nothing here panics or
//! exhausts memory or stack on any input (limits in `source_text.rs`).
//!
//! ```
//! # use farthest::base::config_text::ConfigTable;
//! let mut table = ConfigTable::parse("a.toml", "size = 12\nsiez = 3\n")?;
//! assert_eq!(table.required_integer("size", 4..=20)?, 12);
//! let message = table.finish().expect_err("unknown key").to_string();
//! assert_eq!(message, "a.toml:2:1: siez: found an unknown key, expected one of size; did you mean \"size\"?");
//! # Ok::<(), farthest::base::Error>(())
//! ```

mod source_text;
mod table;
mod value;

pub use super::shown::{shown_path, shown_text};
pub use source_text::{MOST_FILE_BYTES, MOST_NESTING, MOST_STRING_BYTES, Place};
pub use table::ConfigTable;
pub use value::{ConfigValue, Integers, StringOrTable};

use super::Error;
use super::shown::shown_line;

/// The known name that `name` is most likely a misspelling of: at most a third of its letters are
/// wrong, or only the case.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 100;
    if name.len() > LONGEST {
        return None;
    }
    let folded = name.to_lowercase();
    known
        .into_iter()
        .filter(|known| known.len() <= LONGEST)
        .map(|known| (strsim::osa_distance(&folded, &known.to_lowercase()), known))
        .filter(|&(wrong, known)| wrong <= (known.chars().count() / 3).max(1) && wrong < known.chars().count())
        .min_by_key(|&(wrong, _)| wrong)
        .map(|(_, known)| known)
}

/// The parser's message in our form.
fn syntax_error(place: &Place, error: &toml::de::Error) -> Error {
    let offset = error.span().map_or(0, |span| span.start);
    let place = place.part(offset, "");
    match error.message() {
        "duplicate key" => {
            let text = place.source.text();
            let key = error.span().and_then(|span| text.get(span)).unwrap_or_default();
            place.refuse(
                format!("the key `{}` a second time", shown_text(key)),
                "each key of a table once",
                "delete or rename one of the two",
            )
        }
        message => place.error(format!("this is no TOML: {}; correct the line", shown_line(message))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Result;
    use proptest::prelude::*;

    fn table(text: &str) -> ConfigTable {
        ConfigTable::parse("x.toml", text).expect("valid TOML")
    }

    fn message<T>(result: Result<T>) -> String {
        match result {
            Ok(_) => panic!("was accepted"),
            Err(error) => {
                assert_eq!(error.exit_code(), 78);
                error.to_string()
            }
        }
    }

    #[test]
    fn nearest_is_a_misspelling_or_nothing() {
        let known = ["turnstyle-4", "turnstyle-12", "pancake-7", "k"];
        assert_eq!(nearest("turnstile-12", known), Some("turnstyle-12"));
        assert_eq!(nearest("PANCAKE-7", known), Some("pancake-7"));
        assert_eq!(nearest("cube", known), None);
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest(&"x".repeat(1000), known), None);
    }

    #[test]
    fn syntax_errors_have_a_place_and_a_cure() {
        assert_eq!(
            message(ConfigTable::parse("x.toml", "size = 4\nsize = 5\n")),
            "x.toml:2:1: found the key `size` a second time, expected each key of a table once; delete or rename one of the two"
        );
        assert_eq!(
            message(ConfigTable::parse("x.toml", "size = [4,\n")),
            "x.toml:1:11: this is no TOML: unclosed array, expected `]`; correct the line"
        );
        assert!(message(ConfigTable::parse("x.toml", "name = \"a")).starts_with("x.toml:1:10: this is no TOML: "));
        assert!(message(ConfigTable::parse("x\n.toml", "\u{feff}x")).starts_with("x\\n.toml:1:2: "));
    }

    #[test]
    fn sizes_and_depths_are_limited() {
        let long = "x".repeat(MOST_STRING_BYTES);
        table(&format!("a = \"{long}\""));
        let text = message(ConfigTable::parse("x.toml", format!("a = \"x{long}\"")));
        assert!(text.starts_with("x.toml:1:5: found a string of 65537 bytes, expected at most 65536; "), "{text}");
        assert!(message(ConfigTable::parse("x.toml", format!("x{long} = 1"))).contains("a string of 65537 bytes"));
        let deep = message(ConfigTable::parse("x.toml", format!("a = {}", "[".repeat(1 << 19))));
        assert!(deep.starts_with("x.toml:1:69: ") && deep.contains("at most 64 levels"), "{deep}");
        assert!(message(ConfigTable::parse("x.toml", "a.".repeat(1 << 19))).contains("at most 64 levels"));
        let mut deepest = table(&format!("a = {}1{}", "{a = ".repeat(64), "}".repeat(64)));
        for _ in 0..64 {
            deepest = deepest.optional_table("a").expect("a table").expect("there");
        }
        assert_eq!(deepest.required_integer("a", 0..=1).expect("the innermost"), 1);
    }

    /// Asks a table, and the tables in it, for every key in every way.
    fn take_everything(mut table: ConfigTable) {
        let keys = table.keys();
        for key in keys {
            let Some(value) = table.optional_value(&key) else {
                continue;
            };
            let _ = value.place().error("x").to_string();
            let _ = value.clone().into_string();
            let _ = value.clone().into_integer(0..=9);
            let _ = value.clone().into_bool();
            let _ = value.clone().into_integer_lists(0..=9);
            let _ = value.clone().into_choice(&["a"]);
            if let Ok(tables) = value.clone().into_tables() {
                tables.into_iter().for_each(take_everything);
            }
            if let Ok(StringOrTable::Table(sub)) = value.into_string_or_table() {
                take_everything(sub);
            }
        }
        let _ = table.required_string("absent");
        table.finish().expect("everything was taken");
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(table) = ConfigTable::parse("x.toml", bytes) {
                take_everything(table);
            }
        }

        #[test]
        fn random_toml_like_text_never_panics(text in "([a-c]|[\\[\\]{}=.,\"'#\\\\0-9 \n\r_-]|inf|nan|\"\"\"|'''|é){0,60}") {
            if let Ok(table) = ConfigTable::parse("x.toml", text) {
                take_everything(table);
            }
        }
    }
}
