//! Convolution as a product of packed weights and gathered pixels.

use core::ops::Range;

use super::Geometry;
use super::gather::{self, Planes};
use super::padded::{self, Padded, Taps};
use super::part::Part;
use crate::arguments::Result;
use crate::element::Element;
use crate::epilogue::Epilogue;
use crate::matmul::{COLUMNS, Left, Lines, Product, ROWS, Right, is_f32, to_f32};
use crate::scratch::Scratch;
use crate::simd::{self, Level, Simd, Work};
use crate::threads;

/// Bytes of gathered pixels, which stay in the second-level cache.
const GATHERED_BYTES: usize = 384 << 10;

/// Output channels whose products take as long as gathering their pixels.
const GATHERING_OUTPUTS: usize = 6;

/// Convolution with packed weights.
#[derive(Clone, Copy)]
pub struct Convolution<T> {
    /// Geometry.
    pub geometry: Geometry,
    /// Input.
    pub x: *const T,
    /// Packed weights.
    pub w: *const T,
    /// Output.
    pub out: *mut T,
    /// Last step.
    pub epilogue: Epilogue<T>,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate blocks.
unsafe impl<T> Sync for Convolution<T> {}

impl<T: Element> Convolution<T> {
    /// Computes the output.
    ///
    /// # Errors
    /// Those of workspaces and of the pool.
    pub fn run(&self) -> Result<()> {
        let level = Level::current();
        let taps = Taps::new(&Padded::new(self.geometry))?;
        threads::launch(self.geometry.work(), |task, tasks| {
            let part = Part::of_task(&self.geometry, task, tasks);
            let chunk = match self.in_place() {
                Some(_) => 0,
                None => self.chunk(part.pixels.len()),
            };
            let inner = self.geometry.inner();
            let gathered = Scratch::new(chunk.saturating_mul(inner).saturating_add(gather::SLACK))?;
            let planes = Planes::of_pixels(&self.geometry, &part.pixels);
            let padded = Scratch::zeros(self.padded(&planes))?;
            let weights = Scratch::new(self.converted(part.rows.len()))?;
            let planes = Planes { data: padded.data(), ..planes };
            let (gathered, weights, padded) = (gathered.data(), weights.data(), padded.data());
            let taps = taps.offsets();
            let task =
                Task { convolution: self, taps, part, chunk, gathered, weights, planes, padded };
            simd::run(level, task);
            Ok(())
        })
    }

    /// Returns the number of pixels to gather at once: whole panels.
    fn chunk(&self, pixels: usize) -> usize {
        let fitting =
            GATHERED_BYTES / 4 / self.geometry.inner().max(1) / (2 * COLUMNS) * (2 * COLUMNS);
        fitting.max(2 * COLUMNS).min(pixels.next_multiple_of(COLUMNS))
    }

    /// Returns how many pixels are the columns of a product that reads padded planes in place: all,
    /// or those of a row. Returns `None` if columns without a pixel cost more than gathering.
    fn in_place(&self) -> Option<usize> {
        let (width, line) = (self.geometry.output[1], Padded::new(self.geometry).line());
        let row = width.next_multiple_of(COLUMNS);
        let (columns, pixels) =
            if row <= line { (row, width) } else { (line, self.geometry.pixels()) };
        let wasted = (columns - width).saturating_mul(self.geometry.outputs);
        let pays = wasted <= columns.saturating_mul(GATHERING_OUTPUTS);
        (pays && !self.geometry.is_pointwise()).then_some(pixels)
    }

    /// Returns the number of elements of the padded planes.
    fn padded(&self, planes: &Planes<f32>) -> usize {
        if self.geometry.is_pointwise() {
            return 0;
        }
        self.geometry.channels.saturating_mul(planes.plane()).saturating_add(padded::SLACK)
    }

    /// Returns the number of weights to convert to f32, for a number of rows.
    fn converted(&self, rows: usize) -> usize {
        if is_f32::<T>() { 0 } else { rows.next_multiple_of(ROWS) * self.geometry.inner() }
    }
}

struct Task<'a, T> {
    convolution: &'a Convolution<T>,
    taps: &'a [usize],
    part: Part,
    chunk: usize,
    gathered: *mut f32,
    weights: *mut f32,
    planes: Planes<f32>,
    padded: *mut f32,
}

