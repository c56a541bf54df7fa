//! Taps of whole planes: the distances of their pixels from those of the output, and masks of the
//! pixels that are inside of the input.

use core::ops::Range;

use crate::arguments::Result;
use crate::conv::Geometry;
use crate::scratch::Scratch;
use crate::simd::MAX_LANES;

/// Widest rows of the output. In wider ones, little is lost at the end of rows.
const WIDEST: usize = 64;

/// Widest rows without a copy of the input, of which several output rows share vectors otherwise.
const WIDEST_IN_PLACE: usize = 8;

/// Most taps.
const MOST_TAPS: usize = 64;

/// Tap of a kernel.
#[derive(Clone, Copy)]
pub struct Tap {
    /// Distance of its pixels from those of the output.
    pub offset: isize,
    /// Number of its weight.
    pub weight: usize,
}

/// Taps and their masks, for all tasks of a call.
pub struct Whole {
    geometry: Geometry,
    /// Masks of a tap.
    vectors: usize,
    /// Pixels of a remainder, and those that a vector writes after them.
    pub phase: usize,
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

    /// Calculates the taps and the masks.
    ///
    /// # Errors
    /// Those of workspaces.
    pub fn new(geometry: Geometry) -> Result<Self> {
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
    pub fn plane(&self) -> usize {
        self.geometry.stride[0] * self.geometry.stride[0] * self.phase
    }

    /// Returns the masks of a tap.
    #[inline(always)]
    pub fn masks(&self, tap: usize) -> *mut u16 {
        self.masks.data().cast::<u16>().wrapping_add(tap * self.vectors)
    }

    /// Returns the taps.
    #[inline(always)]
    pub fn taps(&self) -> &[Tap] {
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
