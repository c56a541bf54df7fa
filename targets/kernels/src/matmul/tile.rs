//! Micro-kernels: a tile of a product, whose sums stay in registers.

use super::operands::{COLUMNS, Left, ROWS, Right};
use crate::element::Element;
use crate::simd::{MAX_LANES, Simd, Work};

/// Rows of the largest tile.
pub const MAX_ROWS: usize = ROWS;
/// Columns of the largest tile.
pub const MAX_WIDTH: usize = 32;
/// Columns up to which the rows of a panel are the lanes.
pub const NARROW: usize = 4;

/// Sums of a tile, in rows of [`MAX_WIDTH`], and space for a vector that begins in the last row.
pub type Sums = [f32; MAX_ROWS * MAX_WIDTH + MAX_LANES];

/// A tile: operands at its first row and column. The operands must have `rows` rows and the panels
/// of `width` columns, at most those of the largest tile of the instruction set.
pub struct Tile<'a, R> {
    /// Inner extent.
    pub inner: usize,
    /// Left operand.
    pub left: Left,
    /// Right operand.
    pub right: Right<R>,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub width: usize,
    /// Result.
    pub sums: &'a mut Sums,
}

impl<R: Element> Work for Tile<'_, R> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        // SAFETY: whoever made the tile guarantees the operands.
        unsafe {
            match (S::TILE_VECTORS, self.width.div_ceil(S::LANES)) {
                (1, _) | (2, 1) => self.by_rows::<S, 1>(simd),
                (2, _) => self.by_rows::<S, 2>(simd),
                _ => self.by_rows::<S, 4>(simd),
            }
        }
    }
}

impl<R: Element> Tile<'_, R> {
    #[inline(always)]
    unsafe fn by_rows<S: Simd, const V: usize>(&mut self, simd: S) {
        macro_rules! by_rows {
            ($($count:literal)*) => {
                match self.rows {
                    $($count if $count <= S::TILE_ROWS => self.fixed::<S, $count, V>(simd),)*
                    _ => {}
                }
            };
        }
        // SAFETY: the caller guarantees the operands.
        unsafe { by_rows!(1 2 3 4 5 6 7 8 9 10 11 12) }
    }

    #[inline(always)]
    unsafe fn fixed<S: Simd, const N: usize, const V: usize>(&mut self, simd: S) {
        // SAFETY: the caller guarantees the operands.
        let tile: [[S::V; V]; N] = unsafe {
            match self.left {
                Left::Rows(data, stride) => self.multiply(simd, data, stride, 1),
                Left::Panels(data) => self.multiply(simd, data, 1, ROWS),
            }
        };
        for (row, vectors) in tile.iter().enumerate() {
            for (at, vector) in vectors.iter().enumerate() {
                let to = self.sums.as_mut_ptr().wrapping_add(row * MAX_WIDTH + at * S::LANES);
                // SAFETY: N and V are at most the largest tile.
                unsafe { simd.store(to, *vector) };
            }
        }
    }

    #[inline(always)]
    unsafe fn multiply<S: Simd, const N: usize, const V: usize>(
        &self,
        simd: S,
        left: *const f32,
        row: usize,
        step: usize,
    ) -> [[S::V; V]; N] {
        let mut sums = [[simd.splat(0.0); V]; N];
        let starts = self.right.starts();
        let (mut left, part) = (left, self.inner / starts.len());
        for start in starts {
            let mut right = self.right.data.wrapping_add(*start);
            for _ in 0..part {
                // SAFETY: the caller guarantees the rows of the left operand and the panels of the
                // right one over the inner extent.
                unsafe {
                    let mut columns = [simd.splat(0.0); V];
                    for (at, vector) in columns.iter_mut().enumerate() {
                        let column = at * S::LANES;
                        let offset = column / COLUMNS * self.right.panel + column % COLUMNS;
                        *vector = R::load(simd, right.add(offset));
                    }
                    for (at, sums) in sums.iter_mut().enumerate() {
                        let value = simd.splat(*left.add(at * row));
                        for (sum, column) in sums.iter_mut().zip(columns) {
                            *sum = simd.fma(value, column, *sum);
                        }
                    }
                }
                left = left.wrapping_add(step);
                right = right.wrapping_add(self.right.step);
            }
        }
        sums
    }
}

