//! Claims whose evidence is in the certificate itself: words, groups, closed sets. Invariants are
//! in `invariants.rs`. Each check returns the claim in words.

use crate::limits::{Checked, Limits, counted, refuted, shown, unreadable, wide};
use crate::puzzle::{Puzzle, moved, state_text};
use crate::records::{Record, Records};
use std::collections::HashMap;

/// The two states that a claim is about. `place` says where the second one is written.
pub struct Ends {
    pub from: Vec<u16>,
    pub to: Vec<u16>,
    pub place: String,
}

impl Ends {
    pub fn read(puzzle: &Puzzle, records: &mut Records) -> Checked<Self> {
        let from = puzzle.state(&records.expect("from")?)?;
        let record = records.expect("to")?;
        Ok(Self { from, to: puzzle.state(&record)?, place: record.place() })
    }
}

/// Reads the records `length` and `word`. Returns the numbers of the moves, exactly as many as
/// stated, and the place of the last `word` record.
pub fn read_word(puzzle: &Puzzle, records: &mut Records, limits: &Limits) -> Checked<(Vec<usize>, String)> {
    let record = records.expect("length")?;
    let [length] = record.numbers("length L")?;
    let mut word = Vec::new();
    let mut line = records.expect("word")?;
    loop {
        limits.memory(line.place(), 16 * u128::from(wide(word.len())))?;
        for name in line.rest() {
            let number = puzzle.move_of(name);
            word.push(number.ok_or_else(|| line.unreadable(shown(name), format!("a move of {}", puzzle.title)))?);
        }
        if wide(word.len()) > length || !records.is_next("word")? {
            break;
        }
        line = records.expect("word")?;
    }
    if wide(word.len()) != length {
        return Err(refuted(line.place(), format!("{} moves", word.len()), format!("{length}, as in {}", record.place())));
    }
    limits.steps(line.place(), u128::from(length) * u128::from(wide(puzzle.solved.len())))?;
    Ok((word, line.place()))
}

/// The state that a word leads to from the state `from`.
pub fn follow(puzzle: &Puzzle, word: &[usize], from: &[u16]) -> Vec<u16> {
    word.iter().fold(from.to_vec(), |state, &number| moved(&state, &puzzle.moves[number]))
}

/// Reads a word that must lead from one end to the other. Returns its length in moves.
pub fn read_leading_word(puzzle: &Puzzle, records: &mut Records, limits: &Limits, ends: &Ends) -> Checked<usize> {
    let (word, place) = read_word(puzzle, records, limits)?;
    let reached = follow(puzzle, &word, &ends.from);
    if reached != ends.to {
        let found = format!("a word that leads to {}", state_text(&reached));
        return Err(refuted(place, found, format!("{}, as in {}", state_text(&ends.to), ends.place)));
    }
    Ok(word.len())
}

pub fn word(puzzle: &Puzzle, records: &mut Records, limits: &Limits) -> Checked<String> {
    let ends = Ends::read(puzzle, records)?;
    let length = read_leading_word(puzzle, records, limits, &ends)?;
    records.end()?;
    let moves = counted(wide(length), "move");
    Ok(format!("{}: from {} to {} by {moves}", puzzle.named(), state_text(&ends.from), state_text(&ends.to)))
}

