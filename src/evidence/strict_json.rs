//! JSON files of a run folder, read strictly: a key that is not known, or comes twice, is an error
//! and not something to pass over.
//!
//! Two readers of one file must not see two things. So the text is read twice: as plain JSON, in
//! which keys may not repeat, and as the value wanted; a key of the first that the second does not
//! have when it is written again is unknown.

use crate::base::config_text::shown_text;
use crate::base::{Error, Result, regular_file};
use serde::de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};
use std::fmt;
use std::path::Path;

/// Most bytes of such a file. A manifest of 1,000 levels has a third of a megabyte; as values they
/// take up to 16 times the memory.
const MOST_BYTES: u64 = 16 << 20;

/// Longest message of the parser that is passed on, in characters.
const LONGEST_MESSAGE: usize = 200;

/// Reads the file `name` of a run folder, which is `what`.
///
/// # Errors
/// `Io` when it cannot be read, `BadData` when it is something else.
pub fn read<T: DeserializeOwned + Serialize>(folder: &Path, name: &str, what: &str) -> Result<T> {
    let path = folder.join(name);
    let text = regular_file::read_text(&path, MOST_BYTES)?;
    parse(&text).map_err(|found| Error::bad_data(&path, found, what, "restore it, or run again with --resume never --force"))
}

/// The value of a text, or what is wrong with it in words.
fn parse<T: DeserializeOwned + Serialize>(text: &str) -> std::result::Result<T, String> {
    // Messages of the parser may quote the text.
    let message =
        |error: serde_json::Error| error.to_string().chars().take(LONGEST_MESSAGE).flat_map(char::escape_debug).collect::<String>();
    let Unrepeated(found) = serde_json::from_str(text).map_err(message)?;
    let value: T = serde_json::from_str(text).map_err(message)?;
    let known = serde_json::to_value(&value).map_err(message)?;
    match unknown_key(&found, &known) {
        Some(key) => Err(format!("the unknown key \"{}\"", shown_text(key))),
        None => Ok(value),
    }
}

/// The first key that `found` has and `known` has not, at any depth.
fn unknown_key<'a>(found: &'a Value, known: &Value) -> Option<&'a str> {
    match (found, known) {
        (Value::Object(found), Value::Object(known)) => found.iter().find_map(|(key, value)| match known.get(key) {
            Some(known) => unknown_key(value, known),
            None => Some(key.as_str()),
        }),
        (Value::Array(found), Value::Array(known)) => found.iter().zip(known).find_map(|(found, known)| unknown_key(found, known)),
        _ => None,
    }
}

/// JSON without repeated keys.
struct Unrepeated(Value);

impl<'de> Deserialize<'de> for Unrepeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(UnrepeatedVisitor).map(Self)
    }
}

struct UnrepeatedVisitor;

impl<'de> Visitor<'de> for UnrepeatedVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> std::result::Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unrepeated(value)) = sequence.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key `{}` a second time", shown_text(&key))));
            }
            let Unrepeated(value) = entries.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Inner {
        number: u32,
        #[serde(default)]
        later: u32,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Outer {
        text: Option<String>,
        #[serde(flatten)]
        inner: Inner,
        free: BTreeMap<String, String>,
        list: Vec<Inner>,
    }

    const GOOD: &str = r#"{"text": null, "number": 1, "free": {"any": "x"}, "list": [{"number": 2, "later": 3}]}"#;

    #[test]
    fn what_was_written_comes_back() {
        let value: Outer = parse(GOOD).expect("whole");
        assert_eq!((value.inner.number, value.inner.later, value.list[0].later), (1, 0, 3));
        let again = serde_json::to_string(&value).expect("plain");
        assert_eq!(parse::<Outer>(&again).expect("whole"), value);
    }

    #[test]
    fn unknown_and_repeated_keys_are_refused_at_any_depth() {
        for (from, to, part) in [
            ("\"number\": 1", "\"number\": 1, \"more\": 2", "unknown key \"more\""),
            ("\"later\": 3", "\"later\": 3, \"more\": []", "unknown key \"more\""),
            ("\"number\": 1", "\"number\": 1, \"number\": 1", "the key `number` a second time"),
            ("\"any\": \"x\"", "\"any\": \"x\", \"any\": \"x\"", "the key `any` a second time"),
            ("\"later\": 3", "\"later\": 3, \"lat\\u0065r\": 3", "the key `later` a second time"),
            ("\"number\": 1", "\"mo\\u001bre\": 2, \"number\": 1", "unknown key \"mo\\u{1b}re\""),
            ("\"number\": 1", "\"number\": -1", "invalid value"),
            ("}]}", "}]} x", "trailing characters"),
            ("}]}", "}]", "EOF"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD);
            let found = parse::<Outer>(&text).expect_err(&text);
            assert!(found.contains(part), "{found}");
        }
        let deep = parse::<Outer>(&"[".repeat(100_000)).expect_err("deep");
        assert!(deep.contains("recursion limit"), "{deep}");
    }
}
