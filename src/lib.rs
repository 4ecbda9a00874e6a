//! Distributed exhaustive search of permutation puzzles, with evidence that can be checked again.
//!
//! # The flow of data
//!
//! ```text
//! cli::run: RunConfig::load_in -> cli::prepared (puzzle, partition, budget)
//!           -> cli::opening (lock, run.toml) -> search::run -> publish: evidence::dataset::write
//!
//! a file or a short name --families::run_config--> PuzzleSource --build(metric)--> puzzle::Puzzle
//!                                                       rules, starts, facts (order of the group)
//!                                                                              |
//!                        ranking::StateSpace: state <-> rank; Partition: ranks -> shards -> owners
//!                                                                              |
//!                                                                              v
//!   +---------------- search::level_loop (on every process) ------------------------------------+
//!   |  level d:  a row of search::expansions finds the new states of every shard:               |
//!   |    states  frontier --expand::Moves--> successors --exchange--> owner: unseen?            |
//!   |    lanes   unseen lanes pull their neighbours' bits, 120 states at a time (expand::lanes) |
//!   |    unseen  unseen states ask the owners of their neighbours                               |
//!   |  search::guards: coverage, transport, edges, signs, totals; then the level is closed      |
//!   |  search::checkpoint, when due (60 s by default; short runs write none):                   |
//!   |    packs of sets (store), then the rename of checkpoint/manifest-D                        |
//!   +-------------------------------------------------------------------------------------------+
//!                                                                              |
//!                                                                              v
//!   search::Outcome --evidence::dataset--> <run folder>/{distribution.tsv, summary.json, ...}
//! ```
//!
//! Some things stand beside the search. [`search::shortest`] finds shortest words between two
//! states, with balls around both. [`families::rotation_board`] solves number rotation boards of
//! any size by construction. [`claims`] writes the pages of published claims. The checker,
//! `src/bin/farthest-verify/`, shares no code with this crate.
//!
//! # Layers
//!
//! Each layer imports only layers above it in this list; `tests/layering.rs` checks that.
//!
//! 0. [`base`]: numbers, errors, bytes, durable files.
//! 1. [`puzzle`]: what a puzzle is: rules, start states, and what is known without a search.
//! 2. [`ranking`]: state to rank and back, and the cut of the ranks into shards.
//! 3. [`store`]: sets of ranks, in memory, in mapped files, and packed on disk.
//! 4. [`expand`]: from "seen" to "new": the moves of single states, and [lanes](expand::lanes) of
//!    120 states at a time.
//! 5. [`exchange`]: the processes, and what they send each other: MPI or threads.
//! 6. [`search`]: the level loop, guards, checkpoints, archived levels, and shortest words.
//! 7. [`evidence`]: result files, labels, certificates, tables, and exports for other programs.
//! 8. [`families`]: Turnstyle, [number rotation boards](families::rotation_board), `permutations`,
//!    `planes` and `tokens`; and the configuration of a run.
//! 9. [`claims`]: published claims about [Turnstyle](claims::turnstyle) and about
//!    [boards](claims::boards), each with our value.
//! 10. [`cli`]: the commands. Only this layer prints.
//!
//! To follow a run from the command line, read `docs/inside.md`: it names eighteen files in the order
//! of the code, from [`cli::run`] to [`evidence::dataset`]. To read the search, start at
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
