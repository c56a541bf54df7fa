//! Initialisers of compiled modules that run once per handle.

use core::ffi::{c_int, c_void};
use core::ptr;

use crate::error::Result;
use crate::sync::atomic::{AtomicPtr, Ordering};
use crate::sync::{exchange, pause};
use crate::{plain_error, raised};

/// What a handle holds while its function runs, and after it succeeded.
const RUNNING: *mut c_void = ptr::without_provenance_mut(1);
const DONE: *mut c_void = ptr::without_provenance_mut(2);

/// Runs `body` unless it has succeeded for this handle before. After a failure, a later call tries again.
///
/// Of several threads one runs `body` and the others wait. `body` must not ask for the same handle.
///
/// Errors: the one that `body` raised, or RuntimeError when it failed without one.
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
    for round in 0u32.. {
        if state.load(Ordering::Acquire) == DONE {
            break;
        }
        let before = exchange(state, RUNNING);
        if before.is_null() {
            // SAFETY: the caller vouches for `body` and `data`.
            return finish(state, unsafe { body(data) });
        }
        if before == DONE {
            // Another thread finished between the load and the exchange.
            state.store(DONE, Ordering::Release);
            break;
        }
        pause(round);
    }
    Ok(())
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
