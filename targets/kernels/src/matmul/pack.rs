//! Panels: the layout of packed operands, which does not depend on the processor.

use core::array;

use super::operands::COLUMNS;
use crate::element::Element;
use crate::simd::{Scalar, Simd};

/// Packs a matrix of `inner` rows into panels of columns; missing columns are zero.
///
/// # Safety
/// `from` must have `inner` rows of `columns` elements at the distance `row`, and `to` the space
/// for whole panels.
#[inline(always)]
pub unsafe fn pack_columns<S: Simd, F: Element, T: Element>(
    simd: S,
    (from, row): (*const F, usize),
    (inner, columns): (usize, usize),
    to: *mut T,
) {
    let mut to = to;
    for first in (0..columns).step_by(COLUMNS) {
        for k in 0..inner {
            let from = from.wrapping_add(k * row + first);
            for at in (0..COLUMNS).step_by(S::LANES) {
                let rest = (columns - first).saturating_sub(at);
                // SAFETY: the caller guarantees both matrices.
                unsafe {
                    T::store(simd, to.add(at), F::load_head(simd, from.wrapping_add(at), rest))
                };
            }
            to = to.wrapping_add(COLUMNS);
        }
    }
}

/// Edge of the blocks that are transposed in registers.
const EDGE: usize = 4;

/// Packs the transpose of a matrix of `columns` rows of `inner` elements into panels of columns;
/// missing columns are zero.
///
/// # Safety
/// `from` must have `columns` rows of `inner` elements at the distance `row`, and `to` the space
/// for whole panels.
#[inline(always)]
pub unsafe fn pack_transposed<F: Element, T: Element>(
    (from, row): (*const F, usize),
    (inner, columns): (usize, usize),
    to: *mut T,
) {
    for first in (0..columns).step_by(COLUMNS) {
        let to = to.wrapping_add(first * inner);
        for k in (0..inner).step_by(EDGE) {
            for column in (0..COLUMNS).step_by(EDGE) {
                let from = from.wrapping_add((first + column) * row + k);
                let to = to.wrapping_add(k * COLUMNS + column);
                let extents = [columns.saturating_sub(first + column), inner - k];
                // SAFETY: the caller guarantees both matrices.
                unsafe { transpose((from, row), to, extents.map(|extent| extent.min(EDGE))) };
            }
        }
    }
}

/// Transposes a block of some lines and elements of these; missing lines are zero.
///
/// # Safety
/// `from` must have the elements, and `to` whole rows of as many.
#[inline(always)]
unsafe fn transpose<F: Element, T: Element>(
    (from, row): (*const F, usize),
    to: *mut T,
    [lines, elements]: [usize; 2],
) {
    if [lines, elements] == [EDGE; 2] {
        // SAFETY: the caller guarantees the elements.
        let block = array::from_fn(|line| unsafe { F::load(Scalar, from.add(line * row)) });
        // SAFETY: the caller guarantees the rows.
        return unsafe { store_columns(&block, to, EDGE) };
    }
    let block = array::from_fn(|line| {
        let count = if line < lines { elements } else { 0 };
        // SAFETY: the caller guarantees the elements.
        unsafe { F::load_head(Scalar, from.wrapping_add(line * row), count) }
    });
    // SAFETY: the caller guarantees the rows.
    unsafe { store_columns(&block, to, elements) };
}

/// Writes columns of a block as rows of a panel.
///
/// # Safety
/// `to` must have `count` rows.
#[expect(clippy::needless_range_loop, reason = "the index is that of columns")]
#[inline(always)]
unsafe fn store_columns<T: Element>(block: &[[f32; EDGE]; EDGE], to: *mut T, count: usize) {
    for k in 0..count {
        // SAFETY: the caller guarantees the rows.
        unsafe { T::store(Scalar, to.add(k * COLUMNS), array::from_fn(|line| block[line][k])) };
    }
}
