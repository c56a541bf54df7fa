//! Rows of the left operand: strips that stay in the cache, and their copies in f32.

use core::ops::Range;

use super::operands::{Left, ROWS};
use crate::element::Element;
use crate::simd::Simd;

/// Bytes of a strip, which stays in the second-level cache while the right operand passes.
const STRIP_BYTES: usize = 256 << 10;
/// Distances of rows that are multiples of this number of elements put all rows of a tile into the
/// same few sets of a first-level cache.
const CONFLICT: usize = 512;
/// Elements by which copied rows avoid that.
const GAP: usize = 16;

/// Returns `true` for elements that need no conversion.
pub fn is_f32<T: Element>() -> bool {
    size_of::<T>() == size_of::<f32>()
}

/// Returns the rows of a strip: whole panels.
pub fn strip(inner: usize) -> usize {
    (STRIP_BYTES / size_of::<f32>() / inner.max(1)).max(1).next_multiple_of(ROWS)
}

/// Copy of rows in f32: of elements that need a conversion, or whose distance is a bad one.
#[derive(Clone, Copy)]
pub struct RowCopy {
    /// Rows that are copied at once.
    pub rows: usize,
    inner: usize,
    stride: usize,
}

impl RowCopy {
    /// Returns the copy that rows need, or `None` if they are used where they lie.
    pub fn new<T: Element>(rows: usize, inner: usize) -> Option<Self> {
        let conflict = inner != 0 && inner.is_multiple_of(CONFLICT);
        if rows == 0 || is_f32::<T>() && !(conflict && rows >= ROWS) {
            return None;
        }
        let stride = if conflict { inner + GAP } else { inner };
        Some(Self { rows: strip(inner).min(rows), inner, stride })
    }

    /// Returns the copy of all rows at once.
    pub fn of_all(self, rows: usize) -> Self {
        Self { rows, ..self }
    }

    /// Returns the number of elements of the copy.
    pub fn len(&self) -> usize {
        self.rows.saturating_mul(self.stride)
    }

    /// Copies rows of a matrix. Returns the left operand, in which they have the same numbers.
    ///
    /// # Safety
    /// The matrix `from` must have the rows, at most `self.rows`, and `to` must have the space.
    #[inline(always)]
    pub unsafe fn rows_of<S: Simd, T: Element>(
        &self,
        simd: S,
        from: *const T,
        rows: Range<usize>,
        to: *mut f32,
    ) -> Left {
        for (at, row) in rows.clone().enumerate() {
            let from = from.wrapping_add(row * self.inner);
            // SAFETY: the caller guarantees the rows and the space.
            unsafe { to_f32(simd, from, to.wrapping_add(at * self.stride), self.inner) };
        }
        Left::Rows(to.wrapping_sub(rows.start * self.stride), self.stride)
    }
}

/// Converts elements to f32.
///
/// # Safety
/// `from` and `to` must have `count` elements.
#[inline(always)]
pub unsafe fn to_f32<S: Simd, T: Element>(simd: S, from: *const T, to: *mut f32, count: usize) {
    let mut at = 0;
    while at < count {
        let lanes = count - at;
        // SAFETY: the caller guarantees the elements.
        unsafe {
            let value = T::load_head(simd, from.add(at), lanes);
            f32::store_head(simd, to.add(at), value, lanes);
        }
        at += S::LANES;
    }
}
