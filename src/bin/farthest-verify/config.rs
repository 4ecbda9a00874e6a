//! `run.toml`: the puzzle and how it was searched. The checker reads it as strictly as the search
//! does: it knows every key, no key contradicts another, names are plain, and no name belongs to
//! another puzzle. The rules of the puzzle must be written out in the file. A puzzle that is only
//! named, or lies in another file, is refused.

use crate::keys::{Keys, integers};
use crate::limits::{Checked, Limits, counted, refuted, shown, unreadable, wide};
use crate::near::Ball;
use crate::order;
use crate::puzzle::{Puzzle, inverse, is_generator_name, moved};
use crate::records::shown_path;
use crate::sources;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use toml::Value;

/// Longest name of a puzzle or metric, in bytes.
const LONGEST_NAME: usize = 100;

/// Most places, generators (with inverses) and metrics of a puzzle that lists its generators.
const MOST_PLACES: u64 = 255;
const MOST_GENERATORS: usize = 1_024;
const MOST_METRICS: usize = 64;

/// Limits of the family `planes`: planes, places of an arrangement, and planes times generators.
const MOST_PLANES: u64 = 65_536;
const MOST_ARRANGED: u64 = 20;
const MOST_PLANE_MOVES: u64 = 1 << 20;

/// The puzzles that come with the program and list their generators. No other puzzle may use their
/// names. Each has its [`definition_digest`].
const SHIPPED: [(&str, &str); 5] = [
    ("board-2x3n2", "d1bef141b24ba843a509339339f60a919660e2d4f09249a385cf984fc25df3c7"),
    ("board-3x4n3", "11cb8d6e4f61cb34ebc15981c6c906e50b84266c611754a46e9f7928430c31cf"),
    ("loopover-3x3", "230a3beac9bd1b4a87c502ea627946e23c18a470fa26acf2d6d743b8e5560473"),
    ("pancake-7", "07b08ba5b729430803b5133c655141c30ae6ec8e729b6726267bd6a158e5df56"),
    ("pocket-cube", "0c3b35d92afe929c414023ef851e8f1d47cad8b8bdaf5b7046825f929481ddea"),
];

/// What a `run.toml` says, as far as the checker needs it.
pub struct Config {
    pub name: String,
    pub metric: String,
    pub rules: Rules,
    /// `to` or `from`: whether distances are counted to or from the solved state. None where every
    /// move can be undone by a move, so that both are the same.
    pub direction: Option<String>,
    pub most_antipodes: u64,
    pub leading_positions: Option<u64>,
}

/// What a state is, and what a move does to it.
pub enum Rules {
    /// A state is an arrangement of pieces on places.
    Places(Puzzle),
    /// A state is a plane and an arrangement. A generator leads from plane to plane; in each plane
    /// it permutes the places in its own way.
    Planes(PlaneRules),
}

/// The rules of the family `planes`.
pub struct PlaneRules {
    start: usize,
    moves: Vec<Turn>,
    /// Whether `moves` are the inverses of the generators, for distances to the solved state.
    is_undone: bool,
    digest: String,
}

/// What a generator does: for each plane, the plane that it leads to, and for each place there the
/// place that its piece comes from.
type Turn = Vec<(usize, Vec<u16>)>;

impl Rules {
    pub fn moves(&self) -> u64 {
        match self {
            Self::Places(puzzle) => wide(puzzle.moves.len()),
            Self::Planes(planes) => wide(planes.moves.len()),
        }
    }

    /// Whether the inverse of each move is a move.
    pub fn is_inverse_closed(&self) -> bool {
        match self {
            Self::Places(puzzle) => puzzle.is_inverse_closed(),
            Self::Planes(planes) => {
                let known: HashSet<&Turn> = planes.moves.iter().collect();
                planes.moves.iter().all(|turn| known.contains(&undone(turn)))
            }
        }
    }

    /// The same rules with every move undone, for distances to the solved state.
    fn undone(self) -> Self {
        match self {
            Self::Places(puzzle) => Self::Places(puzzle.undone()),
            Self::Planes(planes) => Self::Planes(planes.undone()),
        }
    }

    /// How many states can be reached, or none when there are more than 2^64.
    pub fn states(&self, place: &str, limits: &Limits) -> Checked<Option<u128>> {
        match self {
            Self::Places(puzzle) => order::of_puzzle(puzzle, place, limits),
            Self::Planes(planes) => planes.states(place, limits),
        }
    }

