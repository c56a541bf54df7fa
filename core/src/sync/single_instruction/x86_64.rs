//! Counts of a process with one thread, changed in one instruction each: memory sees it whole, so that nothing is lost when a
//! signal handler counts, too. The lock prefix, which is most of what a count costs, is for other processors.

use core::arch::asm;

use crate::sync::atomic::{AtomicU64, AtomicUsize};

/// Adds to a count.
#[inline(always)]
pub fn add(count: &AtomicU64, change: u64) {
    // SAFETY: the count is valid for writes. Its callers asked whether they are alone; beside other threads, counts would be
    // lost, but nothing worse.
    unsafe { asm!("add qword ptr [{}], {}", in(reg) count.as_ptr(), in(reg) change, options(nostack)) };
}

/// Adds to a count. Returns the value before.
#[inline(always)]
pub fn fetch_add(count: &AtomicU64, change: u64) -> u64 {
    // SAFETY: the count is valid for writes.
    unsafe { exchange_add(count.as_ptr(), change) }
}

/// Subtracts from a count of the size of an address. Returns the value before.
#[inline(always)]
pub fn fetch_sub_size(count: &AtomicUsize, change: usize) -> usize {
    // SAFETY: the count is valid for writes, and has 64 bits.
    unsafe { exchange_add(count.as_ptr().cast(), (change as u64).wrapping_neg()) as usize }
}

const _: () = assert!(size_of::<usize>() == size_of::<u64>());

/// # Safety
/// `count` is valid for writes.
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
