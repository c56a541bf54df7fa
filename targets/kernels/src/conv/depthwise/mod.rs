//! Convolution of each channel by itself: of whole planes, or along rows of the output.

mod masks;
mod rows;
mod whole;

use super::Geometry;
use super::padded::copy;
use crate::arguments::Result;
use crate::element::Element;
use crate::epilogue::{Epilogue, Place};
use crate::matmul::is_f32;
use crate::simd::{Level, Simd};
use masks::Whole;

/// Input and output of a depthwise convolution, which calculates in f32.
pub trait Ends: Copy {
    /// Element of the weights.
    type Weight: Element;

    /// Returns the input if its elements need no conversion.
    fn floats(&self) -> Option<*const f32>;

    /// Reads input elements in f32 from an offset on, if the input has `count` elements there or
    /// more than lanes. Other lanes have any value.
    ///
    /// # Safety
    /// The input must have the elements.
    unsafe fn load<S: Simd>(&self, simd: S, from: usize, count: usize) -> S::V;

    /// Converts input elements: the offset of the first, and their distance.
    ///
    /// # Safety
    /// The input must have the elements, and `to` the space for `count`.
    unsafe fn copy<S: Simd>(&self, simd: S, from: (usize, usize), to: *mut f32, count: usize);

    /// Finishes the lanes of a vector of sums, and stores them.
    ///
    /// # Safety
    /// The output must have the elements of `at`.
    unsafe fn store<S: Simd>(&self, simd: S, at: Place, sum: S::V);
}

/// Input and output of one element type.
#[derive(Clone, Copy)]
pub struct Floats<T> {
    /// Input.
    pub x: *const T,
    /// Output.
    pub out: *mut T,
    /// Last step.
    pub epilogue: Epilogue<T>,
}

impl<T: Element> Ends for Floats<T> {
    type Weight = T;

    #[inline(always)]
    fn floats(&self) -> Option<*const f32> {
        is_f32::<T>().then_some(self.x.cast())
    }

    #[inline(always)]
    unsafe fn load<S: Simd>(&self, simd: S, from: usize, count: usize) -> S::V {
        // SAFETY: the caller guarantees the elements.
        unsafe { T::load_head(simd, self.x.wrapping_add(from), count) }
    }

    #[inline(always)]
    unsafe fn copy<S: Simd>(
        &self,
        simd: S,
        (from, stride): (usize, usize),
        to: *mut f32,
        count: usize,
    ) {
        // SAFETY: the caller guarantees the elements and the space.
        unsafe { copy(simd, (self.x.wrapping_add(from), stride), to, count) };
    }

    #[inline(always)]
    unsafe fn store<S: Simd>(&self, simd: S, at: Place, sum: S::V) {
        // SAFETY: the caller guarantees the elements.
        unsafe { self.epilogue.store(simd, self.out, at, sum) };
    }
}

/// Depthwise convolution, with weights as they come.
#[derive(Clone, Copy)]
pub struct Depthwise<E: Ends> {
    /// Geometry.
    pub geometry: Geometry,
    /// Weights, tap by tap for each output channel.
    pub w: *const E::Weight,
    /// Input and output.
    pub ends: E,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate channels.
unsafe impl<E: Ends> Sync for Depthwise<E> {}

impl<E: Ends> Depthwise<E> {
    /// Computes the output.
    ///
    /// # Errors
    /// Those of workspaces and of the pool.
    pub fn run(&self) -> Result<()> {
        let level = Level::current();
        if level.has_masks() && Whole::serves(&self.geometry, self.ends.floats().is_some()) {
            self.run_planes(level)
        } else {
            self.run_rows(level)
        }
    }

    /// Returns the number of output channels of all images.
    fn channels(&self) -> usize {
        self.geometry.batch * self.geometry.groups * self.geometry.outputs
    }

    /// Returns the output channel within an image.
    #[inline(always)]
    fn row(&self, channel: usize) -> usize {
        channel % (self.geometry.groups * self.geometry.outputs)
    }
}
