//! Views: tensors that share the data of another tensor and have a shape and strides given by the
//! caller.

use super::borrowing::{self, Owner};
use super::{Tensor, dlpack_import};
use crate::abi::DLTensor;
use crate::error::Result;
use crate::object::ObjectRef;
use crate::plain_ensure;

impl Tensor {
    /// Creates a tensor like `prototype` that keeps this tensor alive. Shape and strides are
    /// copied; the data is shared.
    ///
    /// # Errors
    /// InternalError if the prototype has dimensions but no strides. ValueError if its shape is
    /// invalid, as in [`Tensor::from_dlpack`]. MemoryError.
    ///
    /// # Safety
    /// The shape of the prototype, and its strides unless null, must have `ndim` values if `ndim`
    /// is positive. Its data must belong to this tensor, or live as long, and be as
    /// [`TensorRef::from_raw`](super::TensorRef::from_raw) requires.
    ///
    /// # Upstream
    /// `TVMFFITensorCreateUnsafeView`.
    pub unsafe fn create_unsafe_view(&self, prototype: &DLTensor) -> Result<Tensor> {
        // SAFETY: as the caller guarantees.
        if unsafe { dlpack_import::has_small_lists(prototype) } {
            // SAFETY: as above.
            return unsafe { borrowing::make_view(prototype, &self.0) };
        }
        let strided = !prototype.strides.is_null() || prototype.ndim == 0;
        plain_ensure!(strided, INTERNAL_ERROR, "Check not null: prototype.strides "; "no strides");
        // SAFETY: as the caller guarantees.
        unsafe { Tensor::from_owner(&self.0, prototype) }
    }

    /// Creates a tensor like `prototype` that keeps `owner`, an object of any class, alive. Shape
    /// and strides are copied; the data is shared. Missing strides become those of a compact
    /// tensor.
    ///
    /// # Errors
    /// ValueError if the shape of the prototype is invalid, as in [`Tensor::from_dlpack`].
    /// MemoryError.
    ///
    /// # Safety
    /// Same requirements as [`Tensor::create_unsafe_view`], with data that lives as long as
    /// `owner`. If the owner is not a tensor, the new one has borrows of its own: nothing else may
    /// give access to the elements, except for views of it.
    pub unsafe fn from_owner(owner: &ObjectRef, prototype: &DLTensor) -> Result<Tensor> {
        // SAFETY: the caller guarantees the lists, and the tensor owns a reference to `owner`.
        unsafe {
            dlpack_import::check_shape(prototype)?;
            borrowing::make(prototype, owner.as_ptr().cast(), Owner::Object)
        }
    }

    /// Returns the source tensor of this view; `None` for other tensors, such as tensors that own
    /// their data.
    pub fn view_source(&self) -> Option<&Tensor> {
        // SAFETY: the tensor is alive, and keeps the source of a view alive.
        unsafe { borrowing::source(&self.0) }.and_then(ObjectRef::as_class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectClass;

    #[test]
    fn a_view_shows_part_of_the_data_and_keeps_the_source_alive() {
        let tensor = Tensor::from_slice(&[1i32, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        let (mut shape, mut strides) = ([3], [1]);
        let mut prototype = *tensor.dl_tensor();
        (prototype.ndim, prototype.shape, prototype.strides) =
            (1, shape.as_mut_ptr(), strides.as_mut_ptr());
        prototype.byte_offset = 12;
        // SAFETY: the second row lies within the data.
        let row = unsafe { tensor.create_unsafe_view(&prototype) }.unwrap();
        (shape, strides) = ([0], [0]);
        assert_eq!(tensor.as_object().strong_count(), 2);
        assert!(
            row.view_source()
                .is_some_and(|source| source.as_object().as_ptr() == tensor.as_object().as_ptr())
        );
        assert!(tensor.view_source().is_none());
        drop(tensor);
        assert_ne!(row.shape(), shape);
        assert_ne!(row.strides(), Some(&strides[..]));
        assert_eq!(row.shape(), [3]);
        assert_eq!(row.as_slice::<i32>().unwrap(), [4, 5, 6]);
    }

    #[test]
    fn an_object_of_any_class_can_own_the_data() {
        let owner = crate::Shape::from_slice(&[7, 8, 9]).unwrap();
        let mut shape = [3];
        let prototype = DLTensor {
            data: owner.as_slice().as_ptr().cast_mut().cast(),
            shape: shape.as_mut_ptr(),
            strides: core::ptr::null_mut(),
            ..*Tensor::from_slice(&[0i64], &[1]).unwrap().dl_tensor()
        };
        // SAFETY: the shape object has three integers, which live as long as it does.
        let tensor = unsafe { Tensor::from_owner(owner.as_object(), &prototype) }.unwrap();
        assert_eq!(owner.as_object().strong_count(), 2);
        assert!(tensor.view_source().is_none());
        drop(owner);
        assert_eq!(tensor.as_slice::<i64>().unwrap(), [7, 8, 9]);
        assert_eq!(tensor.strides(), Some(&[1][..]));
    }

    #[test]
    fn a_chain_of_views_is_released_without_recursion() {
        let mut tensor = Tensor::from_slice(&[1u8], &[1]).unwrap();
        for _ in 0..if cfg!(feature = "std") && !cfg!(miri) { 200_000 } else { 50 } {
            // SAFETY: the prototype describes the tensor itself.
            tensor = unsafe { tensor.create_unsafe_view(tensor.dl_tensor()) }.unwrap();
        }
        assert_eq!(tensor.as_slice::<u8>().unwrap(), [1]);
    }

    #[test]
    fn a_prototype_needs_strides_and_a_sound_shape() {
        let tensor = Tensor::from_slice(&[1u8], &[1]).unwrap();
        let good = *tensor.dl_tensor();
        let refusal = |prototype: DLTensor| {
            // SAFETY: the defects of the prototypes are all checked.
            unsafe { tensor.create_unsafe_view(&prototype) }.unwrap_err()
        };
        let error = refusal(DLTensor { strides: core::ptr::null_mut(), ..good });
        assert_eq!(
            (error.kind_bytes(), error.message_bytes()),
            (&b"InternalError"[..], &b"Check not null: prototype.strides "[..])
        );
        assert_eq!(
            refusal(DLTensor { shape: core::ptr::null_mut(), ..good }).kind_bytes(),
            b"ValueError"
        );
        assert_eq!(refusal(DLTensor { ndim: -1, ..good }).kind_bytes(), b"ValueError");
    }

    #[test]
    fn a_scalar_view_needs_no_lists() {
        let tensor = Tensor::from_slice(&[7u8, 8], &[2]).unwrap();
        let mut prototype = *tensor.dl_tensor();
        (prototype.ndim, prototype.shape, prototype.strides) =
            (0, core::ptr::null_mut(), core::ptr::null_mut());
        // SAFETY: the first element lies within the data.
        let view = unsafe { tensor.create_unsafe_view(&prototype) }.unwrap();
        assert_eq!(view.as_slice::<u8>().unwrap(), [7]);
    }
}