/// Checks that the moves generate all permutations, or exactly the even ones. The evidence is a
/// move that shifts all places by an amount prime to their number, and a word that swaps two
/// neighbours (for even permutations: turns three places in a row). Conjugated by the shift, the
/// word generates the whole group.
pub fn group(puzzle: &Puzzle, records: &mut Records, limits: &Limits) -> Checked<String> {
    let record = records.expect("group")?;
    let [name] = record.fields("group symmetric|alternating")?;
    let is_symmetric = match name {
        "symmetric" => true,
        "alternating" => false,
        _ => return Err(record.unreadable(shown(name), "symmetric or alternating")),
    };
    let (word, place) = read_word(puzzle, records, limits)?;
    records.end()?;
    distinct(puzzle, &record)?;
    let size = puzzle.solved.len();
    // Let the amount of a shift be prime to the size. Then one of its powers is the shift by one.
    let is_shift = |from: &Vec<u16>| {
        let amount = usize::from(from[0]);
        gcd(amount, size) == 1 && (0..).zip(from).all(|(place, &source)| usize::from(source) == (place + amount) % size)
    };
    limits.steps(record.place(), puzzle.steps_a_state())?;
    if !puzzle.moves.iter().any(is_shift) {
        return Err(refuted(record.place(), "no move that shifts all places by an amount prime to their number", "one"));
    }
    if let Some(name) = puzzle.odd_move().filter(|_| !is_symmetric) {
        return Err(refuted(record.place(), format!("the odd move {}", shown(name)), "even moves only, for the alternating group"));
    }
    let places: Vec<u16> = (1..=u16::MAX).take(size).collect();
    let reached = follow(puzzle, &word, &places);
    let moved: Vec<usize> = (0..size).filter(|&place| reached[place] != places[place]).collect();
    let expected = if is_symmetric { 2 } else { 3 };
    // "In a row" may go around the end: all the others follow some place of the set.
    let in_a_row = moved.len() == expected && moved.iter().any(|first| (1..expected).all(|next| moved.contains(&((first + next) % size))));
    if !in_a_row {
        let wanted = if is_symmetric { "two neighbours swapped" } else { "three places in a row turned" };
        return Err(refuted(place, format!("a word that moves {} places, to {}", moved.len(), state_text(&reached)), wanted));
    }
    let what = if is_symmetric { "all arrangements" } else { "exactly the even arrangements, half of all" };
    Ok(format!("{}: the moves reach {what} of {size} pieces ({name} group)", puzzle.named()))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Refuses a puzzle with equal pieces: there, a state is not a permutation.
pub fn distinct(puzzle: &Puzzle, record: &Record) -> Checked<()> {
    if puzzle.is_distinct() {
        Ok(())
    } else {
        Err(unreadable(record.place(), "a solved state with equal pieces", "each label once, for this claim"))
    }
}

/// Checks that no move leaves the set, and that it holds the state `from` and not the state `to`.
pub fn closed_set(puzzle: &Puzzle, records: &mut Records, limits: &Limits) -> Checked<String> {
    let ends = Ends::read(puzzle, records)?;
    let record = records.expect("states")?;
    let [count] = record.numbers("states K")?;
    // Each state is in the hash table, which may be half empty, and in the list that is sorted by
    // lines.
    let bytes_a_state = 192 + 2 * u128::from(wide(puzzle.solved.len()));
    limits.memory(record.place(), u128::from(count) * bytes_a_state)?;
    limits.steps(record.place(), u128::from(count) * (puzzle.steps_a_state() + 1))?;
    let mut set: HashMap<Vec<u16>, u64> = HashMap::new();
    for _ in 0..count {
        let record = records.expect("state")?;
        if set.insert(puzzle.state(&record)?, record.line).is_some() {
            return Err(record.unreadable("a state that was there before", "each state once"));
        }
    }
    records.end()?;
    if !set.contains_key(&ends.from) {
        return Err(refuted(record.place(), "a set without the state \"from\"", "one that holds it"));
    }
    if set.contains_key(&ends.to) {
        return Err(refuted(&ends.place, "a state of the set", "one outside it"));
    }
    let mut in_order: Vec<(&Vec<u16>, &u64)> = set.iter().collect();
    in_order.sort_by_key(|(_, line)| **line);
    for (state, line) in in_order {
        for (name, from) in puzzle.names.iter().zip(&puzzle.moves) {
            let next = moved(state, from);
            if !set.contains_key(&next) {
                let found = format!("a state that {} leads out of the set, to {}", shown(name), state_text(&next));
                return Err(refuted(record.at_line(*line), found, "a closed set"));
            }
        }
    }
    Ok(format!(
        "{}: {} cannot be reached from {}: no move leaves a set of {} that holds only the latter",
        puzzle.named(),
        state_text(&ends.to),
        state_text(&ends.from),
        counted(count, "state")
    ))
}
