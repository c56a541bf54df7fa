//! Panels: the layout of packed operands, which does not depend on the processor.

use super::operands::COLUMNS;

/// Packs a matrix of `inner` rows into panels of columns; missing columns are zero.
///
/// # Safety
/// `from` must have `inner` rows of `columns` elements at the distance `row`, and `to` the space
/// for whole panels.
#[inline(always)]
pub unsafe fn pack_columns<F: Copy, T: Copy>(
    (from, row): (*const F, usize),
    (inner, columns): (usize, usize),
    to: *mut T,
    zero: T,
    convert: impl Fn(F) -> T,
) {
    for panel in 0..columns.div_ceil(COLUMNS) {
        let width = (columns - panel * COLUMNS).min(COLUMNS);
        for k in 0..inner {
            for column in 0..COLUMNS {
                // SAFETY: the caller guarantees both matrices.
                unsafe {
                    let value = if column < width {
                        convert(*from.add(k * row + panel * COLUMNS + column))
                    } else {
                        zero
                    };
                    *to.add((panel * inner + k) * COLUMNS + column) = value;
                }
            }
        }
    }
}

/// Packs the transpose of a matrix of `columns` rows of `inner` elements into panels of columns.
///
/// # Safety
/// `from` must have `columns` rows of `inner` elements at the distance `row`, and `to` the space
/// for whole panels.
#[inline(always)]
pub unsafe fn pack_transposed<F: Copy, T: Copy>(
    (from, row): (*const F, usize),
    (inner, columns): (usize, usize),
    to: *mut T,
    zero: T,
    convert: impl Fn(F) -> T,
) {
    // SAFETY: the caller guarantees both matrices.
    unsafe { pack_lines::<COLUMNS, F, T>((from, row), (inner, columns), to, zero, convert) }
}

#[inline(always)]
unsafe fn pack_lines<const WIDTH: usize, F: Copy, T: Copy>(
    (from, stride): (*const F, usize),
    (inner, lines): (usize, usize),
    to: *mut T,
    zero: T,
    convert: impl Fn(F) -> T,
) {
    for panel in 0..lines.div_ceil(WIDTH) {
        for k in 0..inner {
            for within in 0..WIDTH {
                let line = panel * WIDTH + within;
                // SAFETY: the caller guarantees both matrices.
                unsafe {
                    let value =
                        if line < lines { convert(*from.add(line * stride + k)) } else { zero };
                    *to.add((panel * inner + k) * WIDTH + within) = value;
                }
            }
        }
    }
}
