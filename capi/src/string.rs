//! Section "String and bytes support": values out of borrowed text.

use core::ffi::c_int;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray};
use ferrite_core::{string, type_index};

use crate::boundary::{self, arg};

/// Makes a string value out of borrowed text, which is copied.
///
/// Up to seven bytes lie in the value itself, longer text in an object. `out` is overwritten without being released.
///
/// Returns 0 and the value, which the caller owns, in `out`; or -1 with ValueError or MemoryError raised.
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

/// Makes a bytes value out of borrowed bytes, which are copied.
///
/// As `TVMFFIStringFromByteArray`.
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

/// Which instance of [`copy`] a symbol has: its own on hosts, which then have the code in line, and else one for both.
const fn instance(small_index: i32) -> i32 {
    if cfg!(feature = "speed") { small_index } else { 0 }
}

/// Makes a value out of a copy of `input`; `small_index` says of which kind.
///
/// # Safety
/// See the crate.
#[cfg_attr(feature = "speed", inline(always))]
unsafe fn copy<const INSTANCE: i32>(
    input: *const TVMFFIByteArray,
    out: *mut TVMFFIAny,
    small_index: i32,
) -> c_int {
    boundary::status(|| {
        // SAFETY: as the caller vouches.
        let (content, out) =
            unsafe { (boundary::bytes(input, arg(1, "input"))?, boundary::out(out, arg(2, "out"))?) };
        // SAFETY: as the caller vouches.
        unsafe { string::write_copy(out.as_ptr(), small_index, content) }
    })
}
