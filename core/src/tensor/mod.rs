//! Tensor objects: a DLTensor behind the object header, over data of this or another library.

use core::fmt;

use crate::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject};
use crate::error::Result;
use crate::{object_class, object_conversions, type_index};

mod borrowing;
mod dlpack_export;
mod dlpack_import;
mod element;
mod export_slot;
mod owned;
mod reader;
mod unsafe_view;
mod view;

pub use dlpack_export::export;
pub use dlpack_import::{DLPackForm, check_shape, import};
pub use element::Element;
pub use reader::TensorRef;
pub use view::TensorView;

object_class!(
    @bare
    /// A reference to a tensor.
    ///
    /// Tensors are shared: every holder, C and C++ included, may read data, and writers must see to it that
    /// nobody else uses the data meanwhile. Shape, strides and dtype never change.
    ///
    /// # Upstream
    /// `tvm::ffi::Tensor` of `include/tvm/ffi/container/tensor.h`.
    pub struct Tensor, type_index::TENSOR, "ffi.Tensor"
);
object_conversions!(Tensor);

/// The public part of every tensor object.
#[repr(C)]
struct TensorRecord {
    header: TVMFFIObject,
    tensor: DLTensor,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<TensorRecord>() == 72 && core::mem::offset_of!(TensorRecord, tensor) == 24);
#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
const _: () = assert!(size_of::<TensorRecord>() == 64 && core::mem::offset_of!(TensorRecord, tensor) == 24);

impl Tensor {
    /// The DLTensor in the object, lent for as long as the reference lives.
    ///
    /// # Upstream
    /// `TVMFFITensorGetDLTensorPtr` of `include/tvm/ffi/c_api.h`.
    pub fn as_dl_tensor_ptr(&self) -> *mut DLTensor {
        // SAFETY: the reference keeps the object alive, and tensors hold a DLTensor behind the header,
        // whoever made them.
        unsafe { &raw mut (*self.0.as_ptr().cast::<TensorRecord>()).tensor }
    }

    /// The DLTensor in the object.
    pub fn dl_tensor(&self) -> &DLTensor {
        // SAFETY: as for `as_dl_tensor_ptr`; its fields do not change while the tensor lives.
        unsafe { &*self.as_dl_tensor_ptr() }
    }

    /// A reader of the tensor that borrows this reference.
    pub fn as_tensor_ref(&self) -> TensorRef<'_> {
        // SAFETY: whoever made the tensor vouches for its fields, and the object lives as long as the borrow.
        unsafe { TensorRef::from_raw(self.dl_tensor()) }
    }

    /// The extents.
    pub fn shape(&self) -> &[i64] {
        self.as_tensor_ref().shape()
    }

    /// The strides in elements, or None when the tensor is compact and has none.
    pub fn strides(&self) -> Option<&[i64]> {
        self.as_tensor_ref().strides()
    }

    /// The element type.
    pub fn dtype(&self) -> DLDataType {
        self.dl_tensor().dtype
    }

    /// Where the data lives.
    pub fn device(&self) -> DLDevice {
        self.dl_tensor().device
    }

    /// Number of elements; None when it does not fit.
    pub fn numel(&self) -> Option<i64> {
        self.as_tensor_ref().numel()
    }

    /// Whether the elements lie compactly in row-major order.
    pub fn is_contiguous(&self) -> bool {
        self.as_tensor_ref().is_contiguous()
    }

    /// The elements; see [`TensorRef::data`].
    ///
    /// # Errors
    /// As [`TensorRef::data`].
    pub fn data<T: Element>(&self) -> Result<&[T]> {
        self.as_tensor_ref().data()
    }

    /// The elements for writing; see [`TensorRef::data_mut`].
    ///
    /// # Errors
    /// As [`TensorRef::data`].
    ///
    /// # Safety
    /// As [`TensorRef::data_mut`].
    #[allow(clippy::mut_from_ref, reason = "the caller vouches that nobody else uses the data")]
    pub unsafe fn data_mut<T: Element>(&self) -> Result<&mut [T]> {
        // SAFETY: the caller gives the same guarantee.
        unsafe { self.as_tensor_ref().data_mut() }
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
