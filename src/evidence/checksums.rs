//! `SHA256SUMS`: the digests of the files of a run folder, one a line as `sha256sum` writes and
//! checks them, ascending by path.
//!
//! Every line is right at every moment, also while the folder is changed: a line goes before its
//! file is replaced, and comes back after it. So one line may be missing, that of `manifest.json`,
//! the only file of a complete run that changes.

use crate::base::ids::to_u64;
use crate::base::removal::remove_file;
use crate::base::{Error, Result, atomic_file, regular_file};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::Path;

/// The file itself.
const FILE: &str = "SHA256SUMS";

/// What earlier versions wrote beside it while they changed the manifest.
const LEFT_OVER: &str = "SHA256SUMS.next";

/// How the run was made and checked: it changes after the run.
pub const MANIFEST: &str = "manifest.json";

/// The certificate of a run's distances.
pub const CERTIFICATE: &str = "distance.cert";

/// Sampled states of each level. Runs of earlier versions have no such file.
pub const SAMPLES: &str = "samples.tsv";

/// All antipodes, or those of lowest rank.
pub const ANTIPODES: &str = "antipodes.tsv";

/// Files that every complete run has.
const REQUIRED: [&str; 6] = [ANTIPODES, "distribution.tsv", "levels.tsv", MANIFEST, "run.toml", "summary.json"];

/// The folder of the archived levels.
pub const LEVELS_FOLDER: &str = "levels";

/// Most bytes of a table that lists states: a million rows of 4 KiB.
pub const MOST_TABLE_BYTES: u64 = 4 << 30;

/// Bytes hashed at a time.
const BUFFER_BYTES: usize = 1 << 20;

/// Longest part of a line that a message shows, in characters: a digest and some of what comes
/// after it.
const LONGEST_SHOWN: usize = 130;

const RESTORE: &str = "the files do not belong together; restore them, or run again with --resume never --force";

/// The lines of a `SHA256SUMS`: digests in hexadecimal digits by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checksums(BTreeMap<String, String>);

impl Checksums {
    /// Hashes the files of a run that is just complete, all but those below `levels/`.
    ///
    /// # Errors
    /// `Io` when one cannot be read.
    pub fn of_files(folder: &Path) -> Result<Self> {
        let mut sums = Self::default();
        let samples = Some(SAMPLES).filter(|name| is_there(&folder.join(name)));
        for name in REQUIRED.into_iter().chain(samples) {
            sums.set(name, sha256(&folder.join(name), most_bytes(name))?.1);
        }
        Ok(sums)
    }

    /// Reads `SHA256SUMS`, and checks all that it lists but the archived levels: those are only
    /// looked for, as they may be gigabytes.
    ///
    /// # Errors
    /// `Io` when a file is missing, `BadData` when one is not as listed, or not listed.
    pub fn checked(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        let sums = Self::parse(&regular_file::read_text(&path, regular_file::MOST_TEXT_BYTES)?, &path)?;
        let samples = Some(SAMPLES).filter(|name| is_there(&folder.join(name)));
        let required = REQUIRED.into_iter().filter(|&name| name != MANIFEST).chain(samples);
        for name in required {
            if sums.digest(name).is_none() {
                return Err(Error::bad_data(&path, format!("no line for {name}"), "one for each file of the run", RESTORE));
            }
        }
        for (name, listed) in &sums.0 {
            let file = folder.join(name);
            if is_level_file(name) {
                regular_file::open(&file)?;
                continue;
            }
            let (_, found) = sha256(&file, most_bytes(name))?;
            if found != *listed {
                let cure = if name == MANIFEST && interrupted_before(folder, &found) {
                    "an earlier version of farthest was stopped while it changed this file: run mv SHA256SUMS.next SHA256SUMS in the run folder, which ends that"
                } else {
                    RESTORE
                };
                return Err(Error::bad_data(&file, format!("SHA-256 {found}"), format!("{listed} in SHA256SUMS"), cure));
            }
        }
        Ok(sums)
    }

    fn parse(text: &str, path: &Path) -> Result<Self> {
        let mut sums = Self::default();
        let lines = text.split_inclusive('\n');
        for (line, number) in lines.zip(1_u64..) {
            let refuse = |found: String, expected: &str| Err(Error::bad_data(path, format!("{found} in line {number}"), expected, RESTORE));
            let parts = line.strip_suffix('\n').and_then(|line| line.split_once("  "));
            let Some((digest, name)) = parts.filter(|(digest, name)| is_digest(digest) && is_known(name)) else {
                let expected = "64 hexadecimal digits, two blanks, and a file of the run or of its archive (levels/DDDDDD/NAME)";
                let shown: String = line.trim_end_matches('\n').chars().take(LONGEST_SHOWN).flat_map(char::escape_debug).collect();
                return refuse(format!("\"{shown}\""), expected);
            };
            if sums.0.insert(name.into(), digest.into()).is_some() {
                return refuse(format!("{name} a second time"), "each file once");
            }
        }
        Ok(sums)
    }

