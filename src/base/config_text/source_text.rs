//! A configuration file's text, read within limits, with places in it for messages.
//!
//! Limits: a file has at most [`MOST_FILE_BYTES`] (checked before it is read whole) and nests at
//! most [`MOST_NESTING`] deep. Nesting is bounded by a scan of the brackets and dots before the
//! text is parsed, because the parser's own limits (80 brackets, 80 parts a key) allow 80 x 80
//! nested tables together, and dropping those overflowed a stack of 1 MB. A byte-order mark is
//! skipped and CRLF is a line end. Lines and columns count from 1, columns in characters.

use crate::base::ids::to_u64;
use crate::base::regular_file::{self, What};
use crate::base::shown::{shown_path, shown_text};
use crate::base::{Error, Result};
use std::fmt::Display;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Most bytes of a configuration file.
pub const MOST_FILE_BYTES: u64 = 1 << 20;

/// Deepest nesting of tables and lists.
pub const MOST_NESTING: usize = 64;

/// Most bytes of one string or key.
pub const MOST_STRING_BYTES: usize = 64 << 10;

/// With what some editors begin a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file's name as shown to people, and its text without byte-order mark.
#[derive(Debug)]
pub(super) struct SourceText {
    name: String,
    text: String,
}

impl SourceText {
    /// Reads a regular file; folders, pipes and devices are refused before they can block.
    pub(super) fn read(path: &Path) -> Result<Arc<Self>> {
        let name = shown_path(path);
        let refuse = |found: &str, cure: &str| Err(Error::config(format!("{name}: found {found}, expected a configuration file; {cure}")));
        let io_error = |source| Error::io("read", path, source);
        let file = match regular_file::look(path).map_err(io_error)? {
            (What::File, file) => file,
            (What::Folder, _) => return refuse("a folder", "name a file in it"),
            (What::Other, _) => return refuse("a pipe, socket or device", "save the text in a regular file and name that"),
        };
        let length = file.metadata().map_err(io_error)?.len();
        if length > MOST_FILE_BYTES {
            return Err(too_large(&name, length));
        }
        let mut bytes = Vec::new();
        file.take(MOST_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(io_error)?;
        Self::from_bytes(name, bytes)
    }

    /// The text of `bytes`, checked to be of moderate size, UTF-8 without NUL and not too deeply
    /// nested.
    pub(super) fn from_bytes(name: String, mut bytes: Vec<u8>) -> Result<Arc<Self>> {
        if to_u64(bytes.len()) > MOST_FILE_BYTES {
            return Err(too_large(&name, to_u64(bytes.len())));
        }
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        let cure = "save the file as plain UTF-8 text";
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            let (line, column) = line_and_column(bytes, valid);
            Error::config(format!("{name}:{line}:{column}: found the byte 0x{:02x}, expected UTF-8 text; {cure}", bytes[valid]))
        })?;
        let source = Arc::new(Self { name, text });
        let place = |offset| Place { source: Arc::clone(&source), offset, field: String::new() };
        // The parser would skip a second one.
        if source.text.as_bytes().starts_with(BYTE_ORDER_MARK) {
            return Err(place(0).refuse("a second byte-order mark", "one at most", cure));
        }
        if let Some(offset) = source.text.find('\0') {
            return Err(place(offset).refuse("a NUL byte", "text", cure));
        }
        if let Some(offset) = too_deep(source.text.as_bytes()) {
            return Err(place(offset).refuse(
                "tables or lists in one another without end",
                format!("at most {MOST_NESTING} levels"),
                "delete the surplus brackets or dots",
            ));
        }
        Ok(source)
    }

    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// Where a value stands: the file, the place in its text and the field's path, such as
/// `generators[2].images`.
#[derive(Clone, Debug)]
pub struct Place {
    pub(super) source: Arc<SourceText>,
    pub(super) offset: usize,
    pub(super) field: String,
}

impl Place {
    /// The error of a value that is not what it should be:
    /// `file:line:column: field: found ..., expected ...; cure`.
    #[must_use]
    pub fn refuse(&self, found: impl Display, expected: impl Display, cure: impl Display) -> Error {
        self.error(format!("found {found}, expected {expected}; {cure}"))
    }