    /// What a claim calls the puzzle: a built-in name, or the rules. `title` is used for a puzzle
    /// of planes, with a digest.
    pub fn named(&self, title: &str) -> String {
        match self {
            Self::Places(puzzle) => puzzle.named(),
            Self::Planes(planes) => format!("{title} (rules given as planes, SHA-256 {})", planes.digest),
        }
    }
}

impl PlaneRules {
    /// Whether both have the same start and the same generators.
    pub fn is_same(&self, other: &Self) -> bool {
        let moves = |rules: &Self| -> Vec<Turn> {
            rules.moves.iter().map(|turn| if rules.is_undone { undone(turn) } else { turn.clone() }).collect()
        };
        self.start == other.start && moves(self) == moves(other)
    }

    fn undone(self) -> Self {
        Self { moves: self.moves.iter().map(undone).collect(), is_undone: !self.is_undone, ..self }
    }

    /// All states within a few moves of the solved one. A state is a plane and an arrangement.
    pub fn near(&self, place: &str, limits: &Limits) -> Checked<Ball<(usize, Vec<u16>)>> {
        let size = self.moves.first().map_or(0, |turn| turn[0].1.len());
        let next = |(plane, arrangement): &(usize, Vec<u16>), number: usize| {
            let (target, from) = &self.moves[number][*plane];
            (*target, moved(arrangement, from))
        };
        let solved = (self.start, (0..u16::MAX).take(size).collect());
        Ball::around(solved, wide(size).max(1), self.moves.len(), next, place, limits)
    }

    /// The number of planes that can be reached, times the order of the group of all ways from the
    /// first plane back to it. By Schreier's lemma, that group is generated by the ways along a
    /// tree of planes, each closed by one more move.
    fn states(&self, place: &str, limits: &Limits) -> Checked<Option<u128>> {
        let size = self.moves.first().map_or(0, |turn| turn[0].1.len());
        let mut way: HashMap<usize, Vec<u16>> = HashMap::from([(self.start, (0..u16::MAX).take(size).collect())]);
        let mut reached = vec![self.start];
        let mut loops = HashSet::new();
        let mut next = 0;
        while let Some(&plane) = reached.get(next) {
            limits.steps(place, 3 * u128::from(wide(self.moves.len())) * u128::from(wide(size)))?;
            for turn in &self.moves {
                let (target, from) = &turn[plane];
                let there = moved(&way[&plane], from);
                match way.get(target) {
                    None => {
                        reached.push(*target);
                        way.insert(*target, there);
                    }
                    // Go there by one way and come back by the other.
                    Some(known) => drop(loops.insert(moved(&there, &inverse(known)))),
                }
            }
            next += 1;
        }
        let loops: Vec<Vec<u16>> = loops.into_iter().collect();
        let around = order::of_group(&loops, place, limits)?;
        Ok(around.map(|around| around * u128::from(wide(reached.len()))))
    }
}

impl Config {
    /// Reads the `run.toml` of a run folder.
    pub fn read(folder: &Path, limits: &Limits) -> Checked<Self> {
        let text = sources::text(folder, "run.toml", limits)?;
        Self::parse(&shown_path(&folder.join("run.toml")), &text, None, limits)
    }

    /// Parses the text of a configuration. `in_metric` replaces its metric; `file` is its name in
    /// messages.
    pub fn parse(file: &str, text: &str, in_metric: Option<String>, limits: &Limits) -> Checked<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.contains('\0') || text.starts_with('\u{feff}') {
            return Err(unreadable(file, "a NUL byte, or a second byte-order mark", "text"));
        }
        let table = text.parse().map_err(|error: toml::de::Error| unreadable(file, shown(error.message()), "TOML, each key once"))?;
        let mut keys = Keys::new(file.to_owned(), table);
        let mut inner = keys.table_of_puzzle()?;
        let family = inner.as_mut().unwrap_or(&mut keys).required_string("family")?;
        let metric = in_metric.or(keys.string("metric")?);
        let puzzle_keys = inner.as_mut().unwrap_or(&mut keys);
        let (name, metric, rules) = match family.as_str() {
            "turnstyle" => turnstyle(puzzle_keys, metric)?,
            "rotation-board" => rotation_board(puzzle_keys, metric, limits)?,
            "permutations" | "planes" => listed(puzzle_keys, metric, family == "planes")?,
            _ => return Err(unreadable(keys.place("family"), shown(&family), "turnstyle, rotation-board, permutations or planes")),
        };
        if let Some(inner) = inner {
            inner.finish()?;
        }
        let direction = keys.choice("direction", &["to", "from"])?;
        let (most_antipodes, leading_positions) = search(&mut keys)?;
        keys.finish()?;
        // Earlier versions always counted from the solved state, and the file did not say so.
        let direction = (!rules.is_inverse_closed()).then(|| direction.unwrap_or_else(|| "from".into()));
        let rules = if direction.as_deref() == Some("to") { rules.undone() } else { rules };
        Ok(Self { name, metric, rules, direction, most_antipodes, leading_positions })
    }

    pub fn title(&self) -> String {
        format!("{} ({})", self.name, self.metric)
    }
}

