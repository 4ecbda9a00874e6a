//! What the expansions cost: nanoseconds a lane for each kind of lane move, a state for state
//! expansion, a lane for a fingerprint.
//!
//! One iteration is one lane (or state): the times that criterion prints are nanoseconds each, of
//! one thread's processor time. A lane's time holds everything that a level spends on it: reading
//! `seen`, pulling by one generator, counting, the new states' fingerprint, writing `next`. The
//! identity moves nothing, so what a kind costs by itself is the difference to the identity. Half
//! of all states are seen, at random: no lane is full, none is empty.
//!
//! Ten positions, so five in the prefix and 30,240 lanes; tasks of 512 units, one after the other,
//! as in a search. All permutations are even: alone they make a halved space with lanes of 60 bits;
//! a second plane with an odd generator keeps the lanes at 120 bits.
//!
//!     cargo bench --bench lanes
//!     cargo bench --bench lanes -- 'k = 1'      only some
#![allow(missing_docs)]

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use farthest::base::fingerprint::{Fingerprint, mix64};
use farthest::base::ids::{approximate, low_u8, low_u64, to_u64, to_usize};
use farthest::expand::lanes::{PADDING_BYTES, UNIT_BYTES};
use farthest::expand::{Direction, LaneExpansion, LaneSource, Moves, PrefixTable, Target};
use farthest::families::PuzzleSource;
use farthest::puzzle::{Layout, Permutation, Puzzle, State};
use farthest::ranking::StateSpace;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;

const POSITIONS: usize = 10;

/// Units of a task, as in `src/search/expansions/lanes/layout.rs`.
const TASK_UNITS: usize = 512;

/// The kinds of lane moves as swaps of positions; 0 to 4 are the prefix.
const KINDS: [(&str, &[(usize, usize)]); 9] = [
    ("identity", &[]),
    ("whole lanes", &[(0, 1), (2, 3)]),
    ("whole lanes, last of the prefix", &[(1, 2), (3, 4)]),
    ("suffix permuted", &[(5, 6), (8, 9)]),
    ("k = 1, in order", &[(4, 5), (0, 1)]),
    ("k = 1, inner permutation", &[(4, 5), (7, 8)]),
    ("k = 2", &[(4, 5), (3, 6)]),
    ("k = 3", &[(4, 5), (3, 6), (2, 7), (0, 1)]),
    ("k = 4, state by state", &[(4, 5), (3, 6), (2, 7), (1, 8)]),
];

fn permutation(swaps: &[(usize, usize)]) -> Permutation {
    let mut images: Vec<u8> = (0..low_u8(to_u64(POSITIONS))).collect();
    for &(one, other) in swaps {
        images.swap(one, other);
    }
    Permutation::new(images).expect("a bijection")
}

/// A puzzle of one generator, its own inverse, for lanes of 60 bits (`halved`) or 120. Plane 0 is
/// the one to measure.
fn puzzle(swaps: &[(usize, usize)], halved: bool) -> Puzzle {
    let mut moves = vec![(0, permutation(swaps))];
    if !halved {
        moves.push((1, permutation(&[(0, 1)])));
    }
    let solved = Permutation::identity(POSITIONS).images().to_vec();
    let starts = (0..).zip(&moves).map(|(plane, _)| State { plane, arrangement: solved.clone() }).collect();
    let puzzle = Puzzle::of_planes("bench", "step", POSITIONS, vec![("A".into(), moves)], starts, Layout::Numbered).expect("valid");
    assert_eq!(StateSpace::of(&puzzle).is_halved(), halved);
    puzzle
}

/// A level in which half of the states are seen, cut into tasks.
struct Level {
    lanes: LaneExpansion,
    seen: Vec<Vec<u8>>,
    tasks: Vec<(usize, PrefixTable)>,
    lanes_per_task: u64,
    next: Vec<u8>,
}

impl Level {
    fn new(puzzle: &Puzzle, halved: bool) -> Self {
        let lanes = LaneExpansion::new(puzzle, 1).expect("long enough, closed under inverses");
        let units = lanes.units_per_block();
        let bytes = units * UNIT_BYTES + PADDING_BYTES;
        let byte = |place: usize| low_u8(mix64(to_u64(place)) & 0xff);
        let seen = (0..lanes.planes()).map(|plane| (0..bytes).map(|at| byte(plane * bytes + at)).collect()).collect();
        let tasks = (0..units / TASK_UNITS).map(|task| (task * TASK_UNITS, lanes.prefixes(0, task * TASK_UNITS, TASK_UNITS))).collect();
        let lanes_per_task = to_u64(TASK_UNITS) * if halved { 2 } else { 1 };
        Self { lanes, seen, tasks, lanes_per_task, next: vec![0; TASK_UNITS * UNIT_BYTES] }
    }

    /// Time to pull `wanted` lanes of plane 0, task after task.
    fn pull(&mut self, wanted: u64, portable: bool) -> Duration {
        let source = LaneSource { blocks: self.seen.iter().map(Vec::as_slice).collect() };
        per_item(wanted, self.lanes_per_task, |pass| {
            let (first_unit, prefixes) = &self.tasks[pass % self.tasks.len()];
            let seen = &self.seen[0][first_unit * UNIT_BYTES..];
            let mut target =
                Target { plane: 0, seen, level: None, next: &mut self.next, first_unit: to_u64(*first_unit), contributed: Vec::new() };
            black_box(if portable {
                self.lanes.pull_portable(&source, prefixes, &mut target)
            } else {
                self.lanes.pull(&source, prefixes, &mut target)
            });
        })
    }
}

