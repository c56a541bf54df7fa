//! Products of batches of matrices, neither of which is packed.

use core::ops::Range;

use ferrite_core::abi::TVMFFIAny;

use super::{
    COLUMNS, DOT_ROWS, Dots, Left, Lines, Product, Right, RowCopy, is_f32, pack_columns,
    pack_transposed,
};
use crate::arguments::{Arguments, Result, Tensor, raise};
use crate::element::Element;
use crate::epilogue::Epilogue;
use crate::scratch::Scratch;
use crate::simd::{self, Level, Simd, Work};
use crate::threads::{self, share};

/// Bytes of packed columns, which stay in the second-level cache.
const PACKED_BYTES: usize = 384 << 10;
/// Rows up to which the right operand is read where it lies: packing would not pay.
const STREAMED_ROWS: usize = 24;

/// `batch_matmul(a, b, transpose_b, alpha, out)`.
pub fn batch_matmul<T: Element>(args: Arguments<'_>) -> Result<TVMFFIAny> {
    let a = args.tensor(0, "a")?.expect_kind(T::KIND)?.expect_axes(2)?;
    let b = args.tensor(1, "b")?.expect_kind(T::KIND)?.expect_axes(2)?;
    let transposed = args.int(2, "transpose_b")? != 0;
    let alpha = args.float(3, "alpha")? as f32;
    let out = args.tensor(4, "out")?.expect_kind(T::KIND)?.expect_axes(2)?;
    let (batch, [rows, columns]) = matrices(&out);
    let (a_batch, [a_rows, inner]) = matrices(&a);
    let (b_batch, b_shape) = matrices(&b);
    let expected = if transposed { [columns, inner] } else { [inner, columns] };
    for (name, got, expected) in [("a", [a_rows, inner], [rows, inner]), ("b", b_shape, expected)] {
        if got != expected {
            let function = args.function();
            return Err(raise!(
                Value,
                "{function}: {name} has matrices of {got:?}, expected {expected:?}"
            ));
        }
    }
    for (name, got) in [("a", a_batch), ("b", b_batch)] {
        if got != batch && got != 1 {
            let function = args.function();
            return Err(raise!(Value, "{function}: {name} has {got} matrices, expected {batch}"));
        }
    }
    let (a_step, b_step) = (rows * inner, columns * inner);
    let matrices = Matrices {
        a: (a.data::<T>(), if a_batch == 1 { 0 } else { a_step }),
        b: (b.data::<T>(), if b_batch == 1 { 0 } else { b_step }),
        out: out.data::<T>(),
        extents: [rows, inner, columns],
        batch,
        transposed,
        alpha,
    };
    if out.len() != 0 {
        matrices.multiply()?;
    }
    Ok(TVMFFIAny::NONE)
}

/// Returns the number of matrices of a tensor, and their extents.
fn matrices(tensor: &Tensor<'_>) -> (usize, [usize; 2]) {
    let last = tensor.shape().len() - 1;
    let leading = tensor.shape()[..last - 1].iter().map(|extent| *extent as usize).product();
    (leading, [tensor.extent(last - 1), tensor.extent(last)])
}

