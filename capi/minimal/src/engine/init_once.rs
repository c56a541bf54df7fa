//! One-time initialisation of handles in programs whose only concurrency is interrupts.
//!
//! A handle that is being initialised points to itself.

use core::ffi::{c_int, c_void};
use core::ptr;

use super::refusal::{Refusal, Result};
use ferrite_core::call::init_once::InitFunction;
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};
use ferrite_core::platform::sync::critical;

/// Initialises the handle at `handle` with `init`, unless it is already initialised. Returns the
/// status of `init`, or 0 if the handle was already initialised.
///
/// # Errors
/// RuntimeError if `init` writes no handle, or if the handle is already being initialised, by a
/// caller or by the interrupted code.
///
/// # Safety
/// Same requirements as [`ferrite_core::call::init_once::init`].
#[inline(always)]
pub unsafe fn init(handle: *mut *mut c_void, init: InitFunction) -> Result<c_int> {
    // SAFETY: the caller's promise.
    let place = unsafe { AtomicPtr::from_ptr(handle) };
    let seen = critical(|| {
        let seen = place.load(Ordering::Relaxed);
        if seen.is_null() {
            place.store(handle.cast(), Ordering::Relaxed);
        }
        seen
    });
    if !seen.is_null() {
        return if seen == handle.cast() { Err(Refusal::BUSY) } else { Ok(0) };
    }
    let mut made = ptr::null_mut();
    // SAFETY: the caller guarantees the function.
    let outcome = unsafe { init(&mut made) };
    if outcome != 0 {
        made = ptr::null_mut();
    }
    place.store(made, Ordering::Relaxed);
    if outcome == 0 && made.is_null() { Err(Refusal::NO_HANDLE) } else { Ok(outcome) }
}

/// Takes the handle, leaving null. Returns null if the handle is not initialised.
///
/// # Safety
/// Same requirements as [`ferrite_core::call::init_once::deinit`].
#[inline(always)]
pub unsafe fn take(handle: *mut *mut c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    let place = unsafe { AtomicPtr::from_ptr(handle) };
    critical(|| {
        let seen = place.load(Ordering::Relaxed);
        if seen == handle.cast() {
            return ptr::null_mut();
        }
        place.store(ptr::null_mut(), Ordering::Relaxed);
        seen
    })
}
