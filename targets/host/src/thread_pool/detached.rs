//! Creation of detached threads. Unlike `std`, does not use Rust's allocator, which aborts the process when out of
//! memory.

use core::ffi::c_void;
use core::mem::MaybeUninit;

/// Stack size in bytes where the system's default is smaller. Equal to the default of `std`.
const LEAST_STACK_BYTES: usize = 2 << 20;

/// Starts a detached thread with the system's default stack size, like C++ threads. Returns `false` on failure.
///
/// # Safety
/// `body` must accept `argument` on another thread.
pub(super) unsafe fn start(body: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void) -> bool {
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the attributes are initialised before use and destroyed once; the caller vouches for `body`.
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
