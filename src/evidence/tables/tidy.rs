//! The distributions in the long form that statistics programs take: a row for every run and depth.

use super::{RunTable, TableFormat, csv};
use crate::base::Result;

/// Comma-separated values, a row a run and depth.
pub struct Tidy;

impl TableFormat for Tidy {
    fn name(&self) -> &'static str {
        "tidy"
    }

    fn about(&self) -> &'static str {
        "CSV with a row for every run and depth"
    }

    fn text(&self, table: &RunTable) -> Result<String> {
        let heading = ["puzzle", "metric", "direction", "depth", "states"].map(str::to_owned).to_vec();
        let rows = table.runs.iter().flat_map(|(_, run)| {
            let summary = &run.summary;
            run.distribution.iter().enumerate().map(|(depth, states)| {
                let direction = summary.direction.clone().unwrap_or_default();
                vec![summary.puzzle.clone(), summary.metric.clone(), direction, depth.to_string(), states.to_string()]
            })
        });
        Ok(csv::written(heading, rows.collect()))
    }
}
