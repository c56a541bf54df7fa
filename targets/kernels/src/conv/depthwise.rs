//! Convolution of each channel by itself, along rows of the output.

use core::ops::Range;

use super::Geometry;
use super::padded::{Padded, SLACK};
use crate::arguments::Result;
use crate::element::Element;
use crate::epilogue::{Epilogue, Place};
use crate::scratch::Scratch;
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
    /// Those of workspaces and of the pool.
    pub fn run(&self) -> Result<()> {
        let level = Level::current();
        let geometry = &self.geometry;
        let channels = geometry.batch * geometry.groups * geometry.outputs;
        let layout = Padded::new(*geometry);
        let rows = layout.rows(&(0..geometry.output[0]));
        threads::launch(geometry.work(), |task, tasks| {
            let plane =
                Scratch::zeros(rows.len().saturating_mul(layout.row()).saturating_add(SLACK))?;
            let channels = share(channels, 1, task, tasks);
            let rows = rows.clone();
            let plane = plane.data();
            simd::run(level, Channels { depthwise: *self, channels, layout, rows, plane });
            Ok(())
        })
    }
}

/// Channels of a task.
struct Channels<T> {
    depthwise: Depthwise<T>,
    channels: Range<usize>,
    layout: Padded,
    rows: Range<usize>,
    plane: *mut f32,
}

/// Output rows that are computed together.
const ROWS: usize = 4;

impl<T: Element> Work for Channels<T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let geometry = self.depthwise.geometry;
        let [height, width] = geometry.output;
        for channel in self.channels.clone() {
            let plane =
                self.depthwise.x.wrapping_add(channel / geometry.outputs * geometry.plane());
            // SAFETY: the extents were checked; the scratch has the padded plane.
            unsafe { self.layout.fill(simd, plane, self.rows.clone(), self.plane) };
            for y in (0..height).step_by(ROWS) {
                for x in (0..width).step_by(S::LANES) {
                    // SAFETY: as above.
                    unsafe {
                        match height - y {
                            1 => self.pixels::<S, 1>(simd, channel, y, x),
                            2 => self.pixels::<S, 2>(simd, channel, y, x),
                            3 => self.pixels::<S, 3>(simd, channel, y, x),
                            _ => self.pixels::<S, ROWS>(simd, channel, y, x),
                        }
                    }
                }
            }
        }
    }
}

impl<T: Element> Channels<T> {
    /// Computes a vector of pixels of `N` rows.
    ///
    /// # Safety
    /// The tensors must have the extents of the geometry, the scratch the padded plane.
    #[inline(always)]
    unsafe fn pixels<S: Simd, const N: usize>(&self, simd: S, channel: usize, y: usize, x: usize) {
        let Depthwise { geometry, w, out, epilogue, .. } = self.depthwise;
        let [height, width] = geometry.output;
        let row = channel % (geometry.groups * geometry.outputs);
        let weights = w.wrapping_add(row * geometry.taps());
        let pixels = self.plane.wrapping_add(self.layout.pixel(y, x));
        let next = self.layout.pixel(1, 0);
        let mut sums = [simd.splat(0.0); N];
        for (at, tap) in self.layout.taps().enumerate() {
            let pixels = pixels.wrapping_add(tap);
            // SAFETY: the weights have the taps, and the padded plane the pixels and the slack.
            unsafe {
                let weight = simd.splat((*weights.add(at)).to_f32());
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = simd.fma(weight, simd.load(pixels.add(at * next)), *sum);
                }
            }
        }
        for (at, sum) in sums.iter().enumerate() {
            let offset = (channel * height + y + at) * width + x;
            let place = Place { offset, row, column: 0, count: (width - x).min(S::LANES) };
            // SAFETY: the output has the extents of the geometry.
            unsafe { epilogue.store(simd, out, place, *sum) };
        }
    }
}
