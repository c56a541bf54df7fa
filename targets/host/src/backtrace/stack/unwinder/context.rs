//! Access to the registers in an unwinder context, by the unwinder's accessor functions.

use core::ffi::c_void;
use core::ptr;

/// Context of a frame, an opaque type of the unwinder.
#[repr(C)]
pub(super) struct Context {
    _opaque: [u8; 0],
}

unsafe extern "C-unwind" {
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_FindEnclosingFunction(pc: *mut c_void) -> *mut c_void;
}

/// Returns the address at which the frame's code continues.
///
/// # Safety
/// `context` must be the one that the unwinder passed to the running callback.
pub(super) unsafe fn pc(context: *mut Context) -> usize {
    // SAFETY: the caller guarantees the context.
    unsafe { _Unwind_GetIP(context) }
}

/// Returns the stack pointer of the frame's caller.
///
/// # Safety
/// Same requirements as [`pc`].
pub(super) unsafe fn stack_pointer(context: *mut Context) -> usize {
    // SAFETY: the caller guarantees the context.
    unsafe { _Unwind_GetCFA(context) }
}

/// Returns the start address of the function that contains `pc`; zero if the unwinder does not know
/// it.
pub(super) fn function_around(pc: usize) -> usize {
    // SAFETY: the unwinder takes any address, and looks it up in its tables.
    unsafe { _Unwind_FindEnclosingFunction(ptr::without_provenance_mut(pc)) }.addr()
}
