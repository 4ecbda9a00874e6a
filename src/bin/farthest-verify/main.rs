//! `farthest-verify`: checks certificates and run folders. It shares no code with the program that
//! wrote them: it has its own parser, its own rules and its own numbers of states.
//!
//! `src/evidence/README.md` specifies the formats, and says why each check proves its claim. Read
//! the files in this order:
//!
//! - certificates: `records.rs` (lines and fields), `puzzle.rs` (rules), `claims.rs`,
//!   `invariants.rs`, `balls.rs`;
//! - distances: `numbering.rs`, `archive.rs`, `distance.rs`, `receipts.rs`;
//! - run folders: `keys.rs` and `config.rs` (run.toml), `facts.rs` (JSON), `sources.rs` (files),
//!   `order.rs`, `signs.rs`, `near.rs`, `listing.rs`, `run.rs`;
//! - all of them: `walk.rs` finds what to check, `wanted.rs` compares it with `--puzzle`,
//!   `limits.rs` bounds memory and work.
//!
//! Exit codes, the worst of all claims:
//!
//! - 1: a claim is refuted, as it is false or the evidence does not show it;
//! - 2: a claim cannot be read, or not within the limits;
//! - 3: all claims agree with what was looked at, but one is not proved;
//! - 0: every claim is verified;
//! - 74 and 141: standard output cannot be written, or nobody reads it any more.

mod archive;
mod balls;
mod claims;
mod config;
mod distance;
mod facts;
mod invariants;
mod keys;
mod limits;
mod listing;
mod near;
mod numbering;
mod order;
mod puzzle;
mod receipts;
mod records;
mod run;
mod signs;
mod sources;
mod walk;
mod wanted;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use config::Config;
use distance::Certificate;
use limits::{Checked, Claim, Limits, Refusal, shown, unreadable};
use puzzle::Puzzle;
use receipts::Key;
use records::{Records, refuse_link, shown_path};
use std::io::Write;
use std::path::{Path, PathBuf};
use walk::Found;
use wanted::Wanted;

/// Exit codes when nobody can read the verdicts: 141 when the reader of standard output has gone,
/// and 74 when it cannot be written.
const EXIT_PIPE: i32 = 141;
const EXIT_UNWRITTEN: i32 = 74;

/// Printed below the help.
const EXIT_CODES: &str = "\
Exit codes, the worst of all claims first:
    1  refuted: a claim is false, or the evidence does not show it
    2  unreadable: a claim cannot be read, or is over a limit
    3  consistent: all that was looked at agrees, but the distances are not proved
    0  verified: every claim is proved
   74  standard output cannot be written
  141  nobody reads standard output any more";

/// Check certificates and run folders of farthest, and believe nothing that they say
#[derive(Parser)]
#[command(name = "farthest-verify", version, max_term_width = 110, subcommand_negates_reqs = true)]
#[command(after_help = EXIT_CODES)]
struct Arguments {
    /// What to check: certificates (*.cert), run folders, and folders with any of these below them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Args)]
struct Options {
    /// Most memory, in bytes or with K, M or G (powers of 1,024), such as 8G [default: half of what
    /// is available, or 4G if that is unknown]
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Most elementary steps of work for each certificate or run; a step takes about a nanosecond
    #[arg(long, global = true, value_name = "N", default_value_t = 300_000_000_000)]
    steps: u64,
    /// Threads to work with [default: one for each processor]
    #[arg(long, global = true, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Refute every claim about another puzzle. Give NAME or NAME/METRIC, such as
    /// turnstyle-12/step, or a file with the rules, such as my.toml or my.toml/step
    #[arg(long, global = true, value_name = "PUZZLE")]
    puzzle: Option<String>,
}

#[derive(Subcommand)]
enum Command {
    /// Check the distances of a run, all at once, or in parts by several processes
    Distance(DistanceArguments),
}

#[derive(Args)]
struct DistanceArguments {
    /// The run folder, with distance.cert and levels/
    run: PathBuf,
    /// Check only part I of K equal parts of the states, such as 1/4, and write a receipt
    #[arg(long, value_name = "I/K", value_parser = parse_interval, requires = "receipt")]
    interval: Option<(u64, u64)>,
    /// The receipt to write when the part is right: a new file
    #[arg(long, value_name = "FILE", requires = "interval")]
    receipt: Option<PathBuf>,
    /// A file of 16 to 4,096 secret bytes, which seals receipts. A merge proves the distances only
    /// if it and all parts are given the same key
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Put the receipts of all parts together, and check that they cover all states
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

/// Half of the available memory in bytes, or 4 GiB where the system does not say.
fn default_memory() -> u64 {
    let facts = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = facts.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: Option<u64> = line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|number| number.parse().ok());
    kib.map_or(4 << 30, |kib| kib * 512)
}

/// The outcome for one path.
enum Outcome {
    Checked(Checked<Claim>),
    /// Not checked, for this reason.
    Skipped(&'static str),
}

/// What all checks share: the limits, and the puzzle of `--puzzle`.
struct Checker {
    limits: Limits,
    wanted: Option<Wanted>,
}

impl Checker {
    /// Checks a certificate.
    fn certificate(&self, path: &Path) -> Checked<Claim> {
        let (kind, place, puzzle, mut records) = self.head(path)?;
        self.check_wanted(&place, &puzzle)?;
        let (records, limits) = (&mut records, &self.limits);
        let claim = match kind.as_str() {
            "word" => claims::word(&puzzle, records, limits),
            "group" => claims::group(&puzzle, records, limits),
            "invariant" => invariants::invariant(&puzzle, records, limits),
            "closed-set" => claims::closed_set(&puzzle, records, limits),
            "bidirectional" => balls::bidirectional(&puzzle, records, limits),
            "distance" => self.distances(&self.distance_certificate(path)?, path.parent().unwrap_or(Path::new("."))),
            _ => Err(unreadable(place, shown(&kind), "word, group, invariant, closed-set, bidirectional or distance")),
        };
        claim.map(Claim::proved)
    }

