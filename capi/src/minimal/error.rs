//! Section "Error handling". Errors have no backtrace, and at most `FERRITE_ERROR_BYTES` of kind and message.

use core::ffi::c_char;

use ferrite_core::abi::{TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::minimal::raised;

/// Takes the raised error of the program.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorMoveFromRaised(result: *mut TVMFFIObjectHandle) {
    if !result.is_null() {
        // SAFETY: not null, so valid for writing.
        unsafe { result.write(raised::take().cast()) };
    }
}

/// Raises an error object, in place of one that is raised already.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaised(error: TVMFFIObjectHandle) {
    // SAFETY: contract of the crate.
    let _ = unsafe { raised::set(error.cast::<TVMFFIObject>()) };
}

/// Raises an error of the given kind and message.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char) {
    // SAFETY: contract of the crate.
    unsafe { raised::raise(kind, &[message]) };
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
    let parts = match usize::try_from(num_parts) {
        // SAFETY: contract of this function.
        Ok(count) if !message_parts.is_null() => unsafe { core::slice::from_raw_parts(message_parts, count) },
        _ => &[],
    };
    // SAFETY: contract of the crate.
    unsafe { raised::raise(kind, parts) };
}
