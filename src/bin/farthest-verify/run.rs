//! Checks a run folder. With a certificate, every number in its tables follows from the labels and
//! is compared with them. Without one, everything that is cheap to check is compared: sums, the
//! order of the group, edges, signs, all levels near the solved state, and whether a listed state
//! is too near for its level. The claim says what this does not prove.

use crate::config::{Config, Rules};
use crate::distance::{self, Certificate, Counted, Labelling};
use crate::facts::{Summary, label};
use crate::limits::{Checked, Claim, Limits, counted, refuted, shown, unreadable, wide};
use crate::listing::{self, Listing};
use crate::near::{Near, Told};
use crate::numbering::Numbering;
use crate::order;
use crate::puzzle::{Puzzle, Shape, state_text};
use crate::records::shown_path;
use crate::signs::alternating_places;
use crate::sources::{Row, own, table};
use std::collections::HashMap;
use std::path::Path;

/// Most planes, and most planes times moves, that a search can have.
const MOST_PLANES: u64 = 1 << 20;
const MOST_PLANE_MOVES: u64 = 1 << 23;

/// Most shards that a search can have.
const MOST_SHARDS: u64 = 16_384;

/// Most rows that `samples.tsv` has for one level.
const MOST_SAMPLES: usize = 4;

/// What the files of a run folder say.
pub struct Run<'a> {
    pub config: &'a Config,
    /// The run folder, for messages.
    folder: &'a Path,
    limits: &'a Limits,
    levels: Vec<Level>,
    antipodes: Vec<Listed>,
    /// None for runs of earlier versions, which have no `samples.tsv`.
    samples: Option<Vec<Listed>>,
}

/// A row of `levels.tsv`.
struct Level {
    place: String,
    states: u64,
    edges: [u64; 3],
    fingerprint: String,
}

/// A row of `antipodes.tsv` or `samples.tsv`.
struct Listed {
    place: String,
    depth: usize,
    rank: u64,
    text: String,
    /// None where the checker does not know how the puzzle writes its states.
    labels: Option<Vec<u16>>,
}

/// Reads the certificate at a path.
pub type ReadCertificate<'a> = dyn Fn(&Path) -> Checked<Certificate> + 'a;

/// Checks a run folder with this configuration. The files must already agree with their checksums.
pub fn check(folder: &Path, config: &Config, certificate: &ReadCertificate<'_>, limits: &Limits) -> Checked<Claim> {
    let run = Run::read(folder, config, limits)?;
    let label = label(folder, run.levels.len(), limits)?;
    let path = folder.join("distance.cert");
    let samples = match &run.samples {
        None => "; there is no samples.tsv".to_owned(),
        Some(_) => String::new(),
    };
    if path.symlink_metadata().is_ok() {
        let certificate = certificate(&own(folder, "distance.cert")?)?;
        run.agrees_with(&certificate)?;
        let text = format!(
            "{}: proved by distance.cert; the files agree with it in checksums, sums, group order, edges, fingerprints, antipodes and samples{samples}; label: {label}; \
             taken as they are: puzzle_digest, and in manifest.json how the run was made",
            distance::claim_about(&config.rules.named(&config.title()), &certificate)
        );
        return Ok(Claim::proved(text));
    }
    let compared = run.agrees_with_what_is_near()?;
    run.check_listed_once()?;
    let found = format!(
        "{}: {} states, God's number {}{}, {}",
        config.rules.named(&config.title()),
        run.states(),
        run.levels.len() - 1,
        if config.direction.as_deref() == Some("to") { distance::TO_SOLVED } else { "" },
        counted(run.levels[run.levels.len() - 1].states, "antipode")
    );
    let text = format!(
        "{found}: the files agree in checksums, sums, group order{compared}{samples}; label: {label}; not proved: that these are the distances, for which there is \
         no distance.cert"
    );
    Ok(Claim { is_proved: false, text })
}

