//! Language models with a cache of sequences: the interface that the engine calls.
#![forbid(unsafe_code)]

pub(crate) mod compiled;

pub use compiled::CompiledModel;

use ferrite::Result;

use crate::config::Window;

/// Tokens that one step appends to a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Appended<'a> {
    /// Sequence.
    pub sequence: i64,
    /// Tokens, at least one.
    pub tokens: &'a [u32],
}

/// Memory of a model, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Weights.
    pub weights: usize,
    /// Pages of the cache for keys and values; `None` if it is not known, as with sliding windows.
    pub cache: Option<usize>,
    /// Largest sum of intermediate results so far, of all models of the process on the device.
    pub arena: usize,
}

/// A decoder whose sequences are kept in a cache of pages.
///
/// The engine counts tokens and pages itself, and asks for nothing that does not fit. Tests
/// implement this trait without a compiled model.
///
/// # Errors
/// Methods return errors of the model's functions. After an error of [`forward`] the state of its
/// sequences is unknown, and the engine removes them.
///
/// [`forward`]: LanguageModel::forward
#[allow(clippy::missing_errors_doc, reason = "the trait's section says it for all methods")]
pub trait LanguageModel {
    /// Adds an empty sequence.
    fn add(&mut self, sequence: i64) -> Result<()>;

    /// Adds a sequence with the first tokens of another one, whose memory is shared.
    fn fork(&mut self, parent: i64, child: i64, token_count: usize) -> Result<()>;

    /// Makes a sequence slide.
    fn slide(&mut self, sequence: i64, window: Window) -> Result<()>;

    /// Removes the last tokens of a sequence.
    fn pop(&mut self, sequence: i64, token_count: usize) -> Result<()>;

    /// Removes a sequence.
    fn remove(&mut self, sequence: i64) -> Result<()>;

    /// Returns the number of free pages.
    fn free_pages(&self) -> Result<usize>;

    /// Appends tokens to sequences in one step. Writes the logits that follow the last token of
    /// each, row by row.
    fn forward(&mut self, step: &[Appended<'_>], logits: &mut Vec<f32>) -> Result<()>;

    /// Returns the bytes in use.
    fn memory(&self) -> Memory {
        Memory::default()
    }
}
