//! Which processes see one run folder: all of them on a shared file system, those of a host where
//! each host has a disk of its own.
//!
//! Found out by trial, not by name: every process leaves a token in the folder and looks whose
//! tokens are there. So two hosts of one name are two, two hosts that see one folder are one, and a
//! folder that was declared to be shared and is not is refused before anything is searched. The
//! lowest process that sees a folder *leads* it: it locks, creates and removes for all that see it.

use super::host::Placement;
use super::run_folder::{PROBE, RunFolder};
use super::run_lock;
use crate::base::ids::{index_u32, low_u32, to_u64, to_usize};
use crate::base::{Error, ProcessId, Result, regular_file};
use crate::exchange::{Exchange, agree, broadcast};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a shared folder may take to show a new file to another host.
const PATIENCE: Duration = Duration::from_secs(3);

/// Bytes of a token.
pub(in crate::search) const MOST_TOKEN_BYTES: u64 = 8;

/// The folders of a job, by who sees them.
#[derive(Clone, Debug)]
pub struct Disks {
    process: ProcessId,
    /// For each process the lowest one that sees the same folder.
    leaders: Vec<ProcessId>,
    /// Host of each process, as a part of a file's name.
    hosts: Vec<String>,
    /// Tells this session's packs from those that another session left on a disk; none on a shared
    /// file system, where nothing is left unseen.
    token: Option<u64>,
}

impl Disks {
    /// One folder that all processes see. Nothing is tried.
    #[must_use]
    pub fn one(exchange: &dyn Exchange) -> Self {
        let processes = index_u32(exchange.processes());
        Self { process: exchange.process(), leaders: vec![ProcessId::FIRST; processes], hosts: Vec::new(), token: None }
    }

    /// One folder, which exists: every process reads a token that the first one writes there.
    /// Collective.
    ///
    /// # Errors
    /// `Config`, the same on every process, naming a host that does not see the first process's
    /// folder.
    pub fn check_shared(exchange: &dyn Exchange, folder: &RunFolder, placement: &Placement) -> Result<Self> {
        if exchange.processes() == 1 {
            return Ok(Self::one(exchange));
        }
        let token = new_token(exchange);
        let path = folder.file(&format!("{PROBE}-{token:016x}"));
        let first = exchange.process() == ProcessId::FIRST;
        agree(exchange, if first { write_token(&path, token) } else { Ok(()) })?;
        let me = exchange.process().index();
        let seen = if first || sees(&path, token) {
            Ok(())
        } else {
            Err(Error::config(format!(
                "host {} does not see the run folder {} of process 0 on host {}; choose a folder with --out that all hosts see at this path, or set \
                 shared_filesystem = false in [search] to use each host's own disk",
                placement.hosts[me],
                folder.root().display(),
                placement.hosts[0]
            )))
        };
        let seen = agree(exchange, seen);
        if first {
            let _ = fs::remove_file(&path);
        }
        seen.map(|()| Self::one(exchange))
    }

    /// Finds out who sees which folder; creates those that are not there. Collective.
    ///
    /// # Errors
    /// The same on every process: `CannotCreate` for a folder that is no run folder, `Config` when
    /// the processes contradict each other.
    pub fn find(exchange: &dyn Exchange, folder: &RunFolder, placement: &Placement) -> Result<Self> {
        let token = new_token(exchange);
        let me = exchange.process();
        let name = |process: u64| format!("{PROBE}-{token:016x}-{process}");
        let own = folder.file(&name(me.0.into()));
        agree(exchange, folder.refuse_foreign().and_then(|()| folder.create_root()).and_then(|()| write_token(&own, token)))?;
        let visible: Vec<u64> =
            (0..u64::from(exchange.processes())).filter(|&other| other == u64::from(me.0) || folder.file(&name(other)).is_file()).collect();
        let all = exchange.all_to_all(vec![visible; index_u32(exchange.processes())]);
        // Behind the exchange everybody has looked.
        let _ = fs::remove_file(&own);
        let leaders: Vec<usize> =
            (0..all.len()).map(|process| all.iter().position(|seen| *seen == all[process]).unwrap_or(process)).collect();
        let contradicts =
            (0..all.len()).find(|&process| all[process].iter().any(|&other| leaders.get(to_usize(other)) != Some(&leaders[process])));
        if let Some(process) = contradicts {
            // The job that holds the folder removes the tokens of others.
            agree(exchange, run_lock::refuse_held(folder.root()))?;
            return Err(Error::config(format!(
                "{}: process {process} on host {} sees files of processes that do not see its own; wait for the file system, or choose another folder with --out",
                folder.root().display(),
                placement.hosts[process]
            )));
        }
        let hosts = placement.hosts.iter().map(|host| as_name(host)).collect();
        let leaders = leaders.into_iter().map(|leader| ProcessId(low_u32(to_u64(leader)))).collect();
        Ok(Self { process: me, leaders, hosts, token: Some(token) })
    }

    /// Whether all processes see one folder.
    #[must_use]
    pub fn are_one(&self) -> bool {
        self.leaders.iter().all(|&leader| leader == ProcessId::FIRST)
    }

    /// Whether there may be folders that no process of this job sees.
    #[must_use]
    pub fn may_be_more(&self) -> bool {
        self.token.is_some()
    }

    /// Host of the first process, as a part of a file's name; `None` on a shared file system, where
    /// it is of no interest.
    #[must_use]
    pub fn first_host(&self) -> Option<&str> {
        self.hosts.first().map(String::as_str)
    }

