//! `farthest certify`: writes certificates, which `farthest-verify` checks.

pub mod board;
pub mod claims;
pub mod distance;
pub mod swap;
pub mod word;

use super::arguments::{CertifyArguments, CertifyCommand};
use crate::base::{Error, Result};
use std::fs;
use std::path::Path;

/// Makes the folder of a certificate, when there is one to make.
fn make_folder(folder: Option<&Path>) -> Result<()> {
    match folder.filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => fs::create_dir_all(folder).map_err(|source| Error::io("create folder", folder, source)),
        None => Ok(()),
    }
}

/// Writes the certificates of one kind.
///
/// # Errors
/// Those of the kind.
pub fn certify(arguments: &CertifyArguments) -> Result<()> {
    match &arguments.what {
        CertifyCommand::Distance(distance) => distance::distance(distance),
        CertifyCommand::Word(arguments) => word::state(arguments, word::Kind::Word),
        CertifyCommand::Bidirectional(arguments) => word::state(arguments, word::Kind::Bidirectional),
        CertifyCommand::Unreachable(arguments) => word::state(arguments, word::Kind::Unreachable),
        CertifyCommand::Swap(arguments) => swap::swap(arguments),
        CertifyCommand::Claims(arguments) => claims::claims(arguments),
        CertifyCommand::Board(arguments) => board::board(arguments),
        CertifyCommand::OuterAutomorphism(arguments) => board::outer_automorphism(arguments),
    }
}
