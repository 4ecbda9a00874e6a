//! A run folder: its files belong together, and say the same. What that does not prove is said, too.

use crate::claims::state_text;
use crate::distance::{is_plain_name, sha256};
use crate::limits::{Checked, Limits, counted, refuted, shown, unreadable, wide};
use crate::numbering::Numbering;
use crate::puzzle::{Puzzle, Shape};
use crate::records::{Records, io_error, open, refuse_link, shown_path};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that a complete run has.
const FILES: [&str; 6] = ["antipodes.tsv", "distribution.tsv", "levels.tsv", "manifest.json", "run.toml", "summary.json"];

/// Longest file that is read as a whole, in bytes.
const LONGEST_TEXT: u64 = 1 << 20;

/// What the files say.
pub struct Run {
    pub name: String,
    /// None when this checker does not know the rules.
    pub puzzle: Option<Puzzle>,
    pub distribution: Vec<u64>,
    pub antipodes: Vec<Antipode>,
    summary: serde_json::Value,
}

/// A row of `antipodes.tsv`.
pub struct Antipode {
    place: String,
    rank: u64,
    pub labels: Vec<u16>,
}

impl Run {
    pub fn read(folder: &Path, limits: &Limits) -> Checked<Self> {
        check_sums(folder, limits)?;
        let toml: toml::Table = read_text(folder, "run.toml", limits)?
            .parse()
            .map_err(|error: toml::de::Error| unreadable(shown_path(&folder.join("run.toml")), shown(error.message()), "TOML"))?;
        let (name, metric, puzzle) = puzzle_of(&toml, limits)
            .ok_or_else(|| unreadable(shown_path(&folder.join("run.toml")), "other keys", "a puzzle and a metric"))?;
        let summary: serde_json::Value = serde_json::from_str(&read_text(folder, "summary.json", limits)?)
            .map_err(|error| unreadable(shown_path(&folder.join("summary.json")), error, "JSON"))?;
        let rows = table::<2>(folder, "distribution.tsv", "depth\tstates", limits)?;
        let mut distribution = Vec::new();
        for ((place, [depth, states]), row) in rows.into_iter().zip(0..) {
            if number(&place, &depth)? != row {
                return Err(refuted(place, shown(&depth), format!("depth {row}")));
            }
            distribution.push(number(&place, &states)?);
        }
        let run = Self { name: format!("{name} ({metric})"), puzzle, distribution, antipodes: Vec::new(), summary };
        run.check_summary(&shown_path(&folder.join("summary.json")), &name, &metric)?;
        run.check_levels(folder, limits)?;
        run.with_antipodes(folder, limits)
    }

    fn states(&self) -> u128 {
        self.distribution.iter().map(|&states| u128::from(states)).sum()
    }

    fn stated(&self, place: &str, key: &str) -> Checked<u64> {
        self.summary.get(key).and_then(serde_json::Value::as_u64).ok_or_else(|| unreadable(place, "no number", format!("the key {key}")))
    }

    fn check_summary(&self, place: &str, name: &str, metric: &str) -> Checked<()> {
        for (key, expected) in [("puzzle", name), ("metric", metric)] {
            let found = self.summary.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
            if found != expected {
                return Err(refuted(place, format!("{key} {}", shown(found)), format!("{expected}, as in run.toml")));
            }
        }
        let last = self.distribution.last().copied().unwrap_or(0);
        let facts = [
            ("format", 1),
            ("states", self.states()),
            ("states_by_group_order", self.states()),
            ("gods_number", u128::from(wide(self.distribution.len())).saturating_sub(1)),
            ("antipodes", u128::from(last)),
        ];
        for (key, expected) in facts {
            let found = self.stated(place, key)?;
            if u128::from(found) != expected {
                return Err(refuted(place, format!("{key} {found}"), format!("{expected}, by distribution.tsv")));
            }
        }
        // The mean in millionths, rounded: twice the difference from the exact one is at most 1 (and a little for the halves).
        let text = self.summary.get("mean_depth").filter(|mean| mean.is_number()).map(ToString::to_string).unwrap_or_default();
        let (whole, digits) = text.split_once('.').unwrap_or((&text, "0"));
        let stated = format!("{whole}{digits:0<6}").parse::<u64>().ok().filter(|_| digits.len() <= 6);
        let stated = stated.ok_or_else(|| unreadable(place, shown(&text), "mean_depth to six decimals"))?;
        let sum: u128 = (0_u128..).zip(&self.distribution).map(|(depth, &states)| depth * u128::from(states)).sum();
        let difference = (u128::from(stated) * self.states()).abs_diff(sum * 1_000_000);
        // The stated mean may be any number.
        if difference.saturating_mul(200) > 101 * self.states() {
            return Err(refuted(place, format!("mean_depth {text}"), "the mean of distribution.tsv"));
        }
        Ok(())
    }

