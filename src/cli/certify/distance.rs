//! `farthest certify distance`: the certificate of a run that archived its levels, verified by the
//! checker and recorded.

use crate::base::readable::counted;
use crate::base::shown::{shown_path, shown_text};
use crate::base::{Error, Result};
use crate::cli::arguments::CertifyDistanceArguments;
use crate::cli::session::shell_word;
use crate::evidence::archive_files;
use crate::evidence::certificates::{Certificate, Distance};
use crate::evidence::checksums::CERTIFICATE;
use crate::evidence::dataset::{self, Dataset};
use crate::evidence::later_checks::record_certificate;
use crate::evidence::manifest_file::VerifiedCertificate;
use crate::families::run_config::partition_of;
use crate::families::run_folder;
use crate::search::{LeftBehind, RunFolder};
use std::path::{Path, PathBuf};
use std::process::Command;

/// File name of the checker.
const CHECKER: &str = "farthest-verify";

/// What makes the archive and the certificate again and checks them, from within the folder of the
/// run.
const COMMANDS: [&str; 3] = [
    "farthest run run.toml --keep-levels --out ../certified-again",
    "farthest certify distance ../certified-again",
    "farthest-verify ../certified-again",
];

/// Writes `distance.cert` into a complete run folder, lets the checker verify the whole folder, and
/// labels the run as certified. The files of the run and the archive must be whole; whether they
/// prove the distances is for the checker to find. The folder is locked meanwhile, and what the
/// checker reads is a folder that any reader accepts.
///
/// # Errors
/// `BadData` when the run or its archive is damaged or incomplete, `Config` when the puzzle has no
/// certificates or the checker cannot be started, `CheckFailed` when it does not verify the folder,
/// `Io` when something cannot be read or written. The label is then what it was.
pub fn distance(arguments: &CertifyDistanceArguments) -> Result<()> {
    let run = &arguments.folder;
    // Read before anything is written: a folder without a run stays as it is.
    let (Dataset { summary, distribution, puzzle: built, .. }, config) = run_folder::read_with_configuration(run)?;
    let puzzle = config.certified()?;
    let folder = RunFolder::new(run);
    let _lock = folder.lock(LeftBehind::Break)?;
    folder.remove_temporaries()?;
    let partition = partition_of(&built, config.search.leading_positions)?;
    let archive = archive_files::of_run(run, &partition, &distribution)?;
    let claim = Distance {
        arranged: config.puzzle.arranged(&built),
        ranks: partition.state_count(),
        shard_length: partition.shard_length(),
        levels: distribution,
        archive: archive.clone(),
    };
    let sha256 = dataset::add_certificate(run, run_folder::configured, &Certificate::new(puzzle, claim), &archive)?;
    let shown = shown_path(&run.join(CERTIFICATE));
    if arguments.write_only {
        println!("{shown}: distances of {}; check it with: {CHECKER} {}", counted(summary.states, "state"), shell_word(run));
        return Ok(());
    }
    let checker = arguments.checker.clone().unwrap_or_else(beside_this_program);
    let version = verify(&checker, run)?;
    let record = VerifiedCertificate {
        file: CERTIFICATE.into(),
        sha256,
        checker: version,
        date: jiff::Timestamp::now().to_string(),
        commands: COMMANDS.map(String::from).into(),
    };
    let label = record_certificate(run, run_folder::configured, record)?;
    println!("{shown}: verified; the run is now \"{label}\"");
    Ok(())
}

fn beside_this_program() -> PathBuf {
    std::env::current_exe().map_or_else(|_| CHECKER.into(), |program| program.with_file_name(CHECKER))
}

/// Lets the checker verify the folder of a run; returns the checker's name and version. What it
/// says goes to the terminal.
fn verify(checker: &Path, run: &Path) -> Result<String> {
    let cannot_start = |error: std::io::Error| {
        Error::config(format!(
            "the checker {} cannot be started: {error}; build it with cargo build --release, name it with --checker, or use --write-only",
            checker.display()
        ))
    };
    let version = Command::new(checker).arg("--version").output().map_err(cannot_start)?;
    // No path may look like an option or a command of the checker.
    let status = Command::new(checker).arg(Path::new(".").join(run)).status().map_err(cannot_start)?;
    if !status.success() {
        return Err(Error::CheckFailed(format!(
            "{}: {} did not verify the folder ({status}); the run keeps its label",
            run.display(),
            checker.display()
        )));
    }
    let version = String::from_utf8_lossy(&version.stdout);
    Ok(shown_text(version.trim()))
}
