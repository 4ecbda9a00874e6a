//! The table for programs: summaries, labels and distributions.

use super::{RunTable, TableFormat};
use crate::base::Result;
use crate::base::ids::to_u64;
use crate::evidence::dataset::Dataset;
use std::path::PathBuf;

/// One object with a list of all runs.
pub struct Json;

impl TableFormat for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "for programs: summaries, evidence and distributions"
    }

    fn text(&self, table: &RunTable) -> Result<String> {
        let run = |(_, run): &(PathBuf, Dataset)| serde_json::json!({ "summary": run.summary, "evidence": run.evidence, "distribution": run.distribution });
        let runs: Vec<serde_json::Value> = table.runs.iter().map(run).collect();
        let text = serde_json::to_string_pretty(&serde_json::json!({ "count": to_u64(runs.len()), "runs": runs }));
        Ok(text.expect("plain data with text keys") + "\n")
    }
}
