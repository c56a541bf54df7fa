//! Convolution along rows of the output, from padded planes.

use core::ops::Range;

use super::{Depthwise, Ends};
use crate::arguments::Result;
use crate::conv::padded::{Padded, SLACK, Taps};
use crate::element::Element;
use crate::epilogue::Place;
use crate::scratch::Scratch;
use crate::simd::{self, Level, MAX_LANES, Simd, Work};
use crate::threads::{self, share};

impl<E: Ends> Depthwise<E> {
    /// Computes the output along rows.
    ///
    /// # Errors
    /// Those of workspaces and of the pool.
    pub(super) fn run_rows(&self, level: Level) -> Result<()> {
        let geometry = &self.geometry;
        let layout = Padded::new(*geometry);
        let taps = Taps::new(&layout)?;
        let rows = layout.rows(&(0..geometry.output[0]));
        threads::launch(geometry.work(), |task, tasks| {
            let plane =
                Scratch::zeros(rows.len().saturating_mul(layout.row()).saturating_add(SLACK))?;
            let channels = share(self.channels(), 1, task, tasks);
            let rows = rows.clone();
            let plane = plane.data();
            simd::run(
                level,
                Channels { depthwise: *self, taps: taps.offsets(), channels, layout, rows, plane },
            );
            Ok(())
        })
    }
}

/// Channels of a task.
struct Channels<'a, E: Ends> {
    depthwise: Depthwise<E>,
    taps: &'a [usize],
    channels: Range<usize>,
    layout: Padded,
    rows: Range<usize>,
    plane: *mut f32,
}

/// Output rows that are computed together.
const ROWS: usize = 4;

/// Vectors of pixels of the rows.
type Sums = [f32; ROWS * MAX_LANES];

impl<E: Ends> Work for Channels<'_, E> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let geometry = self.depthwise.geometry;
        let [height, width] = geometry.output;
        for channel in self.channels.clone() {
            let offset = channel / geometry.outputs * geometry.plane();
            // SAFETY: the extents were checked; the scratch has the padded plane.
            unsafe { self.pad(simd, offset) };
            for y in (0..height).step_by(ROWS) {
                for x in (0..width).step_by(S::LANES) {
                    // SAFETY: as above.
                    unsafe {
                        let sums = match height - y {
                            1 => self.pixels::<S, 1>(simd, channel, y, x),
                            2 => self.pixels::<S, 2>(simd, channel, y, x),
                            3 => self.pixels::<S, 3>(simd, channel, y, x),
                            _ => self.pixels::<S, ROWS>(simd, channel, y, x),
                        };
                        self.store(simd, channel, y..height.min(y + ROWS), x, &sums);
                    }
                }
            }
        }
    }
}

