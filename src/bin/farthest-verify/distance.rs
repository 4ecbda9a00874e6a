//! Distances from the solved state. The archived levels give every state a label; three rules make
//! these labels distances.
//!
//! - Start: the solved state has label 0, and no other state has.
//! - Moves: no move leads to a label larger by more than 1, or to a state without a label.
//! - Every other state: some move leads to it from a label smaller by exactly 1.
//!
//! src/evidence/README.md says why that is enough. The check takes a byte of memory a numbered
//! state.

use crate::archive::{self, Shards};
use crate::limits::{Checked, Limits, counted, hexadecimal, index, refuted, shown, wide};
use crate::numbering::{Numbering, Step, rank, read_arranged};
use crate::order;
use crate::puzzle::{Puzzle, state_text};
use crate::records::{Record, Records, io_error, open, refuse_link, shown_path};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The label of a number that is in no level.
const NONE: u8 = u8::MAX;

/// Most levels: labels must differ from [`NONE`], and a label plus 1 must fit a byte.
const MOST_LEVELS: u64 = 254;

/// How many states one thread checks at a time.
const STRETCH: u64 = 1 << 18;

const MOST_FILES: u64 = 1 << 20;

/// Added to a claim where some move is undone by no move and distances are counted to the solved
/// state, not from it.
pub const TO_SOLVED: &str = " (moves to the solved state)";

/// What `distance.cert` says.
pub struct Certificate {
    pub place: String,
    pub puzzle: Puzzle,
    /// The places of the arrangements of a board, in their order. None for other puzzles.
    pub arranged: Option<Vec<u16>>,
    pub ranks: u64,
    shard_length: u64,
    /// How many states there are at each distance.
    pub levels: Vec<u64>,
    pub level_places: Vec<String>,
    files: Vec<ArchiveFile>,
    /// SHA-256 of the certificate's bytes.
    pub digest: String,
}

struct ArchiveFile {
    place: String,
    depth: u64,
    bytes: u64,
    sha256: String,
    path: String,
}

/// The labels of all numbered states: `labels[n]` is the level of state `n`, or [`NONE`].
pub struct Labelling {
    pub numbering: Numbering,
    pub labels: Vec<u8>,
}

/// What was counted in one level.
#[derive(Clone, Copy, Default)]
pub struct Counted {
    pub states: u64,
    /// How many moves lead one level down, to the same level, and one level up.
    pub edges: [u64; 3],
}

impl Certificate {
    /// Reads the records that follow `claim distance` and the puzzle. `digest` is the SHA-256 of
    /// the certificate.
    pub fn read(puzzle: Puzzle, records: &mut Records, digest: String) -> Checked<Self> {
        let arranged = read_arranged(&puzzle, records)?;
        let record = records.expect("ranks")?;
        let [ranks, shard_length] = record.numbers("ranks R S")?;
        if !(1..=ranks).contains(&shard_length) {
            return Err(record.unreadable(format!("shards of {shard_length} of {ranks} numbers"), "from 1 to all"));
        }
        let place = record.place();
        let states_record = records.expect("states")?;
        let [states] = states_record.numbers("states N")?;
        let record = records.expect("levels")?;
        let [count] = record.numbers("levels D+1")?;
        if !(1..=MOST_LEVELS).contains(&count) {
            return Err(record.unreadable(format!("{count} levels"), format!("1 to {MOST_LEVELS}")));
        }
        let (mut levels, mut level_places) = (Vec::new(), Vec::new());
        for depth in 0..count {
            let record = records.expect("level")?;
            let [stated, states] = record.numbers("level DEPTH STATES")?;
            if stated != depth || states == 0 {
                return Err(record.unreadable(shown(record.text()), format!("level {depth} and at least one state")));
            }
            levels.push(states);
            level_places.push(record.place());
        }
        let sum: u128 = levels.iter().map(|&states| u128::from(states)).sum();
        if sum != u128::from(states) {
            return Err(refuted(states_record.place(), format!("{states} states"), format!("{sum}, the sum of the levels")));
        }
        let record = records.expect("archives")?;
        let [count] = record.numbers("archives K")?;
        if count > MOST_FILES {
            return Err(record.unreadable(format!("{count} files"), format!("at most {MOST_FILES}")));
        }
        let mut files: Vec<ArchiveFile> = Vec::new();
        for _ in 0..count {
            let record = records.expect("archive")?;
            let file = ArchiveFile::read(&record, wide(levels.len()))?;
            if files.last().is_some_and(|last| (last.depth, &last.path) >= (file.depth, &file.path)) {
                return Err(record.unreadable(shown(&file.path), "files in ascending order, each once"));
            }
            files.push(file);
        }
        records.end()?;
        Ok(Self { place, puzzle, arranged, ranks, shard_length, levels, level_places, files, digest })
    }

