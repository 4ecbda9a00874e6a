//! Bytes that a search needs, known before it starts, and the refusal of what cannot fit.

use super::machine::host::Placement;
use crate::base::ids::to_u64;
use crate::base::readable::readable_bytes;
use crate::base::{Error, ProcessId, Result};
use crate::ranking::Partition;
use crate::store::Storage;

/// Sets that each shard may hold as bits at a time: seen, frontier and next.
const SETS: u64 = 3;

/// Bytes of a state in a list.
pub const LIST_BYTES: u64 = 8;

/// Bytes of a page, and of a block of most file systems.
const PAGE_BYTES: u64 = 4096;

/// Address space of a thread's stack, as Rust asks for.
const STACK_BYTES: u64 = 2 << 20;

/// Memory that lists of sparse levels may take beside what is seen, in compact storage: a quarter
/// of it. The choice of the expansion keeps to it where there are lanes.
#[must_use]
pub fn list_budget(set_bytes: u64) -> u64 {
    set_bytes / 4
}

/// Upper bounds of what a whole job needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Where the sets are kept.
    pub storage: Storage,
    /// Memory for the sets of all processes: three, in memory or mapped from scratch files; in
    /// compact storage what is seen, and lists of sparse levels ([`list_budget`]). A set takes at
    /// most a bit a rank or 8 bytes a state.
    pub set_bytes: u64,
    /// Scratch files: the same three sets, or none when those are in memory; in compact storage two
    /// levels, compressed. A level with a fifth of all states takes 0.85 of its bits, smaller ones
    /// less.
    pub scratch_bytes: u64,
    /// Buffers of one process: successors of a round, sent, received and grouped.
    pub buffer_bytes_per_process: u64,
    /// Checkpoints: two generations and the one being written, each `seen` and a level; in compact
    /// storage one and the one being written.
    pub checkpoint_bytes: u64,
    /// Archived levels, when kept: every state is in one level.
    pub archive_bytes: u64,
}

impl Budget {
    /// The budget of a search of `states` reachable states in the ranks of `partition`; `by_lanes`
    /// says whether its dense levels are found by lanes.
    #[must_use]
    pub fn new(partition: &Partition, states: u64, round_successors: usize, keep_levels: bool, storage: Storage, by_lanes: bool) -> Self {
        // A sparse set outgrows its bits at 8 bytes a member, so the smaller of the two bounds it.
        let set_bytes = (partition.state_count() / 8).min(states.saturating_mul(LIST_BYTES));
        // A level as deltas takes about a byte a state when sparse, at most its bits when dense;
        // over all levels a state counts once.
        let archive_bytes = if keep_levels { states.saturating_mul(2) } else { 0 };
        // In scratch files each set of a shard takes whole pages, and turns into bits at one member
        // in 64.
        let part_bytes = (partition.shard_length() / 8).next_multiple_of(PAGE_BYTES);
        let dense_parts = u64::from(partition.shards()).min(states.saturating_mul(64) / partition.shard_length());
        let bits = dense_parts * part_bytes;
        let packed = bits / 20 * 17;
        let (memory, scratch_bytes, checkpoint_bytes) = match storage {
            // Two generations and the one being written.
            Storage::Memory => (SETS * bits, 0, 3 * 2 * set_bytes),
            Storage::File => (SETS * bits, SETS * bits, 3 * 2 * set_bytes),
            // Levels found state by state are lists or bits in memory, too.
            Storage::Compact if !by_lanes => (SETS * bits, 0, 2 * 2 * set_bytes),
            Storage::Compact => (bits + list_budget(bits), 2 * packed, 2 * (set_bytes + set_bytes / 4 * 3)),
        };
        let buffer_bytes_per_process = to_u64(round_successors).saturating_mul(8 * 4);
        Self { storage, set_bytes: memory, scratch_bytes, buffer_bytes_per_process, checkpoint_bytes, archive_bytes }
    }

    /// Memory of one process of `processes`, in bytes.
    #[must_use]
    pub fn memory_bytes_per_process(&self, processes: u64) -> u64 {
        self.set_bytes / processes.max(1) + self.buffer_bytes_per_process
    }

