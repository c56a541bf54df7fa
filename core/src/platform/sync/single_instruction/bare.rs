//! Counters changed by atomic operations, on systems that cannot detect single-threaded processes.
#![forbid(unsafe_code)]

#[cfg(target_has_atomic = "64")]
use crate::platform::sync::atomic::AtomicU64;
use crate::platform::sync::atomic::{AtomicUsize, Ordering};

/// Adds `change` to a counter.
#[cfg(target_has_atomic = "64")]
#[inline(always)]
pub fn add(count: &AtomicU64, change: u64) {
    count.fetch_add(change, Ordering::Relaxed);
}

/// Adds `change` to a counter and returns the previous value.
#[cfg(target_has_atomic = "64")]
#[inline(always)]
pub fn fetch_add(count: &AtomicU64, change: u64) -> u64 {
    count.fetch_add(change, Ordering::Relaxed)
}

/// Subtracts `change` from a pointer-sized counter and returns the previous value.
#[inline(always)]
pub fn fetch_sub_size(count: &AtomicUsize, change: usize) -> usize {
    count.fetch_sub(change, Ordering::Relaxed)
}
