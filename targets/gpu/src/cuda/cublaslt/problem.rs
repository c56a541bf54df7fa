//! Problems: element types, extents and epilogue of a matrix product, by which plans are found.

use core::ffi::{c_int, c_void};
use core::fmt;

use super::api;

/// Element type of all tensors, and the precision of the product.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Precision {
    Float32,
    /// float32 whose factors are rounded to TF32.
    Tf32,
    Float16,
    BFloat16,
}

impl Precision {
    /// Returns the `cudaDataType_t` of the elements.
    pub(super) fn element(self) -> c_int {
        match self {
            Precision::Float32 | Precision::Tf32 => api::R_32F,
            Precision::Float16 => api::R_16F,
            Precision::BFloat16 => api::R_16BF,
        }
    }

    /// Returns the `cublasComputeType_t`. Sums are float32.
    pub(super) fn compute(self) -> c_int {
        if self == Precision::Tf32 { api::COMPUTE_32F_FAST_TF32 } else { api::COMPUTE_32F }
    }

    fn name(self) -> &'static str {
        match self {
            Precision::Float32 => "float32",
            Precision::Tf32 => "tf32",
            Precision::Float16 => "float16",
            Precision::BFloat16 => "bfloat16",
        }
    }
}

/// A factor of the product.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Factor {
    pub is_transposed: bool,
    /// Elements from a matrix to the next one of the batch; 0 if all products use the same.
    pub batch_stride: i64,
}

/// Product of `x`, `rows` by `inner`, and `w`, `inner` by `columns`, in row-major order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Problem {
    pub precision: Precision,
    pub batch: i32,
    pub rows: u64,
    pub columns: u64,
    pub inner: u64,
    pub x: Factor,
    pub w: Factor,
    /// `cublasLtEpilogue_t`.
    pub epilogue: u32,
    /// Alignment of all tensors in bytes, at most 256.
    pub alignment: u32,
}

impl Problem {
    pub(super) fn has_bias(&self) -> bool {
        self.epilogue & api::EPILOGUE_BIAS != 0
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stored = |factor: Factor| if factor.is_transposed { " transposed" } else { "" };
        let Problem { batch, rows, columns, inner, epilogue, .. } = self;
        let (precision, x, w) = (self.precision.name(), stored(self.x), stored(self.w));
        write!(
            out,
            "{precision} x of {rows} by {inner}{x} and w of {inner} by {columns}{w}, batch {batch}, epilogue {epilogue}"
        )
    }
}

/// Addresses of the tensors of a call, and the factor of the product.
pub(super) struct Operands {
    pub x: *const c_void,
    pub w: *const c_void,
    /// Null without a bias.
    pub bias: *const c_void,
    /// Null without a residual.
    pub residual: *const c_void,
    pub out: *mut c_void,
    pub alpha: f32,
}
