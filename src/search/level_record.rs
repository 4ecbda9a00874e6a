//! What is kept of a closed level: its states, and what its expansion showed.

use crate::base::Depth;
use crate::base::fingerprint::Fingerprint;
use crate::store::{Edges, LevelPart};
use serde::{Deserialize, Serialize};

/// A closed level. What its expansion showed is known only once the next level is closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelRecord {
    /// Its depth.
    pub depth: Depth,
    /// Its states.
    pub states: u64,
    /// Their fingerprint.
    pub fingerprint: Fingerprint,
    /// Its edges.
    pub edges: Option<Edges>,
    /// How it was expanded. Differs between ways to run the search, like the values below.
    pub expansion: String,
    /// Seconds its expansion took.
    pub seconds: f64,
    /// Bytes that all processes together sent to others for its expansion.
    pub bytes_exchanged: u64,
    /// Bytes that all processes together received for it: the same, seen from the other side.
    pub bytes_received: u64,
    /// Seconds the first process waited in collective operations of its expansion.
    pub waited_seconds: f64,
}

impl LevelRecord {
    /// A level just closed.
    #[must_use]
    pub fn new(depth: Depth, found: LevelPart) -> Self {
        Self {
            depth,
            states: found.states,
            fingerprint: found.fingerprint,
            edges: None,
            expansion: String::new(),
            seconds: 0.0,
            bytes_exchanged: 0,
            bytes_received: 0,
            waited_seconds: 0.0,
        }
    }
}
