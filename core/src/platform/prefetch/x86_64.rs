//! Prefetch hints on x86-64.

use core::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};

/// Whether prefetch hints have an effect, so that it pays off to compute addresses for them.
pub const GIVEN: bool = true;

/// Prefetches the cache line at an address for reading. Any address is valid, since the hint does
/// not access memory.
#[inline(always)]
pub fn to_read<T>(address: *const T) {
    // SAFETY: a hint never faults, and every x86-64 processor supports it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Prefetches the cache line at an address for writing, for example of a reference count.
#[inline(always)]
pub fn to_write<T>(address: *const T) {
    // SAFETY: as in `to_read`.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(address.cast()) }
}
