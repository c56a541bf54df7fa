//! One-time initialisation and release of opaque handles.
//!
//! A user callback creates the handle, so no lock is held meanwhile. `in_progress` tracks the
//! running initialisations.

pub(crate) mod in_progress;

use core::ffi::{c_int, c_void};
use core::ptr;

use self::in_progress::{InProgress, InitFailure};
use crate::call::function;
use crate::error::Result;
use crate::error::raised_error::{self, Mark};
use crate::platform::sync::atomic::AtomicPtr;
use crate::platform::sync::{Lock, exchange};

/// Creates a handle: writes it to `result` and returns 0, or raises an error and returns another
/// number.
pub type InitFunction = unsafe extern "C" fn(result: *mut *mut c_void) -> c_int;

/// Releases a handle: returns 0, or raises an error and returns another number.
pub type DeinitFunction = unsafe extern "C" fn(handle: *mut c_void) -> c_int;

/// The initialisations in progress on all threads, including the library's own.
pub(crate) static IN_PROGRESS: Lock<InProgress> = Lock::new(InProgress::none());

/// Initialises the handle at `handle_addr` with `init_func`, unless it is already initialised.
/// Returns the status of `init_func`, or 0 if the handle was already initialised. If that status is
/// not 0, an error is raised.
///
/// Threads: if several threads call this at once, one of them runs `init_func` and the others wait
/// for it. If it fails, the next caller tries again. `init_func` may initialise other handles.
/// Allocation: none. Forks: if a child is forked while another thread runs `init_func`, that thread
/// does not exist in the child; the first caller in the child initialises the handle anew, and
/// partial work of that thread remains.
///
/// # Errors
/// RuntimeError if `init_func` succeeds without writing a handle, or if it requests the handle that
/// it is initialising; a build that cannot tell threads apart waits forever in the latter case. A
/// failed attempt leaves the handle null.
///
/// # Safety
/// `handle_addr` must be valid for atomic access while the handle is in use, and null before the
/// first call. `init_func` must follow its contract.
///
/// # Upstream
/// `TVMFFIHandleInitOnce` in `init_once.cc`, which holds one lock for all handles and deadlocks on
/// nesting.
pub unsafe fn init(handle_addr: *mut *mut c_void, init_func: InitFunction) -> Result<c_int> {
    // SAFETY: the caller's promise.
    let handle = unsafe { AtomicPtr::from_ptr(handle_addr) };
    // SAFETY: `result` can hold a pointer; the rest is the caller's promise.
    let outcome =
        in_progress::init(&IN_PROGRESS, handle, |result| raising(|| unsafe { init_func(result) }));
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

/// Takes the handle from `handle_addr`, leaving null, and releases it with `deinit_func`. Returns
/// the status of `deinit_func`, or 0 if the handle was null. If that status is not 0, an error is
/// raised.
///
/// # Safety
/// The requirements of [`init`]. The handle must no longer be in use.
///
/// # Upstream
/// `TVMFFIHandleDeinitOnce` in `init_once.cc`.
pub unsafe fn deinit(handle_addr: *mut *mut c_void, deinit_func: DeinitFunction) -> c_int {
    // SAFETY: the caller's promise.
    let handle = exchange(unsafe { AtomicPtr::from_ptr(handle_addr) }, ptr::null_mut());
    if handle.is_null() {
        return 0;
    }
    // SAFETY: the exchange gave the handle to this caller alone.
    raising(|| unsafe { deinit_func(handle) })
}

/// Runs a user callback and returns its status. If that is not 0 and the callback has raised no
/// error, raises one that names it.
fn raising(callback: impl FnOnce() -> c_int) -> c_int {
    let before = Mark::now();
    let status = callback();
    // Microcontrollers trust the callback, which saves flash.
    if cfg!(feature = "std") && status != 0 {
        raised_error::set_again(function::failure(status, before));
    }
    status
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};

    unsafe extern "C" fn make(result: *mut *mut c_void) -> c_int {
        // SAFETY: `init` passes a valid result pointer.
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

    /// Builds that cannot tell threads apart would wait forever.
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
