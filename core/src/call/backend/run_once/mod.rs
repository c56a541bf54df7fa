//! One-time initialisers of compiled modules: functions that run once per handle.

use core::ffi::{c_int, c_void};

use crate::error::Result;
use crate::platform::sync::atomic::AtomicPtr;

mod error;
#[cfg_attr(feature = "std", path = "std.rs")]
#[cfg_attr(not(feature = "std"), path = "bare.rs")]
mod imp;

/// Runs `body` unless it has already succeeded for this handle. After a failure, a later call tries
/// again.
///
/// If several threads call this at once, one of them runs `body` and the others wait. A child
/// process forked meanwhile runs `body` anew.
///
/// # Errors
/// The error that `body` raised, or RuntimeError if it failed without raising one. RuntimeError,
/// too, if `body`, or an interrupt handler during it, requests the same handle; a build that cannot
/// tell threads apart waits forever instead.
///
/// # Safety
/// `handle` must be valid for atomic access, null before the first call, and written by nobody
/// else. `body` must accept `data`.
///
/// # Upstream
/// `TVMBackendRunOnce` of `src/runtime/c_runtime_api.cc`, which is not thread-safe and tries only
/// once.
#[inline]
pub unsafe fn run_once(
    handle: *mut *mut c_void,
    body: unsafe extern "C" fn(data: *mut c_void) -> c_int,
    data: *mut c_void,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { imp::run(AtomicPtr::from_ptr(handle), body, data) }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "std")]
    use super::imp::DONE;
    use super::*;
    use crate::error::raised_error;
    use crate::plain_error;
    use core::ptr;
    use core::sync::atomic::{AtomicI32, Ordering};

    unsafe extern "C" fn count(data: *mut c_void) -> c_int {
        // SAFETY: the tests pass a counter.
        unsafe { (*data.cast::<AtomicI32>()).fetch_add(1, Ordering::Relaxed) };
        0
    }

    /// Requests the handle of its own initialisation.
    #[cfg(feature = "std")]
    unsafe extern "C" fn ask_again(handle: *mut c_void) -> c_int {
        // SAFETY: the test passes the handle itself, which is `ask_again`'s.
        let error = unsafe { run_once(handle.cast(), ask_again, handle) }.unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        0
    }

    #[cfg(feature = "std")]
    #[test]
    fn an_initialiser_cannot_wait_for_itself() {
        let handle = AtomicPtr::new(ptr::null_mut());
        // SAFETY: the handle outlives the call.
        unsafe { run_once(handle.as_ptr(), ask_again, handle.as_ptr().cast()) }.unwrap();
        assert_eq!(handle.load(Ordering::Relaxed), DONE);
    }

    unsafe extern "C" fn fail(_: *mut c_void) -> c_int {
        raised_error::set(plain_error!(KEY_ERROR, "no such key"));
        -1
    }

    #[test]
    fn of_many_calls_one_runs() {
        let counter = AtomicI32::new(0);
        let handle = AtomicPtr::new(ptr::null_mut());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // SAFETY: handle and counter outlive the threads.
                    unsafe {
                        run_once(handle.as_ptr(), count, (&raw const counter).cast_mut().cast())
                    }
                    .unwrap();
                });
            }
        });
        assert_eq!(counter.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn after_a_failure_the_next_call_tries_again() {
        let counter = AtomicI32::new(0);
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is ours, and `fail` accepts anything.
        let error = unsafe { run_once(&mut handle, fail, ptr::null_mut()) }.unwrap_err();
        assert_eq!(error.kind_bytes(), b"KeyError");
        // SAFETY: as above, with the counter.
        unsafe { run_once(&mut handle, count, (&raw const counter).cast_mut().cast()) }.unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), 1);
    }
}
