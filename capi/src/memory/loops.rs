//! Memory loops for all processor architectures without an assembly version.

use core::ffi::{c_int, c_void};

/// Implements `memcpy`, from the last byte to the first, which takes the fewest instructions.
///
/// # Safety
/// `bytes` bytes must be readable at `from` and writable at `to`, and the buffers must not overlap
/// unless `to` is the higher address.
pub(super) unsafe extern "C" fn copy(
    to: *mut c_void,
    from: *const c_void,
    mut bytes: usize,
) -> *mut c_void {
    while bytes != 0 {
        bytes -= 1;
        // SAFETY: the caller's promise.
        unsafe {
            to.cast::<u8>().add(bytes).write_volatile(from.cast::<u8>().add(bytes).read_volatile())
        };
    }
    to
}

/// Implements `memset`: fills a buffer with a byte value.
///
/// # Safety
/// `bytes` bytes must be writable at `to`.
pub(super) unsafe extern "C" fn fill(
    to: *mut c_void,
    byte: c_int,
    mut bytes: usize,
) -> *mut c_void {
    while bytes != 0 {
        bytes -= 1;
        // SAFETY: the caller's promise.
        unsafe { to.cast::<u8>().add(bytes).write_volatile(byte as u8) };
    }
    to
}

/// Implements `strlen`: returns the length of a C string.
///
/// # Safety
/// The string must be null-terminated.
pub(super) unsafe extern "C" fn length(text: *const u8) -> usize {
    let mut len = 0;
    // SAFETY: the caller's promise.
    while unsafe { text.add(len).read_volatile() } != 0 {
        len += 1;
    }
    len
}