    /// `levels.tsv`: the same counts; all moves of all states are edges; up from a level is down from the next one when every move can be undone.
    fn check_levels(&self, folder: &Path, limits: &Limits) -> Checked<()> {
        let header = "depth\tstates\tedges_down\tedges_same\tedges_up\tfingerprint";
        let rows = table::<6>(folder, "levels.tsv", header, limits)?;
        let place = shown_path(&folder.join("levels.tsv"));
        if rows.len() != self.distribution.len() {
            return Err(refuted(&place, format!("{} levels", rows.len()), format!("{}, as in distribution.tsv", self.distribution.len())));
        }
        let mut fingerprint = blake3::Hasher::new();
        let mut up_before = 0;
        for ((place, cells), (depth, &states)) in rows.iter().zip((0_u64..).zip(&self.distribution)) {
            let numbers: Vec<u64> = cells[..5].iter().map(|cell| number(place, cell)).collect::<Checked<_>>()?;
            if numbers[..2] != [depth, states] {
                return Err(refuted(
                    place,
                    format!("depth {} with {} states", numbers[0], numbers[1]),
                    format!("{depth} with {states}, as in distribution.tsv"),
                ));
            }
            let (down, up) = (numbers[2], numbers[4]);
            if let Some(puzzle) = &self.puzzle {
                let edges: u128 = numbers[2..].iter().map(|&edges| u128::from(edges)).sum();
                let expected = u128::from(states) * u128::from(wide(puzzle.moves.len()));
                if edges != expected {
                    return Err(refuted(place, format!("{edges} edges"), format!("{expected}: every move of every state")));
                }
                if puzzle.is_inverse_closed() && down != up_before {
                    return Err(refuted(place, format!("{down} edges down"), format!("{up_before}, those up from the level before")));
                }
            }
            up_before = up;
            fingerprint.update(format!("{depth} {states} {}\n", cells[5]).as_bytes());
        }
        if up_before != 0 {
            return Err(refuted(place, format!("{up_before} edges up from the last level"), 0));
        }
        let found = self.summary.get("fingerprint").and_then(serde_json::Value::as_str).unwrap_or_default();
        let expected = fingerprint.finalize().to_hex();
        if found != expected.as_str() {
            return Err(refuted(
                shown_path(&folder.join("summary.json")),
                format!("fingerprint {}", shown(found)),
                format!("{expected}, that of levels.tsv"),
            ));
        }
        Ok(())
    }

    /// `antipodes.tsv`: as many as stated, with ascending numbers. They are those that the states have; for boards that waits for the certificate, which says
    /// how they are numbered.
    fn with_antipodes(mut self, folder: &Path, limits: &Limits) -> Checked<Self> {
        let path = shown_path(&folder.join("antipodes.tsv"));
        let listed = self.stated(&path, "antipodes_listed")?;
        let rows = table::<2>(folder, "antipodes.tsv", "rank\tstate", limits)?;
        if wide(rows.len()) != listed || u128::from(listed) > u128::from(self.distribution.last().copied().unwrap_or(0)) {
            return Err(refuted(
                path,
                format!("{} states", rows.len()),
                format!("{listed}, as in summary.json, and no more than the last level has"),
            ));
        }
        let numbering = match &self.puzzle {
            Some(puzzle) if matches!(puzzle.shape, Shape::Board { .. }) => None,
            Some(puzzle) => Some(Numbering::new(puzzle, None, &path, limits)?).filter(|numbering| numbering.count() < 1 << 63),
            None => None,
        };
        let mut last: Option<u64> = None;
        for (place, [rank, state]) in rows {
            let rank = number(&place, &rank)?;
            if last.is_some_and(|last| rank <= last) {
                return Err(refuted(place, format!("rank {rank}"), "ascending ranks"));
            }
            last = Some(rank);
            let Some(puzzle) = &self.puzzle else { continue };
            let labels: Vec<u16> = state.split(' ').map_while(|label| label.parse().ok()).collect();
            if !puzzle.is_rearranged(&labels) || state_of(&labels) != state {
                return Err(refuted(place, shown(&state), format!("a state of {}", puzzle.title)));
            }
            let antipode = Antipode { place, rank, labels };
            if let Some(numbering) = &numbering {
                antipode.has_number(numbering.number(&antipode.labels))?;
            }
            self.antipodes.push(antipode);
        }
        Ok(self)
    }

