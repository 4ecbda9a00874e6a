//! The MPI transport; the only file that names the MPI crate. See the README of this layer for the
//! rules behind each choice.
#![allow(unsafe_code)]

use super::exchange::{Exchange, ROUND_WORDS, Traffic};
use crate::base::ids::{index_u32, non_negative, to_u64, to_usize};
use crate::base::{Error, ProcessId, Result};
use mpi::Threading;
use mpi::collective::{CommunicatorCollectives, SystemOperation};
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::raw::AsRaw;
use mpi::topology::{Communicator, SimpleCommunicator};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

/// Time a barrier spins before it sleeps between polls.
const SPIN: Duration = Duration::from_millis(2);

/// All processes of an MPI job. Dropping it does not finalize MPI: see [`MpiExchange::finish`].
pub struct MpiExchange {
    universe: ManuallyDrop<Universe>,
    world: SimpleCommunicator,
    process: ProcessId,
    processes: u32,
    round_words: usize,
    traffic: Cell<Traffic>,
}

impl MpiExchange {
    /// Starts MPI. `round_words` lowers the limit of words per peer and round ([`ROUND_WORDS`] is
    /// the highest).
    ///
    /// # Errors
    /// `Config` when MPI was started already or offers no thread support.
    pub fn start(round_words: usize) -> Result<Self> {
        let (universe, threading) =
            mpi::initialize_with_threading(Threading::Funneled).ok_or_else(|| Error::config("MPI is initialized already"))?;
        if threading < Threading::Funneled {
            return Err(Error::config("this MPI library supports no threads; use one that offers MPI_THREAD_FUNNELED"));
        }
        let world = universe.world();
        let number = |number: i32| u32::try_from(number).map_err(|_| Error::config(format!("this MPI library numbers a process {number}")));
        let process = ProcessId(number(world.rank())?);
        let processes = number(world.size())?;
        // Displacements are 32-bit numbers of words over all peers.
        let most = to_usize(non_negative(i32::MAX)) / index_u32(processes);
        Ok(Self {
            universe: ManuallyDrop::new(universe),
            world,
            process,
            processes,
            round_words: round_words.clamp(1, ROUND_WORDS.min(most)),
            traffic: Cell::default(),
        })
    }

    /// Finalizes MPI. Call it only when all processes have agreed on the end: finalizing waits for
    /// all of them.
    pub fn finish(mut self) {
        // SAFETY: the universe is dropped once, here; `self` is consumed and has no drop of its
        // own.
        unsafe { ManuallyDrop::drop(&mut self.universe) }
    }

    fn note(&self, sent: usize, received: usize, since: Instant) {
        let mut traffic = self.traffic.get();
        traffic.add(sent, received, since);
        self.traffic.set(traffic);
    }

    /// One round: at most `round_words` to each peer.
    fn round(&self, outgoing: &[&[u64]]) -> Vec<Vec<u64>> {
        let count = |words: &[u64]| i32::try_from(words.len()).expect("a round is bounded below 2^31 words");
        let send_counts: Vec<i32> = outgoing.iter().map(|words| count(words)).collect();
        let mut receive_counts = vec![0_i32; send_counts.len()];
        self.world.all_to_all_into(&send_counts[..], &mut receive_counts[..]);
        let send_offsets = offsets(&send_counts);
        let receive_offsets = offsets(&receive_counts);
        let send: Vec<u64> = outgoing.concat();
        let total: usize = receive_counts.iter().map(|&count| to_usize(non_negative(count))).sum();
        let mut receive = vec![0_u64; total];
        {
            let from = Partition::new(&send[..], &send_counts[..], &send_offsets[..]);
            let mut to = PartitionMut::new(&mut receive[..], &receive_counts[..], &receive_offsets[..]);
            self.world.all_to_all_varcount_into(&from, &mut to);
        }
        let mut rest = &receive[..];
        receive_counts
            .iter()
            .map(|&count| {
                let (part, after) = rest.split_at(to_usize(non_negative(count)));
                rest = after;
                part.to_vec()
            })
            .collect()
    }
}

/// Where each count's part starts.
fn offsets(counts: &[i32]) -> Vec<i32> {
    counts
        .iter()
        .scan(0, |next, &count| {
            let offset = *next;
            *next += count;
            Some(offset)
        })
        .collect()
}

impl Exchange for MpiExchange {
    fn process(&self) -> ProcessId {
        self.process
    }

    fn processes(&self) -> u32 {
        self.processes
    }

    fn all_to_all(&self, mut outgoing: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
        assert_eq!(outgoing.len(), index_u32(self.processes), "one message a process");
        let since = Instant::now();
        let me = self.process.index();
        // What stays here never enters MPI.
        let own = std::mem::take(&mut outgoing[me]);
        let longest = outgoing.iter().map(Vec::len).max().unwrap_or(0);
        let mut rounds = [to_u64(longest.div_ceil(self.round_words))];
        self.maximum(&mut rounds);
        let mut incoming: Vec<Vec<u64>> = vec![Vec::new(); outgoing.len()];
        for number in 0..to_usize(rounds[0]) {
            let parts: Vec<&[u64]> = outgoing
                .iter()
                .map(|words| {
                    let first = words.len().min(number * self.round_words);
                    &words[first..words.len().min(first + self.round_words)]
                })
                .collect();
            for (all, part) in incoming.iter_mut().zip(self.round(&parts)) {
                if all.is_empty() {
                    *all = part;
                } else {
                    all.extend(part);
                }
            }
        }
        let sent = outgoing.iter().map(Vec::len).sum();
        let received = incoming.iter().map(Vec::len).sum();
        incoming[me] = own;
        self.note(sent, received, since);
        incoming
    }

    fn sum(&self, values: &mut [u64]) {
        let local = values.to_vec();
        self.world.all_reduce_into(&local[..], values, SystemOperation::sum());
    }

    fn maximum(&self, values: &mut [u64]) {
        let local = values.to_vec();
        self.world.all_reduce_into(&local[..], values, SystemOperation::max());
    }

    fn barrier(&self) {
        let since = Instant::now();
        let mut request = self.world.immediate_barrier();
        loop {
            match request.test() {
                Ok(_) => break,
                Err(pending) => request = pending,
            }
            if since.elapsed() > SPIN {
                std::thread::sleep(Duration::from_millis(1));
            } else {
                std::thread::yield_now();
            }
        }
        self.note(0, 0, since);
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn transport(&self) -> String {
        let version = mpi::environment::library_version().unwrap_or_else(|_| "MPI".into());
        let first = version.split([',', '\n', '\0']).next().unwrap_or("MPI").trim().to_owned();
        format!("MPI ({first})")
    }
}

/// Ends all processes of the job at once with `code`; does nothing when MPI is not running.
/// Callable from any thread.
pub fn abort(code: i32) {
    let mut running = 0;
    let mut ended = 0;
    // SAFETY: both calls are allowed at any time, from any thread, and write one integer each.
    unsafe {
        mpi::ffi::MPI_Initialized(&raw mut running);
        mpi::ffi::MPI_Finalized(&raw mut ended);
    }
    if running != 0 && ended == 0 {
        let world = SimpleCommunicator::world();
        // SAFETY: MPI is initialized and not finalized; abort does not return.
        unsafe {
            mpi::ffi::MPI_Abort(world.as_raw(), code);
        }
    }
}
