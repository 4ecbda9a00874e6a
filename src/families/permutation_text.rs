//! Permutations as configurations write them: a list of images, or cycles.
//!
//! `images[i]` is the position whose piece comes to position `i` (passive, as everywhere in this
//! crate). In cycles the pieces move along: `(0 1 2)` takes the piece at 0 to 1, that at 1 to 2 and
//! that at 2 to 0, so `images[1] = 0`. Positions count from 0, or from 1 with `base = 1`.

use crate::base::Result;
use crate::base::config_text::{ConfigTable, Integers, Place};
use crate::base::ids::{to_u64, to_usize};
use crate::puzzle::Permutation;
use std::ops::RangeInclusive;

/// Positions of a configuration: how many, and the number of the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::families) struct Positions {
    /// How many.
    pub count: usize,
    /// 0 or 1.
    pub base: u64,
}

impl Positions {
    /// Positions that count from 0.
    pub fn from_0(count: usize) -> Self {
        Self { count, base: 0 }
    }

    /// Takes the key `base`.
    pub fn read(table: &mut ConfigTable, count: usize) -> Result<Self> {
        Ok(Self { count, base: table.optional_integer("base", 0..=1)?.unwrap_or(0) })
    }

    /// Their numbers.
    fn numbers(self) -> RangeInclusive<u64> {
        self.base..=to_u64(self.count) - 1 + self.base
    }
}

/// Takes the permutation that the list `list_key` or the string `cycles` gives, if one does.
pub(in crate::families) fn optional_permutation(
    table: &mut ConfigTable,
    list_key: &str,
    positions: Positions,
) -> Result<Option<Permutation>> {
    let list = table.optional_integers(list_key, positions.numbers())?;
    let text = table.optional_string("cycles")?;
    match (list, text) {
        (Some(_), Some(_)) => {
            Err(table.place_of("cycles").refuse(format!("both {list_key} and cycles"), "one of them", "delete the other one"))
        }
        (Some(list), None) => from_images(&list, positions).map(Some),
        (None, Some(text)) => from_cycles(&text, &table.place_of("cycles"), positions).map(Some),
        (None, None) => Ok(None),
    }
}

/// The permutation with these images.
pub(in crate::families) fn from_images(list: &Integers, positions: Positions) -> Result<Permutation> {
    let Positions { count, base } = positions;
    let values = list.values();
    if values.len() != count {
        return Err(list.place().refuse(
            format!("a list of {} positions", values.len()),
            format!("{count}, one for each position"),
            "add or delete some",
        ));
    }
    let images = values.iter().map(|&value| u8::try_from(value - base).expect("the range was checked")).collect();
    Permutation::new(images).map_err(|(index, value)| {
        let missing = positions.numbers().find(|position| !values.contains(position)).unwrap_or_default();
        list.place_of(index).refuse(
            format!("{} a second time", u64::from(value) + base),
            format!("each of {base} to {} once", positions.numbers().end()),
            format!("{missing} is missing: put it in the place of one {value}"),
        )
    })
}