    /// Puts `SHA256SUMS` into the folder, in one step.
    ///
    /// # Errors
    /// `Io` when it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let text = self.0.iter().fold(String::new(), |mut text, (name, digest)| {
            let _ = writeln!(text, "{digest}  {name}");
            text
        });
        atomic_file::write(&folder.join(FILE), text.as_bytes())
    }

    /// The digest listed for a file.
    #[must_use]
    pub fn digest(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Lists a file, or another digest of it.
    pub fn set(&mut self, name: &str, digest: String) {
        self.0.insert(name.into(), digest);
    }

    /// Takes a file from the list; false when it was not there.
    pub fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    /// The archived files that are listed, with their digests.
    pub fn level_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter(|(name, _)| is_level_file(name)).map(|(name, digest)| (name.as_str(), digest.as_str()))
    }
}

/// Whether a version that wrote `SHA256SUMS.next` was stopped between its two renames: that file
/// has the digest of the manifest that is there.
fn interrupted_before(folder: &Path, manifest: &str) -> bool {
    let path = folder.join(LEFT_OVER);
    let text = regular_file::read_text(&path, regular_file::MOST_TEXT_BYTES);
    text.and_then(|text| Checksums::parse(&text, &path)).is_ok_and(|next| next.digest(MANIFEST) == Some(manifest))
}

/// Removes what a stopped earlier version left.
///
/// # Errors
/// `Io` when it cannot be removed.
pub fn remove_left_over(folder: &Path) -> Result<()> {
    remove_file(&folder.join(LEFT_OVER))
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_known(name: &str) -> bool {
    REQUIRED.contains(&name) || [SAMPLES, CERTIFICATE].contains(&name) || is_level_file(name)
}

/// Whether a path has the form `levels/DDDDDD/NAME` of an archived file.
#[must_use]
pub fn is_level_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let [LEVELS_FOLDER, depth, name] = parts[..] else { return false };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    depth.len() == 6
        && depth.bytes().all(|byte| byte.is_ascii_digit())
        && !name.is_empty()
        && !name.starts_with('.')
        && name.bytes().all(plain)
}

/// Whether a text is a SHA-256 as this program writes it.
#[must_use]
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn most_bytes(name: &str) -> u64 {
    if [ANTIPODES, SAMPLES].contains(&name) { MOST_TABLE_BYTES } else { regular_file::MOST_TEXT_BYTES }
}

/// SHA-256 of bytes, in hexadecimal digits.
#[must_use]
pub fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Length and SHA-256 of a regular file of at most `most` bytes.
///
/// # Errors
/// `Io` when it cannot be read, `BadData` when it is no regular file, or longer.
pub fn sha256(path: &Path, most: u64) -> Result<(u64, String)> {
    let file = regular_file::open(path)?;
    let too_long = |found: u64| {
        Error::bad_data(path, format!("{found} bytes"), format!("at most {most}"), "restore it, or run again with --resume never --force")
    };
    // Before a hole of a terabyte is hashed.
    let stated = file.metadata().map_err(|source| Error::io("read", path, source))?.len();
    if stated > most {
        return Err(too_long(stated));
    }
    let mut file = file.take(most.saturating_add(1));
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut length = 0;
    loop {
        let read = file.read(&mut buffer).map_err(|source| Error::io("read", path, source))?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
        length += to_u64(read);
    }
    if length > most {
        return Err(too_long(length));
    }
    Ok((length, hexadecimal(&hasher.finalize())))
}

fn hexadecimal(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of nothing (FIPS 180-4).
    const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn lines_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut sums = Checksums::default();
        for name in ["levels/000000/a.pack", "run.toml", "levels.tsv"] {
            sums.set(name, sha256_of(b""));
        }
        sums.write(folder.path()).expect("written");
        let text = std::fs::read_to_string(folder.path().join(FILE)).expect("there");
        assert_eq!(text, format!("{OF_NOTHING}  levels.tsv\n{OF_NOTHING}  levels/000000/a.pack\n{OF_NOTHING}  run.toml\n"));
        assert_eq!(Checksums::parse(&text, folder.path()).expect("whole"), sums);
    }

    #[test]
    fn other_lines_are_refused() {
        for line in [
            "run.toml".into(),
            format!("{OF_NOTHING}  run.toml"),
            format!("{OF_NOTHING} *run.toml\n"),
            format!("{OF_NOTHING}  ../run.toml\n"),
            format!("{OF_NOTHING}  levels/../run.toml\n"),
            format!("{OF_NOTHING}  levels/000000/.hidden\n"),
            format!("{OF_NOTHING}  levels/000000/a/b\n"),
            format!("{OF_NOTHING}  levels/0/a\n"),
            format!("{OF_NOTHING}  notes.txt\n"),
            format!("{OF_NOTHING}  run.toml\r\n"),
            format!("{}  run.toml\n", OF_NOTHING.to_uppercase()),
            format!("{OF_NOTHING}  run.toml\n\n"),
            format!("{OF_NOTHING}  run.toml\n{OF_NOTHING}  run.toml\n"),
        ] {
            assert_eq!(Checksums::parse(&line, Path::new(FILE)).expect_err(&line).exit_code(), 65);
        }
    }

    #[test]
    fn a_file_longer_than_may_be_is_not_hashed() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("hole");
        std::fs::File::create(&path).expect("created").set_len(1 << 40).expect("a hole");
        let error = sha256(&path, 1 << 20).expect_err("a terabyte").to_string();
        assert!(error.contains("1099511627776 bytes"), "{error}");
        std::fs::write(&path, b"").expect("written");
        assert_eq!(sha256(&path, 0).expect("short"), (0, OF_NOTHING.into()));
    }
}
