//! The arguments of the subcommands, and how they are read.

use crate::evidence::exporters;
use crate::evidence::tables::{self, SortKey};
use crate::families::run_config::{CountedDistance, STORAGES, SearchConfig};
use crate::families::turnstyle::swap::LARGEST_CERTIFIED;
use crate::search::LeftBehind;
use crate::search::expansion_choice::ExpansionChoice;
use crate::store::Storage;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::time::Duration;

/// Which puzzle, and where its run is kept.
#[derive(Clone, Debug, Args)]
pub struct Target {
    /// The puzzle: a file such as those in configs/runs and configs/puzzles, or a short name such
    /// as turnstyle-12 (`farthest puzzles` lists some)
    pub config: PathBuf,
    /// What counts as one move, such as step or turn [default: the configuration's metric, else the
    /// puzzle's first]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Count the moves from each state `to` the solved one, or `from` the solved state to each. It
    /// matters only where some move cannot be undone by a move [default: the configuration's, else
    /// to]
    #[arg(long, value_name = "WAY", value_parser = CountedDistance::NAMES)]
    pub direction: Option<String>,
    /// The run folder, for checkpoints and results [default: runs/PUZZLE/METRIC]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl Target {
    /// The direction asked for.
    #[must_use]
    pub fn direction(&self) -> Option<CountedDistance> {
        self.direction.as_deref().and_then(CountedDistance::of_name)
    }
}

/// How a run works.
#[derive(Clone, Debug, Args)]
pub struct SessionArguments {
    /// Threads of each process [default: its share of the processors it may use]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub threads: Option<u16>,
    /// Search with this many participants in one process, instead of MPI processes; 1 to 256
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub participants: Option<u32>,
    /// How the processes reach each other
    #[arg(long, value_enum, default_value_t = Transport::Auto)]
    pub transport: Transport,
    /// Least seconds between checkpoints, which take at most a tenth of the time; 0 writes one after
    /// every level [default: the configuration's, else 60]
    #[arg(long, value_name = "S")]
    pub checkpoint_seconds: Option<u64>,
    /// Write a checkpoint and stop before this much time is used up: hours such as 0.5, or a span
    /// such as 23h30m [default: no limit]
    #[arg(long, value_name = "H", value_parser = parse_span)]
    pub max_hours: Option<Duration>,
    /// Write a checkpoint and stop before this moment, such as 2026-12-24T18:00:00Z; under Slurm the
    /// end of the job counts by itself (SLURM_JOB_END_TIME) [default: no limit]
    #[arg(long, value_name = "TIME")]
    pub stop_at: Option<jiff::Timestamp>,
    /// Take over the folder of a job that was killed, on a file system without locks. The job must
    /// show no sign of life for 7 seconds
    #[arg(long)]
    pub break_lock: bool,
    /// Show only warnings and errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Show more: -v shows checkpoints and costs, -vv everything
    #[arg(long, short, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// How progress is shown on standard error
    #[arg(long, value_enum, default_value_t = ProgressMode::Auto)]
    pub progress: ProgressMode,
    /// Print the summary as JSON at the end
    #[arg(long)]
    pub json: bool,
}

impl SessionArguments {
    /// The time that is left: the least of what is given, and what Slurm gives its job.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let now = jiff::Timestamp::now();
        let until = |end: jiff::Timestamp| Duration::try_from(end.duration_since(now)).unwrap_or(Duration::ZERO);
        let seconds: Option<i64> = std::env::var("SLURM_JOB_END_TIME").ok().and_then(|text| text.parse().ok());
        let of_slurm = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
        [self.max_hours, self.stop_at.map(until), of_slurm.map(until)].into_iter().flatten().min()
    }

    /// What to do about the lock of a job that may have been killed.
    #[must_use]
    pub fn left_behind(&self) -> LeftBehind {
        if self.break_lock { LeftBehind::Break } else { LeftBehind::Refuse }
    }
}

