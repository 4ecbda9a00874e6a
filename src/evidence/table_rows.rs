//! The tables of a run folder, read row by row: a heading, then rows of cells separated by tabs,
//! each ended by a line feed. The memory needed is that of one row.

use crate::base::config_text::shown_text;
use crate::base::ids::to_u64;
use crate::base::{Error, Result, regular_file};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest row, in bytes.
const LONGEST_ROW: u64 = 1 << 16;

/// The rows of a table that are still to come.
#[derive(Debug)]
pub struct TableRows {
    path: PathBuf,
    lines: BufReader<File>,
    line: u64,
}

/// A row, without its line feed.
#[derive(Debug)]
pub struct Row<'a> {
    table: &'a TableRows,
    /// Its text.
    pub text: String,
}

impl TableRows {
    /// Opens the table `name` of a run folder, which must have this heading.
    ///
    /// # Errors
    /// `Io` when it cannot be read, `BadData` when it has another heading or is no regular file.
    pub fn open(folder: &Path, name: &str, heading: &str) -> Result<Self> {
        let path = folder.join(name);
        let lines = BufReader::new(regular_file::open(&path)?);
        let mut rows = Self { path, lines, line: 0 };
        let first = rows.next_row()?.map(|row| row.text);
        match first {
            Some(first) if first == heading => Ok(rows),
            other => Err(rows.damaged(&format!("\"{}\"", shown_text(&other.unwrap_or_default())), "the heading")),
        }
    }

    /// The next row.
    ///
    /// # Errors
    /// `Io` when it cannot be read, `BadData` when it is too long, no UTF-8, or not ended.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>> {
        let mut bytes = Vec::new();
        let read = (&mut self.lines).take(LONGEST_ROW).read_until(b'\n', &mut bytes);
        read.map_err(|source| Error::io("read", &self.path, source))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        if bytes.pop() != Some(b'\n') {
            let whole = to_u64(bytes.len()) + 1 < LONGEST_ROW;
            let found = if whole { "a row without an end" } else { "a row of more than 65536 bytes" };
            return Err(self.damaged(found, "rows that end in a line feed"));
        }
        let text = String::from_utf8(bytes).map_err(|_| self.damaged("bytes that are no UTF-8", "text"))?;
        Ok(Some(Row { table: self, text }))
    }

    fn damaged(&self, found: &str, expected: &str) -> Error {
        let cure = "restore it, or run again with --resume never --force";
        Error::bad_data(&self.path, format!("{found} in line {}", self.line.max(1)), expected, cure)
    }
}

impl Row<'_> {
    /// The cells, when they are so many.
    #[must_use]
    pub fn cells<const N: usize>(&self) -> Option<[&str; N]> {
        self.text.split('\t').collect::<Vec<_>>().try_into().ok()
    }

    /// The error of a row that is not what it should be.
    #[must_use]
    pub fn damaged(&self, expected: &str) -> Error {
        self.table.damaged(&format!("\"{}\"", shown_text(&self.text)), expected)
    }
}

/// A number as this program writes it: digits without sign or leading zeros.
#[must_use]
pub fn number(cell: &str) -> Option<u64> {
    cell.parse().ok().filter(|number: &u64| number.to_string() == cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &[u8]) -> Result<Vec<String>> {
        let folder = tempfile::tempdir().expect("temporary folder");
        std::fs::write(folder.path().join("t.tsv"), text).expect("written");
        let mut table = TableRows::open(folder.path(), "t.tsv", "a\tb")?;
        let mut rows = Vec::new();
        while let Some(row) = table.next_row()? {
            rows.push(row.text);
        }
        Ok(rows)
    }

    #[test]
    fn rows_come_back_and_broken_ones_are_named() {
        assert_eq!(rows(b"a\tb\n1\t2\n\n3\n").expect("whole"), ["1\t2", "", "3"]);
        assert!(rows(b"a\tb\n").expect("whole").is_empty());
        for (text, part) in [
            (b"".as_slice(), "found \"\" in line 1, expected the heading"),
            (b"a\tb\r\n", "found \"a\\tb\\r\" in line 1, expected the heading"),
            (b"a b\n", "expected the heading"),
            (b"a\tb\n1", "a row without an end in line 2"),
            (b"a\tb\n\xff\n", "no UTF-8 in line 2"),
            (&[b"a\tb\n".as_slice(), &[b'x'; 70_000], b"\n"].concat(), "more than 65536 bytes in line 2"),
        ] {
            let error = rows(text).expect_err("broken").to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn numbers_have_one_form() {
        assert_eq!(["0", "18446744073709551615"].map(number), [Some(0), Some(u64::MAX)]);
        for other in ["", "+1", "-1", "01", "1 ", "18446744073709551616", "x"] {
            assert_eq!(number(other), None, "{other:?}");
        }
    }
}
