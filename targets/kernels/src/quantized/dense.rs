//! Functions on matrices of 8-bit integers.

use core::ops::Range;

use ferrite_core::abi::TVMFFIAny;

use super::channels::{Channels, Input};
use super::output::{Last, Output};
use super::product::Product;
use super::tile::MAX_ROWS;
use super::{GROUP, PANEL_GROUP};
use crate::arguments::{Arguments, Kind, Result, shape_value};
use crate::epilogue::BiasAxis;
use crate::matmul::{COLUMNS, weights};
use crate::scratch::Scratch;
use crate::simd::{self, Level, Simd, Work};
use crate::threads::{self, share};

/// Bytes of a strip of rows, which stays in the second-level cache while the weights pass.
const ROWS_BYTES: usize = 256 << 10;

/// `qdense(x, w, zero, scale, out_zero, bias, residual, activation, lo, hi, out)`.
pub fn qdense(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let x = args.tensor(0, "x")?.expect_axes(1)?;
    let w = args.tensor(1, "w")?.expect_kind(Kind::I8)?.expect_rank(3)?;
    let out = args.tensor(10, "out")?.expect_axes(1)?;
    let inner = x.extent(x.shape().len() - 1);
    let columns = out.extent(out.shape().len() - 1);
    let rows = out.leading();
    w.expect_shape(&packed_shape(inner, columns))?;
    x.expect_len(rows * inner)?;
    let last = Last::read(&args, (3, 7), (columns, BiasAxis::Columns), &out)?;
    let input = Input::read(&args, &x, 2)?;
    if out.len() == 0 {
        return Ok(TVMFFIAny::NONE);
    }
    let (w, groups) = (w.data::<u8>().cast_const(), inner.div_ceil(GROUP));
    let panel = (groups + 1) * PANEL_GROUP;
    // SAFETY: the first group of each panel has the sums of its columns.
    let sum = |column: usize| unsafe {
        sums_of(w.wrapping_add(column / COLUMNS * panel)).add(column % COLUMNS).read_unaligned()
    };
    let channels = Channels::new(columns, input.zero, (last.scale, last.bias), |column| {
        i32::from_le(sum(column))
    })?;
    let panels = (w.wrapping_add(PANEL_GROUP), panel);
    Dense { input, inner, rows, columns, panels, output: last.output(&channels) }.run()
}

/// Extents of packed weights: panels, and in each the sums of its columns before the groups.
fn packed_shape(inner: usize, columns: usize) -> [usize; 3] {
    [columns.div_ceil(COLUMNS), inner.div_ceil(GROUP) + 1, PANEL_GROUP]
}

/// Returns the sums of the columns of a panel.
fn sums_of(panel: *const u8) -> *const i32 {
    panel.cast()
}

/// Product of rows and a packed matrix.
#[derive(Clone, Copy)]
struct Dense {
    input: Input,
    inner: usize,
    rows: usize,
    columns: usize,
    panels: (*const u8, usize),
    output: Output,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate blocks.
unsafe impl Sync for Dense {}

impl Dense {
    fn run(&self) -> Result<TVMFFIAny> {
        let level = Level::current();
        threads::launch(2 * self.rows * self.columns * self.inner, |task, tasks| {
            // Each task reads its own panels of the weights, unless there are many more rows.
            let (rows, columns) = if self.columns >= self.rows || self.rows < 24 * tasks {
                (0..self.rows, share(self.columns, COLUMNS, task, tasks))
            } else {
                (share(self.rows, MAX_ROWS, task, tasks), 0..self.columns)
            };
            let strip = (ROWS_BYTES / self.row().max(1)).max(1).next_multiple_of(MAX_ROWS);
            let copied = if self.is_copied() { strip.min(rows.len()) * self.row() } else { 0 };
            let scratch = Scratch::zeros(copied.div_ceil(size_of::<f32>()))?;
            let to = scratch.data().cast();
            simd::run_integers(level, Block { dense: *self, rows, columns, strip, to });
            Ok(())
        })?;
        Ok(TVMFFIAny::NONE)
    }

    /// Returns the distance of rows in whole groups.
    fn row(&self) -> usize {
        self.inner.next_multiple_of(GROUP)
    }

    /// Returns `true` for rows that are signed or end within a group.
    fn is_copied(&self) -> bool {
        self.input.is_signed || !self.inner.is_multiple_of(GROUP)
    }
}

struct Block {
    dense: Dense,
    rows: Range<usize>,
    columns: Range<usize>,
    strip: usize,
    to: *mut u8,
}

impl Work for Block {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Dense { input, inner, panels, output, columns, .. } = self.dense;
        let row = self.dense.row();
        let mut product = Product::<false> {
            groups: row / GROUP,
            rows: (input.data, row),
            panels,
            out: (0, columns),
            first: 0,
            output,
        };
        for first in self.rows.clone().step_by(self.strip) {
            let rows = first..self.rows.end.min(first + self.strip);
            // SAFETY: the extents were checked, and blocks begin at panels; the tensor has the
            // rows, and the scratch the space.
            unsafe {
                if self.dense.is_copied() {
                    for (at, row) in rows.clone().enumerate() {
                        let to = self.to.wrapping_add(at * product.rows.1);
                        input.copy((input.data.wrapping_add(row * inner), 1), to, inner);
                    }
                    product.rows.0 = self.to.wrapping_sub(first * row);
                }
                product.block(simd, rows, self.columns.clone());
            }
        }
    }
}

/// `packed_qdense_shape(w, transposed, dtype) -> Shape`.
pub fn packed_qdense_shape(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let w = args.tensor(0, "w")?.expect_rank(2)?;
    let (inner, columns, _) = weights(&args, w.shape())?;
    shape_value(&packed_shape(inner, columns))
}

/// `pack_qdense(w, transposed, out)`.
pub fn pack_qdense(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let w = args.tensor(0, "w")?.expect_kind(Kind::I8)?.expect_rank(2)?;
    let (inner, columns, transposed) = weights(&args, w.shape())?;
    let shape = packed_shape(inner, columns);
    let out = args.tensor(2, "out")?.expect_kind(Kind::I8)?.expect_shape(&shape)?;
    let [panels, groups, _] = shape;
    let (from, to) = (w.data::<i8>().cast_const(), out.data::<i8>());
    let (step, next) = if transposed { (1, inner) } else { (columns, 1) };
    for column in 0..panels * COLUMNS {
        let panel = to.wrapping_add(column / COLUMNS * groups * PANEL_GROUP);
        let panel = panel.wrapping_add(column % COLUMNS * GROUP);
        let mut sum = 0_i32;
        for k in 0..(groups - 1) * GROUP {
            let is_weight = k < inner && column < columns;
            let at = (k / GROUP + 1) * PANEL_GROUP + k % GROUP;
            // SAFETY: the tensors have the extents.
            unsafe {
                let value = if is_weight { *from.add(k * step + column * next) } else { 0 };
                *panel.add(at) = value;
                sum = sum.wrapping_add(i32::from(value));
            }
        }
        // SAFETY: as above; the first group of a column has four bytes.
        unsafe { panel.cast::<[u8; GROUP]>().write(sum.to_le_bytes()) };
    }
    Ok(TVMFFIAny::NONE)
}
