//! What a transport offers, and what is built from it: gather, broadcast, agreement on errors.

use crate::base::bytes::{bytes_of, words_of};
use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, ProcessId, Result};
use std::time::Instant;

/// Most words sent to one peer in one round: 64 MiB.
pub const ROUND_WORDS: usize = 8 << 20;

/// What went over the wire since the start of the job, on this process. Words to itself do not
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes sent to other processes.
    pub bytes_sent: u64,
    /// Bytes received from other processes.
    pub bytes_received: u64,
    /// Seconds spent in collective operations, waiting included.
    pub waited_seconds: f64,
}

impl Traffic {
    /// Adds a collective operation that began at `since`.
    pub fn add(&mut self, words_sent: usize, words_received: usize, since: Instant) {
        self.bytes_sent += to_u64(words_sent) * 8;
        self.bytes_received += to_u64(words_received) * 8;
        self.waited_seconds += since.elapsed().as_secs_f64();
    }
}

/// The processes of a job. Every operation is collective: all processes call it, in the same order.
/// A fault of the transport ends the job.
pub trait Exchange {
    /// This process.
    fn process(&self) -> ProcessId;

    /// Number of processes.
    fn processes(&self) -> u32;

    /// Sends `outgoing[p]` to process `p`; returns what each process sent here, by sender. Any
    /// length: split into rounds.
    fn all_to_all(&self, outgoing: Vec<Vec<u64>>) -> Vec<Vec<u64>>;

    /// Replaces each value by its sum (mod 2^64) over all processes.
    fn sum(&self, values: &mut [u64]);

    /// Replaces each value by its maximum over all processes.
    fn maximum(&self, values: &mut [u64]);

    /// Returns when every process has called it.
    fn barrier(&self);

    /// What this process has sent and received so far.
    fn traffic(&self) -> Traffic;

    /// Participants of the job that live in this process of the system, and share its limits.
    fn participants_here(&self) -> u32 {
        1
    }

    /// Name and version of the transport, for the manifest.
    fn transport(&self) -> String;
}

/// The reports of all processes, by process, at the first one; an empty list elsewhere.
pub fn gather(exchange: &dyn Exchange, report: &[u8]) -> Vec<Vec<u8>> {
    let mut outgoing = vec![Vec::new(); to_usize(u64::from(exchange.processes()))];
    outgoing[0] = to_words(report);
    let incoming = exchange.all_to_all(outgoing);
    if exchange.process() == ProcessId::FIRST { messages(&incoming) } else { Vec::new() }
}

/// The first process's `message`, on every process.
pub fn broadcast(exchange: &dyn Exchange, message: &[u8]) -> Vec<u8> {
    broadcast_from(exchange, ProcessId::FIRST, message)
}

/// The `message` of the process `sender`, on every process.
pub fn broadcast_from(exchange: &dyn Exchange, sender: ProcessId, message: &[u8]) -> Vec<u8> {
    let processes = to_usize(u64::from(exchange.processes()));
    let outgoing = if exchange.process() == sender { vec![to_words(message); processes] } else { vec![Vec::new(); processes] };
    messages(&exchange.all_to_all(outgoing)).swap_remove(sender.index())
}

/// The message of the lowest process that has one, with that process; `None` when no process has
/// one.
pub fn first_of(exchange: &dyn Exchange, own: Option<&[u8]>) -> Option<(ProcessId, Vec<u8>)> {
    let processes = exchange.processes();
    // The lowest process has the greatest distance to the end.
    let mut place = [own.map_or(0, |_| u64::from(processes - exchange.process().0))];
    exchange.maximum(&mut place);
    let holder = ProcessId(processes - u32::try_from(place[0]).ok().filter(|&distance| distance > 0)?);
    Some((holder, broadcast_from(exchange, holder, own.unwrap_or_default())))
}

/// Every process's `message`, on every process, by sender.
pub fn share(exchange: &dyn Exchange, message: &[u8]) -> Vec<Vec<u8>> {
    let outgoing = vec![to_words(message); to_usize(u64::from(exchange.processes()))];
    messages(&exchange.all_to_all(outgoing))
}

