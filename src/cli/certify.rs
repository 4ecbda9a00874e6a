//! `farthest certify`: writes certificates, which `farthest-verify` checks.

pub mod distance;

use super::arguments::{CertifyArguments, CertifyCommand};
use crate::base::Result;

/// Writes the certificates of one kind.
///
/// # Errors
/// Those of the kind.
pub fn certify(arguments: &CertifyArguments) -> Result<()> {
    match &arguments.what {
        CertifyCommand::Distance(distance) => distance::distance(distance),
    }
}
