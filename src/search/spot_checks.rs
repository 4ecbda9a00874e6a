//! Spot checks of a level that was pulled: some of its states, the spots, are worked out again by
//! the slow expansion of states.
//!
//! Lanes and the unseen leave no second count of edges. So before such a level (depth d+1) is
//! closed, some states are unranked and all their successors or predecessors looked up (which are
//! the same where the generators are closed under inverses):
//! - every successor of a state of level d is in a level up to d+1;
//! - every state of level d+1 has a predecessor in level d, and none in a lower level;
//! - no rank that is still unseen has a predecessor in a level up to d;
//! - when all states of level d+1 are looked at, their predecessors in level d are as many as the
//!   edges up that the pull counted.
//!
//! The spots are the same for any number of processes: [`BASE_SPOTS`] states and one more for every
//! [`RANKS_PER_SPOT`] ranks of the space, of each of the three sets, at places drawn from depth and
//! a fixed seed; a set of fewer states is checked whole, as the unseen are in the last levels. They
//! find faults of a kind (a generator, plane or block of lanes gone wrong) with near certainty and
//! a single wrong state of a large level seldom; `farthest recheck` finds those. Each process asks
//! the owners of the neighbours: two exchanges. Cost: about 1 % of the pulled levels of
//! turnstyle-12, 0.3 ms a level of small puzzles.

use super::job::Job;
use super::level_totals::LevelTotals;
use super::progress::Progress;
use super::space::Space;
use crate::base::fingerprint::mix64;
use crate::base::ids::{index_u32, to_u64, to_usize};
use crate::base::{Error, Result, StateRank, fault_point};
use crate::exchange::agree;
use crate::expand::Moves;
use crate::store::{Shard, Storage};

/// Spots of a level of any size.
const BASE_SPOTS: u64 = 256;

/// Ranks of the space for which there is one more spot.
const RANKS_PER_SPOT: u64 = 1 << 20;

/// Most spots of a level; in compact storage, where looking into a level takes ten microseconds, an
/// eighth.
const MOST_SPOTS: u64 = 1 << 16;
const MOST_SPOTS_COMPACT: u64 = 1 << 13;

/// Where a neighbour is: in no level, below level d, in level d, in level d+1.
const UNSEEN: u64 = 0;
const LOWER: u64 = 1;
const FRONTIER: u64 = 2;
const NEXT: u64 = 3;
/// Answer where the rank is not owned, which ends the search.
const NOT_OWNED: u64 = 4;

/// Checks spots of the last closed level and of the level found, of which `totals` says how many
/// states it has and how many edges lead to it. Collective.
///
/// # Errors
/// `Invariant`, the same on every process.
pub fn check(job: &Job<'_>, space: &Space<'_>, progress: &Progress, totals: &LevelTotals) -> Result<()> {
    let (found, up) = (totals.found.states, totals.edges.up);
    let most = match job.settings.storage {
        Storage::Memory | Storage::File => MOST_SPOTS,
        Storage::Compact => MOST_SPOTS_COMPACT,
    };
    let wanted = (BASE_SPOTS + space.partition.state_count() / RANKS_PER_SPOT).min(most);
    let last = progress.last_level();
    let old = spots(space, progress, last.states, wanted, |shard, from, enough, states| {
        shard.frontier.list_from(from, enough, shard.ranks.start, states);
    });
    let new = spots(space, progress, found, wanted, |shard, from, enough, states| {
        shard.next.list_from(from, enough, shard.ranks.start, states);
    });
    let unseen = space.partition.state_count() - progress.total_states() - found;
    let rest = spots(space, progress, unseen, wanted, |shard, from, enough, states| {
        shard.seen.list_absent_from(from, enough, shard.ranks.start, states);
        states.retain(|rank| !shard.ranks.contains(rank) || !shard.next.contains(rank - shard.ranks.start));
    });
    let wanted_moves = old.iter().map(|state| (*state, &space.moves));
    let wanted_moves = wanted_moves.chain(new.iter().chain(&rest).map(|state| (*state, space.moves_to())));
    let places = look_up(job, space, &progress.shards, wanted_moves)?;
    let (of_old, others) = places.split_at(old.len());
    let (of_new, of_rest) = others.split_at(new.len());
    let count = |states: &[Vec<u64>], is_wrong: fn(&[u64]) -> bool| to_u64(states.iter().filter(|places| is_wrong(places)).count());
    let mut sums = [
        to_u64(of_new.iter().flatten().filter(|&&place| place == FRONTIER).count()),
        count(of_old, |neighbours| neighbours.contains(&UNSEEN)),
        count(of_new, |neighbours| neighbours.contains(&LOWER) || !neighbours.contains(&FRONTIER)),
        count(of_rest, |neighbours| neighbours.contains(&LOWER) || neighbours.contains(&FRONTIER)),
    ];
    job.exchange.sum(&mut sums);
    let [up_again, wrong @ ..] = sums;
    let (depth, next) = (last.depth, last.depth.next());
    let rules = [
        format!("sampled states of level {depth} with a neighbour in no level up to {next}"),
        format!("sampled states of level {next} with no neighbour in level {depth}, or with a lower one"),
        format!("sampled states behind level {next} with a neighbour in a level up to {depth}"),
    ];
    match rules.into_iter().zip(wrong).find(|(_, wrong)| *wrong > 0) {
        Some((rule, wrong)) => Err(Error::invariant(rule, wrong, 0)),
        None if found <= wanted && up_again != up => {
            Err(Error::invariant(format!("edges of level {depth} up, counted and sampled"), up, up_again))
        }
        None => Ok(()),
    }
}

