//! The memory functions of the Arm run-time ABI (`__aeabi_*`), some of which take their arguments
//! in another order than C's.

use core::ffi::{c_int, c_void};

use super::{copy, copy_overlapping, fill};

weak! {
    copy: "__aeabi_memcpy" "__aeabi_memcpy4" "__aeabi_memcpy8";
    copy_overlapping: "__aeabi_memmove" "__aeabi_memmove4" "__aeabi_memmove8";
    fill_up: "__aeabi_memset" "__aeabi_memset4" "__aeabi_memset8";
    clear: "__aeabi_memclr" "__aeabi_memclr4" "__aeabi_memclr8";
}

/// Implements `__aeabi_memset`: fills a buffer with a byte value.
///
/// # Safety
/// Same requirements as [`fill`].
unsafe extern "C" fn fill_up(to: *mut c_void, bytes: usize, byte: c_int) {
    // SAFETY: the caller's promise.
    unsafe { fill(to, byte, bytes) };
}

/// Implements `__aeabi_memclr`: fills a buffer with zeros.
///
/// # Safety
/// Same requirements as [`fill`].
unsafe extern "C" fn clear(to: *mut c_void, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { fill(to, 0, bytes) };
}
