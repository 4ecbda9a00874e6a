//! Certificates with something changed in their text.

use crate::common::disturb::Dice;
use farthest::base::ids::{to_u64, to_usize};
use std::collections::BTreeSet;

/// A number below `limit`.
pub fn below(dice: &mut Dice, limit: usize) -> usize {
    to_usize(dice.below(to_u64(limit)))
}

/// One of them.
pub fn one_of<'a, T>(dice: &mut Dice, all: &'a [T]) -> &'a T {
    &all[below(dice, all.len())]
}

/// Changes a certificate, given others to take records from.
type Change = fn(&mut Dice, &str, &[String]) -> String;

/// Ways to change a text, by name.
pub const CHANGES: [(&str, Change); 19] = [
    ("a digit", a_digit),
    ("a number", a_number),
    ("a number by one", a_number_by_one),
    ("a move of the word", a_move),
    ("a move left out or doubled", a_move_more_or_less),
    ("two moves exchanged", two_moves),
    ("two labels exchanged", two_labels),
    ("two fields exchanged", two_fields),
    ("a field for another", a_field_for_another),
    ("a line left out", |dice, text, _| with_lines(dice, text, |_, lines, at| drop(lines.remove(at)))),
    ("a line twice", |dice, text, _| with_lines(dice, text, |_, lines, at| lines.insert(at, lines[at].clone()))),
    ("two lines exchanged", |dice, text, _| {
        with_lines(dice, text, |dice, lines, at| {
            let other = below(dice, lines.len());
            lines.swap(at, other);
        })
    }),
    ("a letter inserted", a_letter_inserted),
    ("a letter left out", a_letter_left_out),
    ("a comment", |dice, text, _| with_lines(dice, text, |_, lines, at| lines.insert(at, "# a remark".into()))),
    ("a word in two records", a_word_cut),
    ("cut at a line", |dice, text, _| with_lines(dice, text, |_, lines, at| lines.truncate(at))),
    ("a record of another certificate", a_record_of_another),
    ("two changes", |dice, text, others| {
        let changed = other_than_two(dice, text, others);
        other_than_two(dice, &changed, others)
    }),
];

/// One of the changes before "two changes"; a text that an earlier change has left too short stays
/// as it is.
fn other_than_two(dice: &mut Dice, text: &str, others: &[String]) -> String {
    if text.lines().count() < 2 {
        return text.to_owned();
    }
    CHANGES[below(dice, CHANGES.len() - 1)].1(dice, text, others)
}

/// A place in a text before a letter.
fn place_in(dice: &mut Dice, text: &str) -> usize {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    *one_of(dice, &places)
}

