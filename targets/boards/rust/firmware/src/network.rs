//! A network as a function of tensors: the perceptron of tests/programs/aot/mlp_f32, in Rust.

use ferrite_core::tensor::TensorView;
use ferrite_core::{Result, ensure};

/// Weights, pictures and labels, as build.rs found them.
#[allow(clippy::excessive_precision, reason = "these are the digits of the model")]
mod data {
    include!(concat!(env!("OUT_DIR"), "/data.rs"));
}

use data::{B1, B2, W1, W2};
pub use data::{LABEL, X};

pub const PIXELS: usize = 64;
pub const DIGITS: usize = 10;
const HIDDEN: usize = 32;

/// Writes the scores of the digits for one picture.
pub fn classify(picture: TensorView, scores: TensorView) -> Result<()> {
    // SAFETY: the caller keeps both tensors alive until this function returns, and lets it write the scores.
    let (picture, scores) =
        unsafe { (picture.as_tensor_ref().data::<f32>()?, scores.as_tensor_ref().data_mut::<f32>()?) };
    ensure!(picture.len() == PIXELS, VALUE_ERROR, "expected {} pixels, got {}", PIXELS, picture.len());
    ensure!(scores.len() == DIGITS, VALUE_ERROR, "expected room for {} scores, got {}", DIGITS, scores.len());
    let mut hidden = [0.0; HIDDEN];
    layer(picture, &W1, &B1, &mut hidden);
    for unit in &mut hidden {
        *unit = unit.max(0.0);
    }
    layer(&hidden, &W2, &B2, scores);
    Ok(())
}

/// A dense layer: a row of weights for each output.
fn layer(input: &[f32], weights: &[f32], bias: &[f32], output: &mut [f32]) {
    for ((out, row), bias) in output.iter_mut().zip(weights.chunks_exact(input.len())).zip(bias) {
        *out = bias + row.iter().zip(input).map(|(weight, value)| weight * value).sum::<f32>();
    }
}

/// Where the largest score is.
pub fn largest(scores: &[f32]) -> usize {
    (1..scores.len()).fold(0, |best, at| if scores[at] > scores[best] { at } else { best })
}
