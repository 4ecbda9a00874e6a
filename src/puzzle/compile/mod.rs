//! From permutations of positions to planes and arrangements.

pub mod orbits;
pub mod position_order;
