//! The paths of a Rust file to modules of the crate.

use super::BINARIES;
use super::tokens::Token;
use std::collections::BTreeSet;

/// A path from the root of the crate.
#[derive(Clone, Debug)]
pub struct CratePath {
    pub words: Vec<String>,
    pub line: usize,
    pub in_test: bool,
}

/// The module that a file is: `src/base/config_text/table.rs` is base, config_text, table.
pub fn module_of(file: &str) -> Vec<String> {
    let inside = file.strip_prefix("src/").unwrap_or(file).trim_end_matches(".rs");
    let mut words: Vec<String> = inside.split('/').map(str::to_owned).collect();
    if words.last().is_some_and(|word| ["mod", "lib", "main"].contains(&word.as_str())) {
        words.pop();
    }
    words
}

/// All paths of a file that start at the crate's root, at a module above it, or at a child module
/// that it declares, written from the root; and the faults of those that cannot be followed.
pub fn crate_paths(file: &str, tokens: &[Token]) -> (Vec<CratePath>, Vec<String>) {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let (mut paths, mut faults) = (Vec::new(), Vec::new());
    // Inline modules around the current token: the depth of braces they began at, and whether they
    // hold tests.
    let mut inline: Vec<(usize, bool)> = Vec::new();
    let (mut braces, mut test_next) = (0, false);
    let own = module_of(file);
    // Another program has a root of its own.
    let is_ours = !file.starts_with(BINARIES);
    let declared = |end: &[Token]| end[0].text == "mod" && end[2].text == ";";
    let children: BTreeSet<String> = tokens.windows(3).filter(|end| declared(end)).map(|end| end[1].text.clone()).collect();
    let mut at = 0;
    while at < tokens.len() {
        let line = tokens[at].line;
        let mut fault = |what: &str| faults.push(format!("{file}:{line}: {what}"));
        let starts_path = at == 0 || text(at - 1) != "::";
        let in_test = inline.iter().any(|(_, test)| *test);
        let mut follow = |first: usize, prefix: &[String]| {
            let mut found = Vec::new();
            read_tree(tokens, first, prefix, &mut found);
            paths.extend(found.into_iter().map(|words| CratePath { words, line, in_test }));
        };
        match text(at) {
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                inline.retain(|(depth, _)| *depth < braces + 1);
            }
            "cfg" if text(at + 1) == "(" && text(at + 2) == "test" => test_next = true,
            "mod" => {
                if text(at + 2) == "{" {
                    inline.push((braces + 1, test_next));
                }
                test_next = false;
            }
            "fn" | "use" | "struct" | "enum" | "impl" | "const" => test_next = false,
            // In another program this is its own root; the library has its name there.
            "crate" if file.starts_with(BINARIES) => {}
            // `pub(in crate::x)` says who may see an item, and imports nothing.
            "crate" if at > 0 && text(at - 1) == "in" => {}
            "crate" if text(at + 1) == "::" => follow(at + 2, &[]),
            "crate" if text(at - 1) == "(" && text(at + 1) == ")" => {}
            "crate" => fault("the crate's root under another name"),
            "farthest" if starts_path && text(at + 1) == "::" => follow(at + 2, &[]),
            "super" | "self" if starts_path && text(at + 1) == "::" => {
                let mut module = own.len() + inline.len();
                let mut next = at;
                while ["super", "self"].contains(&text(next)) && text(next + 1) == "::" {
                    module = module.saturating_sub(usize::from(text(next) == "super"));
                    next += 2;
                }
                // Of a module inside the file only the file counts.
                if is_ours || module == 0 {
                    follow(next, &own[..module.min(own.len())]);
                }
            }
            child if is_ours && starts_path && text(at + 1) == "::" && children.contains(child) => follow(at, &own),
            "path" if text(at + 1) == "=" && text(at - 1) == "[" => fault("a module at another path"),
            _ => {}
        }
        at += 1;
    }
    (paths, faults)
}

/// The ends of the tree of paths that begins at `at`: `a::{b, c::d}` has two.
fn read_tree(tokens: &[Token], at: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    if text(at) != "{" {
        let mut words = prefix.to_vec();
        words.push(text(at).to_owned());
        let another =
            |at: usize| text(at) == "{" || text(at) == "*" || text(at).starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        if text(at + 1) == "::" && another(at + 2) {
            return read_tree(tokens, at + 2, &words, found);
        }
        found.push(words);
        return at + 1;
    }
    let mut next = at + 1;
    while !["}", ""].contains(&text(next)) {
        next = match text(next) {
            "," => next + 1,
            // `a as b`: the new name leads nowhere else.
            "as" => next + 2,
            _ => read_tree(tokens, next, prefix, found),
        };
    }
    next + 1
}
