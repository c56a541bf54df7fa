//! Section "Error handling". Errors have no backtrace, and at most `FERRITE_ERROR_BYTES` of kind and message.

use core::ffi::c_char;
use core::ptr;

use ferrite_core::abi::{TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::minimal::{Refusal, raised_error};
use ferrite_core::type_index;

use super::boundary::fail;
use super::object::{TVMFFIObjectDecRef, TVMFFIObjectIncRef};

/// Takes the raised error of the program. Does nothing when `result` is null: the error stays raised, and there is no log.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorMoveFromRaised(result: *mut TVMFFIObjectHandle) {
    if !result.is_null() {
        // SAFETY: not null, so valid for writing.
        unsafe { result.write(raised_error::swap(ptr::null_mut()).cast()) };
    }
}

/// Raises an error object, in place of one that is raised already.
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

/// Raises an error of the given kind and message.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char) {
    // SAFETY: contract of the crate.
    unsafe { TVMFFIErrorSetRaisedFromCStrParts(kind, &mut { message }, 1) };
}

/// Raises an error whose message is put together from parts.
///
/// # Safety
/// `message_parts` points to `num_parts` strings or nulls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStrParts(
    kind: *const c_char,
    message_parts: *mut *const c_char,
    num_parts: i32,
) {
    // SAFETY: contract of this function. What nobody took makes room first.
    unsafe {
        replace(ptr::null_mut());
        replace(raised_error::create(kind, message_parts, num_parts));
    }
}

/// Raises `error`, or none when it is null, in place of what is raised.
///
/// # Safety
/// `error` is null, or an error object with a reference that the caller gives up.
#[inline(never)]
unsafe fn replace(error: *mut TVMFFIObject) {
    // SAFETY: the caller's promise; what was raised was owned.
    unsafe {
        let previous = raised_error::swap(error);
        if !previous.is_null() {
            TVMFFIObjectDecRef(previous.cast());
        }
    }
}
