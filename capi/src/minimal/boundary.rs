//! Argument checks, and the conversion of results to status codes.

use core::ffi::c_int;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIByteArray, TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::minimal::names::MAX_BYTES;
use ferrite_core::minimal::{Refusal, Result};
use ferrite_core::type_index;

use super::error::TVMFFIErrorSetRaisedFromCStr;

/// Runs the body of an entry point: returns 0 on success, and raises the error of a refusal and returns -1.
#[inline(always)]
pub(super) fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    finish(body())
}

/// Raises the error of a refusal and returns -1.
#[inline(always)]
pub(super) fn fail(refusal: Refusal) -> c_int {
    finish(Err(refusal))
}

/// Converts the result of an entry point into a status; shared by all of them.
#[inline(never)]
fn finish(result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(refusal) => {
            let (kind, message) = refusal.texts();
            // SAFETY: both are C strings.
            unsafe { TVMFFIErrorSetRaisedFromCStr(kind, message) };
            // Opaque to the compiler, which would otherwise duplicate the constant wherever a status is passed on.
            let mut failure = -1;
            // SAFETY: a local that was just written.
            unsafe { (&raw mut failure).read_volatile() }
        }
    }
}

/// Refuses a null pointer.
#[inline(always)]
pub(super) fn non_null<T>(pointer: *const T) -> Result<NonNull<T>> {
    callback(NonNull::new(pointer.cast_mut()))
}

/// Refuses an absent callback.
#[inline(always)]
pub(super) fn callback<F>(function: Option<F>) -> Result<F> {
    function.ok_or(Refusal::ARGUMENT)
}

/// Refuses a null array, null data with a size, and an impossible size of a name.
///
/// # Safety
/// `array` is null or points to a byte array.
#[inline(always)]
pub(super) unsafe fn bytes<'a>(array: *const TVMFFIByteArray) -> Result<&'a TVMFFIByteArray> {
    // SAFETY: the caller's promise.
    callback(unsafe { checked_bytes(array) })
}

/// Implements [`bytes`], shared by all callers.
///
/// # Safety
/// As for [`bytes`].
#[inline(never)]
unsafe fn checked_bytes<'a>(array: *const TVMFFIByteArray) -> Option<&'a TVMFFIByteArray> {
    // SAFETY: the caller's promise.
    let array = unsafe { array.as_ref()? };
    let is_good = array.size == 0 || (!array.data.is_null() && array.size <= MAX_BYTES);
    is_good.then_some(array)
}

/// Returns the function object of a handle; null and other objects are refused.
///
/// # Safety
/// `handle` is null or points to a live object.
#[inline(always)]
pub(super) unsafe fn function(handle: TVMFFIObjectHandle) -> Result<NonNull<TVMFFIObject>> {
    let object = non_null(handle.cast::<TVMFFIObject>())?;
    // SAFETY: the object is alive. Only this field is read, since its count may change meanwhile.
    if unsafe { (*object.as_ptr()).type_index } == type_index::FUNCTION {
        Ok(object)
    } else {
        Err(Refusal::TYPE)
    }
}