impl<'a> Run<'a> {
    fn read(folder: &'a Path, config: &'a Config, limits: &'a Limits) -> Checked<Self> {
        let summary = Summary::read(folder, limits)?;
        let rows = table::<2>(folder, "distribution.tsv", "depth\tstates", limits)?;
        let mut distribution = Vec::new();
        for (row, depth) in rows.iter().zip(0_u64..) {
            if row.number(0)? != depth {
                return Err(refuted(&row.place, shown(&row.cells[0]), format!("depth {depth}")));
            }
            let states = row.number(1)?;
            // Level 0 is the solved state alone, and no level is empty.
            if states == 0 || (depth == 0 && states != 1) {
                let expected =
                    if depth == 0 { "1, the solved state" } else { "at least one: the levels end with the last one that has states" };
                return Err(refuted(&row.place, counted(states, "state"), expected));
            }
            distribution.push(states);
        }
        if distribution.is_empty() {
            return Err(unreadable(shown_path(&folder.join("distribution.tsv")), "no row", "at least one"));
        }
        let mut run = Self { config, folder, limits, levels: Vec::new(), antipodes: Vec::new(), samples: None };
        run.check_total(&distribution)?;
        run.levels = run.read_levels(&distribution, &summary)?;
        run.check_summary(&summary)?;
        run.antipodes = run.read_antipodes(&summary)?;
        run.samples = run.read_samples()?;
        Ok(run)
    }

    fn place(&self, name: &str) -> String {
        shown_path(&self.folder.join(name))
    }