/// How to search, instead of what the configuration says. The results are the same.
#[derive(Clone, Debug, Args)]
pub struct SearchArguments {
    /// Where sets of states are kept. `memory`: three bits a state, in memory. `files`: the same in
    /// mapped files, which processes of one host share. `compact`: one bit a state in memory, and
    /// levels packed into files. `auto`: the first that suits [default: the configuration's, else
    /// auto]
    #[arg(long, value_parser = STORAGES, value_name = "WHERE")]
    pub storage: Option<String>,
    /// How the next level is found. `states`: the moves of each state of the last level. `lanes`:
    /// states not seen yet pull from their neighbours, 120 at a time. `unseen`: states not seen yet
    /// ask for their neighbours. `auto`: the cheapest way for each level [default: the
    /// configuration's, else auto]
    #[arg(long, value_parser = ExpansionChoice::NAMES, value_name = "WAY")]
    pub expansion: Option<String>,
}

impl SearchArguments {
    /// Puts the wishes into a configuration.
    pub fn put_into(&self, search: &mut SearchConfig) {
        if let Some(name) = &self.storage {
            search.storage = Storage::of_name(name);
        }
        if let Some(choice) = self.expansion.as_deref().and_then(ExpansionChoice::of_name) {
            search.expansion = choice;
        }
    }
}

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// The puzzle and folder.
    #[command(flatten)]
    pub target: Target,
    /// How to search.
    #[command(flatten)]
    pub search: SearchArguments,
    /// How the run works.
    #[command(flatten)]
    pub session: SessionArguments,
    /// Archive every level in the run folder, as `certify distance` and `solve --table` need it
    #[arg(long)]
    pub keep_levels: bool,
    /// What to do with a checkpoint in the folder
    #[arg(long, value_enum, default_value_t = ResumePolicy::Auto)]
    pub resume: ResumePolicy,
    /// With --resume never: delete what the folder holds of an earlier run
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `resume`.
#[derive(Clone, Debug, Args)]
pub struct ResumeArguments {
    /// The run folder, such as runs/turnstyle-12/step
    pub folder: PathBuf,
    /// How to search.
    #[command(flatten)]
    pub search: SearchArguments,
    /// How the run works.
    #[command(flatten)]
    pub session: SessionArguments,
}

/// Arguments of `recheck`.
#[derive(Clone, Debug, Args)]
pub struct RecheckArguments {
    /// The run folder of a complete run
    pub folder: PathBuf,
    /// How the next level is found (see `farthest run --help`) [default: another way than in the
    /// run]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(ExpansionChoice::NAMES))]
    pub expansion: Option<String>,
    /// How the search works.
    #[command(flatten)]
    pub session: SessionArguments,
}

