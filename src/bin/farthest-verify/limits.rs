//! How a check fails, and how much memory and work it may use. A check asks here before it
//! allocates anything large or enters a long loop.

use std::cell::Cell;
use std::fmt::Display;

/// Why a claim is not verified.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// True when the claim is false, or the evidence does not show it. False when the evidence
    /// cannot be read, or the check would exceed the limits.
    pub refuted: bool,
    /// The place, what was found there, and what was expected.
    pub text: String,
}

pub type Checked<T> = Result<T, Refusal>;

/// A claim in words, and whether the evidence proves it. A claim that is not proved still agrees
/// with all that was looked at.
pub struct Claim {
    pub is_proved: bool,
    pub text: String,
}

impl Claim {
    pub fn proved(text: String) -> Self {
        Self { is_proved: true, text }
    }
}

/// A refusal because the claim is false, or the evidence does not show it.
pub fn refuted(place: impl Display, found: impl Display, expected: impl Display) -> Refusal {
    Refusal { refuted: true, text: format!("{place}: found {found}, expected {expected}") }
}

/// A refusal because the evidence cannot be read.
pub fn unreadable(place: impl Display, found: impl Display, expected: impl Display) -> Refusal {
    Refusal { refuted: false, text: format!("{place}: found {found}, expected {expected}") }
}

/// What a check may use: bytes of memory, and elementary steps of work. A step is a label moved, a
/// byte hashed or a state looked at, and takes about a nanosecond.
pub struct Limits {
    pub memory: u64,
    steps: u64,
    spent: Cell<u64>,
}

impl Limits {
    pub fn new(memory: u64, steps: u64) -> Self {
        Self { memory, steps, spent: Cell::new(0) }
    }

    /// Refuses a check that needs more bytes of memory than the limit.
    pub fn memory(&self, place: impl Display, needed: u128) -> Checked<()> {
        if needed <= u128::from(self.memory) {
            return Ok(());
        }
        Err(unreadable(place, format!("a check that needs {needed} bytes of memory"), format!("at most {} (--memory)", self.memory)))
    }

    /// Counts steps of work that are about to be done. Refuses when the sum since the last restart
    /// exceeds the limit.
    pub fn steps(&self, place: impl Display, needed: u128) -> Checked<()> {
        let sum = u128::from(self.spent.get()) + needed;
        match u64::try_from(sum) {
            Ok(sum) if sum <= self.steps => {
                self.spent.set(sum);
                Ok(())
            }
            _ => Err(unreadable(place, format!("a check that needs {sum} steps of work"), format!("at most {} (--steps)", self.steps))),
        }
    }

    /// Counts work from 0 again, for the next file.
    pub fn restart(&self) {
        self.spent.set(0);
    }
}

/// A count as 64 bits. It fits on every machine that exists.
pub fn wide(count: usize) -> u64 {
    u64::try_from(count).expect("memory has less than 2^64 bytes")
}

/// A number as an index. It must be one of something in memory.
pub fn index(number: u64) -> usize {
    usize::try_from(number).expect("an index of something in memory")
}

/// Bytes as lower-case hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A count with its noun, in the plural where needed: "1 state", "2 states".
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Quotes text from a file so that it is safe to print: at most 60 characters of it, and no control
/// characters.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let start: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() { format!("\"{start}\"...") } else { format!("\"{start}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_adds_up_and_memory_does_not() {
        let limits = Limits::new(100, 10);
        assert!(limits.steps("here", 6).is_ok() && limits.steps("here", 4).is_ok());
        let refusal = limits.steps("here", 1).expect_err("eleven steps");
        assert!(!refusal.refuted);
        assert_eq!(refusal.text, "here: found a check that needs 11 steps of work, expected at most 10 (--steps)");
        assert!(limits.steps("here", u128::MAX / 2).is_err());
        limits.restart();
        assert!(limits.steps("here", 10).is_ok() && limits.steps("here", 1).is_err());
        assert!((0..3).all(|_| limits.memory("here", 100).is_ok()) && limits.memory("here", 101).is_err());
    }

    #[test]
    fn what_is_shown_is_short_and_has_no_control_characters() {
        assert_eq!(shown("a\u{1b}[2J\n\u{202e}"), "\"a\\u{1b}[2J\\n\\u{202e}\"");
        assert_eq!(shown(&"x".repeat(60)), format!("\"{}\"", "x".repeat(60)));
        assert_eq!(shown(&"x".repeat(61)), format!("\"{}\"...", "x".repeat(60)));
    }
}
