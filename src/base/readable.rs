//! Numbers in the words of people.

use super::ids::{approximate, rounded_down};
use std::time::Duration;

/// A number of things: `1 state`, `2 states`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    let plural = match noun.strip_suffix("ss") {
        Some(_) => format!("{noun}es"),
        None => format!("{noun}s"),
    };
    format!("{count} {}", if count == 1 { noun } else { &plural })
}

/// Seconds in words: two units at most, as more are never known.
#[must_use]
pub fn span(seconds: f64) -> String {
    const MOST_YEARS: f64 = 1_000.0;
    const YEAR: f64 = 31_557_600.0;
    if seconds < 1.0 {
        return format!("{seconds:.2}s");
    }
    if seconds > MOST_YEARS * YEAR {
        return "more than a thousand years".into();
    }
    let text = humantime::format_duration(Duration::from_secs(rounded_down(seconds))).to_string();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// A number of bytes in decimal units, three digits.
#[must_use]
pub fn readable_bytes(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = approximate(bytes);
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// Percent of all states, to two decimals; 100 only when none is missing.
#[must_use]
pub fn percent(found: u64, all: u64) -> f64 {
    if found >= all {
        return 100.0;
    }
    let hundredths = u128::from(found) * 10_000 / u128::from(all);
    approximate(u64::try_from(hundredths).unwrap_or(0)) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([counted(1, "state"), counted(0, "state"), counted(2, "antipode")], ["1 state", "0 states", "2 antipodes"]);
        assert_eq!([counted(1, "process"), counted(3, "process")], ["1 process", "3 processes"]);
    }

    #[test]
    fn spans_have_two_units_and_an_end() {
        for (seconds, text) in
            [(0.25, "0.25s"), (3.0, "3s"), (3_725.0, "1h 2m"), (1e9, "31years 8months"), (1.8e12, "more than a thousand years")]
        {
            assert_eq!(span(seconds), text);
        }
    }

    #[test]
    fn all_but_one_are_not_all() {
        assert_eq!(percent(3_628_799, 3_628_800).to_bits(), 99.99_f64.to_bits());
        assert_eq!(percent(3_628_800, 3_628_800).to_bits(), 100.0_f64.to_bits());
        assert_eq!(percent(u64::MAX - 1, u64::MAX).to_bits(), 99.99_f64.to_bits());
        assert_eq!((percent(0, 7).to_bits(), percent(0, 0).to_bits()), (0.0_f64.to_bits(), 100.0_f64.to_bits()));
    }
}
