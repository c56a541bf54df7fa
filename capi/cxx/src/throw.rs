//! Throws the library's errors as C++ exceptions of type `tvm::ffi::Error`.

use core::ffi::c_void;
use core::mem::size_of;

use ferrite_core::error::{Error, Result};
use ferrite_core::platform::unwind;
use ferrite_core::value::convert::AnyCompatible;

use super::error_class::{ERROR, ERROR_VPTR, Exception, destroy};
use ferrite_boundary as boundary;

unsafe extern "C" {
    fn __cxa_allocate_exception(bytes: usize) -> *mut Exception;
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
