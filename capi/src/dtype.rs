//! Symbols of the header section "Data type support": parsing and formatting of data types.

use core::ffi::c_int;

use ferrite_core::abi::{DLDataType, TVMFFIAny, TVMFFIByteArray};
use ferrite_core::value::dtype;

use crate::boundary::{self, arg};

/// Parses a data type such as `int32`, `float32x4` or `float8_e4m3fn`.
///
/// Returns 0 and stores the data type in `out`. On failure, returns -1 with ValueError raised.
/// Allocates only for an error and for `custom[name]`, whose type code is looked up by a global
/// function. The profile `core` supports custom types only with the feature
/// `ferrite-ffi-core/custom-dtypes`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIDataTypeFromString(
    str: *const TVMFFIByteArray,
    out: *mut DLDataType,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (text, out) =
            unsafe { (boundary::bytes(str, arg(1, "str"))?, boundary::out(out, arg(2, "out"))?) };
        out.write(DLDataType::parse(text)?);
        Ok(())
    })
}

/// Formats a data type as a string that `TVMFFIDataTypeFromString` can parse.
///
/// `out` is overwritten without being released. Returns 0 and stores a string value, owned by the
/// caller, in `out`. On failure, returns -1 with ValueError or MemoryError raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIDataTypeToString(
    dtype: *const DLDataType,
    out: *mut TVMFFIAny,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (dtype, out) = unsafe {
            (boundary::reference(dtype, arg(1, "dtype"))?, boundary::out(out, arg(2, "out"))?)
        };
        dtype::write_string(*dtype, out.place())
    })
}
