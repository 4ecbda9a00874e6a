//! Certificates about number rotation boards: a verdict's, and those of the outer automorphism.

pub mod outer_automorphism;
mod verdict;

pub use verdict::{MOST_CERTIFIED_CELLS, closed_set, labels, solved_labels, verdict_certificate};
