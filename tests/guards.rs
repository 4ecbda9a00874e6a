//! Each run-time guard fires on the fault it is for: exit code 70, one line that names the
//! invariant, nothing published; and a run without the fault ends with the right bytes.
//!
//! Faults come in two ways. Fault points spoil data in the running program
//! (`FARTHEST_FAULT=NAME:N:damage`). What they cannot reach is put into a checkpoint that is whole
//! and consistent in itself but lies about the search: such as a broken program would have written.

mod common;

use common::disturb::{damage_points, fail_with, fault, generations, only_line, scratch};
use common::needs::{Need, test_lacks};
use common::{farthest, farthest_under, mpirun, outcome, result_bytes, succeed};
use farthest::base::fingerprint::of_sorted_ranks;
use farthest::base::ids::to_u64;
use farthest::base::{Depth, ShardId, StateRank};
use farthest::families::run_config::RunConfig;
use farthest::puzzle::{Puzzle, State};
use farthest::ranking::StateSpace;
use farthest::search::LevelRecord;
use farthest::search::checkpoint::manifest::{CheckpointManifest, PackFile};
use farthest::store::pack_entry::SetName;
use farthest::store::{Contents, Edges, LevelPart, PackEntry, PackWriter};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The guards that may fire for each fault point, as their messages say: by states, by lanes, and
/// by the unseen.
const GUARDS: [(&str, &[&str]); 5] = [
    (
        "drop-message",
        &["received and sent", "words of a message of lanes", "bits of lanes that another process sent", "words of answers from process"],
    ),
    ("skip-shard", &["frontier states expanded", "ranks of the lanes pulled", "words of a message of lanes: found too many"]),
    ("next-bits", &["and states accepted into it"]),
    ("frontier-state", &["fingerprint of the states expanded from level"]),
    ("lane-source", &["sampled states", "up, counted and sampled"]),
];

/// Points of [`GUARDS`] whose damage only the end of a search shows, or nothing but a wasted run.
const LATE: [&str; 1] = ["seen-bits"];

/// How a search expands, and with how many participants a fault can happen there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alone {
    /// With any number.
    Too,
    /// Only with several: one process sends nothing.
    Not,
}

/// What is missing, too long, altered or at the wrong process in a message that a search reads: it
/// must end at once or at the end of the level, with exactly this error. The point, how the search
/// expands, the pass that is damaged, and a part of the message.
const MESSAGES: [(&str, &str, Alone, u64, &str); 27] = [
    ("drop-answer", UNSEEN, Alone::Too, 4, "words of answers from process"),
    ("long-answer", UNSEEN, Alone::Too, 4, "words of answers from process"),
    ("flip-answer", UNSEEN, Alone::Too, 4, "answers about level"),
    ("swap-answers", UNSEEN, Alone::Too, 160, "answers about level"),
    ("foreign-question", UNSEEN, Alone::Too, 4, "rank that was asked for at process"),
    ("foreign-state", UNSEEN, Alone::Too, 4, "new state at process"),
    ("foreign-state", STATES, Alone::Too, 4, "successor that arrived at process"),
    ("lost-state", UNSEEN, Alone::Too, 1, "with a neighbour in no level up to"),
    ("false-state", UNSEEN, Alone::Too, 30, "with no neighbour in level"),
    ("lost-edge", UNSEEN, Alone::Too, 1, "up, counted and sampled"),
    ("spot-answer", UNSEEN, Alone::Too, 3, "answers about sampled neighbours from process"),
    ("spot-answer", LANES, Alone::Too, 3, "answers about sampled neighbours from process"),
    ("cut-source", LANES, Alone::Too, 4, "bytes of what is seen of part"),
    ("blank-view", LANES, Alone::Not, 4, "form of what is seen of shard"),
    ("drop-message", STATES, Alone::Too, 20, "invariant broken: successors of level"),
    ("alter-message", STATES, Alone::Too, 20, "mixed sum of the successors of level"),
    ("seen-bits", STATES, Alone::Too, 4, "states held by a set of shard"),
    ("drop-start", STATES, Alone::Too, 1, "start states in the shards of all processes: found 0, expected 1"),
    ("drop-view", LANES, Alone::Not, 4, "words about shards in shared memory from process"),
    ("flip-view", LANES, Alone::Not, 1, "form of what is seen of shard"),
    ("short-lanes", LANES_APART, Alone::Not, 6, "bits of lanes that another process sent"),
    ("long-lanes", LANES_APART, Alone::Not, 6, "words of a message of lanes: found too many"),
    ("shift-sample", STATES, Alone::Too, 1, "sampled states that are in level 0"),
    ("drop-antipode", STATES, Alone::Too, 1, "listed antipodes: found"),
    ("repeat-antipode", STATES, Alone::Too, 1, "rank of a listed antipode: found"),
    ("shift-antipode", STATES, Alone::Too, 1, "listed antipodes that are in level"),
    ("drop-entry", STATES, Alone::Not, 1, "words of pack entries from process"),
];

