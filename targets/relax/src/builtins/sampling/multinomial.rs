//! Multinomial sampling: draws a token from each row of a batch of probabilities.

use ferrite_core::abi::DLDevice;
use ferrite_core::error::Result;
use ferrite_core::tensor::Element;
use ferrite_core::value::device::kind::CPU;
use ferrite_core::{Tensor, plain_ensure};

use super::argument::{elements, last_extent};
use crate::builtins::device::on_host;

/// Draws a token from each row of `probabilities`, of shape (rows, tokens), with one uniform random
/// number per row. Returns an int64 tensor of shape (rows, 1).
pub(super) fn sample(probabilities: Tensor, uniform: Tensor) -> Result<Tensor> {
    let (probabilities, uniform) = (on_host(probabilities)?, on_host(uniform)?);
    let tokens = last_extent(&probabilities);
    let rows = probabilities.shape().first().copied().unwrap_or(0);
    let (weights, uniform) = (
        elements::<f32>(&probabilities, "prob", "")?,
        elements::<f32>(&uniform, "uniform_sample", "")?,
    );
    let drawn = Tensor::empty(&[rows, 1], i64::DTYPE, DLDevice { device_type: CPU, device_id: 0 })?;
    let mut target = drawn.borrow_mut::<i64>()?;
    plain_ensure!(
        uniform.len() >= target.len() && weights.len() >= target.len().saturating_mul(tokens),
        VALUE_ERROR,
        "{} random numbers and {} probabilities are too few for {} rows",
        uniform.len(),
        weights.len(),
        target.len()
    );
    for (row, (target, uniform)) in target.iter_mut().zip(&uniform).enumerate() {
        let weights =
            weights.get(row * tokens..).and_then(|rest| rest.get(..tokens)).unwrap_or_default();
        *target = draw(weights, *uniform) as i64;
    }
    drop(target);
    Ok(drawn)
}

/// Returns the first index at which the cumulative sum of the weights exceeds `uniform`, or the
/// last index if there is none.
fn draw(weights: &[f32], uniform: f32) -> usize {
    let mut sum = 0f32;
    let drawn = weights.iter().position(|weight| {
        sum += weight;
        sum > uniform
    });
    drawn.unwrap_or(weights.len().saturating_sub(1))
}