impl Keys {
    /// The table `[puzzle]`, or none where the file has no such key. Refuses a puzzle that is only
    /// named.
    fn table_of_puzzle(&mut self) -> Checked<Option<Self>> {
        let place = self.place("puzzle");
        match self.take("puzzle") {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(Self::new(place, table))),
            Some(_) => Err(unreadable(place, "the name of a puzzle", "its rules, written out, as in the run.toml of every run")),
        }
    }
}

fn turnstyle(keys: &mut Keys, metric: Option<String>) -> Checked<(String, String, Rules)> {
    let size = keys.required_integer("size", 4, 20)?;
    let metric = metric.unwrap_or_else(|| "step".into());
    let puzzle = Puzzle::turnstyle(size, &metric).ok_or_else(|| unreadable(keys.place("metric"), shown(&metric), "step, turn or flip"))?;
    Ok((format!("turnstyle-{size}"), metric, Rules::Places(puzzle)))
}

fn rotation_board(keys: &mut Keys, metric: Option<String>, limits: &Limits) -> Checked<(String, String, Rules)> {
    let mut measure = |key: &str| keys.required_integer(key, 2, MOST_PLACES);
    let measures = [measure("rows")?, measure("cols")?, measure("block")?];
    let [rows, columns, block] = measures;
    if rows * columns > MOST_PLACES {
        return Err(unreadable(keys.place("rows"), format!("{} cells", rows * columns), format!("at most {MOST_PLACES}")));
    }
    let metric = metric.unwrap_or_else(|| "quarter".into());
    let puzzle = Puzzle::rotation_board(measures, &metric, &keys.place("block"), limits)?;
    Ok((format!("rotation-board-{rows}x{columns}n{block}"), metric, Rules::Places(puzzle)))
}

/// Reads the families that list their generators: `permutations`, and `planes` when `has_planes`.
/// Returns name, metric and rules.
fn listed(keys: &mut Keys, metric: Option<String>, has_planes: bool) -> Checked<(String, String, Rules)> {
    let name = plain_name(keys)?;
    if is_reserved(&name) {
        return Err(refuted(
            keys.place("name"),
            format!("{name}, the name of a family that every copy of the program knows"),
            "another one",
        ));
    }
    let least = if has_planes { 1 } else { 2 };
    let planes = if has_planes { keys.required_integer("planes", 1, MOST_PLANES)? } else { 1 };
    let places = keys.required_integer("positions", least, if has_planes { MOST_ARRANGED } else { MOST_PLACES })?;
    let start = if has_planes { keys.integer("start_plane", 0, planes - 1)?.unwrap_or(0) } else { 0 };
    let most = if has_planes { MOST_GENERATORS.min(usize::try_from(MOST_PLANE_MOVES / planes).unwrap_or(0)) } else { MOST_GENERATORS };
    let base = if has_planes { 0 } else { keys.integer("base", 0, 1)?.unwrap_or(0) };
    let base = u16::try_from(base).expect("0 or 1");
    let size = usize::try_from(places).expect("at most 255");
    let planes = usize::try_from(planes).expect("at most 65,536");
    let read = |keys: &mut Keys| {
        if has_planes { plane_turn(keys, planes, size) } else { Ok(vec![(0, one_permutation(keys, "images", size, base)?)]) }
    };
    let generators = generators(keys, most, planes, read)?;
    let metrics = metrics(keys, &generators)?;
    let start = usize::try_from(start).expect("a plane");
    let digest = definition_digest(has_planes, [planes, size, start], &generators, &metrics);
    if let Some((_, known)) = SHIPPED.iter().find(|(shipped, known)| shipped.eq_ignore_ascii_case(&name) && *known != digest) {
        return Err(refuted(
            keys.place("name"),
            format!("{name} with rules of SHA-256 {digest}"),
            format!("{known}, those of the puzzle that comes with the program under this name"),
        ));
    }
    let metric = metric.or_else(|| metrics.first().map(|(name, _)| name.clone())).unwrap_or_else(|| "step".into());
    let chosen: Vec<usize> = match metrics.iter().find(|(name, _)| *name == metric) {
        Some((_, chosen)) => chosen.clone(),
        None if metrics.is_empty() && metric == "step" => (0..generators.len()).collect(),
        None => {
            let names: Vec<&str> = metrics.iter().map(|(name, _)| name.as_str()).collect();
            let expected = if names.is_empty() { "step".into() } else { names.join(", ") };
            return Err(unreadable(keys.place("metric"), shown(&metric), expected));
        }
    };
    let moves = chosen.into_iter().map(|number| generators[number].clone());
    let rules = if has_planes {
        Rules::Planes(PlaneRules { start, moves: moves.map(|(_, turn)| turn).collect(), is_undone: false, digest })
    } else {
        let moves = moves.map(|(name, mut turn)| (name, turn.swap_remove(0).1)).collect();
        Rules::Places(Puzzle::own(format!("{name} ({metric})"), moves, (1..=u16::MAX).take(size).collect()))
    };
    Ok((name, metric, rules))
}

