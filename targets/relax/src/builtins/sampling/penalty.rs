//! Penalties and softmax of logits, in place and in main memory.

use ferrite_core::error::Result;
use ferrite_core::tensor::Element;
use ferrite_core::{Tensor, plain_error};

use super::argument::{check_device, check_dtype, elements, last_extent};

/// Applies the repetition penalty to tokens that occurred: divides positive logits by `penalty` and multiplies the others by
/// it.
pub(super) fn apply_repetition(logits: Tensor, tokens: Tensor, penalty: f64) -> Result<()> {
    let logits = writable(&logits)?;
    let tokens = tokens_of(&tokens, "token_ids", "token ids must be int32!")?;
    for token in tokens {
        let logit = logit(logits, *token)?;
        let value = f64::from(*logit);
        *logit = if *logit <= 0.0 { value * penalty } else { value / penalty } as f32;
    }
    Ok(())
}

/// Applies the presence and frequency penalties to tokens that occurred: subtracts `presence_penalty` once, and
/// `frequency_penalty` for each occurrence, from their logits.
pub(super) fn apply_presence_and_frequency(
    logits: Tensor,
    tokens: Tensor,
    frequencies: Tensor,
    presence_penalty: f64,
    frequency_penalty: f64,
) -> Result<()> {
    let logits = writable(&logits)?;
    let tokens = tokens_of(&tokens, "token_ids", "token ids must be int32!")?;
    let frequencies = tokens_of(&frequencies, "token_freqs", "token freqs must be int32!")?;
    for (token, frequency) in tokens.iter().zip(frequencies) {
        let logit = logit(logits, *token)?;
        *logit = (f64::from(*logit) - (f64::from(*frequency) * frequency_penalty + presence_penalty)) as f32;
    }
    Ok(())
}

/// Replaces the logits of the last dimension by their softmax at a temperature.
///
/// # Upstream
/// There the maximum starts at the least positive float, so logits far below zero give no numbers. Here it starts at the first
/// logit.
pub(super) fn apply_softmax(logits: Tensor, temperature: f64) -> Result<()> {
    let len = last_extent(&logits);
    let logits = writable(&logits)?;
    let logits = logits.get_mut(..len).unwrap_or_default();
    let scale = (1.0 / temperature) as f32;
    let most = logits.iter().fold(f32::NEG_INFINITY, |most, logit| most.max(logit * scale));
    let mut sum = 0f64;
    for logit in &mut *logits {
        *logit = libm::expf(*logit * scale - most);
        sum += f64::from(*logit);
    }
    for logit in logits {
        *logit = (f64::from(*logit) / sum) as f32;
    }
    Ok(())
}

/// Returns the logits for writing.
#[allow(clippy::mut_from_ref, reason = "callers of a penalty vouch that nobody else uses the logits")]
fn writable(logits: &Tensor) -> Result<&mut [f32]> {
    check_dtype(logits, f32::DTYPE, "logits", "Logits data type is not float32!")?;
    check_device(logits, "logits")?;
    // SAFETY: callers pass logits to have them changed, and use them for nothing else meanwhile.
    unsafe { logits.as_mut_slice::<f32>() }
}

/// Returns the tokens along the last dimension.
fn tokens_of<'a>(tensor: &'a Tensor, name: &'static str, hint: &'static str) -> Result<&'a [i32]> {
    let tokens = elements::<i32>(tensor, name, hint)?;
    Ok(tokens.get(..last_extent(tensor)).unwrap_or_default())
}

fn logit(logits: &mut [f32], token: i32) -> Result<&mut f32> {
    let len = logits.len();
    let logit = usize::try_from(token).ok().and_then(|token| logits.get_mut(token));
    logit.ok_or_else(|| plain_error!(INDEX_ERROR, "Token {} is none of {}", token, len))
}
