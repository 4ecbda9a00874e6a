//! Expansion of the unseen: every rank that is in no level yet asks the owners of its neighbours
//! whether they are seen; one seen neighbour makes it new.
//!
//! Two exchanges a round: the neighbours' ranks, and a bit for each in the same order. The
//! generators must be closed under inverses.
//!
//! A missing answer would read as "unseen", and the state be found one level too deep with every
//! sum in balance. So both ways are tallied: the questions as the ranks that they are, the answers
//! word by word, each bound to the 64 questions that it answers. A message of another length, and a
//! rank whose shard is not owned where it arrives, are errors on all processes.

use super::costs;
use super::frontier::UnseenReader;
use crate::base::ids::{approximate, index_u32, low_u32, to_u64};
use crate::base::{Error, ProcessId, Result, StateRank, fault_point};
use crate::search::expansion_row::{Expansion, LevelForm};
use crate::search::guards;
use crate::search::job::Job;
use crate::search::machine::stop::StopReason;
use crate::search::observer::Observer;
use crate::search::progress::Progress;
use crate::search::round::{OwnSums, Round, RoundEnd, end_round};
use crate::search::space::Space;
use crate::search::spot_checks;
use crate::search::tally::Tally;
use crate::store::Shard;
use rayon::prelude::*;

/// Bits of a word: so many questions share a word of answers.
const WORD_QUESTIONS: usize = 64;

/// Its row in the table.
pub const EXPANSION: Expansion = Expansion {
    name: NAME,
    seconds,
    leaves: LevelForm::Listed,
    run,
    covers: "unseen ranks that asked for their neighbours",
    must_cover: costs::unseen,
    edges: guards::completed_edges,
    second_look: Some(spot_checks::check),
};

/// Its name.
pub const NAME: &str = "unseen";

/// Every unseen state asks for its neighbours: right when few states are left but the last level
/// was large, and lanes are dear (generators that move many labels between prefix and suffix).
fn seconds(space: &Space<'_>, progress: &Progress) -> Option<f64> {
    let asking = approximate(costs::unseen(space, progress)) * costs::by_state(space);
    // Answers are read back state by state, so all states must have as many neighbours.
    let is_possible = space.promises.is_inverse_closed() && space.promises.moves().is_some();
    is_possible.then_some((costs::passing(space) + asking) * 1e-9)
}

