//! Samplers of language models: draw the next token from logits or probabilities, and penalise repeated tokens.
//!
//! | file | content |
//! |---|---|
//! | `top_p` | top-p (nucleus) sampling |
//! | `multinomial` | multinomial sampling, for a batch of sequences |
//! | `penalty` | penalties for repeated tokens, and the softmax with temperature |

mod multinomial;
mod penalty;
mod top_p;

use ferrite_core::abi::DLDataType;
use ferrite_core::device::kind::CPU;
use ferrite_core::error::Result;
use ferrite_core::tensor::Element;
use ferrite_core::{Tensor, plain_ensure};

use super::Builtin;
use crate::builtin;

/// The builtins of this folder.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.sample_top_p_from_logits", top_p::from_logits),
    builtin!("vm.builtin.sample_top_p_from_prob", top_p::from_probabilities),
    builtin!("vm.builtin.multinomial_from_uniform", multinomial::sample),
    builtin!("vm.builtin.apply_repetition_penalty", penalty::apply_repetition),
    builtin!("vm.builtin.apply_presence_and_frequency_penalty", penalty::apply_presence_and_frequency),
    builtin!("vm.builtin.apply_softmax_with_temperature", penalty::apply_softmax),
];

/// Returns the elements of a compact tensor.
///
/// # Errors
/// InternalError with the message of upstream's check for a tensor of another dtype.
fn elements<'a, T: Element>(tensor: &'a Tensor, name: &'static str, hint: &'static str) -> Result<&'a [T]> {
    check_dtype(tensor, T::DTYPE, name, hint)?;
    tensor.data::<T>()
}

/// Checks that a tensor is compact and has this dtype.
fn check_dtype(tensor: &Tensor, dtype: DLDataType, name: &'static str, hint: &'static str) -> Result<()> {
    plain_ensure!(
        tensor.is_contiguous(),
        INTERNAL_ERROR,
        "Check failed: ({}.IsContiguous()) is false: ",
        name
    );
    let expected =
        if dtype == f32::DTYPE { "DLDataType{kDLFloat, 32, 1}" } else { "DLDataType{kDLInt, 32, 1}" };
    plain_ensure!(
        tensor.dtype() == dtype,
        INTERNAL_ERROR,
        "Check failed: (({}.DataType() == {})) is false: {}",
        name,
        expected,
        hint
    );
    Ok(())
}

/// Checks that a tensor to be changed in place is in main memory.
fn check_device(tensor: &Tensor, name: &'static str) -> Result<()> {
    plain_ensure!(
        tensor.device().device_type == CPU,
        INTERNAL_ERROR,
        "Check failed: ({}->device.device_type == kDLCPU) is false: {} device must be CPU!",
        name,
        name
    );
    Ok(())
}

/// Returns the last extent of a tensor; `0` if it is negative or there is none.
fn last_extent(tensor: &Tensor) -> usize {
    tensor.shape().last().and_then(|extent| usize::try_from(*extent).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
