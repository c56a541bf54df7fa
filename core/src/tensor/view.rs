//! The parameter type for functions that borrow a tensor without retaining it.

use core::ptr::NonNull;

use super::{Tensor, TensorRef};
use crate::abi::DLTensor;
use crate::any::{Any, AnyView};
use crate::convert::AnyCompatible;
use crate::error::Result;
use crate::{any_from, any_texts, plain_bail, type_index};

/// A borrowed pointer to a DLTensor, from a DLTensor pointer argument or a tensor object.
///
/// As an argument of a typed function, it is valid until the function returns. The type system does not enforce this,
/// so reading is unsafe.
///
/// # Upstream
/// `tvm::ffi::TensorView` of `include/tvm/ffi/container/tensor.h`, and `DLTensor*`.
#[derive(Clone, Copy, Debug)]
pub struct TensorView {
    tensor: NonNull<DLTensor>,
}

impl TensorView {
    /// Creates a view of the DLTensor at an address.
    pub const fn new(tensor: NonNull<DLTensor>) -> TensorView {
        TensorView { tensor }
    }

    /// Returns the pointer to the DLTensor.
    pub const fn as_ptr(self) -> *mut DLTensor {
        self.tensor.as_ptr()
    }

    /// Borrows the tensor.
    ///
    /// # Safety
    /// The tensor must be alive for `'a` and meet the requirements of [`TensorRef::from_raw`]. Arguments are alive
    /// until their call ends.
    pub const unsafe fn as_tensor_ref<'a>(self) -> TensorRef<'a> {
        // SAFETY: the caller's promise.
        unsafe { TensorRef::from_raw(self.tensor.as_ptr()) }
    }
}

impl From<&Tensor> for TensorView {
    fn from(tensor: &Tensor) -> TensorView {
        // SAFETY: the address of a field of a live object is not null.
        TensorView { tensor: unsafe { NonNull::new_unchecked(tensor.as_dl_tensor_ptr()) } }
    }
}

any_from!(TensorView);

// SAFETY: a DLTensor pointer is not owned, and the cell is the one that the ABI defines for type index 7.
unsafe impl AnyCompatible for TensorView {
    any_texts!("DLTensor*", "DLTensor*");

    fn view(&self) -> AnyView<'_> {
        AnyView::pointer(type_index::DL_TENSOR_PTR, self.as_ptr().cast())
    }

    /// Creates a value that points to the tensor without keeping it alive. Upstream does not allow this conversion.
    fn into_any(self) -> Any {
        // SAFETY: a DLTensor pointer owns nothing.
        unsafe { Any::from_raw(*self.view().as_raw()) }
    }

    /// Accepts a DLTensor pointer or a tensor object. A null pointer is a ValueError.
    fn try_from_view(view: AnyView<'_>) -> Result<Option<TensorView>> {
        if let Some(tensor) = TensorRef::from_view(&view) {
            return Ok(NonNull::new(tensor.as_raw().cast_mut()).map(TensorView::new));
        }
        if view.type_index() == type_index::DL_TENSOR_PTR {
            plain_bail!(VALUE_ERROR, "A DLTensor pointer must not be null");
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_and_pointers_convert() {
        let tensor = Tensor::from_slice(&[1i32, 2], &[2]).unwrap();
        let from_object = AnyView::from(&tensor).get::<TensorView>().unwrap();
        assert_eq!(from_object.as_ptr(), tensor.as_dl_tensor_ptr());
        let from_pointer = AnyView::from(&from_object).get::<TensorView>().unwrap();
        // SAFETY: `tensor` is alive.
        assert_eq!(unsafe { from_pointer.as_tensor_ref() }.as_slice::<i32>().unwrap(), [1, 2]);
    }

    #[test]
    fn other_values_do_not_convert() {
        assert!(AnyView::from(1i64).try_get::<TensorView>().unwrap().is_none());
        let null: AnyView<'_> = AnyView::pointer(type_index::DL_TENSOR_PTR, core::ptr::null_mut());
        assert_eq!(null.try_get::<TensorView>().unwrap_err().kind_bytes(), b"ValueError");
    }
}
