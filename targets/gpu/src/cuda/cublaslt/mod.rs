//! Matrix products by cuBLASLt, NVIDIA's library for them, which is opened on first use.
//!
//! | file | content |
//! |---|---|
//! | `api` | functions of the library, and their errors |
//! | `arguments` | arguments of the global function, checked |
//! | `problem` | a problem: types, extents, epilogue |
//! | `plan` | descriptors and algorithm of a problem |
//! | `context` | each device's handle and plans; a call |

mod api;
mod arguments;
mod context;
mod plan;
mod problem;

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::{Any, AnyView, static_function};

use arguments::Call;

/// Global functions for cuBLASLt.
pub const CUBLASLT_FUNCTIONS: &[StaticFunction] = &[
    static_function!("ferrite.cublaslt.available", is_available),
    static_function!(packed "ferrite.cublaslt.matmul", matmul),
];

/// Returns `true` if the library is installed.
fn is_available() -> bool {
    api::api().is_ok()
}

/// Calculates `out = activation(alpha * x · w + residual + bias)` on the calling thread's stream.
/// The arguments are (x, w, bias, residual, transpose_x, transpose_w, alpha, activation, tf32,
/// out).
///
/// All tensors are contiguous, on one CUDA device, and have the same element type: float32, float16
/// or bfloat16. Sums are float32; `tf32` rounds the factors of float32. The last two axes are
/// matrices, exchanged if `transpose_x` or `transpose_w` is true. Leading axes are a batch, in
/// which a factor with one matrix is used for all. `bias` has an element for each column; it and
/// `residual` may be None or have no elements. `activation` is 0 (none), 1 (relu) or 6 (gelu by
/// tanh), a code of `targets/kernels`.
///
/// # Errors
/// TypeError and ValueError for wrong arguments; RuntimeError without cuBLASLt; CUDAError with the
/// library's status and the problem.
fn matmul(args: &[AnyView<'_>]) -> Result<Any> {
    if let Some(call) = Call::read(args)? {
        // SAFETY: who calls a global function on tensors guarantees their memory.
        unsafe { context::run(&call)? };
    }
    Ok(Any::NONE)
}
