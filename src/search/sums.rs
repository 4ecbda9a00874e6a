//! Structs of counts that are summed over all processes: one collective operation for all their
//! numbers, each known by its field and not by a place in a list.

use crate::exchange::Exchange;
use crate::store::LevelPart;

/// Counts that add up over the processes.
pub trait Sums: Sized {
    /// All numbers, in an order that is the same on every process.
    fn numbers(&mut self) -> Vec<&mut u64>;

    /// The sums (mod 2^64) over all processes. Collective.
    #[must_use]
    fn sum_over_processes(mut self, exchange: &dyn Exchange) -> Self {
        let mut sums: Vec<u64> = self.numbers().into_iter().map(|number| *number).collect();
        exchange.sum(&mut sums);
        self.numbers().into_iter().zip(sums).for_each(|(number, sum)| *number = sum);
        self
    }
}

impl Sums for LevelPart {
    fn numbers(&mut self) -> Vec<&mut u64> {
        let Self { states, fingerprint } = self;
        std::iter::once(states).chain(&mut fingerprint.0).collect()
    }
}
