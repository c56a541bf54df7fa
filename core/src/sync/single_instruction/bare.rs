//! Counts changed by atomic steps, on systems that do not tell whether the process is single-threaded.
#![forbid(unsafe_code)]

use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Adds to a count.
#[inline(always)]
pub fn add(count: &AtomicU64, change: u64) {
    count.fetch_add(change, Ordering::Relaxed);
}

/// Adds to a count. Returns the value before.
#[inline(always)]
pub fn fetch_add(count: &AtomicU64, change: u64) -> u64 {
    count.fetch_add(change, Ordering::Relaxed)
}

/// Subtracts from a count of the size of an address. Returns the value before.
#[inline(always)]
pub fn fetch_sub_size(count: &AtomicUsize, change: usize) -> usize {
    count.fetch_sub(change, Ordering::Relaxed)
}
