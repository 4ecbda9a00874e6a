//! Where a word starts and ends, as the command line says.

use crate::base::ids::to_u64;
use crate::base::{Error, Result};
use crate::cli::arguments::EndsArguments;
use crate::cli::session;
use crate::puzzle::state_text::Reading;
use crate::puzzle::{Puzzle, State};
use std::path::Path;

/// Most bytes of a state that is read from standard input.
const MOST_BYTES: u64 = 1 << 20;

/// The state of the command line, or of standard input where that says `-`.
fn given_state(arguments: &EndsArguments) -> Result<String> {
    let given = arguments.state.as_ref().or(arguments.state_flag.as_ref());
    let Some(given) = given else { return Err(Error::Usage("the state: found none, expected one after the puzzle".into())) };
    if given != "-" {
        return Ok(given.clone());
    }
    let bytes = session::read_input("the state", MOST_BYTES)?;
    let refuse = |found: String| Error::bad_data(Path::new("standard input"), found, "a state", "give the labels of one state");
    if to_u64(bytes.len()) >= MOST_BYTES {
        return Err(refuse(format!("{MOST_BYTES} bytes or more")));
    }
    let text = String::from_utf8(bytes).map_err(|_| refuse("bytes that are no text".into()))?;
    Ok(text.trim().to_owned())
}

/// The two ends.
#[derive(Clone, Debug)]
pub struct Ends {
    from: Reading,
    to: Vec<Reading>,
    texts: [String; 2],
}

impl Ends {
    /// The state leads to `--to` or the solved state; with `--from`, that leads to the state.
    ///
    /// # Errors
    /// `Usage` naming the faulty state.
    pub fn read(puzzle: &Puzzle, arguments: &EndsArguments) -> Result<Self> {
        let read = |flag: &str, text: &str| {
            puzzle.read_state(text).map_err(|error| match error {
                Error::Usage(message) => Error::Usage(format!("{flag}: {message}")),
                other => other,
            })
        };
        let given = given_state(arguments)?;
        let state = read("the state", &given)?;
        let solved = || puzzle.starts().iter().cloned().map(Reading::State).collect();
        let (from, to): (Reading, Vec<Reading>) = match (&arguments.from, &arguments.to) {
            (Some(text), _) => (read("--from", text)?, vec![state]),
            (None, Some(text)) => (state, vec![read("--to", text)?]),
            (None, None) => (state, solved()),
        };
        let shown = |reading: &Reading| match reading {
            Reading::State(state) => puzzle.text(state),
            Reading::Outside(_) => "(not reached)".to_owned(),
        };
        let texts = [shown(&from), to.iter().map(shown).collect::<Vec<_>>().join(" or ")];
        let mut ends = Self { from, to, texts };
        // A state that is none of the puzzle has no text of its own: show what was given.
        let given = [arguments.from.as_ref().unwrap_or(&given), arguments.to.as_ref().unwrap_or(&given)];
        for ((text, reading), given) in ends.texts.iter_mut().zip([&ends.from, &ends.to[0]]).zip(given) {
            if matches!(reading, Reading::Outside(_)) {
                text.clone_from(given);
            }
        }
        Ok(ends)
    }

    /// Both ends as states.
    ///
    /// # Errors
    /// The reason in words, when one of them is no state of the puzzle.
    pub fn states(&self) -> Result<(&State, Vec<State>), String> {
        let state = |reading: &Reading| match reading {
            Reading::State(state) => Ok(state.clone()),
            Reading::Outside(reason) => Err(reason.clone()),
        };
        let to = self.to.iter().map(state).collect::<Result<_, _>>()?;
        match &self.from {
            Reading::State(from) => Ok((from, to)),
            Reading::Outside(reason) => Err(reason.clone()),
        }
    }

    /// The one end as text.
    #[must_use]
    pub fn from_text(&self) -> &str {
        &self.texts[0]
    }

    /// The other end as text.
    #[must_use]
    pub fn to_text(&self) -> &str {
        &self.texts[1]
    }
}
