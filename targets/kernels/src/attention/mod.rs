//! Attention: `softmax(scale q kᵀ + mask) v`, a block of queries at a time, so that only the scores
//! of a block exist.

pub mod calls;
mod softmax;
mod task;

use crate::element::Element;

/// Attention of four axes: batch, heads, sequence, head size.
#[derive(Clone, Copy)]
pub struct Attention<T> {
    /// Batch.
    pub batch: usize,
    /// Heads of the queries.
    pub heads: usize,
    /// Heads of keys and values: a divisor of the heads.
    pub key_heads: usize,
    /// Queries.
    pub queries: usize,
    /// Keys.
    pub keys: usize,
    /// Head size.
    pub size: usize,
    /// Queries.
    pub q: *const T,
    /// Keys.
    pub k: *const T,
    /// Values.
    pub v: *const T,
    /// Mask, or null, and its strides.
    pub mask: *const T,
    /// Strides of the mask; 0 along axes that broadcast.
    pub mask_strides: [usize; 4],
    /// Factor of the scores.
    pub scale: f32,
    /// Whether a query attends to no key after it. The last query and the last key are aligned.
    pub causal: bool,
    /// Result.
    pub out: *mut T,
}

// SAFETY: the caller keeps the tensors during the call, and tasks write separate blocks.
unsafe impl<T> Sync for Attention<T> {}

impl<T: Element> Attention<T> {
    /// Returns the number of keys to which a query attends.
    #[inline(always)]
    pub fn attended(&self, query: usize) -> usize {
        if self.causal { (query + 1 + self.keys).saturating_sub(self.queries) } else { self.keys }
    }
}
