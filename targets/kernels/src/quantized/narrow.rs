//! Tile of a few columns: sums along the rows of the left operand, in place of a vector of columns
//! that are mostly not there.

use super::output::Output;
use super::tile::{MAX_WIDTH, Sums, group};
use super::{GROUP, PANEL_GROUP};
use crate::simd::{MAX_LANES, Simd, Work};

/// Columns up to which a tile is narrow.
pub const NARROW: usize = 2;

/// Groups of a column that are put next to each other at once.
const BLOCK: usize = 256;

/// A narrow tile of signed rows, whose operands must have the extents.
pub struct NarrowTile<'a> {
    /// Groups of the inner extent.
    pub groups: usize,
    /// First row, and the distance of rows.
    pub rows: (*const u8, usize),
    /// First column in its panel.
    pub panel: *const u8,
    /// Rows and columns.
    pub extents: [usize; 2],
    /// Where sums begin.
    pub output: &'a Output,
    /// Channel of the first row.
    pub channel: usize,
    /// Result.
    pub sums: &'a mut Sums,
}

impl Work for NarrowTile<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let [rows, columns] = self.extents;
        for column in 0..columns {
            let panel = self.panel.wrapping_add(column * GROUP);
            for row in 0..rows {
                // SAFETY: whoever made the tile guarantees the channels.
                let start = unsafe { self.output.start(simd, self.channel + row, 0) };
                self.sums[row * MAX_WIDTH + column] = lanes(simd, start)[0];
            }
            for first in (0..self.groups).step_by(BLOCK) {
                let count = (self.groups - first).min(BLOCK);
                let mut block = [0; BLOCK];
                for (at, to) in block[..count].iter_mut().enumerate() {
                    // SAFETY: whoever made the tile guarantees the panel.
                    *to = unsafe { group(panel.wrapping_add((first + at) * PANEL_GROUP)) };
                }
                for row in 0..rows {
                    let from = self.rows.0.wrapping_add(row * self.rows.1 + first * GROUP);
                    let sum = &mut self.sums[row * MAX_WIDTH + column];
                    // SAFETY: whoever made the tile guarantees the rows.
                    *sum = sum.wrapping_add(unsafe { product(simd, &block[..count], from) });
                }
            }
        }
    }
}

/// Returns the sum of the products of unsigned bytes in groups and as many signed ones.
///
/// # Safety
/// `signed` must have the bytes.
#[inline(always)]
unsafe fn product<S: Simd>(simd: S, unsigned: &[i32], signed: *const u8) -> i32 {
    let whole = unsigned.len() / S::LANES * S::LANES;
    let mut sums = simd.splat_integer(0);
    for at in (0..whole).step_by(S::LANES) {
        // SAFETY: whole vectors are inside of the groups, and the caller guarantees the bytes.
        unsafe {
            let unsigned = simd.load_integers(unsigned.as_ptr().add(at));
            let signed = simd.load_integers(signed.add(at * GROUP).cast());
            sums = simd.dot(sums, unsigned, signed);
        }
    }
    let mut rest = [0; 2 * MAX_LANES];
    let (left, right) = rest.split_at_mut(MAX_LANES);
    for (at, value) in unsigned[whole..].iter().enumerate() {
        left[at] = *value;
        // SAFETY: the caller guarantees the bytes.
        right[at] = unsafe { group(signed.wrapping_add((whole + at) * GROUP)) };
    }
    // SAFETY: the arrays have a vector.
    let sums = unsafe {
        simd.dot(sums, simd.load_integers(left.as_ptr()), simd.load_integers(right.as_ptr()))
    };
    lanes(simd, sums)[..S::LANES].iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
}

#[inline(always)]
fn lanes<S: Simd>(simd: S, value: S::I) -> [i32; MAX_LANES] {
    let mut lanes = [0; MAX_LANES];
    // SAFETY: the array has a vector.
    unsafe { simd.store_integers(lanes.as_mut_ptr(), value) };
    lanes
}
