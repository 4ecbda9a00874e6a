//! `farthest certify distance`: the certificate of a run that archived its levels, verified by the checker and recorded.

use crate::base::{Error, Result};
use crate::cli::arguments::CertifyDistanceArguments;
use crate::cli::run_config::{RunConfig, partition_of};
use crate::evidence::certificate::{Certificate, CertifiedPuzzle, Claim, Labels};
use crate::evidence::manifest_file::{VerifiedCertificate, record_certificate};
use crate::evidence::{archive_files, dataset};
use crate::puzzle::Layout;
use std::path::{Path, PathBuf};
use std::process::Command;

/// File name of the certificate in the run folder.
const FILE_NAME: &str = "distance.cert";

/// File name of the checker.
const CHECKER: &str = "farthest-verify";

/// Writes `distance.cert` into a complete run folder, lets the checker verify it, and labels the run as certified. The files of the run and the archive must be
/// whole; whether they prove the distances is for the checker to find.
///
/// # Errors
/// `BadData` when the run or its archive is damaged or incomplete, `Config` when the puzzle has no certificates or the checker cannot be started, `CheckFailed` when
/// it does not verify the certificate, `Io` when something cannot be read or written. The label is then what it was.
pub fn distance(arguments: &CertifyDistanceArguments) -> Result<()> {
    let run = &arguments.folder;
    let dataset = dataset::read(run)?;
    let config = RunConfig::load(&run.join("run.toml"))?;
    let puzzle = CertifiedPuzzle::of(&config.puzzle, &config.metric)?;
    let built = config.puzzle.build(&config.metric)?;
    let arranged = arranged(&puzzle, built.layout());
    let partition = partition_of(&built, config.search.leading_positions)?;
    let archive = archive_files::of_run(run, &partition, &dataset.distribution)?;
    let claim = Claim::Distance {
        arranged,
        ranks: partition.state_count(),
        shard_length: partition.shard_length(),
        levels: dataset.distribution,
        archive,
    };
    let path = run.join(FILE_NAME);
    Certificate { puzzle, claim }.write(&path)?;
    if arguments.write_only {
        println!("{}: distances of {} states; check it with: {CHECKER} {}", path.display(), dataset.summary.states, run.display());
        return Ok(());
    }
    let checker = arguments.checker.clone().unwrap_or_else(beside_this_program);
    let version = verify(&checker, run)?;
    let label = record_certificate(
        run,
        VerifiedCertificate {
            file: FILE_NAME.into(),
            sha256: dataset::sha256(&path)?,
            checker: version,
            date: jiff::Timestamp::now().to_string(),
            commands: ["farthest run run.toml --keep-levels --out DIR", "farthest certify distance DIR", "farthest-verify DIR"]
                .map(String::from)
                .into(),
        },
    )?;
    println!("{}: verified; the run is now \"{label}\"", path.display());
    Ok(())
}

/// The order of the arranged cells of a board, an optimiser's choice that the certificate therefore states.
fn arranged(puzzle: &CertifiedPuzzle, layout: &Layout) -> Option<Labels> {
    match (puzzle, layout) {
        (CertifiedPuzzle::RotationBoard { .. }, Layout::Orbits { arranged, .. }) => {
            Some(arranged.iter().map(|&position| u16::from(position) + 1).collect())
        }
        _ => None,
    }
}

fn beside_this_program() -> PathBuf {
    std::env::current_exe().map_or_else(|_| CHECKER.into(), |program| program.with_file_name(CHECKER))
}

/// Lets the checker verify the distances of a run; returns its name and version. What it says goes to the terminal.
fn verify(checker: &Path, run: &Path) -> Result<String> {
    let cannot_start = |error: std::io::Error| {
        Error::config(format!(
            "the checker {} cannot be started: {error}; build it with cargo build --release, name it with --checker, or use --write-only",
            checker.display()
        ))
    };
    let version = Command::new(checker).arg("--version").output().map_err(cannot_start)?;
    let status = Command::new(checker).arg("distance").arg(run).status().map_err(cannot_start)?;
    if !status.success() {
        return Err(Error::CheckFailed(format!(
            "{}: {} did not verify it ({status}); the run keeps its label",
            run.join(FILE_NAME).display(),
            checker.display()
        )));
    }
    Ok(String::from_utf8_lossy(&version.stdout).trim().to_owned())
}
