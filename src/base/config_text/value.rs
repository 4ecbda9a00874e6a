//! One value of a configuration file with its place, turned into the type the caller wants.
//!
//! Every `into_...` either gives that type or the error that names the place, what was found, what
//! is expected and the cure.

use super::source_text::{MOST_STRING_BYTES, Place};
use super::{ConfigTable, nearest};
use crate::base::Result;
use crate::base::shown::shown_text;
use std::ops::RangeInclusive;
use toml::de::{DeTable, DeValue};

/// A value and the byte where it starts.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) offset: usize,
    pub(super) content: Content,
}

/// A key of a table: its name, the byte where it starts, and its value.
pub(super) type Pair = (String, usize, Node);

/// What a value is. Numbers are kept as far as we can use them.
#[derive(Clone, Debug)]
pub(super) enum Content {
    String(String),
    /// `None`: not even 128 bits hold it.
    Integer(Option<i128>),
    Float(String),
    Boolean(bool),
    Datetime(String),
    List(Vec<Node>),
    Table(Vec<Pair>),
}

/// A value of any type. Obtained from a [`ConfigTable`].
#[derive(Clone, Debug)]
pub struct ConfigValue {
    pub(super) place: Place,
    pub(super) content: Content,
}

/// What may stand for something that has a name or is written out: `puzzle = "turnstyle-12"` or a
/// `[puzzle]` table.
#[derive(Clone, Debug)]
pub enum StringOrTable {
    /// A name.
    String(String),
    /// Written out.
    Table(ConfigTable),
}

/// A list of integers, each with its place.
#[derive(Clone, Debug)]
pub struct Integers {
    values: Vec<u64>,
    place: Place,
    offsets: Vec<usize>,
}

impl ConfigValue {
    /// Where the value stands.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The string.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_string(self) -> Result<String> {
        match self.content {
            Content::String(string) => Ok(string),
            _ => Err(self.refuse("a string", "put it in quotation marks")),
        }
    }

    /// The string, one of `choices`.
    ///
    /// # Errors
    /// When it is something else; the nearest choice is named.
    pub fn into_choice(self, choices: &[&str]) -> Result<String> {
        let place = self.place.clone();
        let string = self.into_string()?;
        if choices.contains(&string.as_str()) {
            return Ok(string);
        }
        let cure = match nearest(&string, choices.iter().copied()) {
            Some(choice) => format!("did you mean \"{choice}\"?"),
            None => "choose one of them".into(),
        };
        Err(place.refuse(format!("\"{}\"", shown_text(&string)), one_of(choices.iter().copied()), cure))
    }

    /// The integer, which must lie in `range`.
    ///
    /// # Errors
    /// When it is out of range, a floating-point number (even a whole one), or something else.
    pub fn into_integer(self, range: RangeInclusive<u64>) -> Result<u64> {
        if let Content::Integer(Some(integer)) = self.content
            && let Ok(integer) = u64::try_from(integer)
            && range.contains(&integer)
        {
            return Ok(integer);
        }
        let cure = match &self.content {
            Content::Integer(_) => "change the number".into(),
            Content::Float(text) => match text.split_once('.') {
                Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => {
                    format!("write {} without a decimal point", shown_text(whole))
                }
                _ => "write a whole number".into(),
            },
            Content::String(text) if text.parse::<u64>().is_ok() => "remove the quotation marks".into(),
            _ => "write a whole number".to_owned(),
        };
        Err(self.refuse(&integer_in(&range), &cure))
    }

    /// The truth value.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_bool(self) -> Result<bool> {
        match self.content {
            Content::Boolean(value) => Ok(value),
            _ => Err(self.refuse("true or false", "write true or false without quotation marks")),
        }
    }

    /// The items of the list.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_list(self) -> Result<Vec<Self>> {
        let Content::List(nodes) = self.content else {
            return Err(self.refuse("a list", "put it in square brackets: [ ]"));
        };
        let item =
            |(index, node): (usize, Node)| Self { place: self.place.part(node.offset, format_args!("[{index}]")), content: node.content };
        Ok(nodes.into_iter().enumerate().map(item).collect())
    }

    /// The list of integers, which must all lie in `range`.
    ///
    /// # Errors
    /// When it is no list, or an item is no such integer.
    pub fn into_integers(self, range: RangeInclusive<u64>) -> Result<Integers> {
        let place = self.place.clone();
        let items = self.into_list()?;
        let offsets = items.iter().map(|item| item.place.offset).collect();
        let values = items.into_iter().map(|item| item.into_integer(range.clone())).collect::<Result<_>>()?;
        Ok(Integers { values, place, offsets })
    }

    /// The list of lists of integers, which must all lie in `range`.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_integer_lists(self, range: RangeInclusive<u64>) -> Result<Vec<Integers>> {
        self.into_list()?.into_iter().map(|item| item.into_integers(range.clone())).collect()
    }

    /// The list of strings, each with its place.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_strings(self) -> Result<Vec<(String, Place)>> {
        let string = |item: Self| {
            let place = item.place.clone();
            Ok((item.into_string()?, place))
        };
        self.into_list()?.into_iter().map(string).collect()
    }

    /// The table.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_table(self) -> Result<ConfigTable> {
        match self.content {
            Content::Table(pairs) => Ok(ConfigTable::new(self.place, pairs)),
            _ => {
                let cure = format!("write a [{}] header with the keys below it", self.place.field);
                Err(self.refuse("a table", &cure))
            }
        }
    }

    /// The list of tables.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_tables(self) -> Result<Vec<ConfigTable>> {
        if let Content::Table(_) = self.content {
            let cure = format!("write the header as [[{}]]", self.place.field);
            return Err(self.refuse("a list of tables", &cure));
        }
        self.into_list()?.into_iter().map(Self::into_table).collect()
    }

    /// The string or the table.
    ///
    /// # Errors
    /// When it is something else.
    pub fn into_string_or_table(self) -> Result<StringOrTable> {
        match self.content {
            Content::String(string) => Ok(StringOrTable::String(string)),
            Content::Table(_) => self.into_table().map(StringOrTable::Table),
            _ => Err(self.refuse("a string or a table", "write a name in quotation marks")),
        }
    }

    fn refuse(&self, expected: &str, cure: &str) -> crate::base::Error {
        self.place.refuse(self.content.describe(), expected, cure)
    }
}

