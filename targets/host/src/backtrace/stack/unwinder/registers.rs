//! Access to the registers in an unwinder context on 32-bit Arm, by `_Unwind_VRS_Get` (Exception
//! Handling ABI for the Arm Architecture, 7.5.2).

use core::ffi::{c_int, c_void};

/// Context of a frame, an opaque type of the unwinder.
#[repr(C)]
pub(super) struct Context {
    _opaque: [u8; 0],
}

unsafe extern "C-unwind" {
    fn _Unwind_VRS_Get(
        context: *mut Context,
        class: c_int,
        register: u32,
        representation: c_int,
        value: *mut c_void,
    ) -> c_int;
}

/// `_UVRSC_CORE`: register class of the core registers.
const CORE: c_int = 0;
/// `_UVRSD_UINT32`: representation as an unsigned 32-bit integer.
const UINT32: c_int = 0;

const STACK_POINTER: u32 = 13;
const PC: u32 = 15;

/// Bit of a code address that marks Thumb code.
const THUMB: usize = 1;

/// Returns the address at which the frame's code continues.
///
/// # Safety
/// `context` must be the one that the unwinder passed to the running callback.
pub(super) unsafe fn pc(context: *mut Context) -> usize {
    // SAFETY: the caller guarantees the context.
    unsafe { register(context, PC) & !THUMB }
}

/// Returns the stack pointer of the frame's caller.
///
/// # Safety
/// Same requirements as [`pc`].
pub(super) unsafe fn stack_pointer(context: *mut Context) -> usize {
    // SAFETY: the caller guarantees the context.
    unsafe { register(context, STACK_POINTER) }
}

/// Returns the value of a core register.
///
/// # Safety
/// Same requirements as [`pc`].
unsafe fn register(context: *mut Context, register: u32) -> usize {
    let mut value = 0_usize;
    // SAFETY: the caller guarantees the context; the value has 32 bits.
    unsafe { _Unwind_VRS_Get(context, CORE, register, UINT32, (&raw mut value).cast()) };
    value
}

/// Returns zero: this unwinder cannot look up functions.
pub(super) fn function_around(_: usize) -> usize {
    0
}
