//! Changes to logits before a token is chosen, and what they say of one.

use ferrite::env;
use ferrite::tensor::{Input, Output};
use ferrite::{Result, Tensor};

use crate::arithmetic::{exp, max, sum_of};
use crate::parallel;
use crate::simd::vectorized;

/// Divides the positive logits of tokens that occurred by a penalty, and multiplies the negative ones by it; a token that occurred
/// twice is changed once. In place.
///
/// logits: [rows, vocab]; tokens: [rows, n] int64, where negative numbers are padding; penalties: [rows].
#[ferrite::export]
fn repetition_penalty(mut logits: Output<'_>, tokens: Input<'_>, penalties: Input<'_>) -> Result<()> {
    let ([rows, vocab], logits) = logits.array_mut::<f32, 2>()?;
    let ([_, n], occurred) = tokens.array::<i64, 2>()?;
    let factors = penalties.elements::<f32>(&[rows])?;
    tokens.check().dim(0, rows as i64)?.ensure(
        occurred.iter().all(|token| *token < vocab as i64),
        "values",
        format_args!("less than {vocab}"),
    )?;
    parallel::rows(logits, vocab, 4 * n, |row, logits| {
        let mut seen = vec![false; vocab];
        for (row, logits) in (row..).zip(logits.chunks_exact_mut(vocab)) {
            let tokens = occurred[row * n..][..n].iter().filter_map(|token| usize::try_from(*token).ok());
            for token in tokens.clone() {
                if !std::mem::replace(&mut seen[token], true) {
                    let logit = &mut logits[token];
                    *logit = if *logit > 0.0 { *logit / factors[row] } else { *logit * factors[row] };
                }
            }
            tokens.for_each(|token| seen[token] = false);
        }
    });
    Ok(())
}

/// Subtracts from the logit of each token that occurred a penalty for that, and one for each time. In place.
///
/// logits: [rows, vocab]; counts: [rows, vocab] int32; presence, frequency: [rows].
#[ferrite::export]
fn presence_frequency_penalty(
    mut logits: Output<'_>,
    counts: Input<'_>,
    presence: Input<'_>,
    frequency: Input<'_>,
) -> Result<()> {
    let ([rows, vocab], logits) = logits.array_mut::<f32, 2>()?;
    let counts = counts.elements::<i32>(&[rows, vocab])?;
    let (presence, frequency) = (presence.elements::<f32>(&[rows])?, frequency.elements::<f32>(&[rows])?);
    parallel::rows(logits, vocab, 4 * vocab, |row, logits| {
        for (row, logits) in (row..).zip(logits.chunks_exact_mut(vocab)) {
            penalize(logits, &counts[row * vocab..], presence[row], frequency[row]);
        }
    });
    Ok(())
}

vectorized! {
    fn penalize(logits: &mut [f32], counts: &[i32], presence: f32, frequency: f32) {
        for (logit, count) in logits.iter_mut().zip(counts) {
            let once = if *count > 0 { presence } else { 0.0 };
            *logit -= once + frequency * *count as f32;
        }
    }
}

/// Adds numbers to logits, each to the one of a row and a token. In place.
///
/// logits: [rows, vocab]; rows: [n] int32; tokens: [n] int64; bias: [n].
#[ferrite::export]
fn logit_bias(mut logits: Output<'_>, rows: Input<'_>, tokens: Input<'_>, bias: Input<'_>) -> Result<()> {
    let ([count, vocab], logits) = logits.array_mut::<f32, 2>()?;
    let of_rows = rows.check().ndim(1)?.indices::<i32>(count)?;
    let of_tokens = tokens.check().shape(&[of_rows.len() as i64])?.indices::<i64>(vocab)?;
    let bias = bias.elements::<f32>(&[of_rows.len()])?;
    for ((row, token), bias) in of_rows.iter().zip(of_tokens).zip(bias) {
        logits[*row as usize * vocab + *token as usize] += bias;
    }
    Ok(())
}

/// Sets the logits of tokens whose bit is 0 to minus infinity: bit `t % 32` of number `t / 32` is that of token t. In place.
///
/// logits: [rows, vocab]; bitmask: [rows, vocab / 32, rounded up] int32.
#[ferrite::export]
fn apply_token_bitmask(mut logits: Output<'_>, bitmask: Input<'_>) -> Result<()> {
    let ([rows, vocab], logits) = logits.array_mut::<f32, 2>()?;
    let words = vocab.div_ceil(32);
    let mask = bitmask.elements::<i32>(&[rows, words])?;
    parallel::rows(logits, vocab, vocab, |row, logits| {
        for (row, logits) in (row..).zip(logits.chunks_exact_mut(vocab)) {
            mask_row(logits, &mask[row * words..]);
        }
    });
    Ok(())
}

vectorized! {
    fn mask_row(logits: &mut [f32], mask: &[i32]) {
        for (logits, word) in logits.chunks_mut(32).zip(mask) {
            for (bit, logit) in logits.iter_mut().enumerate() {
                if word >> bit & 1 == 0 {
                    *logit = f32::NEG_INFINITY;
                }
            }
        }
    }
}

/// The logarithm of the softmax of each row, at one token.
///
/// logits: [rows, vocab]; tokens: [rows] int64; out: [rows].
#[ferrite::export]
fn token_log_probs(logits: Input<'_>, tokens: Input<'_>, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let ([rows, vocab], elements) = logits.array::<f32, 2>()?;
    let places = tokens.check().shape(&[rows as i64])?.indices::<i64>(vocab)?;
    env::tensor::output(out, logits.tensor(), &[rows], |out| {
        parallel::rows(out, 1, 20 * vocab, |row, out| {
            for (row, out) in (row..).zip(out) {
                let logits = &elements[row * vocab..][..vocab];
                *out = logits[places[row] as usize] - log_sum_exp(logits);
            }
        });
    })
}

vectorized! {
    fn log_sum_exp(x: &[f32]) -> f32 {
        let most = max(x);
        most + sum_of(x, |x| exp(x - most)).ln()
    }
}

/// The number of logits in each row that are greater than that of one token.
///
/// logits: [rows, vocab]; tokens: [rows] int64; out: [rows] int32.
#[ferrite::export]
fn token_ranks(logits: Input<'_>, tokens: Input<'_>, out: Option<Output<'_>>) -> Result<Option<Tensor>> {
    let ([rows, vocab], elements) = logits.array::<f32, 2>()?;
    let places = tokens.check().shape(&[rows as i64])?.indices::<i64>(vocab)?;
    env::tensor::output(out, logits.tensor(), &[rows], |out| {
        parallel::rows(out, 1, vocab, |row, out| {
            for (row, out) in (row..).zip(out) {
                let logits = &elements[row * vocab..][..vocab];
                *out = count_greater(logits, logits[places[row] as usize]);
            }
        });
    })
}

vectorized! {
    fn count_greater(x: &[f32], than: f32) -> i32 {
        x.iter().map(|x| i32::from(*x > than)).sum()
    }
}