/// Points of the table that a search is not meant to pass, by how it expands.
const NOT_BY_STATES: &[&str] = &["lane-source"];
const NOT_BY_LANES: &[&str] = &["frontier-state"];
/// Alone, and with processes that read each other's memory, there are no messages.
const NOT_BY_SHARED_LANES: &[&str] = &["frontier-state", "drop-message"];
const NOT_BY_UNSEEN: &[&str] = &["frontier-state", "lane-source", "skip-shard"];

fn run(puzzle: &str, folder: &Path, more: &[&str]) -> Command {
    let mut command = farthest();
    command.args(["run", puzzle, "--checkpoint-seconds", "0", "--quiet", "--out"]).arg(folder).args(more);
    command
}

/// Checks that one of these guards ended the run in the folder, and that nothing was published.
fn check_broken(stderr: &str, guards: &[&str], folder: &Path, context: &str) {
    // A warning may say what becomes of the checkpoint; the error is one line.
    let errors: Vec<&str> = stderr.lines().filter(|line| !line.starts_with(" WARN the checkpoint of level")).collect();
    let errors = errors.join("\n");
    let line = only_line(&errors);
    assert!(line.starts_with("farthest: ") && line.contains("invariant broken: "), "{context}: {line}");
    assert!(guards.iter().any(|guard| line.contains(guard)), "{context}: expected one of {guards:?}, found {line}");
    assert!(line.contains("nothing was published"), "{context}: {line}");
    for name in ["summary.json", "distribution.tsv", "SHA256SUMS"] {
        assert!(!folder.join(name).exists(), "{context}: {name} was published");
    }
}

