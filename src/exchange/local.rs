//! One process without MPI, or several in-process participants that meet on a barrier.

use super::exchange::{Exchange, Traffic};
use crate::base::ids::index_u32;
use crate::base::{Error, ProcessId, Result};
use std::cell::Cell;
use std::sync::{Arc, Barrier, Mutex, PoisonError, RwLock};
use std::time::Instant;

/// What the participants of one job share.
#[derive(Debug)]
struct Meeting {
    barrier: Barrier,
    /// `mail[from][to]`: words on their way.
    mail: Vec<Vec<Mutex<Vec<u64>>>>,
    /// One row of values a participant, for sums and maxima.
    values: Vec<Mutex<Vec<u64>>>,
}

/// One participant of a job whose processes are threads of this one, or the only process.
#[derive(Debug)]
pub struct LocalExchange {
    process: ProcessId,
    processes: u32,
    meeting: Arc<Meeting>,
    traffic: Cell<Traffic>,
}

impl LocalExchange {
    /// The participants of a job of `processes`; each goes to a thread of its own.
    #[must_use]
    pub fn participants(processes: u32) -> Vec<Self> {
        let count = index_u32(processes);
        let meeting = Arc::new(Meeting {
            barrier: Barrier::new(count),
            mail: (0..count).map(|_| (0..count).map(|_| Mutex::default()).collect()).collect(),
            values: (0..count).map(|_| Mutex::default()).collect(),
        });
        (0..processes)
            .map(|process| Self { process: ProcessId(process), processes, meeting: Arc::clone(&meeting), traffic: Cell::default() })
            .collect()
    }

    /// The only process of a job.
    ///
    /// # Panics
    /// Never: a job of one has one participant.
    #[must_use]
    pub fn alone() -> Self {
        Self::participants(1).pop().expect("one participant")
    }

    fn note(&self, sent: usize, received: usize, since: Instant) {
        let mut traffic = self.traffic.get();
        traffic.add(sent, received, since);
        self.traffic.set(traffic);
    }

    /// Combines each value over all participants.
    fn reduce(&self, values: &mut [u64], combine: impl Fn(u64, u64) -> u64) {
        let since = Instant::now();
        *lock(&self.meeting.values[self.process.index()]) = values.to_vec();
        self.meeting.barrier.wait();
        for (number, row) in self.meeting.values.iter().enumerate() {
            if number != self.process.index() {
                let row = lock(row);
                assert_eq!(row.len(), values.len(), "all participants combine as many values");
                for (value, &other) in values.iter_mut().zip(row.iter()) {
                    *value = combine(*value, other);
                }
            }
        }
        self.meeting.barrier.wait();
        self.note(0, 0, since);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Exchange for LocalExchange {
    fn process(&self) -> ProcessId {
        self.process
    }

    fn processes(&self) -> u32 {
        self.processes
    }

    fn all_to_all(&self, outgoing: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
        assert_eq!(outgoing.len(), index_u32(self.processes), "one message a process");
        if self.processes == 1 {
            return outgoing;
        }
        let since = Instant::now();
        let me = self.process.index();
        let mut sent = 0;
        for (to, words) in outgoing.into_iter().enumerate() {
            sent += if to == me { 0 } else { words.len() };
            *lock(&self.meeting.mail[me][to]) = words;
        }
        self.meeting.barrier.wait();
        let incoming: Vec<Vec<u64>> = self.meeting.mail.iter().map(|row| std::mem::take(&mut *lock(&row[me]))).collect();
        self.meeting.barrier.wait();
        let received = incoming.iter().enumerate().map(|(from, words)| if from == me { 0 } else { words.len() }).sum();
        self.note(sent, received, since);
        incoming
    }

    fn sum(&self, values: &mut [u64]) {
        self.reduce(values, u64::wrapping_add);
    }

    fn maximum(&self, values: &mut [u64]) {
        self.reduce(values, u64::max);
    }

    fn barrier(&self) {
        let since = Instant::now();
        self.meeting.barrier.wait();
        self.note(0, 0, since);
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn participants_here(&self) -> u32 {
        self.processes
    }

    fn transport(&self) -> String {
        if self.processes == 1 { "one process".into() } else { format!("{} in-process participants", self.processes) }
    }
}

/// Runs `job` on every participant of a job of `processes`, each on a thread of its own, and
/// returns their results by process. No participant begins before all have their thread: they would
/// wait for the others in vain.
///
/// # Errors
/// `Config` when the system refuses a thread.
///
/// # Panics
/// When a participant panics (after the panic hook has ended the whole job, where one is
/// installed).
pub fn run_participants<T: Send>(processes: u32, job: impl Fn(&dyn Exchange) -> T + Sync) -> Result<Vec<T>> {
    // Open once all are there; a participant that is let in after a failure finds the others
    // missing.
    let gate = RwLock::new(false);
    std::thread::scope(|scope| {
        let (job, gate) = (&job, &gate);
        let mut all_here = gate.write().unwrap_or_else(PoisonError::into_inner);
        let start = |exchange: LocalExchange| {
            let participant = move || (*gate.read().unwrap_or_else(PoisonError::into_inner)).then(|| job(&exchange));
            std::thread::Builder::new().spawn_scoped(scope, participant)
        };
        let started = LocalExchange::participants(processes).into_iter().map(start).collect::<std::io::Result<Vec<_>>>();
        *all_here = started.is_ok();
        drop(all_here);
        let threads = started.map_err(|error| {
            Error::config(format!(
                "cannot start a thread for each of {processes} participants: {error}; use fewer (--participants), or raise the limits (ulimit -u, ulimit -v)"
            ))
        })?;
        // All were let in, so each has a result.
        Ok(threads.into_iter().filter_map(|thread| thread.join().expect("a participant panicked")).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::to_u64;

    #[test]
    fn messages_reach_their_receiver_whatever_their_length() {
        for processes in 1..=4 {
            for length in [0_u64, 1, 10, 10_000] {
                run_participants(processes, |exchange| {
                    let me = u64::from(exchange.process().0);
                    let outgoing = (0..u64::from(processes)).map(|to| (0..length * to).map(|i| i + me * 7).collect()).collect();
                    for (from, words) in exchange.all_to_all(outgoing).into_iter().enumerate() {
                        let expected: Vec<u64> = (0..length * me).map(|i| i + to_u64(from) * 7).collect();
                        assert_eq!(words, expected);
                    }
                })
                .expect("threads");
            }
        }
    }

    /// What stays in a process is no traffic.
    #[test]
    fn traffic_is_what_others_send_and_receive() {
        run_participants(3, |exchange| {
            let me = exchange.process().index();
            // To process p as many words as the sender's number plus p.
            exchange.all_to_all((0..3).map(|to| vec![0; me + to]).collect());
            let others = (0..3).filter(|&other| other != me).map(|other| to_u64(me + other)).sum::<u64>() * 8;
            assert_eq!((exchange.traffic().bytes_sent, exchange.traffic().bytes_received), (others, others));
        })
        .expect("threads");
    }

    #[test]
    fn reductions() {
        run_participants(3, |exchange| {
            let me = u64::from(exchange.process().0);
            let mut values = [1, me, u64::MAX];
            exchange.sum(&mut values);
            assert_eq!(values, [3, 3, u64::MAX - 2]);
            let mut values = [me, 5 - me];
            exchange.maximum(&mut values);
            assert_eq!(values, [2, 5]);
        })
        .expect("threads");
    }
}
