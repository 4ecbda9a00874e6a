//! Expansion of the unseen: every rank that is in no level yet asks the owners of its neighbours whether they are seen; one seen neighbour makes it new.
//!
//! Two exchanges a round: the neighbours' ranks, and a bit for each in the same order. The generators must be closed under inverses.
//!
//! A missing answer would read as "unseen", and the state be found one level too deep with every sum in balance. So both ways are tallied: the questions as the ranks that
//! they are, the answers word by word, each bound to the 64 questions that it answers. A message of another length, and a rank whose shard is not owned where it
//! arrives, are errors on all processes.

use super::frontier::UnseenReader;
use crate::base::ids::{index_u32, low_u32, to_u64};
use crate::ranking::Partition;
use crate::base::{Error, ProcessId, Result, StateRank, fault_point};
use crate::search::Search;
use crate::search::guards::Tally;
use crate::search::level::{RoundEnd, Work, end_round};
use crate::search::machine::stop::StopReason;
use crate::search::observer::Observer;
use crate::search::setup::place_of;
use crate::store::Shard;
use rayon::prelude::*;

/// Bits of a word: so many questions share a word of answers.
const WORD_QUESTIONS: usize = 64;

/// Finds the next level among the unseen ranks of all processes. Returns the reason when asked to stop on the way.
///
/// # Errors
/// The same on every process.
pub fn run(search: &mut Search<'_>, observer: &mut dyn Observer, work: &mut Work) -> Result<Option<StopReason>> {
    let mut reader = UnseenReader::default();
    let mut batch = Vec::new();
    let enough = search.round_states();
    let own_frontier = search.own_frontier();
    loop {
        reader.next_batch(&search.shards, enough, &mut batch);
        let questions = ask(search, &batch);
        work.sent = work.sent.plus(questions.tally);
        let mut asked = search.exchange.all_to_all(questions.messages);
        if fault_point::damages("drop-message") {
            asked.iter_mut().rev().find_map(Vec::pop);
        }
        // An error waits for the end of the round, where all agree on it; until then every process takes part in the exchanges.
        let (answers, answered) = answer(search, &asked, work);
        let mut answers = search.exchange.all_to_all(answers);
        damage(&mut answers);
        let accepted = answered.and_then(|()| accept(search, &batch, &questions.owners, &questions.placed, &answers, work));
        let more = batch.len() >= enough;
        if !more {
            work.expanded = own_frontier;
        }
        work.covered += to_u64(batch.len());
        let found = search.shards.iter().map(|shard| shard.next.count()).sum();
        match end_round(search, observer, more, accepted, work.expanded, found)? {
            RoundEnd::More => {}
            RoundEnd::Last => return Ok(None),
            RoundEnd::Stop(reason) => return Ok(Some(reason)),
        }
    }
}

/// Spoils answers where a test asks for it.
fn damage(answers: &mut [Vec<u64>]) {
    if let Some(words) = answers.iter_mut().rev().find(|words| !words.is_empty()) {
        if fault_point::damages("drop-answer") {
            words.pop();
        }
        if fault_point::damages("long-answer") {
            words.push(0);
        }
        if fault_point::damages("flip-answer") {
            words[0] ^= 1;
        }
    }
    if fault_point::damages("swap-answers") {
        let differ = |words: &&mut Vec<u64>| words.iter().any(|&word| word != words[0]);
        if let Some(words) = answers.iter_mut().find(differ) {
            let other = words.iter().position(|&word| word != words[0]).unwrap_or(0);
            words.swap(0, other);
        }
    }
}

/// Spoils the states that were found where a test asks for it.
fn damage_states(search: &Search<'_>, batch: &[u64], new: &mut Vec<u64>, work: &mut Work) {
    if fault_point::damages("foreign-state") {
        new.push(search.foreign_rank(search.exchange.process()));
    }
    if fault_point::damages("lost-state") {
        new.pop();
    }
    if fault_point::damages("false-state") {
        new.extend(batch.iter().find(|rank| !new.contains(rank)));
    }
    if fault_point::damages("lost-edge") {
        work.edges.up -= 1;
    }
    new.sort_unstable();
}

