//! Softmax over experts.

use ferrite::Result;
use ferrite::tensor::{Input, Output};

use crate::arithmetic::exponentials;
use crate::parallel;
use crate::simd::vectorized;

/// The greatest softmax weights of each row, in falling order, and their columns. Of equal weights the first column comes first.
///
/// gating: [tokens, experts]; renormalize: whether the weights of a token sum to 1; weights: [tokens, k]; indices: [tokens, k] int32.
#[ferrite::export]
fn topk_softmax(
    gating: Input<'_>,
    renormalize: bool,
    mut weights: Output<'_>,
    mut indices: Output<'_>,
) -> Result<()> {
    let ([tokens, experts], logits) = gating.array::<f32, 2>()?;
    let [_, k] = weights.check().extents()?;
    weights.check().ensure(k <= experts, "shape[1]", format_args!("at most {experts}, got {k}"))?;
    let outputs = (weights.elements_mut::<f32>(&[tokens, k])?, indices.elements_mut::<i32>(&[tokens, k])?);
    parallel::paired_rows(outputs, (k, k), (20 + k) * experts, |row, weights, indices| {
        let mut probabilities = vec![0.0; experts];
        let rows = weights.chunks_exact_mut(k).zip(indices.chunks_exact_mut(k));
        for (logits, (weights, indices)) in logits[row * experts..].chunks_exact(experts).zip(rows) {
            probabilities.copy_from_slice(logits);
            let sum = softmax_numerators(&mut probabilities);
            choose(&mut probabilities, weights, indices);
            let sum = if renormalize { weights.iter().sum() } else { sum };
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
    });
    Ok(())
}

vectorized! {
    /// Replaces each element by its exponential, and returns their sum.
    fn softmax_numerators(x: &mut [f32]) -> f32 {
        exponentials(x)
    }
}

/// Moves the greatest elements and their places to the outputs, in falling order.
fn choose(x: &mut [f32], values: &mut [f32], places: &mut [i32]) {
    for (value, place) in values.iter_mut().zip(places) {
        let best = (1..x.len()).fold(0, |best, index| if x[index] > x[best] { index } else { best });
        *value = x[best];
        *place = best as i32;
        x[best] = f32::NEG_INFINITY;
    }
}
