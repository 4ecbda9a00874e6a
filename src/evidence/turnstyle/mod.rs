//! What can be said of Turnstyle of every size: arrangements by name, constructed words, shortest words.
//!
//! - [`ring`]: plays words on a ring of any size;
//! - [`arrangements`]: SWAPs, reversals, jumps;
//! - [`construction`]: a word for a SWAP of every even size from 8 on, and for a cycle of three in every size from 7 on;
//! - [`shortest`]: shortest words to many arrangements with one ball;
//! - [`swap`]: the certificates that settle SWAP for a size;
//! - [`claims`]: the published claims about Turnstyle, with our values; [`claims_page`]: as a page.

pub mod arrangements;
pub mod claims;
pub mod claims_page;
pub mod construction;
pub mod ring;
pub mod shortest;
pub mod swap;

pub use ring::Ring;
