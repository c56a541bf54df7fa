//! Throws the library's errors as C++ exceptions of type `tvm::ffi::Error`.

use core::ffi::{c_char, c_void};
use core::mem::{ManuallyDrop, size_of};
use core::ptr::NonNull;

use ferrite_core::abi::TVMFFIObject;
use ferrite_core::error::{Error, Result};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::platform::unwind;
use ferrite_core::value::convert::AnyCompatible;

use super::class_info::{ERROR, ERROR_VPTR};
use ferrite_boundary as boundary;

/// An exception object, in the layout of `tvm::ffi::Error`.
#[repr(C)]
pub(super) struct Exception {
    vptr: *const c_void,
    /// Owned error object; null if the exception was moved from.
    error: *mut TVMFFIObject,
}

unsafe extern "C" {
    fn __cxa_allocate_exception(bytes: usize) -> *mut Exception;
    #[link_name = "_ZdlPv"]
    fn operator_delete(memory: *mut Exception);
}

unsafe extern "C-unwind" {
    fn __cxa_throw(
        exception: *mut Exception,
        type_info: *const c_void,
        destroy: unsafe extern "C" fn(*mut Exception),
    ) -> !;
}

/// Runs the body of a function that C++ calls. Returns its result, or throws its error as a C++
/// exception.
///
/// The caller must not own values that need to be dropped.
pub(super) fn or_throw<T>(body: impl FnOnce() -> Result<T>) -> T {
    let outcome = unwind::catch(|| {
        boundary::ensure_installed();
        body()
    });
    match outcome {
        Ok(value) => value,
        Err(error) => throw(error),
    }
}

/// Captures the backtrace of an error and throws the error.
#[cold]
#[inline(never)]
fn throw(error: Error) -> ! {
    // The conversion into a value captures the backtrace.
    let error = error.into_any().into_raw();
    // SAFETY: the value is an error object, which the exception owns. The runtime allocates an
    // exception, or ends the process when out of memory.
    unsafe {
        let exception = __cxa_allocate_exception(size_of::<Exception>());
        exception.write(Exception { vptr: ERROR_VPTR, error: error.payload.v_obj.cast() });
        __cxa_throw(exception, ERROR, destroy)
    }
}

/// Complete object destructor of `tvm::ffi::Error`.
///
/// # Safety
/// `this` must be an exception that is not used afterwards.
pub(super) unsafe extern "C" fn destroy(this: *mut Exception) {
    // SAFETY: the caller guarantees the exception, which owns its error.
    drop(unsafe { NonNull::new((*this).error).map(|error| ObjectRef::from_raw(error)) });
}

/// Deleting destructor of `tvm::ffi::Error`, which `delete` calls.
///
/// # Safety
/// Same requirements as [`destroy`]. The exception must have been allocated with `new`.
pub(super) unsafe extern "C" fn destroy_and_free(this: *mut Exception) {
    // SAFETY: the caller guarantees both.
    unsafe {
        destroy(this);
        operator_delete(this);
    }
}

/// Implements `what()`: returns the message, which lives as long as the error.
///
/// # Safety
/// `this` must be an exception.
pub(super) unsafe extern "C" fn what(this: *const Exception) -> *const c_char {
    // SAFETY: the caller guarantees the exception.
    let error = NonNull::new(unsafe { (*this).error }).map(|error| {
        // SAFETY: the exception keeps its error alive; nothing is dropped here.
        ManuallyDrop::new(unsafe { Error::from_object_unchecked(ObjectRef::from_raw(error)) })
    });
    match &error {
        // Messages of errors are terminated by a zero (ABI).
        Some(error) if !error.message_bytes().is_empty() => error.message_bytes().as_ptr().cast(),
        _ => c"".as_ptr(),
    }
}
