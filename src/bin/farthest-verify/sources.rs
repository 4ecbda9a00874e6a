//! The files of a run folder. A file that is read must lie in the folder itself, be a regular file,
//! and be of bounded size. `SHA256SUMS` lists all of them.

use crate::distance::{is_archive_path, sha256};
use crate::limits::{Checked, Limits, refuted, shown, unreadable, wide};
use crate::records::{Records, io_error, open, refuse_link, shown_path};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that every complete run has.
const FILES: [&str; 6] = ["antipodes.tsv", "distribution.tsv", "levels.tsv", "manifest.json", "run.toml", "summary.json"];

/// Files that a run may have. Runs of earlier versions have no samples.
const MORE_FILES: [&str; 2] = ["distance.cert", "samples.tsv"];

/// Longest file that is read as a whole, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;

/// Most lines of `SHA256SUMS`, enough for every file of the largest archive.
const MOST_LINES: u64 = 1 << 20;

/// Checks `SHA256SUMS`. Every line names a file of the run or of its archive, with the right
/// digest. Every file that a complete run has must have a line, and so must samples.tsv when it is
/// there. The manifest may lack its line: while it is being replaced it has none, so a run that is
/// killed then is still whole, with the old or the new manifest.
pub fn check_sums(folder: &Path, limits: &Limits) -> Checked<()> {
    let mut named = BTreeSet::new();
    let mut records = Records::open(&own(folder, "SHA256SUMS")?, limits)?;
    while let Some(record) = records.line()? {
        let is_known = |name: &str| FILES.contains(&name) || MORE_FILES.contains(&name) || is_archive_path(name);
        let line =
            record.text().split_once("  ").filter(|(digest, name)| digest.len() == 64 && is_known(name) && wide(named.len()) < MOST_LINES);
        let Some((digest, name)) = line else {
            return Err(record.unreadable(shown(record.text()), "a digest, two blanks and the name of a file of a run"));
        };
        limits.memory(record.place(), 256 * u128::from(wide(named.len())))?;
        if !named.insert(name.to_owned()) {
            return Err(record.unreadable(format!("{} again", shown(name)), "each file once"));
        }
        let found = sha256(&own(folder, name)?, limits)?;
        if found != digest {
            let place = shown_path(&folder.join(name));
            return Err(refuted(place, format!("SHA-256 {found}"), format!("{}, as in {}", shown(digest), record.place())));
        }
    }
    let is_there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    let must = FILES.into_iter().filter(|name| *name != "manifest.json").chain(["samples.tsv"].into_iter().filter(|name| is_there(name)));
    match must.into_iter().find(|name| !named.contains(*name)) {
        Some(name) => Err(refuted(shown_path(&folder.join("SHA256SUMS")), format!("no line for {name}"), "one")),
        None => Ok(()),
    }
}

/// The path of a file in the folder. Refuses a link, also in a folder on the way to the file.
pub fn own(folder: &Path, name: &str) -> Checked<PathBuf> {
    let mut path = folder.to_path_buf();
    for part in name.split('/') {
        path.push(part);
        refuse_link(&path)?;
    }
    Ok(path)
}

/// Reads the text of a small file of the folder.
pub fn text(folder: &Path, name: &str, limits: &Limits) -> Checked<String> {
    text_of(&own(folder, name)?, limits)
}

/// Reads the text of a small file anywhere. See [`text`].
pub fn text_of(path: &Path, limits: &Limits) -> Checked<String> {
    let mut bytes = Vec::new();
    open(path)?.take(LONGEST_TEXT + 1).read_to_end(&mut bytes).map_err(|error| io_error(path, &error))?;
    // Parsed values take several times as much memory as the text.
    limits.memory(shown_path(path), 64 * u128::from(wide(bytes.len())))?;
    if wide(bytes.len()) > LONGEST_TEXT {
        return Err(unreadable(shown_path(path), format!("more than {LONGEST_TEXT} bytes"), "a shorter file"));
    }
    String::from_utf8(bytes).map_err(|_| unreadable(shown_path(path), "bytes that are no UTF-8", "text"))
}

/// A row of a table, and its place for messages.
pub struct Row<const N: usize> {
    pub place: String,
    pub cells: [String; N],
}

/// Reads the rows of a table that follow its heading.
pub fn table<const N: usize>(folder: &Path, name: &str, heading: &str, limits: &Limits) -> Checked<Vec<Row<N>>> {
    let path = own(folder, name)?;
    let mut records = Records::open(&path, limits)?;
    let mut rows = Vec::new();
    let first = records.line()?;
    if first.as_ref().is_none_or(|record| record.text() != heading) {
        let found = first.map_or_else(|| "no line".into(), |record| shown(record.text()));
        return Err(unreadable(format!("{}:1", shown_path(&path)), found, format!("\"{}\"", heading.escape_debug())));
    }
    while let Some(record) = records.line()? {
        // Each cell and the place are strings of their own.
        limits.memory(record.place(), 256 * u128::from(wide(rows.len())))?;
        let cells: Vec<String> = record.text().split('\t').take(N + 1).map(str::to_owned).collect();
        let cells = cells.try_into().map_err(|_| record.unreadable(shown(record.text()), format!("{N} cells")))?;
        rows.push(Row { place: record.place(), cells });
    }
    Ok(rows)
}

impl<const N: usize> Row<N> {
    /// A cell that is a decimal number without leading zeros.
    pub fn number(&self, cell: usize) -> Checked<u64> {
        let cell = &self.cells[cell];
        let number = cell.parse().ok().filter(|number: &u64| number.to_string() == *cell);
        number.ok_or_else(|| unreadable(&self.place, shown(cell), "a number"))
    }
}
