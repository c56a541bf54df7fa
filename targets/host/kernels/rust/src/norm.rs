//! Norms of rows.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor};

use crate::parallel;
use crate::simd::{sum_of, vectorized};

/// Layer norm: each row, less its mean and divided by its standard deviation, times `weight`, plus
/// `bias`.
///
/// x: [rows, cols]; weight, bias: [cols]; eps is added to the variance; out: [rows, cols].
#[ferrite::export]
fn layernorm2d(
    x: Input<'_>,
    weight: Input<'_>,
    bias: Input<'_>,
    eps: f32,
    out: Option<Output<'_>>,
) -> Result<Option<Tensor>> {
    let ([rows, cols], elements) = x.array::<f32, 2>()?;
    let weight = weight.elements::<f32>(&[cols])?;
    let bias = bias.elements::<f32>(&[cols])?;
    env::tensor::output(out, x.tensor(), &[rows, cols], |out| {
        parallel::rows(out, cols, 8 * cols, |row, out| {
            layernorm_rows(&elements[row * cols..], weight, bias, eps, out);
        });
    })
}

vectorized! {
    fn layernorm_rows(x: &[f32], weight: &[f32], bias: &[f32], eps: f32, out: &mut [f32]) {
        let cols = weight.len();
        for (x, out) in x.chunks_exact(cols).zip(out.chunks_exact_mut(cols)) {
            let mean = sum_of(x, |x| x) / cols as f32;
            let variance = sum_of(x, |x| (x - mean) * (x - mean)) / cols as f32;
            let scale = 1.0 / (variance + eps).sqrt();
            for (((out, x), weight), bias) in out.iter_mut().zip(x).zip(weight).zip(bias) {
                *out = (x - mean) * scale * weight + bias;
            }
        }
    }
}

/// Root mean square norm: each row, divided by the root of the mean of its squares, times `weight`.
///
/// x: [rows, cols]; weight: [cols]; eps is added to the mean; out: [rows, cols].
#[ferrite::export]
fn rmsnorm(
    x: Input<'_>,
    weight: Input<'_>,
    eps: f32,
    out: Option<Output<'_>>,
) -> Result<Option<Tensor>> {
    let ([rows, cols], elements) = x.array::<f32, 2>()?;
    let weight = weight.elements::<f32>(&[cols])?;
    env::tensor::output(out, x.tensor(), &[rows, cols], |out| {
        parallel::rows(out, cols, 4 * cols, |row, out| {
            rmsnorm_rows(&elements[row * cols..], weight, eps, out)
        });
    })
}

vectorized! {
    fn rmsnorm_rows(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
        let cols = weight.len();
        for (x, out) in x.chunks_exact(cols).zip(out.chunks_exact_mut(cols)) {
            let scale = 1.0 / (sum_of(x, |x| x * x) / cols as f32 + eps).sqrt();
            for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
                *out = x * scale * weight;
            }
        }
    }
}
