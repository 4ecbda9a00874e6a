//! Grows two balls until their last levels share a state.

use super::ball::{Ball, MemoryLimit, common};
use super::words::LevelSource;
use crate::base::Result;
use crate::base::ids::{low_u8, to_u64};
use crate::expand::Moves;
use rayon::prelude::*;

/// Where two balls meet first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Distance of the shared states from the one end.
    pub near: usize,
    /// Their distance to the other end.
    pub far: usize,
    /// All states at these distances, ascending; not empty.
    pub shared: Vec<u64>,
}

impl Meeting {
    /// The distance between the ends.
    #[must_use]
    pub fn distance(&self) -> usize {
        self.near + self.far
    }

    /// Radii of balls around the ends that do not meet, one of them a level smaller: they sum to
    /// the distance less 1.
    #[must_use]
    pub fn disjoint_radii(&self) -> [usize; 2] {
        if self.near > self.far { [self.near - 1, self.far] } else { [self.near, self.far.saturating_sub(1)] }
    }
}

/// Grows the ball with the smaller last level until both share a state. `None` when one of them
/// holds all that can be reached and they do not meet. Both must not have grown yet.
///
/// # Errors
/// `Config` when the balls outgrow the limit.
pub fn meet(near: &mut Ball<'_>, far: &mut Ball<'_>, limit: MemoryLimit) -> Result<Option<Meeting>> {
    loop {
        let shared = common(near.last(), far.last());
        if !shared.is_empty() {
            return Ok(Some(Meeting { near: near.radius(), far: far.radius(), shared }));
        }
        if near.last().len() <= far.last().len() {
            near.grow(limit, far.bytes())?;
        } else {
            far.grow(limit, near.bytes())?;
        }
        if near.last().is_empty() || far.last().is_empty() {
            return Ok(None);
        }
    }
}

/// Meetings of the ball around its centre with the balls around relabelled centres, one ball for
/// all of them. `found(index, ball, meeting)` is called as soon as target `index`, the centre
/// relabelled by `targets[index]`, is reached. Needs moves closed under inverses: then the ball
/// around the relabelled centre by inverse moves is the relabelled ball. Targets that cannot be
/// reached are never found. With `only_nearest` it ends when the nearest ones are found.
///
/// # Errors
/// `Config` when the ball and a relabelled level outgrow the limit; what `found` returns.
///
/// # Panics
/// When the puzzle has no planes, whose labels can be renamed.
pub fn distances_by_relabelling(
    ball: &mut Ball<'_>,
    targets: &[Vec<u8>],
    limit: MemoryLimit,
    only_nearest: bool,
    mut found: impl FnMut(usize, &Ball<'_>, Meeting) -> Result<()>,
) -> Result<()> {
    let mut open: Vec<usize> = (0..targets.len()).collect();
    // Radii r, r then r + 1, r: every sum of radii in order.
    loop {
        for grows in [false, true] {
            if grows {
                // The relabelled copy of a level takes as much as the level.
                ball.grow(limit, to_u64(ball.last().len()) * 8)?;
            }
            let far = ball.radius() - usize::from(grows);
            let mut still_open = Vec::new();
            for &target in &open {
                let shared = common(ball.last(), &relabelled(ball.moves(), ball.level(far), &targets[target]));
                if shared.is_empty() {
                    still_open.push(target);
                } else {
                    found(target, ball, Meeting { near: ball.radius(), far, shared })?;
                }
            }
            let is_enough = only_nearest && still_open.len() < open.len();
            open = still_open;
            if is_enough || open.is_empty() || ball.last().is_empty() {
                return Ok(());
            }
        }
    }
}

/// The states of `level` with renamed labels, ascending.
fn relabelled(moves: &Moves, level: &[u64], names: &[u8]) -> Vec<u64> {
    let mut renamed: Vec<u64> = level.par_iter().map(|&rank| relabelled_state(moves, rank, names)).collect();
    renamed.par_sort_unstable();
    renamed
}

/// A state with renamed labels; only puzzles of planes have labels to rename.
fn relabelled_state(moves: &Moves, rank: u64, names: &[u8]) -> u64 {
    moves.relabelled(rank, names).expect("the caller's puzzle has planes")
}

/// The ball around a relabelled centre: a view of the ball around the centre.
#[derive(Clone, Debug)]
pub struct RelabelledBall<'a> {
    ball: &'a Ball<'a>,
    names_back: Vec<u8>,
}

impl<'a> RelabelledBall<'a> {
    /// The view of `ball` through `names`.
    #[must_use]
    pub fn new(ball: &'a Ball<'a>, names: &[u8]) -> Self {
        let mut names_back = vec![0; names.len()];
        for (label, &name) in names.iter().enumerate() {
            names_back[usize::from(name)] = low_u8(to_u64(label));
        }
        Self { ball, names_back }
    }
}

impl LevelSource for RelabelledBall<'_> {
    fn keep_members(&self, depth: usize, candidates: &mut Vec<u64>) -> Result<()> {
        let level = self.ball.level(depth);
        candidates.retain(|&rank| level.binary_search(&relabelled_state(self.ball.moves(), rank, &self.names_back)).is_ok());
        Ok(())
    }
}

impl LevelSource for Ball<'_> {
    fn keep_members(&self, depth: usize, candidates: &mut Vec<u64>) -> Result<()> {
        let level = self.level(depth);
        candidates.retain(|rank| level.binary_search(rank).is_ok());
        Ok(())
    }
}
