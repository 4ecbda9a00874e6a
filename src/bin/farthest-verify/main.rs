//! `farthest-verify`: checks certificates and run folders. It shares no code with the program that wrote them: own parser, own rules, own numbers.
//!
//! `src/evidence/README.md` specifies the formats, and why each check proves its claim. Reading order: `records.rs` (lines and fields), `puzzle.rs` (rules),
//! `claims.rs`, `invariants.rs`, `balls.rs`, `numbering.rs`, `archive.rs`, `distance.rs`, `run.rs`; `limits.rs` bounds memory and work.
//!
//! Exit codes: 0 every claim verified; 1 one is refuted (false, or not shown by the evidence); 2 one cannot be read, or not within the limits.

mod archive;
mod balls;
mod claims;
mod distance;
mod invariants;
mod limits;
mod numbering;
mod puzzle;
mod records;
mod run;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use distance::{Certificate, is_plain_name};
use limits::{Checked, Limits, Refusal, counted, refuted, shown, unreadable, wide};
use puzzle::Puzzle;
use records::{Records, refuse_link, shown_path};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Deepest folder that is looked into, below those named.
const MOST_NESTING: u32 = 8;

/// Checks certificates and run folders of farthest, trusting nothing that they say
#[derive(Parser)]
#[command(name = "farthest-verify", version, max_term_width = 110, subcommand_negates_reqs = true)]
#[command(
    after_help = "Exit codes: 0 verified; 1 refuted: the claim is false, or the evidence does not show it; 2 unreadable, or over a limit."
)]
struct Arguments {
    /// Certificates (*.cert), run folders, and folders with some of them below
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Args)]
struct Options {
    /// Most memory, in bytes or with K, M, G for powers of 1,024 [default: half of what is available, else 4G]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Most elementary steps of work on a file, about a nanosecond each
    #[arg(long, global = true, value_name = "N", default_value_t = 300_000_000_000)]
    steps: u64,
    /// Threads [default: all processors]
    #[arg(long, global = true, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Refute what is not about this puzzle, such as turnstyle-12/step
    #[arg(long, global = true, value_name = "NAME/METRIC")]
    puzzle: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Check the distances of a run from its archived levels, all at once or an interval a process
    Distance(DistanceArguments),
}

#[derive(Args)]
struct DistanceArguments {
    /// The run folder, with distance.cert and levels/
    run: PathBuf,
    /// Check only part I of K equal parts of the states
    #[arg(long, value_name = "I/K", value_parser = parse_interval, requires = "receipt")]
    interval: Option<(u64, u64)>,
    /// Where to write that the interval is right
    #[arg(long, value_name = "FILE", requires = "interval")]
    receipt: Option<PathBuf>,
    /// Check that the receipts of all intervals cover everything
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "interval")]
    merge: Vec<PathBuf>,
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return Err("expected a number such as 4G".into()),
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(|| "expected a number such as 4G".into())
}

fn parse_interval(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    parts.filter(|(part, parts)| (1..=*parts).contains(part)).ok_or_else(|| "expected a part of parts, such as 1/4".into())
}

/// Half of the memory that is available, or 4 GiB where the system does not tell.
fn default_memory() -> u64 {
    let facts = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = facts.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: Option<u64> = line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|number| number.parse().ok());
    kib.map_or(4 << 30, |kib| kib * 512)
}

/// A path that was checked, and what came of it.
type Outcome = (String, Checked<String>);

/// What all checks share.
struct Checker {
    limits: Limits,
    puzzle: Option<String>,
}

impl Checker {
    /// Refutes a puzzle that the user did not ask for.
    fn wanted(&self, place: &str, title: &str) -> Checked<()> {
        let wanted = self
            .puzzle
            .as_ref()
            .map(|name| name.split_once('/').map_or_else(|| name.clone(), |(name, metric)| format!("{name} ({metric})")));
        match wanted {
            Some(wanted) if wanted != title => {
                Err(refuted(place, format!("a claim about {}", shown(title)), format!("one about {}", shown(&wanted))))
            }
            _ => Ok(()),
        }
    }