/// The questions of a round.
struct Questions {
    /// Ranks to look up, by owner.
    messages: Vec<Vec<u64>>,
    /// What is in them.
    tally: Tally,
    /// For each owner and word of answers, what the word's questions are ([`PlacedTally`]).
    placed: Vec<Vec<u64>>,
    /// The owner of each question, in the order of states and generators.
    owners: Vec<u32>,
}

/// The tally of the questions of one word, and a sum that depends on their order, too.
#[derive(Default)]
struct PlacedTally {
    tally: Tally,
    placed: u64,
}

impl PlacedTally {
    fn of(ranks: &[u64]) -> Self {
        let mut sum = Self::default();
        for &rank in ranks {
            let before = sum.tally.mixed;
            sum.tally.add(rank);
            sum.placed = sum.placed.rotate_left(1).wrapping_add(sum.tally.mixed.wrapping_sub(before));
        }
        sum
    }
}

/// The neighbours of `batch`.
fn ask(search: &Search<'_>, batch: &[u64]) -> Questions {
    let processes = index_u32(search.exchange.processes());
    let (expansion, partition, owner_of) = (&search.expansion, &search.partition, &search.owners);
    let part_states = batch.len().div_ceil(search.settings.threads * 4).max(1_024);
    let parts: Vec<Vec<u64>> = search.pool.install(|| {
        batch
            .par_chunks(part_states)
            .map(|part| {
                let mut neighbours = Vec::with_capacity(part.len() * expansion.generators());
                for &rank in part {
                    expansion.expand(StateRank(rank), |neighbour| neighbours.push(neighbour.0));
                }
                neighbours
            })
            .collect()
    });
    let mut messages: Vec<Vec<u64>> = vec![Vec::new(); processes];
    let mut owners = Vec::with_capacity(batch.len() * expansion.generators());
    for rank in parts.into_iter().flatten() {
        let owner = if processes == 1 { 0 } else { owner_of[partition.shard_of(StateRank(rank)).index()].0 };
        messages[index_u32(owner)].push(rank);
        owners.push(owner);
    }
    if fault_point::damages("foreign-question")
        && let Some(place) = messages.iter().position(|ranks| !ranks.is_empty())
        && let Some(rank) = messages[place].last_mut()
    {
        *rank = search.foreign_rank(ProcessId(low_u32(to_u64(place))));
    }
    let (placed, tallies): (Vec<Vec<u64>>, Vec<Tally>) =
        search.pool.install(|| messages.par_iter().map(|ranks| placed_tallies(ranks)).unzip());
    let tally = tallies.into_iter().fold(Tally::default(), Tally::plus);
    Questions { messages, tally, placed, owners }
}

/// What the questions of each word of answers are, and the tally of all.
fn placed_tallies(ranks: &[u64]) -> (Vec<u64>, Tally) {
    let words = ranks.par_chunks(WORD_QUESTIONS).with_min_len(PART_WORDS).map(PlacedTally::of);
    let (placed, tallies): (Vec<u64>, Vec<Tally>) = words.map(|word| (word.placed, word.tally)).unzip();
    (placed, tallies.into_iter().fold(Tally::default(), Tally::plus))
}

/// Tally of words of answers, each bound to its questions. The questions' sum is known to both sides without being sent.
fn tally_answers(words: &[u64], placed: &[u64]) -> Tally {
    let mut tally = Tally::default();
    words.iter().zip(placed).for_each(|(word, placed)| tally.add(word ^ placed));
    tally
}

/// For each question whether the rank is seen, as bits. A message for each asker, of the right length, even with an error.
fn answer(search: &Search<'_>, asked: &[Vec<u64>], work: &mut Work) -> (Vec<Vec<u64>>, Result<()>) {
    let (partition, shards) = (&search.partition, &search.shards);
    let mut foreign = None;
    let mut messages = Vec::with_capacity(asked.len());
    for ranks in asked {
        let parts: Vec<Answers> =
            search.pool.install(|| ranks.par_chunks(PART_WORDS * WORD_QUESTIONS).map(|part| answers_of(partition, shards, part)).collect());
        let mut words = Vec::with_capacity(ranks.len().div_ceil(WORD_QUESTIONS));
        for part in parts {
            work.received = work.received.plus(part.received);
            work.answered = work.answered.plus(part.answered);
            foreign = foreign.or(part.foreign);
            words.extend(part.words);
        }
        messages.push(words);
    }
    (messages, foreign.map_or(Ok(()), |rank| Err(foreign_error(search, "rank that was asked for", rank))))
}

