//! Distributed exhaustive search of permutation puzzles, with evidence that can be checked again.
//!
//! # The flow of data
//!
//! ```text
//! configs/*.toml --puzzle::parse--> PuzzleSource --build(metric)--> Puzzle: planes x arrangements, generators
//!                                                                      |
//!                      base::partition: ranks -> shards -> owners      |   evidence::group_order: how many states there must be
//!                                     |                                |        |
//!                                     v                                v        v
//!   +------------------------- search::level_loop (on every process) ----------------------------+
//!   |  level d:   store::Shard.frontier --expand::states--> successors --exchange--> owner        |
//!   |             owner's Shard: unseen? -> next;  next closes into seen, becomes the frontier    |
//!   |             search::guards: transport, edges, signs, totals                                 |
//!   |             search::checkpoint: packs of sets, then the manifest's rename                   |
//!   +---------------------------------------------------------------------------------------------+
//!                                     |
//!                                     v
//!   search::Outcome --evidence::dataset--> results/<puzzle>/<metric>/{distribution.tsv, summary.json, ...}
//! ```
//!
//! # Layers
//!
//! Each layer imports only what stands above it in this list; `tests/layering.rs` checks that. Start reading at
//! [`search::level_loop`], then [`search::level`].

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
