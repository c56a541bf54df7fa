//! Reductions of rows.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor};

use crate::parallel;
use crate::simd::{sum_of, vectorized};

/// Computes the sum of each row.
///
/// x: [rows, cols]; out: [rows].
#[ferrite::export]
fn sum_rows(x: Input<'_>, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let ([rows, cols], elements) = x.array::<f32, 2>()?;
    env::tensor::output(out, x.tensor(), &[rows], |out| {
        parallel::rows(out, 1, cols, |row, out| sums(&elements[row * cols..], cols, out));
    })
}

vectorized! {
    fn sums(x: &[f32], cols: usize, out: &mut [f32]) {
        for (row, out) in out.iter_mut().enumerate() {
            *out = sum_of(&x[row * cols..][..cols], |x| x);
        }
    }
}