/// Batch of products.
#[derive(Clone, Copy)]
struct Matrices<T> {
    /// First left matrix, and the distance of matrices.
    a: (*const T, usize),
    /// First right matrix, and the distance of matrices.
    b: (*const T, usize),
    out: *mut T,
    /// Rows, inner extent and columns.
    extents: [usize; 3],
    batch: usize,
    transposed: bool,
    alpha: f32,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate blocks.
unsafe impl<T> Sync for Matrices<T> {}

impl<T: Element> Matrices<T> {
    fn multiply(&self) -> Result<()> {
        let level = Level::current();
        let [rows, inner, columns] = self.extents;
        threads::launch(2 * self.batch * rows * inner * columns, |task, tasks| {
            let (batch, columns) = if self.batch.is_multiple_of(tasks) || self.batch >= 8 * tasks {
                (share(self.batch, 1, task, tasks), 0..columns)
            } else {
                (0..self.batch, share(columns, COLUMNS, task, tasks))
            };
            let chunk = (PACKED_BYTES / 4 / inner.max(1) / COLUMNS * COLUMNS).max(2 * COLUMNS);
            let chunk = chunk.min(columns.len().next_multiple_of(COLUMNS));
            let chunk = if self.is_dots() { 0 } else { chunk };
            let packed = Scratch::new(chunk * inner)?;
            let copy = RowCopy::new::<T>(rows, inner).map(|copy| copy.of_all(rows));
            let copied = Scratch::new(copy.map_or(0, |copy| copy.len()))?;
            let (packed, copied) = (packed.data(), copied.data());
            simd::run(level, Part { matrices: *self, batch, columns, chunk, packed, copy, copied });
            Ok(())
        })
    }
}

struct Part<T> {
    matrices: Matrices<T>,
    batch: Range<usize>,
    columns: Range<usize>,
    chunk: usize,
    packed: *mut f32,
    copy: Option<RowCopy>,
    copied: *mut f32,
}

impl<T: Element> Work for Part<T> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if self.matrices.is_dots() {
            return self.batch.clone().for_each(|matrix| self.dots(simd, matrix));
        }
        for matrix in self.batch.clone() {
            let left = self.left(simd, matrix);
            let mut first = self.columns.start;
            while first < self.columns.end {
                let (right, count) = self.right(simd, matrix, first);
                let [rows, inner, columns] = self.matrices.extents;
                let product = Product {
                    inner,
                    left,
                    right,
                    out: self.matrices.out.wrapping_add(matrix * rows * columns + first),
                    out_row: columns,
                    lines: Lines::ONE,
                    epilogue: Epilogue::scale(self.matrices.alpha),
                };
                // SAFETY: the extents were checked.
                unsafe { product.block(simd, 0..rows, 0..count) };
                first += count;
            }
        }
    }
}

impl<T: Element> Matrices<T> {
    /// Returns `true` if few rows meet a transposed matrix.
    fn is_dots(&self) -> bool {
        self.transposed && is_f32::<T>() && self.extents[0] <= DOT_ROWS
    }
}

impl<T: Element> Part<T> {
    /// Computes the columns of a matrix by dot products.
    #[inline(always)]
    fn dots<S: Simd>(&self, simd: S, matrix: usize) {
        let Matrices { a, b, out, extents: [rows, inner, columns], alpha, .. } = self.matrices;
        let first = self.columns.start;
        let b = b.0.wrapping_add(matrix * b.1 + first * inner);
        let dots = Dots {
            inner,
            left: (a.0.wrapping_add(matrix * a.1), inner),
            right: (b, inner),
            extents: [rows, self.columns.len()],
            scale: alpha,
            out: (out.wrapping_add(matrix * rows * columns + first).cast(), columns),
        };
        simd.call(dots);
    }

    #[inline(always)]
    fn left<S: Simd>(&self, simd: S, matrix: usize) -> Left {
        let [rows, inner, _] = self.matrices.extents;
        let a = self.matrices.a.0.wrapping_add(matrix * self.matrices.a.1);
        match self.copy {
            // SAFETY: the tensor has the matrix, the scratch the space.
            Some(copy) => unsafe { copy.rows_of(simd, a, 0..rows, self.copied) },
            None => Left::Rows(a.cast(), inner),
        }
    }

    /// Returns the columns from `first` on, packed or where they lie, and their number.
    #[inline(always)]
    fn right<S: Simd>(&self, simd: S, matrix: usize, first: usize) -> (Right<f32>, usize) {
        let [rows, inner, columns] = self.matrices.extents;
        let b = self.matrices.b.0.wrapping_add(matrix * self.matrices.b.1);
        let whole = (self.columns.end - first) / COLUMNS * COLUMNS;
        if !self.matrices.transposed && is_f32::<T>() && rows <= STREAMED_ROWS && whole != 0 {
            let data = b.cast::<f32>().wrapping_add(first);
            return (Right::rows(data, columns), whole);
        }
        let count = (self.columns.end - first).min(self.chunk);
        // SAFETY: the tensor has the columns, the scratch the space.
        unsafe {
            if self.matrices.transposed {
                let from = (b.wrapping_add(first * inner), inner);
                pack_transposed(from, (inner, count), self.packed);
            } else {
                let from = (b.wrapping_add(first), columns);
                pack_columns(simd, from, (inner, count), self.packed);
            }
        }
        (Right::panels(self.packed, inner), count)
    }
}
