//! Tensors over the memory of another object, which they keep alive.

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::{ObjectRef, Tensor, plain_bail};

/// Where the data of a tensor is, and what its elements are.
pub(crate) struct Placement {
    pub data: *mut core::ffi::c_void,
    pub byte_offset: u64,
    pub device: DLDevice,
    pub dtype: DLDataType,
}

/// Makes a compact row-major tensor over memory that `keeper` owns.
///
/// # Errors
/// MemoryError; ValueError for a shape with a negative extent, more elements than memory has, or more dimensions than `i32` counts.
///
/// # Safety
/// The memory has as many bytes as the tensor needs, while `keeper` lives.
pub(crate) unsafe fn tensor_over(keeper: &ObjectRef, placement: &Placement, shape: &[i64]) -> Result<Tensor> {
    let Ok(ndim) = i32::try_from(shape.len()) else {
        plain_bail!(VALUE_ERROR, "A tensor cannot have {} dimensions", shape.len());
    };
    let prototype = DLTensor {
        data: placement.data,
        device: placement.device,
        ndim,
        dtype: placement.dtype,
        shape: shape.as_ptr().cast_mut(),
        strides: core::ptr::null_mut(),
        byte_offset: placement.byte_offset,
    };
    // SAFETY: the prototype has the shape of the slice; the caller vouches for the memory.
    unsafe { Tensor::from_owner(keeper, &prototype) }
}