/// What this thread has used of a processor: on a machine with other things to do, less noisy than
/// the time of day.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Time of `wanted` items, measured in passes of `items_per_pass`.
fn per_item(wanted: u64, items_per_pass: u64, mut pass: impl FnMut(usize)) -> Duration {
    let passes = wanted.div_ceil(items_per_pass);
    let since = processor_time();
    (0..to_usize(passes)).for_each(&mut pass);
    (processor_time() - since).mul_f64(approximate(wanted) / approximate(passes * items_per_pass))
}

/// A group with times short enough for a whole run in half a minute of an idle core; they repeat
/// within 1 %.
fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(200));
    group
}

fn lane_moves(criterion: &mut Criterion) {
    for (halved, portable) in [(false, false), (false, true), (true, false), (true, true)] {
        let width = if halved { "halved lanes, 60 bits" } else { "lanes of 120 bits" };
        let path = if portable { "portable" } else { "native" };
        let mut group = group(criterion, &format!("{width}, {path}"));
        for (kind, swaps) in KINDS {
            let mut level = Level::new(&puzzle(swaps, halved), halved);
            group.bench_function(kind, |bencher| bencher.iter_custom(|wanted| level.pull(wanted, portable)));
        }
        group.finish();
    }
}

/// What every lane costs once for all planes, and what it costs to share the work with another
/// process.
fn lane_work(criterion: &mut Criterion) {
    for halved in [false, true] {
        let width = if halved { "halved lanes, 60 bits" } else { "lanes of 120 bits" };
        let mut group = group(criterion, &format!("{width}, other work"));
        let level = Level::new(&puzzle(KINDS[4].1, halved), halved);
        let (lanes, tasks) = (&level.lanes, &level.tasks);
        group.bench_function("prefixes", |bencher| {
            bencher.iter_custom(|wanted| {
                per_item(wanted, level.lanes_per_task, |pass| {
                    black_box(lanes.prefixes(0, tasks[pass % tasks.len()].0, TASK_UNITS));
                })
            });
        });
        // One block a plane: the other process owns every source, and speaks for all 120 bits.
        let source = LaneSource { blocks: level.seen.iter().map(Vec::as_slice).collect() };
        let owned = vec![true; lanes.planes()];
        group.bench_function("contribute, k = 1", |bencher| {
            bencher.iter_custom(|wanted| {
                per_item(wanted, level.lanes_per_task, |pass| {
                    black_box(lanes.contribute(&source, &owned, &tasks[pass % tasks.len()].1, 0, 0));
                })
            });
        });
        let contributed: Vec<Vec<u8>> =
            tasks.iter().map(|(_, prefixes)| lanes.contribute(&source, &owned, prefixes, 0, 0).expect("some states")).collect();
        let mut units = vec![0; TASK_UNITS * UNIT_BYTES];
        group.bench_function("receive, k = 1", |bencher| {
            bencher.iter_custom(|wanted| {
                per_item(wanted, level.lanes_per_task, |pass| {
                    let task = pass % tasks.len();
                    assert!(lanes.receive(&contributed[task], &owned, &tasks[task].1, 0, 0, &mut units));
                })
            });
        });
        group.finish();
    }
}

fn states(criterion: &mut Criterion) {
    let mut group = group(criterion, "states");
    for (name, metric) in [("turnstyle-10", "step"), ("turnstyle-10", "flip"), ("loopover-3x3", "step")] {
        let puzzle = PuzzleSource::from_short_name(name).and_then(|source| source.build(metric)).expect("shipped");
        let count = u64::try_from(StateSpace::of(&puzzle).state_count()).expect("small");
        let expansion = Moves::of(&puzzle, Direction::Forward).expect("small");
        group.bench_function(format!("{name} {metric}, {} generators", expansion.generators()), |bencher| {
            bencher.iter_custom(|wanted| {
                per_item(wanted, 1_000, |pass| {
                    for number in 0..1_000 {
                        // A frontier is listed in rank order, with gaps.
                        let rank = (to_u64(pass) * 1_000 + number) * 61 % count;
                        black_box(expansion.for_each(rank, |_, successor| {
                            black_box(successor);
                        }));
                    }
                })
            });
        });
    }
    group.finish();
}

fn fingerprint(criterion: &mut Criterion) {
    let mut group = group(criterion, "fingerprint");
    let lanes: Vec<u128> = (0..1_024).map(|lane| (u128::from(mix64(lane)) << 56 | u128::from(mix64(!lane))) & ((1 << 120) - 1)).collect();
    assert!(lanes.iter().all(|&lane| low_u64(lane) != 0));
    group.bench_function("a lane of 120 states", |bencher| {
        bencher.iter_custom(|wanted| {
            per_item(wanted, to_u64(lanes.len()), |_| {
                let parts = lanes.iter().zip(0..).map(|(&members, lane)| Fingerprint::of_lane(lane, members));
                black_box(parts.fold(Fingerprint::default(), Fingerprint::plus));
            })
        });
    });
    group.finish();
}

criterion_group!(benches, lane_moves, lane_work, states, fingerprint);
criterion_main!(benches);
