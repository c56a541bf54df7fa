//! Handles made once, in programs whose only concurrency is interrupts.

use core::ffi::{c_int, c_void};
use core::ptr;

use super::refusal::{Refusal, refuse};
use super::{status, swap};
use crate::init_once::InitFunction;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// A handle that is being made, on the stack of who makes it.
struct Maker {
    handle: *mut *mut c_void,
    below: *mut Maker,
}

/// The handles that are being made, the latest first: each maker interrupted, or was called by, the one below.
static MAKERS: AtomicPtr<Maker> = AtomicPtr::new(ptr::null_mut());

/// Makes the handle at `handle` by `init`, unless it is there; gives the status of `init`.
///
/// # Errors
/// RuntimeError when `init` gives no handle, and when the handle is being made: by a caller, or by what this interrupts.
///
/// # Safety
/// As [`crate::init_once::init`].
pub unsafe fn init(handle: *mut *mut c_void, init: InitFunction) -> c_int {
    // SAFETY: the caller's promise.
    let place = unsafe { AtomicPtr::from_ptr(handle) };
    let mut maker = Maker { handle, below: MAKERS.load(Ordering::Relaxed) };
    let mut at = maker.below;
    // SAFETY: makers in the chain are waiting for this call to return.
    while let Some(other) = unsafe { at.as_ref() } {
        if other.handle == handle {
            return status(Err(refuse(Refusal::Busy)));
        }
        at = other.below;
    }
    // An interrupt up to here leaves the chain as it was, and may have made the handle; from here on it is refused.
    MAKERS.store(&raw mut maker, Ordering::Relaxed);
    // SAFETY: the caller vouches for the function.
    let outcome = if place.load(Ordering::Relaxed).is_null() { unsafe { make(place, init) } } else { 0 };
    MAKERS.store(maker.below, Ordering::Relaxed);
    outcome
}

/// # Safety
/// `init` follows its contract.
unsafe fn make(place: &AtomicPtr<c_void>, init: InitFunction) -> c_int {
    let mut made = ptr::null_mut();
    // SAFETY: the caller's promise.
    let outcome = unsafe { init(&mut made) };
    if outcome != 0 {
        return outcome;
    }
    if made.is_null() {
        return status(Err(refuse(Refusal::NoHandle)));
    }
    place.store(made, Ordering::Relaxed);
    0
}

/// Takes the handle away and gives it back; null when there was none.
///
/// # Safety
/// As [`crate::init_once::deinit`].
pub unsafe fn take(handle: *mut *mut c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    swap(unsafe { AtomicPtr::from_ptr(handle) }, ptr::null_mut())
}
