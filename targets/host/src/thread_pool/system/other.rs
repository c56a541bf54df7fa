//! What the pool asks of systems other than Linux, where std needs no memory for it.
#![forbid(unsafe_code)]

use core::ffi::CStr;
use core::time::Duration;
use std::thread;

/// The processors that the process may use.
pub(super) fn processors() -> Option<usize> {
    thread::available_parallelism().ok().map(usize::from)
}

/// Threads have no names here.
pub(super) fn name_thread(_: &CStr) {}

/// Threads have no numbers here.
pub(super) type Thread = i32;

/// The calling thread, for [`bind`].
pub(super) const THIS_THREAD: Thread = 0;

/// The calling thread, for others.
pub(super) fn this_thread() -> Thread {
    THIS_THREAD
}

/// Threads are not bound here.
pub(super) fn bind(_: Thread, _: &[u16]) {}

/// No processors, since threads cannot be bound to them.
pub(super) fn allowed_processors() -> impl Iterator<Item = u16> + Clone {
    core::iter::empty()
}

pub(super) use allowed_processors as fast_processors;
pub(super) use allowed_processors as slow_processors;

/// Nobody tells here.
pub(super) fn this_processor() -> i32 {
    -1
}

/// Threads stay where they are.
pub(super) fn move_off(_: Thread, _: i32) {}

/// The time, which nothing depends on where threads stay where they are.
pub(super) fn coarse_time() -> Duration {
    Duration::ZERO
}
