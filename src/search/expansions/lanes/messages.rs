//! What processes send each other in a level by lanes.
//!
//! Message to a process: for its tasks of the round, in order, for each plane and generator to
//! which this process may contribute, a header word `length << 2 | kind` and the bytes in words.
//! Kind 0: no states, no bytes. Kind 1: the bits of all target lanes that this process speaks for,
//! one bit a state. Kind 2: a zstd frame of the same, where many bytes are zero.

use super::layout::{LaneLayout, LaneTask};
use crate::base::bytes::{bytes_of, words_of};
use crate::base::fingerprint::mix64;
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, Result, codec, fault_point};
use crate::expand::{LaneSource, PrefixTable};
use crate::search::round::OwnSums;
use crate::search::tally::Tally;

/// Bits of some states of a task, from another process.
pub(super) struct Contribution {
    sender: usize,
    pub(super) plane: usize,
    pub(super) generator: usize,
    kind: u64,
    bytes: Vec<u8>,
}

const NOTHING: u64 = 0;
const BITS: u64 = 1;
const FRAME: u64 = 2;

/// The part of the message to `owner` that belongs to one of its tasks.
pub(super) fn contribute_task(
    plan: &LaneLayout<'_>,
    source: &LaneSource<'_>,
    owner: usize,
    me: usize,
    task: LaneTask,
) -> (Vec<u64>, Tally) {
    let lanes = plan.lanes;
    let prefixes = lanes.prefixes(task.block, task.first_unit, task.units);
    let (mut words, mut sent) = (Vec::new(), Tally::default());
    for (plane, generator) in plan.contributions(owner, me, task) {
        // None: no state has a neighbour here. It is told in the header, so a message that is lost
        // does not read as this.
        let mut bits = lanes.contribute(source, &plan.owned[me], &prefixes, plane, generator).unwrap_or_default();
        if !bits.is_empty() && fault_point::damages("short-lanes") {
            bits.pop();
        }
        let frame = if has_many_zeros(&bits) { zstd::bulk::compress(&bits, 1).ok() } else { None };
        let (kind, bytes): (u64, &[u8]) = match &frame {
            _ if bits.is_empty() => (NOTHING, &[]),
            Some(frame) if frame.len() < bits.len() => (FRAME, frame),
            _ => (BITS, &bits),
        };
        sent.add(codec::checksum(bytes) ^ place_in_level(task, plane, generator) ^ kind);
        words.push(to_u64(bytes.len()) << 2 | kind);
        words.extend(words_of(bytes));
    }
    (words, sent)
}

/// Mixed into what is tallied of a contribution, so that one is not taken for another.
fn place_in_level(task: LaneTask, plane: usize, generator: usize) -> u64 {
    [task.block, task.first_unit, plane, generator].into_iter().fold(0, |sum, number| mix64(sum ^ to_u64(number)))
}

/// Whether compression pays: at least a quarter of the bytes are zero.
fn has_many_zeros(bytes: &[u8]) -> bool {
    bytes.iter().filter(|&&byte| byte == 0).count() * 4 > bytes.len()
}

/// Takes the messages of a round apart: the contributions to each of its `tasks`.
pub(super) fn read_contributions(
    plan: &LaneLayout<'_>,
    me: usize,
    incoming: &[Vec<u64>],
    tasks: &[LaneTask],
    sums: &mut OwnSums,
) -> Result<Vec<Vec<Contribution>>> {
    let broken = |found: &str| Error::invariant("words of a message of lanes", found, "as many as its headers say");
    let too_few = || broken("too few");
    let mut contributions: Vec<Vec<Contribution>> = tasks.iter().map(|_| Vec::new()).collect();
    for (sender, words) in incoming.iter().enumerate().filter(|(sender, _)| *sender != me) {
        let mut rest = &words[..];
        for (&task, own) in tasks.iter().zip(&mut contributions) {
            for (plane, generator) in plan.contributions(me, sender, task) {
                let (&header, after) = rest.split_first().ok_or_else(too_few)?;
                let (kind, length) = (header & 3, to_usize(header >> 2));
                let (data, after) = after.split_at_checked(length.div_ceil(8)).ok_or_else(too_few)?;
                rest = after;
                let bytes = bytes_of(data, length);
                sums.received.add(codec::checksum(&bytes) ^ place_in_level(task, plane, generator) ^ kind);
                if kind != NOTHING || length > 0 {
                    own.push(Contribution { sender, plane, generator, kind, bytes });
                }
            }
        }
        if !rest.is_empty() {
            return Err(broken("too many"));
        }
    }
    Ok(contributions)
}

impl Contribution {
    /// Adds the states to the units of a task.
    pub(super) fn add_to(&self, plan: &LaneLayout<'_>, prefixes: &PrefixTable, units: &mut [u8]) -> Result<()> {
        let broken =
            |found: String| Error::invariant("bits of lanes that another process sent", found, "one for each state that it speaks for");
        let unpacked;
        let bits = match self.kind {
            BITS => &self.bytes,
            FRAME => {
                unpacked = zstd::bulk::decompress(&self.bytes, units.len()).map_err(|error| broken(error.to_string()))?;
                &unpacked
            }
            other => return Err(broken(format!("kind {other}"))),
        };
        if plan.lanes.receive(bits, &plan.owned[self.sender], prefixes, self.plane, self.generator, units) {
            return Ok(());
        }
        Err(broken(format!("{} bytes", bits.len())))
    }
}
