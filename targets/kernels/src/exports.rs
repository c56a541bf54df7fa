//! The functions, as symbols `__tvm_ffi_ferrite.NAME` with the safe call convention.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::TVMFFIAny;

use crate::arguments::{Arguments, Result};
use crate::{attention, conv, matmul};

/// Defines the symbols of functions: name, number of arguments, implementation.
macro_rules! exports {
    ($($name:ident $count:literal $function:path;)*) => {$(
        const _: () = {
            #[unsafe(export_name = concat!("__tvm_ffi_ferrite.", stringify!($name)))]
            unsafe extern "C" fn call(
                _: *mut c_void,
                values: *const TVMFFIAny,
                count: i32,
                result: *mut TVMFFIAny,
            ) -> c_int {
                let name = concat!("ferrite.", stringify!($name));
                // SAFETY: the caller passes the arguments of a safe call.
                unsafe { serve((name, $count), values, count, result, $function) }
            }
        };
    )*};
}

exports! {
    dense 8 matmul::calls::dense;
    batch_matmul 5 matmul::batch::batch_matmul;
    attention 7 attention::calls::attention;
    pack_dense 3 matmul::calls::pack_dense;
    packed_dense_shape 3 matmul::calls::packed_dense_shape;
    conv2d 9 conv::calls::conv2d;
    pack_conv2d 3 conv::calls::pack_conv2d;
    packed_conv2d_shape 3 conv::calls::packed_conv2d_shape;
}

/// Calls a function. Returns 0, or -1 with an error raised.
///
/// # Safety
/// `values`, `count` and `result` must be those of a safe call.
unsafe fn serve(
    (name, expected): (&'static str, usize),
    values: *const TVMFFIAny,
    count: i32,
    result: *mut TVMFFIAny,
    function: fn(Arguments<'_>) -> Result<TVMFFIAny>,
) -> c_int {
    // SAFETY: the caller guarantees the arguments.
    let value = unsafe { Arguments::new(name, values, count, expected) }.and_then(function);
    match value {
        Ok(value) => {
            // SAFETY: the caller guarantees a writable result.
            unsafe { result.write(value) };
            0
        }
        Err(_) => -1,
    }
}
