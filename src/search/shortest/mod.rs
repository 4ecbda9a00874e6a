//! Shortest words between two states, without a search of the whole space.
//!
//! - [`Moves`]: the neighbours of a ranked state, forward and by inverse moves;
//! - [`ball`]: all states up to a radius, level by level, as sorted ranks;
//! - [`mod@meet`]: grows two balls until they meet: the distance (and one ball for many targets,
//!   where relabelling allows that);
//! - [`words`]: every shortest word, from the levels that the balls, or an archive, hold;
//! - [`table`]: the archived levels of a run as such a source;
//! - [`around_start`]: distances of many states from the start, with one ball around it;
//! - [`solution`]: all of it together.
//!
//! Why the first meeting gives the distance: every state on a shortest word of length d is at
//! distance i from one end and d - i from the other. The sum of the radii grows by one at a time,
//! and for every smaller sum the two last levels were found disjoint; so the first sum at which
//! they share a state is d.

pub mod around_start;
pub mod ball;
pub mod meet;
pub mod solution;
pub mod table;
pub mod words;

pub use crate::expand::{Direction, Moves};
pub use ball::{Ball, MemoryLimit};
pub use meet::{Meeting, RelabelledBall, distances_by_relabelling, meet};

pub use solution::{BothWays, DisjointBalls, Solution, replay, solve, solve_by_table};
pub use table::TableLevels;
pub use words::{LevelSource, ShortestWords};
