//! The generators of a puzzle that lists them, and the metrics that choose among them.
//!
//! Without `[[metrics]]` there is one metric, `step`: every generator costs 1. With it exactly the
//! listed ones exist, the first being the default. Generators are checked when they are read: names
//! differ, none is the identity, no two are the same turn.

use crate::base::config_text::{ConfigTable, Place, nearest, shown_text};
use crate::base::shown::is_plain;
use crate::base::{Error, Result};
use crate::puzzle::Permutation;
use std::collections::HashMap;
use std::fmt::Write;
use std::hash::Hash;

/// The metric of a puzzle that lists none.
pub const DEFAULT_METRIC: &str = "step";

/// Most metrics of a puzzle.
const MOST_METRICS: usize = 64;

/// Longest name of a generator, in characters.
const LONGEST_GENERATOR_NAME: usize = 32;

/// What a generator does: a bijection of states.
pub trait Turn: Clone + Eq + Hash {
    /// Whether it moves nothing.
    fn is_identity(&self) -> bool;
    /// The turn that undoes it.
    #[must_use]
    fn inverse(&self) -> Self;
}

impl Turn for Permutation {
    fn is_identity(&self) -> bool {
        Self::is_identity(self)
    }
    fn inverse(&self) -> Self {
        Self::inverse(self)
    }
}

/// A choice of generators, each of cost 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name, such as `quarter`.
    pub name: String,
    /// Indices of its generators.
    pub generators: Vec<usize>,
}

/// Generators with their names, in the order of the file, and the metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedGenerators<T> {
    generators: Vec<(String, T)>,
    metrics: Vec<Metric>,
}

impl<T: Turn> NamedGenerators<T> {
    /// Reads `[[generators]]`, `inverses` and `[[metrics]]`; `read_turn` takes what a generator
    /// does from its table.
    ///
    /// # Errors
    /// When something is wrong with them, in the file's order as far as possible.
    pub(in crate::families) fn read(
        table: &mut ConfigTable,
        most: usize,
        read_turn: impl Fn(&mut ConfigTable) -> Result<T>,
    ) -> Result<Self> {
        let place = table.place_of("generators");
        let tables = table.tables("generators")?;
        if tables.is_empty() {
            let cure = "add a [[generators]] table with its name and what it moves";
            return Err(place.refuse("no generators", "at least one", cure));
        }
        let too_many = |count: usize| {
            let found = format!("{count} generators");
            Err(place.refuse(found, format!("at most {most} for this puzzle, inverses included"), "leave some out"))
        };
        if tables.len() > most {
            return too_many(tables.len());
        }
        let mut reader = Reader { generators: Vec::new(), names: HashMap::new(), turns: HashMap::new() };
        for mut generator in tables {
            let name = generator_name(&mut generator)?;
            let turn = read_turn(&mut generator)?;
            let place = generator.place_of("name");
            generator.finish()?;
            reader.add(name, turn, place)?;
        }
        if table.optional_bool("inverses")?.unwrap_or(false) {
            reader.add_inverses()?;
        }
        if reader.generators.len() > most {
            return too_many(reader.generators.len());
        }
        let metrics = read_metrics(table, &reader.generators)?;
        Ok(Self { generators: reader.generators, metrics })
    }

    /// All generators.
    #[must_use]
    pub fn all(&self) -> &[(String, T)] {
        &self.generators
    }

    /// Names of the metrics, the default one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<String> {
        if self.metrics.is_empty() {
            return vec![DEFAULT_METRIC.to_owned()];
        }
        self.metrics.iter().map(|metric| metric.name.clone()).collect()
    }

    /// The generators of a metric, none when there is no such metric.
    #[must_use]
    pub fn of_metric(&self, name: &str) -> Vec<&(String, T)> {
        match self.metrics.iter().find(|metric| metric.name == name) {
            Some(metric) => metric.generators.iter().map(|&index| &self.generators[index]).collect(),
            None if self.metrics.is_empty() && name == DEFAULT_METRIC => self.generators.iter().collect(),
            None => Vec::new(),
        }
    }

    /// The tables in the form that [`NamedGenerators::read`] reads; `write_turn` writes the lines
    /// of what a generator does.
    #[must_use]
    pub fn to_toml(&self, write_turn: impl Fn(&T) -> String) -> String {
        let mut text = String::new();
        for (name, turn) in &self.generators {
            text += &format!("\n[[generators]]\nname = \"{name}\"\n{}", write_turn(turn));
        }
        for metric in &self.metrics {
            let names: Vec<String> = metric.generators.iter().map(|&index| format!("\"{}\"", self.generators[index].0)).collect();
            write!(text, "\n[[metrics]]\nname = \"{}\"\ngenerators = [{}]\n", metric.name, names.join(", ")).expect("writing to a string");
        }
        text
    }
}

/// The generators read so far, and where each name and turn came from.
struct Reader<T> {
    generators: Vec<(String, T)>,
    names: HashMap<String, Place>,
    turns: HashMap<T, usize>,
}

