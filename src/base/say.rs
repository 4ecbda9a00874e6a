//! A line on standard error that may get lost: whoever reads it may be gone, and that is no reason
//! to end a search, nor to panic in the middle of an ending.

use super::shown::shown_line;
use std::io::Write;

/// Says a line, with what could break it or change a terminal escaped.
pub fn say(line: &str) {
    // In one piece, so that lines of several processes do not mix.
    let _ = std::io::stderr().write_all(format!("{}\n", shown_line(line)).as_bytes());
}
