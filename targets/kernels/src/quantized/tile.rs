//! Micro-kernel: a tile of a product of integers, whose sums stay in registers.

use super::output::Output;
use super::{GROUP, PANEL_GROUP};
use crate::matmul::COLUMNS;
use crate::simd::{Simd, Work};

/// Rows of the largest tile.
pub const MAX_ROWS: usize = 12;
/// Columns of the largest tile.
pub const MAX_WIDTH: usize = 2 * COLUMNS;

/// Sums of a tile, in rows of [`MAX_WIDTH`].
pub type Sums = [i32; MAX_ROWS * MAX_WIDTH];

/// A tile: operands at its first row and column. They must have the extents, at most those of the
/// largest tile of the instruction set, and whole vectors of columns.
pub struct Tile<'a, const SIGNED_ROWS: bool> {
    /// Groups of the inner extent.
    pub groups: usize,
    /// First row, and the distance of rows.
    pub rows: (*const u8, usize),
    /// First column in its panel, and the distance of panels.
    pub panels: (*const u8, usize),
    /// Rows and columns.
    pub extents: [usize; 2],
    /// Where sums begin.
    pub output: &'a Output,
    /// Channels of the first row and column.
    pub channels: [usize; 2],
    /// Result.
    pub sums: &'a mut Sums,
}

impl<const SIGNED_ROWS: bool> Work for Tile<'_, SIGNED_ROWS> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        // SAFETY: whoever made the tile guarantees the operands.
        unsafe {
            match (S::TILE_VECTORS, self.extents[1].div_ceil(S::LANES)) {
                (1, _) | (2, 1) => self.by_rows::<S, 1>(simd),
                (2, _) => self.by_rows::<S, 2>(simd),
                _ => self.by_rows::<S, 4>(simd),
            }
        }
    }
}

impl<const SIGNED_ROWS: bool> Tile<'_, SIGNED_ROWS> {
    #[inline(always)]
    unsafe fn by_rows<S: Simd, const V: usize>(&mut self, simd: S) {
        macro_rules! by_rows {
            ($($count:literal)*) => {
                match self.extents[0] {
                    $($count if $count <= S::INTEGER_ROWS => self.fixed::<S, $count, V>(simd),)*
                    _ => {}
                }
            };
        }
        // SAFETY: the caller guarantees the operands.
        unsafe { by_rows!(1 2 3 4 5 6 7 8 9 10 11 12) }
    }

    #[inline(always)]
    unsafe fn fixed<S: Simd, const N: usize, const V: usize>(&mut self, simd: S) {
        // SAFETY: the caller guarantees the operands. N and V are at most the largest tile.
        unsafe {
            let tile: [[S::I; V]; N] = self.multiply(simd);
            for (row, vectors) in tile.iter().enumerate() {
                for (at, vector) in vectors.iter().enumerate() {
                    let to = self.sums.as_mut_ptr().wrapping_add(row * MAX_WIDTH + at * S::LANES);
                    simd.store_integers(to, *vector);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn multiply<S: Simd, const N: usize, const V: usize>(&self, simd: S) -> [[S::I; V]; N] {
        let ((mut left, row), (mut right, panel)) = (self.rows, self.panels);
        let [first_row, first_column] = self.channels;
        let mut sums = [[simd.splat_integer(0); V]; N];
        for (at, sums) in sums.iter_mut().enumerate() {
            for (vector, sum) in sums.iter_mut().enumerate() {
                let column = first_column + vector * S::LANES;
                // SAFETY: the caller guarantees the channels.
                *sum = unsafe { self.output.start(simd, first_row + at, column) };
            }
        }
        for _ in 0..self.groups {
            // SAFETY: the caller guarantees the rows and the panels over the inner extent.
            unsafe {
                let mut columns = [simd.splat_integer(0); V];
                for (at, vector) in columns.iter_mut().enumerate() {
                    let column = at * S::LANES;
                    let offset = column / COLUMNS * panel + column % COLUMNS * GROUP;
                    *vector = simd.load_integers(right.add(offset).cast());
                }
                for (at, sums) in sums.iter_mut().enumerate() {
                    let value = group(left.add(at * row));
                    let value = simd.splat_integer(value);
                    for (sum, column) in sums.iter_mut().zip(columns) {
                        *sum = if SIGNED_ROWS {
                            simd.dot(*sum, column, value)
                        } else {
                            simd.dot(*sum, value, column)
                        };
                    }
                }
            }
            left = left.wrapping_add(GROUP);
            right = right.wrapping_add(PANEL_GROUP);
        }
        sums
    }
}

/// Reads a group, of any alignment.
///
/// # Safety
/// `from` must have four readable bytes.
#[inline(always)]
pub unsafe fn group(from: *const u8) -> i32 {
    // SAFETY: the caller guarantees the bytes.
    unsafe { from.cast::<i32>().read_unaligned() }
}
