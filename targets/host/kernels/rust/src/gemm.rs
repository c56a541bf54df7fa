//! Products of matrices.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor};

use crate::arithmetic::{add_scaled, multiply_add};
use crate::parallel;
use crate::simd::vectorized;

/// The product of two matrices.
///
/// a: [m, k]; b: [k, n]; out: [m, n].
#[ferrite::export]
fn gemm(a: Input<'_>, b: Input<'_>, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let (([m, k], a_rows), ([_, n], b_rows)) = (a.array::<f32, 2>()?, b.array::<f32, 2>()?);
    b.check().same_extent(0, a.check(), 1)?;
    env::tensor::output(out, a.tensor(), &[m, n], |out| {
        out.fill(0.0);
        parallel::rows(out, n, k.saturating_mul(n) / 8, |row, out| {
            add_product(&a_rows[row * k..], b_rows, k, n, out);
        });
    })
}

/// Rows of a tile of the product, whose sums stay in registers.
const TILE_ROWS: usize = 6;
/// Vectors in a row of a tile.
const TILE_VECTORS: usize = 2;
/// Rows of the block of `a` that stays in the second cache.
const BLOCK_ROWS: usize = 96;
/// Columns of `a` and rows of `b` that are multiplied at a time. A panel of `b` stays in the first cache.
const BLOCK_DEPTH: usize = 256;

vectorized! {
    /// Adds the product of `a` and `b` to `out`, of which `a` has the rows.
    fn add_product(a: &[f32], b: &[f32], k: usize, n: usize, out: &mut [f32]) {
        if k == 0 {
            return;
        }
        if out.len() / n < TILE_ROWS {
            return add_product_of_few_rows::<WIDTH>(a, b, k, n, out);
        }
        let mut panel = Vec::new();
        for depth in (0..k).step_by(BLOCK_DEPTH) {
            let depths = depth..k.min(depth + BLOCK_DEPTH);
            for (block, out) in out.chunks_mut(BLOCK_ROWS * n).enumerate() {
                let a = &a[block * BLOCK_ROWS * k..];
                for column in (0..n).step_by(TILE_VECTORS * WIDTH) {
                    pack::<WIDTH>(b, n, depths.clone(), column, &mut panel);
                    for (tile, out) in out.chunks_mut(TILE_ROWS * n).enumerate() {
                        let a = &a[tile * TILE_ROWS * k..];
                        add_tile::<WIDTH>(a, k, depths.start, &panel, n, column, out);
                    }
                }
            }
        }
    }
}

/// Adds the product to few rows, each of which stays in the first cache.
#[inline(always)]
fn add_product_of_few_rows<const WIDTH: usize>(a: &[f32], b: &[f32], k: usize, n: usize, out: &mut [f32]) {
    const COLUMNS: usize = 2048;
    for (a, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        for (block, out) in out.chunks_mut(COLUMNS).enumerate() {
            for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                add_scaled::<WIDTH>(out, *a, &b[block * COLUMNS..][..out.len()]);
            }
        }
    }
}

/// A row of a panel.
type Row<const WIDTH: usize> = [[f32; WIDTH]; TILE_VECTORS];

/// Copies columns of `b` to a panel of full rows; beyond the last column they are 0.
#[inline(always)]
fn pack<const WIDTH: usize>(
    b: &[f32],
    n: usize,
    depths: std::ops::Range<usize>,
    column: usize,
    panel: &mut Vec<Row<WIDTH>>,
) {
    panel.clear();
    let columns = (n - column).min(TILE_VECTORS * WIDTH);
    for depth in depths {
        let mut row = [[0.0; WIDTH]; TILE_VECTORS];
        row.as_flattened_mut()[..columns].copy_from_slice(&b[depth * n + column..][..columns]);
        panel.push(row);
    }
}

/// A vector of sums, which stays in a register where all uses are inlined and no index is computed.
#[derive(Clone, Copy)]
struct Sums<const WIDTH: usize>([f32; WIDTH]);

impl<const WIDTH: usize> Sums<WIDTH> {
    #[inline(always)]
    #[expect(clippy::needless_range_loop, reason = "the form that compilers keep in a register")]
    fn add_scaled(&mut self, factor: f32, x: &[f32; WIDTH]) {
        for index in 0..WIDTH {
            self.0[index] = multiply_add::<WIDTH>(factor, x[index], self.0[index]);
        }
    }
}

/// Adds the product of rows of `a` and a panel to the rows of `out`, at most `TILE_ROWS`.
#[inline(always)]
fn add_tile<const WIDTH: usize>(
    a: &[f32],
    k: usize,
    depth: usize,
    panel: &[Row<WIDTH>],
    n: usize,
    column: usize,
    out: &mut [f32],
) {
    let rows = out.len() / n;
    // Rows beyond the last one repeat it, and are not stored.
    let a = |row: usize| &a[row.min(rows - 1) * k + depth..][..panel.len()];
    let zero = (Sums([0.0; WIDTH]), Sums([0.0; WIDTH]));
    let (mut s0, mut s1, mut s2, mut s3, mut s4, mut s5) = (zero, zero, zero, zero, zero, zero);
    let rows_of_a = a(0).iter().zip(a(1)).zip(a(2)).zip(a(3)).zip(a(4)).zip(a(5));
    for ([low, high], (((((a0, a1), a2), a3), a4), a5)) in panel.iter().zip(rows_of_a) {
        // One statement each: in a loop over the sums, these would be in memory.
        macro_rules! add {
            ($($sums:ident $a:ident),*) => {$(
                $sums.0.add_scaled(*$a, low);
                $sums.1.add_scaled(*$a, high);
            )*};
        }
        add!(s0 a0, s1 a1, s2 a2, s3 a3, s4 a4, s5 a5);
    }
    for (out, sums) in out.chunks_exact_mut(n).zip([s0, s1, s2, s3, s4, s5]) {
        let sums = [sums.0.0, sums.1.0];
        for (out, sum) in out[column..].iter_mut().zip(sums.as_flattened()) {
            *out += sum;
        }
    }
}
