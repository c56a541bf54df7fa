//! Stack bounds on Apple systems, from `pthread_get_stackaddr_np`.

use core::ops::Range;

/// Returns the stack bounds of the calling thread.
pub(super) fn of_this_thread() -> Option<Range<usize>> {
    // SAFETY: the thread is the calling one.
    let (end, len) = unsafe {
        let thread = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(thread).addr(), libc::pthread_get_stacksize_np(thread))
    };
    Some(end.checked_sub(len)?..end)
}
