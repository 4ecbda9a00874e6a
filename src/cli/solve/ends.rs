//! Where a word starts and ends, as the command line says.

use crate::base::{Error, Result};
use crate::cli::arguments::EndsArguments;
use crate::puzzle::state_text::Reading;
use crate::puzzle::{Puzzle, State};

/// The two ends.
#[derive(Clone, Debug)]
pub struct Ends {
    from: Reading,
    to: Vec<Reading>,
    texts: [String; 2],
}

impl Ends {
    /// `--state` leads to `--to` or the solved state; with `--from`, that leads to `--state`.
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
        let state = read("--state", &arguments.state)?;
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
        let given = [arguments.from.as_ref().unwrap_or(&arguments.state), arguments.to.as_ref().unwrap_or(&arguments.state)];
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