    /// Disk of the whole job, in bytes.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        self.scratch_bytes.saturating_add(self.checkpoint_bytes).saturating_add(self.archive_bytes)
    }

    /// Whether the memory of this host does not hold the sets and buffers of the processes there.
    #[must_use]
    pub fn memory_is_short(&self, placement: &Placement, process: ProcessId, free_memory: Option<u64>) -> bool {
        free_memory.is_some_and(|free| self.memory_on_host(placement, process) > free)
    }

    /// Memory of all processes on the host of `process`, in bytes.
    fn memory_on_host(&self, placement: &Placement, process: ProcessId) -> u64 {
        let here = u64::from(placement.on_same_host(process));
        here.saturating_mul(self.memory_bytes_per_process(to_u64(placement.processes())))
    }

    /// Checks the budget against this host.
    ///
    /// # Errors
    /// `Config` naming the number that is short, by how much, and what to change.
    pub fn check(
        &self,
        placement: &Placement,
        process: ProcessId,
        free_memory: Option<u64>,
        free_disk: u64,
        shared_disk: bool,
    ) -> Result<()> {
        let here = u64::from(placement.on_same_host(process));
        let all = to_u64(placement.processes());
        if let Some(free) = free_memory
            && self.memory_is_short(placement, process, free_memory)
        {
            return Err(Error::config(format!(
                "memory is short on host {}: the search needs {} there, for its share of the processes ({here} of {all}), {} are available; \
                 use more hosts, or a smaller puzzle{}",
                placement.hosts[process.index()],
                readable_bytes(self.memory_on_host(placement, process)),
                readable_bytes(free),
                if self.storage == Storage::Compact { "" } else { ", or try --storage auto, which takes compact storage where that fits" },
            )));
        }
        // A host with a disk of its own keeps the files of its own processes.
        let part = |bytes: u64| if shared_disk { bytes } else { bytes.div_ceil(all).saturating_mul(here) };
        let needed = part(self.disk_bytes());
        if needed > free_disk {
            return Err(Error::config(format!(
                "disk is short: the search needs up to {} (scratch {}, checkpoints {}, archived levels {}), {} are free; \
                 free some, choose another folder with --out, or keep no levels",
                readable_bytes(needed),
                readable_bytes(part(self.scratch_bytes)),
                readable_bytes(part(self.checkpoint_bytes)),
                readable_bytes(part(self.archive_bytes)),
                readable_bytes(free_disk)
            )));
        }
        Ok(())
    }

    /// Checks the budget against the address space that `ulimit -v` leaves to this process, which
    /// holds `here` of the job's `processes` with `threads` threads each. What the libraries
    /// reserve is not counted: a limit that is short by that ends the run later, in one line, too.
    ///
    /// # Errors
    /// `Config` with both numbers and what to change.
    pub fn check_address_space(&self, processes: u64, here: u64, threads: u64, left: Option<u64>) -> Result<()> {
        let stacks = here.saturating_mul(threads + 1).saturating_mul(STACK_BYTES);
        let needed = here.saturating_mul(self.memory_bytes_per_process(processes)).saturating_add(stacks);
        match left {
            Some(left) if needed > left => Err(Error::config(format!(
                "memory is short: a process of this search needs {} of address space ({} of it for the stacks of threads), its limit (ulimit -v) leaves {}; \
                 raise the limit, or use fewer threads, more processes or a smaller puzzle{}",
                readable_bytes(needed),
                readable_bytes(stacks),
                readable_bytes(left),
                if self.storage == Storage::Compact { "" } else { ", or try --storage compact" }
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(processes: usize) -> Placement {
        Placement { hosts: vec!["a".into(); processes], kernels: vec![1; processes], processors: vec![1; processes] }
    }

    #[test]
    fn a_small_group_in_a_huge_space_needs_little() {
        let partition = Partition::new(1, 12, false, None).expect("fits");
        let budget = Budget::new(&partition, 720, 1 << 20, true, Storage::File, true);
        assert!(budget.disk_bytes() < 100_000, "{budget:?}");
    }

    #[test]
    fn the_short_number_is_named() {
        let partition = Partition::new(12, 11, false, None).expect("fits");
        let budget = Budget::new(&partition, 479_001_600, 1 << 20, false, Storage::File, true);
        // 1,320 shards of 45,360 bytes, which take 12 pages each.
        assert_eq!((budget.set_bytes, budget.scratch_bytes), (3 * 1_320 * 12 * 4_096, 3 * 1_320 * 12 * 4_096));
        let bits = 1_320 * 12 * 4_096;
        let compact = Budget::new(&partition, 479_001_600, 1 << 20, false, Storage::Compact, true);
        assert_eq!((compact.set_bytes, compact.scratch_bytes), (bits + bits / 4, 2 * (bits / 20 * 17)));
        let without_lanes = Budget::new(&partition, 479_001_600, 1 << 20, false, Storage::Compact, false);
        assert_eq!((without_lanes.set_bytes, without_lanes.scratch_bytes), (3 * bits, 0));
        assert!(budget.check(&here(2), ProcessId(0), Some(1 << 30), 1 << 40, true).is_ok());
        let memory = budget.check(&here(2), ProcessId(0), Some(1 << 20), 1 << 40, true).expect_err("short");
        assert!(memory.to_string().starts_with("memory is short"), "{memory}");
        let disk = budget.check(&here(2), ProcessId(0), Some(1 << 30), 1 << 20, true).expect_err("short");
        assert!(budget.check_address_space(2, 1, 4, None).is_ok() && budget.check_address_space(2, 1, 4, Some(1 << 30)).is_ok());
        let limit = budget.check_address_space(2, 2, 4, Some(1 << 26)).expect_err("short");
        assert!(limit.to_string().contains("(21.0 MB of it for the stacks of threads), its limit (ulimit -v) leaves 67.1 MB"), "{limit}");
        assert!(disk.to_string().starts_with("disk is short") && disk.exit_code() == 78, "{disk}");
        // Half of it on each of two disks.
        let two = Placement { kernels: vec![1, 2], ..here(2) };
        let disk = |shared| budget.check(&two, ProcessId(1), None, budget.disk_bytes() / 2 + 1, shared);
        assert!(disk(false).is_ok() && disk(true).is_err());
    }

    #[test]
    fn bytes_are_readable() {
        assert_eq!(readable_bytes(999), "999 B");
        assert_eq!(readable_bytes(59_875_200), "59.9 MB");
        assert_eq!(readable_bytes(32_700_000_000), "32.7 GB");
        assert_eq!(readable_bytes(1_000), "1.00 kB");
    }
}
