//! The lock that lets one job use a run folder.
//!
//! Where the file system has locks it is the system's own lock on the file `lock`, which ends with
//! the process however that ends: it is never stale. Where it has none (ENOLCK, ENOTSUP or ENOSYS,
//! as on some network file systems) it is the file `lock.owner`, which one job only can create, and
//! which it rewrites every two seconds with a higher number of beats. A job that is killed leaves
//! this file behind. Nobody guesses from its age, as clocks differ: the next job is refused, and
//! `--break-lock` removes the file when it has not changed while it was watched for three beats. A
//! job that was only held still finds, when it goes on, that the file is not its own any more, and
//! ends.

use super::host::host_name;
use crate::base::error::EXIT_IN_USE;
use crate::base::regular_file::{self, MOST_NOTE_BYTES};
use crate::base::{Error, Result, fault_point, last_words};
use crate::exchange::launcher;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The file with the system's lock. It names the last job that held it.
pub(super) const LOCK: &str = "lock";

/// The file that stands for the lock where the system has none.
pub(super) const OWNER: &str = "lock.owner";

/// How long a lock that somebody else holds is asked for again: those who only look whether the run
/// is alive hold it for a moment.
const PATIENCE: Duration = Duration::from_millis(300);

/// Time between two beats of the job that owns the folder.
const BEAT: Duration = Duration::from_secs(2);

/// How long a file without beats is watched before it counts as left behind.
const WATCH: Duration = Duration::from_millis(7_000);

/// What to do about a `lock.owner` that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftBehind {
    /// Refuse: its job may live.
    Refuse,
    /// Remove it, if its job shows no life.
    Break,
}

/// The lock of a run folder, held while this value lives.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    _owner: Option<OwnerFile>,
}

impl RunLock {
    /// Locks the folder `root` for this job, where it is a part of the run on the host `whole` if
    /// that is given; the lock ends with the returned value, or with the process however it ends.
    ///
    /// # Errors
    /// `CannotCreate` naming the job that holds it.
    pub fn take(root: &Path, left_behind: LeftBehind, whole: Option<&str>) -> Result<Self> {
        let path = root.join(LOCK);
        let mut file = regular_file::open_to_change(&path)?;
        let locked = fault_point::pass("folder-lock").map_err(TryLockError::Error).and_then(|()| lock_patiently(&file));
        let by_system = match locked {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                let owner = regular_file::read_open(file, &path, MOST_NOTE_BYTES).unwrap_or_default();
                return Err(used_by(root, &String::from_utf8_lossy(&owner)));
            }
            Err(TryLockError::Error(error)) if has_no_locks(&error) => false,
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path, source)),
        };
        if left_behind == LeftBehind::Break {
            OwnerFile::break_left(root)?;
        }
        let card = card(whole);
        let owner = if by_system {
            // A job may use the folder from a host whose view of it has no locks.
            OwnerFile::refuse_present(root)?;
            None
        } else {
            Some(OwnerFile::create(root, &card)?)
        };
        file.set_len(0).and_then(|()| file.write_all(card.as_bytes())).map_err(|source| Error::io("write", &path, source))?;
        Ok(Self { _file: file, _owner: owner })
    }
}

/// Locks the file, if need be after those who only look.
fn lock_patiently(file: &File) -> Result<(), TryLockError> {
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => std::thread::sleep(PATIENCE / 30),
            other => return other,
        }
    }
}

/// Whether a job holds the folder, as far as can be seen without disturbing it: asks for a shared
/// lock, and gives it back at once.
#[must_use]
pub fn is_held(root: &Path) -> bool {
    let held = regular_file::open(&root.join(LOCK)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
    held || root.join(OWNER).is_file()
}

/// Refuses the folder when a job holds it.
///
/// # Errors
/// `CannotCreate` naming that job.
pub(super) fn refuse_held(root: &Path) -> Result<()> {
    if !is_held(root) {
        return Ok(());
    }
    let card = |name: &str| regular_file::read_text(&root.join(name), MOST_NOTE_BYTES).ok();
    Err(used_by(root, &card(OWNER).or_else(|| card(LOCK)).unwrap_or_default()))
}

/// Whether the error says that the file system has no locks.
fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == ErrorKind::Unsupported || error.raw_os_error() == Some(Errno::NOLCK.raw_os_error())
}

/// Who this job is.
fn card(whole: Option<&str>) -> String {
    format!(
        "host {}\nprocess id {}\njob {}\nstarted {}\n{}",
        host_name(),
        std::process::id(),
        std::env::var("SLURM_JOB_ID").or_else(|_| std::env::var("PBS_JOBID")).unwrap_or_else(|_| "none".into()),
        jiff::Timestamp::now(),
        whole.map_or_else(String::new, |host| format!("part of the run on host {host}\n")),
    )
}

fn one_line(card: &str) -> String {
    card.trim().replace('\n', ", ")
}

fn used_by(root: &Path, card: &str) -> Error {
    in_use(root, &format!("another job is using this run folder ({}); wait for it, or choose another folder with --out", one_line(card)))
}

fn in_use(root: &Path, reason: &str) -> Error {
    Error::CannotCreate { path: root.to_path_buf(), reason: reason.to_owned() }
}

/// The refusal of a folder with the mark of another job.
fn marked(root: &Path, card: &str) -> Error {
    let value = |key: &str| card.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim().to_owned();
    let (host, process) = (value("host "), value("process id "));
    let is_gone = host == host_name() && !process.is_empty() && !Path::new("/proc").join(&process).exists();
    let who = one_line(card);
    in_use(
        root,
        &if is_gone {
            format!(
                "the job that locked this run folder ({who}) was killed: there is no process {process} here; take the folder over with --break-lock"
            )
        } else {
            format!(
                "another job is using this run folder ({who}); wait for it, or choose another folder with --out; this file system has no locks that end with a job, \
                 so if it was killed take the folder over with --break-lock"
            )
        },
    )
}

