//! Symbols of the header section "Error handling". In the profile `minimal`, errors have no
//! backtrace, and their kind and message are limited to `FERRITE_ERROR_BYTES` bytes in total.

use core::ffi::c_char;
use core::ptr;

use crate::engine::{Refusal, errors};
use ferrite_core::abi::{TVMFFIObject, TVMFFIObjectHandle, type_index};

use super::boundary::fail;
use super::object::{TVMFFIObjectDecRef, TVMFFIObjectIncRef};

/// Moves the program's raised error to `*result`, or stores null if there is none. The caller owns
/// the error. If `result` is null, does nothing: the error stays raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorMoveFromRaised(result: *mut TVMFFIObjectHandle) {
    if !result.is_null() {
        // SAFETY: not null, so valid for writing.
        unsafe { result.write(errors::swap(ptr::null_mut()).cast()) };
    }
}

/// Raises an error object, replacing any raised error. The object is retained.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaised(error: TVMFFIObjectHandle) {
    let error = error.cast::<TVMFFIObject>();
    // SAFETY: contract of the crate: the object is alive.
    unsafe {
        if !error.is_null() {
            if (*error).type_index != type_index::ERROR {
                fail(Refusal::TYPE);
                return;
            }
            TVMFFIObjectIncRef(error.cast());
        }
        replace(error);
    }
}

/// Raises an error of the given kind and message. Both strings are copied.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char) {
    // SAFETY: contract of the crate.
    unsafe { TVMFFIErrorSetRaisedFromCStrParts(kind, &mut { message }, 1) };
}

/// Raises an error whose message is the concatenation of parts.
///
/// # Safety
/// `message_parts` must point to `num_parts` pointers, each null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStrParts(
    kind: *const c_char,
    message_parts: *mut *const c_char,
    num_parts: i32,
) {
    // SAFETY: contract of this function. An untaken error is released first, to free its slot.
    unsafe {
        replace(ptr::null_mut());
        replace(errors::create(kind, message_parts, num_parts));
    }
}

/// Replaces the raised error by `error`, which may be null, and releases the previous one.
///
/// # Safety
/// `error` must be null, or an error object to which the caller transfers a reference.
#[inline(never)]
unsafe fn replace(error: *mut TVMFFIObject) {
    // SAFETY: the caller's promise; the previous error is owned here.
    unsafe {
        let previous = errors::swap(error);
        if !previous.is_null() {
            TVMFFIObjectDecRef(previous.cast());
        }
    }
}