/// Arguments of `plan`.
#[derive(Clone, Debug, Args)]
pub struct PlanArguments {
    /// The puzzle and folder.
    #[command(flatten)]
    pub target: Target,
    /// How to search.
    #[command(flatten)]
    pub search: SearchArguments,
    /// Count the disk space of archived levels, too
    #[arg(long)]
    pub keep_levels: bool,
    /// Print only the path of the run folder
    #[arg(long)]
    pub print_dir: bool,
    /// Print the plan as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `completions`.
#[derive(Clone, Debug, Args)]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Clone, Debug, Args)]
pub struct ManArguments {
    /// The folder to write the pages to, such as ~/.local/share/man/man1; it is made if need be
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// Arguments of `table`.
#[derive(Clone, Debug, Args)]
pub struct TableArguments {
    /// Folders to look for complete runs in, down to eight folders below
    #[arg(required = true)]
    pub folders: Vec<PathBuf>,
    /// How the table is written
    #[arg(long, value_parser = table_formats(), default_value = "terminal")]
    pub format: String,
    /// Only runs of this puzzle, such as turnstyle-12
    #[arg(long, value_name = "NAME")]
    pub puzzle: Option<String>,
    /// Only runs in this metric, such as step
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Order of the rows
    #[arg(long, value_enum, default_value_t = TableOrder::Puzzle)]
    pub sort: TableOrder,
    /// Show the number of states at every depth, too
    #[arg(long)]
    pub depths: bool,
}

/// What the rows of a table are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableOrder {
    /// By name of the puzzle, with numbers in it by size; then by metric
    Puzzle,
    /// By metric, then by puzzle
    Metric,
    /// By number of states
    States,
    /// By God's number
    GodsNumber,
}

impl TableOrder {
    /// As the table knows it.
    #[must_use]
    pub fn key(self) -> SortKey {
        match self {
            Self::Puzzle => SortKey::Puzzle,
            Self::Metric => SortKey::Metric,
            Self::States => SortKey::States,
            Self::GodsNumber => SortKey::GodsNumber,
        }
    }
}

/// The names of the table formats, each with its line of help.
fn table_formats() -> PossibleValuesParser {
    tables::FORMATS.map(|format| PossibleValue::new(format.name()).help(format.about())).into()
}

/// The names of the export formats, each with its line of help.
fn export_formats() -> PossibleValuesParser {
    exporters::EXPORTERS.map(|exporter| PossibleValue::new(exporter.name()).help(exporter.about())).into()
}

/// Arguments of `export`.
#[derive(Clone, Debug, Args)]
pub struct ExportArguments {
    /// The format, which names the other program
    #[arg(value_parser = export_formats())]
    pub format: String,
    /// What to write: a run folder, a file such as those in configs/runs and configs/puzzles, or a
    /// short name such as turnstyle-12
    #[arg(value_name = "WHAT")]
    pub puzzle: PathBuf,
    /// What counts as one move, such as step or turn [default: the configuration's metric, else the
    /// puzzle's first]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A puzzle and two of its states.
#[derive(Clone, Debug, Args)]
pub struct EndsArguments {
    /// The puzzle: a file such as those in configs/runs and configs/puzzles, or a short name such
    /// as turnstyle-12 (`farthest puzzles` lists some)
    pub puzzle: PathBuf,
    /// What counts as one move, such as step or turn [default: the configuration's metric, else the
    /// puzzle's first]
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// The state: its labels in the order of positions, such as "4 3 2 1 5 6 7 8" or
    /// 4,3,2,1,5,6,7,8. For up to 12 pieces 4321567890AB will do, too; - reads standard input
    #[arg(value_name = "STATE", required_unless_present = "state_flag")]
    pub state: Option<String>,
    /// The same as STATE
    #[arg(long = "state", id = "state_flag", value_name = "STATE", conflicts_with = "state")]
    pub state_flag: Option<String>,
    /// Look for a word from this state to --state, written as --state is
    #[arg(long, value_name = "STATE", conflicts_with = "to")]
    pub from: Option<String>,
    /// Look for a word from --state to this state, written as --state is [default: the solved
    /// state]
    #[arg(long, value_name = "STATE")]
    pub to: Option<String>,
    /// Most memory for the search, such as 8G or 500M (powers of 1,024) [default: half of what is
    /// free]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<u64>,
}

/// Families whose puzzles are solved by a method of their own, of any size.
#[derive(Clone, Debug, Subcommand)]
pub enum SolveFamily {
    /// Say whether a number rotation board of any size can be solved, and how; the same as
    /// solve-board
    RotationBoard(super::solve_board::SolveBoardArguments),
}

/// Arguments of `solve`: a puzzle and a state, or a family and what it needs.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SolveArguments {
    /// The family, when it is one with its own method.
    #[command(subcommand)]
    pub family: Option<SolveFamily>,
    /// From where to where; there without a family.
    #[command(flatten)]
    pub ends: Option<EndsArguments>,
    /// Print every shortest word, not only one
    #[arg(long)]
    pub all: bool,
    /// With --all: the most words to print
    #[arg(long, value_name = "M", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub most: u64,
    /// Print the state after every move, too
    #[arg(long)]
    pub steps: bool,
    /// Read the distances from the run folder of a complete run with --keep-levels, instead of
    /// searching
    #[arg(long, value_name = "RUN")]
    pub table: Option<PathBuf>,
    /// Print one JSON object. The exit code is then 0 even if there is no word
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `certify`.
#[derive(Clone, Debug, Args)]
pub struct CertifyArguments {
    /// What is certified.
    #[command(subcommand)]
    pub what: CertifyCommand,
}

/// The kinds of certificates that can be asked for.
#[derive(Clone, Debug, Subcommand)]
pub enum CertifyCommand {
    /// Certify the number of states at each distance, from a complete run with --keep-levels:
    /// writes RUN/distance.cert
    Distance(CertifyDistanceArguments),
    /// Certify that a word leads from one state to another
    Word(CertifyStateArguments),
    /// Certify a shortest word from one state to another, by two balls around them that do not meet
    Bidirectional(CertifyStateArguments),
    /// Certify that no word leads from one state to another, by parity or a closed set
    Unreachable(CertifyStateArguments),
    /// Certify whether two neighbours can be exchanged on Turnstyle, for each size
    Swap(CertifySwapArguments),
    /// Check the published claims about Turnstyle: writes OUT/turnstyle-claims.md and OUT/claims/
    Claims(CertifyClaimsArguments),
    /// Certify whether a number rotation board can be solved, by a word, an invariant or a closed
    /// set
    Board(super::certify::board::CertifyBoardArguments),
    /// Show how the two colours of the 3x4 board with 3x3 blocks depend on each other: writes
    /// OUT/outer-automorphism.md, .tsv and certificates
    OuterAutomorphism(super::certify::board::CertifyOuterAutomorphismArguments),
}

/// Arguments of `certify word`, `bidirectional` and `unreachable`.
#[derive(Clone, Debug, Args)]
pub struct CertifyStateArguments {
    /// From where to where.
    #[command(flatten)]
    pub ends: EndsArguments,
    /// The certificate to write: a file that ends in .cert, or a folder, where it is called
    /// KIND.cert
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
}

/// Sizes of Turnstyle, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeRange {
    /// The first one.
    pub first: u16,
    /// The last one, too.
    pub last: u16,
}

/// Arguments of `certify swap`.
#[derive(Clone, Debug, Args)]
pub struct CertifySwapArguments {
    /// One size such as 14, or the first and the last of a range such as 4..64; at most 1000
    #[arg(long, alias = "size", value_name = "N or N..N", value_parser = parse_sizes)]
    pub sizes: SizeRange,
    /// The folder to write to, with one folder for each size
    #[arg(long, value_name = "DIR", default_value = "runs/swap")]
    pub out: PathBuf,
    /// Find shortest words for every pair of neighbours, up to this size. 16 takes half a minute,
    /// 18 takes minutes, 20 takes longer; 0 finds none
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(0..=20))]
    pub shortest: u16,
    /// Most memory for the search, such as 8G or 500M (powers of 1,024) [default: half of what is
    /// free]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<u64>,
}

