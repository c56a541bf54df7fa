//! Panels of the bytes of output pixels (im2col): for each group of four taps and channels, the
//! bytes of 16 pixels.

use core::ops::Range;

use super::{GROUP, PANEL_GROUP};
use crate::conv::{Geometry, Planes, Run};
use crate::matmul::COLUMNS;

/// Bytes after the planes that are read, as those of a whole panel.
pub const PLANE_SLACK: usize = COLUMNS;
/// Bytes after the panels that are written.
pub const PANEL_SLACK: usize = PANEL_GROUP;

/// Returns the offset of an inner index from that of its output pixel; the last one of those that
/// complete a group, whose weights are zero.
pub fn offset(geometry: &Geometry, planes: &Planes<u8>, taps: &[usize], inner: usize) -> usize {
    let inner = inner.min(geometry.inner() - 1);
    taps[inner / geometry.channels] + inner % geometry.channels * planes.plane()
}

/// Writes the panels of the pixels. Columns past the range have any value.
///
/// # Safety
/// The planes must have the rows of the pixels and the slack, `to` the space for whole panels and
/// the slack. The offsets must be those of whole groups.
#[inline(always)]
pub unsafe fn gather(
    planes: &Planes<u8>,
    (geometry, offsets): (&Geometry, &[usize]),
    pixels: Range<usize>,
    to: *mut u8,
) {
    let mut to = to;
    for first in pixels.clone().step_by(COLUMNS) {
        let last = pixels.end.min(first + COLUMNS);
        let mut runs = [Run::default(); COLUMNS];
        let runs = planes.runs(geometry, first..last, &mut runs);
        for offsets in offsets.chunks_exact(GROUP) {
            // A run writes past its end; the next run or group follows.
            for run in runs.iter() {
                let pixels = planes.data.wrapping_add(run.from);
                // SAFETY: the caller guarantees the bytes and the slack.
                unsafe { interleave(pixels, offsets, to.wrapping_add(run.to * GROUP)) };
            }
            to = to.wrapping_add(PANEL_GROUP);
        }
    }
}

/// Writes the groups of 16 pixels.
///
/// # Safety
/// `from` must have 16 bytes at each of four offsets, and `to` the space.
#[inline(always)]
unsafe fn interleave(from: *const u8, offsets: &[usize], to: *mut u8) {
    // SAFETY: the caller guarantees the bytes.
    let [a, b, c, d]: [[u8; COLUMNS]; GROUP] = core::array::from_fn(|at| unsafe {
        from.wrapping_add(offsets[at]).cast::<[u8; COLUMNS]>().read()
    });
    let mut groups = [0; COLUMNS];
    for (pixel, group) in groups.iter_mut().enumerate() {
        *group = i32::from_ne_bytes([a[pixel], b[pixel], c[pixel], d[pixel]]);
    }
    // SAFETY: the caller guarantees the space.
    unsafe { to.cast::<[i32; COLUMNS]>().write_unaligned(groups) };
}
