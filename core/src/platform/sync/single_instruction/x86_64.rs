//! Counters for single-threaded processes. Each change is one instruction, so that no update is
//! lost to a signal handler. The lock prefix is omitted: it is most of the cost of a reference
//! count, and only matters if other processors access the counter.

use core::arch::asm;

use crate::platform::sync::atomic::{AtomicU64, AtomicUsize};

/// Adds `change` to a counter.
#[inline(always)]
pub fn add(count: &AtomicU64, change: u64) {
    // SAFETY: the counter is valid for writes. Callers checked that the process is single-threaded;
    // with other threads, updates would be lost, but nothing worse.
    unsafe {
        asm!("add qword ptr [{}], {}", in(reg) count.as_ptr(), in(reg) change, options(nostack))
    };
}

/// Adds `change` to a counter and returns the previous value.
#[inline(always)]
pub fn fetch_add(count: &AtomicU64, change: u64) -> u64 {
    // SAFETY: the counter is valid for writes.
    unsafe { exchange_add(count.as_ptr(), change) }
}

/// Subtracts `change` from a pointer-sized counter and returns the previous value.
#[inline(always)]
pub fn fetch_sub_size(count: &AtomicUsize, change: usize) -> usize {
    // SAFETY: the counter is valid for writes, and has 64 bits.
    unsafe { exchange_add(count.as_ptr().cast(), (change as u64).wrapping_neg()) as usize }
}

const _: () = assert!(size_of::<usize>() == size_of::<u64>());

/// Adds `change` to a counter with one `xadd` instruction. Returns its previous value.
///
/// # Safety
/// `count` must be valid for writes.
#[inline(always)]
unsafe fn exchange_add(count: *mut u64, change: u64) -> u64 {
    let mut before = change;
    // SAFETY: the caller's promise, and as for `add`.
    unsafe { asm!("xadd qword ptr [{}], {}", in(reg) count, inout(reg) before, options(nostack)) };
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_change_by_what_is_added() {
        let count = AtomicU64::new(5);
        add(&count, 1 << 32);
        assert_eq!(fetch_add(&count, 2), 5 + (1 << 32));
        add(&count, (1u64 << 32).wrapping_neg());
        assert_eq!(fetch_add(&count, 1u64.wrapping_neg()), 7);
        let size = AtomicUsize::new(count.into_inner() as usize);
        assert_eq!((fetch_sub_size(&size, 4), size.into_inner()), (6, 2));
    }
}