impl Content {
    /// What was found, for messages.
    fn describe(&self) -> String {
        match self {
            Self::String(text) => format!("the string \"{}\"", shown_text(text)),
            Self::Integer(Some(integer)) => format!("{integer}"),
            Self::Integer(None) => "an integer that 128 bits do not hold".into(),
            Self::Float(text) => format!("the floating-point number {}", shown_text(text)),
            Self::Boolean(value) => format!("{value}"),
            Self::Datetime(text) => format!("the date or time {text}"),
            Self::List(items) => format!("a list of {} items", items.len()),
            Self::Table(_) => "a table".into(),
        }
    }
}

impl Integers {
    /// The integers.
    #[must_use]
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// Where the list stands.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Where an item stands.
    ///
    /// # Panics
    /// When there is no such item.
    #[must_use]
    pub fn place_of(&self, index: usize) -> Place {
        self.place.part(self.offsets[index], format_args!("[{index}]"))
    }
}

/// `an integer from 4 to 20`.
pub(super) fn integer_in(range: &RangeInclusive<u64>) -> String {
    let (first, last) = (range.start(), range.end());
    match (*last, first == last) {
        (_, true) => format!("the integer {first}"),
        (u64::MAX, _) => format!("an integer of at least {first}"),
        _ => format!("an integer from {first} to {last}"),
    }
}

/// `one of a, b, c`.
pub(super) fn one_of<'a>(choices: impl Iterator<Item = &'a str>) -> String {
    format!("one of {}", choices.collect::<Vec<_>>().join(", "))
}

/// Our own form of a parsed table; the text's nesting has been bounded, so that recursion is safe.
pub(super) fn pairs(table: DeTable<'_>, place: &Place) -> Result<Vec<Pair>> {
    let pair = |(key, value): (toml::Spanned<std::borrow::Cow<'_, str>>, toml::Spanned<DeValue<'_>>)| {
        let key_offset = key.span().start;
        let key = moderate(key.into_inner().into_owned(), place, key_offset)?;
        Ok((key, key_offset, node(value, place)?))
    };
    table.into_iter().map(pair).collect()
}

fn node(value: toml::Spanned<DeValue<'_>>, place: &Place) -> Result<Node> {
    let offset = value.span().start;
    let content = match value.into_inner() {
        DeValue::String(string) => Content::String(moderate(string.into_owned(), place, offset)?),
        DeValue::Integer(integer) => Content::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).ok()),
        DeValue::Float(float) => Content::Float(float.as_str().to_owned()),
        DeValue::Boolean(value) => Content::Boolean(value),
        DeValue::Datetime(datetime) => Content::Datetime(datetime.to_string()),
        DeValue::Array(items) => Content::List(items.into_iter().map(|item| node(item, place)).collect::<Result<_>>()?),
        DeValue::Table(table) => Content::Table(pairs(table, place)?),
    };
    Ok(Node { offset, content })
}

/// The string, unless it is too long.
fn moderate(string: String, place: &Place, offset: usize) -> Result<String> {
    if string.len() <= MOST_STRING_BYTES {
        return Ok(string);
    }
    Err(place.part(offset, "").refuse(format!("a string of {} bytes", string.len()), format!("at most {MOST_STRING_BYTES}"), "shorten it"))
}
