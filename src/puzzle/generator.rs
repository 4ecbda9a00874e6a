//! One allowed turn: for every plane the plane it leads to and the permutation of positions it
//! applies.

/// What a generator does to the states of one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaneMove {
    /// The plane of the resulting states.
    pub target: u32,
    /// Index into the puzzle's table of distinct permutations.
    pub permutation: u32,
}

/// A named turn of cost 1. No two planes lead to the same one, so no two states do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Generator {
    /// Name in words, such as `R`.
    pub name: String,
    /// One entry a plane; `None` where the generator is absent.
    pub moves: Vec<Option<PlaneMove>>,
}
