//! Convolution of whole planes, whose vectors lie across the ends of rows. A tap reads the pixels
//! at one distance from those of the output; masks leave out the padding.
//!
//! With the stride 2, input pixels are sorted by their remainders first.

use core::ops::Range;

use super::masks::Whole;
use super::{Depthwise, Ends};
use crate::arguments::Result;
use crate::conv::Geometry;
use crate::element::Element;
use crate::epilogue::Place;
use crate::scratch::Scratch;
use crate::simd::{self, Level, MAX_LANES, Simd, Work};
use crate::threads::{self, share};

/// Vectors of a channel that are computed together.
const VECTORS: usize = 4;

/// Channels that are computed together: they have the same masks, and one hides the latency of the
/// other.
const CHANNELS: usize = 2;

impl<E: Ends> Depthwise<E> {
    /// Computes the output plane by plane.
    ///
    /// # Errors
    /// Those of workspaces and of the pool.
    pub(super) fn run_planes(&self, level: Level) -> Result<()> {
        let whole = Whole::new(self.geometry)?;
        threads::launch(self.geometry.work(), |task, tasks| {
            let planes = Scratch::new(whole.plane().saturating_mul(CHANNELS))?;
            let channels = share(self.channels(), 1, task, tasks);
            let planes = planes.data();
            simd::run(level, Channels { depthwise: *self, whole: &whole, channels, planes });
            Ok(())
        })
    }
}

/// Channels of a task.
struct Channels<'a, E: Ends> {
    depthwise: Depthwise<E>,
    whole: &'a Whole,
    channels: Range<usize>,
    planes: *mut f32,
}

/// Vectors of pixels.
type Sums = [f32; VECTORS * MAX_LANES];

impl<E: Ends> Work for Channels<'_, E> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if !S::HAS_MASKS {
            return;
        }
        let pixels = self.depthwise.geometry.pixels();
        let end = self.channels.end;
        for channel in self.channels.clone().step_by(CHANNELS) {
            // The last channel stands for one past the end.
            let channels = core::array::from_fn(|at| (channel + at).min(end - 1));
            let planes = core::array::from_fn(|at| {
                let plane = self.planes.wrapping_add(at * self.whole.plane());
                // SAFETY: the extents were checked; the scratch has the planes.
                unsafe { self.input(simd, channels[at], plane) }
            });
            for first in (0..pixels).step_by(VECTORS * S::LANES) {
                let count = (pixels - first).min(VECTORS * S::LANES);
                // SAFETY: as above.
                unsafe {
                    let sums = match count.div_ceil(S::LANES) {
                        1 => self.pixels::<S, 1>(simd, channels, planes, first),
                        2 => self.pixels::<S, 2>(simd, channels, planes, first),
                        3 => self.pixels::<S, 3>(simd, channels, planes, first),
                        _ => self.pixels::<S, VECTORS>(simd, channels, planes, first),
                    };
                    for (channel, sums) in (channel..end).zip(&sums) {
                        self.store(simd, channel, first..first + count, sums);
                    }
                }
            }
        }
    }
}