/// The permutation with these cycles; positions in none stay.
fn from_cycles(text: &str, place: &Place, positions: Positions) -> Result<Permutation> {
    let Positions { count, base } = positions;
    let at = |byte: usize| place.inside_string(text, byte);
    let example = "write cycles such as \"(0 1 2)(3 4)\"";
    let mut images: Vec<u8> = Permutation::identity(count).images().to_vec();
    let mut used = vec![false; count];
    let mut cycle: Option<Vec<u8>> = None;
    let mut byte = 0;
    while let Some(symbol) = text[byte..].chars().next() {
        let mut length = symbol.len_utf8();
        match (symbol, &mut cycle) {
            (' ' | ',' | '\t' | '\n' | '\r', _) => {}
            ('(', None) => cycle = Some(Vec::new()),
            (')', Some(members)) if !members.is_empty() => {
                for (index, &from) in members.iter().enumerate() {
                    images[usize::from(members[(index + 1) % members.len()])] = from;
                }
                cycle = None;
            }
            ('0'..='9', Some(members)) => {
                let digits = text[byte..].bytes().take_while(u8::is_ascii_digit).count();
                length = digits;
                let digits = &text[byte..byte + digits];
                let number = digits.parse::<u64>().ok().filter(|number| positions.numbers().contains(number));
                let Some(number) = number else {
                    let cure =
                        if base == 0 { "positions count from 0, or from 1 with base = 1" } else { "with base = 1 positions count from 1" };
                    return Err(at(byte).refuse(
                        crate::base::config_text::shown_text(digits),
                        format!("a position from {base} to {}", positions.numbers().end()),
                        cure,
                    ));
                };
                let position = to_usize(number - base);
                if std::mem::replace(&mut used[position], true) {
                    let cure = "delete one of the two";
                    return Err(at(byte).refuse(format!("{number} a second time"), "each position at most once", cure));
                }
                members.push(u8::try_from(position).expect("positions are below 256"));
            }
            (other, _) => {
                let expected = if cycle.is_some() { "a position or, after one, \")\"" } else { "\"(\" or the end" };
                return Err(at(byte).refuse(format!("{:?}", other), expected, example));
            }
        }
        byte += length;
    }
    if cycle.is_some() {
        return Err(at(byte).refuse("the end of the string", "\")\"", "close the last cycle"));
    }
    Ok(Permutation::new(images).expect("disjoint cycles are a permutation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, positions: usize) -> Result<Option<Permutation>> {
        optional_permutation(&mut ConfigTable::parse("x.toml", line).expect("TOML"), "images", Positions::from_0(positions))
    }

    fn images(line: &str, positions: usize) -> Vec<u8> {
        read(line, positions).expect("valid").expect("there").images().to_vec()
    }

    fn message(line: &str) -> String {
        read(line, 5).expect_err("refused").to_string()
    }

    #[test]
    fn cycles_and_images_agree() {
        assert_eq!(images("cycles = \"(0 1 2)(3 4)\"", 5), [2, 0, 1, 4, 3]);
        assert_eq!(images("images = [2, 0, 1, 4, 3]", 5), [2, 0, 1, 4, 3]);
        assert_eq!(images("cycles = \" (2,0,1) , (4 3) \"", 5), [2, 0, 1, 4, 3]);
        assert_eq!(images("cycles = \"\"\"\n(2 0 1)\n(4 3)(5)\"\"\"", 6), [2, 0, 1, 4, 3, 5]);
        assert_eq!(images("cycles = \"\"", 3), [0, 1, 2]);
        assert_eq!(read("", 3).expect("absent"), None);
    }

    #[test]
    fn positions_may_count_from_1() {
        let read = |line: &str| {
            let mut table = ConfigTable::parse("x.toml", line).expect("TOML");
            let positions = Positions::read(&mut table, 5)?;
            optional_permutation(&mut table, "images", positions)
        };
        for line in ["base = 1\ncycles = \"(1 2 3)(4 5)\"", "base = 1\nimages = [3, 1, 2, 5, 4]", "base = 0\ncycles = \"(0 1 2)(3 4)\""] {
            assert_eq!(read(line).expect("valid").expect("there").images(), [2, 0, 1, 4, 3]);
        }
        for (line, part) in [
            ("base = 1\ncycles = \"(0 1)\"", "x.toml:2:12: cycles: found 0, expected a position from 1 to 5; with base = 1"),
            ("base = 1\nimages = [1, 2, 3, 4, 6]", "x.toml:2:23: images[4]: found 6, expected an integer from 1 to 5; "),
            (
                "base = 1\nimages = [1, 2, 2, 4, 5]",
                "x.toml:2:17: images[2]: found 2 a second time, expected each of 1 to 5 once; 3 is missing",
            ),
            ("base = 2\ncycles = \"\"", "x.toml:1:8: base: found 2, expected "),
        ] {
            let text = read(line).expect_err("refused").to_string();
            assert!(text.starts_with(part), "{text}");
        }
    }

    #[test]
    fn the_offending_position_is_named_at_its_column() {
        assert_eq!(
            message("images = [0, 1, 3, 3, 4]"),
            "x.toml:1:20: images[3]: found 3 a second time, expected each of 0 to 4 once; 2 is missing: put it in the place of one 3"
        );
        assert_eq!(
            message("images = [0, 1, 2, 3]"),
            "x.toml:1:10: images: found a list of 4 positions, expected 5, one for each position; add or delete some"
        );
        assert!(message("images = [0, 1, 2, 3, 5]").starts_with("x.toml:1:23: images[4]: found 5, expected an integer from 0 to 4; "));
        for (cycles, part) in [
            ("(0 1)(2 5)", "x.toml:1:19: cycles: found 5, expected a position from 0 to 4; "),
            ("(0 1)(1 2)", "x.toml:1:17: cycles: found 1 a second time, "),
            ("(0 1", "x.toml:1:15: cycles: found the end of the string, expected \")\"; "),
            ("0 1", "x.toml:1:11: cycles: found '0', expected \"(\" or the end; "),
            ("(0 (1", "x.toml:1:14: cycles: found '(', expected a position"),
            ("()", "x.toml:1:12: cycles: found ')', expected a position"),
            ("(0 é)", "x.toml:1:14: cycles: found 'é', "),
            ("(0 99999999999999999999999)", "x.toml:1:14: cycles: found 99999999999999999999999, "),
            ("(-1 0)", "x.toml:1:12: cycles: found '-', "),
        ] {
            let text = message(&format!("cycles = \"{cycles}\""));
            assert!(text.starts_with(part), "{text}");
        }
        assert!(message("images = [0, 1, 2, 3, 4]\ncycles = \"(0 1)\"").contains("both images and cycles"));
    }
}