/// Writes a configuration with these search settings.
fn write_config(folder: &Path, puzzle: &str, search: &str) -> String {
    let path = folder.join("config.toml");
    fs::write(&path, format!("puzzle = \"{puzzle}\"\n[search]\n{search}\n")).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

const STATES: &str = "expansion = \"states\"";
const UNSEEN: &str = "expansion = \"unseen\"";
const LANES: &str = "expansion = \"lanes\"";
/// Lanes of processes that send them to each other, as on several hosts.
const LANES_APART: &str = "expansion = \"lanes\"\nshare_memory = false";

/// Damages the data of a search at every pass of every data point: either a guard fires, or the
/// damage changed nothing. `unused` are the points that this way to search does not pass with data.
fn sweep(puzzle: &str, settings: &str, flags: &[&str], last_pass: u64, unused: &[&str]) {
    let folder = scratch();
    let config = &write_config(folder.path(), puzzle, settings);
    let how = settings.replace('\n', ", ");
    let reference = folder.path().join("reference");
    succeed(&mut run(config, &reference, &["--threads", "1"]));
    let reference = result_bytes(&reference);
    for (point, guards) in GUARDS.into_iter().chain(LATE.map(|point| (point, [""].as_slice()))) {
        let mut fired = 0;
        for pass in 1..=last_pass {
            // This one is passed once a level and process, the others in every round or shard.
            let pass = if point == "lane-source" { 3 * pass } else { pass };
            let path = folder.path().join(format!("{point}-{pass}"));
            let context = format!("{puzzle} {how} {flags:?} FARTHEST_FAULT={point}:{pass}:damage");
            let (code, stdout, stderr) = outcome(fault(&mut run(config, &path, flags), point, pass, "damage"));
            if code == 70 {
                fired += 1;
                check_broken(&stderr, guards, &path, &context);
                // The points of the table are noticed in the level they spoil, before it is
                // committed. What is noticed later may be in the newest generations: then the guard
                // fires once more in a resumed run, which gives them up.
                if guards == [""] {
                    let code = outcome(&mut run(config, &path, &["--threads", "1"])).0;
                    assert!([0, 70].contains(&code), "{context}: resumed with exit code {code}");
                }
                succeed(&mut run(config, &path, &["--participants", "2", "--threads", "1"]));
            } else {
                assert_eq!(code, 0, "{context}\n{stdout}\n{stderr}");
            }
            assert_eq!(result_bytes(&path), reference, "{context} (exit code {code})");
            fs::remove_dir_all(&path).expect("removable");
        }
        eprintln!("{puzzle} {how} {flags:?} {point}: fired {fired} times in {last_pass} passes");
        assert!(fired >= 3 || guards == [""] || unused.contains(&point), "{point}: a guard fired {fired} times");
    }
}

/// A new fault point joins one of the tables.
#[test]
fn every_fault_point_is_in_a_table() {
    let known: BTreeSet<String> =
        GUARDS.iter().map(|row| row.0).chain(LATE).chain(MESSAGES.iter().map(|row| row.0)).map(str::to_owned).collect();
    assert_eq!(damage_points(), known);
}

/// The puzzle to spoil: one with many rounds, with several antipodes, or with one shard.
fn puzzle_for(point: &str) -> &'static str {
    match point {
        // Every level changes its only shard.
        "seen-bits" => "turnstyle-5",
        _ if point.ends_with("antipode") => "pancake-7",
        _ => "turnstyle-8",
    }
}

/// Nothing that is missing is read as zero, as none or as unseen: for one process and for several
/// participants.
#[test]
fn a_message_that_is_cut_altered_or_misdirected_ends_the_search() {
    for (point, settings, alone, pass, guard) in MESSAGES.into_iter().filter(|row| row.0 != "drop-entry") {
        let folder = scratch();
        let config = &write_config(folder.path(), puzzle_for(point), &format!("{settings}\nround_kib = 64"));
        let reference = folder.path().join("reference");
        succeed(&mut run(config, &reference, &["--threads", "1"]));
        for flags in [["--threads", "1"], ["--threads", "2"], ["--participants", "2"], ["--participants", "3"]] {
            if alone == Alone::Not && flags[0] == "--threads" {
                continue;
            }
            let context = format!("{settings} {flags:?} FARTHEST_FAULT={point}:{pass}:damage");
            let path = folder.path().join(flags.concat());
            let stderr = fail_with(70, fault(&mut run(config, &path, &flags), point, pass, "damage"));
            check_broken(&stderr, &[guard], &path, &context);
            succeed(&mut run(config, &path, &["--participants", "2", "--threads", "1"]));
            assert_eq!(result_bytes(&path), result_bytes(&reference), "{context}");
        }
    }
}

/// The levels that most samples see only in part: a state of level 20 is lost, and none of its
/// neighbours is in the sample of level 19. What is left behind level 20 is few and looked at
/// whole.
#[test]
fn a_state_that_is_lost_is_noticed_among_those_that_are_left() {
    let folder = scratch();
    let config = &write_config(folder.path(), "turnstyle-8", &format!("{UNSEEN}\nround_kib = 64"));
    let path = folder.path().join("run");
    let stderr = fail_with(70, fault(&mut run(config, &path, &["--threads", "1"]), "lost-state", 203, "damage"));
    check_broken(&stderr, &["sampled states behind level 20 with a neighbour in a level up to 19: found 1"], &path, "lost-state");
}

