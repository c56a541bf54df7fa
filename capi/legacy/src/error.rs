//! The last error of each thread, as `TVMGetLastError` reports it.
//!
//! The last error is the error that tvm-ffi has raised on the thread. Reading its message moves it
//! to the thread's slots, where it stays: neither reading again nor a successful call clears it.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use ferrite_core::abi::kTVMFFIOpaquePyObject;
use ferrite_core::call::function;
use ferrite_core::error::raised_error::{self, Mark};
use ferrite_core::error::{Error, Result};
use ferrite_core::object::ObjectRef;
use ferrite_core::plain_error;
use ferrite_core::value::opaque::{self, OpaquePyObject};

use super::python;
use super::thread::{self, Slots};
use ferrite_boundary as boundary;

/// Kind of an error that a callback or kernel set without a kind prefix. Front ends do not
/// recognise this kind, and raise their own `TVMError`.
const WITHOUT_KIND: &[u8] = b"TVMError";

/// Last error when there is no memory to store the actual one.
const OUT_OF_MEMORY: &CStr = c"MemoryError: Out of memory";

/// Splits `KIND: message` into kind and message. A kind consists of letters, digits, `_` and `.`.
/// Without a kind, the whole string is the message.
fn split_kind(text: &[u8]) -> (&[u8], &[u8]) {
    let is_kind = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let end = text.iter().position(|byte| !is_kind(byte)).unwrap_or(text.len());
    match text.split_at(end) {
        (kind, rest) if !kind.is_empty() && kind != WITHOUT_KIND && rest.starts_with(b": ") => {
            (kind, &rest[2..])
        }
        _ => (WITHOUT_KIND, text),
    }
}

/// Stores an error and its string in the thread's slots: `KIND: message`, or the message alone if
/// it was set without a kind.
fn keep(slots: &Slots, error: &Error) -> Result<()> {
    let mut text = slots.error.borrow_mut();
    match error.kind_bytes() {
        WITHOUT_KIND => text.set(&[error.message_bytes()])?,
        kind => text.set(&[kind, b": ", error.message_bytes()])?,
    };
    *slots.last.borrow_mut() = Some(error.clone());
    Ok(())
}

/// Moves the raised error, if any, to the thread's slots. When out of memory, stores a MemoryError
/// in its place.
fn settle(slots: &Slots) {
    if let Some(error) = raised_error::take()
        && keep(slots, &error).is_err()
    {
        slots.error.borrow_mut().set_fixed(OUT_OF_MEMORY);
        slots.last.borrow_mut().take();
    }
}

/// Returns the error of a callback or kernel that was called after `before` and returned a status
/// other than 0: the raised error, or else the error in the thread's slots. Returns an
/// InternalError that names the status if the callback set neither.
pub fn callback_error(status: c_int, before: Mark) -> Error {
    if before.precedes_raised() == Some(false) {
        return function::failure(status, before);
    }
    if let Some(error) = raised_error::take() {
        return error;
    }
    let kept = thread::with(|slots| {
        if let Some(error) = &*slots.last.borrow() {
            return error.clone();
        }
        let text = slots.error.borrow();
        let (kind, message) = split_kind(text.as_bytes());
        Error::from_bytes(kind, message, b"")
    });
    kept.unwrap_or_else(|| plain_error!(INTERNAL_ERROR, "A callback failed"))
}

/// Returns the thread's last error as a string, `KIND: message`. The string is empty before the
/// first error.
///
/// The string is stored in a thread-local slot, and is valid until the thread's next error.
#[unsafe(no_mangle)]
pub extern "C" fn TVMGetLastError() -> *const c_char {
    let text = thread::with(|slots| {
        settle(slots);
        slots.error.borrow().as_ptr()
    });
    text.unwrap_or(c"".as_ptr())
}

/// Sets the thread's last error, for a callback or kernel that fails. The string is copied. Null is
/// an empty string.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMAPISetLastError(message: *const c_char) {
    // SAFETY: contract of the crate.
    let message = unsafe { boundary::c_str_or_empty(message) };
    drop(raised_error::take());
    thread::with(|slots| {
        let forgotten = slots.last.borrow_mut().take();
        if slots.error.borrow_mut().set(&[message]).is_err() {
            slots.error.borrow_mut().set_fixed(OUT_OF_MEMORY);
        }
        forgotten
    });
    raised_error::record_other_failure();
}

/// Sets a Python exception as the thread's last error, for a callback that fails. The exception is
/// retained.
///
/// `Py_IncRef` and `Py_DecRef` must have been registered with `TVMBackendRegisterEnvCAPI`.
/// Otherwise the last error is a RuntimeError.
///
/// # Safety
/// `exception` must be null or a Python object; the thread must hold the GIL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMAPISetLastPythonError(exception: *mut c_void) {
    // SAFETY: the caller's promise.
    let error = unsafe { error_of_exception(exception) };
    boundary::fail(error.unwrap_or_else(|error| error));
}