/// Words of answers that a thread works out at a time.
const PART_WORDS: usize = 256;

/// Some of the answers to a process.
#[derive(Default)]
struct Answers {
    words: Vec<u64>,
    received: Tally,
    answered: Tally,
    /// A rank whose shard is not owned here.
    foreign: Option<u64>,
}

fn answers_of(partition: &Partition, shards: &[Shard], ranks: &[u64]) -> Answers {
    let mut answers = Answers::default();
    for part in ranks.chunks(WORD_QUESTIONS) {
        let mut word = 0;
        for (bit, &rank) in part.iter().enumerate() {
            match place_of(partition, shards, StateRank(rank)) {
                Some(number) => {
                    let shard = &shards[number];
                    word |= u64::from(shard.seen.contains(rank - shard.ranks.start)) << bit;
                }
                None => answers.foreign = Some(rank),
            }
        }
        let PlacedTally { tally, placed } = PlacedTally::of(part);
        answers.received = answers.received.plus(tally);
        answers.answered.add(word ^ placed);
        answers.words.push(word);
    }
    answers
}

fn foreign_error(search: &Search<'_>, what: &str, rank: u64) -> Error {
    Error::invariant(format!("{what} at process {}", search.exchange.process().0), rank, "a rank of one of its own shards")
}

/// Keeps the states of `batch` with a seen neighbour.
fn accept(
    search: &mut Search<'_>,
    batch: &[u64],
    owners: &[u32],
    placed: &[Vec<u64>],
    answers: &[Vec<u64>],
    work: &mut Work,
) -> Result<()> {
    for (process, (words, placed)) in answers.iter().zip(placed).enumerate() {
        if words.len() != placed.len() {
            return Err(Error::invariant(format!("words of answers from process {process}"), words.len(), placed.len()));
        }
        work.answers = work.answers.plus(tally_answers(words, placed));
    }
    let mut read = vec![0_usize; answers.len()];
    let generators = search.expansion.generators();
    let mut new: Vec<u64> = Vec::new();
    for (state, &rank) in batch.iter().enumerate() {
        let seen: u64 = owners[state * generators..(state + 1) * generators]
            .iter()
            .map(|&owner| {
                let place = &mut read[index_u32(owner)];
                let bit = answers[index_u32(owner)][*place / WORD_QUESTIONS] >> (*place % WORD_QUESTIONS) & 1;
                *place += 1;
                bit
            })
            .sum();
        work.edges.up += seen;
        if seen > 0 {
            new.push(rank);
        }
    }
    if !new.is_empty() {
        damage_states(search, batch, &mut new, work);
    }
    // The batch ascends, so the states of a shard are neighbours in it.
    let mut start = 0;
    while start < new.len() {
        let number = search.own_shard_of(StateRank(new[start])).ok_or_else(|| foreign_error(search, "new state", new[start]))?;
        let shard = &mut search.shards[number];
        let end = start + new[start..].partition_point(|&rank| rank < shard.ranks.end);
        let mut offsets: Vec<u64> = new[start..end].iter().map(|rank| rank - shard.ranks.start).collect();
        shard.next.insert(&mut offsets)?;
        start = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers to the same questions in another order are other answers.
    #[test]
    fn the_order_of_questions_matters_to_the_answers_only() {
        let (one, other) = (PlacedTally::of(&[5, 8, 5]), PlacedTally::of(&[5, 5, 8]));
        assert_eq!(one.tally, other.tally);
        assert_ne!(one.placed, other.placed);
        assert_ne!(tally_answers(&[1, 2], &[one.placed, other.placed]), tally_answers(&[2, 1], &[one.placed, other.placed]));
    }
}
