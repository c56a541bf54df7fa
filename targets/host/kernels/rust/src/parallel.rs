//! Rows on several threads.

use std::sync::OnceLock;
use std::thread;

/// Number of operations below which one thread is faster: starting another one takes as long as about a million.
const WORTH_A_THREAD: usize = 1 << 20;

/// Returns the most threads that a kernel uses: the number in `OMP_NUM_THREADS`, as for kernels in C, or that of the processors.
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

/// Runs each task on a thread of its own, the first one on this thread.
fn run<T: Send>(mut tasks: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let Some(first) = tasks.next() else { return };
    let work = &work;
    thread::scope(|scope| {
        for task in tasks {
            scope.spawn(move || work(task));
        }
        work(first);
    });
}

/// Splits rows of `columns` elements among threads. `work` gets the number of its first row, and its rows.
pub fn rows<T: Send>(out: &mut [T], columns: usize, cost: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    if out.is_empty() {
        return;
    }
    let share = rows_per_thread(out.len() / columns, cost);
    if share * columns >= out.len() {
        return work(0, out);
    }
    let tasks = out.chunks_mut(share * columns).enumerate();
    run(tasks, |(number, rows)| work(number * share, rows));
}

/// Splits the rows of two outputs among threads, as [`rows`] does.
pub fn paired_rows<T: Send, U: Send>(
    (a, b): (&mut [T], &mut [U]),
    columns: (usize, usize),
    cost: usize,
    work: impl Fn(usize, &mut [T], &mut [U]) + Sync,
) {
    if a.is_empty() || b.is_empty() {
        return;
    }
    let share = rows_per_thread(a.len() / columns.0, cost);
    let tasks = a.chunks_mut(share * columns.0).zip(b.chunks_mut(share * columns.1)).enumerate();
    run(tasks, |(number, (a, b))| work(number * share, a, b));
}
