//! Time limits: options of commands, and points in time.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

/// Parses a positive number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a positive number of seconds".into())
}

/// Returns the point in time after a duration; `None` if there is no limit.
pub fn end_of(limit: Option<Duration>) -> Option<Instant> {
    limit.and_then(|limit| Instant::now().checked_add(limit))
}