/// The marks that this program has on folders, for an ending that drops nothing.
static MARKS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the marks of this program: for an ending at once, before anything was searched. Locks of
/// the system end with the program.
pub(super) fn give_up_marks() {
    // Whoever holds the list just now is making a mark, or removing one.
    let marks = MARKS.lock().unwrap_or_else(PoisonError::into_inner);
    for mark in marks.iter() {
        let _ = fs::remove_file(mark);
    }
}

/// The mark of a job on a folder without locks. Dropping it removes the file.
#[derive(Debug)]
struct OwnerFile {
    path: PathBuf,
    end: Option<Sender<()>>,
    heart: Option<JoinHandle<()>>,
}

impl OwnerFile {
    /// Puts the mark there, and lets it beat.
    fn create(root: &Path, card: &str) -> Result<Self> {
        let path = root.join(OWNER);
        let mut marks = MARKS.lock().unwrap_or_else(PoisonError::into_inner);
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        if created.is_ok() {
            marks.push(path.clone());
        }
        drop(marks);
        let mut file = match created {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Self::refuse_present(root)?;
                // Removed just now: its job has ended.
                return Self::create(root, card);
            }
            Err(source) => return Err(Error::io("create", &path, source)),
        };
        let written = file.write_all(format!("{card}beat 0\n").as_bytes()).and_then(|()| file.sync_all());
        let (end, ended) = mpsc::channel();
        let mut owner = Self { path: path.clone(), end: Some(end), heart: None };
        written.map_err(|source| Error::io("write", &path, source))?;
        let (card, seen) = (card.to_owned(), path.clone());
        let beat = move || {
            let mut beats = 0_u64;
            while ended.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let taken_over = match regular_file::read_if_there(&seen, MOST_NOTE_BYTES) {
                    Ok(Some(text)) => !text.starts_with(card.as_bytes()),
                    Ok(None) => true,
                    Err(_) => false,
                };
                if taken_over {
                    launcher::end_with(
                        EXIT_IN_USE,
                        &format!(
                            "{}: {} is not this job's any more: another job took the run folder over with --break-lock; this one ends",
                            last_words::process_name(),
                            seen.display()
                        ),
                    );
                }
                beats += 1;
                // A beat that is lost is no harm.
                let _ = file.write_all_at(format!("{card}beat {beats}\n").as_bytes(), 0);
            }
        };
        let heart = Builder::new()
            .spawn(beat)
            .map_err(|error| Error::config(format!("cannot start a thread: {error}; raise the limits (ulimit -u)")))?;
        owner.heart = Some(heart);
        Ok(owner)
    }

    /// What the mark of a job says, when there is one.
    fn read(root: &Path) -> Result<Option<String>> {
        let text = regular_file::read_if_there(&root.join(OWNER), MOST_NOTE_BYTES)?;
        Ok(text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Refuses a folder that has the mark of a job.
    fn refuse_present(root: &Path) -> Result<()> {
        match Self::read(root)? {
            Some(text) => Err(marked(root, text.split("beat ").next().unwrap_or_default())),
            None => Ok(()),
        }
    }

    /// Removes the mark of a job that shows no life while it is watched.
    fn break_left(root: &Path) -> Result<()> {
        let Some(before) = Self::read(root)? else { return Ok(()) };
        std::thread::sleep(WATCH);
        match Self::read(root)? {
            None => Ok(()),
            Some(after) if after == before => {
                let path = root.join(OWNER);
                fs::remove_file(&path).map_err(|source| Error::io("remove", &path, source))
            }
            Some(after) => Err(in_use(
                root,
                &format!(
                    "the job that uses this run folder ({}) is alive, so --break-lock leaves it alone; end that job first, or wait for it",
                    one_line(&after)
                ),
            )),
        }
    }
}

impl Drop for OwnerFile {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(heart) = self.heart.take() {
            let _ = heart.join();
        }
        let mut marks = MARKS.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = fs::remove_file(&self.path);
        marks.retain(|mark| *mark != self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_job_at_a_time() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let held = RunLock::take(folder.path(), LeftBehind::Refuse, None).expect("free");
        assert!(is_held(folder.path()));
        for left_behind in [LeftBehind::Refuse, LeftBehind::Break] {
            let error = RunLock::take(folder.path(), left_behind, None).expect_err("held");
            assert_eq!(error.exit_code(), 73);
            assert!(error.to_string().contains(&format!("process id {}", std::process::id())), "{error}");
        }
        drop(held);
        assert!(!is_held(folder.path()));
        RunLock::take(folder.path(), LeftBehind::Refuse, None).expect("free again");
    }

    #[test]
    fn a_mark_is_made_by_one_job_and_removed_at_its_end() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let root = folder.path();
        let mark = OwnerFile::create(root, &card(None)).expect("free");
        let error = OwnerFile::create(root, &card(None)).expect_err("held");
        assert!(error.exit_code() == 73 && error.to_string().contains("another job is using this run folder"), "{error}");
        // Nor by the system's lock, where there is one.
        assert_eq!(RunLock::take(root, LeftBehind::Refuse, None).expect_err("marked").exit_code(), 73);
        drop(mark);
        assert!(!root.join(OWNER).exists());
    }

    #[test]
    fn file_systems_without_locks_are_known_by_their_errors() {
        for error in [Errno::NOLCK, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS] {
            assert!(has_no_locks(&error.into()), "{error}");
        }
        assert!(!has_no_locks(&Errno::IO.into()) && !has_no_locks(&Errno::ACCESS.into()));
    }
}
