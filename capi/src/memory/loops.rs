//! The common memory loops, for any core.

use core::ffi::{c_int, c_void};

/// `memcpy`, backwards, which takes the fewest instructions.
///
/// # Safety
/// `bytes` bytes are readable at `from` and writable at `to`, and the two do not overlap unless `to` lies higher.
pub(super) unsafe extern "C" fn copy(to: *mut c_void, from: *const c_void, mut bytes: usize) -> *mut c_void {
    while bytes != 0 {
        bytes -= 1;
        // SAFETY: the caller's promise.
        unsafe { to.cast::<u8>().add(bytes).write_volatile(from.cast::<u8>().add(bytes).read_volatile()) };
    }
    to
}

/// `memset`
///
/// # Safety
/// `bytes` bytes are writable at `to`.
pub(super) unsafe extern "C" fn fill(to: *mut c_void, byte: c_int, mut bytes: usize) -> *mut c_void {
    while bytes != 0 {
        bytes -= 1;
        // SAFETY: the caller's promise.
        unsafe { to.cast::<u8>().add(bytes).write_volatile(byte as u8) };
    }
    to
}

/// `strlen`
///
/// # Safety
/// The text ends with a zero.
pub(super) unsafe extern "C" fn length(text: *const u8) -> usize {
    let mut len = 0;
    // SAFETY: the caller's promise.
    while unsafe { text.add(len).read_volatile() } != 0 {
        len += 1;
    }
    len
}
