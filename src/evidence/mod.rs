#![doc = include_str!("README.md")]

pub mod archive_files;
pub mod certificates;
pub mod checksums;
pub mod dataset;
pub mod exporters;
pub mod label;
pub mod later_checks;
pub mod level_tables;
pub mod listed_states;
pub mod manifest_file;
pub mod strict_json;
pub mod table_rows;
pub mod tables;
pub mod unreachable;

pub use manifest_file::{Evidence, Provenance, Recheck};
