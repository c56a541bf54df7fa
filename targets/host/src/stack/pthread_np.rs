//! Stack bounds on systems with `pthread_getattr_np`, such as Linux.

use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr;

/// Returns the stack bounds of the calling thread. For the main thread, the bounds include the
/// space into which the stack may grow.
pub(super) fn of_this_thread() -> Option<Range<usize>> {
    let mut attributes = MaybeUninit::uninit();
    // SAFETY: the thread is the calling one, and the attributes are writable.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return None;
    }
    let (mut start, mut len) = (ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised, and destroyed once, after their last use.
    let status = unsafe {
        let status = libc::pthread_attr_getstack(attributes.as_ptr(), &mut start, &mut len);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        status
    };
    (status == 0).then(|| start.addr()..start.addr().saturating_add(len))
}
