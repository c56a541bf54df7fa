//! Weights in a separate file, in the format of TVM's `save_param_dict`.

#[cfg(all(feature = "relax", feature = "host"))]
use core::ffi::c_char;
use core::ffi::{c_int, c_void};

use ferrite_core::Bytes;
use ferrite_core::abi::TVMFFIObjectHandle;
use ferrite_core::error::Result;
use ferrite_relax::executable::Source;
use ferrite_relax::model::{MapObject, Parameters};

use crate::boundary::{self, Name, arg};

/// Borrows a map of parameters.
///
/// # Safety
/// Same requirements as [`boundary::object_of`].
pub(super) unsafe fn borrow(parameters: TVMFFIObjectHandle, name: Name) -> Result<Parameters> {
    // SAFETY: the caller's promise.
    let map = unsafe { boundary::object_of::<MapObject>(parameters, name)? };
    Parameters::from_map(MapObject::clone(&map))
}

/// Converts a path to a string slice.
///
/// # Errors
/// InternalError for a path that is not UTF-8.
#[cfg(all(feature = "relax", feature = "host"))]
pub(super) fn path(path: &[u8]) -> Result<&str> {
    core::str::from_utf8(path)
        .map_err(|_| ferrite_core::plain_error!(INTERNAL_ERROR, "Cannot open {}", path))
}

/// Loads a file of weights that TVM's `save_param_dict` wrote.
///
/// Only in host builds with the feature `relax`. Returns 0 and stores a map from names to tensors,
/// owned by the caller, in `out`; `TVMFFIObjectDecRef` releases it. It may be used by several
/// threads. On failure, returns -1 with an error raised: ValueError for a null pointer,
/// InternalError for a file that cannot be read or is malformed, MemoryError.
///
/// # Safety
/// See the crate.
#[cfg(all(feature = "relax", feature = "host"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelLoadParameters(
    path: *const c_char,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let out = boundary::out(out, arg(2, "out"))?;
        let parameters = Parameters::load(self::path(boundary::c_str(path, arg(1, "path"))?)?)?;
        out.write_object(Some(parameters.into_map()));
        Ok(())
    })
}

/// Reads weights from memory, in the format that TVM's `save_param_dict` returns. The `num_bytes`
/// bytes are copied.
///
/// Returns 0 and stores a map from names to tensors, owned by the caller, in `out`;
/// `TVMFFIObjectDecRef` releases it. It may be used by several threads. On failure, returns -1 with
/// an error raised: ValueError for a null pointer, InternalError for malformed bytes, MemoryError.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn FerriteModelReadParameters(
    bytes: *const c_void,
    num_bytes: usize,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: as the caller guarantees.
    boundary::status(|| unsafe {
        let out = boundary::out(out, arg(3, "out"))?;
        let start = boundary::non_null(bytes, arg(1, "bytes"))?;
        let bytes =
            core::slice::from_raw_parts(start.as_ptr().cast::<u8>().cast_const(), num_bytes);
        out.write_object(Some(Parameters::read(Source::Bytes(Bytes::new(bytes)?))?.into_map()));
        Ok(())
    })
}
