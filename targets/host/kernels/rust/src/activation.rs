//! Activations with a gate.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor};

use crate::arithmetic::exp;
use crate::parallel;
use crate::simd::vectorized;

/// The SiLU of the first half of each row, times the second half.
///
/// x: [rows, 2 * cols]; out: [rows, cols].
#[ferrite::export]
fn silu_and_mul(x: Input<'_>, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let ([rows, width], elements) = x.array::<f32, 2>()?;
    x.check().ensure(width % 2 == 0, "shape[1]", format_args!("to be divisible by 2, got {width}"))?;
    let cols = width / 2;
    env::tensor::output(out, x.tensor(), &[rows, cols], |out| {
        parallel::rows(out, cols, 20 * cols, |row, out| silu_rows(&elements[row * width..], cols, out));
    })
}

vectorized! {
    fn silu_rows(x: &[f32], cols: usize, out: &mut [f32]) {
        for (x, out) in x.chunks_exact(2 * cols).zip(out.chunks_exact_mut(cols)) {
            let (gate, up) = x.split_at(cols);
            for ((out, gate), up) in out.iter_mut().zip(gate).zip(up) {
                *out = gate / (1.0 + exp(-gate)) * up;
            }
        }
    }
}
