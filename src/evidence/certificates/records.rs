//! Records, one a line, in the forms that several kinds of certificates have.

use super::{Labels, Word};
use std::fmt::{self, Write as _};

/// Longest line that holds a part of a word, in bytes (one longer name stands alone).
pub(super) const WORD_LINE_BYTES: usize = 120;

/// Records, one a line.
#[derive(Debug, Default)]
pub struct Records(String);

impl Records {
    /// The lines.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }

    /// A name and what follows it.
    pub fn record(&mut self, name: &str, content: impl fmt::Display) {
        writeln!(self.0, "{name} {content}").expect("writing to a string");
    }

    /// Two states: where a word starts and ends.
    pub fn ends(&mut self, from: &Labels, to: &Labels) {
        self.record("from", joined(from));
        self.record("to", joined(to));
    }

    /// The length, and the word in lines of [`WORD_LINE_BYTES`].
    pub fn word(&mut self, word: &Word) {
        self.record("length", word.len());
        let mut line = String::from("word");
        for name in word {
            if line.len() > 4 && line.len() + 1 + name.len() > WORD_LINE_BYTES {
                self.0.push_str(&line);
                self.0.push('\n');
                line = "word".into();
            }
            line.push(' ');
            line.push_str(name);
        }
        self.0.push_str(&line);
        self.0.push('\n');
    }
}

/// Values with a blank between them.
pub(super) fn joined(values: &[impl fmt::Display]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
