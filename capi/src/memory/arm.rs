//! The memory functions under the names of the Arm run-time ABI, some with another argument order.

use core::ffi::{c_int, c_void};

use super::{copy, copy_overlapping, fill};

weak! {
    copy: "__aeabi_memcpy" "__aeabi_memcpy4" "__aeabi_memcpy8";
    copy_overlapping: "__aeabi_memmove" "__aeabi_memmove4" "__aeabi_memmove8";
    fill_up: "__aeabi_memset" "__aeabi_memset4" "__aeabi_memset8";
    clear: "__aeabi_memclr" "__aeabi_memclr4" "__aeabi_memclr8";
}

/// `__aeabi_memset`
///
/// # Safety
/// As for [`fill`].
unsafe extern "C" fn fill_up(to: *mut c_void, bytes: usize, byte: c_int) {
    // SAFETY: the caller's promise.
    unsafe { fill(to, byte, bytes) };
}

/// `__aeabi_memclr`
///
/// # Safety
/// As for [`fill`].
unsafe extern "C" fn clear(to: *mut c_void, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { fill(to, 0, bytes) };
}
