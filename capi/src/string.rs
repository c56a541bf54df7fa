//! Section "String and bytes support": values out of borrowed text.

use core::ffi::c_int;

use ferrite_core::abi::{TVMFFIAny, TVMFFIByteArray};
use ferrite_core::any::Any;
use ferrite_core::error::Result;
use ferrite_core::string::{Bytes, String};

use crate::boundary;

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
    unsafe { copy(input, out, |text| String::from_bytes(text).map(Any::new)) }
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
    unsafe { copy(input, out, |content| Bytes::new(content).map(Any::new)) }
}

/// Makes a value out of a copy of `input`.
///
/// # Safety
/// See the crate.
#[cfg_attr(feature = "std", inline(always))]
unsafe fn copy<F>(input: *const TVMFFIByteArray, out: *mut TVMFFIAny, make: F) -> c_int
where
    F: Fn(&[u8]) -> Result<Any>,
{
    boundary::status(|| {
        // SAFETY: as the caller vouches.
        let (content, out) = unsafe { (boundary::bytes(input, "input")?, boundary::out(out, "out")?) };
        out.write(make(content)?.into_raw());
        Ok(())
    })
}