impl<E: Ends> Channels<'_, E> {
    /// Returns the pixels of the input of a channel, sorted by their remainders.
    ///
    /// # Safety
    /// The tensors must have the extents of the geometry, and the scratch a plane.
    #[inline(always)]
    unsafe fn input<S: Simd>(&self, simd: S, channel: usize, plane: *mut f32) -> *const f32 {
        let Depthwise { geometry, ends, .. } = &self.depthwise;
        let from = channel / geometry.outputs * geometry.plane();
        if geometry.stride[1] == 1
            && let Some(floats) = ends.floats()
        {
            return floats.wrapping_add(from);
        }
        let all = geometry.batch * geometry.groups * geometry.plane();
        // SAFETY: the caller guarantees the elements and the space.
        unsafe {
            if from + geometry.plane() + 2 * S::LANES <= all {
                self.copy(simd, plane, |at| ends.load(simd, from + at, S::LANES));
            } else {
                let rest = all - from;
                let load = |at| ends.load(simd, from + at, rest.saturating_sub(at));
                self.copy(simd, plane, load);
            }
        }
        plane
    }

    /// Copies pixels that a function reads from an offset on.
    ///
    /// # Safety
    /// The scratch must have a plane.
    #[inline(always)]
    unsafe fn copy<S: Simd>(&self, simd: S, plane: *mut f32, load: impl Fn(usize) -> S::V) {
        let Geometry { input: [height, width], output, stride, .. } = self.depthwise.geometry;
        if stride[1] == 1 {
            for at in (0..height * width).step_by(S::LANES) {
                // SAFETY: the caller guarantees the space.
                unsafe { simd.store(plane.add(at), load(at)) };
            }
            return;
        }
        let narrow = output[1] <= S::LANES / 2;
        for y in 0..height {
            let row = y % 2 * 2 * self.whole.phase + y / 2 * output[1];
            let to = plane.wrapping_add(row);
            // A vector writes past the end of its row; the next row follows.
            for x in (0..output[1]).step_by(S::LANES) {
                let a = load(y * width + 2 * x);
                // SAFETY: as above.
                unsafe {
                    if narrow {
                        let (even, odd) = simd.unzip(a, a);
                        simd.store_low(to, even);
                        simd.store_low(to.add(self.whole.phase), odd);
                    } else {
                        let (even, odd) = simd.unzip(a, load(y * width + 2 * x + S::LANES));
                        simd.store(to.add(x), even);
                        simd.store(to.add(x + self.whole.phase), odd);
                    }
                }
            }
        }
    }

    /// Computes `N` vectors of pixels of each channel.
    ///
    /// # Safety
    /// The weights must have the extents of the geometry, and planes the pixels of the masks.
    #[inline(always)]
    unsafe fn pixels<S: Simd, const N: usize>(
        &self,
        simd: S,
        channels: [usize; CHANNELS],
        planes: [*const f32; CHANNELS],
        first: usize,
    ) -> [Sums; CHANNELS] {
        let taps = self.whole.taps();
        let weights = channels
            .map(|channel| self.depthwise.w.wrapping_add(self.depthwise.row(channel) * taps.len()));
        let mut vectors = [[simd.splat(0.0); N]; CHANNELS];
        for (at, tap) in taps.iter().enumerate() {
            let masks = self.whole.masks(at);
            // SAFETY: the caller guarantees the weights and the pixels.
            unsafe {
                let masks: [u16; N] = core::array::from_fn(|vector| {
                    let lane = first + vector * S::LANES;
                    *masks.add(lane / MAX_LANES) >> (lane % MAX_LANES)
                });
                for (channel, vectors) in vectors.iter_mut().enumerate() {
                    let weight = simd.splat((*weights[channel].add(tap.weight)).to_f32());
                    let from = planes[channel].wrapping_add(first).wrapping_offset(tap.offset);
                    for (vector, sum) in vectors.iter_mut().enumerate() {
                        let from = from.wrapping_add(vector * S::LANES);
                        *sum = simd.fma(weight, simd.load_masked(from, masks[vector]), *sum);
                    }
                }
            }
        }
        vectors.map(|vectors| {
            let mut sums = [0.0; VECTORS * MAX_LANES];
            for (at, vector) in vectors.iter().enumerate() {
                // SAFETY: the array has the vectors.
                unsafe { simd.store(sums.as_mut_ptr().add(at * S::LANES), *vector) };
            }
            sums
        })
    }

    /// Finishes sums of pixels, and stores them. One loop serves each number of vectors.
    ///
    /// # Safety
    /// The output must have the extents of the geometry.
    #[inline(always)]
    unsafe fn store<S: Simd>(&self, simd: S, channel: usize, pixels: Range<usize>, sums: &Sums) {
        let Depthwise { geometry, ends, .. } = &self.depthwise;
        let start = channel * geometry.pixels();
        for lane in (0..pixels.len()).step_by(S::LANES) {
            let offset = start + pixels.start + lane;
            let count = (pixels.len() - lane).min(S::LANES);
            let place = Place { offset, row: self.depthwise.row(channel), column: 0, count };
            // SAFETY: the output has the pixels, and the array a vector for each of them.
            unsafe { ends.store(simd, place, simd.load(sums.as_ptr().add(lane))) };
        }
    }
}
