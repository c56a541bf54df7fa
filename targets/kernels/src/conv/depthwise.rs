//! Convolution of each channel by itself, along rows of the output.

use super::Geometry;
use crate::arguments::Result;
use crate::element::Element;
use crate::epilogue::{Epilogue, Place};
use crate::simd::{self, Level, Simd, Work};
use crate::threads::{self, share};

/// Depthwise convolution, with weights as they come.
#[derive(Clone, Copy)]
pub struct Depthwise<T> {
    /// Geometry.
    pub geometry: Geometry,
    /// Input.
    pub x: *const T,
    /// Weights, tap by tap for each output channel.
    pub w: *const T,
    /// Output.
    pub out: *mut T,
    /// Last step.
    pub epilogue: Epilogue<T>,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate channels.
unsafe impl<T> Sync for Depthwise<T> {}

impl<T: Element> Depthwise<T> {
    /// Computes the output.
    ///
    /// # Errors
    /// Those of the pool.
    pub fn run(&self) -> Result<()> {
        let level = Level::current();
        let geometry = &self.geometry;
        let channels = geometry.batch * geometry.groups * geometry.outputs;
        threads::launch(geometry.work(), |task, tasks| {
            for channel in share(channels, 1, task, tasks) {
                simd::run(level, Channel { depthwise: self, channel });
            }
            Ok(())
        })
    }
}

struct Channel<'a, T> {
    depthwise: &'a Depthwise<T>,
    channel: usize,
}

impl<T: Element> Work for Channel<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let geometry = self.depthwise.geometry;
        for y in 0..geometry.output[0] {
            for x in (0..geometry.output[1]).step_by(S::LANES) {
                // SAFETY: the extents were checked.
                unsafe { self.pixels(simd, y, x) };
            }
        }
    }
}

impl<T: Element> Channel<'_, T> {
    /// Computes a vector of pixels of a row.
    ///
    /// # Safety
    /// The tensors must have the extents of the geometry.
    #[inline(always)]
    unsafe fn pixels<S: Simd>(&self, simd: S, oy: usize, ox: usize) {
        let Depthwise { geometry, x, w, out, epilogue } = *self.depthwise;
        let count = (geometry.output[1] - ox).min(S::LANES);
        let outputs = geometry.groups * geometry.outputs;
        let row = self.channel % outputs;
        let plane = x.wrapping_add(self.channel / geometry.outputs * geometry.plane());
        let weights = w.wrapping_add(row * geometry.taps());
        let mut sum = simd.splat(0.0);
        for tap in 0..geometry.taps() {
            // SAFETY: the weights have the taps.
            let weight = simd.splat(unsafe { *weights.add(tap) }.to_f32());
            // SAFETY: the plane has the extents of the input.
            let pixels = unsafe { geometry.tap_pixels(simd, plane, (oy, ox, count), tap) };
            sum = simd.fma(weight, pixels, sum);
        }
        let offset = (self.channel * geometry.output[0] + oy) * geometry.output[1] + ox;
        let place = Place { offset, row, column: 0, count };
        // SAFETY: the output has the extents of the geometry.
        unsafe { epilogue.store(simd, out, place, sum) };
    }
}

impl Geometry {
    /// Returns the input elements of a tap for a vector of pixels of a row; zero outside.
    ///
    /// # Safety
    /// `plane` must have the elements of a channel.
    #[inline(always)]
    unsafe fn tap_pixels<S: Simd, T: Element>(
        &self,
        simd: S,
        plane: *const T,
        (oy, ox, count): (usize, usize, usize),
        tap: usize,
    ) -> S::V {
        let [height, width] = self.input;
        let (ky, kx) = (tap / self.kernel[1], tap % self.kernel[1]);
        // Elements above and left of the input wrap around to large numbers.
        let y = (oy * self.stride[0] + ky * self.dilation[0]).wrapping_sub(self.pad[0]);
        let x = (ox * self.stride[1] + kx * self.dilation[1]).wrapping_sub(self.pad[1]);
        if y >= height {
            return simd.splat(0.0);
        }
        let row = plane.wrapping_add(y * width);
        if self.stride[1] == 1 && count == S::LANES && x < width && width - x >= S::LANES {
            // SAFETY: the elements are inside of the row.
            return unsafe { T::load(simd, row.add(x)) };
        }
        let mut lanes = [T::ZERO; 16];
        for (at, lane) in lanes.iter_mut().enumerate().take(count) {
            let x = x.wrapping_add(at * self.stride[1]);
            if x < width {
                // SAFETY: the element is inside of the row.
                *lane = unsafe { *row.add(x) };
            }
        }
        // SAFETY: the array has at least the lanes of a vector.
        unsafe { T::load(simd, lanes.as_ptr()) }
    }
}
