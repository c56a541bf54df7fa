//! Products by blocks.

use core::ops::Range;

use super::narrow::{NARROW, NarrowTile};
use super::output::Output;
use super::tile::{MAX_ROWS, MAX_WIDTH, Tile};
use super::{GROUP, tile};
use crate::epilogue::Place;
use crate::matmul::COLUMNS;
use crate::simd::{Simd, Work};

/// Product of rows and panels of columns. One of them is signed, the other unsigned.
#[derive(Clone, Copy)]
pub struct Product<const SIGNED_ROWS: bool> {
    /// Groups of the inner extent.
    pub groups: usize,
    /// First row, and the distance of rows.
    pub rows: (*const u8, usize),
    /// First panel, and the distance of panels.
    pub panels: (*const u8, usize),
    /// Offset of the first element of the result, and the distance of rows.
    pub out: (usize, usize),
    /// Channel of the first row, if channels are rows.
    pub first: usize,
    /// Result.
    pub output: Output,
}

impl<const SIGNED_ROWS: bool> Product<SIGNED_ROWS> {
    /// Calculates a block of the result.
    ///
    /// # Safety
    /// The operands, the channels and the result must have the rows and columns, the panels and
    /// channels of columns up to the end of a panel. The block must begin at a panel. No one else
    /// may access it.
    #[inline(always)]
    pub unsafe fn block<S: Simd>(&self, simd: S, rows: Range<usize>, columns: Range<usize>) {
        simd.call(Block { product: *self, rows, columns });
    }
}

/// Block of a product, with the contract of [`Product::block`].
struct Block<const SIGNED_ROWS: bool> {
    product: Product<SIGNED_ROWS>,
    rows: Range<usize>,
    columns: Range<usize>,
}

impl<const SIGNED_ROWS: bool> Work for Block<SIGNED_ROWS> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut sums = [0; MAX_ROWS * MAX_WIDTH];
        let mut column = self.columns.start;
        while column < self.columns.end {
            let width = width::<S, SIGNED_ROWS>(self.columns.end - column);
            for row in self.rows.clone().step_by(S::INTEGER_ROWS) {
                let rows = (self.rows.end - row).min(S::INTEGER_ROWS);
                if SIGNED_ROWS && width <= NARROW {
                    simd.call(self.product.narrow([row, column], [rows, width], &mut sums));
                } else {
                    simd.call(self.product.tile([row, column], [rows, width], &mut sums));
                }
                // SAFETY: the caller guarantees the block, and the tile is within it.
                unsafe { self.product.store(simd, [row, column], [rows, width], &sums) };
            }
            column += width;
        }
    }
}

/// Returns the width of the next tiles: that of the largest tile, the rest, or whole panels if the
/// few columns after them are a narrow tile.
#[inline(always)]
fn width<S: Simd, const SIGNED_ROWS: bool>(rest: usize) -> usize {
    let tail = rest % COLUMNS;
    let apart = SIGNED_ROWS && tail < rest && tail <= NARROW;
    (if apart { rest - tail } else { rest }).min(S::TILE_VECTORS * S::LANES)
}

impl<const SIGNED_ROWS: bool> Product<SIGNED_ROWS> {
    #[inline(always)]
    fn narrow<'a>(
        &'a self,
        [row, column]: [usize; 2],
        extents: [usize; 2],
        sums: &'a mut tile::Sums,
    ) -> NarrowTile<'a> {
        let ((rows, distance), (panels, panel)) = (self.rows, self.panels);
        NarrowTile {
            groups: self.groups,
            rows: (rows.wrapping_add(row * distance), distance),
            panel: panels.wrapping_add(column / COLUMNS * panel + column % COLUMNS * GROUP),
            extents,
            output: &self.output,
            channel: self.first + row,
            sums,
        }
    }

    #[inline(always)]
    fn tile<'a>(
        &'a self,
        [row, column]: [usize; 2],
        extents: [usize; 2],
        sums: &'a mut tile::Sums,
    ) -> Tile<'a, SIGNED_ROWS> {
        let ((rows, distance), (panels, panel)) = (self.rows, self.panels);
        let within = column / COLUMNS * panel + column % COLUMNS * GROUP;
        Tile {
            groups: self.groups,
            rows: (rows.wrapping_add(row * distance), distance),
            panels: (panels.wrapping_add(within), panel),
            extents,
            output: &self.output,
            channels: [self.first + row, column],
            sums,
        }
    }

    /// Finishes the sums of a tile, and stores them.
    ///
    /// # Safety
    /// The tensors must have the tile, and the channels its rows or columns.
    #[inline(always)]
    unsafe fn store<S: Simd>(
        &self,
        simd: S,
        [row, column]: [usize; 2],
        [rows, width]: [usize; 2],
        sums: &tile::Sums,
    ) {
        for at in 0..rows {
            let offset = self.out.0 + (row + at) * self.out.1;
            for lane in (0..width).step_by(S::LANES) {
                let place = Place {
                    offset: offset + column + lane,
                    row: self.first + row + at,
                    column: column + lane,
                    count: (width - lane).min(S::LANES),
                };
                // SAFETY: the caller guarantees the elements; a row of sums has a multiple of the
                // lanes.
                unsafe {
                    let sums = simd.load_integers(sums.as_ptr().add(at * MAX_WIDTH + lane));
                    self.output.store(simd, place, sums);
                }
            }
        }
    }
}
