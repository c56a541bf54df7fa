//! Reuse of tensor objects: a model creates and drops one for each of its operations.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{ObjectRef, Tensor};

use super::tensor::SpareTensor;
use super::{Placement, tensor_over};

/// Tensor objects with this many dimensions or more are not kept.
const MOST_DIMENSIONS: usize = 6;

/// Maximum number of tensor objects kept for each number of dimensions. A model's memory plan uses
/// few at once.
const MOST_SPARES: usize = 8;

/// Unused tensor objects, by number of dimensions. Microcontroller builds keep none, to save
/// memory.
#[derive(Default)]
pub(crate) struct SpareTensors([Buffer<SpareTensor>; MOST_DIMENSIONS]);

impl SpareTensors {
    /// Keeps a tensor object for reuse, unless there are enough already.
    #[inline(always)]
    pub(crate) fn keep(&mut self, spare: SpareTensor) {
        if let Some(spares) = self.0.get_mut(spare.ndim())
            && spares.len() < MOST_SPARES
        {
            // Dropped when out of memory.
            let _ = spares.try_push(spare);
        }
    }

    /// Creates a tensor like the function [`tensor_over`], but reuses a spare tensor object if
    /// there is one.
    ///
    /// # Errors
    /// Same errors as [`tensor_over`].
    ///
    /// # Safety
    /// Same requirements as [`tensor_over`].
    #[inline(always)]
    pub(crate) unsafe fn tensor_over(
        &mut self,
        owner: &ObjectRef,
        placement: &Placement,
        shape: &[i64],
    ) -> Result<Tensor> {
        // SAFETY: the caller guarantees the memory; spare tensors of this list have as many
        // dimensions as the shape.
        unsafe {
            match self.0.get_mut(shape.len()).and_then(Buffer::pop) {
                Some(spare) => Ok(spare.place(owner, placement, shape)),
                None => tensor_over(Some(owner), placement, shape),
            }
        }
    }
}
