//! `farthest certify board` and `outer-automorphism`: certificates about number rotation boards.

use super::make_folder;
use crate::base::{Result, atomic_file};
use crate::claims::outer_automorphism::OuterAutomorphism;
use crate::claims::outer_automorphism_certificates;
use crate::cli::solve_board::{board_of, size};
use crate::families::rotation_board::verdict_certificate;
use clap::Args;

use std::path::PathBuf;

/// Arguments of `certify board`.
#[derive(Clone, Debug, Args)]
pub struct CertifyBoardArguments {
    /// The size of the board and of its blocks, such as 3x4n2: 3 rows, 4 columns, blocks of 2x2
    /// cells. Only a game of Twiddle does without it
    #[arg(value_name = "ROWSxCOLSnBLOCK")]
    pub size: Option<String>,
    /// The numbers of the board, row by row, separated by blanks or commas; a / may end each row.
    /// Or a game of Twiddle with its width first, such as 3x3n2:5,1,...
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub board: String,
    /// The certificate to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Arguments of `certify outer-automorphism`.
#[derive(Clone, Debug, Args)]
pub struct CertifyOuterAutomorphismArguments {
    /// The folder to write to
    #[arg(long, value_name = "DIR", default_value = "runs/nrp")]
    pub out: PathBuf,
}

/// Writes the certificate of the verdict, whatever it is.
///
/// # Errors
/// `Usage` for a text that is no board, `Config` for a board that is too large, `Io` when the file
/// cannot be written.
pub fn board(arguments: &CertifyBoardArguments) -> Result<()> {
    let shape = arguments.size.as_deref().map(size).transpose()?;
    let (certificate, reason) = verdict_certificate(&board_of(&arguments.board, shape)?)?;
    let Some(path) = &arguments.out else {
        print!("{}", certificate.to_text());
        return Ok(());
    };
    make_folder(path.parent())?;
    certificate.write(path)?;
    match reason {
        None => println!("solvable"),
        Some(reason) => println!("not solvable: {reason}"),
    }
    println!("{}: {}; check it with: farthest-verify {0}", path.display(), certificate.claim.kind());
    Ok(())
}

/// Writes `outer-automorphism.md`, `outer-automorphism.tsv` and `outer-automorphism/*.cert` into
/// the folder.
///
/// # Errors
/// `Io` when a file cannot be written; `Invariant` for a fault of this program.
pub fn outer_automorphism(arguments: &CertifyOuterAutomorphismArguments) -> Result<()> {
    let found = OuterAutomorphism::derive()?;
    let folder = arguments.out.join("outer-automorphism");
    make_folder(Some(&folder))?;
    for (name, certificate) in outer_automorphism_certificates::certificates(&found)? {
        certificate.write(&folder.join(name))?;
    }
    atomic_file::write(&folder.with_extension("tsv"), outer_automorphism_certificates::table(&found).as_bytes())?;
    let page = folder.with_extension("md");
    atomic_file::write(&page, outer_automorphism_certificates::page(&found).as_bytes())?;
    println!("{}: check its certificates with: farthest-verify {}", page.display(), arguments.out.display());
    Ok(())
}
