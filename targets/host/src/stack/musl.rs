//! Stack bounds on musl: `pthread_getattr_np` returns the grown part of the main thread's stack
//! only, so its limit is added.

use core::ops::Range;

use super::pthread_np;

/// Least distance in bytes that the kernel leaves between the main thread's stack and other
/// mappings.
const LEAST_GAP: usize = 128 << 20;

/// Most bytes of arguments and environment, which are above the main thread's stack.
const MOST_ARGUMENTS: usize = 8 << 20;

/// Size of a page, or more.
const PAGE: usize = 64 << 10;

/// Returns the stack bounds of the calling thread. For the main thread, the bounds include the
/// space into which the stack may grow.
pub(super) fn of_this_thread() -> Option<Range<usize>> {
    let bounds = pthread_np::of_this_thread()?;
    let top = top_of_main();
    // A thread that forked is the main thread of the child, with the stack that it had.
    let is_main = top.checked_sub(bounds.end).is_some_and(|distance| distance < MOST_ARGUMENTS);
    if !is_main {
        return Some(bounds);
    }
    Some(top.saturating_add(PAGE).checked_sub(limit()?)?..bounds.end)
}

/// Returns an address within a page of the end of the main thread's stack: that of the program's
/// path, the last text on it.
fn top_of_main() -> usize {
    // SAFETY: reads the values that the kernel passed to the program.
    unsafe { libc::getauxval(libc::AT_EXECFN) as usize }
}

/// Returns the limit of the main thread's stack in bytes, arguments included.
fn limit() -> Option<usize> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the record is writable.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    let bytes = usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX);
    (status == 0).then_some(bytes.min(LEAST_GAP))
}