    /// What was checked, in words.
    pub fn claim(&self, is_proved: bool) -> String {
        let last = counted(self.distribution.last().copied().unwrap_or(0), "antipode");
        let rules = match &self.puzzle {
            Some(Puzzle { shape: Shape::Board { .. }, .. }) => {
                ", edges, antipodes (their numbers only with a distance.cert, which says how boards are numbered)"
            }
            Some(_) => ", edges, numbers of antipodes",
            None => " (no edges or antipodes: its rules are not known here)",
        };
        let open = if is_proved { "" } else { "; not proved: that these are the distances, for which there is no distance.cert" };
        let (name, states, gods_number) = (&self.name, self.states(), self.distribution.len() - 1);
        format!("{name}: {states} states, God's number {gods_number}, {last}: the files agree in checksums, sums{rules}{open}")
    }
}

impl Antipode {
    fn has_number(&self, found: Option<u64>) -> Checked<()> {
        if found == Some(self.rank) {
            return Ok(());
        }
        let found = found.map_or_else(|| "no state that has a number".into(), |number| format!("a state with number {number}"));
        Err(refuted(&self.place, found, format!("number {}", self.rank)))
    }

    /// Whether it has its number, and the last label.
    pub fn check(&self, (number, label): (Option<u64>, Option<u8>), last: usize) -> Checked<()> {
        self.has_number(number)?;
        if label.map(usize::from) == Some(last) {
            return Ok(());
        }
        let found = label.map_or_else(|| "no level".into(), |level| format!("level {level}"));
        Err(refuted(&self.place, format!("the state {} of {found}", state_text(&self.labels)), format!("level {last}")))
    }
}

fn state_of(labels: &[u16]) -> String {
    labels.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")
}

/// `SHA256SUMS`: every file that a run has, each in the folder itself, each with its digest.
fn check_sums(folder: &Path, limits: &Limits) -> Checked<()> {
    let mut missing: BTreeSet<&str> = FILES.into();
    let mut records = Records::open(&own(folder, "SHA256SUMS")?, limits)?;
    let mut rows = 0;
    while let Some(record) = records.line()? {
        rows += 1;
        let (digest, name) = record
            .text()
            .split_once("  ")
            .filter(|(digest, name)| digest.len() == 64 && is_plain_name(name) && rows <= 100)
            .ok_or_else(|| {
                record.unreadable(shown(record.text()), "a digest, two blanks and the name of a file in this folder, at most 100 of them")
            })?;
        let found = sha256(&own(folder, name)?, limits)?;
        if found != digest {
            return Err(refuted(
                shown_path(&folder.join(name)),
                format!("SHA-256 {found}"),
                format!("{}, as in {}", shown(digest), record.place()),
            ));
        }
        missing.remove(name);
    }
    match missing.first() {
        Some(name) => Err(refuted(shown_path(&folder.join("SHA256SUMS")), format!("no line for {name}"), "one")),
        None => Ok(()),
    }
}

/// A file of the folder, not a link out of it.
fn own(folder: &Path, name: &str) -> Checked<PathBuf> {
    let path = folder.join(name);
    refuse_link(&path)?;
    Ok(path)
}

fn read_text(folder: &Path, name: &str, limits: &Limits) -> Checked<String> {
    let path = own(folder, name)?;
    let mut bytes = Vec::new();
    open(&path)?.take(LONGEST_TEXT + 1).read_to_end(&mut bytes).map_err(|error| io_error(&path, &error))?;
    limits.memory(shown_path(&path), 64 * u128::from(wide(bytes.len())))?;
    if wide(bytes.len()) > LONGEST_TEXT {
        return Err(unreadable(shown_path(&path), format!("more than {LONGEST_TEXT} bytes"), "a shorter file"));
    }
    String::from_utf8(bytes).map_err(|_| unreadable(shown_path(&path), "bytes that are no UTF-8", "text"))
}

