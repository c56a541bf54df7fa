//! Input planes in f32 with their padding, so that every tap of every output pixel is inside.
//!
//! The columns of a row are sorted by their remainder modulo the stride: neighbouring output pixels
//! read neighbouring elements, whatever the stride.

use core::ops::Range;

use super::Geometry;
use crate::arguments::Result;
use crate::element::Element;
use crate::scratch::Scratch;
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

    /// Returns the distance of the padded rows that the same tap of output rows reads.
    #[inline(always)]
    pub fn line(&self) -> usize {
        self.geometry.stride[0].saturating_mul(self.row())
    }

    /// Returns the offset of an output pixel, counted from padded row 0.
    #[inline(always)]
    pub fn pixel(&self, y: usize, x: usize) -> usize {
        y * self.line() + x
    }

    /// Returns the distance of a tap from the offset of its output pixel.
    fn tap(&self, tap: usize) -> usize {
        let Geometry { stride, dilation, kernel, .. } = self.geometry;
        let (y, x) = (tap / kernel[1] * dilation[0], tap % kernel[1] * dilation[1]);
        y * self.row() + x % stride[1] * self.width + x / stride[1]
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
        let stride = self.geometry.stride[1];
        self.for_each_row(rows, |from, at, count| {
            // SAFETY: the columns are inside of the row, and the caller guarantees the space.
            unsafe { copy(simd, (plane.wrapping_add(from), stride), to.wrapping_add(at), count) };
        });
    }

    /// Calls a function for the elements inside of the padding that neighbour each other in a
    /// padded row: offset of the first in the channel, where they are at the distance of the
    /// stride; offset in the padded rows; number.
    #[inline(always)]
    pub fn for_each_row(&self, rows: Range<usize>, mut visit: impl FnMut(usize, usize, usize)) {
        let Geometry { input, pad, .. } = self.geometry;
        // Rows `rows.start..` that are inside of the input.
        let (first, last) = (rows.start.max(pad[0]), rows.end.min(input[0] + pad[0]));
        for phase in 0..self.phases {
            let (columns, source) = self.columns(phase);
            for row in first..last {
                let to = (row - rows.start) * self.row() + phase * self.width + columns.start;
                visit((row - pad[0]) * input[1] + source, to, columns.len());
            }
        }
    }

    /// Returns the columns of a remainder that are inside of the input, and the input column of the
    /// first.
    #[inline(always)]
    fn columns(&self, phase: usize) -> (Range<usize>, usize) {
        let (Geometry { input, pad, stride, .. }, width) = (self.geometry, self.width);
        let first = pad[1].saturating_sub(phase).div_ceil(stride[1]).min(width);
        let last = (input[1] + pad[1]).saturating_sub(phase).div_ceil(stride[1]).min(width);
        if last <= first { (0..0, 0) } else { (first..last, first * stride[1] + phase - pad[1]) }
    }
}

/// Converts elements at a distance.
///
/// # Safety
/// `from` must have the elements, and `to` the space.
#[inline(always)]
pub unsafe fn copy<S: Simd, T: Element>(
    simd: S,
    (from, stride): (*const T, usize),
    to: *mut f32,
    count: usize,
) {
    // SAFETY: the caller guarantees the elements.
    unsafe {
        match stride {
            1 => crate::matmul::to_f32(simd, from, to, count),
            2 => copy_even(simd, from, to, count),
            _ => (0..count).for_each(|at| *to.add(at) = (*from.add(stride * at)).to_f32()),
        }
    }
}

/// Converts every other element.
///
/// # Safety
/// Same requirements as `copy`.
#[inline(always)]
unsafe fn copy_even<S: Simd, T: Element>(simd: S, from: *const T, to: *mut f32, count: usize) {
    for at in (0..count).step_by(S::LANES) {
        let rest = 2 * (count - at) - 1;
        // SAFETY: the caller guarantees the elements and the space.
        unsafe {
            if rest < 2 * S::LANES && !S::HAS_MASKS {
                return (at..count).for_each(|at| *to.add(at) = (*from.add(2 * at)).to_f32());
            }
            let [first, second] = [0, S::LANES].map(|lane| {
                T::load_head(simd, from.wrapping_add(2 * at + lane), rest.saturating_sub(lane))
            });
            let (even, _) = simd.unzip(first, second);
            f32::store_head(simd, to.add(at), even, count - at);
        }
    }
}

/// Distances of taps from the offsets of their output pixels, for all tasks of a call.
pub struct Taps {
    offsets: Scratch,
    count: usize,
}

impl Taps {
    /// Calculates the distances.
    ///
    /// # Errors
    /// Those of workspaces.
    pub fn new(layout: &Padded) -> Result<Self> {
        let count = layout.geometry.taps();
        let offsets = Scratch::new(count.saturating_mul(size_of::<usize>() / size_of::<f32>()))?;
        for tap in 0..count {
            // SAFETY: the workspace has the offsets, and is aligned for them.
            unsafe { *offsets.data().cast::<usize>().add(tap) = layout.tap(tap) };
        }
        Ok(Self { offsets, count })
    }

    /// Returns the distances in the order of taps.
    #[inline(always)]
    pub fn offsets(&self) -> &[usize] {
        // SAFETY: `new` wrote the offsets; there is at least one tap.
        unsafe { core::slice::from_raw_parts(self.offsets.data().cast(), self.count) }
    }
}

// SAFETY: tasks only read the offsets.
unsafe impl Sync for Taps {}
