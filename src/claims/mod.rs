//! Layer 9: the published claims about the puzzles, each with our value, and the certificates that
//! show it. Pages for readers; no search needs them.

pub mod boards;
pub mod outer_automorphism;
pub mod outer_automorphism_certificates;
pub mod turnstyle;
pub mod turnstyle_page;
