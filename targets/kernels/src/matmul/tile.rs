//! Micro-kernel: a tile of a product, whose sums stay in registers.

use super::{COLUMNS, Left, ROWS, Right};
use crate::element::Element;
use crate::simd::Simd;

/// Rows of the largest tile.
pub const MAX_ROWS: usize = 12;
/// Columns of the largest tile.
pub const MAX_WIDTH: usize = 32;

/// Operands of a tile, at its first row and column.
#[derive(Clone, Copy)]
pub struct Tile<R> {
    /// Inner extent.
    pub inner: usize,
    /// Left operand at the first row.
    pub left: Left,
    /// Right operand at the first column.
    pub right: Right<R>,
}

impl<R: Element> Tile<R> {
    /// Computes the sums of a tile, in rows of [`MAX_WIDTH`].
    ///
    /// # Safety
    /// The operands must have `rows` rows and the panels of `width` columns, at most those of the
    /// largest tile of the instruction set.
    #[inline(always)]
    pub unsafe fn multiply<S: Simd>(
        self,
        simd: S,
        rows: usize,
        width: usize,
        sums: &mut [f32; MAX_ROWS * MAX_WIDTH],
    ) {
        // SAFETY: the caller guarantees the operands.
        unsafe {
            match (S::TILE_VECTORS, width.div_ceil(S::LANES)) {
                (1, _) | (2, 1) => self.rows::<S, 1>(simd, rows, sums),
                (2, _) => self.rows::<S, 2>(simd, rows, sums),
                _ => self.rows::<S, 4>(simd, rows, sums),
            }
        }
    }

    #[inline(always)]
    unsafe fn rows<S: Simd, const V: usize>(
        self,
        simd: S,
        rows: usize,
        sums: &mut [f32; MAX_ROWS * MAX_WIDTH],
    ) {
        macro_rules! by_rows {
            ($($count:literal)*) => {
                match rows {
                    $($count if $count <= S::TILE_ROWS => self.fixed::<S, $count, V>(simd, sums),)*
                    _ => {}
                }
            };
        }
        // SAFETY: the caller guarantees the operands.
        unsafe { by_rows!(1 2 3 4 5 6 7 8 9 10 11 12) }
    }

    #[inline(always)]
    unsafe fn fixed<S: Simd, const N: usize, const V: usize>(
        self,
        simd: S,
        sums: &mut [f32; MAX_ROWS * MAX_WIDTH],
    ) {
        // SAFETY: the caller guarantees the operands.
        let tile: [[S::V; V]; N] = unsafe {
            match self.left {
                Left::Rows(data, stride) => self.sums(simd, data, stride, 1),
                Left::Panels(data) => self.sums(simd, data, 1, ROWS),
            }
        };
        for (row, vectors) in tile.iter().enumerate() {
            for (at, vector) in vectors.iter().enumerate() {
                // SAFETY: N and V are at most the largest tile.
                unsafe {
                    simd.store(sums.as_mut_ptr().add(row * MAX_WIDTH + at * S::LANES), *vector)
                };
            }
        }
    }

    #[inline(always)]
    unsafe fn sums<S: Simd, const N: usize, const V: usize>(
        self,
        simd: S,
        left: *const f32,
        row: usize,
        step: usize,
    ) -> [[S::V; V]; N] {
        let mut sums = [[simd.splat(0.0); V]; N];
        let (mut left, mut right) = (left, self.right.data);
        for _ in 0..self.inner {
            // SAFETY: the caller guarantees the rows of the left operand and the panels of the right
            // one over the inner extent.
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
        sums
    }
}
