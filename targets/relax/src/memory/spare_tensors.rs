//! Reuse of tensor objects: a model creates and drops one for each of its operations.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{ObjectRef, Tensor};

use super::tensor::SpareTensor;
use super::{Placement, tensor_over};

/// Tensor objects with this many dimensions or more are not kept. Size-optimised builds keep none,
/// to save memory.
const MOST_DIMENSIONS: usize = if cfg!(feature = "speed") { 6 } else { 0 };

/// Maximum number of tensor objects kept for each number of dimensions. A model's memory plan uses
/// few at once.
const MOST_SPARES: usize = 8;

/// Unused tensor objects, by number of dimensions.
#[derive(Default)]
pub(crate) struct SpareTensors([SpareList; MOST_DIMENSIONS]);

/// Unused tensor objects with one number of dimensions.
#[derive(Default)]
struct SpareList {
    spares: Buffer<SpareTensor>,
    /// Number of tensors created from the list in this call for which none was kept yet. Others,
    /// such as views that builtins create, are dropped: their builtins need the memory again.
    owed: usize,
}

impl SpareTensors {
    /// Begins a call of the model.
    #[inline(always)]
    pub(crate) fn begin(&mut self) {
        self.0.iter_mut().for_each(|list| list.owed = 0);
    }

    /// Keeps a tensor object for reuse in place of one that was taken, unless there are enough.
    #[inline(always)]
    pub(crate) fn keep(&mut self, spare: SpareTensor) {
        if let Some(SpareList { spares, owed }) = self.0.get_mut(spare.ndim())
            && *owed > 0
        {
            *owed -= 1;
            if spares.len() < MOST_SPARES {
                // Dropped when out of memory.
                let _ = spares.try_push(spare);
            }
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
        let spare = self.0.get_mut(shape.len()).and_then(|list| {
            list.owed += 1;
            list.spares.pop()
        });
        // SAFETY: the caller guarantees the memory; spare tensors of this list have as many
        // dimensions as the shape.
        unsafe {
            match spare {
                Some(spare) => Ok(spare.place(owner, placement, shape)),
                None => tensor_over(Some(owner), placement, shape),
            }
        }
    }
}
