//! The records of a certificate. A record is a line of fields, separated by one blank. Comments are
//! allowed from the second line on. The file is read line by line, so the longest line bounds the
//! memory.

use crate::limits::{Checked, Limits, Refusal, index, shown, unreadable};
use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::rc::Rc;

/// Longest line, in bytes.
pub const LONGEST_LINE: u64 = 1 << 20;

/// One line of a file, and its place.
#[derive(Clone)]
pub struct Record {
    file: Rc<str>,
    pub line: u64,
    text: String,
}

/// Reads the lines of a file, one after the other.
pub struct Records {
    file: Rc<str>,
    input: BufReader<File>,
    line: u64,
    next: Option<Record>,
}

/// A path as it is printed: always one line, whatever bytes it has.
pub fn shown_path(path: &Path) -> String {
    path.to_string_lossy()
        .chars()
        .flat_map(|letter| if matches!(letter, '"' | '\'') { vec![letter] } else { letter.escape_debug().collect() })
        .collect()
}

/// The refusal of a file that could not be read.
pub fn io_error(path: &Path, error: &std::io::Error) -> Refusal {
    Refusal { refuted: false, text: format!("{}: cannot be read: {error}", shown_path(path)) }
}

/// Opens a regular file for reading. Refuses a pipe, device or folder without waiting for it. The
/// check is made on the open file, so nobody can exchange it in between.
pub fn open(path: &Path) -> Checked<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of open");
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| io_error(path, &error))?;
    let facts = file.metadata().map_err(|error| io_error(path, &error))?;
    if facts.is_file() { Ok(file) } else { Err(unreadable(shown_path(path), "something that is no regular file", "a file")) }
}

/// Refuses a symbolic link. Evidence must lie within its own folder.
pub fn refuse_link(path: &Path) -> Checked<()> {
    let facts = fs::symlink_metadata(path).map_err(|error| io_error(path, &error))?;
    if facts.is_symlink() { Err(unreadable(shown_path(path), "a symbolic link", "a file or folder in its place")) } else { Ok(()) }
}

impl Records {
    /// Opens a file that is at most as long as the memory limit. What is kept of a line is either
    /// no longer than the line, or checked against the limit separately.
    pub fn open(path: &Path, limits: &Limits) -> Checked<Self> {
        let input = open(path)?;
        let bytes = input.metadata().map_err(|error| io_error(path, &error))?.len();
        limits.memory(shown_path(path), u128::from(bytes))?;
        Ok(Self { file: shown_path(path).into(), input: BufReader::new(input), line: 0, next: None })
    }

    /// The next line, which may be a comment; none at the end of the file.
    pub fn line(&mut self) -> Checked<Option<Record>> {
        let mut bytes = Vec::new();
        let place = format!("{}:{}", self.file, self.line + 1);
        let read = (&mut self.input).take(LONGEST_LINE + 1).read_until(b'\n', &mut bytes);
        read.map_err(|error| Refusal { refuted: false, text: format!("{place}: cannot be read: {error}") })?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        if bytes.pop() != Some(b'\n') {
            let long = bytes.len() >= index(LONGEST_LINE);
            let found = if long { format!("a line of more than {LONGEST_LINE} bytes") } else { "the end of the file within a line".into() };
            return Err(unreadable(place, found, "lines that end in a line feed"));
        }
        let text = String::from_utf8(bytes).map_err(|_| unreadable(&place, "bytes that are no UTF-8", "text"))?;
        Ok(Some(Record { file: Rc::clone(&self.file), line: self.line, text }))
    }

    fn fill(&mut self) -> Checked<()> {
        while self.next.is_none() {
            match self.line()? {
                Some(record) if self.line > 1 && record.text.starts_with('#') => {}
                Some(record) => self.next = Some(record),
                None => break,
            }
        }
        Ok(())
    }

    /// Takes the next record. Refuses it if it has another name.
    pub fn expect(&mut self, name: &str) -> Checked<Record> {
        self.fill()?;
        match self.next.take() {
            Some(record) if record.name() == name => Ok(record),
            Some(record) => Err(record.unreadable(shown(record.name()), format!("the record \"{name}\""))),
            None => Err(unreadable(format!("{}:{}", self.file, self.line + 1), "the end of the file", format!("the record \"{name}\""))),
        }
    }

    /// Whether the next record has this name.
    pub fn is_next(&mut self, name: &str) -> Checked<bool> {
        self.fill()?;
        Ok(self.next.as_ref().is_some_and(|record| record.name() == name))
    }

    /// Takes the record `end`. Refuses a file that goes on after it.
    pub fn end(&mut self) -> Checked<()> {
        self.expect("end")?.fields::<0>("end")?;
        match self.line()? {
            None => Ok(()),
            Some(record) => Err(record.unreadable(shown(&record.text), "nothing behind \"end\"")),
        }
    }
}

impl Record {
    pub fn place(&self) -> String {
        self.at_line(self.line)
    }

    /// The place of another line of the same file.
    pub fn at_line(&self, line: u64) -> String {
        format!("{}:{line}", self.file)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    fn name(&self) -> &str {
        self.text.split(' ').next().unwrap_or_default()
    }

    pub fn unreadable(&self, found: impl std::fmt::Display, expected: impl std::fmt::Display) -> Refusal {
        unreadable(self.place(), found, expected)
    }

    /// The fields that follow the record's name.
    pub fn rest(&self) -> impl Iterator<Item = &str> {
        self.text.split(' ').skip(1)
    }

    /// Splits the record into exactly `N` fields. `grammar` shows what the record should look like.
    pub fn fields<const N: usize>(&self, grammar: &str) -> Checked<[&str; N]> {
        let fields: Vec<&str> = self.rest().take(N + 1).collect();
        fields.try_into().map_err(|_| self.unreadable(shown(&self.text), format!("\"{grammar}\"")))
    }

    /// Splits the record into exactly `N` decimal numbers.
    pub fn numbers<const N: usize>(&self, grammar: &str) -> Checked<[u64; N]> {
        let fields = self.fields::<N>(grammar)?;
        let mut numbers = [0; N];
        for (number, field) in numbers.iter_mut().zip(fields) {
            *number = self.number(field)?;
        }
        Ok(numbers)
    }

    /// A decimal number below 2^64, without leading zeros.
    pub fn number(&self, field: &str) -> Checked<u64> {
        let plain = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit()) && (field == "0" || !field.starts_with('0'));
        field.parse().ok().filter(|_| plain).ok_or_else(|| self.unreadable(shown(field), "a decimal number below 2^64"))
    }

    /// Takes exactly `count` labels or places from `fields`, each from 1 to `largest`.
    pub fn labels<'a>(&self, mut fields: impl Iterator<Item = &'a str>, count: usize, largest: u16) -> Checked<Vec<u16>> {
        let mut labels = Vec::with_capacity(count);
        for field in fields.by_ref().take(count) {
            let number = self.number(field)?;
            let label = u16::try_from(number).ok().filter(|label| (1..=largest).contains(label));
            labels.push(label.ok_or_else(|| self.unreadable(number, format!("numbers from 1 to {largest}")))?);
        }
        if labels.len() < count || fields.next().is_some() {
            let found = if labels.len() < count { format!("{} numbers", labels.len()) } else { format!("more than {count} numbers") };
            return Err(self.unreadable(found, format!("{count} numbers")));
        }
        Ok(labels)
    }
}
