//! Products of few rows and a transposed matrix: dot products of rows, without packing.

use crate::element::Element;
use crate::simd::{MAX_LANES, Simd, Work};

/// Rows up to which dot products take less time than packing.
pub const DOT_ROWS: usize = 4;

/// Dot products of each left row and each right row. The operands must have the rows, and the
/// result the space.
#[derive(Clone, Copy)]
pub struct Dots<L, R> {
    /// Number of elements of a row.
    pub inner: usize,
    /// First left row, and the distance of rows.
    pub left: (*const L, usize),
    /// First right row, and the distance of rows.
    pub right: (*const R, usize),
    /// Left rows and right rows.
    pub extents: [usize; 2],
    /// Factor of the products.
    pub scale: f32,
    /// First result, and the distance of rows.
    pub out: (*mut f32, usize),
}

impl<L: Element, R: Element> Work for Dots<L, R> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        /// Right rows that are multiplied together.
        const TOGETHER: usize = 4;
        let [rows, columns] = self.extents;
        let whole = columns / TOGETHER * TOGETHER;
        for row in 0..rows {
            // SAFETY: whoever made the operands guarantees the rows.
            unsafe {
                for column in (0..whole).step_by(TOGETHER) {
                    self.dots::<S, TOGETHER>(simd, row, column);
                }
                for column in whole..columns {
                    self.dots::<S, 1>(simd, row, column);
                }
            }
        }
    }
}

impl<L: Element, R: Element> Dots<L, R> {
    #[inline(always)]
    unsafe fn dots<S: Simd, const N: usize>(&self, simd: S, row: usize, column: usize) {
        let left = self.left.0.wrapping_add(row * self.left.1);
        let right = self.right.0.wrapping_add(column * self.right.1);
        let mut sums = [simd.splat(0.0); N];
        for at in (0..self.inner).step_by(S::LANES) {
            let rest = self.inner - at;
            // SAFETY: the caller guarantees the rows.
            unsafe {
                let x = L::load_head(simd, left.add(at), rest);
                for (next, sum) in sums.iter_mut().enumerate() {
                    let y = R::load_head(simd, right.add(next * self.right.1 + at), rest);
                    *sum = simd.fma(x, y, *sum);
                }
            }
        }
        for (next, sum) in sums.iter().enumerate() {
            let mut lanes = [0.0; MAX_LANES];
            // SAFETY: the array has at least the lanes; the caller guarantees the result.
            unsafe {
                simd.store(lanes.as_mut_ptr(), *sum);
                let out = self.out.0.add(row * self.out.1 + column + next);
                *out = lanes[..S::LANES].iter().sum::<f32>() * self.scale;
            }
        }
    }
}
