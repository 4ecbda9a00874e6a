//! What tells one search from another: a checkpoint is taken up only by a search of the same
//! identity.

use crate::base::shown::shown_text;
use crate::base::{Error, Result};
use crate::puzzle::Puzzle;
use crate::ranking::Partition;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The identity of a search. A manifest holds it: its fields, in this order, belong to the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchIdentity {
    /// The puzzle's name.
    pub puzzle_name: String,
    /// The metric.
    pub metric: String,
    /// The puzzle's full definition, as text that builds it again. It is recorded; its digest is
    /// compared.
    pub puzzle_text: String,
    /// Digest of the compiled puzzle.
    pub puzzle_digest: String,
    /// Settings that a resumed run must share.
    pub fixed_settings: BTreeMap<String, String>,
    /// The cut of the space into shards.
    pub partition: Partition,
}

impl SearchIdentity {
    /// The identity of a search of `puzzle`.
    #[must_use]
    pub fn of(puzzle: &Puzzle, partition: &Partition, puzzle_text: &str, fixed_settings: &BTreeMap<String, String>) -> Self {
        Self {
            puzzle_name: puzzle.name().into(),
            metric: puzzle.metric().into(),
            puzzle_text: puzzle_text.into(),
            puzzle_digest: puzzle.digest(),
            fixed_settings: fixed_settings.clone(),
            partition: *partition,
        }
    }

    /// Checks that the checkpoint of `theirs`, whose manifest is at `path`, is one of this search.
    ///
    /// # Errors
    /// `Config` listing every key that differs.
    pub fn check_same_search(&self, theirs: &Self, path: &Path) -> Result<()> {
        let mut differences = Vec::new();
        let mut compare = |key: &str, there: &str, here: &str| {
            if there != here {
                differences.push(format!("{key} = {} there, {here} here", shown_text(there)));
            }
        };
        compare("puzzle", &theirs.puzzle_name, &self.puzzle_name);
        compare("metric", &theirs.metric, &self.metric);
        if (&theirs.puzzle_name, &theirs.metric) == (&self.puzzle_name, &self.metric) {
            compare("puzzle digest", &theirs.puzzle_digest, &self.puzzle_digest);
            for (key, ours) in &self.fixed_settings {
                compare(key, theirs.fixed_settings.get(key).map_or("absent", String::as_str), ours);
            }
            compare("shards", &theirs.partition.shards().to_string(), &self.partition.shards().to_string());
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(Error::config(format!(
            "{}: the checkpoint belongs to another search: {}; choose another folder with --out, or discard it with --resume never --force",
            path.display(),
            differences.join("; ")
        )))
    }
}
