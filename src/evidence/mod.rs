#![doc = include_str!("README.md")]

pub mod archive_files;
pub mod certificate;
pub mod dataset;
pub mod group_order;
pub mod turnstyle;
pub mod unreachable;

pub use dataset::Provenance;