fn with_lines(dice: &mut Dice, text: &str, change: impl FnOnce(&mut Dice, &mut Vec<String>, usize)) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if !lines.is_empty() {
        let at = below(dice, lines.len());
        change(dice, &mut lines, at);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Changes the fields after the name in one of the lines with such a name.
fn with_fields(dice: &mut Dice, text: &str, names: &[&str], change: impl FnOnce(&mut Dice, &mut Vec<String>)) -> String {
    let mut lines: Vec<Vec<String>> = text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    let is_meant = |line: &Vec<String>| line.len() > 1 && (names.is_empty() || names.contains(&line[0].as_str()));
    let meant: Vec<usize> = (0..lines.len()).filter(|&at| is_meant(&lines[at])).collect();
    if !meant.is_empty() {
        let line = &mut lines[*one_of(dice, &meant)];
        let mut fields = line.split_off(1);
        change(dice, &mut fields);
        line.append(&mut fields);
    }
    lines.iter().map(|line| line.join(" ") + "\n").collect()
}

fn two_fields_of(dice: &mut Dice, fields: &mut [String]) {
    let (one, other) = (below(dice, fields.len()), below(dice, fields.len()));
    fields.swap(one, other);
}

fn a_digit(dice: &mut Dice, text: &str, _: &[String]) -> String {
    let digits: Vec<usize> = text.match_indices(|letter: char| letter.is_ascii_digit()).map(|(at, _)| at).collect();
    if digits.is_empty() {
        return text.to_owned();
    }
    let at = *one_of(dice, &digits);
    format!("{}{}{}", &text[..at], below(dice, 10), &text[at + 1..])
}

/// Any number of the text, the version of the format left alone.
fn numbers_changed(dice: &mut Dice, text: &str, change: impl FnOnce(&mut Dice, u64) -> String) -> String {
    let (head, rest) = text.split_once('\n').expect("lines");
    let changed = with_fields(dice, rest, &[], |dice, fields| {
        let numbers: Vec<usize> = (0..fields.len()).filter(|&at| fields[at].parse::<u64>().is_ok()).collect();
        if !numbers.is_empty() {
            let at = *one_of(dice, &numbers);
            fields[at] = change(dice, fields[at].parse().expect("a number"));
        }
    });
    format!("{head}\n{changed}")
}

fn a_number(dice: &mut Dice, text: &str, _: &[String]) -> String {
    const NUMBERS: [&str; 9] = ["0", "1", "2", "254", "65536", "1000000000000000000", "18446744073709551615", "18446744073709551616", "-1"];
    numbers_changed(dice, text, |dice, _| (*one_of(dice, &NUMBERS)).to_owned())
}

fn a_number_by_one(dice: &mut Dice, text: &str, _: &[String]) -> String {
    numbers_changed(dice, text, |dice, number| {
        if dice.below(2) == 0 { number.saturating_add(1) } else { number.saturating_sub(1) }.to_string()
    })
}

fn a_move(dice: &mut Dice, text: &str, _: &[String]) -> String {
    let words = text.lines().filter_map(|line| line.strip_prefix("word "));
    let mut names: BTreeSet<&str> = words.flat_map(|word| word.split(' ')).collect();
    names.insert("R");
    let names: Vec<&str> = names.into_iter().collect();
    with_fields(dice, text, &["word"], |dice, fields| {
        let at = below(dice, fields.len());
        fields[at] = (*one_of(dice, &names)).to_owned();
    })
}

fn a_move_more_or_less(dice: &mut Dice, text: &str, _: &[String]) -> String {
    with_fields(dice, text, &["word"], |dice, fields| {
        let at = below(dice, fields.len());
        if dice.below(2) == 0 {
            fields.insert(at, fields[at].clone());
        } else {
            fields.remove(at);
        }
    })
}

fn two_moves(dice: &mut Dice, text: &str, _: &[String]) -> String {
    with_fields(dice, text, &["word"], |dice, fields| two_fields_of(dice, fields))
}

fn two_labels(dice: &mut Dice, text: &str, _: &[String]) -> String {
    with_fields(dice, text, &["from", "to", "state", "solved", "generator"], |dice, fields| two_fields_of(dice, fields))
}

fn two_fields(dice: &mut Dice, text: &str, _: &[String]) -> String {
    with_fields(dice, text, &[], |dice, fields| two_fields_of(dice, fields))
}

fn a_field_for_another(dice: &mut Dice, text: &str, _: &[String]) -> String {
    with_fields(dice, text, &[], |dice, fields| {
        let (at, other) = (below(dice, fields.len()), below(dice, fields.len()));
        fields[at] = fields[other].clone();
    })
}

fn a_letter_inserted(dice: &mut Dice, text: &str, _: &[String]) -> String {
    let at = place_in(dice, text);
    format!("{}{}{}", &text[..at], one_of(dice, &[' ', ' ', '\n', '\t', '#', '0', 'é']), &text[at..])
}

fn a_letter_left_out(dice: &mut Dice, text: &str, _: &[String]) -> String {
    let mut changed = text.to_owned();
    changed.remove(place_in(dice, text));
    changed
}

fn a_word_cut(dice: &mut Dice, text: &str, _: &[String]) -> String {
    with_fields(dice, text, &["word"], |dice, fields| {
        if fields.len() > 1 {
            let at = 1 + below(dice, fields.len() - 1);
            fields[at] = format!("\nword {}", fields[at]);
        }
    })
    .replace(" \nword", "\nword")
}

fn a_record_of_another(dice: &mut Dice, text: &str, others: &[String]) -> String {
    let other: Vec<&str> = one_of(dice, others).lines().collect();
    let record = *one_of(dice, &other);
    with_lines(dice, text, |_, lines, at| {
        // In the place of the same record where there is one, which is still a certificate.
        let same = lines.iter().position(|line| line.split(' ').next() == record.split(' ').next());
        lines[same.unwrap_or(at)] = record.to_owned();
    })
}
