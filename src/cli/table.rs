//! `farthest table`: merges the runs below some folders into one God's-number table.

use super::arguments::TableArguments;
use super::session::print_whole;
use crate::base::{Error, Result};
use crate::evidence::dataset;
use crate::evidence::tables::{self, RunTable};
use crate::families::run_folder;
use comfy_table::{Table, presets};
use std::fs;
use std::path::{Path, PathBuf};

/// Deepest folder that is looked into, below those named.
const MOST_NESTING: usize = 8;

/// Prints the table of the complete runs in or below the folders that are asked for. Every run is
/// checked ([`run_folder::read`]), also one that gets no row.
///
/// # Errors
/// `BadData` when a run is damaged, `Io` when there is none, `Config` when none is left or the
/// format cannot hold them.
pub fn table(arguments: &TableArguments) -> Result<()> {
    let mut folders = Vec::new();
    for folder in &arguments.folders {
        let mut found = Vec::new();
        find_runs(folder, MOST_NESTING, &mut found)?;
        if found.is_empty() {
            return Err(Error::io("find a complete run in or below", folder, std::io::ErrorKind::NotFound.into()));
        }
        folders.extend(found);
    }
    let mut runs = folders.into_iter().map(|folder| run_folder::read(&folder).map(|run| (folder, run))).collect::<Result<Vec<_>>>()?;
    let wanted = |wish: &Option<String>, found: &str| wish.as_ref().is_none_or(|wish| wish == found);
    runs.retain(|(_, run)| wanted(&arguments.puzzle, &run.summary.puzzle) && wanted(&arguments.metric, &run.summary.metric));
    if runs.is_empty() {
        let wishes = [("--puzzle", &arguments.puzzle), ("--metric", &arguments.metric)];
        let wishes: Vec<String> = wishes.into_iter().filter_map(|(flag, wish)| Some(format!("{flag} {}", wish.as_ref()?))).collect();
        return Err(Error::config(format!("{}: found no such run; leave it out to see which there are", wishes.join(" "))));
    }
    let mut table = RunTable { runs, depths: arguments.depths };
    table.sort(arguments.sort.key());
    let format = tables::named(&arguments.format)
        .ok_or_else(|| Error::Usage(format!("{}: found an unknown format; farthest table --help lists them", arguments.format)))?;
    print_whole(&format.text(&table)?)
}

/// Folders with a complete run, in or below `folder`.
fn find_runs(folder: &Path, nesting: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if dataset::is_complete(folder) {
        found.push(folder.to_path_buf());
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(|source| Error::io("list", folder, source))?;
    let mut below: Vec<PathBuf> =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    below.sort();
    if nesting > 0 {
        below.iter().try_for_each(|path| find_runs(path, nesting - 1, found))?;
    }
    Ok(())
}

/// A table without colours, its columns left-aligned.
#[must_use]
pub fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header.to_vec());
    table
}
