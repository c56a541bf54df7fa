//! Sections of strings and bytes. Content of more than seven bytes takes one of `FERRITE_STRINGS` objects, of at most
//! `FERRITE_STRING_BYTES`.

use core::ffi::c_int;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray};
use ferrite_core::minimal::Refusal;
use ferrite_core::minimal::string::{self, StringKind};

use super::boundary::{bytes, status};

/// Makes a string value from borrowed text, which is copied.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIStringFromByteArray(
    input: *const TVMFFIByteArray,
    out: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: contract of the crate.
    unsafe { create(input, out, StringKind::Text) }
}

/// Makes a bytes value from borrowed bytes, which are copied.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIBytesFromByteArray(
    input: *const TVMFFIByteArray,
    out: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: contract of the crate.
    unsafe { create(input, out, StringKind::Bytes) }
}

/// # Safety
/// As for the symbols above.
unsafe fn create(input: *const TVMFFIByteArray, out: *mut TVMFFIAny, kind: StringKind) -> c_int {
    // SAFETY: the caller's promise.
    status(|| match unsafe { bytes(input) } {
        // SAFETY: the caller's promise.
        Ok(input) if !out.is_null() => unsafe { string::create(input, kind, out) },
        _ => Err(Refusal::ARGUMENT),
    })
}