/// A tile of few columns: a whole panel of rows of the left operand, which must have panels, and up
/// to [`NARROW`] columns of a right operand in one part. The lanes are the rows.
pub struct NarrowTile<'a, R> {
    /// Inner extent.
    pub inner: usize,
    /// Panel of the left operand.
    pub left: *const f32,
    /// Right operand at the first column.
    pub right: Right<R>,
    /// Columns.
    pub width: usize,
    /// Result.
    pub sums: &'a mut Sums,
}

impl<R: Element> Work for NarrowTile<'_, R> {
    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        // Sums of several inner indices hide the latency of the products.
        // SAFETY: whoever made the tile guarantees the operands.
        unsafe {
            match S::LANES {
                16 => self.columns::<S, 1>(simd),
                8 => self.columns::<S, 2>(simd),
                _ => self.columns::<S, 3>(simd),
            }
        }
    }
}

impl<R: Element> NarrowTile<'_, R> {
    #[inline(always)]
    unsafe fn columns<S: Simd, const V: usize>(&mut self, simd: S) {
        // SAFETY: the caller guarantees the operands.
        unsafe {
            match self.width {
                1 => self.fixed::<S, V, 1, 4>(simd),
                2 => self.fixed::<S, V, 2, 2>(simd),
                3 => self.fixed::<S, V, 3, 1>(simd),
                _ => self.fixed::<S, V, 4, 1>(simd),
            }
        }
    }

    #[inline(always)]
    unsafe fn fixed<S: Simd, const V: usize, const N: usize, const U: usize>(&mut self, simd: S) {
        let mut sums = [[[simd.splat(0.0); V]; N]; U];
        let whole = self.inner / U * U;
        for first in (0..whole).step_by(U) {
            for (at, sums) in sums.iter_mut().enumerate() {
                // SAFETY: the caller guarantees the inner extent.
                unsafe { self.add(simd, first + at, sums) };
            }
        }
        for k in whole..self.inner {
            // SAFETY: as above.
            unsafe { self.add(simd, k, &mut sums[0]) };
        }
        for at in 1..U {
            let others = sums[at];
            for (sums, others) in sums[0].iter_mut().zip(others) {
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum = simd.add(*sum, other);
                }
            }
        }
        for (column, vectors) in sums[0].iter().enumerate() {
            let mut lanes = [0.0; ROWS + MAX_WIDTH];
            for (at, vector) in vectors.iter().enumerate() {
                // SAFETY: the array has the rows and a vector more.
                unsafe { simd.store(lanes.as_mut_ptr().add(at * S::LANES), *vector) };
            }
            for (row, lane) in lanes.iter().enumerate().take(ROWS) {
                self.sums[row * MAX_WIDTH + column] = *lane;
            }
        }
    }

    #[inline(always)]
    unsafe fn add<S: Simd, const V: usize, const N: usize>(
        &self,
        simd: S,
        k: usize,
        sums: &mut [[S::V; V]; N],
    ) {
        let (left, right) = (self.left.wrapping_add(k * ROWS), self.right.step * k);
        for at in 0..V {
            // SAFETY: the caller guarantees the inner extent, the rows and the columns.
            unsafe {
                let rows = f32::load_head(simd, left.add(at * S::LANES), ROWS - at * S::LANES);
                for (column, sums) in sums.iter_mut().enumerate() {
                    let value = simd.splat((*self.right.data.add(right + column)).to_f32());
                    sums[at] = simd.fma(rows, value, sums[at]);
                }
            }
        }
    }
}
