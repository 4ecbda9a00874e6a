//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Printed below the help.
const EXIT_CODES: &str = "Exit codes: 0 complete; 75 stopped and resumable; 1 a check failed; 2 usage; 65 bad data; 70 broken invariant; \
73 cannot create, or the folder is in use; 74 input/output; 77 permission; 78 configuration, launcher or machine; 101 panic.";

/// Searches the whole state space of permutation puzzles, on one machine or many.
#[derive(Debug, Parser)]
#[command(name = "farthest", version, about, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search a puzzle's whole state space: starts, or goes on where an earlier run stopped
    Run(RunArguments),
    /// Go on with the run of a folder, on any number of processes and threads
    Resume(ResumeArguments),
    /// Show what a run would need: states, memory, disk, bytes exchanged, time
    Plan(PlanArguments),
    /// Merge the runs below a folder into one God's-number table
    Table(TableArguments),
    /// Say whether a number rotation board of any size can be solved, and how
    SolveBoard(super::solve_board::SolveBoardArguments),
    /// Check the published claims about number rotation boards anew, and print them as a document
    BoardClaims,
    /// List the puzzles that ship with the program
    Puzzles,
    /// Draw the progress of a run from another terminal
    Watch(WatchArguments),
}

/// Which puzzle, and where its run is kept.
#[derive(Clone, Debug, Args)]
pub struct Target {
    /// A file of configs/runs or configs/puzzles, or a short name such as turnstyle-12
    pub config: PathBuf,
    /// Metric, instead of the configured one
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Run folder [default: results/PUZZLE/METRIC]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// How a run works.
#[derive(Clone, Debug, Args)]
pub struct SessionArguments {
    /// Threads of each process [default: its share of the processors]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// In-process participants instead of MPI processes
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub participants: Option<u32>,
    /// How the processes reach each other
    #[arg(long, value_enum, default_value_t = Transport::Auto)]
    pub transport: Transport,
    /// Seconds between checkpoints; 0 commits every level [default: 60]
    #[arg(long, value_name = "S")]
    pub checkpoint_seconds: Option<u64>,
    /// Stop with a checkpoint before this much time is used up: hours, or a span such as 23h30m
    #[arg(long, value_name = "H", value_parser = parse_span)]
    pub max_hours: Option<Duration>,
    /// Show only warnings and errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Show more: -v checkpoints and costs, -vv everything
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// How progress is shown; auto is a bar on a terminal and lines otherwise
    #[arg(long, value_enum, default_value_t = ProgressMode::Auto)]
    pub progress: ProgressMode,
    /// Print the summary as JSON at the end
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// The puzzle and folder.
    #[command(flatten)]
    pub target: Target,
    /// How the run works.
    #[command(flatten)]
    pub session: SessionArguments,
    /// Archive every level, for certificates
    #[arg(long)]
    pub keep_levels: bool,
    /// Whether to go on from a checkpoint in the folder
    #[arg(long, value_enum, default_value_t = ResumePolicy::Auto)]
    pub resume: ResumePolicy,
    /// With --resume never: discard what the folder holds of an earlier run
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `resume`.
#[derive(Clone, Debug, Args)]
pub struct ResumeArguments {
    /// The run folder
    pub folder: PathBuf,
    /// How the run works.
    #[command(flatten)]
    pub session: SessionArguments,
}

/// Arguments of `plan`.
#[derive(Clone, Debug, Args)]
pub struct PlanArguments {
    /// The puzzle and folder.
    #[command(flatten)]
    pub target: Target,
    /// Plan for archived levels, too
    #[arg(long)]
    pub keep_levels: bool,
    /// Print only the run folder
    #[arg(long)]
    pub print_dir: bool,
    /// Print the plan as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `table`.
#[derive(Clone, Debug, Args)]
pub struct TableArguments {
    /// Folders with runs in or below them
    #[arg(required = true)]
    pub folders: Vec<PathBuf>,
    /// Form of the table
    #[arg(long, value_enum, default_value_t = TableFormat::Terminal)]
    pub format: TableFormat,
    /// Show the number of states at every depth, too
    #[arg(long)]
    pub depths: bool,
}

/// Arguments of `watch`.
#[derive(Clone, Debug, Args)]
pub struct WatchArguments {
    /// The run folder
    pub folder: PathBuf,
}

/// How the processes of a job reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// MPI under a launcher, else one process
    Auto,
    /// MPI, even alone
    Mpi,
    /// No MPI
    Local,
}

/// Whether to go on from a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResumePolicy {
    /// Go on when there is a checkpoint of this search, else start
    Auto,
    /// Start anew; refuses a folder with results or a checkpoint unless --force
    Never,
    /// Go on; refuses a folder without a checkpoint
    Require,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    /// A bar when standard error is a terminal, else lines
    Auto,
    /// A bar
    Bar,
    /// A line a level
    Plain,
    /// Nothing
    None,
}

/// Form of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For reading
    Terminal,
    /// For documents
    Markdown,
    /// For spreadsheets
    Csv,
    /// For programs
    Json,
}

/// A span of time: a number of hours, or units as in `23h30m`.
fn parse_span(text: &str) -> Result<Duration, String> {
    let span = match text.parse::<f64>() {
        Ok(hours) if hours > 0.0 && hours < 1e6 => Duration::from_secs_f64(hours * 3600.0),
        Ok(_) => return Err("found no positive number of hours".into()),
        Err(_) => humantime::parse_duration(text).map_err(|error| format!("{error}; write hours (0.5) or a span (23h30m)"))?,
    };
    if span.is_zero() { Err("found no time at all".into()) } else { Ok(span) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn spans() {
        assert_eq!(parse_span("0.5"), Ok(Duration::from_secs(1_800)));
        assert_eq!(parse_span("23h30m"), Ok(Duration::from_secs(84_600)));
        for wrong in ["-1", "0", "NaN", "soon", "0s"] {
            assert!(parse_span(wrong).is_err(), "{wrong}");
        }
    }
}
