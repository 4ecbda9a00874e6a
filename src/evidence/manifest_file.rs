//! `manifest.json`: how a run was made, and how far its numbers were checked.
//!
//! The label follows from what is recorded, and from whether it is still there (`label.rs`). A run
//! starts as *single run*. One equal recheck makes it *rechecked*, a verified distance certificate
//! *certified*. A recheck that found another number makes it *disputed*, whatever else is there:
//! two searches contradict each other, one of them is wrong, and no later recheck decides which.
//! Only a new run (`--resume never --force`) starts afresh.

use crate::search::progress::Commits;
use crate::search::{LevelRecord, Outcome};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// How far the numbers of a run were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Evidence {
    /// By the guards of the run itself.
    #[default]
    #[serde(rename = "single run")]
    SingleRun,
    /// By a second search in another way, with equal results.
    #[serde(rename = "rechecked")]
    Rechecked,
    /// By a distance certificate.
    #[serde(rename = "certified")]
    Certified,
    /// A second search found something else.
    #[serde(rename = "disputed")]
    Disputed,
}

impl fmt::Display for Evidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SingleRun => "single run",
            Self::Rechecked => "rechecked",
            Self::Certified => "certified",
            Self::Disputed => "disputed",
        })
    }
}

/// A search that repeated a run in another way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recheck {
    /// The first difference in words; `None` when all levels and antipodes are equal.
    pub difference: Option<String>,
    /// When it ended, in UTC.
    pub date: String,
    /// Version of the program.
    pub program_version: String,
    /// The transport between processes.
    pub transport: String,
    /// Processes.
    pub processes: u32,
    /// Threads of each process.
    pub threads_per_process: u64,
    /// Number of shards.
    pub shards: u32,
    /// How levels were expanded.
    pub expansions: Vec<String>,
    /// The generators' names in the order in which they were applied.
    pub generators: Vec<String>,
    /// Seconds of all its sessions.
    pub seconds: f64,
}

/// Sampled states of a run, solved from both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpotSolve {
    /// The first state whose shortest word has another length, in words; `None` when there is none.
    pub difference: Option<String>,
    /// States that are as deep as the run says.
    pub states: u64,
    /// The greatest depth among them.
    pub deepest: u32,
    /// States that were too far for the memory.
    pub too_large: u64,
    /// When it ended, in UTC.
    pub date: String,
    /// Version of the program.
    pub program_version: String,
    /// Seconds it took.
    pub seconds: f64,
}

/// A certificate of the run that the checker verified. The certificate names the digests of the
/// archive's files, so its own digest stands for all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerifiedCertificate {
    /// Its name in the run folder.
    pub file: String,
    /// Its digest.
    pub sha256: String,
    /// The checker and its version.
    pub checker: String,
    /// When it was verified, in UTC.
    pub date: String,
    /// The commands that make the archive and the certificate again, and check it.
    pub commands: Vec<String>,
}

/// How a run was made, as in `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The command line of the last session.
    pub command: Vec<String>,
    /// blake3 of `run.toml`.
    pub config_digest: String,
    /// Version of the program.
    pub program_version: String,
    /// Compiler that built it, and its features.
    pub build: String,
    /// The transport between processes.
    pub transport: String,
    /// Processes of the last session.
    pub processes: u32,
    /// Threads of each process.
    pub threads_per_process: u64,
    /// Host of each process.
    pub hosts: Vec<String>,
    /// The first process's processor.
    pub processor: String,
    /// When the last session started and the run ended, in UTC.
    pub started: String,
    /// See `started`.
    pub finished: String,
    /// Settings that define the run's cut of the space.
    pub settings: BTreeMap<String, String>,
    /// Number of shards.
    pub shards: u32,
}

/// The whole of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestFile {
    /// How far the numbers were checked.
    #[serde(default)]
    pub evidence: Evidence,
    /// How the run was made.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// How often it went on from a checkpoint.
    pub resumes: u32,
    /// Seconds of all sessions.
    pub seconds: f64,
    /// The commits of the last session; none in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<Commits>,
    /// Bytes sent between processes.
    pub bytes_exchanged: u64,
    /// What each level cost.
    pub levels: Vec<LevelCost>,
    /// The searches that repeated this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rechecks: Vec<Recheck>,
    /// Sampled states that were solved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spot_solves: Vec<SpotSolve>,
    /// Certificates that were verified, by path in the run folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<VerifiedCertificate>,
}

/// What the expansion of a level cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelCost {
    /// Its depth.
    pub depth: u32,
    /// How it was expanded.
    pub expansion: String,
    /// Seconds.
    pub seconds: f64,
    /// Bytes sent between processes.
    pub bytes_exchanged: u64,
    /// Bytes that all processes together received for it; 0 in files of earlier versions.
    #[serde(default)]
    pub bytes_received: u64,
    /// Seconds the first process waited for others.
    pub waited_seconds: f64,
}

impl ManifestFile {
    /// The manifest of a run that has just found everything.
    #[must_use]
    pub fn of_run(provenance: Provenance, outcome: &Outcome) -> Self {
        let cost = |level: &LevelRecord| LevelCost {
            depth: level.depth.0,
            expansion: level.expansion.clone(),
            seconds: level.seconds,
            bytes_exchanged: level.bytes_exchanged,
            bytes_received: level.bytes_received,
            waited_seconds: level.waited_seconds,
        };
        Self {
            evidence: Evidence::SingleRun,
            provenance,
            resumes: outcome.resumes,
            seconds: outcome.seconds,
            commits: Some(outcome.commits),
            bytes_exchanged: outcome.bytes_exchanged,
            levels: outcome.levels.iter().map(cost).collect(),
            rechecks: Vec::new(),
            spot_solves: Vec::new(),
            certificates: Vec::new(),
        }
    }

    /// The label by what is recorded alone, which is the one that the file states.
    #[must_use]
    pub fn recorded(&self) -> Evidence {
        self.label(!self.certificates.is_empty())
    }

    /// The label of a run that is certified, or is not, unless a check that is recorded outranks
    /// that.
    #[must_use]
    pub fn label(&self, is_certified: bool) -> Evidence {
        let is_disputed = self.rechecks.iter().any(|recheck| recheck.difference.is_some())
            || self.spot_solves.iter().any(|solve| solve.difference.is_some());
        if is_disputed {
            Evidence::Disputed
        } else if is_certified {
            Evidence::Certified
        } else if !self.rechecks.is_empty() {
            Evidence::Rechecked
        } else {
            Evidence::SingleRun
        }
    }
}
