//! Distributed exhaustive search of permutation puzzles, with evidence that can be checked again.
//!
//! # The flow of data
//!
//! ```text
//! a file or a short name --families::reading--> PuzzleSource --build(metric)--> puzzle::Puzzle
//!                                                               rules, starts, facts (order of the group)
//!                                                                              |
//!                        ranking::StateSpace: state <-> rank; Partition: ranks -> shards -> owners
//!                                                                              |
//!                                                                              v
//!   +---------------- search::level_loop (on every process) -----------------------------------+
//!   |  level d:  a row of search::expansions finds the new states of every shard:               |
//!   |    states  frontier --expand::Moves--> successors --exchange--> owner: unseen?            |
//!   |    lanes   unseen lanes pull their neighbours' bits, 120 states at a time (expand::lanes) |
//!   |    unseen  unseen states ask the owners of their neighbours                               |
//!   |  search::guards: coverage, transport, edges, signs, totals; then the level is closed      |
//!   |  search::checkpoint: packs of sets (store), then the manifest's rename                    |
//!   +-------------------------------------------------------------------------------------------+
//!                                                                              |
//!                                                                              v
//!   search::Outcome --evidence::dataset--> <run folder>/{distribution.tsv, summary.json, ...}
//! ```
//!
//! Beside the search: [`search::shortest`] finds shortest words between two states, with balls
//! around both. [`families::rotation_board`] solves boards of any size by construction. [`claims`]
//! writes the pages of published claims. The checker, `src/bin/farthest-verify/`, shares no code
//! with this crate.
//!
//! # Layers
//!
//! Each layer imports only what stands above it in this list; `tests/layering.rs` checks that.
//! Start reading at [`search::level_loop`], then [`search::level`].

pub mod base;
pub mod puzzle;

pub mod ranking;

pub mod store;

pub mod expand;

pub mod exchange;

pub mod search;

pub mod evidence;

pub mod families;

pub mod claims;

pub mod cli;
