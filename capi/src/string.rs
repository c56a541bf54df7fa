//! Symbols of the header section "String and bytes support": creation of string and bytes values.

use core::ffi::c_int;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray, type_index};
use ferrite_core::value::string;

use crate::boundary::{self, arg};

/// Creates a string value from a byte array, which is copied.
///
/// Strings of up to seven bytes are stored inline in the value, longer ones in an object. `out` is
/// overwritten without being released.
///
/// Returns 0 and stores the value, owned by the caller, in `out`. On failure, returns -1 with
/// ValueError or MemoryError raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIStringFromByteArray(
    input: *const TVMFFIByteArray,
    out: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: contract of the crate.
    unsafe { copy::<{ instance(type_index::SMALL_STR) }>(input, out, type_index::SMALL_STR) }
}

/// Creates a bytes value from a byte array, which is copied.
///
/// Storage, ownership and errors are the same as for `TVMFFIStringFromByteArray`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIBytesFromByteArray(
    input: *const TVMFFIByteArray,
    out: *mut TVMFFIAny,
) -> c_int {
    // SAFETY: contract of the crate.
    unsafe { copy::<{ instance(type_index::SMALL_BYTES) }>(input, out, type_index::SMALL_BYTES) }
}

/// Selects the instance of [`copy`] for a C symbol. In speed builds each symbol has its own inlined
/// instance; otherwise both share one.
const fn instance(small_index: i32) -> i32 {
    if cfg!(feature = "speed") { small_index } else { 0 }
}

/// Creates a string or bytes value from a copy of `input`; `small_index` is the type index of the
/// inline representation.
///
/// # Safety
/// See the crate.
#[inline]
unsafe fn copy<const INSTANCE: i32>(
    input: *const TVMFFIByteArray,
    out: *mut TVMFFIAny,
    small_index: i32,
) -> c_int {
    boundary::status(|| {
        // SAFETY: the caller's promise.
        let (content, out) = unsafe {
            (boundary::bytes(input, arg(1, "input"))?, boundary::out(out, arg(2, "out"))?)
        };
        // SAFETY: the caller's promise.
        unsafe { string::write_copy(out.as_ptr(), small_index, content) }
    })
}
