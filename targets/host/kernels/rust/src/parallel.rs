//! Rows on several threads.

use std::sync::OnceLock;
use std::thread;

/// Number of operations below which one thread is faster: starting another one takes as long as
/// about a million.
const WORTH_A_THREAD: usize = 1 << 20;

/// Returns the most threads that a kernel uses: the number in `OMP_NUM_THREADS`, as for kernels in
/// C, or that of the processors.
fn most_threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let wanted = std::env::var("OMP_NUM_THREADS")
            .ok()
            .and_then(|text| text.parse().ok())
            .filter(|count| *count > 0);
        wanted.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
    })
}

/// Returns the rows that each thread works on, where a row takes `cost` operations.
fn rows_per_thread(rows: usize, cost: usize) -> usize {
    let threads = (rows.saturating_mul(cost) / WORTH_A_THREAD).clamp(1, most_threads());
    rows.div_ceil(threads).max(1)
}

/// Splits rows of `columns` elements among threads, this one included. `work` gets the number of
/// its first row, and its rows.
pub fn rows<T: Send>(
    out: &mut [T],
    columns: usize,
    cost: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    if out.is_empty() {
        return;
    }
    let share = rows_per_thread(out.len() / columns, cost);
    let (first, others) = out.split_at_mut(out.len().min(share * columns));
    if others.is_empty() {
        return work(0, first);
    }
    let work = &work;
    thread::scope(|scope| {
        for (number, rows) in (1..).zip(others.chunks_mut(share * columns)) {
            scope.spawn(move || work(number * share, rows));
        }
        work(0, first);
    });
}
