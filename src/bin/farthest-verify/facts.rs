//! `summary.json` and `manifest.json`: what a run says of itself. Unknown and repeated keys are
//! refused, and nothing is believed.

use crate::distance::sha256;
use crate::limits::{Checked, Limits, refuted, shown, unreadable, wide};
use crate::records::shown_path;
use crate::sources;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

/// All keys of `summary.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub format: u64,
    pub puzzle: String,
    pub metric: String,
    pub states: u64,
    pub gods_number: u64,
    pub antipodes: u64,
    pub antipodes_listed: u64,
    pub mean_depth: serde_json::Number,
    pub fingerprint: String,
    pub states_by_group_order: u64,
    pub puzzle_digest: String,
    #[serde(default)]
    pub direction: Option<String>,
}

/// All keys of `manifest.json`. Those of type `IgnoredAny`, such as times and hosts, only inform;
/// the checker does not look at their values.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that only inform are listed so that unknown ones are refused")]
struct Manifest {
    #[serde(default)]
    evidence: Option<String>,
    command: IgnoredAny,
    config_digest: String,
    program_version: IgnoredAny,
    build: IgnoredAny,
    transport: IgnoredAny,
    processes: IgnoredAny,
    threads_per_process: IgnoredAny,
    hosts: IgnoredAny,
    processor: IgnoredAny,
    started: IgnoredAny,
    finished: IgnoredAny,
    settings: DistinctKeys,
    shards: IgnoredAny,
    resumes: IgnoredAny,
    seconds: IgnoredAny,
    #[serde(default)]
    commits: Option<Commits>,
    bytes_exchanged: IgnoredAny,
    levels: Vec<LevelCost>,
    #[serde(default)]
    rechecks: Vec<Recheck>,
    #[serde(default)]
    spot_solves: Vec<SpotSolve>,
    #[serde(default)]
    certificates: Vec<RecordedCertificate>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that only inform are listed so that unknown ones are refused")]
struct Commits {
    number: IgnoredAny,
    bytes: IgnoredAny,
    seconds: IgnoredAny,
    longest_seconds: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that only inform are listed so that unknown ones are refused")]
struct LevelCost {
    depth: u64,
    expansion: IgnoredAny,
    seconds: IgnoredAny,
    bytes_exchanged: IgnoredAny,
    #[serde(default)]
    bytes_received: IgnoredAny,
    waited_seconds: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that only inform are listed so that unknown ones are refused")]
struct Recheck {
    difference: Option<String>,
    date: IgnoredAny,
    program_version: IgnoredAny,
    transport: IgnoredAny,
    processes: IgnoredAny,
    threads_per_process: IgnoredAny,
    shards: IgnoredAny,
    expansions: IgnoredAny,
    generators: IgnoredAny,
    seconds: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that only inform are listed so that unknown ones are refused")]
struct SpotSolve {
    difference: Option<String>,
    states: IgnoredAny,
    deepest: IgnoredAny,
    too_large: IgnoredAny,
    date: IgnoredAny,
    program_version: IgnoredAny,
    seconds: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that only inform are listed so that unknown ones are refused")]
struct RecordedCertificate {
    file: String,
    sha256: String,
    checker: IgnoredAny,
    date: IgnoredAny,
    commands: IgnoredAny,
}

/// An object with any keys, each of them once.
struct DistinctKeys;

impl<'de> Deserialize<'de> for DistinctKeys {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = DistinctKeys;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<DistinctKeys, M::Error> {
                let mut known = BTreeSet::new();
                while let Some((key, IgnoredAny)) = map.next_entry::<String, IgnoredAny>()? {
                    if !known.insert(key) {
                        return Err(M::Error::custom("duplicate key"));
                    }
                }
                Ok(DistinctKeys)
            }
        }
        input.deserialize_map(Keys)
    }
}

fn read<T: for<'de> Deserialize<'de>>(folder: &Path, name: &str, limits: &Limits) -> Checked<T> {
    let text = sources::text(folder, name, limits)?;
    let refuse = |found: &str| unreadable(shown_path(&folder.join(name)), shown(found), "JSON with the keys of a run, each once");
    let facts = serde_json::from_str(&text).map_err(|error| refuse(&error.to_string()))?;
    // The parser would also take a list of values in the right order for an object. It has no keys,
    // so it is refused here.
    let value: Value = serde_json::from_str(&text).map_err(|error| refuse(&error.to_string()))?;
    let lists = ["levels", "rechecks", "spot_solves", "certificates"].into_iter().filter_map(|key| value.get(key)?.as_array());
    if value.is_object() && lists.flatten().all(Value::is_object) { Ok(facts) } else { Err(refuse("a list without keys")) }
}

impl Summary {
    pub fn read(folder: &Path, limits: &Limits) -> Checked<Self> {
        read(folder, "summary.json", limits)
    }
}

/// The label that the records and files of the run support, in words. Refutes a stated label that
/// its own records contradict. `levels` is how many levels the run has.
pub fn label(folder: &Path, levels: usize, limits: &Limits) -> Checked<String> {
    let manifest: Manifest = read(folder, "manifest.json", limits)?;
    let place = shown_path(&folder.join("manifest.json"));
    if !manifest.levels.iter().map(|level| level.depth).eq(0..wide(levels)) {
        return Err(refuted(place, "other levels", "those of distribution.tsv, each once"));
    }
    let config = blake3::hash(sources::text(folder, "run.toml", limits)?.as_bytes()).to_hex();
    if manifest.config_digest != config.as_str() {
        return Err(refuted(place, format!("config_digest {}", shown(&manifest.config_digest)), format!("{config}, that of run.toml")));
    }
    let differences =
        manifest.rechecks.iter().map(|recheck| &recheck.difference).chain(manifest.spot_solves.iter().map(|solve| &solve.difference));
    let difference = differences.flatten().next();
    let repeated = if manifest.rechecks.is_empty() { "single run" } else { "rechecked" };
    let recorded = match difference {
        Some(_) => "disputed",
        None if manifest.certificates.is_empty() => repeated,
        None => "certified",
    };
    let stated = manifest.evidence.as_deref().unwrap_or("single run");
    if stated != recorded {
        return Err(refuted(place, format!("the label {}", shown(stated)), format!("\"{recorded}\", which its records deserve")));
    }
    if let Some(difference) = difference {
        return Ok(format!("disputed: {}", shown(difference)));
    }
    let mut is_here = false;
    for certificate in &manifest.certificates {
        if certificate.file != "distance.cert" {
            return Err(refuted(
                place,
                format!("a certificate {}", shown(&certificate.file)),
                "distance.cert, the one kind that a run has",
            ));
        }
        if folder.join("distance.cert").symlink_metadata().is_err() {
            continue;
        }
        let found = sha256(&sources::own(folder, "distance.cert")?, limits)?;
        if certificate.sha256 != found {
            let found = format!("a certificate of SHA-256 {}", shown(&certificate.sha256));
            return Err(refuted(place, found, "that of distance.cert in this folder"));
        }
        is_here = true;
    }
    Ok(match (manifest.certificates.is_empty(), is_here) {
        (true, _) => repeated.into(),
        (false, true) => "certified".into(),
        (false, false) => format!("{repeated} (the manifest speaks of a certificate that is not here)"),
    })
}
