//! Symbols of the header section "String and bytes support": conversion between big integers and
//! arrays of 64-bit words.

use core::ffi::c_int;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray};
use ferrite_core::value::big_int;

use crate::boundary::{self, arg};

/// Creates an integer value from an array of 64-bit words, which are copied.
///
/// `input` contains whole 64-bit words in native byte order, least significant first, in two's
/// complement. An empty array is zero. A value that fits into 64 bits becomes a plain integer.
/// `out` is overwritten without being released.
///
/// Returns 0 and stores the value, owned by the caller, in `out`. On failure, returns -1 with
/// ValueError raised if the size is not a multiple of 8 bytes, or with MemoryError.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIBigIntFromByteArray(
    input: *const TVMFFIByteArray,
    out: *mut TVMFFIAny,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (words, out) = unsafe {
            (boundary::bytes(input, arg(1, "input"))?, boundary::out(out, arg(2, "out"))?)
        };
        out.write(big_int::from_native_bytes(words)?.into_raw());
        Ok(())
    })
}

/// Returns a borrowed view of an integer value's words, in the format of
/// `TVMFFIBigIntFromByteArray`.
///
/// The result points into `value` or into its object and is valid while both are unchanged. It is
/// empty if `value` is null or not an integer.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIBigIntGetContentByteArray(
    value: *const TVMFFIAny,
) -> TVMFFIByteArray {
    boundary::logged(TVMFFIByteArray::EMPTY, || {
        // SAFETY: contract of the crate: the content of the value, if any, matches its type index.
        Ok(unsafe { big_int::content_of(boundary::reference(value, arg(1, "value"))?) })
    })
}
