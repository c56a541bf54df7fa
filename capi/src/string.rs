//! Section "String and bytes support": values from borrowed text.

use core::ffi::c_int;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray};
use ferrite_core::{string, type_index};

use crate::boundary::{self, arg};

/// Makes a string value from borrowed text, which is copied.
///
/// Up to seven bytes are stored inline in the value, longer text in an object. `out` is overwritten without being
/// released.
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

/// Makes a bytes value from borrowed bytes, which are copied, as `TVMFFIStringFromByteArray` does.
///
/// Content and errors are as for `TVMFFIStringFromByteArray`.
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

/// The instance of [`copy`] for a symbol: its own in speed builds, with inlined code, and a shared one otherwise.
const fn instance(small_index: i32) -> i32 {
    if cfg!(feature = "speed") { small_index } else { 0 }
}

/// Makes a string or bytes value from a copy of `input`; `small_index` is the type index of the small form.
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
        // SAFETY: the caller's promise.
        let (content, out) =
            unsafe { (boundary::bytes(input, arg(1, "input"))?, boundary::out(out, arg(2, "out"))?) };
        // SAFETY: the caller's promise.
        unsafe { string::write_copy(out.as_ptr(), small_index, content) }
    })
}
