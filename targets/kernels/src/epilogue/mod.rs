//! Last step of a tile: bias, residual and activation, and the store.

mod activation;
mod functions;

pub use activation::Activation;
#[cfg(test)]
pub use functions::erf;
pub use functions::exp;

use crate::element::Element;
use crate::simd::Simd;

/// Axis of the result along which the bias lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BiasAxis {
    /// One bias for each row.
    Rows,
    /// One bias for each column.
    Columns,
}

/// Operations on the elements of a product before they are stored.
#[derive(Clone, Copy)]
pub struct Epilogue<T> {
    /// Bias, or null.
    pub bias: *const T,
    /// Axis of the bias.
    pub bias_axis: BiasAxis,
    /// Values to add, at the offsets of the result, or null.
    pub residual: *const T,
    /// Factor of the product.
    pub scale: f32,
    /// Function of the sum.
    pub activation: Activation,
}

impl<T> Epilogue<T> {
    /// Returns an epilogue that only scales.
    pub fn scale(scale: f32) -> Self {
        Self {
            bias: core::ptr::null(),
            bias_axis: BiasAxis::Columns,
            residual: core::ptr::null(),
            scale,
            activation: Activation::None,
        }
    }
}

impl<T> Epilogue<T> {
    /// Returns the epilogue of a part of the result that begins at an offset and a row.
    pub fn at(&self, offset: usize, row: usize) -> Self
    where
        T: Copy,
    {
        let mut part = *self;
        if !part.residual.is_null() {
            part.residual = part.residual.wrapping_add(offset);
        }
        if !part.bias.is_null() && part.bias_axis == BiasAxis::Rows {
            part.bias = part.bias.wrapping_add(row);
        }
        part
    }
}

/// Position of a vector of the result.
#[derive(Clone, Copy)]
pub struct Place {
    /// Offset in the result and in the residual.
    pub offset: usize,
    /// Row of the result.
    pub row: usize,
    /// Column of the first lane.
    pub column: usize,
    /// Number of lanes to store.
    pub count: usize,
}

impl<T: Element> Epilogue<T> {
    /// Finishes the lanes of a vector, and stores them.
    ///
    /// # Safety
    /// `out` and the residual must have the elements of `at`, the bias those of its axis.
    #[inline(always)]
    pub unsafe fn store<S: Simd>(&self, simd: S, out: *mut T, at: Place, value: S::V) {
        // SAFETY: the caller guarantees the elements.
        unsafe { T::store_head(simd, out.add(at.offset), self.finish(simd, at, value), at.count) };
    }

    /// Finishes the lanes of a vector.
    ///
    /// # Safety
    /// The residual must have the elements of `at`, the bias those of its axis.
    #[inline(always)]
    pub unsafe fn finish<S: Simd>(&self, simd: S, at: Place, value: S::V) -> S::V {
        let mut value = value;
        if self.scale != 1.0 {
            value = simd.mul(value, simd.splat(self.scale));
        }
        // SAFETY: the caller guarantees the elements.
        unsafe {
            if !self.bias.is_null() {
                let bias = match self.bias_axis {
                    BiasAxis::Rows => simd.splat((*self.bias.add(at.row)).to_f32()),
                    BiasAxis::Columns => T::load_head(simd, self.bias.add(at.column), at.count),
                };
                value = simd.add(value, bias);
            }
            if !self.residual.is_null() {
                let residual = T::load_head(simd, self.residual.add(at.offset), at.count);
                value = simd.add(value, residual);
            }
        }
        self.activation.apply(simd, value)
    }
}
