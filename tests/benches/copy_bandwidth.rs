//! How fast this machine copies memory: what a search that only moves its sets could reach.
//!
//! Prints a line for each number of threads up to the usable processors, doubling:
//! `threads bytes_per_second`, bytes read and bytes written counted both. The best of several
//! passes over two buffers larger than any cache, since what disturbs a pass only makes it slower.
//! `scripts/bench` reads it.
//!
//!     cargo bench --bench copy_bandwidth

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of each buffer; last-level caches have up to a few hundred MB, the usual ones a tenth of
/// this.
const BUFFER_BYTES: usize = 256 << 20;

const PASSES: usize = 7;

fn main() {
    // Under `cargo test --benches` a look that it works is enough.
    let measures = std::env::args().any(|word| word == "--bench");
    let bytes = if measures { BUFFER_BYTES } else { 1 << 20 };
    let source: Vec<u8> = (0_u8..=255).cycle().take(bytes).collect();
    let mut target = vec![1; bytes];
    let most = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut threads = 1;
    loop {
        let best = (0..PASSES).map(|_| copy(&source, &mut target, threads)).min().unwrap_or(Duration::MAX);
        println!("{threads} {:.0}", f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) * 2.0 / best.as_secs_f64());
        if threads == most {
            break;
        }
        threads = (threads * 2).min(most);
    }
}

/// Time of one copy by `threads` threads. Starting them takes some 50 microseconds of about 50
/// milliseconds.
fn copy(source: &[u8], target: &mut [u8], threads: usize) -> Duration {
    let part = source.len().div_ceil(threads);
    let since = Instant::now();
    std::thread::scope(|scope| {
        for (from, to) in source.chunks(part).zip(target.chunks_mut(part)) {
            scope.spawn(move || black_box(to).copy_from_slice(black_box(from)));
        }
    });
    since.elapsed()
}
