//! The ways to find the next level from what is seen: each works in bounded rounds and leaves the new states of every shard in `next`.
//!
//! - [`states`]: every state of the frontier gives its successors away;
//! - [`lanes`]: every lane that is not full is pulled from its neighbours' lanes;
//! - [`unseen`]: every unseen rank asks whether a neighbour is seen.

mod frontier;
pub mod lanes;
pub mod states;
pub mod unseen;
