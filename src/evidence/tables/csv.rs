//! The table as comma-separated values.

use super::{RunTable, TableFormat};
use crate::base::Result;

/// A row a run; with depths a row a depth and a column a run.
pub struct Csv;

impl TableFormat for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn about(&self) -> &'static str {
        "a row a run; with --depths a row a depth and a column a run"
    }

    fn text(&self, table: &RunTable) -> Result<String> {
        if table.depths {
            let (heading, rows) = table.depth_rows();
            return Ok(written(heading, rows));
        }
        let columns = table.columns();
        Ok(written(columns.iter().map(|column| column.name.to_owned()).collect(), table.rows(&columns)))
    }
}

/// Heading and rows as comma-separated values.
pub(super) fn written(heading: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    std::iter::once(heading).chain(rows).for_each(|cells| writer.write_record(cells).expect("written to memory"));
    String::from_utf8(writer.into_inner().expect("written to memory")).expect("made of text")
}