/// The same in one of several MPI processes, whichever it is: all end, in one line.
#[test]
fn a_message_that_is_damaged_in_one_mpi_process_ends_all() {
    if test_lacks(Need::Mpi) {
        return;
    }
    for (number, (point, settings, _, pass, guard)) in MESSAGES.into_iter().filter(|row| row.0 != "drop-entry").enumerate() {
        let folder = scratch();
        let config = &write_config(folder.path(), puzzle_for(point), &format!("{settings}\nround_kib = 64"));
        let path = folder.path().join(point);
        let mut command = mpirun(3);
        command.args(["run", config, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(&path);
        // The first process has the start and the only shard, and lists the antipodes.
        let process =
            if point.ends_with("antipode") || ["shift-sample", "drop-start", "seen-bits"].contains(&point) { 0 } else { number % 3 };
        command.env("FARTHEST_FAULT_PROCESS", process.to_string());
        // A process passes its own points only, of which there are fewer.
        let pass = pass.div_ceil(3);
        let stderr = fail_with(70, fault(&mut command, point, pass, "damage"));
        let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("invariant broken")).collect();
        check_broken(&lines.join("\n"), &[guard], &path, &format!("{settings} process {process} FARTHEST_FAULT={point}:{pass}:damage"));
    }
}

/// An entry of a checkpoint that is cut on its way from another host's disk is no damage of the
/// checkpoint: nothing is given up, and the next resume goes on.
#[test]
fn an_entry_that_is_cut_on_its_way_costs_no_checkpoint() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let search = format!("{STATES}\nshared_filesystem = false\nleading_positions = 1");
    let config = &write_config(folder.path(), "turnstyle-8", &search);
    let reference = folder.path().join("reference");
    succeed(&mut run(config, &reference, &["--threads", "1"]));
    let program = env!("CARGO_BIN_EXE_farthest");
    // One process on each of two folders, the first in the one that is named first.
    let on_two_disks = |disks: [&str; 2]| {
        let words = ["run", config, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out", "run"];
        let wdirs = disks.map(|disk| folder.path().join(disk));
        wdirs.iter().for_each(|wdir| fs::create_dir_all(wdir).expect("created"));
        let wdirs = wdirs.map(|wdir| wdir.to_str().expect("UTF-8").to_owned());
        let mut line = vec!["mpirun", "-n", "1", "--wdir", &wdirs[0], program];
        line.extend(words);
        line.extend([":", "-n", "1", "--wdir", &wdirs[1]]);
        let mut command = farthest_under(&line, Path::new(program));
        command.args(words).env("TMPDIR", folder.path()).env("FARTHEST_FAULT_PROCESS", "0");
        command
    };
    let (code, _, stderr) = outcome(fault(&mut on_two_disks(["a", "b"]), "after-commit", 4, "kill"));
    assert_ne!(code, 0, "{stderr}");
    let before = generations(&folder.path().join("a/run"));
    assert!(!before.is_empty());
    let (point, _, _, pass, guard) = MESSAGES[26];
    let stderr = fail_with(70, fault(&mut on_two_disks(["b", "a"]), point, pass, "damage"));
    assert!(stderr.contains(guard) && stderr.contains("nothing was published"), "{stderr}");
    assert_eq!(generations(&folder.path().join("a/run")), before);
    let (code, _, stderr) = outcome(&mut on_two_disks(["b", "a"]));
    assert_eq!(code, 0, "{stderr}");
    let complete = ["a", "b"].map(|disk| folder.path().join(disk).join("run")).into_iter().find(|run| run.join("SHA256SUMS").exists());
    assert_eq!(result_bytes(&complete.expect("published")), result_bytes(&reference));
}

#[test]
fn data_damaged_while_states_are_expanded_never_give_another_result() {
    sweep("turnstyle-6", STATES, &["--threads", "1"], 30, NOT_BY_STATES);
    sweep("turnstyle-7", STATES, &["--threads", "2"], 20, NOT_BY_STATES);
    sweep("turnstyle-7", STATES, &["--participants", "3"], 30, NOT_BY_STATES);
    sweep("pancake-7", STATES, &["--participants", "2"], 12, NOT_BY_STATES);
}

/// Without inverses no edges balance: an altered state is known by the fingerprint of what was
/// expanded.
#[test]
fn data_damaged_in_a_directed_search_never_give_another_result() {
    let folder = scratch();
    let path = folder.path().join("directed.toml");
    fs::write(&path, definition(&["(0 1 2 3 4)", "(0 1)"])).expect("written");
    let path = path.to_str().expect("UTF-8");
    sweep(path, STATES, &["--threads", "1"], 20, NOT_BY_STATES);
    sweep(path, STATES, &["--participants", "2"], 20, NOT_BY_STATES);
}

#[test]
fn data_damaged_while_lanes_are_pulled_never_give_another_result() {
    sweep("turnstyle-8", LANES, &["--threads", "1"], 6, NOT_BY_SHARED_LANES);
    sweep("turnstyle-8", LANES, &["--participants", "3"], 8, NOT_BY_SHARED_LANES);
    sweep("turnstyle-8", LANES_APART, &["--participants", "3"], 8, NOT_BY_LANES);
    sweep("turnstyle-8", LANES_APART, &["--participants", "2", "--threads", "2"], 6, NOT_BY_LANES);
}

/// The sample of a level is the same for any number of processes, and its guard fires in the middle
/// of a search, too, where levels are larger than the sample.
#[test]
fn lanes_left_out_of_a_large_level_are_noticed_by_the_sample() {
    let folder = scratch();
    let config = &write_config(folder.path(), "turnstyle-9", LANES);
    let mut lines = Vec::new();
    for (number, pass) in [(1, 14), (2, 14), (1, 26), (2, 26)] {
        let path = folder.path().join(format!("run-{number}-{pass}"));
        let threads = number.to_string();
        let stderr = fail_with(70, fault(&mut run(config, &path, &["--threads", &threads]), "lane-source", pass, "damage"));
        check_broken(&stderr, &["sampled states of level"], &path, "lane-source");
        lines.push(stderr);
    }
    assert_eq!((&lines[0], &lines[2]), (&lines[1], &lines[3]));
    assert_ne!(lines[0], lines[2]);
}

#[test]
fn data_damaged_while_the_unseen_ask_never_give_another_result() {
    sweep("turnstyle-7", UNSEEN, &["--threads", "1"], 20, NOT_BY_UNSEEN);
    sweep("turnstyle-7", UNSEEN, &["--participants", "3"], 20, NOT_BY_UNSEEN);
}

/// Sets turn into bits in larger shards, and words are damaged there in another way than lists.
#[test]
fn damaged_bits_are_noticed() {
    let folder = scratch();
    for pass in [400, 700] {
        let path = folder.path().join(format!("run-{pass}"));
        let stderr = fail_with(70, fault(&mut run("turnstyle-8", &path, &["--threads", "2"]), "next-bits", pass, "damage"));
        check_broken(&stderr, &["states held by the new level of shard"], &path, "next-bits");
    }
}

#[test]
fn a_guard_that_fires_in_one_mpi_process_ends_all_in_one_line() {
    if test_lacks(Need::Mpi) {
        return;
    }
    let folder = scratch();
    let config = &write_config(folder.path(), "turnstyle-8", LANES_APART);
    let reference = folder.path().join("reference");
    succeed(&mut run(config, &reference, &[]));
    for (number, (point, guards)) in GUARDS.iter().filter(|(point, _)| *point != "frontier-state").enumerate() {
        let path = folder.path().join(point);
        let mut command = mpirun(3);
        command.args(["run", config, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(&path);
        command.env("FARTHEST_FAULT_PROCESS", (number % 3).to_string());
        let stderr = fail_with(70, fault(&mut command, point, 10, "damage"));
        let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("invariant broken")).collect();
        check_broken(&lines.join("\n"), guards, &path, point);
        let mut command = mpirun(2);
        succeed(command.args(["run", config, "--checkpoint-seconds", "0", "--quiet", "--threads", "1", "--out"]).arg(&path));
        assert_eq!(result_bytes(&path), result_bytes(&reference), "{point}");
    }
}

/// A small puzzle whose 120 ranks are one shard, with a run that was killed behind its first
/// commit; its checkpoint is then replaced.
struct Lie {
    folder: tempfile::TempDir,
    config: String,
    puzzle: Puzzle,
    expected: BTreeMap<String, Vec<u8>>,
}

impl Lie {
    fn new(definition: &str) -> Self {
        Self::searched(definition, "")
    }

    /// With these search settings.
    fn searched(definition: &str, search: &str) -> Self {
        let folder = scratch();
        let path = folder.path().join("puzzle.toml");
        fs::write(&path, definition).expect("written");
        let config = path.to_str().expect("UTF-8").to_owned();
        let config = if search.is_empty() { config } else { write_config(folder.path(), &config, search) };
        // As it is searched: of a directed puzzle towards the solved state.
        let puzzle = RunConfig::load(&path).and_then(|mut config| config.settle()).expect("valid");
        let complete = folder.path().join("complete");
        succeed(&mut run(&config, &complete, &[]));
        let lie = Self { folder, config, puzzle, expected: result_bytes(&complete) };
        fail_with(-1, fault(&mut run(&lie.config, &lie.path(), &["--threads", "1"]), "generation-create", 2, "kill"));
        assert_eq!(generations(&lie.path()), [1]);
        lie
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn start(&self) -> State {
        self.puzzle.starts()[0].clone()
    }

    /// The state that the generators of `word` lead to from the start.
    fn state(&self, word: &[usize]) -> State {
        word.iter().fold(self.start(), |state, &generator| self.puzzle.apply(generator, &state))
    }

    /// A state that the group does not have.
    fn foreign(&self) -> State {
        let mut reached = vec![self.start()];
        let mut next = 0;
        while next < reached.len() {
            for generator in 0..self.puzzle.generators() {
                let state = self.puzzle.apply(generator, &reached[next]);
                if !reached.contains(&state) {
                    reached.push(state);
                }
            }
            next += 1;
        }
        let space = StateSpace::of(&self.puzzle);
        (0..).map(|rank| space.unrank(StateRank(rank))).find(|state| !reached.contains(state)).expect("a larger space")
    }

    fn ranks(&self, states: &[State]) -> Vec<u64> {
        let space = StateSpace::of(&self.puzzle);
        let mut ranks: Vec<u64> = states.iter().map(|state| space.rank(state).0).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// Replaces the newest generation by one with these levels; the last one is the frontier. `up`
    /// are the edges up from each level.
    fn tell(&self, levels: &[Vec<State>], up: &[u64]) {
        let checkpoint = self.path().join("checkpoint");
        let old = checkpoint.join("manifest-000001");
        let mut manifest = CheckpointManifest::decode(&fs::read(&old).expect("readable"), &old).expect("whole");
        assert_eq!(manifest.identity.partition.shards(), 1);
        fs::remove_dir_all(&checkpoint).expect("removable");
        let level_ranks: Vec<Vec<u64>> = levels.iter().map(|level| self.ranks(level)).collect();
        let mut seen = level_ranks.concat();
        seen.sort_unstable();
        manifest.levels = level_ranks
            .iter()
            .zip(0..)
            .map(|(ranks, depth)| {
                let part = LevelPart { states: to_u64(ranks.len()), fingerprint: of_sorted_ranks(ranks.iter().copied()) };
                LevelRecord::new(Depth(depth), part)
            })
            .collect();
        for (level, &up) in manifest.levels.iter_mut().zip(up) {
            level.edges = Some(Edges { down: 0, same: 0, up });
        }
        manifest.samples.resize(levels.len(), Vec::new());
        let depth = levels.len() - 1;
        let path = format!("gen-{depth:06}/told.pack");
        fs::create_dir_all(checkpoint.join(&path).parent().expect("a folder")).expect("created");
        let mut writer = PackWriter::create(&checkpoint.join(&path)).expect("created");
        for (name, list) in [(SetName::Seen, seen), (SetName::Level, level_ranks[depth].clone())] {
            let (entry, stored) = PackEntry::encode(ShardId(0), name, to_u64(list.len()), &Contents::Sparse(list.into()));
            writer.add(entry, &stored).expect("written");
        }
        let (entries, bytes) = writer.finish().expect("written");
        manifest.packs = vec![PackFile { path, bytes }];
        manifest.entries = entries.into_iter().map(|entry| (0, entry)).collect();
        fs::write(checkpoint.join(format!("manifest-{depth:06}")), manifest.encode().expect("small")).expect("written");
    }

    /// Resumes: the guard must fire, the run that met it gives the checkpoint up and says so, and
    /// the next resume starts anew with the right bytes. Where the fault shows late
    /// (`first_levels_pass`), a resume from newer checkpoints must meet it again first.
    fn check(&self, guard: &str, first_levels_pass: bool) {
        let mut given_up = None;
        for attempt in 0..1 + u32::from(first_levels_pass) {
            let stderr = fail_with(70, &mut run(&self.config, &self.path(), &["--threads", "1"]));
            check_broken(&stderr, &[guard], &self.path(), guard);
            let note = stderr.lines().find(|line| line.contains("may hold the fault and is set aside")).map(str::to_owned);
            assert!(attempt > 0 || note.is_some() != first_levels_pass, "{stderr}");
            given_up = note;
        }
        let note = given_up.unwrap_or_else(|| panic!("{guard}: nothing was set aside"));
        assert!(note.ends_with("the next resume starts anew"), "{note}");
        assert_eq!(generations(&self.path()), [0_u32; 0]);
        succeed(farthest().arg("resume").arg(self.path()).args(["--participants", "2", "--quiet"]));
        assert_eq!(result_bytes(&self.path()), self.expected);
    }
}

/// Generators as cycles on five positions, without their inverses.
fn definition(cycles: &[&str]) -> String {
    let mut text = "family = \"permutations\"\nname = \"toy\"\npositions = 5\n".to_owned();
    for (number, cycles) in cycles.iter().enumerate() {
        text += &format!("[[generators]]\nname = \"G{number}\"\ncycles = \"{cycles}\"\n");
    }
    text
}

/// The cyclic group of order 6, by a generator and its square: not closed under inverses, and
/// without a rule for signs.
fn cyclic() -> String {
    definition(&["(0 1 2)(3 4)", "(0 2 1)"])
}

#[test]
fn an_honest_checkpoint_of_our_own_making_is_accepted() {
    let lie = Lie::new(&cyclic());
    lie.tell(&[vec![lie.start()], vec![lie.state(&[0]), lie.state(&[1])]], &[2]);
    succeed(&mut run(&lie.config, &lie.path(), &[]));
    // The levels' edges are as told, so only the counts and what follows from them are the same.
    for name in ["distribution.tsv", "antipodes.tsv", "summary.json"] {
        assert_eq!(result_bytes(&lie.path())[name], lie.expected[name], "{name}");
    }
}

#[test]
fn a_search_that_misses_states_is_noticed_at_its_end() {
    let lie = Lie::new(&cyclic());
    // The fifth power leads to nothing new: the third and fourth are never found.
    lie.tell(&[vec![lie.start()], vec![lie.state(&[0]), lie.state(&[1])], vec![lie.state(&[0, 0, 0, 0, 0])]], &[2, 1]);
    lie.check("sum of all levels and the number of states from the group's order: found 4, expected 6", false);
}

#[test]
fn more_states_than_the_group_has_are_noticed() {
    // The group of order 20 on five points, which has odd and even states at every depth.
    let lie = Lie::new(&definition(&["(0 1 2 3 4)", "(1 2 4 3)"]));
    lie.tell(&[vec![lie.start()], vec![lie.state(&[0]), lie.state(&[1]), lie.foreign()]], &[2]);
    lie.check("expected at most 20, the number the group's order promises", false);
}

#[test]
fn a_state_of_the_wrong_sign_is_noticed() {
    // All generators odd: the states of level 1 are odd.
    let odd = Lie::new(&definition(&["(0 1 2 3)", "(3 4)"]));
    odd.tell(&[vec![odd.start()], vec![odd.state(&[0]), odd.state(&[0, 1])]], &[2]);
    odd.check("states of a sign that level 1 or the one behind it cannot have: found 1, expected 0", false);
}

/// By the unseen only the edges up are counted: with those of the level before they must not be
/// more than there are.
#[test]
fn more_edges_up_and_down_than_there_are_are_noticed() {
    let lie = Lie::searched(&definition(&["(0 1)", "(1 2)", "(2 3)", "(3 4)"]), UNSEEN);
    let first: Vec<State> = (0..4).map(|generator| lie.state(&[generator])).collect();
    lie.tell(&[vec![lie.start()], first], &[5]);
    lie.check("edges of level 1 up and down: found 12 and 5, expected at most 16 in all", false);
}

/// What was seen is counted once more at the end: a bit that flips in the last of four levels, far
/// from the antipodes, shows nowhere else.
#[test]
fn a_set_that_is_spoiled_in_the_last_level_is_noticed() {
    let folder = scratch();
    let config = folder.path().join("small.toml");
    fs::write(&config, "inverses = true\n".to_owned() + &definition(&["(0 1 2 3 4)", "(1 2 4 3)"])).expect("written");
    let path = folder.path().join("run");
    let mut command = farthest();
    command.arg("run").arg(&config).args(["--checkpoint-seconds", "3600", "--quiet", "--threads", "1", "--out"]).arg(&path);
    let stderr = fail_with(70, fault(&mut command, "seen-bits", 4, "damage"));
    check_broken(&stderr, &["states that the sets hold at the end and the sum of all levels: found 19, expected 20"], &path, "seen-bits");
}

/// All generators are odd and closed under inverses: no edge stays on a level. By the unseen it is
/// what up- and down-edges leave over.
#[test]
fn edges_within_a_level_of_odd_generators_are_noticed() {
    let lie = Lie::searched(&definition(&["(0 1)", "(1 2)", "(2 3)", "(3 4)"]), UNSEEN);
    let first: Vec<State> = (0..4).map(|generator| lie.state(&[generator])).collect();
    // One of the four edges up from the start was not counted: three edges down and twelve up leave
    // one of sixteen.
    lie.tell(&[vec![lie.start()], first], &[3]);
    lie.check("edges within level 1, where every generator is odd: found 1, expected 0", false);
}

/// A puzzle closed under inverses: edge balance and growth hold.
fn closed() -> String {
    "inverses = true\n".to_owned() + &definition(&["(0 1 2 3 4)", "(0 1)"])
}

#[test]
fn unbalanced_edges_are_noticed() {
    let lie = Lie::new(&closed());
    let level = |words: &[&[usize]]| -> Vec<State> { words.iter().map(|word| lie.state(word)).collect() };
    let first: Vec<State> = (0..lie.puzzle.generators()).map(|generator| lie.state(&[generator])).collect();
    let edges = to_u64(first.len());
    // One of the states of level 1 is lost, its edge was counted.
    lie.tell(&[level(&[&[]]), first[1..].to_vec()], &[edges]);
    lie.check(&format!("down-edges of level 1 and up-edges of the level before: found {}, expected {edges}", edges - 1), false);
}

#[test]
fn a_level_that_grows_too_fast_is_noticed() {
    let lie = Lie::new(&closed());
    // A state far from the start, which nothing led to.
    let far = lie.state(&[0, 0, 1, 0, 0, 1, 0]);
    lie.tell(&[vec![lie.start()], vec![far]], &[0]);
    let generators = to_u64(lie.puzzle.generators());
    lie.check(&format!("states of level 2: found {generators}, expected at most {}", generators - 1), false);
}
