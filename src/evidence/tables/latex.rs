//! The table for a paper.

use super::{RunTable, TableFormat, with_separators};
use crate::base::Result;
use std::fmt::Write as _;

/// A `tabular` that needs no package.
pub struct Latex;

impl TableFormat for Latex {
    fn name(&self) -> &'static str {
        "latex"
    }

    fn about(&self) -> &'static str {
        "a tabular for a paper, which needs no package"
    }

    fn text(&self, table: &RunTable) -> Result<String> {
        let columns = table.columns();
        let heading: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
        let are_numbers: Vec<bool> = columns.iter().map(|column| column.is_number).collect();
        let mut text = tabular(&heading, &table.rows(&columns), &are_numbers);
        if table.depths {
            let (heading, rows) = table.depth_rows();
            text = format!("{text}\n{}", tabular(&heading, &rows, &vec![true; heading.len()]));
        }
        Ok(text)
    }
}

fn tabular(heading: &[String], rows: &[Vec<String>], are_numbers: &[bool]) -> String {
    let aligned: String = are_numbers.iter().map(|is_number| if *is_number { 'r' } else { 'l' }).collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let mut text = format!("\\begin{{tabular}}{{{aligned}}}\n\\hline\n");
    text += &line(heading.iter().map(|title| escaped(title)).collect());
    text += "\\hline\n";
    for row in rows {
        // A comma in a number would be set with a space after it.
        let number = |cell: &String| with_separators(cell).replace(',', "{,}");
        text += &line(row.iter().zip(are_numbers).map(|(cell, is_number)| if *is_number { number(cell) } else { escaped(cell) }).collect());
    }
    text += "\\hline\n\\end{tabular}\n";
    text
}

/// The text with what LaTeX reads as commands escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        let _ = match letter {
            '\\' => write!(escaped, "\\textbackslash{{}}"),
            '~' | '^' => write!(escaped, "\\{letter}{{}}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => write!(escaped, "\\{letter}"),
            _ => write!(escaped, "{letter}"),
        };
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_escaped_and_numbers_kept_together() {
        let heading = ["a_b".to_owned(), "n".to_owned()];
        let rows = [vec!["50%".to_owned(), "1234".to_owned()], vec!["\\x".to_owned(), String::new()]];
        let expected = "\\begin{tabular}{lr}\n\\hline\na\\_b & n \\\\\n\\hline\n50\\% & 1{,}234 \\\\\n\\textbackslash{}x &  \\\\\n\\hline\n\\end{tabular}\n";
        assert_eq!(tabular(&heading, &rows, &[false, true]), expected);
    }
}
