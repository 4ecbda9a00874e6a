#![doc = include_str!("README.md")]

pub mod dataset;
pub mod group_order;

pub use dataset::Provenance;
