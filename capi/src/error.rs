//! Symbols of the header section "Error handling": the calling thread's raised error, and error
//! objects.

use core::ffi::{c_char, c_int};
use core::ptr;

use ferrite_core::abi::{TVMFFIByteArray, TVMFFIObjectHandle};
use ferrite_core::error::{self, Error, Result, Site, kind, raised_error};
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::plain_warn;

use crate::boundary::{self, Borrowed, arg};

/// Moves the raised error of this thread to `*result`, or stores null if there is none. The caller
/// owns the error.
///
/// If `result` is null, logs a warning and leaves the error raised. Allocates nothing.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorMoveFromRaised(result: *mut TVMFFIObjectHandle) {
    if result.is_null() {
        return plain_warn!("TVMFFIErrorMoveFromRaised: `result` must not be null"; "TVMFFIErrorMoveFromRaised: null");
    }
    let error = raised_error::take().map(|error| error.into_object().into_raw().as_ptr());
    // SAFETY: not null, so valid for writing.
    unsafe { result.write(error.unwrap_or(ptr::null_mut()).cast()) };
}

/// Raises an error object on this thread, replacing any raised error.
///
/// Retains the object. Null clears the raised error. If the object is not an error, raises
/// TypeError instead.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaised(error: TVMFFIObjectHandle) {
    if error.is_null() {
        return drop(raised_error::take());
    }
    // SAFETY: contract of the crate.
    match unsafe { boundary::object_of::<Error>(error, arg(1, "error")) } {
        Ok(error) => raised_error::set_again(Error::clone(&error)),
        Err(mismatch) => raised_error::set(mismatch),
    }
}

/// Raises an error of the given kind and message on this thread, with the backtrace of the caller.
///
/// Both strings are copied. A null or empty `kind` means RuntimeError. A null `message` is an empty
/// message. Raises MemoryError when out of memory.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStr(kind: *const c_char, message: *const c_char) {
    let mut part = message;
    // SAFETY: contract of the crate: the text, or null, is the only part.
    unsafe { TVMFFIErrorSetRaisedFromCStrParts(kind, &mut part, 1) }
}

/// Raises an error whose message is the concatenation of several strings. Messages can thus share
/// common parts.
///
/// Null parts are skipped. If the count is negative or `message_parts` is null, the message is
/// empty. Kind, backtrace and out-of-memory behaviour are those of `TVMFFIErrorSetRaisedFromCStr`.
///
/// # Safety
/// `message_parts` must point to `num_parts` pointers, each null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorSetRaisedFromCStrParts(
    kind: *const c_char,
    message_parts: *mut *const c_char,
    num_parts: i32,
) {
    // SAFETY: contract of the crate.
    let kind = match unsafe { boundary::c_str_or_empty(kind) } {
        b"" => kind::RUNTIME_ERROR.as_bytes(),
        kind => kind,
    };
    let count = if message_parts.is_null() { 0 } else { usize::try_from(num_parts).unwrap_or(0) };
    raised_error::set(Error::from_parts(Site::UNKNOWN, kind, &move |out| {
        for part in 0..count {
            // SAFETY: contract of this function.
            out.put(unsafe { boundary::c_str_or_empty(*message_parts.add(part)) });
        }
    }));
}

/// Creates an error object. Strings are copied.
///
/// `backtrace` has one line per frame, most recent call first; bare-metal builds discard it.
/// Returns 0 and stores the object, owned by the caller, in `out`. On failure, returns -1 with
/// ValueError or MemoryError raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorCreate(
    kind: *const TVMFFIByteArray,
    message: *const TVMFFIByteArray,
    backtrace: *const TVMFFIByteArray,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    let (cause, context) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: contract of the crate.
    unsafe {
        TVMFFIErrorCreateWithCauseAndExtraContext(kind, message, backtrace, cause, context, out)
    }
}

/// Creates an error object with a cause and an arbitrary object as extra context.
///
/// Cause and context may be null, and are retained otherwise. The other arguments, results and
/// errors are those of `TVMFFIErrorCreate`. Raises TypeError if `cause_chain` is not an error.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIErrorCreateWithCauseAndExtraContext(
    kind: *const TVMFFIByteArray,
    message: *const TVMFFIByteArray,
    backtrace: *const TVMFFIByteArray,
    cause_chain: TVMFFIObjectHandle,
    extra_context: TVMFFIObjectHandle,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        unsafe {
            let out = boundary::out(out, arg(6, "out"))?;
            let cause = optional::<Error>(cause_chain, arg(4, "cause_chain"))?;
            let context = optional::<ObjectRef>(extra_context, arg(5, "extra_context"))?;
            let kind = boundary::bytes(kind, arg(1, "kind"))?;
            let message = boundary::bytes(message, arg(2, "message"))?;
            let backtrace = boundary::bytes(backtrace, arg(3, "backtrace"))?;
            let made =
                Error::with_causes(kind, message, backtrace, cause.as_deref(), context.as_deref());
            let size = kind.len() + message.len() + backtrace.len();
            out.write_object(Some(made.ok_or_else(|| error::out_of_memory(size))?));
        }
        Ok(())
    })
}

/// Borrows an object of class `T` from a handle that may be null.
///
/// # Safety
/// Same requirements as [`boundary::object_of`].
unsafe fn optional<T: ObjectClass>(
    handle: TVMFFIObjectHandle,
    name: boundary::Name,
) -> Result<Option<Borrowed<T>>> {
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    unsafe { boundary::object_of::<T>(handle, name) }.map(Some)
}
