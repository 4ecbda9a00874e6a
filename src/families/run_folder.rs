//! Complete runs, read back with the families that their configurations name.

use super::run_config::{CountedDistance, RunConfig};
use crate::base::Result;
use crate::evidence::dataset::{self, CONFIGURATION, Configured, Dataset};
use std::path::Path;

/// What the configuration of a run says of its results, for [`dataset::read`] and its like.
///
/// # Errors
/// As [`RunConfig::of_text`]; when the puzzle cannot be built.
pub fn configured(path: &Path, text: &str) -> Result<Configured> {
    let mut config = RunConfig::of_run(path, text)?;
    Ok(Configured {
        puzzle: config.settle()?,
        direction: config.direction.map(CountedDistance::name),
        // Puzzles without certificates are searched, too; their runs are just never certified.
        certified: config.certified().ok(),
        most_antipodes: config.search.most_antipodes,
        keep_levels: config.search.keep_levels,
    })
}

/// Reads a run folder and checks it.
///
/// # Errors
/// As [`dataset::read`].
pub fn read(folder: &Path) -> Result<Dataset> {
    dataset::read(folder, configured)
}

/// The same, with the configuration that the folder holds.
///
/// # Errors
/// As [`dataset::read`].
pub fn read_with_configuration(folder: &Path) -> Result<(Dataset, RunConfig)> {
    let dataset = read(folder)?;
    let mut config = configuration(folder)?;
    config.settle()?;
    Ok((dataset, config))
}

/// The configuration that the folder of a run holds.
///
/// # Errors
/// As [`RunConfig::load_run`].
pub fn configuration(folder: &Path) -> Result<RunConfig> {
    RunConfig::load_run(&folder.join(CONFIGURATION))
}