/// Ends a fallible local step: `Ok` on every process, or an error on every process. The lowest
/// process that failed returns its own error, the others an [`Error::Peer`] with its message and
/// exit code.
///
/// # Errors
/// When the step failed on any process.
pub fn agree<T>(exchange: &dyn Exchange, local: Result<T>) -> Result<T> {
    let mut failed = [u64::from(local.is_err())];
    exchange.sum(&mut failed);
    if failed[0] == 0 {
        return local;
    }
    let report = match &local {
        Ok(_) => Vec::new(),
        Err(error) => format!("{}\n{error}", error.exit_code()).into_bytes(),
    };
    let outgoing = vec![to_words(&report); to_usize(u64::from(exchange.processes()))];
    let reports = messages(&exchange.all_to_all(outgoing));
    // Somebody failed, so there is a report; without one it is still an error, of code 70.
    let first = reports.iter().position(|report| !report.is_empty()).unwrap_or(0);
    match local {
        Err(error) if exchange.process().index() == first => Err(error),
        _ => {
            let text = String::from_utf8_lossy(&reports[first]).into_owned();
            let (code, message) = text.split_once('\n').unwrap_or(("70", &text));
            Err(Error::Peer {
                process: u32::try_from(first).unwrap_or(u32::MAX),
                message: message.to_owned(),
                code: code.parse().unwrap_or(70),
            })
        }
    }
}

/// Bytes as words: the length, then the bytes padded with zeros. No words for no bytes.
pub(super) fn to_words(bytes: &[u8]) -> Vec<u64> {
    if bytes.is_empty() {
        return Vec::new();
    }
    std::iter::once(to_u64(bytes.len())).chain(words_of(bytes)).collect()
}

/// The bytes of [`to_words`].
///
/// # Errors
/// `Invariant` when there are more or fewer words than the first one says.
pub(super) fn to_bytes(words: &[u64]) -> Result<Vec<u8>> {
    let Some((&length, rest)) = words.split_first() else { return Ok(Vec::new()) };
    if to_u64(rest.len()) != length.div_ceil(8) {
        return Err(Error::invariant("words of a message from another process", rest.len(), length.div_ceil(8)));
    }
    Ok(bytes_of(rest, to_usize(length)))
}

/// [`to_bytes`] of every process's message. A message that was cut is a fault of the transport
/// itself, after which nothing can be agreed on: it ends the job.
fn messages(incoming: &[Vec<u64>]) -> Vec<Vec<u8>> {
    incoming.iter().map(|words| to_bytes(words).unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::local;

    #[test]
    fn bytes_survive_as_words() {
        for length in 0..30_u8 {
            let bytes: Vec<u8> = (0..length).collect();
            let words = to_words(&bytes);
            assert_eq!(to_bytes(&words).expect("whole"), bytes);
            if length > 0 {
                assert!(to_bytes(&words[..words.len() - 1]).is_err(), "cut");
                assert!(to_bytes(&[&words[..], &[0]].concat()).is_err(), "longer");
            }
        }
    }

    fn index(process: u32) -> usize {
        to_usize(process.into())
    }

    #[test]
    fn gather_and_broadcast() {
        local::run_participants(3, |exchange| {
            let me = exchange.process().0;
            let reports = gather(exchange, format!("report {me}").as_bytes());
            if me == 0 {
                assert_eq!(reports, [b"report 0", b"report 1", b"report 2"]);
            } else {
                assert!(reports.is_empty());
            }
            let text = broadcast(exchange, if me == 0 { b"from the first" } else { b"ignored" });
            assert_eq!(text, b"from the first");
            assert_eq!(broadcast_from(exchange, ProcessId(2), &[u8::try_from(me).expect("small")]), [2]);
            let own = (me > 0).then(|| format!("of {me}"));
            assert_eq!(first_of(exchange, own.as_deref().map(str::as_bytes)), Some((ProcessId(1), b"of 1".to_vec())));
            assert_eq!(first_of(exchange, None), None);
            assert_eq!(share(exchange, &[7; 9][..index(me)]), [&[][..], &[7], &[7, 7]]);
        })
        .expect("threads");
    }

    #[test]
    fn one_failure_is_everybodys() {
        local::run_participants(4, |exchange| {
            assert!(agree(exchange, Ok(5)).is_ok());
            let me = exchange.process().0;
            let local: Result<()> = if me == 2 || me == 3 { Err(Error::config(format!("bad {me}"))) } else { Ok(()) };
            let error = agree(exchange, local).expect_err("2 and 3 failed");
            assert_eq!(error.exit_code(), 78);
            assert!(error.to_string().contains("bad 2"), "{error}");
        })
        .expect("threads");
    }
}