    /// Refutes a claim about a puzzle that the user did not ask for.
    fn check_wanted(&self, place: &str, puzzle: &Puzzle) -> Checked<()> {
        let name = puzzle.known.as_ref().map(|(name, metric)| (name.as_str(), metric.as_str()));
        self.wanted.as_ref().map_or(Ok(()), |wanted| wanted.check(place, name, puzzle, &self.limits))
    }

    /// Reads the records that every certificate begins with. Returns the kind of claim, its place,
    /// the puzzle, and the records that follow.
    fn head(&self, path: &Path) -> Checked<(String, String, Puzzle, Records)> {
        let mut records = Records::open(path, &self.limits)?;
        let record = records.expect("farthest-certificate")?;
        if record.numbers("farthest-certificate 1")? != [1] {
            return Err(record.unreadable(shown(record.text()), "version 1"));
        }
        let record = records.expect("claim")?;
        let [kind] = record.fields("claim KIND")?;
        let mut puzzle = Puzzle::read(&mut records, &self.limits)?;
        if kind == "distance" && records.is_next("direction")? {
            let direction = records.expect("direction")?;
            let [word] = direction.fields("direction to")?;
            if word != "to" || puzzle.is_inverse_closed() {
                return Err(direction.unreadable(shown(direction.text()), "direction to, where a move has none that undoes it"));
            }
            puzzle = puzzle.undone();
        }
        Ok((kind.into(), record.place(), puzzle, records))
    }

    fn distance_certificate(&self, path: &Path) -> Checked<Certificate> {
        let (kind, place, puzzle, mut records) = self.head(path)?;
        if kind != "distance" {
            return Err(unreadable(place, shown(&kind), "distance"));
        }
        Certificate::read(puzzle, &mut records, distance::sha256(path, &self.limits)?)
    }

    /// Checks the distances of all states at once.
    fn distances(&self, certificate: &Certificate, run: &Path) -> Checked<String> {
        let labelling = certificate.label(run, &self.limits)?;
        labelling.check(certificate, 0..certificate.ranks, &self.limits)?;
        Ok(distance::claim(certificate))
    }

    /// Checks a run folder, and its certificate if it has one.
    fn run(&self, folder: &Path) -> Checked<Claim> {
        sources::check_sums(folder, &self.limits)?;
        let config = Config::read(folder, &self.limits)?;
        if let Some(wanted) = &self.wanted {
            wanted.check_run(&shown_path(&folder.join("run.toml")), &config, &self.limits)?;
        }
        run::check(folder, &config, &|path| self.distance_certificate(path), &self.limits)
    }

    /// Runs `farthest-verify distance`.
    fn distance(&self, arguments: &DistanceArguments) -> Checked<Claim> {
        let path = arguments.run.join("distance.cert");
        refuse_link(&path)?;
        let certificate = self.distance_certificate(&path)?;
        self.check_wanted(&certificate.place, &certificate.puzzle)?;
        let key = arguments.key.as_deref().map(Key::read).transpose()?;
        if !arguments.merge.is_empty() {
            return receipts::merge(&certificate, &arguments.merge, key.as_ref(), &self.limits);
        }
        let (Some((part, parts)), Some(receipt)) = (arguments.interval, &arguments.receipt) else {
            return self.distances(&certificate, &arguments.run).map(Claim::proved);
        };
        if receipt.symlink_metadata().is_ok() {
            return Err(unreadable(shown_path(receipt), "a file that is there", "a new one: no receipt is overwritten"));
        }
        let interval = distance::interval(certificate.ranks, part, parts);
        let labelling = certificate.label(&arguments.run, &self.limits)?;
        let counts = labelling.check(&certificate, interval.clone(), &self.limits)?;
        receipts::write(receipt, &certificate, &interval, &counts, key.as_ref())?;
        let checked: u64 = counts.iter().map(|count| count.states).sum();
        Ok(Claim::proved(format!(
            "{}: part {part} of {parts}: the labels of {checked} states, numbers {} to {}, fit those around them; receipt in {}",
            certificate.puzzle.named(),
            interval.start,
            interval.end,
            shown_path(receipt)
        )))
    }

