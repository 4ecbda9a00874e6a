//! `farthest certify word`, `bidirectional` and `unreachable`: one certificate about two states of
//! any puzzle.

use crate::base::ids::{low_u32, to_u64};
use crate::base::{Error, Result};
use crate::cli::arguments::CertifyStateArguments;
use crate::cli::solve::ends::Ends;
use crate::cli::solve::memory_limit;
use crate::evidence::certificates::{Bidirectional, Certificate, Claim, ClosedSet, Invariant, InvariantName, Labels, WordClaim};
use crate::evidence::unreachable::{self, Unreachable};
use crate::families::run_config::RunConfig;
use crate::puzzle::{Puzzle, State};
use crate::search::shortest::{Solution, replay, solve};
use std::path::PathBuf;

/// Which certificate is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word that leads there.
    Word,
    /// A shortest word, with two balls that do not meet.
    Bidirectional,
    /// No word leads there.
    Unreachable,
}

/// Writes the certificate.
///
/// # Errors
/// `CheckFailed` when the claim is not true of the states; `Usage`, `Config` and `Io` as for
/// `solve`.
pub fn state(arguments: &CertifyStateArguments, kind: Kind) -> Result<()> {
    let config = RunConfig::load_in(&arguments.ends.puzzle, arguments.ends.metric.as_ref())?;
    let puzzle = config.puzzle.build(&config.metric)?;
    let certified = config.puzzle.certified(&config.metric)?;
    let ends = Ends::read(&puzzle, &arguments.ends)?;
    let (from, to) = ends.states().map_err(|reason| Error::config(format!("no certificate has a form for this: {reason}")))?;
    let reason = unreachable::why(&puzzle, from, &to)?;
    let claim = match (kind, reason) {
        (Kind::Unreachable, Some(reason)) => no_word(&puzzle, from, &to, &reason)?,
        (Kind::Unreachable, None) => {
            return Err(Error::CheckFailed("found a state that can be reached, expected one that cannot; use certify word".into()));
        }
        (_, Some(reason)) => {
            return Err(Error::CheckFailed(format!(
                "no word leads from {} to {}: {reason}; use certify unreachable",
                ends.from_text(),
                ends.to_text()
            )));
        }
        (_, None) => {
            let solution = solve(&puzzle, from, &to, memory_limit(arguments.ends.memory), 1)?;
            let solution = solution.ok_or_else(|| Error::invariant("a state that the group reaches", "no word", "a word"))?;
            word(&puzzle, from, &solution, kind)?
        }
    };
    let path = target(arguments, claim.as_ref())?;
    let certificate = Certificate { puzzle: certified, claim };
    certificate.write(&path)?;
    println!("{}: {}; check it with: farthest-verify {0}", path.display(), certificate.claim.kind());
    Ok(())
}

/// The file: `--out` itself when it ends in .cert, else a file in that folder.
fn target(arguments: &CertifyStateArguments, claim: &dyn Claim) -> Result<PathBuf> {
    let out = &arguments.out;
    let is_file = out.extension().is_some_and(|extension| extension == "cert");
    let path = if is_file { out.clone() } else { out.join(format!("{}.cert", claim.kind())) };
    super::make_folder(path.parent())?;
    Ok(path)
}

fn word(puzzle: &Puzzle, from: &State, solution: &Solution, kind: Kind) -> Result<Box<dyn Claim>> {
    let first = solution.words.first().map(Vec::as_slice).unwrap_or_default();
    let to = labels(puzzle, &replay(puzzle, from, first))?;
    let from = labels(puzzle, from)?;
    let word = puzzle.word_names(first);
    match (kind, solution.balls) {
        (Kind::Bidirectional, Some(balls)) => {
            let radii = balls.radii.map(|radius| low_u32(to_u64(radius)));
            Ok(Box::new(Bidirectional { from, to, word, radii, balls: balls.states }))
        }
        (Kind::Bidirectional, None) => Err(Error::CheckFailed(
            "found two equal states, expected different ones: the empty word needs no balls; use certify word".into(),
        )),
        _ => Ok(Box::new(WordClaim { from, to, word })),
    }
}

fn no_word(puzzle: &Puzzle, from: &State, to: &[State], reason: &Unreachable) -> Result<Box<dyn Claim>> {
    let [to] = to else {
        return Err(Error::config(
            "a certificate names one state to be reached, and the puzzle has several solved ones; name one with --to",
        ));
    };
    let ends = (labels(puzzle, from)?, labels(puzzle, to)?);
    match reason {
        Unreachable::Parity => Ok(Box::new(Invariant { invariant: InvariantName::Parity, from: ends.0, to: ends.1 })),
        Unreachable::ClosedSet { enumerated: true, .. } => {
            let mut states: Vec<Labels> =
                unreachable::closed_set(puzzle, from).states().map(|state| labels(puzzle, state)).collect::<Result<_>>()?;
            states.sort_unstable();
            Ok(Box::new(ClosedSet { from: ends.0, to: ends.1, states }))
        }
        other => Err(Error::config(format!("no certificate has a form for this: {other}"))),
    }
}

/// The state as certificates write it.
fn labels(puzzle: &Puzzle, state: &State) -> Result<Labels> {
    let text = puzzle.text(state);
    text.split(' ').map(|label| label.parse().map_err(|_| Error::invariant("a state as labels", &text, "numbers"))).collect()
}