    pub fn states(&self) -> u64 {
        self.levels.iter().sum()
    }

    /// SHA-256 of the list of the archive's files: depth, bytes, SHA-256 and path of each. Through
    /// their digests it covers all of their bytes.
    pub fn archive_digest(&self) -> String {
        let line = |file: &ArchiveFile| format!("{} {} {} {}\n", file.depth, file.bytes, file.sha256, file.path);
        hexadecimal(&Sha256::digest(self.files.iter().map(line).collect::<String>()))
    }

    /// Numbers the states in the checker's own way. Refuses a certificate that states another
    /// number of them.
    pub fn check_ranks(&self, limits: &Limits) -> Checked<Numbering> {
        let numbering = Numbering::new(&self.puzzle, self.arranged.as_deref(), &self.place, limits)?;
        if numbering.count() == u128::from(self.ranks) {
            return Ok(numbering);
        }
        let found = format!("{} numbered states", self.ranks);
        Err(refuted(&self.place, found, format!("{} for {}", numbering.count(), self.puzzle.title)))
    }

    /// Checks that the levels sum to the order of the group, and that the first one is the solved
    /// state alone. The labels imply both; this check is for a merge, which does not look at
    /// labels.
    pub fn check_total(&self, limits: &Limits) -> Checked<()> {
        let order = order::of_puzzle(&self.puzzle, &self.place, limits)?;
        if order != Some(u128::from(self.states())) {
            let expected = order.map_or_else(|| "more than 2^64".into(), |order| order.to_string());
            let expected = format!("{expected}, the order of the group of {}", self.puzzle.title);
            return Err(refuted(&self.place, counted(self.states(), "state"), expected));
        }
        match self.levels[0] {
            1 => Ok(()),
            start => Err(refuted(&self.level_places[0], counted(start, "state"), "the solved state alone")),
        }
    }

    /// Reads the archive in the run folder and labels all states. Every file must have its digest,
    /// and every level its number of states.
    pub fn label(&self, run: &Path, limits: &Limits) -> Checked<Labelling> {
        let numbering = self.check_ranks(limits)?;
        let longest = self.files.iter().map(|file| file.bytes).max().unwrap_or(0);
        limits.memory(&self.place, u128::from(self.ranks) + u128::from(longest))?;
        let all_bytes: u128 = self.files.iter().map(|file| u128::from(file.bytes)).sum();
        limits.steps(&self.place, u128::from(self.ranks) + 2 * all_bytes)?;
        let mut labels = vec![NONE; index(self.ranks)];
        let mut counts = vec![0; self.levels.len()];
        for file in &self.files {
            let path = file.path_in(run)?;
            let bytes = file.bytes_of(&path)?;
            let depth = u8::try_from(file.depth).expect("at most MOST_LEVELS");
            let place = shown_path(&path);
            let mut found = |number: u64| {
                let label = &mut labels[index(number)];
                if *label != NONE {
                    let state = state_text(&numbering.state(number));
                    return Err(refuted(&place, format!("state {number} ({state}) in level {depth}"), format!("it only in level {label}")));
                }
                *label = depth;
                counts[usize::from(depth)] += 1;
                Ok(())
            };
            let shards = Shards { ranks: self.ranks, length: self.shard_length };
            archive::read(&bytes, shards, &place, limits, &mut found)?;
        }
        for ((&stated, found), place) in self.levels.iter().zip(counts).zip(&self.level_places) {
            if stated != found {
                return Err(refuted(place, format!("{stated} states"), format!("{found}, as the archive has")));
            }
        }
        Ok(Labelling { numbering, labels })
    }
}