    /// An error at this place in other words: `file:line:column: field: message`.
    #[must_use]
    pub fn error(&self, message: impl Display) -> Error {
        let (line, column) = line_and_column(self.source.text.as_bytes(), self.offset);
        let colon = if self.field.is_empty() { "" } else { ": " };
        Error::config(format!("{}:{line}:{column}: {}{colon}{message}", self.source.name, self.field))
    }

    /// Line number, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        line_and_column(self.source.text.as_bytes(), self.offset).0
    }

    /// The file's name, as messages show it.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.source.name
    }

    /// The place of a byte within the string that starts here, exact when the string is written on
    /// one line without escapes.
    #[must_use]
    pub fn inside_string(&self, string: &str, byte: usize) -> Self {
        let first = self.offset + 1;
        let written = self.source.text.get(first..).is_some_and(|text| text.starts_with(string));
        Self { offset: if written { first + byte } else { self.offset }, ..self.clone() }
    }

    /// The place of a part of this value.
    pub(super) fn part(&self, offset: usize, name: impl Display) -> Self {
        Self { source: Arc::clone(&self.source), offset, field: format!("{}{name}", self.field) }
    }

    /// The place of this table's key.
    pub(super) fn key(&self, offset: usize, key: &str) -> Self {
        let dot = if self.field.is_empty() { "" } else { "." };
        self.part(offset, format!("{dot}{}", shown_text(key)))
    }
}

fn too_large(name: &str, bytes: u64) -> Error {
    Error::config(format!("{name}: found {bytes} bytes, expected at most {MOST_FILE_BYTES}; check that it is the right file"))
}

/// Line and column, both from 1, of a byte: the column counts characters, not bytes.
fn line_and_column(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset.min(bytes.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let column = before[line_start..].iter().filter(|&&byte| byte & 0xc0 != 0x80).count() + 1;
    (line, column)
}

/// The first byte at which the text nests deeper than [`MOST_NESTING`], counting open brackets and
/// the dots of table headers and of keys on the way; strings and comments are skipped. An upper
/// bound: a float's point counts as a dot until its end.
fn too_deep(text: &[u8]) -> Option<usize> {
    let mut header = 0; // levels of the last [table] or [[list of tables]] header
    let mut open: Vec<usize> = Vec::new(); // for each open bracket its level and those of the key before it
    let mut open_levels = 0; // their sum
    let mut dots = 0; // of the key being read
    let mut statement_starts = true;
    let mut in_header = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let started = statement_starts;
        statement_starts &= matches!(byte, b' ' | b'\t' | b'\r');
        let mut length = 1;
        match byte {
            b'#' => length = text[at..].iter().position(|&byte| byte == b'\n').unwrap_or(text.len() - at),
            b'"' | b'\'' => length = string_length(&text[at..]),
            b'[' | b'{' => {
                if started {
                    in_header = true;
                    header = 0;
                }
                open.push(dots + 1);
                open_levels += dots + 1;
                dots = 0;
            }
            b']' | b'}' => {
                if in_header {
                    header = header.max(open_levels + dots);
                }
                open_levels -= open.pop().unwrap_or(0);
                dots = 0;
            }
            b'.' => dots += 1,
            b',' => dots = 0,
            b'\n' if open.is_empty() => {
                statement_starts = true;
                in_header = false;
                dots = 0;
            }
            _ => {}
        }
        let outside = if in_header { 0 } else { header };
        if outside + open_levels + dots > MOST_NESTING {
            return Some(at);
        }
        at += length;
    }
    None
}

