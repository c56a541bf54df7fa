//! System interface of the pool on systems other than Linux: most functions do nothing.
#![forbid(unsafe_code)]

use core::ffi::CStr;
use core::time::Duration;
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

/// Returns the number of processors available to the process.
pub(super) fn processors() -> Option<usize> {
    thread::available_parallelism().ok().map(usize::from)
}

/// Does nothing: threads have no names here.
pub(super) fn name_thread(_: &CStr) {}

/// Placeholder for thread identifiers.
pub(super) type Thread = i32;

/// Placeholder for the calling thread, for [`bind`].
pub(super) const THIS_THREAD: Thread = 0;

/// Returns the placeholder for thread identifiers.
pub(super) fn this_thread() -> Thread {
    THIS_THREAD
}

/// Does nothing: threads are not bound here.
pub(super) fn bind(_: Thread, _: &[u16]) {}

/// Returns no processors, since threads cannot be bound to them.
pub(super) fn allowed_processors() -> impl Iterator<Item = u16> + Clone {
    core::iter::empty()
}

pub(super) use allowed_processors as fast_processors;
pub(super) use allowed_processors as slow_processors;

/// Returns -1: the processor is unknown.
pub(super) fn this_processor() -> i32 {
    -1
}

/// Does nothing: threads are not moved here.
pub(super) fn move_off(_: Thread, _: i32) {}

/// Returns the time of a monotonic clock.
pub(super) fn coarse_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
