//! Time per call, over several runs.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::failure::Outcome;

use super::calls::Calls;

/// Statistics of the nanoseconds per call.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    /// Median of the runs.
    pub median: f64,
    /// Minimum of the runs.
    pub min: f64,
    /// First and third quartile: half of the runs are between them.
    pub quartiles: [f64; 2],
    /// Number of runs.
    pub runs: usize,
    /// Number of calls in a run.
    pub calls: u64,
}

/// Minimum time of a run: far more than the clock's resolution.
const RUN: Duration = Duration::from_millis(5);

/// Number of trials that must all take the minimum time.
const TRIALS: usize = 3;

/// Measures the calls in `runs` runs, and subtracts the time of the loop.
///
/// # Errors
/// The error of a call.
pub fn measure(calls: &Calls<'_>, runs: usize) -> Outcome<Times> {
    let count = calibrate(calls)?;
    let empty = (0..runs).map(|_| timed(|| calls.run_empty(count))).min().unwrap_or_default();
    let mut nanoseconds = Vec::new();
    for _ in 0..runs {
        let mut outcome = Ok(());
        let time = timed(|| outcome = calls.run(count));
        outcome?;
        nanoseconds.push(time.saturating_sub(empty).as_nanos() as f64 / count as f64);
    }
    Ok(Times::of(nanoseconds, count))
}

/// Returns a number of calls that takes at least the minimum time of a run. Also warms up caches.
fn calibrate(calls: &Calls<'_>) -> Outcome<u64> {
    let mut count = 1;
    while !takes_long(calls, count)? {
        count *= 2;
    }
    Ok(count)
}

/// Returns `true` if these calls take the minimum time of a run in every trial: one suspension of
/// the process must not count.
fn takes_long(calls: &Calls<'_>, count: u64) -> Outcome<bool> {
    for _ in 0..TRIALS {
        let mut outcome = Ok(());
        let time = timed(|| outcome = calls.run(count));
        outcome?;
        if time < RUN {
            return Ok(false);
        }
    }
    Ok(true)
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

impl Times {
    fn of(mut nanoseconds: Vec<f64>, calls: u64) -> Times {
        nanoseconds.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let index = (nanoseconds.len().saturating_sub(1) as f64 * part).round() as usize;
            nanoseconds.get(index).copied().unwrap_or_default()
        };
        Times {
            median: at(0.5),
            min: at(0.0),
            quartiles: [at(0.25), at(0.75)],
            runs: nanoseconds.len(),
            calls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_runs_does_not_matter() {
        let times = Times::of(vec![5.0, 1.0, 4.0, 2.0, 30.0], 7);
        assert_eq!((times.median, times.min, times.quartiles), (4.0, 1.0, [2.0, 5.0]));
        assert_eq!((times.runs, times.calls), (5, 7));
        assert_eq!(Times::of(vec![3.0], 1).quartiles, [3.0, 3.0]);
    }
}
