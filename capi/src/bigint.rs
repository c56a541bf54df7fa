//! Section "String and bytes support": integers of any size as words.

use core::ffi::c_int;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray};
use ferrite_core::big_int;

use crate::boundary::{self, arg};

/// Makes an integer value from words, which are copied.
///
/// `input` contains whole 64-bit words in native byte order, least significant first, in two's complement; no words
/// mean zero. A value that fits 64 bits becomes a plain integer. `out` is overwritten without being released.
///
/// Returns 0 and the value, which the caller owns, in `out`; or -1 with ValueError (part of a word) or MemoryError raised.
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
        let (words, out) =
            unsafe { (boundary::bytes(input, arg(1, "input"))?, boundary::out(out, arg(2, "out"))?) };
        out.write(big_int::from_native_bytes(words)?.into_raw());
        Ok(())
    })
}

/// Borrows the words of an integer value, in the form that `TVMFFIBigIntFromByteArray` takes.
///
/// The result points into `value` or into its object and is valid while both are unchanged. Empty when `value` is null
/// or not an integer.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIBigIntGetContentByteArray(value: *const TVMFFIAny) -> TVMFFIByteArray {
    boundary::logged(TVMFFIByteArray::EMPTY, || {
        // SAFETY: contract of the crate: the content of the value, if any, matches its type index.
        Ok(unsafe { big_int::content_of(boundary::reference(value, arg(1, "value"))?) })
    })
}
