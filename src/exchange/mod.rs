#![doc = include_str!("README.md")]

#[allow(clippy::module_inception)]
pub mod exchange;
pub mod launcher;
pub mod local;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod rank_batch;

pub use exchange::{Exchange, ROUND_WORDS, Traffic, agree, broadcast, broadcast_from, first_of, gather, share};
