//! Initialisers of compiled modules that run once per handle.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::error::{Error, Result};
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::{critical, current_thread, pause};
use crate::{plain_error, raised};

/// What a handle holds while its function runs on a thread that has no number, and after it succeeded. While its function runs
/// on another one, it holds that number, which is an address.
const RUNNING: *mut c_void = ptr::without_provenance_mut(1);
const DONE: *mut c_void = ptr::without_provenance_mut(2);

/// Runs `body` unless it has succeeded for this handle before. After a failure, a later call tries again.
///
/// Of several threads one runs `body` and the others wait.
///
/// # Errors
/// The one that `body` raised, or RuntimeError when it failed without one; RuntimeError, too, when `body` or an interrupt
/// handler meanwhile asks for the same handle, which waits for ever in a build that cannot tell threads apart.
///
/// # Safety
/// `handle` must be valid for atomic access, null before the first call and written by nobody else; `body`
/// must accept `data`.
///
/// # Upstream
/// `TVMBackendRunOnce` of `src/runtime/c_runtime_api.cc`, which is not safe with threads and tries once only.
pub unsafe fn run_once(
    handle: *mut *mut c_void,
    body: unsafe extern "C" fn(data: *mut c_void) -> c_int,
    data: *mut c_void,
) -> Result<()> {
    // SAFETY: the caller vouches for the handle.
    let state = unsafe { AtomicPtr::from_ptr(handle) };
    let here = current_thread().map_or(RUNNING, |here| ptr::without_provenance_mut(here.get()));
    for round in 0u32.. {
        match claim(state, here) {
            DONE => break,
            // SAFETY: the caller vouches for `body` and `data`.
            before if before.is_null() => return finish(state, unsafe { body(data) }),
            before if before == here && here != RUNNING => return Err(nested()),
            _ => pause(round),
        }
    }
    Ok(())
}

/// What the handle holds; `here` from now on, if that is nothing.
fn claim(state: &AtomicPtr<c_void>, here: *mut c_void) -> *mut c_void {
    let held = state.load(Ordering::Acquire);
    if !held.is_null() {
        return held;
    }
    critical(|| {
        let held = state.load(Ordering::Acquire);
        if held.is_null() {
            state.store(here, Ordering::Relaxed);
        }
        held
    })
}

#[cold]
fn nested() -> Error {
    plain_error!(RUNTIME_ERROR, "an initialiser asks for what it is initialising")
}

fn finish(state: &AtomicPtr<c_void>, status: c_int) -> Result<()> {
    if status == 0 {
        state.store(DONE, Ordering::Release);
        return Ok(());
    }
    state.store(ptr::null_mut(), Ordering::Release);
    Err(raised::take()
        .unwrap_or_else(|| plain_error!(RUNTIME_ERROR, "an initialiser failed without raising an error")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicI32;

    unsafe extern "C" fn count(data: *mut c_void) -> c_int {
        // SAFETY: the tests pass a counter.
        unsafe { (*data.cast::<AtomicI32>()).fetch_add(1, Ordering::Relaxed) };
        0
    }

    /// Asks for the handle that it is run for.
    #[cfg(feature = "std")]
    unsafe extern "C" fn ask_again(handle: *mut c_void) -> c_int {
        // SAFETY: the test passes the handle itself, which is `ask_again`'s.
        let error = unsafe { run_once(handle.cast(), ask_again, handle) }.unwrap_err();
        assert_eq!(error.kind(), b"RuntimeError");
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
        raised::set(plain_error!(KEY_ERROR, "no such key"));
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
                    unsafe { run_once(handle.as_ptr(), count, (&raw const counter).cast_mut().cast()) }
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
        assert_eq!(error.kind(), b"KeyError");
        // SAFETY: as above, with the counter.
        unsafe { run_once(&mut handle, count, (&raw const counter).cast_mut().cast()) }.unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), 1);
    }
}
