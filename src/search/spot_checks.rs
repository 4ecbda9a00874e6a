//! Spot checks of a level that was pulled: a sample of its states is worked out again by the slow expansion of states.
//!
//! Lanes and the unseen leave no second count of edges. So before such a level (depth d+1) is closed, some states are unranked and all their neighbours
//! looked up, by the rules that hold when the generators are closed under inverses:
//! - every neighbour of a state of level d is in a level up to d+1;
//! - every state of level d+1 has a neighbour in level d, and none in a lower level.
//!
//! The sample is the same for any number of processes: [`BASE_SAMPLE`] states and one more for every [`RANKS_PER_SAMPLE`] ranks of the space, of each of the two
//! levels, at places drawn from depth and a fixed seed; a level of fewer states is checked whole. It finds faults of a kind (a generator, plane or block of lanes
//! gone wrong) with near certainty and a single wrong state of a large level seldom; `farthest recheck` finds those. Each process asks the owners of the
//! neighbours: two exchanges. Cost: below one percent of the level's time.

use super::Search;
use crate::base::ids::{index_u32, to_u64, to_usize};
use crate::base::mix::mix64;
use crate::base::{Error, Result, StateRank};
use crate::store::{RankSet, Shard};

/// States sampled of a level of any size.
const BASE_SAMPLE: u64 = 64;

/// Ranks of the space for which one more state is sampled.
const RANKS_PER_SAMPLE: u64 = 1 << 17;

/// Most states sampled of a level.
const MOST_SAMPLE: u64 = 1 << 16;

/// Where a neighbour is: in no level, below level d, in level d, in level d+1.
const UNSEEN: u64 = 0;
const LOWER: u64 = 1;
const FRONTIER: u64 = 2;
const NEXT: u64 = 3;

/// Checks samples of the last closed level and of the level found, which has `found` states. Collective.
///
/// # Errors
/// `Invariant`, the same on every process.
pub fn check(search: &Search<'_>, found: u64) -> Result<()> {
    let wanted = (BASE_SAMPLE + search.partition.state_count() / RANKS_PER_SAMPLE).min(MOST_SAMPLE);
    let last = search.last_level();
    let old = sample(search, |shard| &shard.frontier, last.states, wanted);
    let new = sample(search, |shard| &shard.next, found, wanted);
    let places = look_up(search, old.iter().chain(&new));
    let (of_old, of_new) = places.split_at(old.len() * search.expansion.generators());
    let generators = search.expansion.generators();
    let count = |places: &[u64], is_wrong: fn(&[u64]) -> bool| to_u64(places.chunks(generators).filter(|state| is_wrong(state)).count());
    let mut wrong = [
        count(of_old, |neighbours| neighbours.contains(&UNSEEN)),
        count(of_new, |neighbours| neighbours.contains(&LOWER) || !neighbours.contains(&FRONTIER)),
    ];
    search.exchange.sum(&mut wrong);
    let depth = last.depth;
    if wrong[0] > 0 {
        let what = format!("sampled states of level {depth} with a neighbour in no level up to {}", depth.next());
        return Err(Error::invariant(what, wrong[0], 0));
    }
    if wrong[1] > 0 {
        let what = format!("sampled states of level {} with no neighbour in level {depth}, or with a lower one", depth.next());
        return Err(Error::invariant(what, wrong[1], 0));
    }
    Ok(())
}

/// States of a set of the own shards, by rank: all when the level has at most `wanted`, else those found from places drawn at random.
fn sample(search: &Search<'_>, set: impl Fn(&Shard) -> &RankSet, states: u64, wanted: u64) -> Vec<u64> {
    let mut sample = Vec::new();
    if states <= wanted {
        for shard in &search.shards {
            set(shard).list_from(0, usize::MAX, shard.ranks.start, &mut sample);
        }
        return sample;
    }
    let seed = mix64(u64::from(search.depth().0) ^ 0x3c6e_f372_fe94_f82b);
    let mut near = Vec::new();
    for number in 0..wanted {
        let draw = mix64(seed.wrapping_add(number));
        let place = draw % search.partition.state_count();
        let Some(own) = search.own_shard(search.partition.shard_of(StateRank(place))) else { continue };
        let shard = &search.shards[own];
        near.clear();
        // Of bits it lists a whole word: any of its states is as good.
        set(shard).list_from(place - shard.ranks.start, 1, shard.ranks.start, &mut near);
        if !near.is_empty() {
            sample.push(near[to_usize((draw >> 32) % to_u64(near.len()))]);
        }
    }
    sample
}

/// Where all neighbours of `states` are, state by state in the order of the generators.
fn look_up<'a>(search: &Search<'_>, states: impl Iterator<Item = &'a u64>) -> Vec<u64> {
    let mut questions: Vec<Vec<u64>> = vec![Vec::new(); index_u32(search.exchange.processes())];
    let mut asked = Vec::new();
    for &rank in states {
        search.expansion.expand(StateRank(rank), |neighbour| {
            let owner = search.owners[search.partition.shard_of(neighbour).index()].index();
            questions[owner].push(neighbour.0);
            asked.push(owner);
        });
    }
    let answer = |ranks: Vec<u64>| ranks.into_iter().map(|rank| place_of(search, StateRank(rank))).collect();
    let answers = search.exchange.all_to_all(search.exchange.all_to_all(questions).into_iter().map(answer).collect());
    let mut answers: Vec<_> = answers.into_iter().map(Vec::into_iter).collect();
    asked.into_iter().map(|owner| answers[owner].next().unwrap_or(UNSEEN)).collect()
}

/// Where an own rank is.
fn place_of(search: &Search<'_>, rank: StateRank) -> u64 {
    let Some(own) = search.own_shard(search.partition.shard_of(rank)) else { return UNSEEN };
    let shard = &search.shards[own];
    let offset = rank.0 - shard.ranks.start;
    // A packed level is slow to look into: one of the two is enough, as the levels are disjoint and the frontier is seen.
    match shard.seen.contains(offset) {
        true if shard.frontier.contains(offset) => FRONTIER,
        true => LOWER,
        false if shard.next.contains(offset) => NEXT,
        false => UNSEEN,
    }
}
