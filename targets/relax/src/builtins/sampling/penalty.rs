//! Penalties and softmax of logits, in place and in main memory.

use ferrite_core::error::Result;
use ferrite_core::tensor::{Element, Elements, ElementsMut};
use ferrite_core::{Tensor, plain_error};

use super::argument::{check_device, check_dtype, elements, last_extent};

/// Applies the repetition penalty to tokens that occurred: divides positive logits by `penalty` and
/// multiplies the others by it.
pub(super) fn apply_repetition(logits: Tensor, tokens: Tensor, penalty: f64) -> Result<()> {
    let mut logits = writable(&logits)?;
    let ids = elements::<i32>(&tokens, "token_ids", "token ids must be int32!")?;
    for token in last_row(&tokens, &ids) {
        let logit = logit(&mut logits, *token)?;
        let value = f64::from(*logit);
        *logit = if *logit <= 0.0 { value * penalty } else { value / penalty } as f32;
    }
    Ok(())
}

/// Applies the presence and frequency penalties to tokens that occurred: subtracts
/// `presence_penalty` once, and `frequency_penalty` for each occurrence, from their logits.
pub(super) fn apply_presence_and_frequency(
    logits: Tensor,
    tokens: Tensor,
    frequencies: Tensor,
    presence_penalty: f64,
    frequency_penalty: f64,
) -> Result<()> {
    let mut logits = writable(&logits)?;
    let ids = elements::<i32>(&tokens, "token_ids", "token ids must be int32!")?;
    let counts = elements::<i32>(&frequencies, "token_freqs", "token freqs must be int32!")?;
    for (token, frequency) in last_row(&tokens, &ids).iter().zip(last_row(&frequencies, &counts)) {
        let logit = logit(&mut logits, *token)?;
        *logit = (f64::from(*logit)
            - (f64::from(*frequency) * frequency_penalty + presence_penalty))
            as f32;
    }
    Ok(())
}

/// Replaces the logits of the last dimension by their softmax at a temperature.
///
/// # Upstream
/// There the maximum starts at the least positive float, so logits far below zero give no numbers.
/// Here it starts at the first logit.
pub(super) fn apply_softmax(logits: Tensor, temperature: f64) -> Result<()> {
    let len = last_extent(&logits);
    let mut logits = writable(&logits)?;
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
fn writable(logits: &Tensor) -> Result<ElementsMut<'_, f32>> {
    check_dtype(logits, f32::DTYPE, "logits", "Logits data type is not float32!")?;
    check_device(logits, "logits")?;
    logits.borrow_mut::<f32>()
}

/// Returns the elements along the last dimension.
fn last_row<'a>(tensor: &Tensor, elements: &'a Elements<'_, i32>) -> &'a [i32] {
    elements.get(..last_extent(tensor)).unwrap_or_default()
}

fn logit(logits: &mut [f32], token: i32) -> Result<&mut f32> {
    let len = logits.len();
    let logit = usize::try_from(token).ok().and_then(|token| logits.get_mut(token));
    logit.ok_or_else(|| plain_error!(INDEX_ERROR, "Token {} is none of {}", token, len))
}