/// Bytes of the string that starts `text` with its quotation mark; one that is never closed ends
/// with its line or the text.
fn string_length(text: &[u8]) -> usize {
    let quote = text[0];
    let escapes = quote == b'"';
    let triple = text.starts_with(&[quote; 3]);
    let mut at = if triple { 3 } else { 1 };
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' if escapes => at += 2,
            b'\n' if !triple => return at,
            _ if byte == quote && !triple => return at + 1,
            _ if byte == quote && text[at..].starts_with(&[quote; 3]) => {
                // Up to two more quotation marks belong to the string's end.
                return at + text[at..].iter().take(5).take_while(|&&byte| byte == quote).count();
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(bytes: &[u8]) -> Result<Arc<SourceText>> {
        SourceText::from_bytes("x.toml".into(), bytes.to_vec())
    }

    fn message(bytes: &[u8]) -> String {
        source(bytes).expect_err("refused").to_string()
    }

    #[test]
    fn columns_count_characters_and_lines_end_with_lf_or_crlf() {
        let text = "a = 1\r\nb = \"äö\" x".as_bytes();
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 7), (2, 1));
        assert_eq!(line_and_column(text, text.len() - 1), (2, 10));
        assert_eq!(line_and_column(text, 1 << 40), (2, 11));
    }

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_place() {
        let text = message(b"size = 4\nname = \"\xc3\xa4\xff\"\n");
        assert_eq!(text, "x.toml:2:10: found the byte 0xff, expected UTF-8 text; save the file as plain UTF-8 text");
        assert!(message(b"size\0 = 4").starts_with("x.toml:1:5: found a NUL byte"));
        assert_eq!(source(b"\xef\xbb\xbfsize = 4").expect("a mark").text(), "size = 4");
    }

    #[test]
    fn nesting_counts_brackets_headers_and_dotted_keys() {
        let brackets = |count: usize| format!("a = {}{}", "[".repeat(count), "]".repeat(count));
        let dotted = |count: usize| format!("{}a = 1", "a.".repeat(count));
        let header = |count: usize| format!("[{}a]\nb = [1]", "a.".repeat(count));
        let inline = |count: usize| format!("z = {}1{}", "{a.a = ".repeat(count), "}".repeat(count));
        let cases: [(&dyn Fn(usize) -> String, usize); 4] = [(&brackets, 64), (&dotted, 64), (&header, 62), (&inline, 32)];
        for (text, most) in cases {
            assert_eq!(too_deep(text(most).as_bytes()), None, "{}", text(most));
            assert!(too_deep(text(most + 1).as_bytes()).is_some(), "{}", text(most + 1));
        }
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_nest() {
        let many = "[".repeat(200);
        for text in [
            format!("# {many}\na = 1"),
            format!("a = \"{many}\""),
            format!("a = '{many}'"),
            format!("a = \"\\\"{many}\""),
            format!("a = \"\"\"\n\"{many}\"\"\"\"\"\nb = [[1]]"),
            format!("a = '''\n'{many}'''\nb = [[1]]"),
        ] {
            assert_eq!(too_deep(text.as_bytes()), None, "{text}");
        }
        assert!(too_deep(format!("a = \"x\"\nb = {many}").as_bytes()).is_some());
        assert_eq!(too_deep("[a.b]\nc = 1.5\n".repeat(100).as_bytes()), None);
    }

    #[test]
    fn only_regular_files_of_a_moderate_size_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let read = |path: &Path| SourceText::read(path).expect_err("refused").to_string();
        assert!(read(folder.path()).contains("found a folder"));
        assert!(read(Path::new("/dev/zero")).contains("found a pipe, socket or device"));
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).expect("a pipe");
        assert!(read(&fifo).contains("found a pipe, socket or device"));
        let large = folder.path().join("large\n.toml");
        std::fs::File::create(&large).expect("a file").set_len(1 << 30).expect("sparse");
        let text = read(&large);
        assert!(text.contains("large\\n.toml: found 1073741824 bytes, expected at most 1048576; "), "{text}");
        assert_eq!(SourceText::read(Path::new("no/such/file")).expect_err("missing").exit_code(), 74);
        assert!(SourceText::read(Path::new("Cargo.toml")).is_ok());
    }

    #[test]
    fn long_text_is_cut_in_messages() {
        assert_eq!(shown_text("a\nb"), "a\\nb");
        assert_eq!(shown_text(&"x".repeat(70)), "x".repeat(60) + "...");
    }
}