    fn puzzle(&self) -> Option<&'a Puzzle> {
        match &self.config.rules {
            Rules::Places(puzzle) => Some(puzzle),
            Rules::Planes(_) => None,
        }
    }

    fn states(&self) -> u128 {
        self.levels.iter().map(|level| u128::from(level.states)).sum()
    }

    /// Checks that there are as many states as the group has elements. That number is computed
    /// without a search.
    fn check_total(&self, distribution: &[u64]) -> Checked<()> {
        let place = self.place("distribution.tsv");
        let states: u128 = distribution.iter().map(|&states| u128::from(states)).sum();
        let order = self.config.rules.states(&place, self.limits)?;
        if order == Some(states) {
            return Ok(());
        }
        let order = order.map_or_else(|| "more than 2^64".into(), |order| order.to_string());
        Err(refuted(place, format!("{states} states in all"), format!("{order}, the order of the group of {}", self.config.title())))
    }

    fn check_summary(&self, summary: &Summary) -> Checked<()> {
        let place = self.place("summary.json");
        for (key, found, expected) in [("puzzle", &summary.puzzle, &self.config.name), ("metric", &summary.metric, &self.config.metric)] {
            if found != expected {
                return Err(refuted(place, format!("{key} {}", shown(found)), format!("{expected}, as in run.toml")));
            }
        }
        // Earlier versions always counted from the solved state, and the file did not say so.
        let direction = self.config.direction.as_deref();
        let found = summary.direction.as_deref().or(direction.filter(|direction| *direction == "from"));
        if found != direction {
            let [found, expected] = [found, direction]
                .map(|direction| direction.map_or_else(|| "no direction".into(), |word| format!("direction {}", shown(word))));
            return Err(refuted(place, found, format!("{expected}, by run.toml")));
        }
        let facts = [
            ("format", summary.format, 1),
            ("states", summary.states, self.states()),
            ("states_by_group_order", summary.states_by_group_order, self.states()),
            ("gods_number", summary.gods_number, u128::from(wide(self.levels.len())) - 1),
            ("antipodes", summary.antipodes, u128::from(self.levels[self.levels.len() - 1].states)),
        ];
        for (key, found, expected) in facts {
            if u128::from(found) != expected {
                return Err(refuted(place, format!("{key} {found}"), format!("{expected}, by distribution.tsv")));
            }
        }
        let is_digest = summary.puzzle_digest.len() == 64 && summary.puzzle_digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_digest {
            return Err(unreadable(place, shown(&summary.puzzle_digest), "64 hexadecimal digits"));
        }
        // The mean is rounded to millionths. So it may differ from the exact mean by half a
        // millionth, and by a little more for halves.
        let text = summary.mean_depth.to_string();
        let (whole, digits) = text.split_once('.').unwrap_or((&text, "0"));
        let stated = format!("{whole}{digits:0<6}").parse::<u64>().ok().filter(|_| digits.len() <= 6);
        let stated = stated.ok_or_else(|| unreadable(&place, shown(&text), "mean_depth to six decimals"))?;
        let sum: u128 = (0_u128..).zip(&self.levels).map(|(depth, level)| depth * u128::from(level.states)).sum();
        let difference = (u128::from(stated) * self.states()).abs_diff(sum * 1_000_000);
        // The product saturates, as the stated mean may be any number.
        if difference.saturating_mul(200) > 101 * self.states() {
            return Err(refuted(place, format!("mean_depth {}", shown(&text)), "the mean of distribution.tsv"));
        }
        Ok(())
    }

    /// Reads `levels.tsv` and checks it:
    ///
    /// - the counts are those of `distribution.tsv`;
    /// - every move of every state is an edge, and no edge leads up from the last level;
    /// - enough edges lead up from a level to reach all states of the next one;
    /// - where every move can be undone, as many edges lead down from a level as lead up to it;
    /// - where every move changes the sign, no edge stays on a level, and half of all states are at
    ///   even depths;
    /// - the fingerprint of `summary.json` is that of the rows.
    fn read_levels(&self, distribution: &[u64], summary: &Summary) -> Checked<Vec<Level>> {
        let heading = "depth\tstates\tedges_down\tedges_same\tedges_up\tfingerprint";
        let rows: Vec<Row<6>> = table(self.folder, "levels.tsv", heading, self.limits)?;
        if rows.len() != distribution.len() {
            let found = counted(wide(rows.len()), "level");
            return Err(refuted(self.place("levels.tsv"), found, format!("{}, as in distribution.tsv", distribution.len())));
        }
        let moves = self.config.rules.moves();
        let can_be_undone = self.config.rules.is_inverse_closed();
        let alternates = self.puzzle().is_some_and(|puzzle| alternating_places(puzzle).is_some());
        let mut hasher = blake3::Hasher::new();
        let mut levels: Vec<Level> = Vec::new();
        for (row, (depth, &states)) in rows.into_iter().zip((0_u64..).zip(distribution)) {
            if row.number(0)? != depth || row.number(1)? != states {
                let found = format!("depth {} with {} states", shown(&row.cells[0]), shown(&row.cells[1]));
                return Err(refuted(row.place, found, format!("{depth} with {states}, as in distribution.tsv")));
            }
            let edges = [row.number(2)?, row.number(3)?, row.number(4)?];
            let all: u128 = edges.iter().map(|&edges| u128::from(edges)).sum();
            let expected = u128::from(states) * u128::from(moves);
            if all != expected {
                return Err(refuted(row.place, format!("{all} edges"), format!("{expected}: every move of every state")));
            }
            let up_before = levels.last().map_or(0, |level| level.edges[2]);
            if can_be_undone && edges[0] != up_before {
                return Err(refuted(row.place, format!("{} edges down", edges[0]), format!("{up_before}, those up from the level before")));
            }
            if depth > 0 && up_before < states {
                return Err(refuted(row.place, counted(states, "state"), format!("at most {up_before}: so many edges lead up to them")));
            }
            if alternates && edges[1] != 0 {
                return Err(refuted(row.place, format!("{} edges within the level", edges[1]), "0, as every move changes the sign"));
            }
            let [.., fingerprint] = row.cells;
            if fingerprint.len() != 32 || !fingerprint.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                return Err(unreadable(row.place, shown(&fingerprint), "32 hexadecimal digits"));
            }
            hasher.update(format!("{depth} {states} {fingerprint}\n").as_bytes());
            levels.push(Level { place: row.place, states, edges, fingerprint });
        }
        let last = &levels[levels.len() - 1];
        if last.edges[2] != 0 {
            return Err(refuted(&last.place, format!("{} edges up from the last level", last.edges[2]), 0));
        }
        let even: u128 = levels.iter().step_by(2).map(|level| u128::from(level.states)).sum();
        let all: u128 = levels.iter().map(|level| u128::from(level.states)).sum();
        if alternates && 2 * even != all {
            let found = format!("{even} of {all} states at even depths");
            return Err(refuted(self.place("levels.tsv"), found, "half of them, as every move changes the sign"));
        }
        let expected = hasher.finalize().to_hex();
        if summary.fingerprint != expected.as_str() {
            let found = format!("fingerprint {}", shown(&summary.fingerprint));
            return Err(refuted(self.place("summary.json"), found, format!("{expected}, that of levels.tsv")));
        }
        Ok(levels)
    }

    /// Reads `antipodes.tsv`: all states of the last level, or as many as the run lists at most,
    /// with ascending numbers.
    fn read_antipodes(&self, summary: &Summary) -> Checked<Vec<Listed>> {
        let rows: Vec<Row<2>> = table(self.folder, "antipodes.tsv", "rank\tstate", self.limits)?;
        let last = self.levels.len() - 1;
        let expected = self.levels[last].states.min(self.config.most_antipodes);
        for (place, listed) in [("antipodes.tsv", wide(rows.len())), ("summary.json", summary.antipodes_listed)] {
            if listed != expected {
                let expected = format!("{expected}: all of the last level, at most {}", self.config.most_antipodes);
                return Err(refuted(self.place(place), format!("{listed} listed antipodes"), expected));
            }
        }
        let mut antipodes: Vec<Listed> = Vec::new();
        for row in rows {
            let rank = row.number(0)?;
            if antipodes.last().is_some_and(|before| rank <= before.rank) {
                return Err(refuted(row.place, format!("rank {rank}"), "ascending ranks"));
            }
            let labels = self.labels(&row.place, &row.cells[1])?;
            let [_, text] = row.cells;
            antipodes.push(Listed { place: row.place, depth: last, rank, text, labels });
        }
        Ok(antipodes)
    }

    /// Reads `samples.tsv`: up to four states for each level, with ascending numbers. From the
    /// first level that is sampled, every level is. None when the file is not there.
    fn read_samples(&self) -> Checked<Option<Vec<Listed>>> {
        if self.folder.join("samples.tsv").symlink_metadata().is_err() {
            return Ok(None);
        }
        let rows: Vec<Row<3>> = table(self.folder, "samples.tsv", "depth\trank\tstate", self.limits)?;
        let mut samples: Vec<Listed> = Vec::new();
        for row in rows {
            let (depth, rank) = (row.number(0)?, row.number(1)?);
            let depth = usize::try_from(depth).ok().filter(|&depth| depth < self.levels.len());
            let depth = depth.ok_or_else(|| refuted(&row.place, format!("depth {}", shown(&row.cells[0])), "one of the levels"))?;
            let is_next = samples.last().is_none_or(|last| (depth == last.depth && rank > last.rank) || depth == last.depth + 1);
            if !is_next {
                return Err(refuted(row.place, format!("depth {depth}, rank {rank}"), "every level after the first one, ranks ascending"));
            }
            let labels = self.labels(&row.place, &row.cells[2])?;
            let [.., text] = row.cells;
            samples.push(Listed { place: row.place, depth, rank, text, labels });
        }
        let place = self.place("samples.tsv");
        if let Some(last) = samples.last().filter(|last| last.depth + 1 != self.levels.len()) {
            return Err(refuted(place, format!("level {} as the last one", last.depth), format!("level {}", self.levels.len() - 1)));
        }
        for rows in samples.chunk_by(|one, other| one.depth == other.depth) {
            let states = self.levels[rows[0].depth].states;
            if rows.len() > MOST_SAMPLES || wide(rows.len()) > states {
                let found = format!("{} samples of level {}", rows.len(), rows[0].depth);
                return Err(refuted(place, found, format!("at most {MOST_SAMPLES}, and no more than its states ({states})")));
            }
        }
        Ok(Some(samples))
    }

    /// The labels of a state in a table. None where the checker does not know how the puzzle writes
    /// its states.
    fn labels(&self, place: &str, text: &str) -> Checked<Option<Vec<u16>>> {
        let Some(puzzle) = self.puzzle() else { return Ok(None) };
        let labels: Vec<u16> = text.split(' ').map_while(|label| label.parse().ok()).collect();
        let is_state = puzzle.is_rearranged(&labels) && state_text(&labels) == text && (puzzle.shape != Shape::Circle || labels[0] == 1);
        if is_state { Ok(Some(labels)) } else { Err(refuted(place, shown(text), format!("a state of {}", self.config.title()))) }
    }

    fn listed(&self) -> impl Iterator<Item = &Listed> {
        self.antipodes.iter().chain(self.samples.iter().flatten())
    }

    /// Checks that a listed state has the same number and depth in both tables, and that each
    /// number belongs to one state.
    fn check_listed_once(&self) -> Checked<()> {
        let (mut states, mut ranks) = (HashMap::new(), HashMap::new());
        for listed in self.listed() {
            let (rank, depth) = *states.entry(&listed.text).or_insert((listed.rank, listed.depth));
            let text = *ranks.entry(listed.rank).or_insert(&listed.text);
            if (rank, depth) != (listed.rank, listed.depth) || text != &listed.text {
                let found = format!("rank {} of level {} for {}", listed.rank, listed.depth, shown(&listed.text));
                return Err(refuted(
                    &listed.place,
                    found,
                    format!("rank {rank} of level {depth} for it, and {} at this rank", shown(text)),
                ));
            }
        }
        Ok(())
    }

    /// Checks that the moves reach every listed state.
    fn check_reached(&self, puzzle: &Puzzle, place: &str) -> Checked<()> {
        if !puzzle.is_distinct() {
            return Ok(());
        }
        let known: Vec<(&Listed, Vec<u16>)> =
            self.listed().filter_map(|listed| Some((listed, puzzle.sources(listed.labels.as_ref()?)))).collect();
        let (listed, permutations): (Vec<&Listed>, Vec<Vec<u16>>) = known.into_iter().unzip();
        let are_reached = order::has(puzzle, &permutations, place, self.limits)?.unwrap_or_default();
        match listed.iter().zip(are_reached).find(|(_, is_reached)| !is_reached) {
            Some((listed, _)) => {
                Err(refuted(&listed.place, shown(&listed.text), format!("a state that moves of {} reach", self.config.title())))
            }
            None => Ok(()),
        }
    }

    /// Checks the numbers of the listed states.
    fn check_numbers(&self, numbering: &Numbering) -> Checked<()> {
        for listed in self.listed() {
            let number = listed.labels.as_ref().and_then(|labels| numbering.number(labels));
            if number != Some(listed.rank) {
                let found = number.map_or_else(|| "no state that has a number".into(), |number| format!("a state with number {number}"));
                return Err(refuted(&listed.place, found, format!("number {}", listed.rank)));
            }
        }
        Ok(())
    }

    /// Checks everything in the tables against the labels that the certificate proves.
    fn agrees_with(&self, certificate: &Certificate) -> Checked<()> {
        let limits = self.limits;
        if !self.puzzle().is_some_and(|puzzle| puzzle.has_rules_of(&certificate.puzzle)) {
            let found = format!("a certificate for {}", certificate.puzzle.named());
            return Err(refuted(&certificate.place, found, format!("one for {}", self.config.rules.named(&self.config.title()))));
        }
        if self.puzzle().is_some_and(|puzzle| puzzle.is_undone != certificate.puzzle.is_undone) {
            let way = |is_undone: bool| if is_undone { "to the solved state" } else { "from the solved state" };
            let found = format!("distances {}", way(certificate.puzzle.is_undone));
            return Err(refuted(&certificate.place, found, format!("distances {}, as in run.toml", way(!certificate.puzzle.is_undone))));
        }
        if !certificate.levels.iter().eq(self.levels.iter().map(|level| &level.states)) {
            return Err(refuted(&certificate.place, "other numbers of states", "those of distribution.tsv"));
        }
        let labelling = certificate.label(self.folder, limits)?;
        check_search_limits(&labelling.numbering, self.config, &self.place("run.toml"))?;
        let counted = labelling.check(certificate, 0..certificate.ranks, limits)?;
        self.check_numbers(&labelling.numbering)?;
        limits.steps(&certificate.place, 4 * u128::from(certificate.ranks))?;
        let listings = listing::of_labels(&labelling.labels, self.levels.len());
        self.check_level_facts(&counted, &listings)?;
        self.check_antipodes_are_all(&labelling)?;
        for (depth, listing) in listings.iter().enumerate() {
            self.check_sample(depth, &listing.sample(wide(depth), certificate.ranks))?;
        }
        Ok(())
    }

    /// Numbers the states of a puzzle that is not a board, and checks the numbers of the listed
    /// states. Returns the numbering, and how many states it numbers.
    fn numbered_states(&self, puzzle: &Puzzle, place: &str) -> Checked<(Numbering, u64)> {
        let numbering = Numbering::new(puzzle, None, place, self.limits)?;
        check_search_limits(&numbering, self.config, &self.place("run.toml"))?;
        self.check_numbers(&numbering)?;
        let ranks = u64::try_from(numbering.count()).ok().filter(|&ranks| ranks < 1 << 63);
        let ranks = ranks.ok_or_else(|| unreadable(place, format!("{} numbered states", numbering.count()), "less than 2^63"))?;
        Ok((numbering, ranks))
    }

    fn check_level_facts(&self, counted: &[Counted], listings: &[Listing]) -> Checked<()> {
        for (level, (counted, listing)) in self.levels.iter().zip(counted.iter().zip(listings)) {
            level.has(counted.states, Some(counted.edges), Some(listing.fingerprint()))?;
        }
        Ok(())
    }

    /// Checks that the listed antipodes are the states of the last level with the lowest numbers.
    fn check_antipodes_are_all(&self, labelling: &Labelling) -> Checked<()> {
        let last = u8::try_from(self.levels.len() - 1).expect("at most 254 levels");
        let expected = listing::lowest(&labelling.labels, last, wide(self.antipodes.len()));
        match self.antipodes.iter().zip(expected).find(|(antipode, expected)| antipode.rank != *expected) {
            Some((antipode, expected)) => Err(refuted(
                &antipode.place,
                format!("number {}", antipode.rank),
                format!("{expected}, the next one of the last level ({})", state_text(&labelling.numbering.state(expected))),
            )),
            None => Ok(()),
        }
    }

    /// Checks that a level's sample is the one that is drawn for it. Levels before the first
    /// sampled one have no sample.
    fn check_sample(&self, depth: usize, expected: &[u64]) -> Checked<()> {
        let Some(samples) = self.samples.as_ref().filter(|samples| samples.first().is_some_and(|first| first.depth <= depth)) else {
            return Ok(());
        };
        let found: Vec<u64> = samples.iter().filter(|sample| sample.depth == depth).map(|sample| sample.rank).collect();
        if found == expected {
            return Ok(());
        }
        Err(refuted(self.place("samples.tsv"), format!("ranks {found:?} of level {depth}"), format!("{expected:?}, the states drawn")))
    }

    /// Checks that there are as many levels as the ball around the solved state has. There may be
    /// more where the limits cut the ball.
    fn check_depth_of_ball(&self, levels: usize, is_all: bool) -> Checked<()> {
        if is_all && levels != self.levels.len() || levels > self.levels.len() {
            let found = counted(wide(self.levels.len()), "level");
            return Err(refuted(self.place("levels.tsv"), found, format!("states of depth {}", levels - 1)));
        }
        Ok(())
    }

    /// Checks without a certificate. The levels around the solved state must be those that are
    /// computed anew. No listed state may be nearer or farther than stated, as far as two balls
    /// tell. Returns text that says what was compared.
    fn agrees_with_what_is_near(&self) -> Checked<String> {
        let limits = self.limits;
        let place = self.place("levels.tsv");
        let puzzle = match &self.config.rules {
            Rules::Places(puzzle) => puzzle,
            Rules::Planes(planes) => {
                let near = planes.near(&place, limits)?;
                self.check_depth_of_ball(near.levels.len(), near.is_all)?;
                for (level, found) in self.levels.iter().zip(&near.levels) {
                    level.has(wide(found.states.len()), found.edges, None)?;
                }
                let radius = near.levels.len() - 1;
                return Ok(format!(
                    ", edges, levels 0 to {radius} found anew (no listed states: how its states are written is not known here)"
                ));
            }
        };
        // The search chooses how the cells of a board are numbered, and only a certificate states
        // it.
        let numbering = match puzzle.shape {
            Shape::Board { .. } => None,
            _ => Some(self.numbered_states(puzzle, &place)?),
        };
        let near = Near::around_solved(puzzle, &place, limits)?;
        self.check_depth_of_ball(near.levels.len(), near.is_all)?;
        for (depth, (level, found)) in self.levels.iter().zip(&near.levels).enumerate() {
            let mut fingerprint = None;
            if let Some((numbering, ranks)) = &numbering {
                let numbers: Option<Vec<u64>> = found.states.iter().map(|state| numbering.number(state)).collect();
                let numbers = numbers.ok_or_else(|| unreadable(&level.place, "a state without a number", "one"))?;
                let listing = listing::of_numbers(wide(depth), numbers, *ranks);
                self.check_sample(depth, &listing.sample(wide(depth), *ranks))?;
                fingerprint = Some(listing.fingerprint());
            }
            level.has(wide(found.states.len()), found.edges, fingerprint)?;
        }
        self.check_reached(puzzle, &place)?;
        let alternating = alternating_places(puzzle);
        let asked = self.listed().count();
        let mut least = usize::MAX;
        for listed in self.listed() {
            let Some(labels) = &listed.labels else { continue };
            let refuse = |found: String| Err(refuted(&listed.place, found, format!("a state of level {}", listed.depth)));
            if let Some(places) = &alternating
                && puzzle.is_odd_on(places, labels) != (listed.depth % 2 == 1)
            {
                return refuse("a state of the other sign, which every move changes".into());
            }
            match near.tell(labels, asked, &place)? {
                Told::Exactly(moves) if moves < listed.depth => {
                    return refuse(format!("a state that {} reach", counted(wide(moves), "move")));
                }
                Told::Exactly(moves) if moves > listed.depth => {
                    return refuse(format!("a state that no {} reach", counted(wide(moves - 1), "move")));
                }
                Told::MoreThan(bound) if bound >= listed.depth => {
                    return refuse(format!("a state that no {} reach", counted(wide(bound), "move")));
                }
                Told::MoreThan(bound) => least = least.min(bound),
                Told::Exactly(_) => {}
            }
        }
        let apart =
            if least == usize::MAX { String::new() } else { format!(", listed states more than {} away", counted(wide(least), "move")) };
        let numbers = if numbering.is_none() {
            ", listed states (their numbers only with a distance.cert, which says how boards are numbered)"
        } else {
            ", numbers of listed states"
        };
        Ok(format!(", edges, signs, levels 0 to {} found anew{numbers}{apart}", near.radius()))
    }
}

