//! Memory loops for Cortex-M cores. They are naked functions, since a stack frame would take more
//! code than the loops themselves.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};

/// Implements `memcpy`, from the last byte to the first.
///
/// # Safety
/// `bytes` bytes must be readable at `from` and writable at `to`, and the buffers must not overlap
/// unless `to` is the higher address.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> *mut c_void {
    naked_asm!(
        "2: subs r2, r2, #1",
        "bcc 3f",
        "ldrb r3, [r1, r2]",
        "strb r3, [r0, r2]",
        "b 2b",
        "3: bx lr"
    )
}

/// Implements `memset`: fills a buffer with a byte value.
///
/// # Safety
/// `bytes` bytes must be writable at `to`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn fill(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void {
    naked_asm!("2: subs r2, r2, #1", "bcc 3f", "strb r1, [r0, r2]", "b 2b", "3: bx lr")
}

/// Implements `strlen`: returns the length of a C string.
///
/// # Safety
/// The string must be null-terminated.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn length(text: *const u8) -> usize {
    naked_asm!(
        "movs r1, #0",
        "2: ldrb r2, [r0, r1]",
        "adds r1, r1, #1",
        "cmp r2, #0",
        "bne 2b",
        "subs r0, r1, #1",
        "bx lr"
    )
}
