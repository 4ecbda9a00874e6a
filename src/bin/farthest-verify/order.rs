//! How many states a puzzle has: the order of the group that its moves generate, by the method of
//! Schreier and Sims. Nothing here comes from the search.
//!
//! A *chain* of stabilisers has levels. Level i has a base point, the generators that fix all base
//! points before it, and the orbit of its base point. For every point of the orbit it keeps a
//! product of generators that takes the base point there (Knuth, "Efficient representation of perm
//! groups", Combinatorica 11, 1991). The chain is complete when every Schreier generator of a level
//! lies in the group of the levels below. The order is then the product of the orbits' lengths.

use crate::limits::{Checked, Limits, wide};
use crate::puzzle::{Puzzle, inverse, moved};
use std::collections::HashMap;

/// Largest order that is computed. No run has more states.
const MOST: u128 = 1 << 64;

type Permutation = Vec<u16>;

struct Level {
    base: u16,
    generators: Vec<Permutation>,
    /// The points of the orbit in the order in which they were found. For each, `carriers` has the
    /// product of generators that takes the base point there.
    orbit: Vec<u16>,
    carriers: HashMap<u16, Permutation>,
}

/// A chain of stabilisers, complete or still growing.
struct Chain<'a> {
    levels: Vec<Level>,
    place: &'a str,
    limits: &'a Limits,
}

/// The number of states that the moves reach, or none when there are more than 2^64.
pub fn of_puzzle(puzzle: &Puzzle, place: &str, limits: &Limits) -> Checked<Option<u128>> {
    of_group(&puzzle.moves, place, limits)
}

/// Whether each of these permutations is in the group that the moves generate. None when its order
/// is above 2^64.
pub fn has(puzzle: &Puzzle, permutations: &[Permutation], place: &str, limits: &Limits) -> Checked<Option<Vec<bool>>> {
    let Some(chain) = Chain::of_group(&puzzle.moves, place, limits)? else { return Ok(None) };
    let rests = |rest: Permutation| (0_u16..).zip(&rest).all(|(point, image)| point == *image);
    permutations.iter().map(|permutation| chain.sift(0, permutation).map(rests)).collect::<Checked<_>>().map(Some)
}

/// The order of the group that these permutations generate, or none when it is above 2^64.
pub fn of_group(generators: &[Permutation], place: &str, limits: &Limits) -> Checked<Option<u128>> {
    Ok(Chain::of_group(generators, place, limits)?.map(|chain| chain.order()))
}

impl<'a> Chain<'a> {
    /// The complete chain, or none when the order is above 2^64.
    fn of_group(generators: &[Permutation], place: &'a str, limits: &'a Limits) -> Checked<Option<Self>> {
        let mut chain = Self { levels: Vec::new(), place, limits };
        for generator in generators {
            chain.insert(0, generator.clone())?;
            if chain.order() > MOST {
                return Ok(None);
            }
        }
        Ok(Some(chain))
    }

    /// The product of the orbits' lengths. It is the order of the group when the chain is complete,
    /// and never more than the order before that.
    fn order(&self) -> u128 {
        self.levels.iter().fold(1, |order: u128, level| order.saturating_mul(u128::from(wide(level.orbit.len()))))
    }

    /// Strips a permutation that fixes all base points before level `from`: each level carries its
    /// base point back home. Returns the rest. In a complete chain, the rest is the identity
    /// exactly when these levels generate the permutation.
    fn sift(&self, from: usize, permutation: &Permutation) -> Checked<Permutation> {
        let mut rest = permutation.clone();
        for level in &self.levels[from..] {
            let Some(carrier) = level.carriers.get(&rest[usize::from(level.base)]) else { break };
            self.limits.steps(self.place, u128::from(wide(rest.len())))?;
            // This fixes the base point: the rest takes it away, and the inverse carrier takes it
            // back.
            rest = moved(&inverse(carrier), &rest);
        }
        Ok(rest)
    }

