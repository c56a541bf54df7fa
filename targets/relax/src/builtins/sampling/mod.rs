//! Samplers of language models: draw the next token from logits or probabilities, and penalise
//! repeated tokens.
//!
//! | file | content |
//! |---|---|
//! | `argument` | checks of tensors passed to samplers |
//! | `top_p` | top-p (nucleus) sampling |
//! | `multinomial` | multinomial sampling, for a batch of sequences |
//! | `penalty` | penalties for repeated tokens, and the softmax with temperature |

mod argument;
mod multinomial;
mod penalty;
mod top_p;

use super::Builtin;
use crate::builtin;

/// Builtins for sampling: top-p, multinomial, penalties, and softmax with temperature.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.sample_top_p_from_logits", top_p::from_logits),
    builtin!("vm.builtin.sample_top_p_from_prob", top_p::from_probabilities),
    builtin!("vm.builtin.multinomial_from_uniform", multinomial::sample),
    builtin!("vm.builtin.apply_repetition_penalty", penalty::apply_repetition),
    builtin!(
        "vm.builtin.apply_presence_and_frequency_penalty",
        penalty::apply_presence_and_frequency
    ),
    builtin!("vm.builtin.apply_softmax_with_temperature", penalty::apply_softmax),
];

#[cfg(test)]
mod tests;
