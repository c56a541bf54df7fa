//! Helpers shared by the C symbols of the profile `minimal`: argument checks, and conversion of
//! results to status codes.

use core::ffi::c_int;
use core::ptr::NonNull;

use crate::engine::names::MAX_BYTES;
use crate::engine::{Refusal, Result};
use ferrite_core::abi::{TVMFFIByteArray, TVMFFIObject, TVMFFIObjectHandle, type_index};

use super::error::TVMFFIErrorSetRaisedFromCStr;

/// Runs the body of an entry point. Returns 0 on success. If the body returns a refusal, raises its
/// error and returns -1.
#[inline(always)]
pub(super) fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    finish(body())
}

/// Raises the error that a refusal describes. Returns -1.
#[inline(always)]
pub(super) fn fail(refusal: Refusal) -> c_int {
    finish(Err(refusal))
}

/// Converts the result of an entry point into a status code. All entry points share one copy of
/// this function.
#[inline(never)]
fn finish(result: Result<()>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(refusal) => {
            let (kind, message) = refusal.kind_and_message();
            // SAFETY: both are C strings.
            unsafe { TVMFFIErrorSetRaisedFromCStr(kind, message) };
            // Opaque to the compiler, which would otherwise duplicate the constant wherever a
            // status is passed on.
            let mut failure = -1;
            // SAFETY: a local that was just written.
            unsafe { (&raw mut failure).read_volatile() }
        }
    }
}

/// Checks that a pointer is not null; returns `Refusal::ARGUMENT` otherwise.
#[inline(always)]
pub(super) fn non_null<T>(pointer: *const T) -> Result<NonNull<T>> {
    callback(NonNull::new(pointer.cast_mut()))
}

/// Checks that a callback is not null; returns `Refusal::ARGUMENT` otherwise.
#[inline(always)]
pub(super) fn callback<F>(function: Option<F>) -> Result<F> {
    function.ok_or(Refusal::ARGUMENT)
}

/// Checks a byte array. Returns `Refusal::ARGUMENT` for a null array, for null data with a nonzero
/// size, and for a size that is too large.
///
/// # Safety
/// `array` must be null or point to a byte array.
#[inline(always)]
pub(super) unsafe fn bytes<'a>(array: *const TVMFFIByteArray) -> Result<&'a TVMFFIByteArray> {
    // SAFETY: the caller's promise.
    callback(unsafe { checked_bytes(array) })
}

/// Checks a byte array for [`bytes`]. All callers share one copy of this function.
///
/// # Safety
/// Same requirements as [`bytes`].
#[inline(never)]
unsafe fn checked_bytes<'a>(array: *const TVMFFIByteArray) -> Option<&'a TVMFFIByteArray> {
    // SAFETY: the caller's promise.
    let array = unsafe { array.as_ref()? };
    let is_good = array.size == 0 || (!array.data.is_null() && array.size <= MAX_BYTES);
    is_good.then_some(array)
}

/// Returns the function object of a handle. Returns an error for null and for other objects.
///
/// # Safety
/// `handle` must be null or point to a live object.
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
