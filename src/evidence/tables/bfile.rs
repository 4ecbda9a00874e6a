//! The distribution of one run as a b-file of the On-Line Encyclopedia of Integer Sequences: a line
//! `n a(n)` for every depth (<https://oeis.org/SubmitB.html>).

use super::{RunTable, TableFormat, run_name};
use crate::base::{Error, Result};

/// Depths and states.
pub struct BFile;

impl TableFormat for BFile {
    fn name(&self) -> &'static str {
        "bfile"
    }

    fn about(&self) -> &'static str {
        "the states by depth of one run, as OEIS wants them"
    }

    fn text(&self, table: &RunTable) -> Result<String> {
        let [(_, run)] = table.runs.as_slice() else {
            return Err(Error::config(format!(
                "found {} runs, expected one for a b-file; choose it by its folder, or with --puzzle and --metric",
                table.runs.len()
            )));
        };
        let lines = run.distribution.iter().enumerate().map(|(depth, states)| format!("{depth} {states}\n"));
        Ok(format!("# {}: states at distance n\n{}", run_name(run), lines.collect::<String>()))
    }
}