    /// One certificate.
    fn certificate(&self, path: &Path) -> Checked<String> {
        let (kind, place, puzzle, mut records) = self.head(path)?;
        let (records, limits) = (&mut records, &self.limits);
        match kind.as_str() {
            "word" => claims::word(&puzzle, records, limits),
            "group" => claims::group(&puzzle, records, limits),
            "invariant" => invariants::invariant(&puzzle, records, limits),
            "closed-set" => claims::closed_set(&puzzle, records, limits),
            "bidirectional" => balls::bidirectional(&puzzle, records, limits),
            "distance" => {
                let run = path.parent().unwrap_or(Path::new("."));
                self.distances(&self.distance_certificate(path)?, run, |_| Ok(()))
            }
            _ => Err(unreadable(place, shown(&kind), "word, group, invariant, closed-set, bidirectional or distance")),
        }
    }

    /// The records that every certificate begins with: kind of claim and its place, the puzzle, and what follows.
    fn head(&self, path: &Path) -> Checked<(String, String, Puzzle, Records)> {
        self.limits.restart();
        let mut records = Records::open(path, &self.limits)?;
        let record = records.expect("farthest-certificate")?;
        if record.numbers("farthest-certificate 1")? != [1] {
            return Err(record.unreadable(shown(record.text()), "version 1"));
        }
        let record = records.expect("claim")?;
        let [kind] = record.fields("claim KIND")?;
        let puzzle = Puzzle::read(&mut records, &self.limits)?;
        self.wanted(&record.place(), &puzzle.title)?;
        Ok((kind.into(), record.place(), puzzle, records))
    }

    fn distance_certificate(&self, path: &Path) -> Checked<Certificate> {
        let (kind, place, puzzle, mut records) = self.head(path)?;
        if kind != "distance" {
            return Err(unreadable(place, shown(&kind), "distance"));
        }
        Certificate::read(puzzle, &mut records, distance::sha256(path, &self.limits)?)
    }

    /// All states at once, and then what `more` wants to know of the labels.
    fn distances(&self, certificate: &Certificate, run: &Path, more: impl Fn(&distance::Labelling) -> Checked<()>) -> Checked<String> {
        let labelling = certificate.label(run, &self.limits)?;
        labelling.check(certificate, 0..certificate.ranks, &self.limits)?;
        more(&labelling)?;
        Ok(distance::claim(certificate))
    }

    /// A run folder: its files, its distances if it has a certificate of them.
    fn run(&self, folder: &Path, outcomes: &mut Vec<Outcome>) {
        self.limits.restart();
        let name = shown_path(folder);
        let run = run::Run::read(folder, &self.limits).and_then(|run| self.wanted(&name, &run.name).map(|()| run));
        let path = folder.join("distance.cert");
        let has_certificate = path.symlink_metadata().is_ok();
        outcomes.push((name, run.as_ref().map(|run| run.claim(has_certificate)).map_err(Refusal::clone)));
        if has_certificate {
            let check = |run: &run::Run| {
                refuse_link(&path)?;
                let certificate = self.distance_certificate(&path)?;
                if !run.puzzle.as_ref().is_some_and(|puzzle| run::is_same(puzzle, &certificate.puzzle)) {
                    return Err(refuted(
                        &certificate.place,
                        format!("a certificate for {}", certificate.puzzle.title),
                        format!("one for {}", run.name),
                    ));
                }
                if certificate.levels != run.distribution {
                    return Err(refuted(&certificate.place, "other numbers of states", "those of distribution.tsv"));
                }
                let last = certificate.levels.len() - 1;
                self.distances(&certificate, folder, |labelling| {
                    run.antipodes.iter().try_for_each(|antipode| antipode.check(labelling.label_of(&antipode.labels), last))
                })
            };
            if let Ok(run) = &run {
                outcomes.push((shown_path(&path), check(run)));
            }
        }
    }

