//! String and bytes values in the profile `minimal`. Content of more than seven bytes is stored in
//! one of `FERRITE_STRINGS` preallocated objects of `FERRITE_STRING_BYTES` bytes each.

use core::ffi::c_int;

use crate::engine::Refusal;
use crate::engine::string::{self, StringKind};
use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray};

use super::boundary::{bytes, status};

/// Creates a string value from a byte array, which is copied.
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

/// Creates a bytes value from a byte array, which is copied.
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

/// Creates a string or bytes value of the given kind.
///
/// # Safety
/// Same requirements as the symbols above.
unsafe fn create(input: *const TVMFFIByteArray, out: *mut TVMFFIAny, kind: StringKind) -> c_int {
    // SAFETY: the caller's promise.
    status(|| match unsafe { bytes(input) } {
        // SAFETY: the caller's promise.
        Ok(input) if !out.is_null() => unsafe { string::create(input, kind, out) },
        _ => Err(Refusal::ARGUMENT),
    })
}
