//! Prefetch hints for x86-64.

use core::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};

/// Whether prefetch hints have an effect, so that it pays to work out addresses for them.
pub const GIVEN: bool = true;

/// Prefetches the cache line at an address, to be read. Any address will do; nothing is accessed.
#[inline(always)]
pub fn to_read<T>(address: *const T) {
    // SAFETY: a hint never faults, and every processor with this instruction set has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Prefetches the cache line at an address, to be written, as a count is.
#[inline(always)]
pub fn to_write<T>(address: *const T) {
    // SAFETY: as in `to_read`.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) }
}
