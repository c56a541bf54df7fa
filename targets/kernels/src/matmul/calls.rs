//! Functions on matrices.

use core::ops::Range;

use ferrite_core::abi::TVMFFIAny;

use super::{COLUMNS, Left, Lines, Product, Right, RowCopy, pack_columns, pack_transposed};
use crate::arguments::{Arguments, Result, shape_value};
use crate::element::Element;
use crate::epilogue::{Activation, BiasAxis, Epilogue};
use crate::scratch::Scratch;
use crate::simd::{self, Level, Scalar, Simd, Work};
use crate::threads::{self, share};

/// `dense(x, w, bias, residual, activation, lo, hi, out)`.
pub fn dense<T: Element>(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let x = args.tensor(0, "x")?.expect_kind(T::KIND)?.expect_axes(1)?;
    let w = args.tensor(1, "w")?.expect_kind(T::KIND)?.expect_rank(3)?;
    let out = args.tensor(7, "out")?.expect_kind(T::KIND)?.expect_axes(1)?;
    let inner = x.extent(x.shape().len() - 1);
    let columns = out.extent(out.shape().len() - 1);
    let rows = out.leading();
    w.expect_shape(&[columns.div_ceil(COLUMNS), inner, COLUMNS])?;
    x.expect_len(rows * inner)?;
    let bias = args.optional(2, "bias")?;
    let residual = args.optional(3, "residual")?;
    let epilogue = Epilogue {
        bias: match bias {
            Some(bias) => bias.expect_kind(T::KIND)?.expect_len(columns)?.data(),
            None => core::ptr::null(),
        },
        bias_axis: BiasAxis::Columns,
        residual: match residual {
            Some(residual) => residual.expect_kind(T::KIND)?.expect_len(out.len())?.data(),
            None => core::ptr::null(),
        },
        scale: 1.0,
        activation: Activation::read(&args, 4)?,
    };
    let dense = Dense {
        x: x.data::<T>(),
        rows,
        columns,
        product: Product {
            inner,
            left: Left::Rows(x.data(), inner),
            right: Right::panels(w.data::<T>(), inner),
            out: out.data::<T>(),
            out_row: columns,
            lines: Lines::ONE,
            epilogue,
        },
    };
    if out.len() != 0 {
        dense.run()?;
    }
    Ok(TVMFFIAny::NONE)
}

/// Product of rows and a packed matrix.
#[derive(Clone, Copy)]
struct Dense<T> {
    x: *const T,
    rows: usize,
    columns: usize,
    product: Product<T, T>,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate blocks.
unsafe impl<T> Sync for Dense<T> {}

impl<T: Element> Dense<T> {
    fn run(&self) -> Result<()> {
        let level = Level::current();
        let work = 2 * self.rows * self.columns * self.product.inner;
        threads::launch(work, |task, tasks| {
            // Each task reads its own panels of the weights, unless there are many more rows.
            let (rows, columns) = if self.columns >= self.rows || self.rows < 24 * tasks {
                (0..self.rows, share(self.columns, COLUMNS, task, tasks))
            } else {
                (share(self.rows, super::ROWS, task, tasks), 0..self.columns)
            };
            let copy = RowCopy::new::<T>(rows.len(), self.product.inner);
            let scratch = Scratch::new(copy.map_or(0, |copy| copy.len()))?;
            let to = scratch.data();
            simd::run(level, Block { dense: *self, rows, columns, copy, to });
            Ok(())
        })
    }
}

struct Block<T> {
    dense: Dense<T>,
    rows: Range<usize>,
    columns: Range<usize>,
    copy: Option<RowCopy>,
    to: *mut f32,
}

impl<T: Element> Work for Block<T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let mut product = self.dense.product;
        let Some(copy) = self.copy else {
            // SAFETY: the extents were checked, and blocks begin at panels.
            return unsafe { product.block(simd, self.rows, self.columns) };
        };
        for first in self.rows.clone().step_by(copy.rows) {
            let rows = first..self.rows.end.min(first + copy.rows);
            // SAFETY: as above; the tensor has the rows, and the scratch the space.
            unsafe {
                product.left = copy.rows_of(simd, self.dense.x, rows.clone(), self.to);
                product.block(simd, rows, self.columns.clone());
            }
        }
    }
}

/// Extents `[K, N]` of weights of `[K, N]`, or of `[N, K]` if they are transposed.
pub fn weights(args: &Arguments<'_>, shape: &[i64]) -> Result<(usize, usize, bool)> {
    let transposed = args.int(1, "transposed")? != 0;
    let (rows, columns) = (shape[0] as usize, shape[1] as usize);
    Ok(if transposed { (columns, rows, true) } else { (rows, columns, false) })
}

/// `packed_dense_shape(w, transposed, dtype) -> Shape`.
pub fn packed_dense_shape(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let w = args.tensor(0, "w")?.expect_rank(2)?;
    let (inner, columns, _) = weights(&args, w.shape())?;
    shape_value(&[columns.div_ceil(COLUMNS), inner, COLUMNS])
}

/// `pack_dense(w, transposed, out)`.
pub fn pack_dense<T: Element>(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let w = args.tensor(0, "w")?.expect_kind(T::KIND)?.expect_rank(2)?;
    let (inner, columns, transposed) = weights(&args, w.shape())?;
    let out = args.tensor(2, "out")?.expect_kind(T::KIND)?;
    let out = out.expect_shape(&[columns.div_ceil(COLUMNS), inner, COLUMNS])?;
    let (from, extents) = (w.data::<T>().cast_const(), (inner, columns));
    // SAFETY: both tensors have the extents.
    unsafe {
        if transposed {
            pack_transposed((from, inner), extents, out.data::<T>());
        } else {
            pack_columns(Scalar, (from, columns), extents, out.data::<T>());
        }
    }
    Ok(TVMFFIAny::NONE)
}
