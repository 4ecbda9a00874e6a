//! `farthest certify claims`: the page of the published claims about Turnstyle, and its
//! certificates.

use crate::base::{Result, atomic_file};
use crate::claims::{turnstyle, turnstyle_page};
use crate::cli::arguments::CertifyClaimsArguments;
use crate::cli::solve::memory_limit;

/// Writes `turnstyle-claims.md` and `claims/*.cert` into the folder.
///
/// # Errors
/// `Config` when the balls do not fit, `Io` when a file cannot be written.
pub fn claims(arguments: &CertifyClaimsArguments) -> Result<()> {
    let values = turnstyle::values(arguments.shortest.max(14), memory_limit(arguments.memory))?;
    let folder = arguments.out.join("claims");
    super::make_folder(Some(&folder))?;
    for (name, certificate) in values.certificates() {
        certificate.write(&folder.join(name))?;
    }
    let page = arguments.out.join("turnstyle-claims.md");
    atomic_file::write(&page, turnstyle_page::page(&values).as_bytes())?;
    println!("{}: check its certificates with: farthest-verify {}", page.display(), folder.display());
    Ok(())
}
