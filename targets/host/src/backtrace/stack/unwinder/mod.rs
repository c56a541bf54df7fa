//! Stack walk by the system's unwinder, which supports all frames and takes about 150 ns per frame.

#[cfg_attr(all(target_arch = "arm", not(target_vendor = "apple")), path = "registers.rs")]
mod context;

use core::ffi::{c_int, c_void};
use core::ptr;

use super::super::cache::Cache;
use super::frame::{Frame, Visitor};
use context::Context;

/// `_URC_NO_REASON`: continue the walk.
const GO_ON: c_int = 0;

/// `_URC_END_OF_STACK`: end the walk.
const END: c_int = 5;

/// Callback of the unwinder. Receives the context of a frame and a user pointer; returns a reason
/// code.
type Visit = unsafe extern "C" fn(context: *mut Context, walk: *mut c_void) -> c_int;

unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(visit: Visit, walk: *mut c_void) -> c_int;
}

/// State of a walk in progress, to which the unwinder's user pointer refers.
struct Walk<'a> {
    /// Callback that receives the return address of a frame and its caller's stack pointer. Returns
    /// `false` to end the walk.
    visit: &'a mut dyn FnMut(usize, usize) -> bool,
}

/// Calls `visit` for each frame of the current thread, beginning with the first one whose address
/// and stack pointer satisfy `begin`. Allocates nothing.
pub(super) fn trace(
    cache: &mut Cache,
    begin: impl Fn(usize, usize) -> bool,
    visit: &mut Visitor<'_>,
) {
    let mut begun = false;
    let mut walk = Walk {
        visit: &mut |pc, stack| {
            begun = begun || begin(pc, stack);
            // Some stacks end in a pseudo-frame at address zero.
            pc != 0
                && (!begun
                    || visit(cache, &Frame { pc, function: &|| context::function_around(pc) }))
        },
    };
    // SAFETY: the unwinder calls `visit_frame` with its own contexts and with the walk, which
    // outlives the call.
    unsafe { _Unwind_Backtrace(visit_frame, ptr::from_mut(&mut walk).cast()) };
}

/// Callback for the unwinder: passes a frame to the walk. Returns [`GO_ON`] or [`END`].
///
/// # Safety
/// `context` must be a live context of the unwinder, and `walk` a [`Walk`] that is not borrowed
/// elsewhere.
unsafe extern "C" fn visit_frame(context: *mut Context, walk: *mut c_void) -> c_int {
    // SAFETY: the caller guarantees both.
    let goes_on = unsafe {
        let walk = &mut *walk.cast::<Walk<'_>>();
        (walk.visit)(context::pc(context), context::stack_pointer(context))
    };
    if goes_on { GO_ON } else { END }
}
