//! The unwinder's contexts, which functions of it read.

use core::ffi::c_void;
use core::ptr;

/// The state of a frame, which only the unwinder knows.
#[repr(C)]
pub(super) struct Context {
    _opaque: [u8; 0],
}

unsafe extern "C-unwind" {
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_FindEnclosingFunction(pc: *mut c_void) -> *mut c_void;
}

/// Returns the address at which the code of the frame goes on.
///
/// # Safety
/// The unwinder gave the context to the function that it runs now.
pub(super) unsafe fn pc(context: *mut Context) -> usize {
    // SAFETY: the caller vouches for the context.
    unsafe { _Unwind_GetIP(context) }
}

/// Returns the stack pointer of the frame's caller.
///
/// # Safety
/// As for [`pc`].
pub(super) unsafe fn stack_pointer(context: *mut Context) -> usize {
    // SAFETY: the caller vouches for the context.
    unsafe { _Unwind_GetCFA(context) }
}

/// Returns the address of the function around `pc`; zero when the unwinder knows none.
pub(super) fn function_around(pc: usize) -> usize {
    // SAFETY: the unwinder takes any address, and looks it up in its tables.
    unsafe { _Unwind_FindEnclosingFunction(ptr::without_provenance_mut(pc)) }.addr()
}
