//! The tokens of a Rust file, as far as paths and words need them: no comments, no literals.

/// A word, `::`, or any other character.
#[derive(Clone, Debug)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// Identifiers, `::` and single other characters, without comments, literals of text, and blanks.
pub fn tokens(source: &str) -> Vec<Token> {
    let letters: Vec<char> = source.chars().collect();
    let mut tokens: Vec<Token> = Vec::new();
    let (mut at, mut line) = (0, 1);
    let looking_at = |at: usize, text: &str| text.chars().enumerate().all(|(offset, letter)| letters.get(at + offset) == Some(&letter));
    while at < letters.len() {
        let start = at;
        let mut token = None;
        if looking_at(at, "//") {
            at += letters[at..].iter().take_while(|&&letter| letter != '\n').count();
        } else if looking_at(at, "/*") {
            at = end_of_comment(&letters, at);
        } else if letters[at] == '"' {
            at = end_of_quote(&letters, at + 1);
        } else if let Some(end) = end_of_raw_text(&letters, at) {
            at = end;
        } else if letters[at] == '\'' {
            at = end_of_character(&letters, at);
        } else if letters[at].is_alphanumeric() || letters[at] == '_' {
            at += letters[at..].iter().take_while(|letter| letter.is_alphanumeric() || **letter == '_').count();
            token = Some(letters[start..at].iter().collect());
            // What precedes a quotation mark is a prefix of the literal: b"", c"".
            if looking_at(at, "\"") && at - start == 1 {
                token = None;
            }
        } else if looking_at(at, "::") {
            at += 2;
            token = Some("::".into());
        } else {
            at += 1;
            token = Some(letters[start].to_string()).filter(|text| !text.trim().is_empty());
        }
        tokens.extend(token.map(|text| Token { text, line }));
        line += letters[start..at].iter().filter(|&&letter| letter == '\n').count();
    }
    tokens
}

fn end_of_comment(letters: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < letters.len() {
        match letters[at..].get(..2) {
            Some(['/', '*']) => (at, depth) = (at + 2, depth + 1),
            Some(['*', '/']) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Behind the closing quotation mark of a text that begins at `at`.
fn end_of_quote(letters: &[char], mut at: usize) -> usize {
    while at < letters.len() && letters[at] != '"' {
        at += if letters[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(letters.len())
}

/// Behind a raw text such as `r#"..."#`, if one starts here.
fn end_of_raw_text(letters: &[char], start: usize) -> Option<usize> {
    let begins_word = start.checked_sub(1).is_none_or(|before| !letters[before].is_alphanumeric() && letters[before] != '_');
    let mut at = start + usize::from(letters[start] == 'b' || letters[start] == 'c');
    if !begins_word || letters.get(at) != Some(&'r') {
        return None;
    }
    at += 1;
    let marks = letters[at..].iter().take_while(|&&letter| letter == '#').count();
    at += marks;
    if letters.get(at) != Some(&'"') {
        return None;
    }
    let closing: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', marks)).collect();
    let length = letters[at + 1..].windows(closing.len()).position(|window| window == closing)?;
    Some(at + 1 + length + closing.len())
}

/// Behind a character literal; of a lifetime only the mark is skipped.
fn end_of_character(letters: &[char], start: usize) -> usize {
    match letters[start + 1..] {
        ['\\', _, ..] => {
            let rest = letters[start + 3..].iter().position(|&letter| letter == '\'').unwrap_or(0);
            start + 3 + rest + 1
        }
        [_, '\'', ..] => start + 3,
        _ => start + 1,
    }
}
