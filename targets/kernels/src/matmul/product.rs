//! Products by blocks: strips of rows, columns of tiles, and the store of a tile.

use core::ops::Range;

use super::operands::{COLUMNS, Left, Lines, ROWS, Right};
use super::rows::strip;
use super::tile::{MAX_ROWS, MAX_WIDTH, NARROW, NarrowTile, Sums, Tile};
use crate::element::Element;
use crate::epilogue::{Epilogue, Place};
use crate::simd::{MAX_LANES, Simd, Work};

/// Matrix product, without its outer extents.
#[derive(Clone, Copy)]
pub struct Product<R, T> {
    /// Inner extent.
    pub inner: usize,
    /// Left operand.
    pub left: Left,
    /// Right operand.
    pub right: Right<R>,
    /// Result.
    pub out: *mut T,
    /// Distance of rows of the result.
    pub out_row: usize,
    /// Columns that the result keeps.
    pub lines: Lines,
    /// Last step.
    pub epilogue: Epilogue<T>,
}

impl<R: Element, T: Element> Product<R, T> {
    /// Computes a block of the result.
    ///
    /// # Safety
    /// The operands and the result must have the rows and columns, those of the right operand up to
    /// the end of their panel. The block must begin at a panel in both directions, if the operand
    /// has panels. No one else may access the block.
    #[inline(always)]
    pub unsafe fn block<S: Simd>(&self, simd: S, rows: Range<usize>, columns: Range<usize>) {
        simd.call(Block { product: *self, rows, columns });
    }
}

/// Block of a product, with the contract of [`Product::block`].
struct Block<R, T> {
    product: Product<R, T>,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl<R: Element, T: Element> Work for Block<R, T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Block { product, rows, columns } = self;
        let strip = strip(product.inner);
        let mut first = rows.start;
        while first < rows.end {
            let last = rows.end.min(first + strip);
            let mut column = columns.start;
            while column < columns.end {
                let width = product.width::<S>(columns.end - column);
                // SAFETY: the caller guarantees the block.
                unsafe { product.column_of_tiles(simd, first..last, column, width) };
                column += width;
            }
            first = last;
        }
    }
}

impl<R: Element, T: Element> Product<R, T> {
    /// Returns the width of the next tiles: that of the largest tile, the rest, or whole panels if
    /// the few columns after them are a narrow tile.
    #[inline(always)]
    fn width<S: Simd>(&self, rest: usize) -> usize {
        let (whole, tail) = (rest / COLUMNS * COLUMNS, rest % COLUMNS);
        let apart = whole != 0 && tail <= NARROW && self.has_narrow_tiles();
        (if apart { whole } else { rest }).min(S::TILE_VECTORS * S::LANES)
    }

    /// Returns whether a tile of few columns may have the rows as lanes.
    #[inline(always)]
    fn has_narrow_tiles(&self) -> bool {
        matches!(self.left, Left::Panels(_)) && self.right.starts().len() == 1
    }

    #[inline(always)]
    unsafe fn column_of_tiles<S: Simd>(
        &self,
        simd: S,
        rows: Range<usize>,
        column: usize,
        width: usize,
    ) {
        let right = self.right.at_column(column);
        let (inner, mut sums) = (self.inner, [0.0; MAX_ROWS * MAX_WIDTH + MAX_LANES]);
        let mut row = rows.start;
        while row < rows.end {
            let (left, rest) = (self.left_at(row), rows.end - row);
            let count = match left {
                Left::Panels(left) if width <= NARROW && self.has_narrow_tiles() => {
                    simd.call(NarrowTile { inner, left, right, width, sums: &mut sums });
                    rest.min(ROWS)
                }
                _ => {
                    let rows = rest.min(S::TILE_ROWS);
                    simd.call(Tile { inner, left, right, rows, width, sums: &mut sums });
                    rows
                }
            };
            // SAFETY: the caller guarantees the rows and columns; the tile is within both.
            unsafe { self.store_tile(simd, row..row + count, column, width, &sums) };
            row += count;
        }
    }

    #[inline(always)]
    unsafe fn store_tile<S: Simd>(
        &self,
        simd: S,
        rows: Range<usize>,
        column: usize,
        width: usize,
        sums: &Sums,
    ) {
        let mut at = 0;
        while at < width {
            let lanes = (width - at).min(S::LANES);
            let (column, count, next) = self.lines.neighbours(column + at, lanes);
            for row in rows.clone() {
                let offset = row * self.out_row + column;
                // SAFETY: the caller guarantees the elements of the block; the sums have a vector
                // from each column on.
                unsafe {
                    let sums = sums.as_ptr().add((row - rows.start) * MAX_WIDTH + at);
                    let place = Place { offset, row, column, count };
                    self.epilogue.store(simd, self.out, place, simd.load(sums));
                }
            }
            at += next;
        }
    }

    #[inline(always)]
    fn left_at(&self, row: usize) -> Left {
        match self.left {
            Left::Rows(data, stride) => Left::Rows(data.wrapping_add(row * stride), stride),
            Left::Panels(data) => {
                Left::Panels(data.wrapping_add(row / ROWS * ROWS * self.inner + row % ROWS))
            }
        }
    }
}
