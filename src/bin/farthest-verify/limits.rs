//! How a check ends badly, and what it may use up. Nothing is allocated, and no long loop entered,
//! before it has been asked for here.

use std::cell::Cell;
use std::fmt::Display;

/// Why something is not verified.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The claim is false, or the evidence does not show it; otherwise it cannot be read, or not
    /// within the limits.
    pub refuted: bool,
    /// Place, what was found, what was expected.
    pub text: String,
}

pub type Checked<T> = Result<T, Refusal>;

/// A claim in words, and whether the evidence proves it. What is not proved agrees in all that was
/// looked at.
pub struct Claim {
    pub is_proved: bool,
    pub text: String,
}

impl Claim {
    pub fn proved(text: String) -> Self {
        Self { is_proved: true, text }
    }
}

/// The claim is false or not shown.
pub fn refuted(place: impl Display, found: impl Display, expected: impl Display) -> Refusal {
    Refusal { refuted: true, text: format!("{place}: found {found}, expected {expected}") }
}

/// The evidence cannot be read.
pub fn unreadable(place: impl Display, found: impl Display, expected: impl Display) -> Refusal {
    Refusal { refuted: false, text: format!("{place}: found {found}, expected {expected}") }
}

/// Bytes of memory, and elementary steps: a label moved, a byte hashed, a state looked at. A step
/// takes about a nanosecond.
pub struct Limits {
    pub memory: u64,
    steps: u64,
    spent: Cell<u64>,
}

impl Limits {
    pub fn new(memory: u64, steps: u64) -> Self {
        Self { memory, steps, spent: Cell::new(0) }
    }

    /// Refuses what needs more memory than there may be.
    pub fn memory(&self, place: impl Display, needed: u128) -> Checked<()> {
        if needed <= u128::from(self.memory) {
            return Ok(());
        }
        Err(unreadable(place, format!("a check that needs {needed} bytes of memory"), format!("at most {} (--memory)", self.memory)))
    }

    /// Counts work that is about to be done, and refuses what exceeds the limit.
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

    /// Starts the count of work anew, for the next file.
    pub fn restart(&self) {
        self.spent.set(0);
    }
}

/// A count as 64 bits; lossless on every machine there is.
pub fn wide(count: usize) -> u64 {
    u64::try_from(count).expect("memory has less than 2^64 bytes")
}

/// A number known to be an index of something in memory.
pub fn index(number: u64) -> usize {
    usize::try_from(number).expect("an index of something in memory")
}

/// Bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A count with its noun.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Text of a stranger, fit to be printed: short, without control characters.
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