impl ArchiveFile {
    fn read(record: &Record, levels: u64) -> Checked<Self> {
        let [depth, bytes, sha256, path] = record.fields("archive DEPTH BYTES SHA256 PATH")?;
        let (depth, bytes) = (record.number(depth)?, record.number(bytes)?);
        if depth >= levels {
            return Err(record.unreadable(format!("a file of level {depth}"), format!("levels below {levels}")));
        }
        if sha256.len() != 64 || !sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(record.unreadable(shown(sha256), "64 hexadecimal digits"));
        }
        let name = path.strip_prefix(&format!("levels/{depth:06}/"));
        if !name.is_some_and(is_plain_name) {
            return Err(record.unreadable(shown(path), format!("levels/{depth:06}/NAME within the run folder")));
        }
        Ok(Self { place: record.place(), depth, bytes, sha256: sha256.into(), path: path.into() })
    }

    /// The path of the file below the run folder. Refuses a link anywhere on the way.
    fn path_in(&self, run: &Path) -> Checked<PathBuf> {
        let mut path = run.to_path_buf();
        for part in self.path.split('/') {
            path.push(part);
            refuse_link(&path)?;
        }
        Ok(path)
    }

    /// Reads the file. Its length and digest must be those that the certificate states.
    fn bytes_of(&self, path: &Path) -> Checked<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = open(path)?.take(self.bytes + 1).read_to_end(&mut bytes);
        read.map_err(|error| io_error(path, &error))?;
        if wide(bytes.len()) != self.bytes {
            let found = if wide(bytes.len()) > self.bytes { "a longer file".into() } else { format!("{} bytes", bytes.len()) };
            return Err(refuted(shown_path(path), found, format!("{} bytes, as in {}", self.bytes, self.place)));
        }
        let digest = hexadecimal(&Sha256::digest(&bytes));
        if digest != self.sha256 {
            return Err(refuted(shown_path(path), format!("SHA-256 {digest}"), format!("{}, as in {}", self.sha256, self.place)));
        }
        Ok(bytes)
    }
}

/// Whether a file name stays in its folder and is not hidden.
pub fn is_plain_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)
}

/// Whether this is the path of an archive file: `levels/DDDDDD/NAME`.
pub fn is_archive_path(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let is_depth = |depth: &str| depth.len() == 6 && depth.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts[..], ["levels", depth, name] if is_depth(depth) && is_plain_name(name))
}

/// SHA-256 of a file, in hexadecimal digits.
pub fn sha256(path: &Path, limits: &Limits) -> Checked<String> {
    let mut file = open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer).map_err(|error| io_error(path, &error))?;
        if read == 0 {
            return Ok(hexadecimal(&hasher.finalize()));
        }
        limits.steps(shown_path(path), u128::from(wide(read)))?;
        hasher.update(&buffer[..read]);
    }
}

impl Labelling {
    /// Checks the labels of the states in `interval` against the labels of their neighbours.
    /// Returns what was counted in each level.
    pub fn check(&self, certificate: &Certificate, interval: Range<u64>, limits: &Limits) -> Checked<Vec<Counted>> {
        let place = &certificate.place;
        let steps = u128::from(interval.end - interval.start) * certificate.puzzle.steps_a_state() / 2;
        limits.steps(place, steps)?;
        let start = self.numbering.number(&certificate.puzzle.solved).map(|number| self.labels[index(number)]);
        if start != Some(0) || certificate.levels[0] != 1 {
            let found = format!("{} states at distance 0, the solved state among them: {}", certificate.levels[0], start == Some(0));
            return Err(refuted(place, found, "the solved state and no other"));
        }
        let back = self.numbering.steps_back();
        let set = |steps: &[Step]| steps.iter().cloned().collect::<std::collections::BTreeSet<Step>>();
        let is_symmetric = (0..back.len()).all(|plane| set(self.numbering.steps(plane)) == set(&back[plane]));
        // Where every move has an inverse, the moves that lead into a state are those that lead out
        // of it.
        let back = if is_symmetric { vec![Vec::new(); back.len()] } else { back };
        let arrangements = self.numbering.arrangements;
        let mut stretches = Vec::new();
        let mut at = interval.start;
        while at < interval.end {
            let end = interval.end.min(at + STRETCH).min((at / arrangements + 1) * arrangements);
            stretches.push(at..end);
            at = end;
        }
        let mut sums = vec![Counted::default(); certificate.levels.len()];
        // Takes some stretches at a time. So the first fault ends the check, and few counts are
        // kept.
        for some in stretches.chunks(1 << 10) {
            let check = |stretch: &Range<u64>| self.check_stretch(place, certificate.levels.len(), stretch.clone(), &back);
            for counts in some.par_iter().map(check).collect::<Vec<Checked<Vec<Counted>>>>() {
                for (sum, count) in sums.iter_mut().zip(counts?) {
                    sum.states += count.states;
                    sum.edges = [0, 1, 2].map(|way| sum.edges[way] + count.edges[way]);
                }
            }
        }
        Ok(sums)
    }

