//! The unwinder's contexts on 32-bit Arm, whose unwinder has one function that reads registers (Exception Handling ABI for the
//! Arm Architecture, 7.5.2).

use core::ffi::{c_int, c_void};

/// The state of a frame, which only the unwinder knows.
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

/// The registers of the core, and 32-bit numbers.
const CORE: c_int = 0;
const UINT32: c_int = 0;

const STACK_POINTER: u32 = 13;
const PC: u32 = 15;

/// The bit of an address that says that its code is Thumb code.
const THUMB: usize = 1;

/// Returns the address at which the code of the frame goes on.
///
/// # Safety
/// The unwinder gave the context to the function that it runs now.
pub(super) unsafe fn pc(context: *mut Context) -> usize {
    // SAFETY: the caller vouches for the context.
    unsafe { register(context, PC) & !THUMB }
}

/// Returns the stack pointer of the frame's caller.
///
/// # Safety
/// As for [`pc`].
pub(super) unsafe fn stack_pointer(context: *mut Context) -> usize {
    // SAFETY: the caller vouches for the context.
    unsafe { register(context, STACK_POINTER) }
}

/// # Safety
/// As for [`pc`].
unsafe fn register(context: *mut Context, register: u32) -> usize {
    let mut value = 0_usize;
    // SAFETY: the caller vouches for the context; the value has 32 bits.
    unsafe { _Unwind_VRS_Get(context, CORE, register, UINT32, (&raw mut value).cast()) };
    value
}

/// Returns zero: the unwinder does not tell.
pub(super) fn function_around(_: usize) -> usize {
    0
}
