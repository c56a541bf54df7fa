//! Panels of input elements for a range of output pixels (im2col).

use core::ops::Range;

use super::Geometry;
use crate::element::Element;
use crate::matmul::COLUMNS;
use crate::simd::Simd;

/// Offset of an element outside of the input.
const OUTSIDE: usize = usize::MAX;

impl Geometry {
    /// Writes the panels of the pixels, converted to f32: for each tap and channel, the input
    /// elements of 16 pixels. Elements outside of the input, and pixels past the range, are zero.
    ///
    /// # Safety
    /// `x` must have the channels of a group, `to` the space for whole panels.
    #[inline(always)]
    pub unsafe fn gather<S: Simd, T: Element>(
        &self,
        simd: S,
        x: *const T,
        pixels: Range<usize>,
        to: *mut f32,
    ) {
        for (panel, first) in pixels.clone().step_by(COLUMNS).enumerate() {
            let count = (pixels.end - first).min(COLUMNS);
            for tap in 0..self.taps() {
                let offsets = self.offsets(first, count, tap);
                let to = to.wrapping_add((panel * self.taps() + tap) * self.channels * COLUMNS);
                // SAFETY: offsets are inside of a channel; the caller guarantees the channels.
                unsafe { self.gather_tap(simd, x, &offsets, to) };
            }
        }
    }

    /// Returns the offsets of a tap for the pixels of a panel.
    #[inline(always)]
    fn offsets(&self, first: usize, count: usize, tap: usize) -> [usize; COLUMNS] {
        let [height, width] = self.input;
        let (ky, kx) = (tap / self.kernel[1], tap % self.kernel[1]);
        let (mut oy, mut ox) = (first / self.output[1], first % self.output[1]);
        let mut offsets = [OUTSIDE; COLUMNS];
        for offset in &mut offsets[..count] {
            // Elements above and left of the input wrap around to large numbers.
            let y = (oy * self.stride[0] + ky * self.dilation[0]).wrapping_sub(self.pad[0]);
            let x = (ox * self.stride[1] + kx * self.dilation[1]).wrapping_sub(self.pad[1]);
            if y < height && x < width {
                *offset = y * width + x;
            }
            ox += 1;
            if ox == self.output[1] {
                (oy, ox) = (oy + 1, 0);
            }
        }
        offsets
    }

    #[inline(always)]
    unsafe fn gather_tap<S: Simd, T: Element>(
        &self,
        simd: S,
        x: *const T,
        offsets: &[usize; COLUMNS],
        to: *mut f32,
    ) {
        let (first, plane) = (offsets[0], self.plane());
        let contiguous = first != OUTSIDE
            && offsets.iter().enumerate().all(|(at, offset)| *offset == first.wrapping_add(at));
        for channel in 0..self.channels {
            let (x, to) = (x.wrapping_add(channel * plane), to.wrapping_add(channel * COLUMNS));
            // SAFETY: offsets other than `OUTSIDE` are inside of the channel.
            unsafe {
                if contiguous {
                    for at in (0..COLUMNS).step_by(S::LANES) {
                        simd.store(to.add(at), T::load(simd, x.add(first + at)));
                    }
                } else {
                    for (at, offset) in offsets.iter().enumerate() {
                        *to.add(at) =
                            if *offset == OUTSIDE { 0.0 } else { (*x.add(*offset)).to_f32() };
                    }
                }
            }
        }
    }
}
