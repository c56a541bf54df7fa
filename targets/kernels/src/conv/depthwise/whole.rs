//! Convolution of whole planes, whose vectors lie across the ends of rows. A tap reads the pixels
//! at one distance from those of the output; masks leave out the padding.
//!
//! With the stride 2, input pixels are sorted by their remainders first.

use core::ops::Range;

use super::{Depthwise, Ends};
use crate::arguments::Result;
use crate::conv::Geometry;
use crate::element::Element;
use crate::epilogue::Place;
use crate::scratch::Scratch;
use crate::simd::{self, Level, MAX_LANES, Simd, Work};
use crate::threads::{self, share};

/// Widest rows of the output. In wider ones, little is lost at the end of rows.
const WIDEST: usize = 64;

/// Widest rows without a copy of the input, of which several output rows share vectors otherwise.
const WIDEST_IN_PLACE: usize = 8;

/// Most taps.
const MOST_TAPS: usize = 64;

/// Vectors that are computed together: their sums hide the latency of the products.
const VECTORS: usize = 4;

/// Tap of a kernel.
#[derive(Clone, Copy)]
struct Tap {
    /// Distance of its pixels from those of the output.
    offset: isize,
    /// Number of its weight.
    weight: usize,
}

/// Taps and their masks, for all tasks of a call.
pub struct Whole {
    geometry: Geometry,
    /// Masks of a tap.
    vectors: usize,
    /// Pixels of a remainder, and those that a vector writes after them.
    phase: usize,
    taps: Scratch,
    masks: Scratch,
}

// SAFETY: tasks only read the taps and the masks.
unsafe impl Sync for Whole {}

impl Whole {
    /// Returns whether the rows of a geometry are short, and pixels of the input neighbour each
    /// other as those of the output do.
    pub fn serves(geometry: &Geometry, in_place: bool) -> bool {
        let Geometry { input, output, stride, .. } = geometry;
        let widest = if in_place && stride[1] == 1 { WIDEST_IN_PLACE } else { WIDEST };
        stride[0] == stride[1]
            && stride[1] <= 2
            && input[1].div_ceil(stride[1]) == output[1]
            && output[1] <= widest
            && geometry.taps() <= MOST_TAPS
    }

    fn new(geometry: Geometry) -> Result<Self> {
        let taps = geometry.taps();
        let vectors = geometry.pixels().div_ceil(MAX_LANES);
        let rows = geometry.input[0].div_ceil(geometry.stride[0]);
        let whole = Self {
            geometry,
            vectors,
            phase: rows * geometry.output[1] + MAX_LANES,
            taps: Scratch::new(taps * (size_of::<Tap>() / size_of::<f32>()))?,
            masks: Scratch::zeros(taps.saturating_mul(vectors).div_ceil(2))?,
        };
        let columns = geometry.kernel[1];
        for at in 0..taps {
            // The order in which rows of the output are computed.
            let tap = [at % geometry.kernel[0], at / geometry.kernel[0]];
            let weight = tap[0] * columns + tap[1];
            // SAFETY: the workspace has the taps.
            unsafe { *whole.taps.data().cast::<Tap>().add(at) = whole.tap(tap, weight) };
            let [rows, columns] = [0, 1].map(|axis| whole.inside(axis, tap[axis]));
            let masks = whole.masks(at);
            for row in rows {
                let start = row * geometry.output[1];
                // SAFETY: the workspace has the masks of all pixels.
                unsafe { set_bits(masks, start + columns.start..start + columns.end) };
            }
        }
        Ok(whole)
    }

    /// Returns the place of a tap in an axis, for output pixel 0.
    fn place(&self, axis: usize, tap: usize) -> isize {
        (tap * self.geometry.dilation[axis]) as isize - self.geometry.pad[axis] as isize
    }

    /// Returns the output pixels of an axis for which a tap is inside of the input.
    fn inside(&self, axis: usize, tap: usize) -> Range<usize> {
        let Geometry { input, output, stride, .. } = &self.geometry;
        let (place, stride) = (self.place(axis, tap), stride[axis] as isize);
        let pixel = |at: isize| {
            ((at - place + stride - 1).div_euclid(stride)).clamp(0, output[axis] as isize) as usize
        };
        pixel(0)..pixel(input[axis] as isize)
    }

    fn tap(&self, tap: [usize; 2], weight: usize) -> Tap {
        let stride = self.geometry.stride[0];
        let [y, x] = [0, 1].map(|axis| self.place(axis, tap[axis]));
        let by = stride as isize;
        let phase = y.rem_euclid(by) * by + x.rem_euclid(by);
        let offset = y.div_euclid(by) * self.geometry.output[1] as isize + x.div_euclid(by);
        Tap { offset: phase * self.phase as isize + offset, weight }
    }

    /// Returns the number of pixels of all remainders.
    fn plane(&self) -> usize {
        self.geometry.stride[0] * self.geometry.stride[0] * self.phase
    }

    /// Returns the masks of a tap.
    #[inline(always)]
    fn masks(&self, tap: usize) -> *mut u16 {
        self.masks.data().cast::<u16>().wrapping_add(tap * self.vectors)
    }

    #[inline(always)]
    fn taps(&self) -> &[Tap] {
        // SAFETY: `new` wrote the taps.
        unsafe { core::slice::from_raw_parts(self.taps.data().cast(), self.geometry.taps()) }
    }
}

