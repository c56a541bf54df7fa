//! Tensor objects: an object header followed by a DLTensor, whose data belongs to this library or
//! another one.

use core::fmt;

use crate::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject, type_index};
use crate::error::Result;
use crate::{object_class, object_conversions};

mod argument;
mod borrow;
mod borrowing;
mod call_borrows;
mod check;
mod dlpack_export;
mod dlpack_import;
mod element;
mod elements;
mod export_slot;
#[cfg(feature = "alloc")]
mod from_vec;
#[cfg(feature = "ndarray")]
mod ndarray;
mod owned;
#[cfg_attr(feature = "client", path = "read_only/client.rs")]
#[cfg_attr(not(feature = "client"), path = "read_only/library.rs")]
mod read_only;
mod reader;
mod unsafe_view;
mod view;

#[cfg(feature = "ndarray")]
pub use self::ndarray::ElementArray;
pub use argument::{Input, Output};
pub use borrow::Borrow;
pub use borrowing::{KEEPER_OFFSET, refuse_writers, share_borrows_of_owner};
pub(crate) use call_borrows::{CallBorrows, TensorUses};
pub use check::TensorCheck;
pub use dlpack_export::export;
pub use dlpack_import::{DLPackForm, check_shape, import};
pub use element::Element;
pub use elements::{Elements, ElementsMut};
#[cfg(feature = "ndarray")]
pub(crate) use from_vec::owner_of;
pub use reader::{TensorRef, is_host_accessible};
pub use view::TensorView;

object_class!(
    @bare
    /// A reference to a tensor.
    ///
    /// Tensors are shared. Shape, strides and dtype never change. The elements are borrowed at run
    /// time: any number of readers, or one writer; a conflict is a RuntimeError. C and C++ code
    /// does not take part: a function in C that is passed a tensor, or that keeps one, is trusted
    /// to use the elements only as its caller expects.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let tensor = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    /// assert_eq!((tensor.shape(), tensor.numel()), (&[2, 3][..], Some(6)));
    /// assert_eq!(tensor.as_slice::<f32>()?[5], 6.0);
    /// assert_eq!(tensor.as_slice::<i32>().unwrap_err().kind_bytes(), b"TypeError");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Upstream
    /// `tvm::ffi::Tensor` of `include/tvm/ffi/container/tensor.h`.
    pub struct Tensor, type_index::TENSOR, "ffi.Tensor"
);
object_conversions!(Tensor);

/// Common start of the records of all tensor objects.
#[repr(C)]
struct TensorRecord {
    header: TVMFFIObject,
    tensor: DLTensor,
}

#[cfg(target_pointer_width = "64")]
const _: () =
    assert!(size_of::<TensorRecord>() == 72 && core::mem::offset_of!(TensorRecord, tensor) == 24);
#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
const _: () =
    assert!(size_of::<TensorRecord>() == 64 && core::mem::offset_of!(TensorRecord, tensor) == 24);

impl Tensor {
    /// Returns a pointer to the DLTensor in the object. It is valid for the lifetime of the
    /// reference.
    ///
    /// # Upstream
    /// `TVMFFITensorGetDLTensorPtr` of `include/tvm/ffi/c_api.h`.
    pub fn as_dl_tensor_ptr(&self) -> *mut DLTensor {
        // SAFETY: the reference keeps the object alive, and every tensor has a DLTensor after the
        // header (ABI).
        unsafe { &raw mut (*self.0.as_ptr().cast::<TensorRecord>()).tensor }
    }

    /// Borrows the DLTensor in the object.
    pub fn dl_tensor(&self) -> &DLTensor {
        // SAFETY: as for `as_dl_tensor_ptr`; its fields do not change while the tensor lives.
        unsafe { &*self.as_dl_tensor_ptr() }
    }

    /// Borrows the tensor as a [`TensorRef`].
    pub fn as_tensor_ref(&self) -> TensorRef<'_> {
        // SAFETY: the creator of the tensor guarantees its fields, and the object lives as long as
        // the borrow.
        unsafe { TensorRef::from_raw(self.dl_tensor()) }
    }

    /// Borrows the shape.
    pub fn shape(&self) -> &[i64] {
        self.as_tensor_ref().shape()
    }

    /// Borrows the strides, in elements. Returns `None` for a compact tensor without strides.
    pub fn strides(&self) -> Option<&[i64]> {
        self.as_tensor_ref().strides()
    }

    /// Returns the element type.
    pub fn dtype(&self) -> DLDataType {
        self.dl_tensor().dtype
    }

    /// Returns the device that stores the data.
    pub fn device(&self) -> DLDevice {
        self.dl_tensor().device
    }

    /// Computes the number of elements. Returns `None` on overflow.
    pub fn numel(&self) -> Option<i64> {
        self.as_tensor_ref().numel()
    }

    /// Returns `true` if the elements are contiguous in row-major order.
    pub fn is_contiguous(&self) -> bool {
        self.as_tensor_ref().is_contiguous()
    }

    /// Borrows the elements of a contiguous tensor in host-accessible memory as a slice, until the
    /// guard is dropped. A view shares the borrows of the tensor that it shows.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let x = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    /// assert_eq!(x.as_slice::<f32>()?.iter().sum::<f32>(), 3.0);
    /// let error = x.as_slice::<f64>().unwrap_err();
    /// assert_eq!(error.message(), "expected a tensor of dtype `float64` but got `float32`");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same errors as [`TensorRef::as_slice`]. RuntimeError while the elements are borrowed for
    /// writing: by a function that has them as an [`Output`], or by
    /// [`borrow_mut`](Tensor::borrow_mut).
    pub fn as_slice<T: Element>(&self) -> Result<Elements<'_, T>> {
        TensorView::from(self).as_slice()
    }

    /// Borrows the elements of a contiguous tensor in host-accessible memory as a slice for
    /// writing, until the guard is dropped.
    ///
    /// # Examples
    /// ```
    /// use ferrite_core::Tensor;
    ///
    /// # fn main() -> ferrite_core::Result<()> {
    /// let x = Tensor::from_slice(&[1.0f32, 2.0], &[2])?;
    /// x.borrow_mut::<f32>()?.iter_mut().for_each(|x| *x *= 2.0);
    /// assert_eq!(x.as_slice::<f32>()?, [2.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Same errors as [`TensorRef::as_slice`]. RuntimeError while the elements are borrowed;
    /// ValueError for a read-only tensor.
    pub fn borrow_mut<T: Element>(&self) -> Result<ElementsMut<'_, T>> {
        // SAFETY: the view is of a tensor object.
        unsafe { TensorView::from(self).as_mut_slice() }
    }

    /// Borrows the elements as a mutable slice, without a guard; see [`TensorRef::as_mut_slice`].
    ///
    /// # Errors
    /// Same errors as [`TensorRef::as_slice`].
    ///
    /// # Safety
    /// Same requirements as [`TensorRef::as_mut_slice`].
    #[allow(clippy::mut_from_ref, reason = "the caller guarantees that nobody else uses the data")]
    pub unsafe fn as_mut_slice<T: Element>(&self) -> Result<&mut [T]> {
        // SAFETY: the caller's promise.
        unsafe { self.as_tensor_ref().as_mut_slice() }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("shape", &self.shape())
            .field("dtype", &self.dtype())
            .field("device", &self.device())
            .finish()
    }
}
