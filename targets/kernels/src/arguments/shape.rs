//! Shapes as results, made by the program.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{TVMFFIAny, TVMFFIAnyPayload, TVMFFIByteArray, type_index};

use super::{Raised, Result};

unsafe extern "C" {
    fn TVMFFIFunctionGetGlobal(name: *const TVMFFIByteArray, out: *mut *mut c_void) -> c_int;
    fn TVMFFIFunctionCall(
        function: *mut c_void,
        values: *mut TVMFFIAny,
        count: i32,
        result: *mut TVMFFIAny,
    ) -> c_int;
    fn TVMFFIObjectDecRef(object: *mut c_void) -> c_int;
}

/// Makes a Shape by the global function `ffi.Shape`.
///
/// # Errors
/// Those of the program.
pub fn shape_value<const N: usize>(extents: &[usize; N]) -> Result<TVMFFIAny> {
    let mut values = extents.map(|extent| TVMFFIAny {
        type_index: type_index::INT,
        small_str_len: 0,
        payload: TVMFFIAnyPayload { v_int64: extent as i64 },
    });
    let name = TVMFFIByteArray::from_slice(b"ffi.Shape");
    let (mut function, mut result) = (core::ptr::null_mut(), TVMFFIAny::NONE);
    // SAFETY: the name, the arguments and the result live until the calls return; the reference to
    // the function is released once.
    let status = unsafe {
        if TVMFFIFunctionGetGlobal(&raw const name, &raw mut function) != 0 || function.is_null() {
            return Err(Raised::by_program());
        }
        let status = TVMFFIFunctionCall(function, values.as_mut_ptr(), N as i32, &raw mut result);
        TVMFFIObjectDecRef(function);
        status
    };
    if status == 0 { Ok(result) } else { Err(Raised::by_program()) }
}
