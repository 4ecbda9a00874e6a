//! `farthest table`: merges the runs below some folders into one God's-number table.

use super::arguments::{TableArguments, TableFormat};
use crate::base::ids::to_u64;
use crate::base::{Error, Result};
use crate::evidence::dataset::{self, Dataset};
use crate::families::run_folder;
use comfy_table::{CellAlignment, Table, TableStyle, presets};
use std::fs;
use std::path::{Path, PathBuf};

/// Deepest folder that is looked into, below those named.
const MOST_NESTING: usize = 8;

/// Prints the table of all complete runs in or below the folders. Every run is checked
/// ([`run_folder::read`]) before it gets a row.
///
/// # Errors
/// `BadData` when a run is damaged, `Io` when there is none.
pub fn table(arguments: &TableArguments) -> Result<()> {
    let mut runs = Vec::new();
    for folder in &arguments.folders {
        let mut found = Vec::new();
        find_runs(folder, MOST_NESTING, &mut found)?;
        if found.is_empty() {
            return Err(Error::io("find a complete run in or below", folder, std::io::ErrorKind::NotFound.into()));
        }
        runs.extend(found);
    }
    let mut datasets: Vec<Dataset> = runs.iter().map(|folder| run_folder::read(folder)).collect::<Result<_>>()?;
    datasets.sort_by_key(order);
    match arguments.format {
        TableFormat::Terminal => print_text(&datasets, presets::UTF8_FULL_CONDENSED, arguments.depths),
        TableFormat::Markdown => print_text(&datasets, presets::ASCII_MARKDOWN, arguments.depths),
        TableFormat::Csv => print_csv(&datasets, arguments.depths)?,
        TableFormat::Json => print_json(&datasets),
    }
    Ok(())
}

/// Folders with a complete run, in or below `folder`.
fn find_runs(folder: &Path, nesting: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if dataset::is_complete(folder) {
        found.push(folder.to_path_buf());
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(|source| Error::io("list", folder, source))?;
    let mut below: Vec<PathBuf> =
        entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    below.sort();
    if nesting > 0 {
        below.iter().try_for_each(|path| find_runs(path, nesting - 1, found))?;
    }
    Ok(())
}

/// Rows by metric, then by puzzle with numbers in numeric order.
fn order(dataset: &Dataset) -> (String, String, u64, String) {
    let name = &dataset.summary.puzzle;
    let letters = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = name[letters.len()..].parse().unwrap_or(0);
    (dataset.summary.metric.clone(), letters.to_owned(), number, name.clone())
}

const COLUMNS: [&str; 7] = ["puzzle", "metric", "states", "God's number", "antipodes", "mean depth", "evidence"];

/// Which distances were counted: a column where that makes a difference for one of the runs.
const DIRECTION: &str = "direction";

fn heading(datasets: &[Dataset]) -> Vec<&'static str> {
    let mut heading = COLUMNS.to_vec();
    if is_directed(datasets) {
        heading.push(DIRECTION);
    }
    heading
}

fn is_directed(datasets: &[Dataset]) -> bool {
    datasets.iter().any(|dataset| dataset.summary.direction.is_some())
}

fn rows(datasets: &[Dataset]) -> impl Iterator<Item = Vec<String>> {
    let is_directed = is_directed(datasets);
    datasets.iter().map(move |dataset| {
        let mut row = row(dataset);
        if is_directed {
            row.push(dataset.summary.direction.clone().unwrap_or_default());
        }
        row
    })
}

fn row(dataset: &Dataset) -> Vec<String> {
    let summary = &dataset.summary;
    vec![
        summary.puzzle.clone(),
        summary.metric.clone(),
        summary.states.to_string(),
        summary.gods_number.to_string(),
        summary.antipodes.to_string(),
        format!("{:.6}", summary.mean_depth),
        dataset.evidence.to_string(),
    ]
}

/// One row a depth, one column a run.
fn depth_rows(datasets: &[Dataset]) -> (Vec<String>, Vec<Vec<String>>) {
    let name = |dataset: &Dataset| format!("{} {}", dataset.summary.puzzle, dataset.summary.metric);
    let header = std::iter::once("depth".to_owned()).chain(datasets.iter().map(name)).collect();
    let depths = datasets.iter().map(|dataset| dataset.distribution.len()).max().unwrap_or(0);
    let rows = (0..depths)
        .map(|depth| {
            let cell = |dataset: &Dataset| dataset.distribution.get(depth).map_or_else(String::new, u64::to_string);
            std::iter::once(depth.to_string()).chain(datasets.iter().map(cell)).collect()
        })
        .collect();
    (header, rows)
}

/// A table without colours, its columns left-aligned.
#[must_use]
pub fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header.to_vec());
    table
}

fn print_text(datasets: &[Dataset], style: TableStyle, depths: bool) {
    let mut table = Table::new();
    table.load_style(style).set_header(heading(datasets));
    table.add_rows(rows(datasets));
    align_right(&mut table, 2..=5);
    println!("{table}");
    if depths {
        let (header, rows) = depth_rows(datasets);
        let columns = header.len();
        let mut table = Table::new();
        table.load_style(style).set_header(header);
        table.add_rows(rows);
        align_right(&mut table, 0..=columns - 1);
        println!("\n{table}");
    }
}

fn align_right(table: &mut Table, columns: std::ops::RangeInclusive<usize>) {
    for number in columns {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn print_csv(datasets: &[Dataset], depths: bool) -> Result<()> {
    let (header, rows) =
        if depths { depth_rows(datasets) } else { (heading(datasets).into_iter().map(str::to_owned).collect(), rows(datasets).collect()) };
    let mut writer = csv::Writer::from_writer(std::io::stdout());
    std::iter::once(&header)
        .chain(&rows)
        .try_for_each(|cells| writer.write_record(cells))
        .map_err(|error| Error::io("write the table to", Path::new("standard output"), std::io::Error::other(error)))?;
    writer.flush().map_err(|source| Error::io("write the table to", Path::new("standard output"), source))
}

fn print_json(datasets: &[Dataset]) {
    let run = |dataset: &Dataset| {
        let evidence = dataset.evidence;
        serde_json::json!({ "summary": dataset.summary, "evidence": evidence, "distribution": dataset.distribution })
    };
    let runs: Vec<serde_json::Value> = datasets.iter().map(run).collect();
    let text = serde_json::to_string_pretty(&serde_json::json!({ "count": to_u64(runs.len()), "runs": runs }));
    println!("{}", text.expect("plain data with text keys"));
}