    /// A file or folder, with all below it.
    fn path(&self, path: &Path, nesting: u32, outcomes: &mut Vec<Outcome>) {
        if !path.is_dir() {
            return outcomes.push((shown_path(path), self.certificate(path)));
        }
        let is_run = ["SHA256SUMS", "summary.json"].iter().any(|name| path.join(name).symlink_metadata().is_ok());
        if is_run {
            self.run(path, outcomes);
        }
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries.flatten(),
            Err(error) => return outcomes.push((shown_path(path), Err(records::io_error(path, &error)))),
        };
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| is_plain_name(name)).collect();
        names.sort();
        for name in names {
            let below = path.join(&name);
            // Links are left alone: what they point to is not in the folder.
            let Some(facts) = below.symlink_metadata().ok().filter(|facts| !facts.is_symlink()) else { continue };
            if facts.is_dir() && nesting > 0 && !(is_run && ["levels", "checkpoint", "work"].contains(&name.as_str())) {
                self.path(&below, nesting - 1, outcomes);
            } else if facts.is_file() && name.ends_with(".cert") && !(is_run && name == "distance.cert") {
                outcomes.push((shown_path(&below), self.certificate(&below)));
            }
        }
    }

    /// `farthest-verify distance`.
    fn distance(&self, arguments: &DistanceArguments) -> Checked<String> {
        let path = arguments.run.join("distance.cert");
        refuse_link(&path)?;
        let certificate = self.distance_certificate(&path)?;
        if !arguments.merge.is_empty() {
            distance::merge(&certificate, &arguments.merge, &self.limits)?;
            let receipts = counted(wide(arguments.merge.len()), "receipt");
            return Ok(format!("{} (as {receipts} of this checker say together)", distance::claim(&certificate)));
        }
        let (Some((part, parts)), Some(receipt)) = (arguments.interval, &arguments.receipt) else {
            return self.distances(&certificate, &arguments.run, |_| Ok(()));
        };
        let interval = distance::interval(certificate.ranks, part, parts);
        let labelling = certificate.label(&arguments.run, &self.limits)?;
        let counts = labelling.check(&certificate, interval.clone(), &self.limits)?;
        distance::write_receipt(receipt, &certificate, &interval, &counts)?;
        let checked: u64 = counts.iter().sum();
        Ok(format!(
            "{}: part {part} of {parts}: the labels of {checked} states, numbers {} to {}, fit those around them; receipt in {}",
            certificate.puzzle.title,
            interval.start,
            interval.end,
            shown_path(receipt)
        ))
    }
}

fn main() {
    let arguments = Arguments::parse();
    if arguments.command.is_some() && !arguments.paths.is_empty() {
        let text = "found PATHs before \"distance\", expected one or the other; a folder of that name is ./distance";
        Arguments::command().error(ErrorKind::ArgumentConflict, text).exit();
    }
    let memory = arguments.options.memory.unwrap_or_else(default_memory);
    let checker = Checker { limits: Limits::new(memory, arguments.options.steps), puzzle: arguments.options.puzzle };
    if let Some(threads) = arguments.options.threads {
        rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global().expect("built once, before any use");
    }
    let mut outcomes = Vec::new();
    match &arguments.command {
        Some(Command::Distance(distance)) => outcomes.push((shown_path(&distance.run), checker.distance(distance))),
        None => {
            for path in &arguments.paths {
                let before = outcomes.len();
                checker.path(path, MOST_NESTING, &mut outcomes);
                if outcomes.len() == before {
                    outcomes.push((
                        shown_path(path),
                        Err(unreadable(shown_path(path), "no certificate and no run", "some in or below the folder")),
                    ));
                }
            }
        }
    }
    let mut code = 0;
    for (path, outcome) in outcomes {
        // A reader that has gone away does not change the verdict.
        match outcome {
            Ok(claim) => drop(writeln!(std::io::stdout(), "verified    {path}: {claim}")),
            Err(Refusal { refuted, text }) => {
                let verdict = if refuted { "refuted" } else { "unreadable" };
                code = if refuted || code == 1 { 1 } else { 2 };
                drop(writeln!(std::io::stderr(), "{verdict:<11} {text}"));
            }
        }
    }
    std::process::exit(code);
}
