//! The folder of a run: where each file is.

use super::run_lock::{LOCK, LeftBehind, RunLock, is_held};
use crate::base::regular_file::{self, MOST_NOTE_BYTES};
use crate::base::removal::{remove_file, remove_folder};
use crate::base::{Error, Result, atomic_file};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a run folder beside the lock.
const FILES: [&str; 12] = [
    "SHA256SUMS",
    "SHA256SUMS.next",
    "distance.cert",
    "summary.json",
    "manifest.json",
    "distribution.tsv",
    "levels.tsv",
    "antipodes.tsv",
    "samples.tsv",
    "run.toml",
    "run.log",
    "progress.json",
];

/// A folder with one of these is a run folder.
const MARKS: [&str; 3] = [LOCK, "run.toml", "summary.json"];

/// The file that shows whether the folder can be written; tokens that show who sees it begin with
/// the same.
pub(super) const PROBE: &str = ".probe";

/// Paths of a run's files.
#[derive(Clone, Debug)]
pub struct RunFolder {
    root: PathBuf,
}

impl RunFolder {
    /// The run folder `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf() }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file of the folder.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Scratch files: meaningless after a crash.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Checkpoints.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.root.join("checkpoint")
    }

    /// Archived levels.
    #[must_use]
    pub fn levels(&self) -> PathBuf {
        self.root.join("levels")
    }

    /// The run that repeats this one.
    #[must_use]
    pub fn recheck(&self) -> PathBuf {
        self.root.join("recheck")
    }

    /// Refuses a folder that has files and is no run folder: nothing of the user's may be removed
    /// or mixed up.
    ///
    /// # Errors
    /// `CannotCreate` naming a file that does not belong.
    pub fn refuse_foreign(&self) -> Result<()> {
        let Ok(entries) = fs::read_dir(&self.root) else { return Ok(()) };
        // A run that was killed while it tried the folder has left the probe, and a power cut may
        // leave the first file half written; nothing else.
        let temporaries: Vec<PathBuf> = FILES.iter().map(|name| atomic_file::temporary_name(Path::new(name))).collect();
        let names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| !name.starts_with(PROBE) && !temporaries.iter().any(|temporary| temporary.as_os_str() == name.as_str()))
            .collect();
        match names.first() {
            // A job that starts at the same time may have put its lock there after the list; what
            // else it makes comes later.
            Some(name) if !MARKS.iter().any(|mark| names.iter().any(|name| name == mark) || self.file(mark).symlink_metadata().is_ok()) => {
                Err(Error::CannotCreate {
                    path: self.root.clone(),
                    reason: format!("is no run folder (it holds {name:?}); choose an empty or new folder with --out"),
                })
            }
            _ => Ok(()),
        }
    }

    /// Removes everything that runs write here, but not the lock.
    ///
    /// # Errors
    /// `Io` when something cannot be removed.
    pub fn discard(&self) -> Result<()> {
        for folder in [self.work(), self.checkpoint(), self.levels(), self.recheck()] {
            remove_folder(&folder)?;
        }
        for name in FILES {
            remove_file(&self.file(name))?;
        }
        self.remove_temporaries()
    }

    /// Removes the temporary files and tokens that a killed run left beside the files of the
    /// folder. Only for who holds the lock.
    ///
    /// # Errors
    /// `Io` when one cannot be removed.
    pub fn remove_temporaries(&self) -> Result<()> {
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(PROBE) {
                remove_file(&entry.path())?;
            }
        }
        FILES.iter().try_for_each(|name| remove_file(&atomic_file::temporary_name(&self.file(name))))
    }

    /// Checks that files can be written, synced and renamed in the folder. Only for who holds the
    /// lock: of two that try at the same time one would fail.
    ///
    /// # Errors
    /// `Io` with exit code 77 when permission is missing, 74 for other faults.
    pub fn try_out(&self) -> Result<()> {
        let probe = self.file(PROBE);
        atomic_file::write(&probe, b"probe")?;
        fs::remove_file(&probe).map_err(|source| Error::io("remove", &probe, source))
    }

    /// Creates the folder when it is not there.
    ///
    /// # Errors
    /// `CannotCreate` when a file is in the way, `Io` for other faults.
    pub fn create_root(&self) -> Result<()> {
        let missing: Vec<&Path> = self.root.ancestors().take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists()).collect();
        fs::create_dir_all(&self.root).map_err(|source| match source.kind() {
            std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory => Error::CannotCreate {
                path: self.root.clone(),
                reason: "a file is in the way of this run folder; choose another folder with --out".into(),
            },
            _ => Error::io("create folder", &self.root, source),
        })?;
        // A checkpoint in a folder whose own name is lost would be lost with it. A parent that may
        // not be read cannot be synced.
        for parent in missing.iter().filter_map(|folder| folder.parent()) {
            if let Ok(opened) = atomic_file::open_folder(if parent.as_os_str().is_empty() { Path::new(".") } else { parent }) {
                opened.sync_all().map_err(|source| Error::io("sync the folder above", &self.root, source))?;
            }
        }
        Ok(())
    }

    /// Empties and creates the scratch folder (first process only).
    ///
    /// # Errors
    /// `Io` when that fails.
    pub fn renew_work(&self) -> Result<()> {
        let work = self.work();
        remove_folder(&work)?;
        fs::create_dir_all(&work).map_err(|source| Error::io("create folder", &work, source))
    }

    /// Whether there is a run here, or was one that left something.
    #[must_use]
    pub fn is_run(&self) -> bool {
        MARKS.iter().any(|name| self.file(name).is_file())
    }

    /// Whether a process holds the lock. Asks for a shared lock, and gives it back at once.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        is_held(&self.root)
    }

    /// Who holds the lock, or held it last, as it wrote itself down.
    #[must_use]
    pub fn lock_owner(&self) -> LockOwner {
        let text = regular_file::read_text(&self.file(LOCK), MOST_NOTE_BYTES).unwrap_or_default();
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key).map(|rest| rest.trim().to_owned()));
        LockOwner {
            host: value("host "),
            process_id: value("process id ").and_then(|text| text.parse().ok()),
            part_of: value("part of the run on host "),
        }
    }

    /// Locks the folder for this job; the lock ends with the returned value, or with the process
    /// however it ends.
    ///
    /// # Errors
    /// `CannotCreate` naming the job that holds it.
    pub fn lock(&self, left_behind: LeftBehind) -> Result<RunLock> {
        self.lock_part_of(left_behind, None)
    }

    /// The same where the run's own folder is on the disk of another host, `whole`.
    ///
    /// # Errors
    /// As [`RunFolder::lock`].
    pub fn lock_part_of(&self, left_behind: LeftBehind, whole: Option<&str>) -> Result<RunLock> {
        RunLock::take(&self.root, left_behind, whole)
    }
}

/// Who wrote a lock file; `None` where it says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockOwner {
    /// The host.
    pub host: Option<String>,
    /// The process on it.
    pub process_id: Option<u32>,
    /// The host of the first process, when that one has another folder.
    pub part_of: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_job_at_a_time() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let run = RunFolder::new(folder.path());
        run.create_root().expect("writable");
        let held = run.lock(LeftBehind::Refuse).expect("free");
        let error = run.lock(LeftBehind::Refuse).expect_err("held");
        assert_eq!(error.exit_code(), 73);
        assert!(error.to_string().contains(&format!("process id {}", std::process::id())), "{error}");
        run.try_out().expect("writable");
        assert!(run.is_run() && run.is_locked());
        assert_eq!(run.lock_owner().process_id, Some(std::process::id()));
        drop(held);
        assert!(!run.is_locked());
        run.lock(LeftBehind::Refuse).expect("free again");
    }
}