/// The rows of a table with their places.
fn table<const N: usize>(folder: &Path, name: &str, header: &str, limits: &Limits) -> Checked<Vec<(String, [String; N])>> {
    let path = own(folder, name)?;
    let mut records = Records::open(&path, limits)?;
    let mut rows = Vec::new();
    let first = records.line()?;
    if first.as_ref().is_none_or(|record| record.text() != header) {
        let found = first.map_or_else(|| "no line".into(), |record| shown(record.text()));
        return Err(unreadable(format!("{}:1", shown_path(&path)), found, format!("\"{}\"", header.escape_debug())));
    }
    while let Some(record) = records.line()? {
        // Each cell and the place are texts of their own.
        limits.memory(record.place(), 256 * u128::from(wide(rows.len())))?;
        let cells: Vec<String> = record.text().split('\t').take(N + 1).map(str::to_owned).collect();
        rows.push((record.place(), cells.try_into().map_err(|_| record.unreadable(shown(record.text()), format!("{N} cells")))?));
    }
    if rows.is_empty() { Err(unreadable(shown_path(&path), "no row", "at least one")) } else { Ok(rows) }
}

fn number(place: &str, cell: &str) -> Checked<u64> {
    cell.parse().ok().filter(|number: &u64| number.to_string() == cell).ok_or_else(|| unreadable(place, shown(cell), "a number"))
}

/// Name, metric and rules of the puzzle in a `run.toml`. No rules when the family is not known here; nothing when it is no such file.
fn puzzle_of(toml: &toml::Table, limits: &Limits) -> Option<(String, String, Option<Puzzle>)> {
    let metric = toml.get("metric")?.as_str()?.to_owned();
    let name = |table: &toml::Table| table.get("name").and_then(toml::Value::as_str).map(str::to_owned);
    match toml.get("family")?.as_str()? {
        "turnstyle" => {
            let size = u64::try_from(toml.get("size")?.as_integer()?).ok()?;
            let puzzle = Puzzle::turnstyle(size, &metric)?;
            Some((format!("turnstyle-{size}"), metric, Some(puzzle)))
        }
        "rotation-board" => {
            let measure = |key: &str| u64::try_from(toml.get(key)?.as_integer()?).ok();
            let measures = [measure("rows")?, measure("cols")?, measure("block")?];
            let puzzle = Puzzle::rotation_board(measures, &metric, "run.toml", limits).ok()?;
            let [rows, columns, block] = measures;
            Some((format!("rotation-board-{rows}x{columns}n{block}"), metric, Some(puzzle)))
        }
        "permutations" => {
            let places = u16::try_from(toml.get("positions")?.as_integer()?).ok().filter(|places| (1..=1_000).contains(places))?;
            let mut moves = Vec::new();
            for generator in toml.get("generators")?.as_array()? {
                let generator = generator.as_table()?;
                let images = generator.get("images")?.as_array()?.iter().map(|image| u16::try_from(image.as_integer()?).ok());
                let images: Vec<u16> = images.collect::<Option<_>>()?;
                let distinct: BTreeSet<&u16> = images.iter().collect();
                if images.len() != usize::from(places) || !distinct.into_iter().copied().eq(0..places) {
                    return None;
                }
                moves.push((name(generator)?, images));
            }
            if let Some(metrics) = toml.get("metrics") {
                let chosen =
                    metrics.as_array()?.iter().filter_map(toml::Value::as_table).find(|table| name(table).as_ref() == Some(&metric))?;
                let wanted = chosen.get("generators")?.as_array()?.iter().map(toml::Value::as_str);
                let find = |wanted: &str| moves.iter().find(|(name, _)| name == wanted).cloned();
                moves = wanted.map(|wanted| find(wanted?)).collect::<Option<_>>()?;
            }
            let puzzle = name(toml)?;
            let rules = (!moves.is_empty()).then(|| Puzzle::of_moves(format!("{puzzle} ({metric})"), moves, (1..=places).collect()))?;
            Some((puzzle, metric, Some(rules)))
        }
        _ => Some((name(toml)?, metric, None)),
    }
}

/// Whether two puzzles have the same moves by name, and the same solved state.
pub fn is_same(one: &Puzzle, other: &Puzzle) -> bool {
    (&one.names, &one.moves, &one.solved) == (&other.names, &other.moves, &other.solved) && one.shape == other.shape
}
