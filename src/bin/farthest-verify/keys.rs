//! A table of a configuration. A check takes the keys one by one, and refuses those that are left
//! at the end: a key that no check reads could say anything.

use crate::limits::{Checked, shown, unreadable};
use toml::{Table, Value};

/// A table. `place` is its file and its path of keys, for messages.
pub struct Keys {
    place: String,
    table: Table,
}

impl Keys {
    pub fn new(place: String, table: Table) -> Self {
        Self { place, table }
    }

    /// The file, the path of this table, and the key, for messages.
    pub fn place(&self, key: &str) -> String {
        format!("{}: {key}", self.place)
    }

    pub fn take(&mut self, key: &str) -> Option<Value> {
        self.table.remove(key)
    }

    pub fn required(&mut self, key: &str) -> Checked<Value> {
        self.take(key).ok_or_else(|| unreadable(&self.place, "no such key", format!("the key {key}")))
    }

    /// Takes a whole number from `least` to `most`; none when the key is not there.
    pub fn integer(&mut self, key: &str, least: u64, most: u64) -> Checked<Option<u64>> {
        let place = self.place(key);
        self.take(key).map(|value| integer(&place, &value, least, most)).transpose()
    }

    pub fn required_integer(&mut self, key: &str, least: u64, most: u64) -> Checked<u64> {
        let value = self.required(key)?;
        integer(&self.place(key), &value, least, most)
    }

    pub fn boolean(&mut self, key: &str) -> Checked<Option<bool>> {
        let place = self.place(key);
        self.take(key).map(|value| value.as_bool().ok_or_else(|| unreadable(place, kind(&value), "true or false"))).transpose()
    }

    pub fn string(&mut self, key: &str) -> Checked<Option<String>> {
        let place = self.place(key);
        let text = |value: Value| value.as_str().map(str::to_owned).ok_or_else(|| unreadable(place, kind(&value), "a string"));
        self.take(key).map(text).transpose()
    }

    pub fn required_string(&mut self, key: &str) -> Checked<String> {
        self.string(key)?.ok_or_else(|| unreadable(&self.place, "no such key", format!("the key {key}")))
    }

    /// Takes a string that must be one of `choices`; none when the key is not there.
    pub fn choice(&mut self, key: &str, choices: &[&str]) -> Checked<Option<String>> {
        let place = self.place(key);
        match self.string(key)? {
            Some(word) if !choices.contains(&word.as_str()) => Err(unreadable(place, shown(&word), choices.join(", "))),
            other => Ok(other),
        }
    }

    /// Takes a table below this one; none when the key is not there.
    pub fn table(&mut self, key: &str) -> Checked<Option<Self>> {
        let place = self.place(key);
        match self.take(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(Self { place, table })),
            Some(other) => Err(unreadable(place, kind(&other), "a table")),
        }
    }

    /// Takes a list of tables below this one; empty when the key is not there.
    pub fn tables(&mut self, key: &str) -> Checked<Vec<Self>> {
        let place = self.place(key);
        let rows = match self.take(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(rows)) => rows,
            Some(other) => return Err(unreadable(place, kind(&other), "a list of tables")),
        };
        let table = |(row, number): (Value, usize)| match row {
            Value::Table(table) => Ok(Self { place: format!("{place}[{number}]"), table }),
            other => Err(unreadable(format!("{place}[{number}]"), kind(&other), "a table")),
        };
        rows.into_iter().zip(0..).map(table).collect()
    }

    /// Takes a list of whole numbers below `end`; none when the key is not there.
    pub fn integers(&mut self, key: &str, end: usize) -> Checked<Option<Vec<u16>>> {
        let place = self.place(key);
        self.take(key).map(|value| integers(&place, &value, end)).transpose()
    }

    /// Refuses the table when a key was not taken.
    pub fn finish(self) -> Checked<()> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(key) => Err(unreadable(self.place, format!("the key {}", shown(key)), "keys of this puzzle, each once")),
        }
    }
}

fn integer(place: &str, value: &Value, least: u64, most: u64) -> Checked<u64> {
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok()).filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| unreadable(place, kind(value), format!("a whole number from {least} to {most}")))
}

/// Reads a list of whole numbers below `end`.
pub fn integers(place: &str, value: &Value, end: usize) -> Checked<Vec<u16>> {
    let list = value.as_array().ok_or_else(|| unreadable(place, kind(value), "a list of whole numbers"))?;
    let most = u64::try_from(end).unwrap_or(u64::MAX).saturating_sub(1);
    list.iter().map(|value| integer(place, value, 0, most).and_then(|number| narrow(place, number))).collect()
}

fn narrow(place: &str, number: u64) -> Checked<u16> {
    u16::try_from(number).map_err(|_| unreadable(place, number, "a number below 65,536"))
}

/// What a value is, in a few words, for messages.
fn kind(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::String(text) => shown(text),
        Value::Float(number) => number.to_string(),
        Value::Datetime(_) => "a date".into(),
        Value::Array(_) => "a list".into(),
        Value::Table(_) => "a table".into(),
    }
}
