//! Handles that are made once and released once, by the first of several callers.
//!
//! A user's function makes the handle, so no lock is held meanwhile; `makers` keeps account of who makes what.

pub(crate) mod in_progress;

use core::ffi::{c_int, c_void};
use core::ptr;

use self::in_progress::{InProgress, InitFailure};
use crate::error::Result;
use crate::sync::atomic::AtomicPtr;
use crate::sync::{Lock, exchange};

/// A function that makes a handle: it writes the handle through the pointer and returns 0, or raises an error and
/// returns another number.
pub type InitFunction = unsafe extern "C" fn(result: *mut *mut c_void) -> c_int;

/// A function that releases a handle: it returns 0, or raises an error and returns another number.
pub type DeinitFunction = unsafe extern "C" fn(handle: *mut c_void) -> c_int;

/// The handles being made by each thread, including the library's own.
pub(crate) static IN_PROGRESS: Lock<InProgress> = Lock::new(InProgress::none());

/// Makes the handle at `handle_addr` by `init_func`, unless it is there already; gives the status of `init_func`.
///
/// Threads: of several callers one makes the handle and the others wait for it; when it fails, the next one tries.
/// `init_func` may make other handles. Allocation: none. Forks: a child that is forked while another thread is in `init_func`
/// does not have that thread; its first caller makes the handle anew, and what that thread had half made stays as it was.
///
/// # Errors
/// RuntimeError when `init_func` succeeds without a handle, and when it asks for the handle that it is making; a build
/// that cannot tell threads apart waits for ever then. A failed attempt leaves the handle null.
///
/// # Safety
/// `handle_addr` is valid for atomic access as long as anybody uses the handle and was null before the first call;
/// `init_func` follows its contract.
///
/// # Upstream
/// `TVMFFIHandleInitOnce` in `init_once.cc`, which holds one lock for all handles and deadlocks on nesting.
pub unsafe fn init(handle_addr: *mut *mut c_void, init_func: InitFunction) -> Result<c_int> {
    // SAFETY: the caller's promise.
    let handle = unsafe { AtomicPtr::from_ptr(handle_addr) };
    // SAFETY: the result is a place for a pointer; the rest is the caller's promise.
    let outcome = in_progress::init(&IN_PROGRESS, handle, |result| unsafe { init_func(result) });
    outcome.map_err(|refusal| match refusal {
        InitFailure::NoHandle => crate::plain_error!(
            RUNTIME_ERROR, "init_func must return a non-NULL handle";
            "no handle made"
        ),
        InitFailure::Nested => {
            crate::plain_error!(
                RUNTIME_ERROR, "init_func asks for the handle that it is initializing";
                "nested init_func"
            )
        }
    })
}

/// Takes the handle from `handle_addr`, leaving null, and releases it by `deinit_func`, whose status it gives; 0 when
/// there was none.
///
/// # Safety
/// As [`init`]; nobody uses the handle any more.
///
/// # Upstream
/// `TVMFFIHandleDeinitOnce` in `init_once.cc`.
pub unsafe fn deinit(handle_addr: *mut *mut c_void, deinit_func: DeinitFunction) -> c_int {
    // SAFETY: the caller's promise.
    let handle = exchange(unsafe { AtomicPtr::from_ptr(handle_addr) }, ptr::null_mut());
    if handle.is_null() {
        return 0;
    }
    // SAFETY: the exchange made this caller the only one to release the handle.
    unsafe { deinit_func(handle) }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    unsafe extern "C" fn make(result: *mut *mut c_void) -> c_int {
        // SAFETY: `init` passes a place for the result.
        unsafe { result.write(ptr::without_provenance_mut(1)) };
        0
    }

    unsafe extern "C" fn fail(_result: *mut *mut c_void) -> c_int {
        -3
    }

    unsafe extern "C" fn forget(_result: *mut *mut c_void) -> c_int {
        0
    }

    unsafe extern "C" fn count(handle: *mut c_void) -> c_int {
        handle.addr() as c_int
    }

    #[test]
    fn one_of_many_threads_makes_the_handle() {
        static MADE: AtomicUsize = AtomicUsize::new(0);

        unsafe extern "C" fn make_slowly(result: *mut *mut c_void) -> c_int {
            std::thread::sleep(std::time::Duration::from_millis(2));
            MADE.fetch_add(1, Ordering::Relaxed);
            // SAFETY: as the caller's.
            unsafe { make(result) }
        }
        let handle = AtomicPtr::new(ptr::null_mut());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    // SAFETY: the handle outlives the threads.
                    let status = unsafe { init(handle.as_ptr(), make_slowly) };
                    assert_eq!(status.ok(), Some(0));
                    assert!(!handle.load(Ordering::Relaxed).is_null());
                });
            }
        });
        assert_eq!(MADE.load(Ordering::Relaxed), 1);
    }

    /// Builds that cannot tell threads apart would wait for ever.
    #[cfg(feature = "std")]
    #[test]
    fn handles_nest_but_not_in_themselves() {
        static OUTER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
        static INNER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

        unsafe extern "C" fn make_inner_first(result: *mut *mut c_void) -> c_int {
            // SAFETY: the statics are valid handles, and `init` passes a place for the result.
            unsafe {
                assert_eq!(init(INNER.as_ptr(), make).ok(), Some(0));
                assert!(init(OUTER.as_ptr(), make).is_err());
                result.write(ptr::without_provenance_mut(2));
            }
            0
        }
        // SAFETY: the static is a valid handle.
        let status = unsafe { init(OUTER.as_ptr(), make_inner_first) };
        assert_eq!(status.ok(), Some(0));
        assert_eq!(OUTER.load(Ordering::Relaxed).addr(), 2);
        assert_eq!(INNER.load(Ordering::Relaxed).addr(), 1);
    }

    #[test]
    fn a_failure_lets_the_next_caller_try() {
        let mut handle = ptr::null_mut();
        // SAFETY: the handle is a local that only this test uses.
        unsafe {
            assert_eq!(init(&mut handle, fail).ok(), Some(-3));
            assert!(init(&mut handle, forget).is_err());
            assert!(handle.is_null());
            assert_eq!(init(&mut handle, make).ok(), Some(0));
            assert!(!handle.is_null());
        }
    }

    #[test]
    fn a_handle_is_released_once() {
        let mut handle = ptr::without_provenance_mut(7);
        // SAFETY: the handle is a local that only this test uses.
        unsafe {
            assert_eq!(deinit(&mut handle, count), 7);
            assert_eq!(deinit(&mut handle, count), 0);
        }
    }
}