/// Takes the key `name`: see [`is_plain`].
fn plain_name(keys: &mut Keys) -> Checked<String> {
    let name = keys.required_string("name")?;
    let expected = || format!("1 to {LONGEST_NAME} letters of ASCII, digits and . _ - + = ( ) , [ ], the first a letter or digit");
    if is_plain(&name) { Ok(name) } else { Err(unreadable(keys.place("name"), shown(&name), expected())) }
}

/// Whether a puzzle or metric may have this name: letters of ASCII, digits and a few marks, a letter
/// or digit first.
pub fn is_plain(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric();
    let fits = |byte: u8| letter(byte) || b"._-+=(),[]".contains(&byte);
    (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(fits) && letter(name.as_bytes()[0])
}

/// Whether a name is reserved, in letters of either case: one that a built-in family makes, or one
/// that begins like the measures of a board (`3x4n2`).
pub fn is_reserved(name: &str) -> bool {
    let name = &name.to_ascii_lowercase();
    let after_digits = |text: &str| {
        Some(text.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned()).filter(|rest| rest.len() < text.len())
    };
    let measures =
        after_digits(name).and_then(|rest| after_digits(rest.strip_prefix('x')?)).and_then(|rest| after_digits(rest.strip_prefix('n')?));
    let is_of = |family: &str| name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    measures.is_some() || is_of("turnstyle") || is_of("rotation")
}

/// Takes the list `generators`, and adds their inverses where `inverses = true`. Refuses a
/// generator that moves nothing, two that do the same, and two of one name.
fn generators(keys: &mut Keys, most: usize, planes: usize, read: impl Fn(&mut Keys) -> Checked<Turn>) -> Checked<Vec<(String, Turn)>> {
    let place = keys.place("generators");
    let tables = keys.tables("generators")?;
    let mut generators: Vec<(String, Turn)> = Vec::new();
    let mut names = HashSet::new();
    let mut turns = HashSet::new();
    let mut add = |place: &str, name: String, turn: Turn, generators: &mut Vec<(String, Turn)>| {
        let rests =
            |(plane, (target, from)): (usize, &(usize, Vec<u16>))| *target == plane && (0..).zip(from).all(|(at, source)| at == *source);
        if turn.iter().enumerate().all(rests) {
            return Err(unreadable(place, format!("generator {name}, which moves nothing"), "one that moves something"));
        }
        if !is_generator_name(&name) {
            let expected = "1 to 32 visible characters without blank, quotation mark or backslash";
            return Err(unreadable(place, shown(&name), expected));
        }
        if !names.insert(name.clone()) || !turns.insert(turn.clone()) {
            return Err(unreadable(place, format!("{name}, a name or a turn that was there before"), "each once"));
        }
        generators.push((name, turn));
        if generators.len() > most {
            return Err(unreadable(place, "more generators", format!("at most {most}, with inverses")));
        }
        Ok(())
    };
    for mut table in tables {
        let name = table.required_string("name")?;
        let turn = read(&mut table)?;
        let place = table.place("name");
        table.finish()?;
        add(&place, name, turn, &mut generators)?;
    }
    if generators.is_empty() {
        return Err(unreadable(place, "no generators", "at least one"));
    }
    if keys.boolean("inverses")? == Some(true) {
        for number in 0..generators.len() {
            let (name, turn) = &generators[number];
            let undone = undone(turn);
            if !generators.iter().any(|(_, known)| *known == undone) {
                let name = format!("{name}'");
                add(&place, name, undone, &mut generators)?;
            }
        }
    }
    debug_assert!(generators.iter().all(|(_, turn)| turn.len() == planes));
    Ok(generators)
}

/// The inverse of a turn.
fn undone(turn: &Turn) -> Turn {
    let mut undone = turn.clone();
    for (plane, (target, from)) in turn.iter().enumerate() {
        undone[*target] = (plane, inverse(from));
    }
    undone
}

/// Takes the list `metrics`: for each, its name and the numbers of its generators.
fn metrics(keys: &mut Keys, generators: &[(String, Turn)]) -> Checked<Vec<(String, Vec<usize>)>> {
    let place = keys.place("metrics");
    let tables = keys.tables("metrics")?;
    if tables.len() > MOST_METRICS {
        return Err(unreadable(place, counted(wide(tables.len()), "metric"), format!("at most {MOST_METRICS}")));
    }
    let mut metrics: Vec<(String, Vec<usize>)> = Vec::new();
    for mut table in tables {
        let name = plain_name(&mut table)?;
        let place = table.place("generators");
        let listed = table.required("generators")?;
        let listed =
            listed.as_array().filter(|names| !names.is_empty()).ok_or_else(|| unreadable(&place, "no names", "a list of generators"))?;
        let mut chosen = Vec::new();
        for value in listed {
            let number = value.as_str().and_then(|wanted| generators.iter().position(|(name, _)| name == wanted));
            let number = number.filter(|number| !chosen.contains(number));
            chosen.push(number.ok_or_else(|| unreadable(&place, shown(&value.to_string()), "names of generators, each once"))?);
        }
        table.finish()?;
        if metrics.iter().any(|(known, _)| *known == name) {
            return Err(unreadable(place, format!("the metric {name} again"), "each once"));
        }
        metrics.push((name, chosen));
    }
    Ok(metrics)
}

/// A permutation of `size` places that count from `base`, as a list under `key` or as `cycles`.
/// Both are refused; none when neither is there.
fn permutation(keys: &mut Keys, key: &str, size: usize, base: u16) -> Checked<Option<Vec<u16>>> {
    let place = keys.place(key);
    let list = keys.integers(key, size + usize::from(base))?;
    let cycles = keys.string("cycles")?;
    match (list, cycles) {
        (Some(_), Some(_)) => Err(unreadable(place, format!("{key} and cycles"), "one of them")),
        (Some(list), None) => {
            let too_low = || unreadable(&place, "0", "places from 1 on, as base is 1");
            let list = list.into_iter().map(|number| number.checked_sub(base).ok_or_else(too_low)).collect::<Checked<_>>()?;
            complete(&place, list, size).map(Some)
        }
        (None, Some(text)) => from_cycles(&keys.place("cycles"), &text, size, base).map(Some),
        (None, None) => Ok(None),
    }
}

fn one_permutation(keys: &mut Keys, key: &str, size: usize, base: u16) -> Checked<Vec<u16>> {
    permutation(keys, key, size, base)?.ok_or_else(|| unreadable(keys.place(key), "neither it nor cycles", "one of them"))
}

/// Refuses a list that does not hold each number from 0 to `size - 1` once.
fn complete(place: &str, list: Vec<u16>, size: usize) -> Checked<Vec<u16>> {
    let distinct: HashSet<&u16> = list.iter().collect();
    if list.len() == size && distinct.len() == size {
        Ok(list)
    } else {
        Err(unreadable(place, "another list", format!("each of 0 to {} once", size - 1)))
    }
}

/// Reads cycles such as `(0 1 2)`: the piece at 0 goes to 1, the one at 1 to 2, and the one at 2 to
/// 0. Blanks and commas separate the places, which count from `base`.
fn from_cycles(place: &str, text: &str, size: usize, base: u16) -> Checked<Vec<u16>> {
    let last = size - 1 + usize::from(base);
    let refuse = |found: String| unreadable(place, found, format!("cycles of places from {base} to {last}, each at most once"));
    let mut from: Vec<u16> = (0..u16::MAX).take(size).collect();
    let mut used = vec![false; size];
    let mut rest = text;
    let is_separator = |letter: char| matches!(letter, ' ' | ',' | '\t' | '\n' | '\r');
    loop {
        rest = rest.trim_start_matches(is_separator);
        if rest.is_empty() {
            return Ok(from);
        }
        let (inside, after) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(|| refuse(shown(rest)))?;
        rest = after;
        let mut members: Vec<u16> = Vec::new();
        for word in inside.split(is_separator).filter(|word| !word.is_empty()) {
            let number = word.parse::<u16>().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()));
            let place = number.and_then(|number| number.checked_sub(base)).filter(|place| usize::from(*place) < size);
            let place =
                place.filter(|place| !std::mem::replace(&mut used[usize::from(*place)], true)).ok_or_else(|| refuse(shown(word)))?;
            members.push(place);
        }
        if members.is_empty() {
            return Err(refuse("an empty cycle".into()));
        }
        for (number, &member) in members.iter().enumerate() {
            from[usize::from(members[(number + 1) % members.len()])] = member;
        }
    }
}

