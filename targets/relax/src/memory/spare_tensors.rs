//! Tensors that a machine makes again: a model makes and drops one for each of its operations.

use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::{ObjectRef, Tensor};

use super::tensor::SpareTensor;
use super::{Placement, tensor_over};

/// Tensors of more dimensions are not kept.
const MOST_DIMENSIONS: usize = 6;

/// Tensors of each number of dimensions that are kept. A plan of memory uses few at once.
const MOST_SPARES: usize = 8;

/// Tensors that nobody uses any more, by number of dimensions. Builds for microcontrollers keep none, since they take memory.
#[derive(Default)]
pub(crate) struct SpareTensors([Buffer<SpareTensor>; MOST_DIMENSIONS]);

impl SpareTensors {
    /// Keeps a tensor, if there are not too many.
    #[inline(always)]
    pub(crate) fn keep(&mut self, spare: SpareTensor) {
        if let Some(spares) = self.0.get_mut(spare.ndim())
            && spares.len() < MOST_SPARES
        {
            // Dropped when out of memory.
            let _ = spares.try_push(spare);
        }
    }

    /// Makes a tensor as [`tensor_over`] does, of a spare one if there is one.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(crate) unsafe fn tensor_over(
        &mut self,
        owner: &ObjectRef,
        placement: &Placement,
        shape: &[i64],
    ) -> Result<Tensor> {
        // SAFETY: the caller vouches for the memory; spare tensors of this list have as many dimensions as the shape.
        unsafe {
            match self.0.get_mut(shape.len()).and_then(Buffer::pop) {
                Some(spare) => Ok(spare.place(owner, placement, shape)),
                None => tensor_over(owner, placement, shape),
            }
        }
    }
}
