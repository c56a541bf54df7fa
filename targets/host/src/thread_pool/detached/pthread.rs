//! Detached threads of POSIX.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

use super::{Body, LEAST_STACK_BYTES};

/// Starts a detached thread with the system's default stack size, like C++ threads. Returns `false`
/// on failure.
///
/// # Safety
/// `B` must accept `argument` on another thread.
pub(in super::super) unsafe fn start<B: Body>(argument: *mut c_void) -> bool {
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the attributes are initialised before use and destroyed once; the caller guarantees
    // the argument.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return false;
        }
        let mut attributes = attributes.assume_init();
        let mut stack_bytes = 0;
        libc::pthread_attr_getstacksize(&attributes, &mut stack_bytes);
        libc::pthread_attr_setstacksize(&mut attributes, stack_bytes.max(LEAST_STACK_BYTES));
        libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
        let status = libc::pthread_create(thread.as_mut_ptr(), &attributes, enter::<B>, argument);
        libc::pthread_attr_destroy(&mut attributes);
        status == 0
    }
}

extern "C" fn enter<B: Body>(argument: *mut c_void) -> *mut c_void {
    // SAFETY: the caller of `start` guarantees the argument.
    unsafe { B::run(argument) };
    ptr::null_mut()
}
