//! Threads that run until the process ends, started without memory that must not be refused.

use core::ffi::c_void;
use core::mem::MaybeUninit;

/// The least stack of a thread, where the system gives less by default: what std gives.
const LEAST_STACK_BYTES: usize = 2 << 20;

/// Starts a thread with the stack that the system gives by default, as those of C++ have; false when it cannot.
///
/// # Safety
/// `body` must accept `argument` on another thread.
pub(super) unsafe fn start(body: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void) -> bool {
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the attributes are made before they are used and given back once; the caller vouches for the body.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return false;
        }
        let mut attributes = attributes.assume_init();
        let mut stack_bytes = 0;
        libc::pthread_attr_getstacksize(&attributes, &mut stack_bytes);
        libc::pthread_attr_setstacksize(&mut attributes, stack_bytes.max(LEAST_STACK_BYTES));
        libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
        let status = libc::pthread_create(thread.as_mut_ptr(), &attributes, body, argument);
        libc::pthread_attr_destroy(&mut attributes);
        status == 0
    }
}
