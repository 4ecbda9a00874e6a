//! What the two checkers answer about a file.

use crate::common::{checker, outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// Exit code 0.
    Verified,
    /// Exit code 1.
    Refuted,
    /// Exit code 2.
    Unreadable,
    /// Exit code 2, and only because it would take more memory or work than this checker is given.
    TooLarge,
}

/// The answer of `farthest-verify`, by its exit code. A run's certificate is checked with its
/// archive, and nothing else of the run.
pub fn of_the_checker(path: &Path) -> (Answer, String) {
    let mut command = checker("300M");
    match path.file_name() {
        Some(name) if name == "distance.cert" => command.arg("distance").arg(path.parent().expect("a folder")),
        _ => command.arg(path),
    };
    let (code, stdout, stderr) = outcome(&mut command);
    let too_large = ["(--memory)", "(--steps)"].iter().any(|limit| stderr.contains(limit));
    let answer = match (code, too_large) {
        (0, _) => Answer::Verified,
        (1, _) => Answer::Refuted,
        (2, true) => Answer::TooLarge,
        (2, false) => Answer::Unreadable,
        _ => panic!("{}: exit code {code}\n{stdout}{stderr}", path.display()),
    };
    (answer, stdout + &stderr)
}

/// The answers of `scripts/verify.py`, which is started once: one line a path, and the worst of
/// them is the exit code.
pub fn of_the_script(paths: &[PathBuf]) -> Vec<(Answer, String)> {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "120", "python3", "scripts/verify.py"]).args(paths).current_dir(env!("CARGO_MANIFEST_DIR"));
    let (code, stdout, stderr) = outcome(&mut command);
    assert_eq!(stderr, "", "scripts/verify.py, which needs python3, ends with {code}");
    let answers: Vec<(Answer, String)> = stdout.lines().map(|line| (answer_of(line), line.to_owned())).collect();
    assert_eq!(answers.len(), paths.len(), "one line a certificate:\n{stdout}");
    for (path, (_, line)) in paths.iter().zip(&answers) {
        assert!(line[12..].starts_with(path.to_str().expect("UTF-8")), "{}: {line}", path.display());
    }
    let has = |wanted: Answer| answers.iter().any(|&(answer, _)| answer == wanted);
    let worst = if has(Answer::Refuted) { 1 } else { 2 * i32::from(has(Answer::Unreadable) || has(Answer::TooLarge)) };
    assert_eq!(code, worst, "{stdout}");
    answers
}

fn answer_of(line: &str) -> Answer {
    match line.split(' ').next() {
        Some("verified") => Answer::Verified,
        Some("refuted") => Answer::Refuted,
        Some("unreadable") if line.contains("too large for this checker") => Answer::TooLarge,
        Some("unreadable") => Answer::Unreadable,
        _ => panic!("{line:?} is no answer"),
    }
}

/// Asks both about all files, each told with how it was made; they must agree wherever both have an
/// answer. Returns what the answers are.
pub fn compare(files: &[(PathBuf, String)]) -> Vec<Answer> {
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
    let script = of_the_script(&paths);
    let mut differences = Vec::new();
    let mut answers = Vec::new();
    for ((path, made), (second, second_line)) in files.iter().zip(script) {
        let (first, first_line) = of_the_checker(path);
        let is_answered = first != Answer::TooLarge && second != Answer::TooLarge;
        if is_answered && first != second {
            differences.push(format!("{made}\n  {first:?}: {first_line}  {second:?}: {second_line}\n"));
        }
        answers.push(if is_answered { first } else { Answer::TooLarge });
    }
    assert!(differences.is_empty(), "{} of {} answers differ:\n{}", differences.len(), files.len(), differences.join("\n"));
    answers
}

/// How many of the answers are this one.
pub fn count(answers: &[Answer], wanted: Answer) -> usize {
    answers.iter().filter(|&&answer| answer == wanted).count()
}