/// Arguments of `certify claims`.
#[derive(Clone, Debug, Args)]
pub struct CertifyClaimsArguments {
    /// The folder to write to
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub out: PathBuf,
    /// Find the shortest exchanges of two neighbours for even sizes from 8 up to this one; values
    /// below 14 count as 14
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u16).range(0..=20))]
    pub shortest: u16,
    /// Most memory for the search, such as 8G or 500M (powers of 1,024) [default: half of what is
    /// free]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<u64>,
}

/// Arguments of `certify distance`.
#[derive(Clone, Debug, Args)]
pub struct CertifyDistanceArguments {
    /// The run folder, such as runs/turnstyle-12/step
    #[arg(value_name = "RUN")]
    pub folder: PathBuf,
    /// The checker that verifies the certificate before the run records it [default:
    /// farthest-verify in this program's folder]
    #[arg(long, value_name = "PROGRAM", conflicts_with = "write_only")]
    pub checker: Option<PathBuf>,
    /// Only write the certificate. It is not checked, and the run is not labelled as certified
    #[arg(long)]
    pub write_only: bool,
}

/// Arguments of `status`.
#[derive(Clone, Debug, Args)]
pub struct StatusArguments {
    /// The run folder, such as runs/turnstyle-12/step
    pub folder: PathBuf,
    /// Print the same as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Wait until nothing is at work there, and look then
    #[arg(long)]
    pub wait: bool,
}

