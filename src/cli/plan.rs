//! `farthest plan`: what a run would need, before anything starts.

use super::arguments::PlanArguments;
use super::prepared::{budget_of, finds_by_lanes, states_of, suitable_storage};
use crate::base::fingerprint::{LANE_STATES, mix64};
use crate::base::ids::{approximate, rounded_down, to_u64, to_usize};
use crate::base::readable::readable_bytes;
use crate::base::readable::span;
use crate::base::shown::shown_path;
use crate::base::{ProcessId, Result, StateRank};
use crate::expand::lanes::UNIT_BYTES;
use crate::expand::{Direction, LaneExpansion, LaneSource, Moves, Target};
use crate::families::run_config::{CountedDistance, RunConfig, partition_of};
use crate::puzzle::Puzzle;
use crate::ranking::Partition;
use crate::search::budget::Budget;
use crate::search::machine::host;
use crate::search::traffic;
use crate::store::{Storage, bitset};
use std::time::Instant;

/// Numbers of processes that the plan shows.
const PROCESSES: [u32; 6] = [1, 2, 4, 8, 16, 64];

/// Random states that estimate speed and traffic.
const SAMPLE: u64 = 200_000;

/// Dense levels that a search is assumed to have: turnstyle-12 has 17.
const DENSE_LEVELS: f64 = 20.0;

/// A search by lanes still expands its sparse levels by states: about one state in so many.
const SPARSE_PART: f64 = 50.0;

/// Planes that the speed of lanes is measured on.
const MOST_SAMPLE_PLANES: usize = 64;

/// Largest bitset that the speed is measured on, in words: 256 MiB.
const MOST_SAMPLE_WORDS: u64 = 1 << 25;

/// Bytes of the largest block that is made up for a measurement.
const MOST_BLOCK_BYTES: usize = 256 << 20;