impl<T: Turn> Reader<T> {
    fn add(&mut self, name: String, turn: T, place: Place) -> Result<()> {
        if turn.is_identity() {
            let found = format!("generator \"{name}\", which moves nothing");
            return Err(place.refuse(found, "a generator that moves something", "delete or correct it"));
        }
        if let Some(first) = self.names.get(&name) {
            let found = format!("the name \"{name}\" of line {} again", first.line());
            return Err(place.refuse(found, "a name of its own for each generator", "rename one of the two"));
        }
        if let Some(&first) = self.turns.get(&turn) {
            let (first, _) = &self.generators[first];
            let found = format!("\"{name}\", the same turn as \"{first}\" of line {}", self.names[first].line());
            return Err(place.refuse(found, "each generator once", "delete one of the two"));
        }
        self.turns.insert(turn.clone(), self.generators.len());
        self.names.insert(name.clone(), place);
        self.generators.push((name, turn));
        Ok(())
    }

    /// Adds every inverse that is not there as a generator already.
    fn add_inverses(&mut self) -> Result<()> {
        for index in 0..self.generators.len() {
            let (name, turn) = &self.generators[index];
            let inverse = turn.inverse();
            if self.turns.contains_key(&inverse) {
                continue;
            }
            let (inverse_name, place) = (format!("{name}'"), self.names[name].clone());
            // The run folder's copy writes the inverse out, and must be readable.
            if length(&inverse_name) > LONGEST_GENERATOR_NAME {
                return Err(place.refuse(
                    format!("\"{name}\", which leaves no room for the name of its inverse"),
                    format!("at most {} characters, since inverses = true", LONGEST_GENERATOR_NAME - 1),
                    "choose a shorter name",
                ));
            }
            if let Some(other) = self.names.get(&inverse_name) {
                return Err(other.refuse(
                    format!("\"{inverse_name}\", which is not the inverse of \"{name}\""),
                    "that name to be free for the inverse, since inverses = true",
                    "rename it",
                ));
            }
            self.add(inverse_name, inverse, place)?;
        }
        Ok(())
    }
}

/// The name of a generator: words are written with blanks between the names, so a name may hold
/// anything that shows itself, but blanks, quotation marks and backslashes.
pub(in crate::families) fn generator_name(table: &mut ConfigTable) -> Result<String> {
    let name = table.required_string("name")?;
    let fits = |letter: char| is_plain(letter) && !letter.is_whitespace() && !matches!(letter, '"' | '\\');
    if name.is_empty() || length(&name) > LONGEST_GENERATOR_NAME || !name.chars().all(fits) {
        return Err(table.place_of("name").refuse(
            format!("\"{}\"", shown_text(&name)),
            format!("1 to {LONGEST_GENERATOR_NAME} visible characters without blank, quotation mark or backslash"),
            "choose a name such as \"R\", \"R'\" or \"(0,1)\"",
        ));
    }
    Ok(name)
}

/// Characters of a name.
fn length(name: &str) -> usize {
    name.chars().count()
}

fn read_metrics<T>(table: &mut ConfigTable, generators: &[(String, T)]) -> Result<Vec<Metric>> {
    let indices: HashMap<&str, usize> = generators.iter().enumerate().map(|(index, (name, _))| (name.as_str(), index)).collect();
    let mut metrics: Vec<Metric> = Vec::new();
    let tables = table.tables("metrics")?;
    if tables.len() > MOST_METRICS {
        let found = format!("{} metrics", tables.len());
        let expected = format!("at most {MOST_METRICS}");
        return Err(table.place_of("metrics").refuse(found, expected, "leave some out"));
    }
    for mut metric in tables {
        let name = super::names::name(&mut metric)?;
        if metrics.iter().any(|known| known.name == name) {
            let found = format!("the metric \"{name}\" again");
            let cure = "rename one of the two";
            return Err(metric.place_of("name").refuse(found, "a name of its own for each metric", cure));
        }
        let listed = metric.required_value("generators", "a list of names of generators", "[\"...\"]")?;
        let mut chosen = Vec::new();
        for (name, place) in listed.into_strings()? {
            let index = *indices.get(name.as_str()).ok_or_else(|| unknown_generator(&name, &place, &indices))?;
            if chosen.contains(&index) {
                let found = format!("\"{name}\" a second time");
                return Err(place.refuse(found, "each generator once", "delete one of the two"));
            }
            chosen.push(index);
        }
        if chosen.is_empty() {
            let cure = "list the generators that cost 1";
            return Err(metric.place_of("generators").refuse("an empty list", "at least one generator", cure));
        }
        metric.finish()?;
        metrics.push(Metric { name, generators: chosen });
    }
    Ok(metrics)
}

fn unknown_generator(name: &str, place: &Place, indices: &HashMap<&str, usize>) -> Error {
    let mut names: Vec<&str> = indices.keys().copied().collect();
    names.sort_unstable();
    let cure = match nearest(name, names.iter().copied()) {
        Some(known) => format!("did you mean \"{known}\"?"),
        None => "correct the name or add the generator".into(),
    };
    names.truncate(20);
    place.refuse(format!("\"{}\"", shown_text(name)), format!("a generator, such as {}", names.join(", ")), cure)
}