    /// Checks a stretch of states that all lie in one plane.
    fn check_stretch(&self, place: &str, levels: usize, stretch: Range<u64>, back: &[Vec<Step>]) -> Checked<Vec<Counted>> {
        let plane = index(stretch.start / self.numbering.arrangements);
        let first = wide(plane) * self.numbering.arrangements;
        let (ahead, back) = (self.numbering.steps(plane), &back[plane]);
        let mut counts = vec![Counted::default(); levels];
        let mut walk = self.numbering.walk(plane, stretch.start - first);
        for number in stretch {
            let label = self.labels[index(number)];
            if label != NONE {
                let count = &mut counts[usize::from(label)];
                count.states += 1;
                let arrangement = walk.now();
                let mut has_lower = label == 0;
                for step in ahead {
                    let next = self.neighbour(step, &arrangement, number - first);
                    if next > label + 1 {
                        let next = if next == NONE { "no level".into() } else { format!("level {next}") };
                        return Err(refuted(
                            place,
                            format!("a move from {} to {next}", self.shown(number)),
                            "moves that lead at most one level further",
                        ));
                    }
                    count.edges[usize::from(next >= label) + usize::from(next > label)] += 1;
                    has_lower |= next + 1 == label && back.is_empty();
                }
                for step in back {
                    // For NONE the sum wraps to 0. Only the start has label 0, and it needs no
                    // lower neighbour.
                    has_lower |= self.neighbour(step, &arrangement, number - first).wrapping_add(1) == label;
                }
                if !has_lower {
                    return Err(refuted(place, self.shown(number), "a move to it from the level before"));
                }
            }
            walk.advance();
        }
        Ok(counts)
    }

    #[inline(always)]
    fn neighbour(&self, step: &Step, arrangement: &[u8], number: u64) -> u8 {
        let there = wide(step.plane) * self.numbering.arrangements;
        if step.stays {
            return self.labels[index(there + number)];
        }
        let mut next = [0; crate::numbering::MOST_ARRANGED];
        for (entry, &source) in next.iter_mut().zip(&step.from) {
            *entry = arrangement[usize::from(source)];
        }
        let (number, _) = rank(&next[..step.from.len()]);
        self.labels[index(there + self.numbering.shortened(number))]
    }

    fn shown(&self, number: u64) -> String {
        format!("state {number} ({}) of level {}", state_text(&self.numbering.state(number)), self.labels[index(number)])
    }
}

/// The claim in words, once all states are checked.
pub fn claim(certificate: &Certificate) -> String {
    claim_about(&certificate.puzzle.named(), certificate)
}

/// The same claim, with the puzzle called as a run calls it.
pub fn claim_about(puzzle: &str, certificate: &Certificate) -> String {
    let last = certificate.levels.last().copied().unwrap_or(0);
    format!(
        "{puzzle}: {} can be reached, God's number is {}{}, needed by {}; the number of states at every distance is right",
        counted(certificate.states(), "state"),
        certificate.levels.len() - 1,
        if certificate.puzzle.is_undone { TO_SOLVED } else { "" },
        counted(last, "state")
    )
}

/// The numbers of interval `part` of `parts`, counted from 1.
pub fn interval(ranks: u64, part: u64, parts: u64) -> Range<u64> {
    let cut = |part: u64| u64::try_from(u128::from(ranks) * u128::from(part) / u128::from(parts)).expect("at most the ranks");
    cut(part - 1)..cut(part)
}