/// States of a set of `states` in all, by rank, of the own shards: all when there are at most
/// `wanted`, else those found from places drawn at random. `list` appends the set's members in a
/// shard from an offset on, until there are enough; the offset is a multiple of 64.
fn spots(space: &Space<'_>, progress: &Progress, states: u64, wanted: u64, list: impl Fn(&Shard, u64, usize, &mut Vec<u64>)) -> Vec<u64> {
    let mut spots = Vec::new();
    if states <= wanted {
        progress.shards.iter().for_each(|shard| list(shard, 0, usize::MAX, &mut spots));
        return spots;
    }
    let seed = mix64(u64::from(progress.depth().0) ^ 0x3c6e_f372_fe94_f82b);
    let mut near = Vec::new();
    for number in 0..wanted {
        let draw = mix64(seed.wrapping_add(number));
        let place = draw % space.partition.state_count();
        // Where it is not owned the owner draws the same place, and looks there.
        let Some(own) = progress.own_shard(space.partition.shard_of(StateRank(place))) else { continue };
        let shard = &progress.shards[own];
        near.clear();
        // From the start of a word; of bits it lists the whole word, and any of its states is as
        // good.
        list(shard, (place - shard.ranks.start) / 64 * 64, 1, &mut near);
        if !near.is_empty() {
            spots.push(near[to_usize((draw >> 32) % to_u64(near.len()))]);
        }
    }
    spots
}

/// For each of `states` where all its neighbours by these moves are, in their order. Collective. A
/// missing answer would read as "unseen", which is what some of the rules want: so messages of
/// another length, and ranks that are not owned where they arrive, are errors.
fn look_up<'a>(
    job: &Job<'_>,
    space: &Space<'_>,
    shards: &[Shard],
    states: impl Iterator<Item = (u64, &'a Moves)>,
) -> Result<Vec<Vec<u64>>> {
    let mut questions: Vec<Vec<u64>> = vec![Vec::new(); index_u32(job.exchange.processes())];
    let mut asked: Vec<Vec<usize>> = Vec::new();
    for (rank, moves) in states {
        let mut owners = Vec::with_capacity(moves.generators());
        moves.for_each(rank, |_, neighbour| {
            let owner = space.owner_of(StateRank(neighbour)).index();
            questions[owner].push(neighbour);
            owners.push(owner);
        });
        asked.push(owners);
    }
    let wanted: Vec<usize> = questions.iter().map(Vec::len).collect();
    let mut foreign = None;
    let mut answer = |rank: u64| {
        place_of(space, shards, StateRank(rank)).unwrap_or_else(|| {
            foreign = Some(rank);
            NOT_OWNED
        })
    };
    let given = job.exchange.all_to_all(questions).into_iter().map(|ranks| ranks.into_iter().map(&mut answer).collect()).collect();
    let mut answers = job.exchange.all_to_all(given);
    if fault_point::damages("spot-answer") {
        answers.iter_mut().rev().find_map(Vec::pop);
    }
    let checked = match (foreign, answers.iter().zip(&wanted).position(|(answers, &wanted)| answers.len() != wanted)) {
        (Some(rank), _) => {
            let what = format!("sampled neighbour that process {} was asked for", job.process().0);
            Err(Error::invariant(what, rank, "a rank of one of its own shards"))
        }
        (None, Some(process)) => {
            let what = format!("answers about sampled neighbours from process {process}");
            Err(Error::invariant(what, answers[process].len(), wanted[process]))
        }
        (None, None) => Ok(()),
    };
    agree(job.exchange, checked)?;
    let mut read = vec![0; answers.len()];
    let mut next = |owner: usize| {
        read[owner] += 1;
        answers[owner][read[owner] - 1]
    };
    Ok(asked.into_iter().map(|owners| owners.into_iter().map(&mut next).collect()).collect())
}

/// Where an own rank is; `None` when it is another process's.
fn place_of(space: &Space<'_>, shards: &[Shard], rank: StateRank) -> Option<u64> {
    let shard = &shards[space.place_among(shards, rank)?];
    let offset = rank.0 - shard.ranks.start;
    // A packed level is slow to look into: one of the two is enough, as the levels are disjoint and
    // the frontier is seen.
    Some(match shard.seen.contains(offset) {
        true if shard.frontier.contains(offset) => FRONTIER,
        true => LOWER,
        false if shard.next.contains(offset) => NEXT,
        false => UNSEEN,
    })
}