impl<T: Element> Work for Task<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let geometry = self.convolution.geometry;
        for plane in self.part.planes.clone() {
            let left = self.weights_of(simd, plane % geometry.groups);
            let offset = plane * geometry.channels * geometry.plane();
            let x = self.convolution.x.wrapping_add(offset);
            // SAFETY: the extents were checked; the scratch has the planes.
            unsafe { self.pad(simd, x) };
            if let Some(pixels) = self.convolution.in_place() {
                // SAFETY: the extents were checked; the scratch has the planes.
                unsafe { self.multiply_in_place(simd, plane, left, pixels) };
                continue;
            }
            for first in self.part.pixels.clone().step_by(self.chunk) {
                let pixels = first..(first + self.chunk).min(self.part.pixels.end);
                // SAFETY: the extents were checked; the scratch has a chunk of pixels.
                unsafe {
                    if geometry.is_pointwise() {
                        geometry.gather_pointwise(simd, x, pixels.clone(), self.gathered);
                    } else {
                        self.planes.gather(
                            simd,
                            (&geometry, self.taps),
                            pixels.clone(),
                            self.gathered,
                        );
                    }
                    let right = Right::panels(self.gathered.cast_const(), geometry.inner());
                    let columns = 0..pixels.len();
                    self.multiply(simd, plane, left, (right, Lines::ONE), pixels.start, columns);
                }
            }
        }
    }
}

impl<T: Element> Task<'_, T> {
    /// Writes the padded planes of a group.
    ///
    /// # Safety
    /// `x` must have the channels of a group, and the scratch their padded planes.
    #[inline(always)]
    unsafe fn pad<S: Simd>(&self, simd: S, x: *const T) {
        let geometry = &self.convolution.geometry;
        if geometry.is_pointwise() {
            return;
        }
        let (first, last) = self.planes.rows;
        for channel in 0..geometry.channels {
            let plane = x.wrapping_add(channel * geometry.plane());
            let to = self.padded.wrapping_add(channel * self.planes.plane());
            // SAFETY: the caller guarantees the channels and the planes.
            unsafe { self.planes.layout.fill(simd, plane, first..last, to) };
        }
    }

    /// Returns the weights of a group, converted to f32.
    #[inline(always)]
    fn weights_of<S: Simd>(&self, simd: S, group: usize) -> *const f32 {
        let geometry = &self.convolution.geometry;
        let inner = geometry.inner();
        let first = group * geometry.outputs.next_multiple_of(ROWS) * inner;
        let from = self.convolution.w.wrapping_add(first);
        if self.weights.is_null() {
            return from.cast();
        }
        let start = self.part.rows.start * inner;
        let count = self.convolution.converted(self.part.rows.len());
        // SAFETY: packed weights have whole panels, and so has the scratch.
        unsafe { to_f32(simd, from.add(start), self.weights, count) };
        self.weights.wrapping_sub(start)
    }

    /// Multiplies the weights of a group by padded planes, a number of pixels at a time.
    ///
    /// # Safety
    /// The scratch must have the planes of the group, and the tensors the plane.
    #[inline(always)]
    unsafe fn multiply_in_place<S: Simd>(
        &self,
        simd: S,
        plane: usize,
        left: *const f32,
        pixels: usize,
    ) {
        let (width, line) = (self.convolution.geometry.output[1], self.planes.layout.line());
        let lines = Lines { columns: line, kept: width };
        let Range { start: mut pixel, end } = self.part.pixels;
        while pixel < end {
            let y = pixel / width;
            let next = end.min((y * width).saturating_add(pixels));
            let last = next - 1;
            let columns = pixel % width..(last / width - y) * line + last % width + 1;
            let right = Right::parts(self.planes.line(y), self.planes.plane(), self.taps);
            // SAFETY: the caller guarantees the planes, which have slack for the last vector.
            unsafe { self.multiply(simd, plane, left, (right, lines), y * width, columns) };
            pixel = next;
        }
    }

    /// Multiplies the weights of a group by columns; column 0 is the pixel `first`.
    ///
    /// # Safety
    /// The right operand must have the columns, and the tensors the plane.
    #[inline(always)]
    unsafe fn multiply<S: Simd>(
        &self,
        simd: S,
        plane: usize,
        left: *const f32,
        (right, lines): (Right<f32>, Lines),
        first: usize,
        columns: Range<usize>,
    ) {
        let geometry = &self.convolution.geometry;
        let (inner, image) = (geometry.inner(), geometry.pixels());
        let start = plane * geometry.outputs * image + first;
        let channel = plane % geometry.groups * geometry.outputs;
        let product = Product {
            inner,
            left: Left::Panels(left),
            right,
            out: self.convolution.out.wrapping_add(start),
            out_row: image,
            lines,
            epilogue: self.convolution.epilogue.at(start, channel),
        };
        // SAFETY: the caller guarantees the operands; rows begin at a panel.
        unsafe { product.block(simd, self.part.rows.clone(), columns) };
    }
}