/// Arguments of `watch`.
#[derive(Clone, Debug, Args)]
pub struct WatchArguments {
    /// The run folder, such as runs/turnstyle-12/step
    pub folder: PathBuf,
}

/// How the processes of a job reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// MPI if a launcher such as mpirun started the program, else one process
    Auto,
    /// Always MPI, even with one process
    Mpi,
    /// Never MPI
    Local,
}

/// Whether to go on from a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ResumePolicy {
    /// Go on if there is a checkpoint of this search, else start anew
    Auto,
    /// Start anew; refuse a folder with results or a checkpoint, unless --force is given
    Never,
    /// Go on; refuse a folder without a checkpoint
    Require,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    /// A bar on a terminal, else lines
    Auto,
    /// A bar
    Bar,
    /// A line for each level
    Plain,
    /// Nothing
    None,
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

/// One size or `FIRST..LAST`, both included.
fn parse_sizes(text: &str) -> Result<SizeRange, String> {
    let size = |text: &str| -> Result<u16, String> {
        let size = text.trim().parse().map_err(|_| "found no size; write 14 or 4..64".to_owned())?;
        if (4..=LARGEST_CERTIFIED).contains(&size) {
            Ok(size)
        } else {
            Err(format!("found the size {size}, expected 4 to {LARGEST_CERTIFIED}"))
        }
    };
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let sizes = SizeRange { first: size(first)?, last: size(last.trim_start_matches('='))? };
    if sizes.first <= sizes.last { Ok(sizes) } else { Err("found a range that ends before it starts".into()) }
}

/// A number of bytes, with K, M, G or T for binary multiples.
pub(super) fn parse_bytes(text: &str) -> Result<u64, String> {
    let letters = text.trim_end_matches("iB").trim_end_matches('B');
    let (digits, shift) = match letters.chars().last() {
        Some('k' | 'K') => (&letters[..letters.len() - 1], 10),
        Some('m' | 'M') => (&letters[..letters.len() - 1], 20),
        Some('g' | 'G') => (&letters[..letters.len() - 1], 30),
        Some('t' | 'T') => (&letters[..letters.len() - 1], 40),
        _ => (letters, 0),
    };
    let count: u64 = digits.parse().map_err(|_| "found no number of bytes; write 8G, 500M or 1000000".to_owned())?;
    count.checked_mul(1 << shift).filter(|&bytes| bytes > 0).ok_or_else(|| "found no possible number of bytes".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_sizes("14"), Ok(SizeRange { first: 14, last: 14 }));
        assert_eq!(parse_sizes("4..64"), Ok(SizeRange { first: 4, last: 64 }));
        for wrong in ["", "3", "4..", "..9", "9..8", "1001", "4..1001", "x"] {
            assert!(parse_sizes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes() {
        assert_eq!(parse_bytes("8G"), Ok(8 << 30));
        assert_eq!(parse_bytes("500MiB"), Ok(500 << 20));
        assert_eq!(parse_bytes("7"), Ok(7));
        for wrong in ["", "G", "-1", "0", "8X", "99999999999999999999", "20000000T"] {
            assert!(parse_bytes(wrong).is_err(), "{wrong}");
        }
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
