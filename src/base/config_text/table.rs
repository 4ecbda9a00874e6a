//! A table whose keys are taken one after the other; see the module above for the pattern.

use super::source_text::{Place, SourceText};
use super::value::{self, ConfigValue, Integers, Node, Pair, StringOrTable, integer_in, one_of};
use super::{nearest, syntax_error};
use crate::base::shown::shown_path;
use crate::base::{Error, Result};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

/// A table of a configuration file, or the file itself, whose keys are taken one after the other.
#[derive(Clone, Debug)]
pub struct ConfigTable {
    place: Place,
    entries: BTreeMap<String, Entry>,
    /// The keys that were asked for, present or not.
    known: Vec<String>,
}

/// A key of the table; the value is gone once it was taken.
#[derive(Clone, Debug)]
struct Entry {
    key_offset: usize,
    value_offset: usize,
    node: Option<Node>,
}

impl ConfigTable {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is no regular file, is too large, or is no TOML.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_source(SourceText::read(path)?)
    }

    /// Reads text; messages call it `file_name`.
    ///
    /// # Errors
    /// When it is too large or no TOML.
    pub fn parse(file_name: &str, text: impl Into<Vec<u8>>) -> Result<Self> {
        Self::from_source(SourceText::from_bytes(shown_path(Path::new(file_name)), text.into())?)
    }

    fn from_source(source: Arc<SourceText>) -> Result<Self> {
        let place = Place { source: Arc::clone(&source), offset: 0, field: String::new() };
        let table = toml::de::DeTable::parse(source.text()).map_err(|error| syntax_error(&place, &error))?;
        Ok(Self::new(place.clone(), value::pairs(table.into_inner(), &place)?))
    }

    pub(super) fn new(place: Place, pairs: Vec<Pair>) -> Self {
        let entry = |(key, key_offset, node): Pair| (key, Entry { key_offset, value_offset: node.offset, node: Some(node) });
        Self { place, entries: pairs.into_iter().map(entry).collect(), known: Vec::new() }
    }

    /// Where the table stands.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Where the key's value stands, taken or not; where the table stands when there is no such
    /// key.
    #[must_use]
    pub fn place_of(&self, key: &str) -> Place {
        self.place.key(self.entries.get(key).map_or(self.place.offset, |entry| entry.value_offset), key)
    }

    /// Whether the key is there and was not taken.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.node.is_some())
    }

    /// The keys that are there and were not taken, ascending.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        self.entries.keys().filter(|key| self.contains(key)).cloned().collect()
    }

    /// Takes a value of any type.
    #[must_use]
    pub fn optional_value(&mut self, key: &str) -> Option<ConfigValue> {
        if !self.known.iter().any(|known| known == key) {
            self.known.push(key.to_owned());
        }
        let place = self.place_of(key);
        let node = self.entries.get_mut(key)?.node.take()?;
        Some(ConfigValue { place, content: node.content })
    }

    /// Takes a value that must be there; `expected` and `example` go into the message.
    ///
    /// # Errors
    /// When it is not.
    pub fn required_value(&mut self, key: &str, expected: &str, example: &str) -> Result<ConfigValue> {
        self.optional_value(key).ok_or_else(|| self.missing(key, expected, example))
    }

    /// Takes a string.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_string(&mut self, key: &str) -> Result<Option<String>> {
        self.optional_value(key).map(ConfigValue::into_string).transpose()
    }

    /// Takes a string that must be there.
    ///
    /// # Errors
    /// When it is not, or is something else.
    pub fn required_string(&mut self, key: &str) -> Result<String> {
        self.required_value(key, "a string", "\"...\"")?.into_string()
    }

    /// Takes one of `choices`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_choice(&mut self, key: &str, choices: &[&str]) -> Result<Option<String>> {
        self.optional_value(key).map(|value| value.into_choice(choices)).transpose()
    }

    /// Takes one of `choices` that must be there.
    ///
    /// # Errors
    /// When it is not, or is something else.
    pub fn required_choice(&mut self, key: &str, choices: &[&str]) -> Result<String> {
        let example = format!("\"{}\"", choices.first().copied().unwrap_or_default());
        self.required_value(key, &one_of(choices.iter().copied()), &example)?.into_choice(choices)
    }

    /// Takes an integer in `range`.
    ///
    /// # Errors
    /// When it is out of range or something else.
    pub fn optional_integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<Option<u64>> {
        self.optional_value(key).map(|value| value.into_integer(range)).transpose()
    }

    /// Takes an integer in `range` that must be there.
    ///
    /// # Errors
    /// When it is not, is out of range, or something else.
    pub fn required_integer(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<u64> {
        let example = range.start().to_string();
        self.required_value(key, &integer_in(&range), &example)?.into_integer(range)
    }

    /// Takes a truth value.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_bool(&mut self, key: &str) -> Result<Option<bool>> {
        self.optional_value(key).map(ConfigValue::into_bool).transpose()
    }

    /// Takes a list of integers in `range`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_integers(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<Option<Integers>> {
        self.optional_value(key).map(|value| value.into_integers(range)).transpose()
    }

    /// Takes a list of lists of integers in `range`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_integer_lists(&mut self, key: &str, range: RangeInclusive<u64>) -> Result<Option<Vec<Integers>>> {
        self.optional_value(key).map(|value| value.into_integer_lists(range)).transpose()
    }

    /// Takes a table; the caller finishes it.
    ///
    /// # Errors
    /// When it is something else.
    pub fn optional_table(&mut self, key: &str) -> Result<Option<Self>> {
        self.optional_value(key).map(ConfigValue::into_table).transpose()
    }

    /// Takes a list of tables, `[[key]]`; the caller finishes each. None when the key is absent.
    ///
    /// # Errors
    /// When it is something else.
    pub fn tables(&mut self, key: &str) -> Result<Vec<Self>> {
        Ok(self.optional_value(key).map(ConfigValue::into_tables).transpose()?.unwrap_or_default())
    }

    /// Takes a name or the thing written out.
    ///
    /// # Errors
    /// When it is neither a string nor a table.
    pub fn optional_string_or_table(&mut self, key: &str) -> Result<Option<StringOrTable>> {
        self.optional_value(key).map(ConfigValue::into_string_or_table).transpose()
    }

    /// Says that the table has no more keys than those asked for.
    ///
    /// # Errors
    /// The first key, in the file's order, that nobody asked for; the nearest known key is named.
    pub fn finish(self) -> Result<()> {
        let unknown = self.entries.iter().filter(|(_, entry)| entry.node.is_some());
        let Some((key, entry)) = unknown.min_by_key(|(_, entry)| entry.key_offset) else {
            return Ok(());
        };
        // A known key that is absent is the likelier one to be meant.
        let absent = self.known.iter().filter(|known| !self.entries.contains_key(*known));
        let candidates = absent.chain(&self.known).map(String::as_str);
        let cure = match nearest(key, candidates) {
            Some(known) => format!("did you mean \"{known}\"?"),
            None => "delete it".into(),
        };
        let mut known: Vec<&str> = self.known.iter().map(String::as_str).collect();
        known.sort_unstable();
        let expected = if known.is_empty() { "no keys here".into() } else { one_of(known.into_iter()) };
        Err(self.place.key(entry.key_offset, key).refuse("an unknown key", expected, cure))
    }

    /// The error of a key that must be there; when a key of nearly this name is, that may be the
    /// cure.
    fn missing(&self, key: &str, expected: &str, example: &str) -> Error {
        let others = self.entries.iter().filter(|(_, entry)| entry.node.is_some());
        let cure = match nearest(key, others.map(|(other, _)| other.as_str())) {
            Some(other) => format!("did you write \"{other}\" for \"{key}\"?"),
            None => format!("add a line such as {key} = {example}"),
        };
        self.place_of(key).refuse("no such key", expected, cure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn values_come_with_their_type() {
        let text = "name = \"a\"\nsize = 0x1_0\nfast = true\nlist = [1, 2]\nlists = [[1], []]\n[sub]\nx = 1\n[[rows]]\n[[rows]]\n";
        let mut table = table(text);
        assert_eq!(table.required_string("name").expect("a string"), "a");
        assert_eq!(table.required_integer("size", 4..=20).expect("an integer"), 16);
        assert_eq!(table.optional_bool("fast").expect("a bool"), Some(true));
        let list = table.optional_integers("list", 0..=5).expect("a list").expect("there");
        assert_eq!(list.values(), [1, 2]);
        assert!(list.place_of(1).error("x").to_string().starts_with("x.toml:4:12: list[1]: x"));
        let lists = table.optional_integer_lists("lists", 0..=5).expect("lists").expect("there");
        assert_eq!(lists.iter().map(|list| list.values().len()).collect::<Vec<_>>(), [1, 0]);
        let mut sub = table.optional_table("sub").expect("a table").expect("there");
        assert_eq!(sub.optional_integer("x", 0..=9).expect("an integer"), Some(1));
        sub.finish().expect("nothing left");
        assert_eq!(table.tables("rows").expect("tables").len(), 2);
        assert_eq!(table.tables("columns").expect("absent").len(), 0);
        assert_eq!(table.optional_string("absent").expect("absent"), None);
        assert_eq!(table.place_of("size").line(), 2);
        table.finish().expect("nothing left");
    }

    #[test]
    fn a_name_or_a_table() {
        let text = "a = \"turnstyle-12\"\nb = { size = 4 }\nc = 1";
        let mut table = table(text);
        assert!(matches!(table.optional_string_or_table("a"), Ok(Some(StringOrTable::String(_)))));
        assert!(matches!(table.optional_string_or_table("b"), Ok(Some(StringOrTable::Table(_)))));
        let text = message(table.optional_string_or_table("c"));
        assert_eq!(text, "x.toml:3:5: c: found 1, expected a string or a table; write a name in quotation marks");
    }

    #[test]
    fn wrong_integers_say_what_to_write() {
        for (value, found, cure) in [
            ("-3", "found -3", "change the number"),
            ("21", "found 21", "change the number"),
            ("99999999999999999999", "found 99999999999999999999", "change the number"),
            (&"9".repeat(60), "found an integer that 128 bits", "change the number"),
            ("0x", "found an integer that 128 bits", "change the number"),
            ("12.0", "found the floating-point number 12.0", "write 12 without a decimal point"),
            ("1.5", "found the floating-point number 1.5", "write a whole number"),
            ("nan", "found the floating-point number nan", "write a whole number"),
            ("-inf", "found the floating-point number -inf", "write a whole number"),
            ("\"12\"", "found the string \"12\"", "remove the quotation marks"),
            ("1979-05-27", "found the date or time 1979-05-27", "write a whole number"),
            ("[1]", "found a list of 1 items", "write a whole number"),
            ("{}", "found a table", "write a whole number"),
        ] {
            let text = message(table(&format!("size = {value}")).required_integer("size", 4..=20));
            assert!(text.starts_with("x.toml:1:8: size: found "), "{text}");
            assert!(text.contains(found) && text.ends_with(cure), "{text}");
            assert!(text.contains("expected an integer from 4 to 20; "), "{text}");
        }
    }

    #[test]
    fn missing_and_unknown_keys_name_the_nearest() {
        let mut plain = table("\n[search]\n").optional_table("search").expect("a table").expect("there");
        assert_eq!(
            message(plain.required_integer("shards", 1..=9)),
            "x.toml:2:1: search.shards: found no such key, expected an integer from 1 to 9; add a line such as shards = 1"
        );
        assert!(message(table("Size = 4").required_string("size")).ends_with("did you write \"Size\" for \"size\"?"));
        let mut close = table("metric = \"step\"\nzzz = 1\nmetrik = \"turn\"");
        let _ = close.optional_string("metric");
        let _ = close.optional_string("family");
        assert_eq!(message(close.clone().finish()), "x.toml:2:1: zzz: found an unknown key, expected one of family, metric; delete it");
        let _ = close.optional_value("zzz");
        assert!(message(close.finish()).ends_with("did you mean \"metric\"?"));
        assert!(message(table("a = 1").finish()).contains("expected no keys here; delete it"));
    }

    #[test]
    fn choices_name_the_nearest() {
        let text = message(table("family = \"turnstile\"").required_choice("family", &["turnstyle", "planes"]));
        assert_eq!(text, "x.toml:1:10: family: found \"turnstile\", expected one of turnstyle, planes; did you mean \"turnstyle\"?");
    }
}
