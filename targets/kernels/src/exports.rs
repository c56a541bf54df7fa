//! The functions, as symbols `__tvm_ffi_ferrite.NAME` with the safe call convention.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::TVMFFIAny;

use crate::arguments::{Arguments, Result};
use crate::element::{Bf16, F16};
use crate::{attention, conv, matmul, quantized};

/// Defines the symbol of a function: name, number of arguments, implementation.
macro_rules! export {
    ($name:expr, $count:literal, $function:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!("__tvm_ffi_ferrite.", $name))]
            unsafe extern "C" fn call(
                _: *mut c_void,
                values: *const TVMFFIAny,
                count: i32,
                result: *mut TVMFFIAny,
            ) -> c_int {
                let name = concat!("ferrite.", $name);
                // SAFETY: the caller passes the arguments of a safe call.
                unsafe { serve((name, $count), values, count, result, $function) }
            }
        };
    };
}

/// Defines a symbol for each element type of a function, so that libraries contain the code of
/// those types that they call.
macro_rules! export_types {
    ($($name:literal, $count:literal, $($function:ident)::+;)*) => {$(
        export!($name, $count, $($function)::+::<f32>);
        export!(concat!($name, "_float16"), $count, $($function)::+::<F16>);
        export!(concat!($name, "_bfloat16"), $count, $($function)::+::<Bf16>);
    )*};
}

export_types! {
    "dense", 8, matmul::calls::dense;
    "batch_matmul", 5, matmul::batch::batch_matmul;
    "conv2d", 9, conv::calls::conv2d;
    "attention", 7, attention::calls::attention;
    "pack_dense", 3, matmul::calls::pack_dense;
    "pack_conv2d", 3, conv::calls::pack_conv2d;
}

export!("packed_dense_shape", 3, matmul::calls::packed_dense_shape);
export!("packed_conv2d_shape", 3, conv::calls::packed_conv2d_shape);
export!("qdense", 11, quantized::dense::qdense);
export!("qconv2d", 12, quantized::convolution::qconv2d);
export!("pack_qdense", 3, quantized::dense::pack_qdense);
export!("pack_qconv2d", 3, quantized::convolution::pack_qconv2d);
export!("packed_qdense_shape", 3, quantized::dense::packed_qdense_shape);
export!("packed_qconv2d_shape", 3, quantized::convolution::packed_qconv2d_shape);

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
