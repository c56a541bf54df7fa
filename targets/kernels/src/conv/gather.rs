//! Panels of input elements for a range of output pixels (im2col): for each tap and channel, the
//! elements of 16 pixels, in f32.

use core::ops::Range;

use super::Geometry;
use super::padded::Padded;
use crate::element::Element;
use crate::matmul::COLUMNS;
use crate::simd::Simd;

/// Elements after the panels that may be written.
pub const SLACK: usize = COLUMNS;

/// Neighbouring pixels of a row in a panel.
#[derive(Clone, Copy, Default)]
pub struct Run {
    /// Offset of the first pixel in a padded plane.
    pub from: usize,
    /// Column of the first pixel in the panel.
    pub to: usize,
}

/// Padded planes of the channels of a group.
#[derive(Clone, Copy)]
pub struct Planes<T> {
    /// Layout of a plane.
    pub layout: Padded,
    /// Padded rows that exist.
    pub rows: (usize, usize),
    /// First plane.
    pub data: *const T,
}

impl<T> Planes<T> {
    /// Returns the planes that pixels read, without memory.
    pub fn of_pixels(geometry: &Geometry, pixels: &Range<usize>) -> Self {
        let (layout, width) = (Padded::new(*geometry), geometry.output[1].max(1));
        let rows = layout.rows(&(pixels.start / width..pixels.end.div_ceil(width)));
        Self { layout, rows: (rows.start, rows.end), data: core::ptr::null() }
    }

    /// Returns the distance of planes.
    pub fn plane(&self) -> usize {
        (self.rows.1 - self.rows.0).saturating_mul(self.layout.row())
    }

    /// Splits the pixels of a panel at the ends of output rows.
    #[inline(always)]
    pub fn runs<'a>(
        &self,
        geometry: &Geometry,
        pixels: Range<usize>,
        runs: &'a mut [Run; COLUMNS],
    ) -> &'a [Run] {
        let width = geometry.output[1];
        let start = self.rows.0 * self.layout.row();
        let (mut pixel, mut count) = (pixels.start, 0);
        while pixel < pixels.end {
            let (y, x) = (pixel / width, pixel % width);
            runs[count] = Run { from: self.layout.pixel(y, x) - start, to: pixel - pixels.start };
            pixel += width - x;
            count += 1;
        }
        &runs[..count]
    }
}

impl Planes<f32> {
    /// Returns the address of the element that the first tap of an output row reads.
    #[inline(always)]
    pub fn line(&self, y: usize) -> *const f32 {
        let start = self.rows.0 * self.layout.row();
        self.data.wrapping_add(self.layout.pixel(y, 0)).wrapping_sub(start)
    }

    /// Writes the panels of the pixels. Columns past the range have any value.
    ///
    /// # Safety
    /// The planes must have the rows of the pixels and the slack, `to` the space for whole panels
    /// and the slack.
    #[inline(always)]
    pub unsafe fn gather<S: Simd>(
        &self,
        simd: S,
        (geometry, taps): (&Geometry, &[usize]),
        pixels: Range<usize>,
        to: *mut f32,
    ) {
        let mut to = to;
        for first in pixels.clone().step_by(COLUMNS) {
            let last = pixels.end.min(first + COLUMNS);
            let mut runs = [Run::default(); COLUMNS];
            let runs = self.runs(geometry, first..last, &mut runs);
            for tap in taps {
                let tap = self.data.wrapping_add(*tap);
                for channel in 0..geometry.channels {
                    let plane = tap.wrapping_add(channel * self.plane());
                    for run in runs.iter() {
                        // A vector writes past the end of its run; the next run or row follows.
                        for at in (0..COLUMNS).step_by(S::LANES) {
                            // SAFETY: the caller guarantees the elements and the slack.
                            unsafe {
                                simd.store(to.add(run.to + at), simd.load(plane.add(run.from + at)))
                            };
                        }
                    }
                    to = to.wrapping_add(COLUMNS);
                }
            }
        }
    }
}

impl Geometry {
    /// Returns whether output pixels are input pixels.
    pub fn is_pointwise(&self) -> bool {
        self.taps() == 1 && self.stride == [1, 1] && self.pad == [0, 0] && self.output == self.input
    }

    /// Returns the geometry with all pixels in one row, if the convolution is pointwise.
    pub fn merged(self) -> Self {
        if !self.is_pointwise() {
            return self;
        }
        Self { input: [1, self.plane()], output: [1, self.pixels()], ..self }
    }

    /// Writes the panels of the pixels of a pointwise convolution; columns past the range are zero.
    ///
    /// # Safety
    /// `x` must have the channels of a group, `to` the space for whole panels.
    #[inline(always)]
    pub unsafe fn gather_pointwise<S: Simd, T: Element>(
        &self,
        simd: S,
        x: *const T,
        pixels: Range<usize>,
        to: *mut f32,
    ) {
        let mut to = to;
        for first in pixels.clone().step_by(COLUMNS) {
            let count = pixels.end - first;
            for channel in 0..self.channels {
                let from = x.wrapping_add(channel * self.plane() + first);
                for at in (0..COLUMNS).step_by(S::LANES) {
                    // SAFETY: pixels of the range are inside of the channel.
                    unsafe {
                        let value =
                            T::load_head(simd, from.wrapping_add(at), count.saturating_sub(at));
                        simd.store(to.add(at), value);
                    }
                }
                to = to.wrapping_add(COLUMNS);
            }
        }
    }
}