/// Reads what a generator of the family `planes` does in each plane.
fn plane_turn(keys: &mut Keys, planes: usize, size: usize) -> Checked<Turn> {
    let place = keys.place("planes");
    let targets: Vec<usize> = match keys.take("planes") {
        None => (0..planes).collect(),
        Some(value) => complete(&place, integers(&place, &value, planes)?, planes)?.into_iter().map(usize::from).collect(),
    };
    let place = keys.place("permutations");
    let each = keys.take("permutations");
    let same = permutation(keys, "permutation", size, 0)?;
    let permutations = match (each, same) {
        (Some(_), Some(_)) => return Err(unreadable(place, "permutations and one for all planes", "one of them")),
        (Some(Value::Array(lists)), None) if lists.len() == planes => {
            lists.iter().map(|list| complete(&place, integers(&place, list, size)?, size)).collect::<Checked<_>>()?
        }
        (Some(_), None) => return Err(unreadable(place, "another list", format!("{planes} permutations, one a plane"))),
        (None, same) => vec![same.unwrap_or_else(|| (0..u16::MAX).take(size).collect()); planes],
    };
    Ok(targets.into_iter().zip(permutations).collect())
}

/// SHA-256 of the whole definition. It tells a puzzle from another one of the same name.
fn definition_digest(has_planes: bool, sizes: [usize; 3], generators: &[(String, Turn)], metrics: &[(String, Vec<usize>)]) -> String {
    use sha2::{Digest, Sha256};
    crate::limits::hexadecimal(&Sha256::digest(format!("{has_planes} {sizes:?} {generators:?} {metrics:?}")))
}

/// Reads the table `[search]`. Returns how many antipodes are listed at most, and the number of
/// leading positions where it is set.
fn search(keys: &mut Keys) -> Checked<(u64, Option<u64>)> {
    let Some(mut keys) = keys.table("search")? else { return Ok((1_000, None)) };
    keys.integer("checkpoint_seconds", 0, 31_536_000)?;
    let keeps = keys.boolean("keep_levels")?.unwrap_or(false);
    let leading = keys.integer("leading_positions", 0, 15)?;
    let most_antipodes = keys.integer("most_antipodes", 0, 1_000_000)?.unwrap_or(1_000);
    keys.integer("round_kib", 1, 4_194_304)?;
    keys.integer("exchange_kib", 1, 65_536)?;
    keys.boolean("share_memory")?;
    let shared = keys.boolean("shared_filesystem")?.unwrap_or(true);
    keys.choice("storage", &["auto", "memory", "files", "compact"])?;
    keys.choice("expansion", &["auto", "states", "lanes", "unseen"])?;
    if keeps && !shared {
        return Err(unreadable(keys.place("shared_filesystem"), "false together with keep_levels", "one of the two"));
    }
    keys.finish()?;
    Ok((most_antipodes, leading))
}
