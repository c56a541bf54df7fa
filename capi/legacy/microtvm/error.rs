//! The text of the last error, which is the raised error of tvm-ffi.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_int};
use core::ptr;

use ferrite_core::abi::{TVMFFIByteArray, TVMFFIErrorCell, TVMFFIObject, TVMFFIObjectHandle};

use super::tvm_ffi::{
    TVMFFIErrorMoveFromRaised, TVMFFIErrorSetRaised, TVMFFIErrorSetRaisedFromCStr, TVMFFIObjectDecRef,
};

/// The kind of an error whose text was set by old code, without a kind prefix.
const WITHOUT_KIND: &CStr = c"TVMError";

/// Maximum size of a text in bytes, with its terminating zero.
const TEXT_BYTES: usize = 160;

struct Text(UnsafeCell<[u8; TEXT_BYTES]>);

// SAFETY: only used by the program's one task, see the module.
unsafe impl Sync for Text {}

/// The buffer of `TVMGetLastError`; all zero when empty.
static TEXT: Text = Text(UnsafeCell::new([0; TEXT_BYTES]));

/// Raises an error of tvm-ffi; returns the status of a failed call.
pub(super) fn fail(kind: &CStr, message: &CStr) -> c_int {
    // SAFETY: both are C strings.
    unsafe { TVMFFIErrorSetRaisedFromCStr(kind.as_ptr(), message.as_ptr()) };
    -1
}

/// Raises the error of a null pointer or negative count; returns the status of a failed call.
pub(super) fn bad_argument() -> c_int {
    fail(c"ValueError", c"null or negative argument")
}

/// Sets the last error, the text of a failing compiled function. It is copied; null is empty.
///
/// It becomes the raised error of tvm-ffi, with the kind `TVMError`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMAPISetLastError(message: *const c_char) {
    // SAFETY: contract of the crate.
    unsafe { TVMFFIErrorSetRaisedFromCStr(WITHOUT_KIND.as_ptr(), message) };
}

/// Returns the text of the raised error, `KIND: message` or the text that compiled code set; if no error is raised, the
/// previous text, initially empty.
///
/// It is valid until the next call, and truncated to 159 bytes. The error stays raised.
#[unsafe(no_mangle)]
pub extern "C" fn TVMGetLastError() -> *const c_char {
    let text = TEXT.0.get().cast::<u8>();
    with_raised(|error| {
        // SAFETY: error objects have their cell after the header (ABI), and its byte arrays are readable. The buffer is this
        // function's, and writers stop before its end.
        unsafe {
            let cell = error.add(1).cast::<TVMFFIErrorCell>();
            let mut at = 0;
            if !is_text(&(*cell).kind, WITHOUT_KIND) {
                at = append(text, at, &(*cell).kind);
                at = append(text, at, &TVMFFIByteArray { data: c": ".as_ptr(), size: 2 });
            }
            at = append(text, at, &(*cell).message);
            text.add(at).write(0);
        }
    });
    text.cast_const().cast()
}

/// Raises an error unless one is raised, for compiled code that failed without a text.
pub(super) fn ensure_raised() {
    if !with_raised(|_| ()) {
        fail(WITHOUT_KIND, c"a compiled function failed");
    }
}

/// Runs `look` on the raised error, which stays raised. Returns `false` if no error is raised.
fn with_raised(look: impl FnOnce(*mut TVMFFIObject)) -> bool {
    let mut error: TVMFFIObjectHandle = ptr::null_mut();
    // SAFETY: the out-parameter is writable; the taken error is owned, and raised again.
    unsafe {
        TVMFFIErrorMoveFromRaised(&mut error);
        if error.is_null() {
            return false;
        }
        look(error.cast());
        TVMFFIErrorSetRaised(error);
        TVMFFIObjectDecRef(error);
    }
    true
}

/// # Safety
/// The byte array is readable.
unsafe fn is_text(bytes: &TVMFFIByteArray, text: &CStr) -> bool {
    let wanted = text.to_bytes();
    let data = bytes.data.cast::<u8>();
    // SAFETY: the caller's promise.
    bytes.size == wanted.len()
        && wanted.iter().enumerate().all(|(at, byte)| unsafe { *data.add(at) == *byte })
}

/// Appends `bytes`, truncated to the space left; returns the new end.
///
/// # Safety
/// `text` has [`TEXT_BYTES`] bytes, of which `at` are in use; `bytes` is readable.
unsafe fn append(text: *mut u8, mut at: usize, bytes: &TVMFFIByteArray) -> usize {
    let (data, mut from) = (bytes.data.cast::<u8>(), 0);
    while from < bytes.size && at < TEXT_BYTES - 1 {
        // SAFETY: both stay within their bounds.
        unsafe { text.add(at).write(*data.add(from)) };
        (at, from) = (at + 1, from + 1);
    }
    at
}