    /// Makes sure that the levels from `at` on generate this permutation, which must fix the base
    /// points before level `at`.
    fn insert(&mut self, at: usize, permutation: Permutation) -> Checked<()> {
        self.limits.steps(self.place, u128::from(wide(permutation.len())))?;
        let rest = self.sift(at, &permutation)?;
        let Some(point) = (0_u16..).zip(&rest).find(|(point, image)| point != *image).map(|(point, _)| point) else { return Ok(()) };
        if self.order() > MOST {
            return Ok(());
        }
        if at == self.levels.len() {
            let same = (0..u16::MAX).take(rest.len()).collect();
            let base = (0_u16..).zip(&permutation).find(|(point, image)| point != *image).map_or(point, |(point, _)| point);
            self.levels.push(Level { base, generators: Vec::new(), orbit: vec![base], carriers: HashMap::from([(base, same)]) });
        }
        self.levels[at].generators.push(permutation);
        let newest = self.levels[at].generators.len() - 1;
        let known = self.levels[at].orbit.len();
        let mut next = 0;
        while next < self.levels[at].orbit.len() {
            // Points that were known before have already met the older generators.
            let first = if next < known { newest } else { 0 };
            for number in first..=newest {
                self.extend(at, next, number)?;
            }
            next += 1;
        }
        Ok(())
    }

    /// Applies a generator to a point of the orbit. This gives a new point, or a Schreier generator
    /// for the levels below.
    fn extend(&mut self, at: usize, place: usize, generator: usize) -> Checked<()> {
        let level = &self.levels[at];
        let (point, generator) = (level.orbit[place], &level.generators[generator]);
        let size = u128::from(wide(generator.len()));
        self.limits.steps(self.place, 2 * size)?;
        let reached = generator[usize::from(point)];
        // First the carrier of the point, then the generator: x goes to generator[carrier[x]].
        let carried = moved(generator, &level.carriers[&point]);
        if let Some(carrier) = level.carriers.get(&reached) {
            let schreier = moved(&inverse(carrier), &carried);
            return self.insert(at + 1, schreier);
        }
        let kept: u128 = self.levels.iter().map(|level| u128::from(wide(level.orbit.len() + level.generators.len()))).sum();
        self.limits.memory(self.place, (kept + 1) * (2 * size + 96))?;
        let level = &mut self.levels[at];
        level.orbit.push(reached);
        level.carriers.insert(reached, carried);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn order(generators: &[Permutation]) -> Option<u128> {
        of_group(generators, "here", &Limits::new(1 << 30, 1 << 40)).unwrap_or_else(|refusal| panic!("{}", refusal.text))
    }

    /// The order of the group, counted by listing all its elements.
    fn listed(generators: &[Permutation]) -> u128 {
        let same: Permutation = (0..u16::MAX).take(generators[0].len()).collect();
        let mut known = HashSet::from([same.clone()]);
        let mut open = vec![same];
        while let Some(one) = open.pop() {
            for generator in generators {
                let next = moved(generator, &one);
                if known.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        u128::from(wide(known.len()))
    }

    #[test]
    fn orders_are_those_of_the_groups_listed_one_by_one() {
        // Permutations of up to 8 points, in all kinds of groups. A small generator of random
        // numbers makes them (Park and Miller).
        let mut seed = 4_711_u64;
        let mut below = |bound: u64| {
            seed = seed * 48_271 % 2_147_483_647;
            usize::try_from(seed % bound).expect("small")
        };
        for size in 1..=8 {
            for count in 1..=3 {
                for _ in 0..30 {
                    let generators: Vec<Permutation> = (0..count)
                        .map(|_| {
                            let mut one: Permutation = (0..size).collect();
                            // Few swaps make small groups.
                            for _ in 0..=below(4) {
                                one.swap(below(size.into()), below(size.into()));
                            }
                            one
                        })
                        .collect();
                    assert_eq!(order(&generators), Some(listed(&generators)), "{generators:?}");
                }
            }
        }
    }

    #[test]
    fn known_orders() {
        let cycle = |size: u16| -> Permutation { (0..size).map(|point| (point + 1) % size).collect() };
        let swap = |size: u16| -> Permutation { (0..size).map(|point| if point < 2 { 1 - point } else { point }).collect() };
        assert_eq!(order(&[cycle(1_000)]), Some(1_000));
        assert_eq!(order(&[cycle(20), swap(20)]), Some((1..=20).product()));
        assert_eq!(order(&[cycle(21), swap(21)]), None);
        assert_eq!(order(&[cycle(200), swap(200)]), None);
        // Conway's generators of M12, which has the order 95,040.
        let reversed: Permutation = (0..12).map(|point| 11 - point).collect();
        let mongean: Permutation = vec![0, 2, 4, 6, 8, 10, 11, 9, 7, 5, 3, 1];
        assert_eq!(order(&[reversed, mongean]), Some(95_040));
    }
}
