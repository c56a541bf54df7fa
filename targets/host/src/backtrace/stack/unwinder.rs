//! The walk by the system's unwinder, which understands every frame, at about 150 ns for each.

#[cfg_attr(all(target_arch = "arm", not(target_vendor = "apple")), path = "unwinder/registers.rs")]
mod context;

use core::ffi::{c_int, c_void};
use core::ptr;

use super::super::cache::Cache;
use super::{Frame, Visitor};
use context::Context;

/// `_URC_NO_REASON`: the walk goes on.
const GO_ON: c_int = 0;

/// `_URC_END_OF_STACK`: the walk ends.
const END: c_int = 5;

/// A function that is called with each frame, and what it was given.
type Visit = unsafe extern "C" fn(context: *mut Context, walk: *mut c_void) -> c_int;

unsafe extern "C-unwind" {
    fn _Unwind_Backtrace(visit: Visit, walk: *mut c_void) -> c_int;
}

/// The walk of one thread's stack.
struct Walk<'a> {
    /// Takes a frame by its address and its caller's stack pointer; false ends the walk.
    visit: &'a mut dyn FnMut(usize, usize) -> bool,
}

/// Visits the frames of this thread from the first one on for whose address and stack pointer `begin` says true.
/// Allocates nothing.
pub(super) fn trace(cache: &mut Cache, begin: impl Fn(usize, usize) -> bool, visit: &mut Visitor<'_>) {
    let mut begun = false;
    let mut walk = Walk {
        visit: &mut |pc, stack| {
            begun = begun || begin(pc, stack);
            // Some stacks end in a frame that is none.
            pc != 0 && (!begun || visit(cache, &Frame { pc, function: &|| context::function_around(pc) }))
        },
    };
    // SAFETY: the unwinder calls `visit_frame` with its own contexts and with the walk, which outlives the call.
    unsafe { _Unwind_Backtrace(visit_frame, ptr::from_mut(&mut walk).cast()) };
}

/// # Safety
/// The context is one of the unwinder's, and `walk` a [`Walk`] that nobody else uses now.
unsafe extern "C" fn visit_frame(context: *mut Context, walk: *mut c_void) -> c_int {
    // SAFETY: the caller vouches for both.
    let goes_on = unsafe {
        let walk = &mut *walk.cast::<Walk<'_>>();
        (walk.visit)(context::pc(context), context::stack_pointer(context))
    };
    if goes_on { GO_ON } else { END }
}