/// Sets bits of masks, which begin with the lowest.
///
/// # Safety
/// `masks` must have the bits.
unsafe fn set_bits(masks: *mut u16, bits: Range<usize>) {
    let mut at = bits.start;
    while at < bits.end {
        let (mask, bit) = (at / MAX_LANES, at % MAX_LANES);
        let count = (bits.end - at).min(MAX_LANES - bit);
        // SAFETY: the caller guarantees the bits.
        unsafe { *masks.add(mask) |= (((1_u32 << count) - 1) << bit) as u16 };
        at += count;
    }
}

impl<E: Ends> Depthwise<E> {
    /// Computes the output plane by plane.
    ///
    /// # Errors
    /// Those of workspaces and of the pool.
    pub(super) fn run_planes(&self, level: Level) -> Result<()> {
        let whole = Whole::new(self.geometry)?;
        threads::launch(self.geometry.work(), |task, tasks| {
            let plane = Scratch::new(whole.plane())?;
            let channels = share(self.channels(), 1, task, tasks);
            let plane = plane.data();
            simd::run(level, Channels { depthwise: *self, whole: &whole, channels, plane });
            Ok(())
        })
    }
}

/// Channels of a task.
struct Channels<'a, E: Ends> {
    depthwise: Depthwise<E>,
    whole: &'a Whole,
    channels: Range<usize>,
    plane: *mut f32,
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
        for channel in self.channels.clone() {
            // SAFETY: the extents were checked; the scratch has a plane.
            let plane = unsafe { self.input(simd, channel) };
            for first in (0..pixels).step_by(VECTORS * S::LANES) {
                let count = (pixels - first).min(VECTORS * S::LANES);
                // SAFETY: as above.
                unsafe {
                    let sums = match count.div_ceil(S::LANES) {
                        1 => self.pixels::<S, 1>(simd, channel, plane, first),
                        2 => self.pixels::<S, 2>(simd, channel, plane, first),
                        3 => self.pixels::<S, 3>(simd, channel, plane, first),
                        _ => self.pixels::<S, VECTORS>(simd, channel, plane, first),
                    };
                    self.store(simd, channel, first..first + count, &sums);
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
    unsafe fn input<S: Simd>(&self, simd: S, channel: usize) -> *const f32 {
        let Depthwise { geometry, ends, .. } = &self.depthwise;
        let Geometry { input: [height, width], stride: [stride, _], .. } = *geometry;
        let from = channel / geometry.outputs * geometry.plane();
        let all = geometry.batch * geometry.groups * geometry.plane();
        if stride == 1 {
            if let Some(floats) = ends.floats() {
                return floats.wrapping_add(from);
            }
            for at in (0..geometry.plane()).step_by(S::LANES) {
                // SAFETY: the caller guarantees the elements and the space.
                unsafe {
                    let value = ends.load(simd, from + at, all - from - at);
                    simd.store(self.plane.add(at), value);
                }
            }
            return self.plane;
        }
        let narrow = geometry.output[1] <= S::LANES / 2;
        for y in 0..height {
            let row = y % 2 * 2 * self.whole.phase + y / 2 * geometry.output[1];
            let to = self.plane.wrapping_add(row);
            // A vector writes past the end of its row; the next row follows.
            for x in (0..geometry.output[1]).step_by(S::LANES) {
                let from = from + y * width + 2 * x;
                // SAFETY: as above.
                unsafe {
                    let a = ends.load(simd, from, all - from);
                    if narrow {
                        let (even, odd) = simd.unzip(a, a);
                        simd.store_low(to, even);
                        simd.store_low(to.add(self.whole.phase), odd);
                    } else {
                        let next = from + S::LANES;
                        let b = ends.load(simd, next, all.saturating_sub(next));
                        let (even, odd) = simd.unzip(a, b);
                        simd.store(to.add(x), even);
                        simd.store(to.add(x + self.whole.phase), odd);
                    }
                }
            }
        }
        self.plane
    }

    /// Computes `N` vectors of pixels.
    ///
    /// # Safety
    /// The weights must have the extents of the geometry, and `plane` the pixels of the masks.
    #[inline(always)]
    unsafe fn pixels<S: Simd, const N: usize>(
        &self,
        simd: S,
        channel: usize,
        plane: *const f32,
        first: usize,
    ) -> Sums {
        let taps = self.whole.taps();
        let weights = self.depthwise.w.wrapping_add(self.depthwise.row(channel) * taps.len());
        let mut vectors = [simd.splat(0.0); N];
        for (at, tap) in taps.iter().enumerate() {
            let from = plane.wrapping_add(first).wrapping_offset(tap.offset);
            let masks = self.whole.masks(at);
            // SAFETY: the caller guarantees the weights and the pixels.
            unsafe {
                let weight = simd.splat((*weights.add(tap.weight)).to_f32());
                for (vector, sum) in vectors.iter_mut().enumerate() {
                    let lane = vector * S::LANES;
                    let mask =
                        *masks.add((first + lane) / MAX_LANES) >> ((first + lane) % MAX_LANES);
                    let value = simd.load_masked(from.wrapping_add(lane), mask);
                    *sum = simd.fma(weight, value, *sum);
                }
            }
        }
        let mut sums = [0.0; VECTORS * MAX_LANES];
        for (at, vector) in vectors.iter().enumerate() {
            // SAFETY: the array has the vectors.
            unsafe { simd.store(sums.as_mut_ptr().add(at * S::LANES), *vector) };
        }
        sums
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