/// Finds the next level among the unseen ranks of all processes. Returns the reason when asked to
/// stop on the way.
///
/// # Errors
/// The same on every process.
fn run(
    job: &Job<'_>,
    space: &Space<'_>,
    progress: &mut Progress,
    observer: &mut dyn Observer,
    sums: &mut OwnSums,
) -> Result<Option<StopReason>> {
    let mut reader = UnseenReader::default();
    let mut batch = Vec::new();
    let enough = space.round_states(job.settings.round_successors);
    let own_frontier = progress.own_frontier();
    loop {
        reader.next_batch(&progress.shards, enough, &mut batch);
        let mut questions = ask(job, space, &batch);
        sums.sent = sums.sent.plus(questions.tally);
        let mut asked = job.exchange.all_to_all(std::mem::take(&mut questions.messages));
        if fault_point::damages("drop-message") {
            asked.iter_mut().rev().find_map(Vec::pop);
        }
        // An error waits for the end of the round, where all agree on it; until then every process
        // takes part in the exchanges.
        let (answers, answered) = answer(job, space, &progress.shards, &asked, sums);
        let mut answers = job.exchange.all_to_all(answers);
        damage(&mut answers);
        let accepted = answered.and_then(|()| accept(job, space, &mut progress.shards, &batch, &questions, &answers, sums));
        let more = batch.len() >= enough;
        if !more {
            sums.expanded = own_frontier;
        }
        sums.covered += to_u64(batch.len());
        let found = progress.shards.iter().map(|shard| shard.next.count()).sum();
        let round = Round { more, result: accepted, expanded: sums.expanded, found };
        match end_round(job, progress, observer, round)? {
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
fn damage_states(job: &Job<'_>, space: &Space<'_>, batch: &[u64], new: &mut Vec<u64>, sums: &mut OwnSums) {
    if fault_point::damages("foreign-state") {
        new.push(space.foreign_rank(job.process()));
    }
    if fault_point::damages("lost-state") {
        new.pop();
    }
    if fault_point::damages("false-state") {
        new.extend(batch.iter().find(|rank| !new.contains(rank)));
    }
    if fault_point::damages("lost-edge") {
        sums.edges.up -= 1;
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
fn ask(job: &Job<'_>, space: &Space<'_>, batch: &[u64]) -> Questions {
    let processes = index_u32(job.exchange.processes());
    let (expansion, partition, owner_of) = (&space.moves, &space.partition, &space.owners);
    let part_states = batch.len().div_ceil(job.settings.threads * 4).max(1_024);
    let parts: Vec<Vec<u64>> = job.pool.install(|| {
        batch
            .par_chunks(part_states)
            .map(|part| {
                let mut neighbours = Vec::with_capacity(part.len() * expansion.generators());
                expansion.expand_all(part, |neighbour| neighbours.push(neighbour.0), |_, _, _| {});
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
        *rank = space.foreign_rank(ProcessId(low_u32(to_u64(place))));
    }
    let (placed, tallies): (Vec<Vec<u64>>, Vec<Tally>) =
        job.pool.install(|| messages.par_iter().map(|ranks| placed_tallies(ranks)).unzip());
    let tally = tallies.into_iter().fold(Tally::default(), Tally::plus);
    Questions { messages, tally, placed, owners }
}

/// What the questions of each word of answers are, and the tally of all.
fn placed_tallies(ranks: &[u64]) -> (Vec<u64>, Tally) {
    let words = ranks.par_chunks(WORD_QUESTIONS).with_min_len(PART_WORDS).map(PlacedTally::of);
    let (placed, tallies): (Vec<u64>, Vec<Tally>) = words.map(|word| (word.placed, word.tally)).unzip();
    (placed, tallies.into_iter().fold(Tally::default(), Tally::plus))
}

/// Tally of words of answers, each bound to its questions. The questions' sum is known to both
/// sides without being sent.
fn tally_answers(words: &[u64], placed: &[u64]) -> Tally {
    let mut tally = Tally::default();
    words.iter().zip(placed).for_each(|(word, placed)| tally.add(word ^ placed));
    tally
}

/// For each question whether the rank is seen, as bits. A message for each asker, of the right
/// length, even with an error.
fn answer(job: &Job<'_>, space: &Space<'_>, shards: &[Shard], asked: &[Vec<u64>], sums: &mut OwnSums) -> (Vec<Vec<u64>>, Result<()>) {
    let mut foreign = None;
    let mut messages = Vec::with_capacity(asked.len());
    for ranks in asked {
        let parts: Vec<Answers> =
            job.pool.install(|| ranks.par_chunks(PART_WORDS * WORD_QUESTIONS).map(|part| answers_of(space, shards, part)).collect());
        let mut words = Vec::with_capacity(ranks.len().div_ceil(WORD_QUESTIONS));
        for part in parts {
            sums.received = sums.received.plus(part.received);
            sums.answered = sums.answered.plus(part.answered);
            foreign = foreign.or(part.foreign);
            words.extend(part.words);
        }
        messages.push(words);
    }
    (messages, foreign.map_or(Ok(()), |rank| Err(foreign_error(job, "rank that was asked for", rank))))
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

fn answers_of(space: &Space<'_>, shards: &[Shard], ranks: &[u64]) -> Answers {
    let mut answers = Answers::default();
    for part in ranks.chunks(WORD_QUESTIONS) {
        let mut word = 0;
        for (bit, &rank) in part.iter().enumerate() {
            match space.place_among(shards, StateRank(rank)) {
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

fn foreign_error(job: &Job<'_>, what: &str, rank: u64) -> Error {
    Error::invariant(format!("{what} at process {}", job.process().0), rank, "a rank of one of its own shards")
}

/// Keeps the states of `batch` with a seen neighbour.
fn accept(
    job: &Job<'_>,
    space: &Space<'_>,
    shards: &mut [Shard],
    batch: &[u64],
    questions: &Questions,
    answers: &[Vec<u64>],
    sums: &mut OwnSums,
) -> Result<()> {
    for (process, (words, placed)) in answers.iter().zip(&questions.placed).enumerate() {
        if words.len() != placed.len() {
            return Err(Error::invariant(format!("words of answers from process {process}"), words.len(), placed.len()));
        }
        sums.answers = sums.answers.plus(tally_answers(words, placed));
    }
    let mut read = vec![0_usize; answers.len()];
    let generators = space.moves.generators();
    let mut new: Vec<u64> = Vec::new();
    for (state, &rank) in batch.iter().enumerate() {
        let seen: u64 = questions.owners[state * generators..(state + 1) * generators]
            .iter()
            .map(|&owner| {
                let place = &mut read[index_u32(owner)];
                let bit = answers[index_u32(owner)][*place / WORD_QUESTIONS] >> (*place % WORD_QUESTIONS) & 1;
                *place += 1;
                bit
            })
            .sum();
        sums.edges.up += seen;
        if seen > 0 {
            new.push(rank);
        }
    }
    if !new.is_empty() {
        damage_states(job, space, batch, &mut new, sums);
    }
    // The batch ascends, so the states of a shard are neighbours in it.
    let mut start = 0;
    while start < new.len() {
        let number = space.place_among(shards, StateRank(new[start])).ok_or_else(|| foreign_error(job, "new state", new[start]))?;
        let shard = &mut shards[number];
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
