//! What the pool asks of systems other than Linux, where std needs no memory for it.
#![forbid(unsafe_code)]

use core::ffi::CStr;
use std::thread;

/// The processors that the process may use.
pub(super) fn processors() -> Option<usize> {
    thread::available_parallelism().ok().map(usize::from)
}

/// Threads have no names here.
pub(super) fn name_thread(_: &CStr) {}
