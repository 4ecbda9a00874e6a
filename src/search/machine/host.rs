//! Facts of this machine: name, processors, memory, free disk. Informational, or the base of a
//! refusal; never of a result.

use crate::base::ids::{to_u64, to_usize};
use crate::base::{Error, ProcessId, Result, codec};
use crate::exchange::{Exchange, broadcast, gather};
use std::fs;
use std::path::Path;

/// The host's name, or "unknown".
#[must_use]
pub fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if name.is_empty() { "unknown".into() } else { name }
}

/// The processor's model as the kernel names it, or "unknown".
#[must_use]
pub fn processor_model() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .find_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(':')))
        .map_or_else(|| "unknown".into(), |(_, model)| model.trim().to_owned())
}

/// Identifies the running kernel; 0 when it does not say.
#[must_use]
pub fn running_kernel() -> u64 {
    fs::read("/proc/sys/kernel/random/boot_id").map_or(0, |id| codec::checksum(&id))
}

/// Processors that this process may use: its affinity and control group are honoured.
#[must_use]
pub fn usable_processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Processors of the machine.
#[must_use]
pub fn all_processors() -> usize {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines().filter(|line| line.starts_with("processor")).count().max(usable_processors())
}

/// Bytes of memory that can be taken without swapping: what the kernel estimates, or the control
/// group's limit if that is lower.
#[must_use]
pub fn available_memory_bytes() -> Option<u64> {
    let free = bytes_in("/proc/meminfo", "MemAvailable:")?;
    let read = |name: &str| -> Option<u64> { fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok() };
    let group = read("memory.max").map(|limit| limit.saturating_sub(read("memory.current").unwrap_or(0)));
    Some(group.map_or(free, |group| group.min(free)))
}

/// The most bytes of memory that this process has had at a time.
#[must_use]
pub fn peak_memory_bytes() -> Option<u64> {
    bytes_in("/proc/self/status", "VmHWM:")
}

/// The number of bytes that the line of this name has in a file of the kernel, which counts KiB.
fn bytes_in(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Bytes of address space that this process may still take under `ulimit -v`; `None` without such a
/// limit.
#[must_use]
pub fn address_space_left() -> Option<u64> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current?;
    Some(limit.saturating_sub(bytes_in("/proc/self/status", "VmSize:")?))
}

/// Bytes that a user may still write to the file system of `path`, or of its nearest existing
/// parent.
///
/// # Errors
/// `Io` when the system does not say.
pub fn free_disk_bytes(path: &Path) -> Result<u64> {
    let existing = path
        .ancestors()
        .map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent })
        .find(|parent| parent.exists())
        .unwrap_or(Path::new("."));
    let status = rustix::fs::statvfs(existing).map_err(|error| Error::io("ask the free space of", existing, error.into()))?;
    Ok(status.f_bavail.saturating_mul(status.f_frsize))
}

/// How the processes of a job lie on hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Host of each process.
    pub hosts: Vec<String>,
    /// The kernel that runs each process; hosts of one name may be several.
    pub kernels: Vec<u64>,
    /// Usable processors of each process.
    pub processors: Vec<u64>,
}

impl Placement {
    /// Asks all processes.
    #[must_use]
    pub fn of_job(exchange: &dyn Exchange) -> Self {
        let report = format!("{} {}\n{}", usable_processors(), running_kernel(), host_name());
        let joined: Vec<u8> = gather(exchange, report.as_bytes()).join(&b'\0');
        let all = String::from_utf8_lossy(&broadcast(exchange, &joined)).into_owned();
        let mut placement = Self { hosts: Vec::new(), kernels: Vec::new(), processors: Vec::new() };
        for report in all.split('\0') {
            // Informs people and the choice of an expansion; what is missing here is shown as
            // unknown.
            let (numbers, host) = report.split_once('\n').unwrap_or(("1 0", "unknown"));
            let (count, kernel) = numbers.split_once(' ').unwrap_or(("1", "0"));
            placement.hosts.push(host.to_owned());
            placement.kernels.push(kernel.parse().unwrap_or(0));
            placement.processors.push(count.parse().unwrap_or(1));
        }
        placement
    }

    /// One process on this host.
    #[must_use]
    pub fn alone() -> Self {
        Self { hosts: vec![host_name()], kernels: vec![running_kernel()], processors: vec![to_u64(usable_processors())] }
    }

    /// Number of processes on the host of `process`.
    #[must_use]
    pub fn on_same_host(&self, process: ProcessId) -> u32 {
        let host = |at: usize| (&self.hosts[at], self.kernels[at]);
        let here = host(process.index());
        u32::try_from((0..self.hosts.len()).filter(|&other| host(other) == here).count()).unwrap_or(u32::MAX)
    }

    /// Threads for `process` when the user does not say: its share of the processors. A process
    /// bound to some processors uses those; unbound processes share the host's.
    #[must_use]
    pub fn threads(&self, process: ProcessId) -> usize {
        let usable = self.processors[process.index()];
        let bound = usable < to_u64(all_processors());
        let sharing = if bound { 1 } else { u64::from(self.on_same_host(process)) };
        to_usize((usable / sharing).max(1))
    }

    /// Number of processes.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.hosts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::local;

    #[test]
    fn this_machine_has_a_name_processors_memory_and_disk() {
        assert!(!host_name().is_empty());
        assert!(all_processors() >= usable_processors());
        assert!(available_memory_bytes().is_none_or(|bytes| bytes > 1 << 20));
        assert!(free_disk_bytes(Path::new("no/such/folder")).expect("some file system") > 0);
    }

    #[test]
    fn processes_of_one_host_share_its_processors() {
        local::run_participants(2, |exchange| {
            let placement = Placement::of_job(exchange);
            assert_eq!(placement.processes(), 2);
            assert_eq!(placement.on_same_host(exchange.process()), 2);
            assert!(placement.threads(exchange.process()) <= usable_processors());
            // Another machine of the same name shares nothing.
            let other = Placement { kernels: vec![1, 2], ..placement };
            assert_eq!(other.on_same_host(exchange.process()), 1);
        })
        .expect("threads");
    }
}
