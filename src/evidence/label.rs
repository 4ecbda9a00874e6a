//! The label of a run, derived from the evidence that is in its folder, not from what its manifest
//! says about it.
//!
//! *Certified* needs the certificate that the manifest records: the file with exactly that digest,
//! a distance certificate of this puzzle with these levels, and the archived files that it names,
//! with their lengths. Where some of it is not there (published folders leave out archives of
//! gigabytes) the run has the label that its other checks deserve.

use super::certificates::CertifiedPuzzle;
use super::certificates::distance_record;
use super::checksums::{self, CERTIFICATE};
use super::manifest_file::{Evidence, ManifestFile};
use crate::base::regular_file;
use std::path::Path;

/// The label that the run in `folder` deserves; `puzzle` is how certificates name its puzzle, if
/// they can.
#[must_use]
pub fn deserved(folder: &Path, manifest: &ManifestFile, puzzle: Option<&CertifiedPuzzle>, levels: &[u64]) -> Evidence {
    manifest.label(is_certified(folder, manifest, puzzle, levels).unwrap_or(false))
}

/// Whether a recorded certificate is there with all that it names; `None` where something cannot be
/// read.
fn is_certified(folder: &Path, manifest: &ManifestFile, puzzle: Option<&CertifiedPuzzle>, levels: &[u64]) -> Option<bool> {
    if manifest.certificates.is_empty() {
        return Some(false);
    }
    let bytes = regular_file::read(&folder.join(CERTIFICATE), regular_file::MOST_TEXT_BYTES).ok()?;
    let digest = checksums::sha256_of(&bytes);
    let is_recorded = manifest.certificates.iter().any(|known| known.file == CERTIFICATE && known.sha256 == digest);
    let archive = distance_record::archive_of(std::str::from_utf8(&bytes).ok()?, puzzle?, levels)?;
    let is_there = |path: &str, bytes: u64| folder.join(path).metadata().is_ok_and(|facts| facts.is_file() && facts.len() == bytes);
    Some(is_recorded && archive.iter().all(|file| is_there(&file.path, file.bytes)))
}
