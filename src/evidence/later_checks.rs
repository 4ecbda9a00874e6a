//! What was done with a run after it was complete, recorded in its manifest with the label that
//! follows.

use super::dataset::{self, ReadConfiguration};
use super::manifest_file::{Evidence, ManifestFile, Recheck, SpotSolve, VerifiedCertificate};
use crate::base::Result;
use std::path::Path;

/// Records that samples of the run in `folder` were solved; returns the run's label, which changes
/// only when a depth was wrong.
///
/// # Errors
/// When the folder's files are damaged or cannot be written.
pub fn record_spot_solve(folder: &Path, read_configuration: ReadConfiguration, solve: SpotSolve) -> Result<Evidence> {
    record(folder, read_configuration, |manifest| manifest.spot_solves.push(solve))
}

/// Records a recheck of the run in `folder`; returns the run's new label.
///
/// # Errors
/// When the folder's files are damaged or cannot be written.
pub fn record_recheck(folder: &Path, read_configuration: ReadConfiguration, recheck: Recheck) -> Result<Evidence> {
    record(folder, read_configuration, |manifest| manifest.rechecks.push(recheck))
}

/// Records a verified distance certificate of the run in `folder`; returns the run's new label.
///
/// # Errors
/// When the folder's files are damaged or cannot be written.
pub fn record_certificate(folder: &Path, read_configuration: ReadConfiguration, certificate: VerifiedCertificate) -> Result<Evidence> {
    record(folder, read_configuration, |manifest| {
        manifest.certificates.retain(|known| known.sha256 != certificate.sha256);
        manifest.certificates.push(certificate);
    })
}

fn record(folder: &Path, read_configuration: ReadConfiguration, add: impl FnOnce(&mut ManifestFile)) -> Result<Evidence> {
    let changed = dataset::change_manifest(folder, read_configuration, |manifest| {
        add(manifest);
        manifest.evidence = manifest.recorded();
    })?;
    Ok(changed.evidence)
}
