//! Calls of C++ functions that may throw.

use core::ffi::{c_char, c_void};
use core::ptr::{self, NonNull};

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIObject};
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_error;

use ferrite_boundary as boundary;

/// Callback that receives a caught exception: an error object owned by the exception, or a message.
type Report =
    unsafe extern "C" fn(thrown: *mut Option<Error>, error: *mut TVMFFIObject, text: *const c_char);

unsafe extern "C" {
    fn ferrite_cxx_call_words(
        function: *const c_void,
        args: *const [*const c_void; 3],
        result: *mut [u64; 2],
        report: Report,
        thrown: *mut Option<Error>,
    );
    fn ferrite_cxx_call_memory(
        function: *const c_void,
        args: *const [*const c_void; 2],
        result: *mut TVMFFIAny,
        report: Report,
        thrown: *mut Option<Error>,
    );
}

/// Calls a C++ function that returns its result in two registers.
///
/// # Errors
/// The error inside a thrown `tvm::ffi::Error`; InternalError for any other exception.
///
/// # Safety
/// The function must accept the arguments. It ignores surplus arguments.
pub(super) unsafe fn words(function: *const c_void, args: [*const c_void; 3]) -> Result<[u64; 2]> {
    let (mut result, mut thrown) = ([0; 2], None);
    // SAFETY: the caller guarantees function and arguments, and the other pointers are to locals.
    unsafe {
        ferrite_cxx_call_words(function, &raw const args, &raw mut result, report, &raw mut thrown)
    };
    thrown.map_or(Ok(result), Err)
}

/// Calls a C++ function that returns a class with a destructor. The class has 8 bytes (an object
/// reference, returned in the first half of the result) or 16 bytes (a cell).
///
/// # Errors
/// Same errors as [`words`].
///
/// # Safety
/// Same requirements as [`words`].
pub(super) unsafe fn memory(
    function: *const c_void,
    args: [*const c_void; 2],
) -> Result<TVMFFIAny> {
    let (mut result, mut thrown) = (TVMFFIAny::NONE, None);
    // SAFETY: as for `words`.
    unsafe {
        ferrite_cxx_call_memory(function, &raw const args, &raw mut result, report, &raw mut thrown)
    };
    thrown.map_or(Ok(result), Err)
}

/// Calls a C++ hook that hashes or compares map keys; see [`ferrite_alloc_ext::cxx::CxxRuntime`].
///
/// # Errors
/// Same errors as [`words`].
///
/// # Safety
/// The hook must accept the values.
pub(super) unsafe fn hook(
    hook: *mut c_void,
    [lhs, rhs]: [*const TVMFFIAny; 2],
) -> Result<TVMFFIAny> {
    // SAFETY: the caller guarantees hook and values.
    let [head, payload] = unsafe { words(hook, [lhs.cast(), rhs.cast(), ptr::null()])? };
    let [type_index, small_str_len] = [head as i32, (head >> 32) as i32];
    Ok(TVMFFIAny {
        type_index,
        small_str_len: small_str_len as u32,
        payload: TVMFFIAnyPayload { v_int64: payload as i64 },
    })
}

/// Converts a caught exception to an error in `thrown`: the error object, or an InternalError with
/// the message `text`.
///
/// # Safety
/// `thrown` must be writable. `error` must be null or a live error object, and `text` null or a C
/// string.
unsafe extern "C" fn report(
    thrown: *mut Option<Error>,
    error: *mut TVMFFIObject,
    text: *const c_char,
) {
    // SAFETY: the caller guarantees the error and keeps its own reference.
    let error = NonNull::new(error).map(|error| unsafe { ObjectRef::borrow_raw(error) });
    let error = match error.map(ObjectRef::downcast::<Error>) {
        Some(Ok(error)) => error,
        _ => {
            // SAFETY: the caller guarantees the text.
            let text = unsafe { boundary::c_str_or_empty(text) };
            plain_error!(INTERNAL_ERROR, "{}", text)
        }
    };
    // SAFETY: the caller guarantees that `thrown` is writable.
    unsafe { *thrown = Some(error) };
}
