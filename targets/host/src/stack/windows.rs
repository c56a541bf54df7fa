//! Stack bounds on Windows, from `GetCurrentThreadStackLimits`.

use core::ops::Range;

use windows_sys::Win32::System::Threading::GetCurrentThreadStackLimits;

/// Returns the stack bounds of the calling thread, with the space into which the stack may grow.
pub(super) fn of_this_thread() -> Option<Range<usize>> {
    let (mut start, mut end) = (0, 0);
    // SAFETY: the places for the results are local variables.
    unsafe { GetCurrentThreadStackLimits(&mut start, &mut end) };
    Some(start..end)
}