impl<E: Ends> Channels<'_, E> {
    /// Writes the padded plane of an input channel, whose first element has an offset.
    ///
    /// # Safety
    /// The input must have the channel, and the scratch the padded plane.
    #[inline(always)]
    unsafe fn pad<S: Simd>(&self, simd: S, offset: usize) {
        let (ends, stride, plane) =
            (self.depthwise.ends, self.depthwise.geometry.stride[1], self.plane);
        self.layout.for_each_row(self.rows.clone(), |from, at, count| {
            let (from, to) = ((offset + from, stride), plane.wrapping_add(at));
            // SAFETY: the columns are inside of the row, and the caller guarantees the space.
            unsafe { ends.copy(simd, from, to, count) };
        });
    }

    /// Computes a vector of pixels of `N` rows.
    ///
    /// # Safety
    /// The weights must have the extents of the geometry, the scratch the padded plane.
    #[inline(always)]
    unsafe fn pixels<S: Simd, const N: usize>(
        &self,
        simd: S,
        channel: usize,
        y: usize,
        x: usize,
    ) -> Sums {
        let geometry = &self.depthwise.geometry;
        let weights = self.depthwise.w.wrapping_add(self.depthwise.row(channel) * geometry.taps());
        let pixels = self.plane.wrapping_add(self.layout.pixel(y, x));
        let mut sums = [0.0; ROWS * MAX_LANES];
        // SAFETY: the weights have the taps, the padded plane the pixels and the slack, and the
        // array the vectors.
        unsafe {
            let vectors: [S::V; N] =
                match (geometry.kernel[0], geometry.stride[0], geometry.dilation[0]) {
                    (3, 1, 1) => self.sums_by_rows::<S, N, 3, 1>(simd, weights, pixels),
                    (3, 2, 1) => self.sums_by_rows::<S, N, 3, 2>(simd, weights, pixels),
                    (5, 1, 1) => self.sums_by_rows::<S, N, 5, 1>(simd, weights, pixels),
                    _ => self.sums(simd, weights, pixels),
                };
            for (at, vector) in vectors.iter().enumerate() {
                simd.store(sums.as_mut_ptr().add(at * MAX_LANES), *vector);
            }
        }
        sums
    }

    /// Finishes vectors of pixels of rows, and stores them. One loop serves each number of rows:
    /// the last step is most of the code.
    ///
    /// # Safety
    /// The output must have the extents of the geometry.
    #[inline(always)]
    unsafe fn store<S: Simd>(
        &self,
        simd: S,
        channel: usize,
        rows: Range<usize>,
        x: usize,
        sums: &Sums,
    ) {
        let Depthwise { geometry, ends, .. } = self.depthwise;
        let [height, width] = geometry.output;
        for y in rows.clone() {
            let offset = (channel * height + y) * width + x;
            let count = (width - x).min(S::LANES);
            let place = Place { offset, row: self.depthwise.row(channel), column: 0, count };
            // SAFETY: the output has the rows, and the array a vector for each of them.
            unsafe {
                let sum = simd.load(sums.as_ptr().add((y - rows.start) * MAX_LANES));
                ends.store(simd, place, sum);
            }
        }
    }

    /// Computes the sums of `N` output rows at the distance of the stride.
    ///
    /// # Safety
    /// The weights must have the taps, and the padded plane the pixels and the slack.
    #[inline(always)]
    unsafe fn sums<S: Simd, const N: usize>(
        &self,
        simd: S,
        weights: *const E::Weight,
        pixels: *const f32,
    ) -> [S::V; N] {
        let next = self.layout.pixel(1, 0);
        let mut sums = [simd.splat(0.0); N];
        for (at, tap) in self.taps.iter().enumerate() {
            let pixels = pixels.wrapping_add(*tap);
            // SAFETY: the caller guarantees the weights and the pixels.
            unsafe {
                let weight = simd.splat((*weights.add(at)).to_f32());
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = simd.fma(weight, simd.load(pixels.add(at * next)), *sum);
                }
            }
        }
        sums
    }

    /// Computes the sums of `N` output rows for kernels of `K` rows and the stride `D`. Each input
    /// vector is read once for all output rows.
    ///
    /// # Safety
    /// The weights must have the taps, and the padded plane the pixels and the slack.
    #[inline(always)]
    unsafe fn sums_by_rows<S: Simd, const N: usize, const K: usize, const D: usize>(
        &self,
        simd: S,
        weights: *const E::Weight,
        pixels: *const f32,
    ) -> [S::V; N] {
        let (columns, next) = (self.depthwise.geometry.kernel[1], self.layout.row());
        let mut sums = [simd.splat(0.0); N];
        for (column, tap) in self.taps[..columns].iter().enumerate() {
            let pixels = pixels.wrapping_add(*tap);
            // SAFETY: the caller guarantees the weights and the pixels.
            unsafe {
                let weights: [S::V; K] = core::array::from_fn(|row| {
                    simd.splat((*weights.add(row * columns + column)).to_f32())
                });
                for row in 0..(N - 1) * D + K {
                    let value = simd.load(pixels.add(row * next));
                    for (at, sum) in sums.iter_mut().enumerate() {
                        if at * D <= row && row < at * D + K {
                            *sum = simd.fma(weights[row - at * D], value, *sum);
                        }
                    }
                }
            }
        }
        sums
    }
}
