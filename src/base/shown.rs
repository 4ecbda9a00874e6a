//! Text from files and command lines as people get to see it.
//!
//! A name, a host, a path or a message of another process may hold anything: a line end would print
//! a second line that looks like ours, an escape sequence would colour or erase what stands there,
//! and marks of writing direction would reorder it. So whatever was not written by this program
//! passes through here before it is shown.

use std::fmt;
use std::path::Path;

/// Characters that are no control characters and yet change how the text around them is shown:
/// marks without width, of direction, and separators of lines.
const UNSEEN: [std::ops::RangeInclusive<char>; 9] = [
    '\u{ad}'..='\u{ad}',
    '\u{61c}'..='\u{61c}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff9}'..='\u{fffb}',
    '\u{e0000}'..='\u{e007f}',
];

/// Longest text that is shown whole by [`shown_text`].
const LONGEST: usize = 60;

/// Whether the character shows itself and nothing else.
#[must_use]
pub fn is_plain(letter: char) -> bool {
    !letter.is_control() && !UNSEEN.iter().any(|range| range.contains(&letter))
}

/// The text on one line: characters that are not plain are escaped.
#[must_use]
pub fn shown_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_plain(letter) { line.push(letter) } else { line.extend(letter.escape_default()) }
    }
    line
}

/// JSON for a terminal: JSON itself escapes only some of the control characters, and only in
/// strings there are others than line ends.
#[must_use]
pub fn shown_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter == '\n' || is_plain(letter) {
            shown.push(letter);
        } else {
            let mut units = [0; 2];
            shown.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    shown
}

/// A path on one line; bytes that are no text are replaced.
#[must_use]
pub fn shown_path(path: &Path) -> String {
    shown_line(&path.to_string_lossy())
}

/// A piece of a file between quotation marks: those are escaped, too, and it is cut when it is
/// long.
#[must_use]
pub fn shown_text(text: &str) -> String {
    let escape = |letter: char| if is_plain(letter) { letter.escape_debug().to_string() } else { letter.escape_default().to_string() };
    let shown: String = text.chars().take(LONGEST).map(escape).collect();
    if text.chars().nth(LONGEST).is_some() { shown + "..." } else { shown }
}

/// Shows what it holds on one line, in a format string: `{}` of `Shown(path)`.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a>(pub &'a Path);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&shown_path(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn lines_stay_lines_and_terminals_stay_as_they_are() {
        assert_eq!(shown_line("a\nb\r\u{1b}[31mc\u{9b}\u{7f}\0"), "a\\nb\\r\\u{1b}[31mc\\u{9b}\\u{7f}\\u{0}");
        assert_eq!(shown_line("a\u{202e}b\u{2028}c\u{200b}\u{feff}"), "a\\u{202e}b\\u{2028}c\\u{200b}\\u{feff}");
        let plain = "läuft \"so\" \\ 'e\u{301}' 置換 🎲";
        assert_eq!(shown_line(plain), plain);
    }

    #[test]
    fn json_stays_what_it_says() {
        let text = "a\n\r\u{1b}\u{9b}\u{202e}\u{e0001}ü\"";
        let shown = shown_json(&serde_json::to_string_pretty(&[text]).expect("text"));
        assert!(
            shown.chars().all(|letter| letter == '\n' || is_plain(letter)) && shown.contains("\\u009b\\u202e\\udb40\\udc01ü"),
            "{shown}"
        );
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).expect("JSON"), [text]);
    }

    #[test]
    fn paths_are_shown_whatever_their_bytes() {
        assert_eq!(shown_path(Path::new(OsStr::from_bytes(b"a\xff\nb"))), "a\u{fffd}\\nb");
        assert_eq!(format!("{}: x", Shown(Path::new("a\u{1b}b"))), "a\\u{1b}b: x");
    }

    #[test]
    fn quoted_text_is_escaped_and_cut() {
        assert_eq!(shown_text("a\"b\n\u{202e}"), "a\\\"b\\n\\u{202e}");
        assert_eq!(shown_text(&"x".repeat(61)), "x".repeat(60) + "...");
    }
}