/// Prints the plan of a run, or only its folder.
///
/// # Errors
/// As the run itself would refuse, except for what does not fit this machine: that is shown.
pub fn plan(arguments: &PlanArguments) -> Result<()> {
    let mut config = RunConfig::load_in(&arguments.target.config, arguments.target.metric.as_ref())?;
    config.search.keep_levels |= arguments.keep_levels;
    arguments.search.put_into(&mut config.search);
    let folder = arguments.target.out.clone().unwrap_or_else(|| config.default_folder());
    if arguments.print_dir {
        println!("{}", folder.display());
        return Ok(());
    }
    if let Some(direction) = arguments.target.direction() {
        config.direction = Some(direction);
    }
    let puzzle = config.settle()?;
    let partition = partition_of(&puzzle, config.search.leading_positions)?;
    let known = states_of(&puzzle)?;
    let states = known.unwrap_or(partition.state_count());
    let expansion = Moves::of(&puzzle, Direction::Forward)?;
    let by_lanes = finds_by_lanes(&config, &puzzle, &partition);
    let lanes = by_lanes.then(|| LaneExpansion::new(&puzzle, partition.blocks_per_plane())).flatten();
    let budgets = Storage::ALL.map(|storage| budget_of(&config, &puzzle, &partition, known, storage));
    let free_memory = host::available_memory_bytes();
    // As a run of one process on this machine would choose.
    let suitable = || suitable_storage(&config, &budgets[0], &host::Placement::alone(), ProcessId::FIRST, free_memory);
    let storage = config.search.storage.unwrap_or_else(suitable);
    let budget = budgets.iter().find(|budget| budget.storage == storage).copied().unwrap_or(budgets[0]);
    let speed = Speed {
        nanoseconds_per_state: nanoseconds_per_state(&expansion, &partition),
        nanoseconds_per_unit: lanes.as_ref().filter(|lanes| has_small_blocks(lanes)).map(nanoseconds_per_unit),
    };
    let rows: Vec<Row> = PROCESSES
        .iter()
        .map(|&processes| {
            let by_states = approximate(states) * speed.nanoseconds_per_state;
            let by_lanes = speed.nanoseconds_per_unit.map(|unit| by_states / SPARSE_PART + DENSE_LEVELS * unit * units(&partition));
            let dense = by_lanes.filter(|&cost| cost < by_states);
            let bytes_per_state = traffic::bytes_per_state(&expansion, &partition, processes);
            let by_states_bytes = approximate(states) * bytes_per_state;
            let dense_level_bytes = dense.and(lanes.as_ref()).map(|lanes| traffic::dense_level_bytes(lanes, &partition, processes));
            let exchanged_bytes =
                dense_level_bytes.map_or(by_states_bytes, |level| DENSE_LEVELS * approximate(level) + by_states_bytes / SPARSE_PART);
            Row {
                processes,
                memory_bytes: budget.memory_bytes_per_process(processes.into()),
                dense_level_bytes,
                bytes_per_state,
                exchanged_bytes: rounded_down(exchanged_bytes),
                seconds: dense.unwrap_or(by_states) * 1e-9 / f64::from(processes),
            }
        })
        .collect();
    let free_disk = host::free_disk_bytes(&folder)?;
    if arguments.json {
        print_json(&config, &puzzle, &partition, known, (&budget, &budgets), &rows);
        return Ok(());
    }
    println!("puzzle            {} in metric {}", puzzle.name(), puzzle.metric());
    println!("run folder        {}", shown_path(&folder));
    let states = known.map_or_else(|| "not known before the search".into(), |states| format!("{states} (from the group's order)"));
    println!("states            {states}, in {} ranks", partition.state_count());
    println!("generators        {}", puzzle.generators());
    if let Some(remark) = config.puzzle.remark() {
        println!("remark            {remark}");
    }
    if let Some(direction) = config.direction {
        println!("distances         {}: a move has none that undoes it", direction.explained());
    }
    println!("shards            {} of {} ranks", partition.shards(), partition.shard_length());
    for other in &budgets {
        println!(
            "{:<17} {} of memory in all, at most {} of disk: scratch {}, checkpoints {}, archived levels {}{}",
            format!("storage {}", other.storage),
            readable_bytes(other.memory_bytes_per_process(1)),
            readable_bytes(other.disk_bytes()),
            readable_bytes(other.scratch_bytes),
            readable_bytes(other.checkpoint_bytes),
            readable_bytes(other.archive_bytes),
            if other.storage == budget.storage { "; taken here" } else { "" }
        );
    }
    println!(
        "available here    {} of memory, {} of disk",
        free_memory.map_or_else(|| "an unknown amount".into(), readable_bytes),
        readable_bytes(free_disk)
    );
    let mut table =
        super::table::plain_table(&["processes", "memory each", "exchanged a dense level", "exchanged in all", "time estimate"]);
    for row in &rows {
        table.add_row([
            row.processes.to_string(),
            readable_bytes(row.memory_bytes),
            row.dense_level_bytes.map_or_else(|| "-".into(), readable_bytes),
            readable_bytes(row.exchanged_bytes),
            span(row.seconds),
        ]);
    }
    println!("{table}");
    println!(
        "Time is for one thread a process and a processor each, without waiting and checkpoints: {:.0} ns a state{} on random states of this \
         puzzle on this machine, with about {DENSE_LEVELS} dense levels assumed. \
         What is exchanged is for processes on hosts of their own, or with share_memory = false: those of one host read each other's sets.",
        speed.nanoseconds_per_state,
        speed.nanoseconds_per_unit.map_or_else(String::new, |unit| format!(", {unit:.0} ns a unit of 120 ranks and dense level")),
    );
    if let Err(short) = budget.check(&host::Placement::alone(), ProcessId::FIRST, free_memory, free_disk, true) {
        println!("One process would be refused here: {short}");
    }
    Ok(())
}

/// The plan for one number of processes.
struct Row {
    processes: u32,
    memory_bytes: u64,
    /// Bytes of a level by lanes.
    dense_level_bytes: Option<u64>,
    /// Bytes for each state of a level by states.
    bytes_per_state: f64,
    exchanged_bytes: u64,
    seconds: f64,
}

/// Random ranks, the same in every plan.
fn sample(partition: &Partition) -> impl Iterator<Item = StateRank> + use<> {
    let count = partition.state_count();
    (0..SAMPLE).map(move |number| StateRank(mix64(number) % count))
}

/// How fast this machine works on this puzzle, on one thread.
struct Speed {
    /// Expansion, grouping and look-up of a state.
    nanoseconds_per_state: f64,
    /// Pulling 120 ranks that are half seen; `None` where the puzzle has no lanes.
    nanoseconds_per_unit: Option<f64>,
}

