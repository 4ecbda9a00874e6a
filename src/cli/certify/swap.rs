//! `farthest certify swap`: for each size of Turnstyle the certificates that settle whether two
//! neighbours can be exchanged.

use crate::base::ids::to_u64;
use crate::base::{Result, atomic_file};
use crate::cli::arguments::CertifySwapArguments;
use crate::cli::solve::memory_limit;
use crate::families::turnstyle::swap::{self, SwapEvidence};
use std::fmt::Write as _;

/// Writes a folder of certificates for each size, and `sizes.tsv` with a line for each.
///
/// # Errors
/// `Config` when the balls of a size do not fit, `Io` when a file cannot be written.
pub fn swap(arguments: &CertifySwapArguments) -> Result<()> {
    let limit = memory_limit(arguments.memory);
    let mut rows = String::from("size\tswap\tevidence\tconstructed_moves\tshortest_moves\tshortest_moves_by_pair\n");
    for size in arguments.sizes.first..=arguments.sizes.last {
        let found = swap::evidence(size, (size <= arguments.shortest).then_some(limit))?;
        let folder = arguments.out.join(format!("turnstyle-{size:04}"));
        super::make_folder(Some(&folder))?;
        found.certificates.iter().try_for_each(|(name, certificate)| certificate.write(&folder.join(name)))?;
        let row = row(&found);
        println!("turnstyle-{}", row.replace('\t', "  "));
        writeln!(rows, "{row}").expect("writing to a string");
    }
    atomic_file::write(&arguments.out.join("sizes.tsv"), rows.as_bytes())?;
    println!("{}: check it with: farthest-verify {0}", arguments.out.display());
    Ok(())
}

fn row(found: &SwapEvidence) -> String {
    let mut kinds: Vec<&str> = found.certificates.iter().map(|(_, certificate)| certificate.claim.kind()).collect();
    kinds.dedup();
    let number = |value: Option<usize>| value.map_or_else(|| "-".to_owned(), |value| to_u64(value).to_string());
    let by_pair: Vec<String> = found.shortest.iter().map(ToString::to_string).collect();
    format!(
        "{}\t{}\t{}\t{}\t{}\t{}",
        found.size,
        if found.constructed.is_some() { "yes" } else { "no" },
        kinds.join(", "),
        number(found.constructed),
        number(found.shortest.iter().min().copied()),
        if by_pair.is_empty() { "-".to_owned() } else { by_pair.join(" ") }
    )
}