    /// Whether a process of this job is on `host`, named as a part of a file's name.
    #[must_use]
    pub fn include(&self, host: &str) -> bool {
        self.hosts.iter().any(|here| here == host)
    }

    /// Whether this process leads its folder.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.leader(self.process) == self.process
    }

    /// Whether this is the process whose folder gets the manifests and results.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.process == ProcessId::FIRST
    }

    /// The process that leads the folder of `process`.
    #[must_use]
    pub fn leader(&self, process: ProcessId) -> ProcessId {
        self.leaders[process.index()]
    }

    /// Name of the file for this process's part of a checkpoint. Where every host has its own disk
    /// it names the host and the session: a host that was away for a while may hold files of a
    /// commit that never happened.
    #[must_use]
    pub fn pack_name(&self) -> String {
        let process = self.process;
        match self.token {
            None => format!("process-{:04}.pack", process.0),
            Some(token) => format!("process-{:04}.{}.{token:016x}.pack", process.0, self.hosts[process.index()]),
        }
    }

    /// A pack that no process sees, in words: on which host it was written, and whether that one is
    /// here.
    #[must_use]
    pub fn missing_pack(&self, path: &Path) -> Error {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut parts = name.split('.');
        let writer = parts.nth(1).filter(|_| parts.count() == 2);
        let mut here: Vec<&str> = self.hosts.iter().map(String::as_str).collect();
        here.dedup();
        match writer {
            Some(host) if !here.contains(&host) => Error::config(format!(
                "{}: found on none of the hosts of this job ({}), expected on {host}, which wrote it; start on that host, too, copy its checkpoint folder to one of these, \
                 or start again with --resume never --force",
                path.display(),
                here.join(", ")
            )),
            _ => Error::bad_data(
                path,
                "no such file on any host",
                "a file of the checkpoint",
                "an older checkpoint or another copy is needed",
            ),
        }
    }
}

/// A host's name as a part of a file's name.
fn as_name(host: &str) -> String {
    host.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' }).take(64).collect()
}

/// A number that no other session has, from the first process.
fn new_token(exchange: &dyn Exchange) -> u64 {
    let own = RandomState::new().hash_one(std::process::id());
    let bytes = broadcast(exchange, &own.to_le_bytes());
    // A message of another length never gets here: what it lacks is an error of the transport.
    u64::from_le_bytes(std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0)))
}

fn write_token(path: &Path, token: u64) -> Result<()> {
    fs::write(path, token.to_le_bytes()).map_err(|source| Error::io("write", path, source))
}

/// Whether the token is at `path`. Network file systems remember for a while that a folder was not
/// there; to open the folders above makes them look again.
fn sees(path: &Path, token: u64) -> bool {
    let since = Instant::now();
    loop {
        if regular_file::read(path, MOST_TOKEN_BYTES).is_ok_and(|found| found == token.to_le_bytes()) {
            return true;
        }
        if since.elapsed() > PATIENCE {
            return false;
        }
        for folder in path.ancestors().skip(1) {
            let _ = fs::read_dir(folder);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::local;

    fn placement(hosts: &[&str]) -> Placement {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        Placement { kernels: vec![1; hosts.len()], processors: vec![1; hosts.len()], hosts }
    }

    #[test]
    fn processes_are_told_apart_by_what_they_see() {
        let folder = tempfile::tempdir().expect("temporary folder");
        // Hosts of one name with a disk each, and processes of other names with one disk.
        local::run_participants(4, |exchange| {
            let root = folder.path().join(if exchange.process().0 % 2 == 0 { "a" } else { "b" });
            let found = Disks::find(exchange, &RunFolder::new(&root), &placement(&["x", "x", "y", "z"])).expect("writable");
            assert_eq!(found.leaders, [0, 1, 0, 1].map(ProcessId));
            assert!(!found.are_one() && found.leads() == (exchange.process().0 < 2));
            exchange.barrier();
            assert_eq!(fs::read_dir(&root).expect("created").count(), 0, "no token is left");
            exchange.barrier();
            let error = Disks::check_shared(exchange, &RunFolder::new(&root), &placement(&["x", "x", "y", "z"])).expect_err("two folders");
            assert_eq!(error.exit_code(), 78);
            assert!(error.to_string().contains("host x does not see the run folder"), "{error}");
        })
        .expect("threads");
        local::run_participants(3, |exchange| {
            let run = RunFolder::new(&folder.path().join("a"));
            assert!(Disks::find(exchange, &run, &placement(&["x", "y", "z"])).expect("writable").are_one());
            assert!(Disks::check_shared(exchange, &run, &placement(&["x", "y", "z"])).expect("seen").are_one());
        })
        .expect("threads");
    }

    #[test]
    fn a_missing_pack_is_damage_only_where_its_host_is_there() {
        local::run_participants(2, |exchange| {
            let disks = Disks {
                process: exchange.process(),
                leaders: vec![ProcessId(0), ProcessId(1)],
                hosts: vec![as_name("node a.b"), as_name("node-c")],
                token: Some(7),
            };
            let name = ["process-0000.node_a_b.0000000000000007.pack", "process-0001.node-c.0000000000000007.pack"];
            assert_eq!(disks.pack_name(), name[exchange.process().index()]);
            assert_eq!(disks.missing_pack(Path::new(name[1])).exit_code(), 65);
            assert_eq!(disks.missing_pack(Path::new("gen-000001/process-0001.pack")).exit_code(), 65);
            let absent = disks.missing_pack(Path::new("gen-000001/process-0001.node-d.07.pack"));
            assert!(absent.exit_code() == 78 && absent.to_string().contains("expected on node-d"), "{absent}");
        })
        .expect("threads");
    }
}
