//! The table for people: drawn with lines for a terminal, or as Markdown.

use super::{RunTable, TableFormat, with_separators};
use crate::base::Result;
use comfy_table::{CellAlignment, Table, TableStyle, presets};

/// A table drawn with characters.
pub struct Drawn {
    name: &'static str,
    about: &'static str,
    style: TableStyle,
    has_separators: bool,
}

/// With box-drawing characters.
pub const TERMINAL: Drawn = Drawn { name: "terminal", about: "for reading", style: presets::UTF8_FULL_CONDENSED, has_separators: true };

/// As Markdown.
pub const MARKDOWN: Drawn = Drawn { name: "markdown", about: "for a README", style: presets::ASCII_MARKDOWN, has_separators: false };

impl TableFormat for Drawn {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn text(&self, table: &RunTable) -> Result<String> {
        let columns = table.columns();
        let heading = columns.iter().map(|column| column.title.to_owned()).collect();
        let are_numbers: Vec<bool> = columns.iter().map(|column| column.is_number).collect();
        let mut text = self.drawn(heading, table.rows(&columns), &are_numbers);
        if table.depths {
            let (heading, rows) = table.depth_rows();
            let are_numbers = vec![true; heading.len()];
            text = format!("{text}\n{}", self.drawn(heading, rows, &are_numbers));
        }
        Ok(text)
    }
}

impl Drawn {
    /// Numbers stand on the right.
    fn drawn(&self, heading: Vec<String>, mut rows: Vec<Vec<String>>, are_numbers: &[bool]) -> String {
        if self.has_separators {
            for row in &mut rows {
                row.iter_mut().zip(are_numbers).filter(|(_, is_number)| **is_number).for_each(|(cell, _)| *cell = with_separators(cell));
            }
        }
        let mut table = Table::new();
        table.load_style(self.style).set_header(heading);
        table.add_rows(rows);
        for (number, _) in are_numbers.iter().enumerate().filter(|(_, is_number)| **is_number) {
            if let Some(column) = table.column_mut(number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        format!("{table}\n")
    }
}
