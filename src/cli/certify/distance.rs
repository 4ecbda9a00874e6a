//! `farthest certify distance`: the certificate of a run that archived its levels.

use crate::base::Result;
use crate::cli::arguments::CertifyDistanceArguments;
use crate::cli::run_config::{RunConfig, partition_of};
use crate::evidence::certificate::{Certificate, CertifiedPuzzle, Claim};
use crate::evidence::{archive_files, dataset};

/// File name of the certificate in the run folder.
const FILE_NAME: &str = "distance.cert";

/// Writes `distance.cert` into a complete run folder. The files of the run and the archive must be whole; that they prove the distances is for
/// `farthest-verify` to find.
///
/// # Errors
/// `BadData` when the run or its archive is damaged or incomplete, `Config` when the puzzle has no certificates, `Io` when something cannot be read or
/// written.
pub fn distance(arguments: &CertifyDistanceArguments) -> Result<()> {
    let run = &arguments.folder;
    let dataset = dataset::read(run)?;
    let config = RunConfig::load(&run.join("run.toml"))?;
    let puzzle = CertifiedPuzzle::of(&config.puzzle, &config.metric)?;
    let partition = partition_of(&config.puzzle.build(&config.metric)?, config.search.leading_positions)?;
    let archive = archive_files::of_run(run, &partition, &dataset.distribution)?;
    let claim =
        Claim::Distance { ranks: partition.state_count(), shard_length: partition.shard_length(), levels: dataset.distribution, archive };
    let path = run.join(FILE_NAME);
    Certificate { puzzle, claim }.write(&path)?;
    println!("{}: distances of {} states; check it with: farthest-verify {}", path.display(), dataset.summary.states, run.display());
    Ok(())
}
