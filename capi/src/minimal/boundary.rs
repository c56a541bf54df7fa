//! Argument checks, and the way from results to status codes.

use core::ffi::c_int;
use core::ptr::NonNull;

use ferrite_core::abi::{TVMFFIByteArray, TVMFFIObject, TVMFFIObjectHandle};
use ferrite_core::minimal::{self, Refusal, Result, refuse};
use ferrite_core::type_index;

/// Runs the body of an entry point: success is 0, an error that is raised -1.
#[inline(always)]
pub(super) fn status(body: impl FnOnce() -> Result<()>) -> c_int {
    minimal::status(body())
}

/// Raises a refusal; the status says so.
#[inline(always)]
pub(super) fn fail(refusal: Refusal) -> c_int {
    minimal::status(Err(refuse(refusal)))
}

/// Refuses a null pointer.
#[inline(always)]
pub(super) fn non_null<T>(pointer: *const T) -> Result<NonNull<T>> {
    callback(NonNull::new(pointer.cast_mut()))
}

/// Refuses an absent callback.
#[inline(always)]
pub(super) fn callback<F>(function: Option<F>) -> Result<F> {
    match function {
        Some(function) => Ok(function),
        None => Err(refuse(Refusal::Null)),
    }
}

/// The function of a handle; null and other objects are refused.
///
/// # Safety
/// `handle` is null or points to a live object.
#[inline(always)]
pub(super) unsafe fn function(handle: TVMFFIObjectHandle) -> Result<NonNull<TVMFFIObject>> {
    let object = non_null(handle.cast::<TVMFFIObject>())?;
    // SAFETY: the object is alive.
    if unsafe { object.as_ref() }.type_index == type_index::FUNCTION {
        Ok(object)
    } else {
        Err(refuse(Refusal::Type))
    }
}

/// The content of a byte array; a null array, null data with a size, and a size that no memory has, are refused.
///
/// # Safety
/// `array` is null or points to a byte array whose data, unless null, is readable for `'a`.
#[inline(always)]
pub(super) unsafe fn bytes<'a>(array: *const TVMFFIByteArray) -> Result<&'a [u8]> {
    // SAFETY: as the caller vouches.
    match unsafe { checked_bytes(array) } {
        Some(bytes) => Ok(bytes),
        None => Err(refuse(Refusal::Null)),
    }
}

/// As [`bytes`]; the answer fits registers.
///
/// # Safety
/// As for [`bytes`].
#[inline(never)]
unsafe fn checked_bytes<'a>(array: *const TVMFFIByteArray) -> Option<&'a [u8]> {
    // SAFETY: the caller vouches for the array and its data.
    unsafe {
        let array = array.as_ref()?;
        let is_good = array.size <= isize::MAX as usize && (array.size == 0 || !array.data.is_null());
        is_good.then(|| array.as_slice())
    }
}