    /// Checks a file, or a folder with all that is below it. Prints every claim that is found and
    /// every path that is skipped.
    fn path(&self, path: &Path, print: &mut Printer) {
        let mut claims = 0;
        walk::walk(path, &mut |path, found| {
            self.limits.restart();
            let outcome = match found {
                Found::Certificate => Outcome::Checked(self.certificate(path)),
                Found::Run => Outcome::Checked(self.run(path)),
                Found::Unreadable(error) => Outcome::Checked(Err(records::io_error(path, &error))),
                Found::Skipped(why) => Outcome::Skipped(why),
            };
            claims += u64::from(matches!(outcome, Outcome::Checked(_)));
            print.outcome(path, outcome);
        });
        if claims == 0 {
            let none = unreadable(shown_path(path), "no certificate and no run", "some in or below the folder");
            print.outcome(path, Outcome::Checked(Err(none)));
        }
    }
}

/// Prints a line. A verdict that nobody can read is worthless, so a failure ends the checker; if
/// the reader has gone, it ends without a message.
fn say(line: &str) {
    let mut output = std::io::stdout();
    if let Err(error) = writeln!(output, "{line}").and_then(|()| output.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(EXIT_PIPE);
        }
        drop(writeln!(std::io::stderr(), "unwritten   standard output: {error}"));
        std::process::exit(EXIT_UNWRITTEN);
    }
}

/// Prints outcomes as they come, and counts them for the last line.
#[derive(Default)]
struct Printer {
    verified: u64,
    consistent: u64,
    refuted: u64,
    unreadable: u64,
    skipped: u64,
}

impl Printer {
    fn outcome(&mut self, path: &Path, outcome: Outcome) {
        let path = shown_path(path);
        let (count, word, text) = match outcome {
            Outcome::Checked(Ok(Claim { is_proved: true, text })) => (&mut self.verified, "verified", format!("{path}: {text}")),
            Outcome::Checked(Ok(Claim { is_proved: false, text })) => (&mut self.consistent, "consistent", format!("{path}: {text}")),
            Outcome::Checked(Err(Refusal { refuted: true, text })) => (&mut self.refuted, "refuted", text),
            Outcome::Checked(Err(Refusal { refuted: false, text })) => (&mut self.unreadable, "unreadable", text),
            Outcome::Skipped(why) => (&mut self.skipped, "skipped", format!("{path}: {why}")),
        };
        *count += 1;
        if matches!(word, "refuted" | "unreadable") {
            // The exit code says so, too.
            drop(writeln!(std::io::stderr(), "{word:<11} {text}"));
        } else {
            say(&format!("{word:<11} {text}"));
        }
    }

    /// Prints how many outcomes of each kind there were, in one line.
    fn count(&self) {
        let Self { verified, consistent, refuted, unreadable, skipped } = self;
        let line = format!("{verified} verified, {consistent} consistent, {refuted} refuted, {unreadable} unreadable, {skipped} skipped");
        say(&line);
    }

    /// The exit code of the worst outcome.
    fn code(&self) -> i32 {
        let worst = [(self.refuted, 1), (self.unreadable, 2), (self.consistent, 3)].into_iter().find(|(count, _)| *count > 0);
        worst.map_or(0, |(_, code)| code)
    }
}

fn main() {
    let arguments = Arguments::parse();
    if arguments.command.is_some() && !arguments.paths.is_empty() {
        let text = "found PATHs before \"distance\", expected one or the other; a folder of that name is ./distance";
        Arguments::command().error(ErrorKind::ArgumentConflict, text).exit();
    }
    let memory = arguments.options.memory.unwrap_or_else(default_memory);
    let limits = Limits::new(memory, arguments.options.steps);
    let wanted = match arguments.options.puzzle.map(|puzzle| Wanted::parse(&puzzle, &limits)).transpose() {
        Ok(wanted) => wanted,
        Err(refusal) => Arguments::command().error(ErrorKind::ValueValidation, refusal.text).exit(),
    };
    let checker = Checker { limits, wanted };
    if let Some(threads) = arguments.options.threads {
        rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global().expect("built once, before any use");
    }
    let mut print = Printer::default();
    match &arguments.command {
        Some(Command::Distance(distance)) => {
            checker.limits.restart();
            print.outcome(&distance.run, Outcome::Checked(checker.distance(distance)));
        }
        None => {
            arguments.paths.iter().for_each(|path| checker.path(path, &mut print));
            // One certificate prints one line, and needs no counts.
            if arguments.paths.len() > 1 || arguments.paths.iter().any(|path| path.is_dir()) {
                print.count();
            }
        }
    }
    std::process::exit(print.code());
}
