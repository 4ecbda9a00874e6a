#![doc = include_str!("README.md")]

pub mod archive_files;
pub mod boards;
pub mod certificate;
pub mod dataset;
pub mod gap;
pub mod group_order;
pub mod listed_states;
pub mod manifest_file;
pub mod turnstyle;
pub mod unreachable;

pub use manifest_file::{Evidence, Provenance, Recheck};
