//! Top-p (nucleus) sampling: draws a token from the smallest set of most probable tokens whose
//! probabilities add up to at least `top_p`.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::Element;
use ferrite_core::{Tensor, plain_bail, plain_ensure};

use super::argument::{check_dtype, elements};
use crate::builtins::device::on_host;

/// A token with its logit or probability, later replaced by the cumulative probability.
#[derive(Clone, Copy)]
struct Candidate {
    weight: f32,
    token: usize,
}

/// Temperature below which the most probable token is chosen without sampling.
const COLD: f64 = 1e-6;

/// Upper bound on the number of candidates that pass the first filter, which keeps tokens whose
/// probability is at least `top_p` divided by this number.
const MOST_CANDIDATES: f64 = 1024.0;

/// Draws a token from logits, given a uniform random number between 0 and 1.
pub(super) fn from_logits(
    logits: Tensor,
    temperature: f64,
    top_p: f64,
    uniform: f64,
) -> Result<i64> {
    check(&logits, "logits")?;
    let logits = on_host(logits)?;
    let mut candidates = Buffer::new();
    fill(&mut candidates, &elements(&logits, "logits", "")?, f32::NEG_INFINITY)?;
    sort(&mut candidates);
    let Some(best) = candidates.first().copied() else { return Err(no_tokens()) };
    if temperature < COLD {
        return Ok(best.token as i64);
    }
    let scale = 1.0 / temperature as f32;
    let mut sum = 0f32;
    for candidate in candidates.as_mut_slice() {
        candidate.weight = libm::expf((candidate.weight - best.weight) * scale);
        sum += candidate.weight;
    }
    let (mut total, mut kept) = (0f32, 0f32);
    for candidate in candidates.as_mut_slice() {
        let probability = candidate.weight / sum;
        if f64::from(total) < top_p {
            kept += probability;
        }
        total += probability;
        candidate.weight = total;
    }
    if let Some(token) = draw(&candidates, kept, uniform) {
        return Ok(token);
    }
    let first = candidates.first().map_or(0.0, |candidate| f64::from(candidate.weight));
    plain_ensure!(
        uniform <= first,
        INTERNAL_ERROR,
        "Check failed: uniform_sample <= data[0].first : the random number is no less than the probabilities add up to"
    );
    Ok(best.token as i64)
}

/// Draws a token from probabilities, given a uniform random number between 0 and 1.
pub(super) fn from_probabilities(probabilities: Tensor, top_p: f64, uniform: f64) -> Result<i64> {
    check(&probabilities, "prob")?;
    let probabilities = on_host(probabilities)?;
    let probabilities = elements::<f32>(&probabilities, "prob", "")?;
    let mut candidates = Buffer::new();
    if top_p < 1.0 {
        let cutoff = (top_p / MOST_CANDIDATES) as f32;
        if let Some(token) = draw_above(&mut candidates, &probabilities, cutoff, top_p, uniform)? {
            return Ok(token);
        }
    }
    match draw_above(&mut candidates, &probabilities, 0.0, top_p, uniform)? {
        Some(token) => Ok(token),
        None if probabilities.iter().all(|probability| probability.is_nan()) => {
            plain_bail!(
                INTERNAL_ERROR,
                "The output probabilities are all NaNs, can not sample from it"
            )
        }
        None => plain_bail!(
            INTERNAL_ERROR,
            "Cannot sample from the given probability distribution due to unknown reason"
        ),
    }
}

/// Draws a token among those with a probability of at least `cutoff`. Returns `None` if their
/// probabilities do not suffice.
fn draw_above(
    candidates: &mut Buffer<Candidate>,
    probabilities: &[f32],
    cutoff: f32,
    top_p: f64,
    uniform: f64,
) -> Result<Option<i64>> {
    candidates.clear();
    fill(candidates, probabilities, cutoff)?;
    sort(candidates);
    let Some((best, last)) = candidates.first().copied().zip(candidates.last().copied()) else {
        return Ok(None);
    };
    // The probabilities that are kept add up to no less than this one, and to no more than `top_p`
    // by it.
    if uniform < f64::from(best.weight) / top_p {
        return Ok(Some(best.token as i64));
    }
    let mut total = 0f32;
    for candidate in candidates.as_mut_slice() {
        if f64::from(total) >= top_p {
            break;
        }
        total += candidate.weight;
        candidate.weight = total;
    }
    if f64::from(total) < top_p && cutoff != 0.0 {
        return Ok(None);
    }
    Ok(Some(draw(candidates, total, uniform).unwrap_or(last.token as i64)))
}

fn check(tensor: &Tensor, name: &'static str) -> Result<()> {
    check_dtype(tensor, f32::DTYPE, name, "")?;
    let leading = tensor.shape().split_last().map_or(&[][..], |(_, leading)| leading);
    for extent in leading {
        plain_ensure!(
            *extent == 1,
            INTERNAL_ERROR,
            "Check failed: {}->shape[i] == 1 ({} vs. 1) : The leading dimensions of logits must be 1",
            name,
            extent
        );
    }
    plain_ensure!(!tensor.shape().is_empty(), INTERNAL_ERROR, "There are no tokens to sample from");
    Ok(())
}

#[cold]
fn no_tokens() -> ferrite_core::Error {
    ferrite_core::plain_error!(INTERNAL_ERROR, "There are no tokens to sample from")
}

fn fill(candidates: &mut Buffer<Candidate>, weights: &[f32], least: f32) -> Result<()> {
    for (token, weight) in weights.iter().copied().enumerate() {
        if weight >= least {
            candidates.try_push(Candidate { weight, token })?;
        }
    }
    Ok(())
}

/// Sorts candidates by weight, in descending order.
fn sort(candidates: &mut Buffer<Candidate>) {
    candidates.as_mut_slice().sort_unstable_by(|one, other| {
        other.weight.total_cmp(&one.weight).then(one.token.cmp(&other.token))
    });
}

/// Returns the first token whose cumulative share of `total` exceeds the random number.
fn draw(candidates: &[Candidate], total: f32, uniform: f64) -> Option<i64> {
    let drawn = candidates.iter().find(|candidate| uniform < f64::from(candidate.weight / total));
    drawn.map(|candidate| candidate.token as i64)
}
