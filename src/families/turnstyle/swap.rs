//! Whether two neighbours can be exchanged and everything else left as it is: the certificates that
//! settle it for a size.

use super::arrangements;
use super::construction::{swap_word, three_cycle_word};
use super::ring::{Ring, check_word, mirrored};
use super::shortest::{LARGEST_SIZE, Shortest, shortest_words, turnstyle_step};
use crate::base::{Error, Result};
use crate::evidence::certificates::{Certificate, Claim, ClosedSet, Group, GroupName, Invariant, InvariantName, Labels};
use crate::puzzle::ValueBall;
use crate::search::shortest::MemoryLimit;
use std::collections::BTreeSet;

/// Largest size that certificates can name.
pub const LARGEST_CERTIFIED: u16 = 1_000;

/// Largest closed set that is looked for: the 120 states of size 6.
const MOST_CLOSED: usize = 1_000;

/// What is known of SWAP for a size.
#[derive(Debug)]
pub struct SwapEvidence {
    /// Pieces.
    pub size: u16,
    /// File names and certificates.
    pub certificates: Vec<(String, Certificate)>,
    /// Moves of the constructed word, where there is a SWAP.
    pub constructed: Option<usize>,
    /// Fewest moves for each pair from the turntable's left one on; empty when they were not
    /// searched.
    pub shortest: Vec<usize>,
}

/// The evidence for a size; with a limit, and when ranks of the size exist, with shortest words.
///
/// # Errors
/// `Config` when the balls outgrow the limit; `Invariant` when anything replayed is not what it
/// should be.
pub fn evidence(size: u16, shortest: Option<MemoryLimit>) -> Result<SwapEvidence> {
    let mut all = SwapEvidence { size, certificates: Vec::new(), constructed: None, shortest: Vec::new() };
    let puzzle = turnstyle_step(size);
    let mut add = |name: String, claim: Box<dyn Claim>| all.certificates.push((name, Certificate { puzzle: puzzle.clone(), claim }));
    let from = arrangements::solved(size);
    if size == 4 || size == 6 {
        let states = closed_set(&from)?;
        for pair in 0..size {
            let to = arrangements::swap(size, pair);
            if states.contains(&to) {
                return Err(Error::invariant("the closed set of a small ring", "a SWAP in it", "none"));
            }
            let states = states.iter().cloned().collect();
            add(format!("no-swap-{:02}.cert", pair + 1), Box::new(ClosedSet { from: from.clone(), to, states }));
        }
        return Ok(all);
    }
    if size % 2 == 1 {
        let to = arrangements::swap(size, 0);
        add("no-swap.cert".into(), Box::new(Invariant { invariant: InvariantName::Parity, from, to }));
        if let Some(word) = three_cycle_word(size)? {
            add("group-alternating.cert".into(), Box::new(Group { group: GroupName::Alternating, word }));
        }
        return Ok(all);
    }
    if let Some((word, _)) = swap_word(size)? {
        let length = word.len();
        add("group-symmetric.cert".into(), Box::new(Group { group: GroupName::Symmetric, word }));
        all.constructed = Some(length);
    }
    if let Some(limit) = shortest.filter(|_| size <= LARGEST_SIZE) {
        for (pair, found) in (1..).zip(shortest_swaps(size, limit)?) {
            all.shortest.push(found.length());
            all.certificates.extend(found.certificate().map(|certificate| (format!("shortest-{pair:02}.cert"), certificate)));
        }
    }
    Ok(all)
}

/// A shortest SWAP of each pair, from the turntable's left one on. The mirror halves the work: it
/// takes pairs to pairs and balls to balls.
///
/// # Errors
/// `Config` when the balls outgrow the limit.
pub fn shortest_swaps(size: u16, limit: MemoryLimit) -> Result<Vec<Shortest>> {
    let own: Vec<u16> = (0..size).filter(|&pair| pair <= arrangements::mirrored_pair(size, pair)).collect();
    let targets: Vec<Labels> = own.iter().map(|&pair| arrangements::swap(size, pair)).collect();
    let found: Vec<Shortest> = shortest_words(size, &targets, limit, false)?.into_iter().flatten().collect();
    (0..size)
        .map(|pair| {
            let mirror = arrangements::mirrored_pair(size, pair);
            let index = own.iter().position(|&known| known == pair.min(mirror));
            let known = index
                .and_then(|index| found.get(index))
                .ok_or_else(|| Error::invariant("pairs and their mirror images", pair, "one of each two"))?;
            if pair <= mirror {
                return Ok(known.clone());
            }
            let to = arrangements::swap(size, pair);
            let word = mirrored(&known.word);
            check_word(&arrangements::solved(size), &to, &word)?;
            Ok(Shortest { to, word, ..known.clone() })
        })
        .collect()
}

/// Everything that is reached from `from`, when that is little.
fn closed_set(from: &Labels) -> Result<BTreeSet<Labels>> {
    let names = ["R", "L", "F"];
    let set = ValueBall::whole(from.clone(), names.len(), MOST_CLOSED, |labels, number| {
        let mut ring = Ring::of(labels);
        ring.play(names[number]).ok()?;
        Some(ring.labels())
    });
    if set.outermost() > 0 {
        return Err(Error::invariant("the closed set of a small ring", format!("more than {MOST_CLOSED} states"), "8 or 120"));
    }
    Ok(set.states().cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_size_has_the_evidence_that_fits_it() {
        let names = |size: u16| -> Vec<String> {
            evidence(size, None)
                .expect("small")
                .certificates
                .into_iter()
                .map(|(name, certificate)| format!("{name} {}", certificate.claim.kind()))
                .collect()
        };
        assert_eq!(names(4).len(), 4);
        assert_eq!(names(6)[5], "no-swap-06.cert closed-set");
        assert_eq!(names(5), ["no-swap.cert invariant", "group-alternating.cert group"]);
        assert_eq!(names(8), ["group-symmetric.cert group"]);
        assert_eq!(names(1_000), ["group-symmetric.cert group"]);
        let text = |size: u16| evidence(size, None).expect("small").certificates[0].1.to_text();
        assert!(text(4).contains("\nstates 8\n") && text(6).contains("\nstates 120\n"));
    }

    #[test]
    fn mirrored_pairs_have_their_own_words() {
        let swaps = shortest_swaps(10, MemoryLimit { bytes: 1 << 28 }).expect("small");
        let lengths: Vec<usize> = swaps.iter().map(Shortest::length).collect();
        assert_eq!(lengths, [25, 25, 25, 24, 24, 24, 24, 24, 24, 24]);
        for (pair, found) in (0..10).zip(&swaps) {
            assert_eq!(found.to, arrangements::swap(10, pair));
        }
    }
}
