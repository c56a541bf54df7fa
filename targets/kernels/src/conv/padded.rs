//! Input planes in f32 with their padding, so that every tap of every output pixel is inside.
//!
//! The columns of a row are sorted by their remainder modulo the stride: neighbouring output pixels
//! read neighbouring elements, whatever the stride.

use core::ops::Range;

use super::Geometry;
use crate::element::Element;
use crate::simd::Simd;

/// Elements after the planes that vectors may read.
pub const SLACK: usize = 16;

/// Layout of padded planes.
#[derive(Clone, Copy)]
pub struct Padded {
    geometry: Geometry,
    /// Remainders of columns that taps use.
    phases: usize,
    /// Columns of a remainder.
    width: usize,
}

impl Padded {
    /// Returns the layout for a convolution.
    pub fn new(geometry: Geometry) -> Self {
        let reach = geometry.dilation[1] * (geometry.kernel[1] - 1);
        let phases = geometry.stride[1].min(reach + 1);
        Self { geometry, phases, width: geometry.output[1] + reach / geometry.stride[1] }
    }

    /// Returns the distance of rows.
    pub fn row(&self) -> usize {
        self.phases.saturating_mul(self.width)
    }

    /// Returns the padded rows that output rows read.
    pub fn rows(&self, outputs: &Range<usize>) -> Range<usize> {
        let Geometry { stride, dilation, kernel, .. } = self.geometry;
        let first = outputs.start * stride[0];
        if outputs.is_empty() {
            return first..first;
        }
        first..(outputs.end - 1) * stride[0] + dilation[0] * (kernel[0] - 1) + 1
    }

    /// Returns the offset of an output pixel, counted from padded row 0.
    #[inline(always)]
    pub fn pixel(&self, y: usize, x: usize) -> usize {
        y * self.geometry.stride[0] * self.row() + x
    }

    /// Returns the distances of taps from the offsets of their output pixels, in the order of taps.
    #[inline(always)]
    pub fn taps(&self) -> impl Iterator<Item = usize> {
        let Geometry { stride, dilation, kernel, .. } = self.geometry;
        let (row, width) = (self.row(), self.width);
        (0..kernel[0]).flat_map(move |y| {
            (0..kernel[1]).map(move |x| {
                let x = x * dilation[1];
                y * dilation[0] * row + x % stride[1] * width + x / stride[1]
            })
        })
    }

    /// Writes the elements of a channel into padded rows, between the padding.
    ///
    /// # Safety
    /// `plane` must have the elements of a channel, and `to` the space for the rows.
    #[inline(always)]
    pub unsafe fn fill<S: Simd, T: Element>(
        &self,
        simd: S,
        plane: *const T,
        rows: Range<usize>,
        to: *mut f32,
    ) {
        let Geometry { input, pad, stride, .. } = self.geometry;
        for (at, row) in rows.enumerate() {
            // Rows above the input wrap around to large numbers.
            let y = row.wrapping_sub(pad[0]);
            for phase in 0..self.phases {
                let to = to.wrapping_add(at * self.row() + phase * self.width);
                // Columns `first..last` of the phase are inside of the input.
                let first = pad[1].saturating_sub(phase).div_ceil(stride[1]).min(self.width);
                let last = (input[1] + pad[1]).saturating_sub(phase).div_ceil(stride[1]);
                if y >= input[0] || last <= first {
                    continue;
                }
                let from = plane
                    .wrapping_add(y.wrapping_mul(input[1]))
                    .wrapping_add((first * stride[1] + phase).wrapping_sub(pad[1]));
                // SAFETY: the columns are inside of the row, and the caller guarantees the space.
                let count = last.min(self.width) - first;
                unsafe { copy(simd, (from, stride[1]), to.wrapping_add(first), count) };
            }
        }
    }
}

/// Converts elements at a distance.
///
/// # Safety
/// `from` must have the elements, and `to` the space.
#[inline(always)]
unsafe fn copy<S: Simd, T: Element>(
    simd: S,
    (from, stride): (*const T, usize),
    to: *mut f32,
    count: usize,
) {
    // SAFETY: the caller guarantees the elements. Known strides let the compiler vectorise.
    unsafe {
        match stride {
            1 => crate::matmul::to_f32(simd, from, to, count),
            2 => (0..count).for_each(|at| *to.add(at) = (*from.add(2 * at)).to_f32()),
            _ => (0..count).for_each(|at| *to.add(at) = (*from.add(stride * at)).to_f32()),
        }
    }
}