/// Creates an error with a Python exception as its context.
///
/// # Errors
/// RuntimeError if `Py_IncRef` and `Py_DecRef` are not registered; ValueError for null;
/// MemoryError.
///
/// # Safety
/// Same requirements as [`TVMAPISetLastPythonError`].
unsafe fn error_of_exception(exception: *mut c_void) -> Result<Error> {
    let Some((retain, release)) = python::refcount_functions() else {
        return Err(plain_error!(RUNTIME_ERROR, "Py_IncRef and Py_DecRef were not registered"));
    };
    let exception = boundary::non_null(exception, boundary::arg(1, "exception"))?;
    // SAFETY: the caller guarantees the object; the reference taken here moves to the opaque
    // object.
    let context = unsafe {
        retain(exception.as_ptr());
        opaque::create_opaque(exception.as_ptr(), kTVMFFIOpaquePyObject, Some(release))
    };
    match context {
        Ok(context) => Ok(plain_error!(RUNTIME_ERROR, "A Python callback raised an exception")
            .with_cause_and_context(None, Some(context))),
        Err(error) => {
            // SAFETY: the reference was taken above.
            unsafe { release(exception.as_ptr()) };
            Err(error)
        }
    }
}

/// Returns the Python exception in the context of an error, if there is one.
fn exception_of(error: &Error) -> Option<OpaquePyObject> {
    error.extra_context().and_then(|context: ObjectRef| context.downcast().ok())
}

/// Returns the Python exception that is the thread's last error, as a borrowed reference. Returns
/// null if the last error is not a Python exception.
#[unsafe(no_mangle)]
pub extern "C" fn TVMGetLastPythonError() -> *mut c_void {
    let exception = thread::with(|slots| {
        settle(slots);
        slots.last.borrow().as_ref().and_then(exception_of)
    });
    exception.flatten().map_or(ptr::null_mut(), |exception| exception.handle())
}

/// Returns the backtrace of the thread's last error, or null if it has none.
///
/// The string is stored in a thread-local slot, and is valid until the thread's next call of this
/// function.
#[unsafe(no_mangle)]
pub extern "C" fn TVMGetLastBacktrace() -> *const c_char {
    let text = thread::with(|slots| {
        settle(slots);
        let last = slots.last.borrow();
        last.as_ref()?.with_backtrace(|backtrace| match backtrace {
            b"" => None,
            text => slots.backtrace.borrow_mut().set(&[text]).ok(),
        })
    });
    text.flatten().unwrap_or(ptr::null())
}

/// Releases the Python exception that is the thread's last error. The message stays available.
#[unsafe(no_mangle)]
pub extern "C" fn TVMDropLastPythonError() {
    // Released outside the slot, since the release runs Python code.
    let forgotten = thread::with(|slots| {
        settle(slots);
        slots.last.borrow_mut().take()
    });
    drop(forgotten);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_what_stands_before_the_first_colon() {
        for (text, kind, message) in [
            ("ValueError: bad", "ValueError", "bad"),
            ("tvm.error.OpError: x: y", "tvm.error.OpError", "x: y"),
            ("no kind here: bad", "TVMError", "no kind here: bad"),
            ("TVMError: bad", "TVMError", "TVMError: bad"),
            ("ValueError:bad", "TVMError", "ValueError:bad"),
            (": bad", "TVMError", ": bad"),
            ("", "TVMError", ""),
        ] {
            assert_eq!(
                split_kind(text.as_bytes()),
                (kind.as_bytes(), message.as_bytes()),
                "{text}"
            );
        }
    }

    #[test]
    fn a_text_comes_back_byte_for_byte() {
        for text in [c"ValueError: bad", c"something: odd", c"TVMError: bad", c""] {
            // SAFETY: C strings.
            let back = unsafe {
                let before = Mark::now();
                TVMAPISetLastError(text.as_ptr());
                raised_error::set(callback_error(-1, before));
                CStr::from_ptr(TVMGetLastError())
            };
            assert_eq!(back, text);
        }
    }

    #[test]
    fn an_earlier_error_is_not_that_of_a_callback() {
        // SAFETY: a C string.
        unsafe { TVMAPISetLastError(c"ValueError: earlier".as_ptr()) };
        assert_eq!(callback_error(-7, Mark::now()).kind_bytes(), b"InternalError");
        raised_error::set(plain_error!(KEY_ERROR, "earlier"));
        let error = callback_error(-7, Mark::now());
        assert_eq!(
            error.message_bytes(),
            b"A C function returned status -7 without raising an error"
        );
        assert!(raised_error::take().is_none());
    }

    #[test]
    fn an_error_of_tvm_ffi_has_its_kind_in_front() {
        raised_error::set(plain_error!(KEY_ERROR, "missing"));
        // SAFETY: the text belongs to this thread.
        assert_eq!(unsafe { CStr::from_ptr(TVMGetLastError()) }, c"KeyError: missing");
        // SAFETY: as above.
        assert_eq!(unsafe { CStr::from_ptr(TVMGetLastError()) }, c"KeyError: missing");
        assert!(raised_error::take().is_none());
    }
}
