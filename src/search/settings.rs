//! What a run chooses for itself, beside the puzzle: none of it changes a result.

use super::expansion_choice::ExpansionChoice;
use crate::store::Storage;
use std::collections::BTreeMap;

/// The choices of a run that are not the puzzle's.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads of this process.
    pub threads: usize,
    /// Seconds between commits, at least; 0 commits every level.
    pub checkpoint_seconds: u64,
    /// Whether every closed level is archived.
    pub keep_levels: bool,
    /// Whether processes of one host read each other's scratch files instead of exchanging lanes.
    pub share_memory: bool,
    /// Where what is seen and the levels are kept.
    pub storage: Storage,
    /// Most antipodes listed.
    pub most_antipodes: usize,
    /// How levels are expanded.
    pub expansion: ExpansionChoice,
    /// Most successors that this process holds between two exchanges.
    pub round_successors: usize,
    /// The puzzle as text that builds it again, for the checkpoint.
    pub puzzle_text: String,
    /// Settings that a resumed run must share, by key.
    pub fixed_settings: BTreeMap<String, String>,
}
