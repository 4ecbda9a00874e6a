//! Kills for real: SIGKILL at random instants, 200 times in all, in levels and in commits.

use crate::common::disturb::{Dice, Job, Member, generations, is_committing, scratch, wait_until};
use crate::common::needs::{Need, test_lacks};
use crate::{Reference, mpi_run};
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How a series of random kills starts the program, and whom it kills.
struct Series {
    /// A configuration with `[search] storage`, or none for files.
    storage: &'static str,
    /// MPI processes; 0 starts the program alone.
    processes: u32,
    /// Flags of the runs that are killed.
    flags: &'static [&'static str],
    /// One process only, a random one; its launcher then ends the others. Otherwise all at once, as
    /// a power cut would.
    one: bool,
    /// How often a living run is killed.
    kills: u32,
}

/// Instants of the kills, as the folder shows them.
#[derive(Debug, Default)]
struct Hit {
    in_start: u32,
    in_level: u32,
    in_commit: u32,
}

impl Hit {
    fn note(&mut self, run: &Path) {
        if is_committing(run).is_some() {
            self.in_commit += 1;
        } else if generations(run).is_empty() {
            self.in_start += 1;
        } else {
            self.in_level += 1;
        }
    }
}

/// Kills runs at random instants, in levels and in commits, and starts them again, until the series
/// has its kills; each run then ends with the right bytes. Only a kill that ends the program
/// counts: it lived, had nothing published, and ended by SIGKILL.
fn kill_at_random(number: u64, series: &Series) -> (u32, Hit) {
    let since = Instant::now();
    let folder = scratch();
    let config = folder.path().join("killed.toml");
    fs::write(&config, format!("puzzle = \"turnstyle-9\"\n[search]\nstorage = \"{}\"\n", series.storage)).expect("written");
    let reference = Reference::new(config.to_str().expect("UTF-8"), &[]);
    let start = |run: &Path, processes: u32| match processes {
        0 => reference.run(run, series.flags),
        _ => mpi_run(processes, &reference.puzzle, run),
    };
    let mut dice = Dice::new(100 + number);
    let (mut kills, mut runs, mut hit) = (0, 0, Hit::default());
    let path = |runs: u32| folder.path().join(format!("run-{runs}"));
    let log_bytes = |run: &Path| fs::metadata(run.join("run.log")).map_or(0, |facts| facts.len());
    while kills < series.kills {
        let run = path(runs);
        let before = log_bytes(&run);
        let mut job = Job::start(&mut start(&run, series.processes));
        // Every fifth kill may hit the start-up; the others wait until the search has begun, and
        // every second one for a commit.
        let aim = dice.below(5);
        if aim > 0 {
            wait_until("the search begins", || log_bytes(&run) > before || !job.is_running());
            dice.sleep(120);
        } else {
            dice.sleep(20);
        }
        if aim > 2 {
            wait_until("a commit begins", || is_committing(&run).is_some() || !job.is_running());
        }
        let programs = job.programs();
        let victims = if series.one && !programs.is_empty() {
            let victim = usize::try_from(dice.below(u64::try_from(programs.len()).expect("small"))).expect("small");
            vec![programs[victim].clone()]
        } else {
            programs
        };
        let lived = !victims.is_empty() && !run.join("summary.json").exists() && victims.iter().all(Member::is_alive);
        let members = job.members();
        if !series.one {
            job.kill_all();
        } else if lived {
            victims[0].signal(Signal::KILL);
            wait_until("all others have ended", || members.iter().all(|member| !member.is_alive()) && !job.is_running());
        }
        let code = job.finish().0;
        // A run that was killed behind its last file, or ended by itself in the meantime, is
        // complete.
        if run.join("summary.json").exists() {
            reference.resume_and_check(&run, &["--threads", "2"], &format!("series {number}, run {runs} after {kills} kills"));
            runs += 1;
        } else if lived {
            assert_ne!(code, 0, "series {number}, run {runs}");
            kills += 1;
            hit.note(&run);
        }
    }
    // On another number of processes than before.
    for run in (0..=runs).map(path).filter(|run| run.exists()) {
        reference.resume_and_check(&run, &["--participants", "2", "--threads", "1"], &format!("series {number} after {kills} kills"));
    }
    eprintln!("series {number}: {kills} kills in {} runs in {:.1?}: {hit:?}", runs + 1, since.elapsed());
    (kills, hit)
}

/// Runs these series, three beside each other, as most of the time is spent waiting. Demands as
/// many kills as were asked for, and at least `least` of them in levels and in commits.
fn kill_in_series(first_number: u64, all: &[Series], least: u32) {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((number, series)) = (first_number..).zip(all).nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = kill_at_random(number, series);
                    results.lock().expect("no series failed").push(result);
                }
            });
        }
    });
    let (mut kills, mut hit) = (0, Hit::default());
    for (killed, seen) in results.into_inner().expect("no series failed") {
        kills += killed;
        hit.in_start += seen.in_start;
        hit.in_level += seen.in_level;
        hit.in_commit += seen.in_commit;
    }
    eprintln!("{kills} kills in all: {hit:?}");
    assert_eq!(kills, all.iter().map(|series| series.kills).sum::<u32>());
    assert_eq!(hit.in_start + hit.in_level + hit.in_commit, kills);
    assert!(hit.in_level >= least && hit.in_commit >= least, "{hit:?}");
}

/// In files and in compact storage; one process and several participants, all at once.
#[test]
fn kills_at_random_instants_lose_nothing() {
    let alone = |storage, flags, kills| Series { storage, processes: 0, flags, one: false, kills };
    let all = [
        alone("files", &["--threads", "1"], 43),
        alone("compact", &["--threads", "1"], 43),
        alone("files", &["--participants", "3", "--threads", "1"], 25),
        alone("compact", &["--participants", "3", "--threads", "1"], 25),
    ];
    kill_in_series(0, &all, 20);
}

/// One MPI process and several, all at once and one of them.
#[test]
fn kills_of_mpi_processes_at_random_instants_lose_nothing() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let mpi = |storage, processes, one, kills| Series { storage, processes, flags: &[], one, kills };
    // A launcher takes two seconds to end the others when one is killed: those series come first.
    let all = [
        mpi("files", 3, true, 12),
        mpi("compact", 2, true, 12),
        mpi("files", 1, false, 10),
        mpi("files", 2, false, 15),
        mpi("compact", 3, false, 15),
    ];
    kill_in_series(4, &all, 8);
}
