//! `farthest plan`: what a run would need, before anything starts.

use super::arguments::PlanArguments;
use super::run::{partition_of, round_successors, states_of};
use super::run_config::RunConfig;
use crate::base::ids::{approximate, rounded_down, to_usize};
use crate::base::mix::mix64;
use crate::base::partition::Partition;
use crate::base::{Result, StateRank};
use crate::expand::StateExpansion;
use crate::puzzle::Puzzle;
use crate::search::budget::{Budget, readable_bytes};
use crate::search::host;
use crate::store::bitset;
use std::time::{Duration, Instant};

/// Numbers of processes that the plan shows.
const PROCESSES: [u32; 6] = [1, 2, 4, 8, 16, 64];

/// Random states that estimate speed and traffic.
const SAMPLE: u64 = 200_000;

/// Largest bitset that the speed is measured on, in words: 256 MiB.
const MOST_SAMPLE_WORDS: u64 = 1 << 25;

/// Prints the plan of a run, or only its folder.
///
/// # Errors
/// As the run itself would refuse, except for what does not fit this machine: that is shown.
pub fn plan(arguments: &PlanArguments) -> Result<()> {
    let mut config = RunConfig::load(&arguments.target.config)?;
    if let Some(metric) = &arguments.target.metric {
        config.metric.clone_from(metric);
    }
    config.search.keep_levels |= arguments.keep_levels;
    let folder = arguments.target.out.clone().unwrap_or_else(|| config.default_folder());
    if arguments.print_dir {
        println!("{}", folder.display());
        return Ok(());
    }
    let puzzle = config.puzzle.build(&config.metric)?;
    let partition = partition_of(&puzzle, &config)?;
    let states = states_of(&puzzle)?;
    let budget = Budget::new(&partition, states, round_successors(&config), config.search.keep_levels);
    let nanoseconds = nanoseconds_per_state(&puzzle, &partition);
    let rows: Vec<Row> = PROCESSES
        .iter()
        .map(|&processes| Row {
            processes,
            memory_bytes: budget.memory_bytes_per_process(processes.into()),
            exchanged_bytes: exchanged_bytes(&puzzle, &partition, states, processes),
            seconds: approximate(states) * nanoseconds * 1e-9 / f64::from(processes),
        })
        .collect();
    let free_disk = host::free_disk_bytes(&folder)?;
    let free_memory = host::available_memory_bytes();
    if arguments.json {
        print_json(&puzzle, &partition, states, &budget, &rows);
        return Ok(());
    }
    println!("puzzle            {} in metric {}", puzzle.name(), puzzle.metric());
    println!("run folder        {}", folder.display());
    println!("states            {states} (from the group's order), in {} ranks", partition.state_count());
    println!("generators        {}", puzzle.generators().len());
    println!("shards            {} of {} ranks", partition.shards(), partition.shard_length());
    println!(
        "disk              at most {}: scratch {}, checkpoints {}, archived levels {}; {} are free",
        readable_bytes(budget.disk_bytes()),
        readable_bytes(budget.mapped_bytes),
        readable_bytes(budget.checkpoint_bytes),
        readable_bytes(budget.archive_bytes),
        readable_bytes(free_disk)
    );
    println!("memory available  {}", free_memory.map_or_else(|| "unknown".into(), readable_bytes));
    let mut table = super::table::plain_table(&["processes", "memory each", "exchanged in all", "time estimate"]);
    for row in &rows {
        table.add_row([
            row.processes.to_string(),
            readable_bytes(row.memory_bytes),
            readable_bytes(row.exchanged_bytes),
            readable_seconds(row.seconds),
        ]);
    }
    println!("{table}");
    println!(
        "The time is {SAMPLE} random states measured here on one thread ({nanoseconds:.0} ns each), times the states, for one thread \
         a process and a processor each; checkpoints and waiting come on top."
    );
    Ok(())
}

/// The plan for one number of processes.
struct Row {
    processes: u32,
    memory_bytes: u64,
    exchanged_bytes: u64,
    seconds: f64,
}

/// Random ranks, the same in every plan.
fn sample(partition: &Partition) -> impl Iterator<Item = StateRank> + use<> {
    let count = partition.state_count();
    (0..SAMPLE).map(move |number| StateRank(mix64(number) % count))
}

/// Measures expansion, grouping and look-ups of random states on one thread.
fn nanoseconds_per_state(puzzle: &Puzzle, partition: &Partition) -> f64 {
    let expansion = StateExpansion::new(puzzle);
    let words = bitset::words_for(partition.state_count()).min(MOST_SAMPLE_WORDS);
    let mut seen = vec![0_u64; to_usize(words)];
    let since = Instant::now();
    let mut successors = Vec::with_capacity(to_usize(SAMPLE) * expansion.generators());
    for state in sample(partition) {
        expansion.expand(state, |successor| successors.push(successor.0));
    }
    let (grouped, _) = partition.group_by_shard(&successors);
    for rank in grouped {
        bitset::insert(&mut seen, rank % (words * 64));
    }
    approximate(rounded_down(since.elapsed().as_secs_f64() * 1e9)) / approximate(SAMPLE)
}

/// Bytes between processes over the whole search: eight for each successor that another process owns, by the share among random states.
fn exchanged_bytes(puzzle: &Puzzle, partition: &Partition, states: u64, processes: u32) -> u64 {
    let expansion = StateExpansion::new(puzzle);
    let owners = partition.owners(processes);
    let owner = |rank: StateRank| owners[partition.shard_of(rank).index()];
    let mut crossing = 0_u64;
    for state in sample(partition) {
        let here = owner(state);
        expansion.expand(state, |successor| crossing += u64::from(owner(successor) != here));
    }
    rounded_down(approximate(states) * approximate(crossing) / approximate(SAMPLE) * 8.0)
}

fn readable_seconds(seconds: f64) -> String {
    if seconds < 1.0 {
        return format!("{seconds:.2} s");
    }
    humantime::format_duration(Duration::from_secs(rounded_down(seconds.min(1e15)))).to_string()
}

fn print_json(puzzle: &Puzzle, partition: &Partition, states: u64, budget: &Budget, rows: &[Row]) {
    let per_processes: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "processes": row.processes,
                "memory_bytes_per_process": row.memory_bytes,
                "exchanged_bytes": row.exchanged_bytes,
                "seconds_estimate": row.seconds,
            })
        })
        .collect();
    let plan = serde_json::json!({
        "puzzle": puzzle.name(),
        "metric": puzzle.metric(),
        "states": states,
        "ranks": partition.state_count(),
        "shards": partition.shards(),
        "scratch_bytes": budget.mapped_bytes,
        "checkpoint_bytes": budget.checkpoint_bytes,
        "archive_bytes": budget.archive_bytes,
        "per_processes": per_processes,
    });
    println!("{}", serde_json::to_string_pretty(&plan).expect("plain data with text keys"));
}
