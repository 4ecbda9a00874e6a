//! `farthest status DIR`: one look at a run from anywhere that sees its folder, a login node for
//! instance.

use super::progress::readable_count;
use super::run_condition::{Condition, RunCondition, age_seconds};
use crate::base::Result;
use crate::base::ids::{approximate, rounded_down};
use crate::base::readable::{self, counted, span};
use crate::base::shown::{shown_json, shown_line};
use crate::cli::arguments::StatusArguments;
use crate::search::RunFolder;
use jiff::Timestamp;
use std::path::Path;
use std::time::Duration;

/// Pause between two looks of `--wait`.
const INTERVAL: Duration = Duration::from_millis(500);

/// Printed below the help.
pub const EXIT_CODES: &str = "\
Exit codes:
   0  the run is at work, or complete
   1  it failed or was killed
  65  its results are damaged
  74  there is no such folder
  75  it stopped and can be resumed
  78  there is no run in the folder";

/// Prints what the run of a folder is doing; the exit code says whether something is to be done.
///
/// # Errors
/// As [`RunCondition::look`].
pub fn status(arguments: &StatusArguments) -> Result<i32> {
    let mut run = RunCondition::look(&arguments.folder)?;
    while arguments.wait && run.condition.is_at_work() {
        std::thread::sleep(INTERVAL);
        run = RunCondition::look(&arguments.folder)?;
    }
    if arguments.json {
        let json = serde_json::to_string_pretty(&json(&run, &arguments.folder)).expect("plain data with text keys");
        println!("{}", shown_json(&json));
    } else {
        for (name, value) in lines(&run, &arguments.folder) {
            println!("{name:<11} {}", shown_line(&value));
        }
    }
    Ok(run.condition.exit_code())
}

/// Percent of the states that are found.
fn percent(run: &RunCondition) -> Option<f64> {
    run.expected.map(|expected| readable::percent(run.found, expected))
}

/// What it is doing, in words.
fn phase(run: &RunCondition) -> String {
    match (run.condition, run.level) {
        (Condition::Searching, Some(level)) => format!("searching: level {level} is expanded"),
        (Condition::Committing, Some(level)) => format!("writing the checkpoint of level {level}"),
        (Condition::Searching | Condition::Committing | Condition::Starting, _) => "starting".into(),
        (Condition::Complete, _) => format!("complete: {}", run.message),
        (Condition::Stopped | Condition::Failed | Condition::Killed, _) if run.message.is_empty() => run.condition.name().into(),
        (Condition::Stopped, _) => run.message.split("; go on with").next().unwrap_or_default().into(),
        (Condition::Failed | Condition::Killed, _) => format!("{}: {}", run.condition.name(), run.message),
    }
}

/// A moment and how long ago it was.
fn moment(moment: Timestamp) -> String {
    let ago = age_seconds(Some(moment)).and_then(|age| u64::try_from(age).ok()).unwrap_or(0);
    format!("{} ago ({moment:.0})", span(approximate(ago)))
}

/// The lines for people: a name and a value each.
fn lines(run: &RunCondition, root: &Path) -> Vec<(&'static str, String)> {
    let name = run.search.as_ref().map_or_else(|| "unknown".into(), |(puzzle, metric)| format!("{puzzle} {metric}"));
    let mut lines = vec![("run", format!("{name}, in {}", root.display())), ("phase", phase(run))];
    let workers = &run.workers;
    let place = match (&workers.host, workers.process_id) {
        (Some(host), Some(process)) => format!("process {process} on {host}"),
        (Some(host), None) => format!("host {host}"),
        _ => "unknown".into(),
    };
    let second = root.join("recheck");
    lines.push((
        "alive",
        match (run.alive, run.condition) {
            (true, Condition::Complete) if RunFolder::new(&second).is_run() => {
                format!("yes: it is being rechecked; see farthest status {}", second.display())
            }
            (true, _) => "yes".into(),
            (false, Condition::Complete) => "no: it is complete".into(),
            (false, _) => "no".into(),
        },
    ));
    lines.push((
        "found",
        match (run.expected, percent(run)) {
            (Some(expected), Some(percent)) => format!("{} of {expected} states ({percent:.2} %)", run.found),
            _ => counted(run.found, "state"),
        },
    ));
    if let Some(rate) = run.rate {
        let left = run.seconds_left().map_or_else(|| "-".into(), |seconds| format!("about {}", span(seconds)));
        lines.push(("rate", format!("{} states/s, left: {left}", readable_count(rate))));
    }
    if run.condition != Condition::Complete {
        let saved =
            run.checkpoint.map(|saved| format!("level {}, {}, {}", saved.level, counted(saved.states, "state"), moment(saved.written)));
        lines.push(("checkpoint", saved.unwrap_or_else(|| "none".into())));
    }
    let (processes, threads) =
        workers.processes.map_or(("?".into(), "?".into()), |(processes, threads)| (processes.to_string(), threads.to_string()));
    lines.push(("processes", format!("{processes} x {threads} threads; the first one: {place}")));
    lines.push(("updated", run.updated.map_or_else(|| "unknown".into(), moment)));
    lines.extend(run.remarks.iter().map(|remark| ("remark", remark.clone())));
    if let Some(command) = run.next_command(root) {
        lines.push(("go on with", command));
    }
    lines
}

/// The same for programs. What is not known is null.
fn json(run: &RunCondition, root: &Path) -> serde_json::Value {
    let workers = &run.workers;
    let saved = run.checkpoint.map(|saved| {
        let age = age_seconds(Some(saved.written));
        serde_json::json!({ "level": saved.level, "states": saved.states, "written": saved.written.to_string(), "age_seconds": age })
    });
    serde_json::json!({
        "folder": root.display().to_string(),
        "puzzle": run.search.as_ref().map(|(puzzle, _)| puzzle),
        "metric": run.search.as_ref().map(|(_, metric)| metric),
        "phase": run.condition.name(),
        "alive": run.alive,
        "level": run.level,
        "found": run.found,
        "expected": run.expected,
        "percent": percent(run),
        "rate": run.rate,
        "seconds_left": run.seconds_left().map(rounded_down),
        "checkpoint": saved,
        "processes": workers.processes.map(|(processes, _)| processes),
        "threads": workers.processes.map(|(_, threads)| threads),
        "host": workers.host,
        "process_id": workers.process_id,
        "updated": run.updated.map(|moment| moment.to_string()),
        "age_seconds": age_seconds(run.updated),
        "message": run.message,
        "remarks": run.remarks,
        "go_on_with": run.next_command(root),
    })
}