impl Level {
    /// Compares the row with what was computed: the states, and edges and fingerprint where they
    /// are known.
    fn has(&self, states: u64, edges: Option<[u64; 3]>, fingerprint: Option<String>) -> Checked<()> {
        if self.states != states {
            return Err(refuted(&self.place, counted(self.states, "state"), states));
        }
        if let Some(edges) = edges.filter(|edges| *edges != self.edges) {
            return Err(refuted(&self.place, format!("edges {:?}", self.edges), format!("{edges:?}: down, same, up")));
        }
        match fingerprint {
            Some(expected) if expected != self.fingerprint => {
                Err(refuted(&self.place, format!("fingerprint {}", self.fingerprint), expected))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses a run that exceeds what the search can do.
fn check_search_limits(numbering: &Numbering, config: &Config, place: &str) -> Checked<()> {
    let planes = wide(numbering.planes());
    let most = MOST_PLANES.min(MOST_PLANE_MOVES / config.rules.moves().max(1));
    if planes > most {
        return Err(unreadable(place, format!("{planes} planes"), format!("at most {most}")));
    }
    let Some(leading) = config.leading_positions.filter(|&leading| leading > 0) else { return Ok(()) };
    let length = numbering.arranged();
    let shards = (0..leading).fold(planes, |shards, position| shards.saturating_mul(length.saturating_sub(position)));
    let lane_positions = if numbering.is_halved() { 6 } else { 5 };
    if leading + lane_positions > length || shards > MOST_SHARDS {
        return Err(unreadable(
            place,
            format!("leading_positions = {leading}"),
            format!("fewer, for at most {MOST_SHARDS} shards of whole lanes"),
        ));
    }
    Ok(())
}
