//! Layer 0: numbers, errors, bytes and files. Knows nothing of puzzles or of MPI.

pub mod atomic_file;
pub mod bit_moves;
pub mod bytes;
pub mod codec;
pub mod config_text;
pub mod error;
pub mod fault_point;
pub mod fingerprint;
pub mod ids;
pub mod last_words;
pub mod readable;
pub mod regular_file;
pub mod removal;
pub mod say;
pub mod shown;

pub use error::{Error, Result};
pub use ids::{Depth, ProcessId, ShardId, StateRank};
