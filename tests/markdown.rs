//! What the Markdown files tell people to type can be typed: every command line of this program in
//! them is understood, and every link to a file leads to one.

mod common;

use clap::Parser;
use farthest::cli::Arguments;
use std::fs;
use std::path::{Path, PathBuf};

/// The Markdown files of the project, but for the change log, which speaks of earlier versions, and
/// what the program wrote.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("docs"), root.join("src"), root.join("tests"), root.join("configs")];
    let mut pages = vec![root.join("README.md"), root.join("results/README.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("listed").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

/// Lines of code, without remarks: those that are indented, and those between fences.
fn code_lines(text: &str) -> Vec<String> {
    let (mut fenced, mut lines) = (false, Vec::new());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            lines.push(line.split(" #").next().unwrap_or_default().trim().to_owned());
        }
    }
    lines
}

/// The words of a shell's line, as far as these lines need it: blanks, and two kinds of quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, ' ') => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            _ => word.push(letter),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// The words of a call of `farthest` in the line, from its name to the next command.
fn call(line: &str) -> Option<Vec<String>> {
    let words = words(line);
    let is_program = |word: &String| ["farthest", "target/release/farthest", "scripts/farthest"].contains(&word.as_str());
    let first = words.iter().position(is_program)?;
    // Only as a command of its own, or after a launcher.
    let starts = first == 0 || ["mpirun", "srun", "nice", "time"].contains(&words[0].as_str());
    let end = |word: &&String| !["&&", "|", ";", "&", ">"].contains(&word.as_str());
    starts.then(|| words[first..].iter().take_while(end).cloned().collect())
}

#[test]
fn every_command_line_is_understood() {
    let mut calls = 0;
    for page in pages() {
        for line in code_lines(&fs::read_to_string(&page).expect("readable")) {
            let Some(words) = call(&line).filter(|words| words.len() > 1) else { continue };
            if let Err(error) = Arguments::try_parse_from(&words) {
                assert!(!error.use_stderr(), "{}: {line}\n{error}", page.display());
            }
            calls += 1;
        }
    }
    assert!(calls > 20, "{calls} command lines: the test is blind");
}

#[test]
fn every_link_to_a_file_leads_to_one() {
    let mut links = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("readable");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next()) {
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let target = page.parent().expect("in a folder").join(link);
            assert!(target.exists(), "{}: {link}", page.display());
            links += 1;
        }
    }
    assert!(links > 20, "{links} links: the test is blind");
}

/// Files of the source that a page names are there.
#[test]
fn every_source_file_that_is_named_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = 0;
    for page in pages().into_iter().filter(|page| page.starts_with(root.join("docs")) || page.parent() == Some(root)) {
        let text = fs::read_to_string(&page).expect("readable");
        for name in text.split('`').skip(1).step_by(2).filter(|name| name.starts_with("src/") || name.starts_with("tests/")) {
            assert!(root.join(name).exists(), "{}: {name}", page.display());
            files += 1;
        }
    }
    assert!(files > 20, "{files} files: the test is blind");
}