fn nanoseconds_per_state(expansion: &Moves, partition: &Partition) -> f64 {
    let words = bitset::words_for(partition.state_count()).min(MOST_SAMPLE_WORDS);
    // Written once, so that the first touch of each page is not measured.
    let mut seen = vec![0x5555_5555_5555_5555_u64; to_usize(words)];
    let mut successors = Vec::with_capacity(to_usize(SAMPLE) * expansion.generators());
    let mut nanoseconds = f64::INFINITY;
    for _ in 0..2 {
        successors.clear();
        let since = Instant::now();
        for state in sample(partition) {
            expansion.for_each(state.0, |_, successor| successors.push(successor));
        }
        let (grouped, _) = partition.group_by_shard(&successors);
        for rank in grouped {
            bitset::insert(&mut seen, rank % (words * 64));
        }
        nanoseconds = nanoseconds.min(since.elapsed().as_secs_f64() * 1e9 / approximate(SAMPLE));
    }
    nanoseconds
}

/// Pulls a few hundred units of the first block in every plane, with one random half-full block
/// standing for all sources.
fn nanoseconds_per_unit(lanes: &LaneExpansion) -> f64 {
    let block_bytes = lanes.units_per_block() * UNIT_BYTES;
    let random: Vec<u8> = (0..to_u64(block_bytes.div_ceil(8) + 3)).flat_map(|number| mix64(number).to_le_bytes()).collect();
    let source = LaneSource { blocks: vec![&random; lanes.planes() * lanes.blocks_per_plane()] };
    let units = lanes.units_per_block().min(500);
    let mut next = vec![0; units * UNIT_BYTES];
    let planes = lanes.planes().min(MOST_SAMPLE_PLANES);
    let mut nanoseconds = f64::INFINITY;
    for _ in 0..3 {
        let since = Instant::now();
        let prefixes = lanes.prefixes(0, 0, units);
        for plane in 0..planes {
            let mut target = Target { plane, seen: &random[..], level: None, next: &mut next, first_unit: 0, contributed: Vec::new() };
            std::hint::black_box(lanes.pull(&source, &prefixes, &mut target));
        }
        nanoseconds = nanoseconds.min(since.elapsed().as_secs_f64() * 1e9 / approximate(to_u64(units * planes)));
    }
    nanoseconds
}

/// Whether a block may be made up for [`nanoseconds_per_unit`]: one of a gigabyte has a space that
/// only a sparse search fits in.
fn has_small_blocks(lanes: &LaneExpansion) -> bool {
    lanes.units_per_block() * UNIT_BYTES <= MOST_BLOCK_BYTES
}

/// Units of 120 ranks in the whole space.
fn units(partition: &Partition) -> f64 {
    approximate(partition.state_count().div_ceil(LANE_STATES))
}

fn print_json(
    config: &RunConfig,
    puzzle: &Puzzle,
    partition: &Partition,
    states: Option<u64>,
    (budget, budgets): (&Budget, &[Budget]),
    rows: &[Row],
) {
    let per_processes: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "processes": row.processes,
                "memory_bytes_per_process": row.memory_bytes,
                "dense_level_bytes": row.dense_level_bytes,
                "bytes_per_state": row.bytes_per_state,
                "exchanged_bytes": row.exchanged_bytes,
                "seconds_estimate": row.seconds,
            })
        })
        .collect();
    let storage = |budget: &Budget| {
        serde_json::json!({
            "storage": budget.storage.to_string(),
            "memory_bytes": budget.memory_bytes_per_process(1),
            "disk_bytes": budget.disk_bytes(),
        })
    };
    let plan = serde_json::json!({
        "puzzle": puzzle.name(),
        "metric": puzzle.metric(),
        "direction": config.direction.map(CountedDistance::name),
        "states": states,
        "ranks": partition.state_count(),
        "shards": partition.shards(),
        "storage": budget.storage.to_string(),
        "storages": budgets.iter().map(storage).collect::<Vec<_>>(),
        "scratch_bytes": budget.scratch_bytes,
        "checkpoint_bytes": budget.checkpoint_bytes,
        "archive_bytes": budget.archive_bytes,
        "per_processes": per_processes,
    });
    println!("{}", serde_json::to_string_pretty(&plan).expect("plain data with text keys"));
}
